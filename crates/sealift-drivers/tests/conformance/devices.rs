//! Opens the devices under test and runs checks on them.

use crate::bell::Bell;
use crate::list::{self, SLOW};
use crate::subject::{Check, Effort, Subject};
use sealift_core::{Context, Device, OpenError, SystemClock};
use std::collections::BTreeSet;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Drivers that are trusted to judge others, the better first. Nobody judges itself.
const ORACLES: [&str; 2] = ["library", "reference"];

/// Runs a check on every device; prints what each did, and fails when one of them did.
pub(crate) fn each(what: &str, check: Check) {
    let mut faults = vec![];
    for spec in list::specs() {
        let Some(subject) = open(&spec) else { continue };
        let begin = Instant::now();
        let verdict = catch_unwind(AssertUnwindSafe(|| check(&subject)))
            .unwrap_or_else(|_| Err("it panicked, see above".to_owned()));
        let spent = begin.elapsed().as_secs_f64();
        match verdict {
            Ok(summary) => eprintln!("{what}: {spec}: {summary} [{spent:.1} s]"),
            Err(fault) => faults.push(format!("{what}: {spec}: {fault} [seed {}]", subject.seed)),
        }
    }
    assert!(faults.is_empty(), "{} devices failed\n{}", faults.len(), faults.join("\n"));
}

/// Opens a device with its oracle, unless its hardware is absent, which is said.
pub(crate) fn open(spec: &str) -> Option<Subject> {
    let bell = Arc::new(Bell::default());
    let device = open_device(spec, &bell)?;
    let driver = device.capabilities().driver;
    let judge = ORACLES.iter().find(|name| **name != driver);
    let oracle = judge.and_then(|name| open_device(name, &Arc::default()));
    let oracle = oracle.expect("library and reference are in every build");
    let effort = if SLOW.contains(&spec) { Effort::Slow } else { Effort::Full };
    Some(Subject { device, bell, oracle, effort, seed: seed(), share: share() })
}

/// Says why something was not tested.
///
/// # Panics
/// When `SEALIFT_REQUIRE` lists it.
pub(crate) fn skip(what: &str, reason: &str) {
    let required = std::env::var("SEALIFT_REQUIRE").unwrap_or_default();
    assert!(!required.split(',').any(|name| name.trim() == what), "{what} is required: {reason}");
    note(&format!("skipped: {what}: {reason}"));
}

/// Prints a line once, past the test harness, which keeps what passing tests print to itself.
fn note(line: &str) {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    if said.insert(line.to_owned()) {
        let written = writeln!(std::io::stderr(), "{line}");
        assert!(written.is_ok(), "standard error is closed: {written:?}");
    }
}

fn open_device(spec: &str, bell: &Arc<Bell>) -> Option<Arc<dyn Device>> {
    let context = Context { clock: Arc::new(SystemClock::new()), notify: bell.clone() };
    let parsed = spec.parse().expect("the suite writes specs that can be read");
    match list::open(&parsed, &context) {
        Ok(device) => Some(device),
        Err(OpenError::Absent { reason, .. }) => {
            skip(list::lacking(&parsed), &reason);
            None
        }
        Err(error) => panic!("{spec} is present and does not open: {error}"),
    }
}

fn seed() -> u64 {
    number("SEALIFT_SEED", 20_260_101)
}

fn share() -> f64 {
    let share: f64 = number("SEALIFT_SHARE", 1.0);
    assert!(share > 0.0 && share <= 1.0, "SEALIFT_SHARE={share}: give more than 0 and at most 1");
    if share < 1.0 {
        note(&format!("SEALIFT_SHARE: {share} of the large numbers"));
    }
    share
}

fn number<T: std::str::FromStr>(variable: &str, default: T) -> T {
    match std::env::var(variable) {
        Err(_) => default,
        Ok(value) => value.parse().unwrap_or_else(|_| panic!("{variable}={value:?} is no number")),
    }
}
