//! A device may have limits, and may take submitted jobs only: the suite keeps to that and sees that
//! the device does.
#![allow(clippy::unwrap_used, reason = "a test's helpers may panic")]

use sealift_conformance::{Candidate, suite};
use sealift_core::{
    Capabilities, Completion, Context, Device, DeviceError, Driver, Job, NonceLengths, OpenError,
    Probe, Refusal, Refused, Role, SessionId, Spec, Submission, TagLength, Timing, Work,
};
use sealift_drivers::reference::Reference;
use std::sync::Arc;

suite!([
    Candidate::new(&Limited, "limited").slow(),
    Candidate::new(&Limited, "limited:submitted").slow(),
]);

/// Opens `reference` behind tight limits.
struct Limited;

impl Driver for Limited {
    fn name(&self) -> &'static str {
        "limited"
    }

    fn summary(&self) -> &'static str {
        "takes few and short messages only"
    }

    fn probe(&self) -> Probe {
        Probe::Present { role: Role::TestOnly, detail: self.summary().to_owned() }
    }

    fn open(&self, spec: &Spec, context: &Context) -> Result<Arc<dyn Device>, OpenError> {
        let inner = Reference.open(&"reference".parse().unwrap(), context)?;
        let capabilities = Capabilities {
            name: spec.to_string(),
            driver: self.name(),
            runs_on_calling_thread: spec.words().next() != Some("submitted"),
            in_place: false,
            messages_max: 20,
            text_bytes_max: 1_000,
            aad_bytes_max: 200,
            nonce_lengths: NonceLengths::of(&[8, 12, 16]),
            tag_lengths: vec![TagLength::FULL],
            ..inner.capabilities().clone()
        };
        Ok(Arc::new(Behind { inner, capabilities }))
    }
}

#[derive(Debug)]
struct Behind {
    inner: Arc<dyn Device>,
    capabilities: Capabilities,
}

impl Device for Behind {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn run(&self, work: &mut Work<'_>) -> Result<Timing, DeviceError> {
        if !self.capabilities.runs_on_calling_thread {
            return Err(DeviceError::NotOnCallingThread { device: self.capabilities.name.clone() });
        }
        self.capabilities.accept(work.shape())?;
        self.inner.run(work)
    }

    fn submit(&self, job: Box<Job>) -> Submission {
        match self.capabilities.accept(&job.batch.shape().unwrap()) {
            Ok(()) => self.inner.submit(job),
            Err(limit) => Err(Refused { job, refusal: Refusal::Broken(limit.into()) }),
        }
    }

    fn poll(&self, done: &mut Vec<Completion>) {
        self.inner.poll(done);
    }

    fn retire(&self, session: SessionId) {
        self.inner.retire(session);
    }
}
