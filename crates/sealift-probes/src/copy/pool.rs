//! The published tool's pool of workers, as it is: one lock, a queue that moves up, a poll of 10 µs.

use super::movers::Lap;
use super::route::Route;
use crate::ArmError;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{JoinHandle, sleep};
use std::time::Duration;

/// Workers that wait for jobs until the pool is dropped.
pub(super) struct Pool {
    queue: Arc<Queue>,
    workers: Vec<JoinHandle<()>>,
}

#[derive(Clone, Copy)]
struct Job {
    lap: Lap,
    route: Route,
}

// SAFETY: whoever adds a job waits for its end before the places of its route go away. Several jobs write
// the same bytes to one destination, by instructions that the compiler knows nothing of.
unsafe impl Send for Job {}

#[derive(Default)]
struct Queue {
    state: Mutex<State>,
    added: Condvar,
}

#[derive(Default)]
struct State {
    jobs: Vec<Job>,
    idle: usize,
    is_over: bool,
}

impl Pool {
    pub(super) fn of(threads: usize) -> Result<Self, ArmError> {
        let mut pool = Self { queue: Arc::default(), workers: vec![] };
        for thread in 0..threads {
            let queue = Arc::clone(&pool.queue);
            let named = std::thread::Builder::new().name(format!("sealift-pool-{thread}"));
            let worker = named.spawn(move || queue.work()).map_err(|error| ArmError::Thread {
                thread,
                threads,
                reason: error.to_string(),
            })?;
            pool.workers.push(worker);
        }
        pool.wait();
        Ok(pool)
    }

    /// Adds a job so often, each with a wake-up of its own, and polls until all are done, or no longer wanted.
    ///
    /// # Safety
    /// The route's places stay valid, and the lap runs on this processor.
    pub(super) unsafe fn run(
        &self,
        lap: Lap,
        route: &Route,
        times: usize,
        wanted: &mut dyn FnMut() -> bool,
    ) {
        let _guard = DrainGuard(self);
        for _ in 0..times {
            self.queue.lock().jobs.push(Job { lap, route: *route });
            self.queue.added.notify_one();
        }
        while !self.is_done() && wanted() {
            sleep(POLL);
        }
    }

    fn wait(&self) {
        while !self.is_done() {
            sleep(POLL);
        }
    }

    fn is_done(&self) -> bool {
        let state = self.queue.lock();
        state.jobs.is_empty() && state.idle == self.workers.len()
    }
}

/// Takes away what nobody has begun and waits for the rest, whoever asked panicking or not.
struct DrainGuard<'a>(&'a Pool);

impl Drop for DrainGuard<'_> {
    fn drop(&mut self) {
        self.0.queue.lock().jobs.clear();
        self.0.wait();
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.queue.lock().is_over = true;
        self.queue.added.notify_all();
        for worker in self.workers.drain(..) {
            // A worker that panicked has said so.
            drop(worker.join());
        }
    }
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        while let Some(job) = self.take() {
            // SAFETY: whoever added the job vouches for it.
            unsafe { (job.lap)(&job.route, 0, 1) };
        }
    }

    /// The first job, once there is one; nothing when the pool is over.
    fn take(&self) -> Option<Job> {
        let mut state = self.lock();
        state.idle += 1;
        while state.jobs.is_empty() {
            if state.is_over {
                return None;
            }
            state = self.added.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.idle -= 1;
        // The others move up, as there.
        Some(state.jobs.remove(0))
    }
}

const POLL: Duration = Duration::from_micros(10);
