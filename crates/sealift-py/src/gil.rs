//! The one place that leaves the GIL.

use pyo3::Python;
use pyo3::marker::Ungil;

/// Runs work that touches no Python object while other Python threads go on.
///
/// What it reads and writes is held by the caller: references to bytes objects, buffers that are
/// released only afterwards.
pub(crate) fn leave<T: Ungil>(py: Python<'_>, work: impl FnOnce() -> T + Ungil) -> T {
    py.detach(work)
}

/// The same for one message: leaves only when it is long enough to be worth it.
pub(crate) fn leave_for<T: Ungil>(
    py: Python<'_>,
    bytes: usize,
    work: impl FnOnce() -> T + Ungil,
) -> T {
    if bytes >= WORTH_LEAVING_BYTES { py.detach(work) } else { work() }
}

/// IMPLEMENTATION NOTE: leaving and coming back costs under 50 ns when nobody wants the GIL: messages
/// of 16,383 and of 16,384 bytes both take 1.2 µs from Python (one core of a Zen 5 virtual machine).
/// But when another thread runs Python code, coming back may wait for its whole switch interval, 5 ms.
/// Below 16 KiB that is thousands of times what the others could gain.
const WORTH_LEAVING_BYTES: usize = 16 << 10;
