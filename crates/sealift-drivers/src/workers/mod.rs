//! Makes a device of anything that computes on the calling thread.
//!
//! [`Software`] is the part a driver writes. [`open`] puts a bounded queue and threads behind it, so
//! that submitted jobs are worked elsewhere. The threads start with the first submitted job: whoever
//! only calls `run` never has any. For drivers in crates of your own too.

mod crew;

pub use crew::Crew;

use sealift_core::{
    Algorithm, Batch, Capabilities, Clock, Completion, Context, Device, DeviceError, Job,
    KeySource, MAX_TEXT_BYTES, NonceLengths, Notify, OpenError, Origin, OwnedOutput, Refusal,
    Refused, Role, SessionId, Spec, Submission, TagLength, Timing, Work,
};
use std::any::Any;
use std::collections::VecDeque;
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

/// Works batches on whichever thread calls it, on many at the same time.
pub trait Software: Send + Sync + Debug + 'static {
    /// Works a batch that the device's capabilities accept, and sets every status.
    ///
    /// # Errors
    /// It failed; then nothing that was written counts.
    fn run(&self, work: &mut Work<'_>) -> Result<(), DeviceError>;

    /// Forgets and wipes what it keeps for a session.
    fn retire(&self, session: SessionId);
}

/// The capabilities of software that takes everything AES-GCM allows.
#[must_use]
pub fn capabilities(spec: &Spec, driver: &'static str, role: Role, detail: String) -> Capabilities {
    Capabilities {
        name: spec.to_string(),
        driver,
        role,
        origin: Origin::Measured,
        detail,
        algorithms: vec![Algorithm::AesGcm],
        runs_on_calling_thread: true,
        in_place: true,
        workers: 0,
        slots: 0,
        messages_max: usize::MAX,
        text_bytes_max: usize::try_from(MAX_TEXT_BYTES).unwrap_or(usize::MAX),
        nonce_lengths: NonceLengths::ALL,
        tag_lengths: TagLength::ALL.to_vec(),
    }
}

/// Refuses settings a driver doesn't take.
///
/// # Errors
/// The first one that isn't in `known`, and a wrapped device.
pub fn only(spec: &Spec, known: &[&str]) -> Result<(), OpenError> {
    spec.only(known)
        .map_err(|error| OpenError::Setting { device: spec.to_string(), reason: error.to_string() })
}

/// Puts a queue and workers behind software. `capabilities` need not tell their numbers.
#[must_use]
pub fn open<S: Software>(
    software: S,
    capabilities: Capabilities,
    crew: Crew,
    context: &Context,
) -> Arc<dyn Device> {
    let shared = Arc::new(Shared::new(software, capabilities, crew, context));
    Arc::new(Pool { shared, threads: Mutex::default() })
}

/// The device: software, its queue and its threads.
#[derive(Debug)]
struct Pool<S: Software> {
    shared: Arc<Shared<S>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl<S: Software> Device for Pool<S> {
    fn capabilities(&self) -> &Capabilities {
        &self.shared.capabilities
    }

    fn run(&self, work: &mut Work<'_>) -> Result<Timing, DeviceError> {
        self.shared.run(work)
    }

    fn submit(&self, job: Box<Job>) -> Submission {
        if let Err(error) = self.start() {
            return Err(Refused { job, refusal: Refusal::Broken(error) });
        }
        let mut state = self.shared.lock();
        let (in_flight, slots) = (state.in_flight, self.shared.capabilities.slots);
        if in_flight >= slots {
            return Err(Refused { job, refusal: Refusal::Full { in_flight, slots } });
        }
        state.in_flight += 1;
        state.queue.push_back(job);
        drop(state);
        self.shared.wake.notify_one();
        Ok(())
    }

    fn poll(&self, done: &mut Vec<Completion>) {
        let mut state = self.shared.lock();
        state.in_flight -= state.done.len();
        done.append(&mut state.done);
    }

    fn retire(&self, session: SessionId) {
        self.shared.software.retire(session);
    }
}

impl<S: Software> Pool<S> {
    /// Starts the threads, once. As many as the system gives will do; none is an error.
    fn start(&self) -> Result<(), DeviceError> {
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        if !threads.is_empty() {
            return Ok(());
        }
        let shared = &self.shared;
        for worker in 0..shared.capabilities.workers {
            let own = Arc::clone(shared);
            let name = format!("sealift-{}-{worker}", shared.capabilities.driver);
            match thread::Builder::new().name(name).spawn(move || own.work_jobs(worker)) {
                Ok(thread) => threads.push(thread),
                Err(_) if worker > 0 => break,
                Err(error) => return Err(shared.failed(format!("no thread to work on: {error}"))),
            }
        }
        Ok(())
    }
}

/// Waits for the jobs being worked; see [`open`](crate::open) for the others.
impl<S: Software> Drop for Pool<S> {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.closing = true;
        let queued = std::mem::take(&mut state.queue);
        drop(state);
        drop(queued);
        self.shared.wake.notify_all();
        let threads = self.threads.get_mut().unwrap_or_else(PoisonError::into_inner);
        // A worker that drops the last handle can't wait for itself; it ends after this job.
        let others = |thread: &JoinHandle<()>| thread.thread().id() != thread::current().id();
        for thread in threads.drain(..).filter(others) {
            // An error means that it panicked, which it has printed.
            let _ = thread.join();
        }
    }
}

