//! The one place that leaves the GIL.

use pyo3::marker::Ungil;
use pyo3::{PyErr, Python};
use std::time::{Duration, Instant};

/// Runs work that touches no Python object while other Python threads go on.
///
/// What it reads and writes is held by the caller: references to bytes objects, buffers that are
/// released only afterwards.
pub(crate) fn leave<T: Ungil>(py: Python<'_>, work: impl FnOnce() -> T + Ungil) -> T {
    py.detach(work)
}

/// The same where so few bytes are worked that it may not be worth it.
pub(crate) fn leave_for<T: Ungil>(
    py: Python<'_>,
    bytes: usize,
    work: impl FnOnce() -> T + Ungil,
) -> T {
    if is_worth_leaving(bytes) { py.detach(work) } else { work() }
}

/// Whether so many bytes take long enough.
pub(crate) fn is_worth_leaving(bytes: usize) -> bool {
    bytes >= WORTH_LEAVING_BYTES
}

/// The same for work that may be stopped, which asks again and again whether to stop: on the main thread a signal like
/// Ctrl-C stops it. Gives what the signal raised, too.
pub(crate) fn leave_until<T: Ungil + Send>(
    py: Python<'_>,
    work: impl FnOnce(&mut dyn FnMut() -> bool) -> T + Ungil + Send,
) -> (T, Option<PyErr>) {
    let (mut interrupt, mut signals) = (None, None);
    let done = py.detach(|| {
        work(&mut || {
            // Only long batches ask.
            let signals =
                signals.get_or_insert_with(|| is_main_thread().then(Signals::default)).as_mut();
            interrupt = interrupt.take().or_else(|| signals?.look());
            interrupt.is_some()
        })
    });
    (done, interrupt)
}

/// Only there Python handles signals.
fn is_main_thread() -> bool {
    rustix::thread::gettid() == rustix::process::getpid()
}

/// Looks for Ctrl-C twenty times a second at most: taking the GIL back may have to wait for others.
pub(crate) struct Signals(Instant);

impl Default for Signals {
    fn default() -> Self {
        Self(Instant::now())
    }
}

impl Signals {
    /// What a signal raises, for work that has left the GIL.
    pub(crate) fn look(&mut self) -> Option<PyErr> {
        if self.0.elapsed() < LOOK_EVERY {
            return None;
        }
        self.0 = Instant::now();
        Python::attach(|py| py.check_signals()).err()
    }
}

const LOOK_EVERY: Duration = Duration::from_millis(50);

/// IMPLEMENTATION NOTE: leaving and coming back costs under 50 ns when nobody wants the GIL: messages
/// of 16,383 and of 16,384 bytes both take 1.2 µs from Python (one core of a Zen 5 virtual machine).
/// But when another thread runs Python code, coming back may wait for its whole switch interval, 5 ms.
/// Below 16 KiB that is thousands of times what the others could gain.
const WORTH_LEAVING_BYTES: usize = 16 << 10;
