//! Threads that wait for calls to help with.

use super::ffi::SharedCall;
use rustix::process::getpid;
use rustix::thread::{sched_getaffinity, sched_setaffinity};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, available_parallelism};
use std::time::{Duration, Instant};

/// A thread for each core of the process but the caller's. They live as long as the process.
pub(super) struct Pool {
    queue: Mutex<Queue>,
    /// How many calls were posted: whoever spins looks at this alone.
    posted: AtomicU32,
    /// How many threads spin.
    awake: AtomicU32,
    wake: Condvar,
    helpers: usize,
}

#[derive(Default)]
struct Queue {
    /// Calls with the number of threads that they still want.
    calls: VecDeque<(Arc<SharedCall>, usize)>,
    asleep: usize,
}

impl Queue {
    /// The call that waits longest; if it wants more threads it waits behind the others.
    fn take(&mut self) -> Option<Arc<SharedCall>> {
        let (call, wanted) = self.calls.pop_front()?;
        if wanted > 1 {
            self.calls.push_back((Arc::clone(&call), wanted - 1));
        }
        Some(call)
    }
}

/// A call that threads may come to until this is dropped.
pub(super) struct Offer<'p> {
    pool: &'p Pool,
    call: &'p Arc<SharedCall>,
}

impl Drop for Offer<'_> {
    fn drop(&mut self) {
        self.pool.lock().calls.retain(|(call, _)| !Arc::ptr_eq(call, self.call));
    }
}

impl Pool {
    /// None where there is one core only.
    pub(super) fn new() -> Option<Self> {
        let helpers = available_parallelism().map_or(0, |cores| cores.get() - 1);
        (helpers > 0).then(|| Self {
            queue: Mutex::default(),
            posted: AtomicU32::new(0),
            awake: AtomicU32::new(0),
            wake: Condvar::new(),
            helpers,
        })
    }

    /// Starts the threads. Where the system gives fewer, callers get less help.
    pub(super) fn start(&'static self) {
        for number in 0..self.helpers {
            let thread = thread::Builder::new().name(format!("sealift-{number}"));
            if thread.spawn(|| self.help_for_ever()).is_err() {
                return;
            }
        }
    }

    /// Offers a call to so many threads, which come when they have time.
    pub(super) fn offer<'p>(&'p self, call: &'p Arc<SharedCall>, wanted: usize) -> Offer<'p> {
        let mut queue = self.lock();
        queue.calls.push_back((Arc::clone(call), wanted));
        let sleepers = queue.asleep.min(wanted);
        drop(queue);
        self.posted.fetch_add(1, Ordering::Release);
        // To wake nobody is a call of the system, too.
        (0..sleepers).for_each(|_| self.wake.notify_one());
        Offer { pool: self, call }
    }

    pub(super) fn is_one_awake(&self) -> bool {
        self.awake.load(Ordering::Relaxed) > 0
    }

    fn help_for_ever(&self) {
        keep_to_cores_of_process();
        loop {
            let posted = self.posted.load(Ordering::Acquire);
            let call = self.lock().take();
            match call {
                Some(call) => call.help(),
                None if self.spin(posted) => {}
                None => self.sleep(),
            }
        }
    }

    /// Waits for a while for the next call, and says whether there is one.
    fn spin(&self, seen: u32) -> bool {
        self.awake.fetch_add(1, Ordering::Relaxed);
        let begun = Instant::now();
        let is_posted = || self.posted.load(Ordering::Acquire) != seen;
        while !is_posted() && begun.elapsed() < SPIN {
            (0..LOOKS).for_each(|_| std::hint::spin_loop());
        }
        self.awake.fetch_sub(1, Ordering::Relaxed);
        is_posted()
    }

    fn sleep(&self) {
        let mut queue = self.lock();
        if queue.calls.is_empty() {
            queue.asleep += 1;
            let mut queue = self.wake.wait(queue).unwrap_or_else(PoisonError::into_inner);
            queue.asleep -= 1;
        }
    }

    /// No code panics while it holds this lock.
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Not to those of the thread that happens to make the pool.
fn keep_to_cores_of_process() {
    // Where the system refuses, the thread runs where its maker may.
    let _ = sched_getaffinity(Some(getpid())).and_then(|cores| sched_setaffinity(None, &cores));
}

/// How long a thread that has helped looks for the next call before it sleeps: about as long as waking it
/// takes on a virtual machine, so that it costs at most twice the better of both.
const SPIN: Duration = Duration::from_micros(100);
/// Looks between two looks at the clock.
const LOOKS: u32 = 8;