/// What the device and its threads have in common.
#[derive(Debug)]
struct Shared<S> {
    software: S,
    capabilities: Capabilities,
    crew: Crew,
    clock: Arc<dyn Clock>,
    notify: Arc<dyn Notify>,
    state: Mutex<State>,
    wake: Condvar,
}

#[derive(Debug, Default)]
struct State {
    queue: VecDeque<Box<Job>>,
    done: Vec<Completion>,
    /// Jobs queued, worked, or done and not polled.
    in_flight: usize,
    closing: bool,
}

/// Nobody polls any more.
impl Drop for State {
    fn drop(&mut self) {
        let outcomes = self.done.iter_mut().map(|completion| &mut completion.outcome);
        outcomes.flatten().for_each(|(output, _)| output.wipe());
    }
}

impl<S: Software> Shared<S> {
    fn new(software: S, capabilities: Capabilities, crew: Crew, context: &Context) -> Self {
        let workers = crew.workers;
        let slots = workers.saturating_mul(SLOTS_PER_WORKER);
        Self {
            software,
            capabilities: Capabilities { workers, slots, ..capabilities },
            crew,
            clock: Arc::clone(&context.clock),
            notify: Arc::clone(&context.notify),
            state: Mutex::default(),
            wake: Condvar::new(),
        }
    }

    fn run(&self, work: &mut Work<'_>) -> Result<Timing, DeviceError> {
        self.capabilities.accept(work.shape())?;
        let start_ns = self.clock.now_ns();
        self.software.run(work)?;
        Ok(Timing::in_memory(start_ns, self.clock.now_ns()))
    }

    /// The life of a worker.
    fn work_jobs(&self, worker: usize) {
        let pinned = self.crew.pin(worker).map_err(|reason| self.failed(reason));
        while let Some(job) = self.next_job() {
            let completion = self.complete(*job, &pinned);
            self.lock().done.push(completion);
            self.notify.ring();
        }
    }

    /// Waits for a job; none when the device closes.
    fn next_job(&self) -> Option<Box<Job>> {
        let idle = |state: &mut State| state.queue.is_empty() && !state.closing;
        let state = self.wake.wait_while(self.lock(), idle);
        state.unwrap_or_else(PoisonError::into_inner).queue.pop_front()
    }

    /// Works a job. Its keys and its batch are let go before anyone sees the completion.
    fn complete(&self, job: Job, pinned: &Result<(), DeviceError>) -> Completion {
        let Job { ticket, attempt, batch, mut output, keys } = job;
        let attempted = pinned.clone().and_then(|()| self.attempt(&batch, &mut output, &*keys));
        Completion { ticket, attempt, outcome: attempted.map(|timing| (output, timing)) }
    }

    /// Works a batch; a failure or a panic leaves nothing of what was written.
    fn attempt(
        &self,
        batch: &Batch<'_>,
        output: &mut OwnedOutput,
        keys: &dyn KeySource,
    ) -> Result<Timing, DeviceError> {
        // What a panic may leave half-written is this output, which is wiped, and the software's own
        // tables, whose locks are taken whether poisoned or not and which hold whole entries only.
        let attempted = catch_unwind(AssertUnwindSafe(|| {
            let mut work = Work::new(batch, output.as_output(), keys)
                .map_err(|error| self.failed(error.to_string()))?;
            self.run(&mut work)
        }));
        let attempted = attempted.unwrap_or_else(|panic| Err(self.failed(message_of(&*panic))));
        attempted.inspect_err(|_| output.wipe())
    }

    fn failed(&self, reason: String) -> DeviceError {
        DeviceError::Failed { device: self.capabilities.name.clone(), reason }
    }

    /// No code panics while it holds this lock, so a poisoned one guards a whole state.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn message_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("it panicked: {}", text.unwrap_or("without a message"))
}

/// Enough that no worker idles while the caller takes results and submits more.
const SLOTS_PER_WORKER: usize = 8;

#[cfg(test)]
mod tests;
