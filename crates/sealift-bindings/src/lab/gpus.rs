//! What Python says of work on a GPU, as the probes take it.

use crate::gil;
use crate::lab::probes::exception;
use pyo3::prelude::*;
use sealift_probes::gpu::{self, GpuCopySpec, GpuSpec, GpuTypesSpec, GpuUnitSpec};

/// The arguments of `Arm.gpu`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Asked {
    device: String,
    code: String,
    mode: String,
    data: String,
    grid: Option<(usize, usize)>,
    operation: String,
    keys: String,
    key_bits: Vec<usize>,
    s_box: String,
    messages: usize,
    message_bytes: usize,
    seed: u64,
}

impl Asked {
    pub(crate) fn spec(self) -> GpuSpec {
        let Self { device, code, mode, data, grid, operation, keys, key_bits, .. } = self;
        let Self { s_box, messages, message_bytes, seed, .. } = self;
        GpuSpec {
            device,
            code,
            mode,
            data,
            grid,
            operation,
            keys,
            key_bits,
            s_box,
            messages,
            message_bytes,
            seed,
        }
    }
}

/// The arguments of `Arm.gpu_types`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct AskedTypes {
    device: String,
    of: String,
    grid: (usize, usize),
}

impl AskedTypes {
    pub(crate) fn spec(self) -> GpuTypesSpec {
        let Self { device, of, grid } = self;
        GpuTypesSpec { device, of, grid }
    }
}

/// The arguments of `Arm.gpu_units`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct AskedUnits {
    device: String,
    of: String,
    rounds: u32,
}

impl AskedUnits {
    pub(crate) fn spec(self) -> GpuUnitSpec {
        let Self { device, of, rounds } = self;
        GpuUnitSpec { device, of, rounds }
    }
}

/// The arguments of `Arm.gpu_copies`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct AskedCopies {
    device: String,
    direction: String,
    size_bytes: usize,
}

impl AskedCopies {
    pub(crate) fn spec(self) -> GpuCopySpec {
        let Self { device, direction, size_bytes } = self;
        GpuCopySpec { device, direction, size_bytes }
    }
}

/// How many multiprocessors a GPU has.
///
/// Args:
///     device: "cuda" or "opencl", with a number where there are several, as in "opencl:0".
///
/// Raises:
///     ValueError: If it is none of these.
///     NotMeasurableError: If there is no such device; says what is missing.
#[pyfunction]
pub(crate) fn multiprocessors(py: Python<'_>, device: &str) -> PyResult<usize> {
    gil::leave(py, || gpu::multiprocessors(device)).map_err(|error| exception(error.into()))
}
