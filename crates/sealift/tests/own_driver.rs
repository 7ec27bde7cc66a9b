//! A driver of a user's own beside those here.

#![allow(clippy::unwrap_used, reason = "a test's helpers may panic")]

use sealift::software::{self, Crew, Software};
use sealift::{
    Context, Device, DeviceError, Driver, Engine, OpenError, Probe, Role, SessionId, Spec, Status,
    Work,
};
use std::sync::Arc;

/// Says of every message that it did not open.
#[derive(Debug)]
struct Refuser(&'static str);

impl Driver for Refuser {
    fn name(&self) -> &'static str {
        self.0
    }

    fn summary(&self) -> &'static str {
        "opens nothing"
    }

    fn probe(&self) -> Probe {
        Probe::Present { role: Role::TestOnly, detail: "opens nothing".to_owned() }
    }

    fn open(&self, spec: &Spec, context: &Context) -> Result<Arc<dyn Device>, OpenError> {
        software::only(spec, &["workers"])?;
        let detail = self.summary().to_owned();
        let capabilities = software::capabilities(spec, self.0, Role::TestOnly, detail);
        Ok(software::open(Refuses, capabilities, Crew::of(spec)?, context))
    }
}

#[derive(Debug)]
struct Refuses;

impl Software for Refuses {
    fn run(&self, work: &mut Work<'_>) -> Result<(), DeviceError> {
        (0..work.len()).for_each(|message| work.set_status(message, Status::AuthFailed));
        Ok(())
    }

    fn retire(&self, _: SessionId) {}
}

fn details(specs: &[&str], own: &[&dyn Driver]) -> Vec<String> {
    let engine = Engine::with_drivers(specs, own).unwrap();
    engine.devices().map(|(_, found)| found.detail.clone()).collect()
}

#[test]
fn it_opens_beside_those_here_in_the_order_of_the_specs() {
    let found = details(&["mine:workers=1", "null"], &[&Refuser("mine")]);
    assert_eq!(found, ["opens nothing", "nothing is written"]);
}

#[test]
fn it_comes_before_one_of_the_same_name_here() {
    assert_eq!(details(&["null"], &[&Refuser("null")]), ["opens nothing"]);
}

#[test]
fn an_unknown_name_is_answered_with_both_kinds() {
    let error = Engine::with_drivers(&["other"], &[&Refuser("mine")]).unwrap_err().to_string();
    assert!(error.contains("no driver is called \"other\": there are mine, cpu"), "{error}");
}
