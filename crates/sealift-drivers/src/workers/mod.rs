//! Makes a device of anything that computes on the calling thread.
//!
//! [`Software`] is the part a driver writes. [`open`] puts a bounded queue and threads behind it, so
//! that submitted jobs are worked elsewhere. A thread starts when a job finds none that is free, and
//! ends after ten idle seconds or on [`Device::release`]: whoever only calls `run` never has any. For
//! drivers in crates of your own too.

mod crew;
mod state;
mod worker;

pub use crew::Crew;

use crate::keys;
use sealift_core::{
    Algorithm, Capabilities, Clock, Completion, Context, Cost, Cuts, Device, DeviceError, Job,
    LongMessage, MAX_TEXT_BYTES, NonceLengths, Notify, Op, OpenError, Origin, Refusal, Refused,
    Resource, Role, SessionId, Spec, Submission, TagLength, Timing, Work,
};
use state::{Next, Seat, State};
use std::fmt::Debug;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Works batches on whichever thread calls it, on many at the same time.
pub trait Software: Send + Sync + Debug + 'static {
    /// Works a batch that the device's capabilities accept, and sets every status.
    ///
    /// # Errors
    /// It failed; then nothing that was written counts.
    fn run(&self, work: &mut Work<'_>) -> Result<(), DeviceError>;

    /// The same, and says when and what the time went into: by the clock, unless the software has times of
    /// its own.
    ///
    /// # Errors
    /// As [`Software::run`].
    fn run_timed(&self, work: &mut Work<'_>, clock: &dyn Clock) -> Result<Timing, DeviceError> {
        let start_ns = clock.now_ns();
        self.run(work)?;
        Ok(Timing::in_memory(start_ns, clock.now_ns()))
    }

    /// One message to be worked in parts: see [`Device::long_message`].
    ///
    /// # Errors
    /// It can't expand the key.
    fn long_message(
        &self,
        _algorithm: Algorithm,
        _op: Op,
        _key: &[u8],
        _nonce: &[u8],
    ) -> Option<Result<Box<dyn LongMessage>, DeviceError>> {
        None
    }

    /// Why it can't work any more, once that is so: then jobs are refused.
    fn broken(&self) -> Option<DeviceError> {
        None
    }

    /// Forgets and wipes what it keeps for a session.
    fn retire(&self, session: SessionId);

    /// Gives back now what it would otherwise keep for the next batch.
    fn release(&self) {}
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
        cuts: Cuts::Batches,
        works_on: Resource::Cores(vec![]),
        cost: Cost::clamped(200.0, 100.0, 0.25),
        in_place: true,
        workers: 0,
        slots: 0,
        messages_max: usize::MAX,
        text_bytes_max: usize::try_from(MAX_TEXT_BYTES).unwrap_or(usize::MAX),
        aad_bytes_max: usize::MAX,
        prepares: Duration::ZERO,
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
    let shared = Shared::new(software, capabilities, crew, context, IDLE_MAX);
    Arc::new(Pool::new(shared))
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

    fn long_message(
        &self,
        algorithm: Algorithm,
        op: Op,
        key: &[u8],
        nonce: &[u8],
    ) -> Option<Result<Box<dyn LongMessage>, DeviceError>> {
        self.shared.software.long_message(algorithm, op, key, nonce)
    }

    fn submit(&self, job: Box<Job>) -> Submission {
        if let Some(error) = self.shared.software.broken() {
            return Err(Refused { job, refusal: Refusal::Broken(error) });
        }
        let mut state = self.shared.lock();
        let (in_flight, slots) = (state.in_flight, self.shared.capabilities.slots);
        if in_flight >= slots {
            return Err(Refused { job, refusal: Refusal::Full { in_flight, slots } });
        }
        let next = state.push(job);
        drop(state);
        match next {
            Next::Start(seat) => self.start(seat),
            Next::Idle => self.shared.wake.notify_one(),
            // To wake nobody is a call of the system, too.
            Next::Busy => {}
        }
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

    /// Ends the threads that are idle now, and the others when the queue is empty.
    fn release(&self) {
        self.shared.lock().releases += 1;
        self.shared.wake.notify_all();
        self.shared.software.release();
    }
}

impl<S: Software> Pool<S> {
    fn new(shared: Shared<S>) -> Self {
        Self { shared: Arc::new(shared), threads: Mutex::default() }
    }

    /// Starts the thread of a worker. Where the system gives none and no other works, the jobs fail.
    fn start(&self, seat: Seat) {
        let own = Arc::clone(&self.shared);
        let name = format!("sealift-{}-{}", own.capabilities.driver, seat.worker);
        match thread::Builder::new().name(name).spawn(move || own.work_jobs(seat)) {
            Ok(thread) => {
                let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
                threads.retain(|thread| !thread.is_finished());
                threads.push(thread);
            }
            Err(error) => {
                let jobs = self.shared.lock().leave(seat.worker);
                self.shared.fail(jobs, &format!("no thread to work on: {error}"));
            }
        }
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
    idle_max: Duration,
}

impl<S: Software> Shared<S> {
    fn new(
        software: S,
        capabilities: Capabilities,
        crew: Crew,
        context: &Context,
        idle_max: Duration,
    ) -> Self {
        let workers = crew.workers;
        let slots = workers.saturating_mul(SLOTS_PER_WORKER);
        // Who names cores means these and no others.
        let works_on = match capabilities.works_on {
            Resource::Cores(_) => Resource::Cores(crew.cores.clone()),
            own => own,
        };
        // Several threads are that much faster only on several cores.
        let cuts = match &works_on {
            Resource::Cores(named) if named.is_empty() => capabilities.cuts,
            _ => Cuts::Nothing,
        };
        Self {
            software,
            capabilities: Capabilities { workers, slots, cuts, works_on, ..capabilities },
            crew,
            clock: Arc::clone(&context.clock),
            notify: Arc::clone(&context.notify),
            state: Mutex::new(State::new(workers)),
            wake: Condvar::new(),
            idle_max,
        }
    }

    fn run(&self, work: &mut Work<'_>) -> Result<Timing, DeviceError> {
        self.capabilities.accept(work.shape())?;
        keys::take_prepared_ns();
        let timing = self.software.run_timed(work, &*self.clock)?;
        Ok(Timing { prepared_ns: keys::take_prepared_ns(), ..timing })
    }

    /// No code panics while it holds this lock, so a poisoned one guards a whole state.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Enough that no worker idles while the caller takes results and submits more.
const SLOTS_PER_WORKER: usize = 32;

/// How long a thread waits for its next job. Starting one again delays a job by some 0.1 ms, a
/// hundred-thousandth of this, and waiting costs nothing but a thread's memory.
const IDLE_MAX: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests;
#[cfg(test)]
mod thread_tests;
