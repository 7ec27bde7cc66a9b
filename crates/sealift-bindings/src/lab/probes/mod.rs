//! The native measuring loops, for the lab.

mod arm;
mod contended;
mod measuring;
mod messages;
mod stop;

pub(crate) use arm::Arm;
pub(crate) use measuring::watched;
pub(crate) use stop::{Stop, exception};

use crate::gil;
use pyo3::create_exception;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use sealift_probes::Primitive;
use sealift_probes::copy::Region;
use std::path::PathBuf;

create_exception!(
    sealift,
    WrongResultError,
    PyRuntimeError,
    "Something was computed wrong while it was prepared or measured; its times mean nothing."
);

create_exception!(
    sealift,
    NotMeasurableError,
    PyRuntimeError,
    "What was asked for can't be measured here; says why."
);

/// The clock of the core that runs this, in GHz.
///
/// Measured in 10 ms by a chain of multiplications.
///
/// Returns:
///     None on processors whose cycles a multiplication aren't known.
#[pyfunction]
pub(crate) fn effective_clock_ghz(py: Python<'_>) -> Option<f64> {
    gil::leave(py, sealift_probes::effective_clock_ghz)
}

/// The names of the primitives that can be measured.
#[pyfunction]
pub(crate) fn primitives() -> Vec<&'static str> {
    Primitive::ALL.map(|(name, _)| name).to_vec()
}

/// Looks whether a part of a device's memory, or of a file, is there and long enough.
///
/// Nothing of it is read or written.
///
/// Args:
///     path: A PCI resource, /dev/dax, /dev/mem, or an ordinary file.
///     offset: Where in it the region begins, in bytes; whole pages.
///     length: Of the region, in bytes; whole pages.
///
/// Raises:
///     NotMeasurableError: If it is not; says why.
#[pyfunction]
pub(crate) fn check_region(path: PathBuf, offset: u64, length: usize) -> PyResult<()> {
    Region::find(&path, offset, length).map(drop).map_err(|error| exception(error.into()))
}
