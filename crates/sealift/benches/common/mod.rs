//! What benchmarks of the scheduler have in common: arguments, intervals, and threads
//! that call at the same time.

mod budget;
mod interval;

pub(crate) use budget::{Arguments, Clock};
pub(crate) use interval::Interval;

use std::panic::{self, AssertUnwindSafe};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Keeps threads that all make their calls each time `drive` asks, and tells it how long the last one took.
pub(crate) fn with_callers<R>(
    threads: usize,
    calls: impl Fn(usize) + Sync,
    drive: impl FnOnce(&dyn Fn() -> Duration) -> R,
) -> R {
    let (begin, end) = (Barrier::new(threads + 1), Barrier::new(threads + 1));
    let is_over = AtomicBool::new(false);
    let caller = |thread| {
        loop {
            begin.wait();
            if is_over.load(Ordering::Relaxed) {
                return;
            }
            // The others would wait for ever for one that panicked.
            if panic::catch_unwind(AssertUnwindSafe(|| calls(thread))).is_err() {
                std::process::exit(101);
            }
            end.wait();
        }
    };
    let together = || {
        let start = Instant::now();
        begin.wait();
        end.wait();
        start.elapsed()
    };
    thread::scope(|scope| {
        let caller = &caller;
        (0..threads).for_each(|thread| drop(scope.spawn(move || caller(thread))));
        let found = drive(&together);
        is_over.store(true, Ordering::Relaxed);
        begin.wait();
        found
    })
}
