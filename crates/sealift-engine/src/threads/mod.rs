//! Other threads that help a calling one.
//!
//! One pool serves all engines of a process. It is made at the first call that wants help, and made anew in
//! a forked child, where the threads of the old one don't exist. A call never waits for a thread that has not
//! begun to help: whoever comes late finds it closed, so that a caller on a busy machine does its work itself.

mod ffi;
mod pool;

use rustix::thread::sched_getaffinity;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::{self, Thread, available_parallelism};
use std::time::Duration;

/// How many threads a call uses unless it is told otherwise: `SEALIFT_THREADS`, or as many as affinity and
/// control group let this process run at a time.
///
/// # Errors
/// `SEALIFT_THREADS` is no such number: what is right, for people.
pub(crate) fn default_threads() -> Result<NonZeroUsize, String> {
    match std::env::var(VARIABLE) {
        Err(_) => Ok(available_parallelism().unwrap_or(NonZeroUsize::MIN)),
        Ok(text) => text.parse().map_err(|_| {
            format!("{VARIABLE}={text:?} is no number of threads: give 1 or more, or unset it")
        }),
    }
}

/// Calls `own` on the calling thread and, as soon as they come, `help` on up to so many others at the same time.
/// Returns when all that began have ended. Both share out by themselves what there is to do, and return when nothing
/// is left.
pub(crate) fn with_helpers(helpers: usize, help: &(dyn Fn() + Sync), own: impl FnOnce()) {
    match (helpers > 0).then(ffi::pool).flatten() {
        Some(pool) => ffi::share(help, |call| {
            let _offer = pool.offer(call, helpers);
            own();
        }),
        None => own(),
    }
}

/// Whether a thread waits for something to help with and would begin at once. One that has slept needs some
/// 50 us.
pub(crate) fn is_one_awake() -> bool {
    ffi::pool_there_is().is_some_and(pool::Pool::is_one_awake)
}

/// The cores that the calling thread may run on: a thread that is kept to one wants no help.
pub(crate) fn cores_of_caller() -> usize {
    sched_getaffinity(None).map_or(1, |cores| cores.count() as usize)
}

/// Who is inside a call, and whether it still lets anyone in.
#[derive(Debug)]
struct Gate {
    /// How many are inside, and [`CLOSED`].
    state: AtomicU32,
    caller: Thread,
}

impl Gate {
    fn new() -> Self {
        Self { state: AtomicU32::new(0), caller: thread::current() }
    }

    /// Lets a helper in, unless the call is closed.
    fn enter(&self) -> bool {
        let is_open = self.state.fetch_add(1, Ordering::Acquire) & CLOSED == 0;
        if !is_open {
            self.leave();
        }
        is_open
    }

    /// A helper is done with everything that belongs to the call.
    fn leave(&self) {
        if self.state.fetch_sub(1, Ordering::Release) == CLOSED | 1 {
            self.caller.unpark();
        }
    }

    /// Lets nobody in any more and waits for those inside.
    fn close(&self) {
        let mut inside = self.state.fetch_or(CLOSED, Ordering::AcqRel);
        let mut turns = 0;
        while inside & !CLOSED != 0 {
            if turns < SPINS_MAX {
                std::hint::spin_loop();
            } else {
                thread::park_timeout(PARK_MAX);
            }
            turns += 1;
            inside = self.state.load(Ordering::Acquire);
        }
    }
}

const VARIABLE: &str = "SEALIFT_THREADS";
const CLOSED: u32 = 1 << 31;
/// About 20 us: the last pieces mostly end within that, and sleeping and waking takes longer.
const SPINS_MAX: u32 = 500;
const PARK_MAX: Duration = Duration::from_millis(50);

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn each_piece_is_done_once_whoever_does_it() {
        for helpers in [0, 1, 7] {
            let (next, done) = (AtomicUsize::new(0), [const { AtomicUsize::new(0) }; 100]);
            let work = || {
                while let Some(piece) = done.get(next.fetch_add(1, Ordering::Relaxed)) {
                    piece.fetch_add(1, Ordering::Relaxed);
                }
            };
            with_helpers(helpers, &work, work);
            assert!(done.iter().all(|piece| piece.load(Ordering::Relaxed) == 1));
        }
    }

    #[test]
    fn many_calls_at_a_time_end_on_a_pool_of_few() {
        let calls = (0..16).map(|_| {
            thread::spawn(|| {
                for _ in 0..200 {
                    let left = AtomicUsize::new(20);
                    let take = |n: usize| n.checked_sub(1);
                    let work = || {
                        while left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok()
                        {
                        }
                    };
                    with_helpers(3, &work, work);
                    assert_eq!(left.load(Ordering::Relaxed), 0);
                }
            })
        });
        calls.collect::<Vec<_>>().into_iter().for_each(|call| call.join().unwrap());
    }

    #[test]
    fn who_comes_late_is_not_let_in() {
        let gate = Gate::new();
        assert!(gate.enter());
        gate.leave();
        gate.close();
        assert!(!gate.enter());
        assert_eq!(gate.state.load(Ordering::Relaxed), CLOSED);
    }

    #[test]
    fn a_caller_that_panics_waits_for_those_inside() {
        static INSIDE: AtomicUsize = AtomicUsize::new(0);
        let panicked = std::panic::catch_unwind(|| {
            let help = || {
                INSIDE.fetch_add(1, Ordering::Relaxed);
                thread::sleep(Duration::from_millis(5));
                INSIDE.fetch_sub(1, Ordering::Relaxed);
            };
            with_helpers(2, &help, || panic!("on purpose"));
        });
        assert!(panicked.is_err());
        assert_eq!(INSIDE.load(Ordering::Relaxed), 0);
    }
}
