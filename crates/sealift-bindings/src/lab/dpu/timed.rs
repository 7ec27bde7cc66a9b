//! A kernel on many DPUs.

use super::system::DpuSystem;
use crate::errors::{Failure, Outcome};
use crate::gil;
use crate::lab::probes::WrongResultError;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use sealift::pim::{Cipher, Run, Timed, Took};

/// A kernel on many simulated DPUs, each with a text of its own.
///
/// Whoever drops it while DPUs run has them stop, and waits some milliseconds for that.
#[pyclass(module = "sealift._sealift")]
pub(crate) struct DpuKernel(Run);

#[pymethods]
impl DpuKernel {
    /// Loads the kernel and sends the texts.
    ///
    /// Args:
    ///     cipher: "ecb", "ctr", "gcm" or "many".
    ///     system: Whose DPUs they are.
    ///     dpus: How many of them.
    ///     text_bytes: Bytes of each one's text, a multiple of 32 up to 64 MiB.
    ///     tasklets: Tasklets of each, 1 to 24.
    ///     key_bytes: 16, 24 or 32.
    ///     message_bytes: Bytes of each message of "many", which divide those of the text.
    ///
    /// Raises:
    ///     InputError: If a number is out of range, or there is no such cipher.
    #[new]
    #[pyo3(signature = (
        cipher, system, *, dpus, text_bytes, tasklets=16, key_bytes=16, message_bytes=128
    ))]
    #[expect(clippy::too_many_arguments, reason = "they are named in Python")]
    fn new(
        py: Python<'_>,
        cipher: &str,
        system: &DpuSystem,
        dpus: usize,
        text_bytes: usize,
        tasklets: usize,
        key_bytes: usize,
        message_bytes: usize,
    ) -> Outcome<Self> {
        let found = Cipher::ALL.iter().find(|(name, _)| *name == cipher);
        let cipher = found.map(|(_, cipher)| *cipher).ok_or_else(|| {
            let names = Cipher::ALL.map(|(name, _)| name).join(", ");
            Failure::Input(format!("there is no kernel {cipher:?}: {names} are"))
        })?;
        let (system, bytes) = (system.0.clone(), text_bytes);
        let timed = Timed { cipher, system, dpus, bytes, tasklets, key_bytes, message_bytes };
        gil::leave(py, || Run::new(timed)).map(Self).map_err(Failure::Input)
    }

    /// Starts the DPUs, on threads of this machine.
    ///
    /// Raises:
    ///     RuntimeError: If they run already.
    fn launch(&mut self) -> PyResult<()> {
        self.0.launch().map_err(PyRuntimeError::new_err)
    }

    /// How many DPUs have ended.
    #[getter]
    fn ended(&self) -> usize {
        self.0.ended()
    }

    /// Waits for the DPUs, and compares every byte with what this processor's kernels make.
    ///
    /// Raises:
    ///     WrongResultError: If a DPU faulted, or a byte is wrong.
    fn finish(&mut self, py: Python<'_>) -> PyResult<DpuTook> {
        let took = gil::leave(py, || self.0.finish()).map_err(WrongResultError::new_err)?;
        Ok(DpuTook::new(&took))
    }
}

/// What a kernel took on DPUs, simulated, and what simulating it took here, measured.
#[pyclass(frozen, get_all, module = "sealift._sealift")]
pub(crate) struct DpuTook {
    /// Bytes of all texts, every one compared.
    bytes: u64,
    /// Cycles of the DPU that took longest.
    cycles: u64,
    /// Instructions of all DPUs.
    instructions: u64,
    /// Texts to the DPUs on the system's bus, in seconds: simulated.
    bus_in_seconds: f64,
    /// The DPU that took longest, in seconds of the system's clock: simulated.
    compute_seconds: f64,
    /// Texts back, in seconds: simulated.
    bus_out_seconds: f64,
    /// Copying and interleaving texts on this machine, both ways, in seconds: measured.
    copy_seconds: f64,
    /// Executing the DPUs' instructions on this machine, in seconds: measured.
    simulating_seconds: f64,
}

impl DpuTook {
    fn new(took: &Took) -> Self {
        Self {
            bytes: took.bytes,
            cycles: took.cycles,
            instructions: took.instructions,
            bus_in_seconds: took.bus_in_seconds,
            compute_seconds: took.compute_seconds,
            bus_out_seconds: took.bus_out_seconds,
            copy_seconds: took.copy_seconds,
            simulating_seconds: took.simulating_seconds,
        }
    }
}
