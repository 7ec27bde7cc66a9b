//! A device that does nothing, to price the framework around it.

use crate::workers::{self, Crew, Software};
use sealift_core::{
    Context, Device, DeviceError, Driver, OpenError, Probe, Role, SessionId, Spec, Status, Work,
};
use std::sync::Arc;

/// The driver `null`: says of every message that it is done, and writes no text and no tag. Results of a
/// submitted batch are whatever lay in the memory that they were given: zeros, or earlier results of the
/// same engine.
#[derive(Debug)]
pub struct Null;

impl Driver for Null {
    fn name(&self) -> &'static str {
        "null"
    }

    fn summary(&self) -> &'static str {
        "encrypts nothing and calls it done, to price the framework (workers=)"
    }

    fn probe(&self) -> Probe {
        Probe::Present { role: Role::Null, detail: DETAIL.to_owned() }
    }

    fn open(&self, spec: &Spec, context: &Context) -> Result<Arc<dyn Device>, OpenError> {
        workers::only(spec, &["workers"])?;
        let capabilities = workers::capabilities(spec, self.name(), Role::Null, DETAIL.to_owned());
        Ok(workers::open(Nothing, capabilities, Crew::of(spec)?, context))
    }
}

#[derive(Debug)]
struct Nothing;

impl Software for Nothing {
    fn run(&self, work: &mut Work<'_>) -> Result<(), DeviceError> {
        (0..work.len()).for_each(|message| work.set_status(message, Status::Ok));
        Ok(())
    }

    fn retire(&self, _: SessionId) {}
}

const DETAIL: &str = "nothing is written";
