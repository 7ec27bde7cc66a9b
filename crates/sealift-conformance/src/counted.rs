//! Counts the messages that a device under test works.

use sealift_core::{
    Capabilities, Completion, Device, DeviceError, Job, SessionId, Status, Submission, Timing, Work,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A device whose messages are counted.
#[derive(Debug)]
pub(crate) struct Counted {
    inner: Arc<dyn Device>,
    counts: Arc<Counts>,
}

/// Messages that a device worked.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    all: AtomicU64,
    refused: AtomicU64,
}

impl Counts {
    /// All of them, and of these the ones that did not open.
    pub(crate) fn now(&self) -> (u64, u64) {
        (self.all.load(Ordering::Relaxed), self.refused.load(Ordering::Relaxed))
    }

    fn add(&self, statuses: &[Status]) {
        let refused = statuses.iter().filter(|status| **status == Status::AuthFailed).count();
        self.all.fetch_add(statuses.len() as u64, Ordering::Relaxed);
        self.refused.fetch_add(refused as u64, Ordering::Relaxed);
    }
}

impl Counted {
    pub(crate) fn new(inner: Arc<dyn Device>, counts: Arc<Counts>) -> Self {
        Self { inner, counts }
    }
}

impl Device for Counted {
    fn capabilities(&self) -> &Capabilities {
        self.inner.capabilities()
    }

    fn run(&self, work: &mut Work<'_>) -> Result<Timing, DeviceError> {
        let timing = self.inner.run(work)?;
        self.counts.add(work.statuses());
        Ok(timing)
    }

    fn submit(&self, job: Box<Job>) -> Submission {
        self.inner.submit(job)
    }

    fn poll(&self, done: &mut Vec<Completion>) {
        let before = done.len();
        self.inner.poll(done);
        let outputs = done[before..].iter().filter_map(|each| each.outcome.as_ref().ok());
        outputs.for_each(|(output, _)| self.counts.add(output.status()));
    }

    fn retire(&self, session: SessionId) {
        self.inner.retire(session);
    }

    fn release(&self) {
        self.inner.release();
    }
}
