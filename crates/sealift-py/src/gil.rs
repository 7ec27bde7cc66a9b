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
    text_bytes: usize,
    work: impl FnOnce() -> T + Ungil,
) -> T {
    if text_bytes >= WORTH_LEAVING_BYTES { py.detach(work) } else { work() }
}

/// IMPLEMENTATION NOTE: leaving and taking the GIL again costs about 50 ns when nobody wants it, and
/// up to the interpreter's switch interval (5 ms) when another thread runs Python code meanwhile.
/// 16 KiB take about 3 µs, so that below it the way out costs more than anyone could do meanwhile.
const WORTH_LEAVING_BYTES: usize = 16 << 10;
