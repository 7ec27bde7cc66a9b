//! The life of a worker's thread.

use super::state::Seat;
use super::{Shared, Software};
use sealift_core::{
    Batch, Completion, DeviceError, Job, KeySource, OwnedOutput, ThreadUsage, Timing, Work,
};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::PoisonError;

impl<S: Software> Shared<S> {
    /// Works jobs until there are none for a while. Nothing that panics on the way ends the thread.
    pub(super) fn work_jobs(&self, seat: Seat) {
        let pinned = self.crew.pin(seat.worker).map_err(|reason| self.failed(reason));
        // A batch is timed if the one before was worth it.
        let mut is_timed = false;
        while let Some(job) = self.next_job(seat) {
            let usage = is_timed.then(|| self.clock.thread_usage()).flatten();
            let mut completion = self.complete(*job, &pinned);
            if let Ok((_, timing)) = &mut completion.outcome {
                let is_long =
                    timing.end_ns.saturating_sub(timing.start_ns) >= ThreadUsage::WORTH_READING_NS;
                if is_timed && is_long {
                    *timing = timing.with_usage(usage, self.clock.thread_usage());
                }
                is_timed = is_long;
            }
            let mut state = self.lock();
            state.idle += 1;
            state.done.push(completion);
            drop(state);
            self.ring();
        }
    }

    /// Completes jobs that nobody can work.
    pub(super) fn fail(&self, jobs: impl IntoIterator<Item = Box<Job>>, reason: &str) {
        for job in jobs {
            let no_worker = Err(self.failed(reason.to_owned()));
            let completion = self.complete(*job, &no_worker);
            self.lock().done.push(completion);
            self.ring();
        }
    }

    /// Waits for a job; none when the device closes, is released or has had none for long.
    fn next_job(&self, seat: Seat) -> Option<Box<Job>> {
        let state = self.lock();
        let woken = self.wake.wait_timeout_while(state, self.idle_max, |s| s.should_wait(seat));
        // Whether the time was up says nothing: a job may have come in that moment.
        woken.unwrap_or_else(PoisonError::into_inner).0.take(seat)
    }

    /// Works a job. Its keys and its batch are let go before anyone sees the completion.
    fn complete(&self, job: Job, ready: &Result<(), DeviceError>) -> Completion {
        let Job { ticket, attempt, batch, mut output, keys } = job;
        let attempted = ready.clone().and_then(|()| self.attempt(&batch, &mut output, &*keys));
        // They are an engine's, and whatever hangs on them.
        let let_go = self.guard(|| {
            drop((batch, keys));
            Ok(())
        });
        let attempted = attempted.and_then(|timing| let_go.map(|()| timing));
        let attempted = attempted.inspect_err(|_| output.wipe());
        Completion { ticket, attempt, outcome: attempted.map(|timing| (output, timing)) }
    }

    /// Works a batch; a failure or a panic leaves nothing of what was written.
    pub(super) fn attempt(
        &self,
        batch: &Batch<'_>,
        output: &mut OwnedOutput,
        keys: &dyn KeySource,
    ) -> Result<Timing, DeviceError> {
        // What a panic may leave half-written is this output, which is wiped, and the software's own
        // tables, whose locks are taken whether poisoned or not and which hold whole entries only.
        let attempted = self.guard(|| {
            let mut work = Work::new(batch, output.as_output(), keys)
                .map_err(|error| self.failed(error.to_string()))?;
            self.run(&mut work)
        });
        attempted.inspect_err(|_| output.wipe())
    }

    /// Makes a panic an error.
    fn guard<T>(&self, step: impl FnOnce() -> Result<T, DeviceError>) -> Result<T, DeviceError> {
        let ended = catch_unwind(AssertUnwindSafe(step));
        ended.unwrap_or_else(|panic| Err(self.failed(message_of(&*panic))))
    }

    /// Tells whoever waits. A bell that panics has printed so, and the completion can be polled.
    fn ring(&self) {
        let _ = catch_unwind(AssertUnwindSafe(|| self.notify.ring()));
    }

    fn failed(&self, reason: String) -> DeviceError {
        DeviceError::Failed { device: self.capabilities.name.clone(), reason }
    }
}

fn message_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("it panicked: {}", text.unwrap_or("without a message"))
}
