//! Files of short reads, and what a process holds while it reads them, for the lab.

use crate::gil::{self, Signals};
use crate::lab::probes::exception;
use pyo3::prelude::*;
use sealift_probes::ArmError;
use sealift_probes::files;
use std::fs::File;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// Writes short reads as FASTQ; the same seed gives the same bytes.
///
/// Args:
///     path: A file that is there; what it holds is lost.
///     reads: How many, a multiple of 1,000.
///     seed: Of what is drawn.
///
/// Returns:
///     A sum over each 1,000 of them, to hold a reader to.
///
/// Raises:
///     ValueError: If the number of reads can't be.
///     NotMeasurableError: If the file can't be written.
#[pyfunction]
#[pyo3(signature = (path, *, reads, seed))]
pub(crate) fn write_reads(
    py: Python<'_>,
    path: PathBuf,
    reads: usize,
    seed: u64,
) -> PyResult<Vec<u64>> {
    let mut interrupt = None;
    let sums = gil::leave(py, || {
        let mut signals = Signals::default();
        let mut wanted = || {
            interrupt = signals.look();
            interrupt.is_none()
        };
        let file = File::create(&path).map_err(|error| ArmError::File {
            doing: "write short reads",
            reason: error.to_string(),
        })?;
        files::write_reads(file, reads, seed, &mut wanted)
    });
    match interrupt {
        Some(interrupt) => Err(interrupt),
        None => sums.map_err(|error| exception(error.into())),
    }
}

/// The C++ source of the reader `ifstream`: to be compiled to a shared library.
#[pyfunction]
pub(crate) fn stream_source() -> &'static str {
    files::STREAM_SOURCE
}

/// Threads or memory that this process holds until `release`.
#[pyclass(frozen, module = "sealift")]
pub(crate) struct Held(Mutex<Option<files::Held>>);

#[pymethods]
impl Held {
    /// Takes them.
    ///
    /// Args:
    ///     what: nothing, one idle thread, eight idle threads, a poller, a spinner, reserved
    ///         memory, touched memory, locked memory, huge pages, a rank's runtime, our engine, or
    ///         our engine, released.
    ///
    /// Raises:
    ///     ValueError: If there is no such thing.
    ///     NotMeasurableError: If the system refuses it.
    #[new]
    fn new(py: Python<'_>, what: &str) -> PyResult<Self> {
        let held = gil::leave(py, || files::Held::new(what));
        held.map(|held| Self(Mutex::new(Some(held)))).map_err(|error| exception(error.into()))
    }

    /// Lets a poller or a spinner go on; the others have nothing to do.
    fn wake(&self) {
        self.with(files::Held::wake);
    }

    /// Sends a poller or a spinner to sleep.
    fn rest(&self) {
        self.with(files::Held::rest);
    }

    /// Ends the threads and gives the memory back.
    fn release(&self, py: Python<'_>) {
        let held = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        gil::leave(py, || drop(held));
    }
}

impl Held {
    fn with(&self, act: impl Fn(&files::Held)) {
        let held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.as_ref().into_iter().for_each(act);
    }
}
