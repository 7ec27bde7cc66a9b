//! Systems of DPUs.

use super::input;
use crate::errors::Outcome;
use dpu_sim::host::Push;
use dpu_sim::{PRESETS, Preset, Timing};
use pyo3::prelude::*;

/// The systems of DPUs that are known by name.
#[pyfunction]
pub(crate) fn dpu_systems() -> Vec<DpuSystem> {
    let known = PRESETS.iter().filter_map(|(name, _)| Preset::named(name).ok());
    known.map(DpuSystem).collect()
}

/// A system of DPUs: how many there are, how fast, and how far from the host.
#[pyclass(frozen, module = "sealift._sealift")]
pub(crate) struct DpuSystem(pub(crate) Preset);

#[pymethods]
impl DpuSystem {
    /// One of those that are known by name.
    ///
    /// Raises:
    ///     InputError: If there is none of that name.
    #[staticmethod]
    fn named(name: &str) -> Outcome<Self> {
        Preset::named(name).map(Self).map_err(input)
    }

    /// Reads a description in TOML.
    ///
    /// Raises:
    ///     InputError: If something in it is missing or wrong, with line or key.
    #[staticmethod]
    fn parse(text: &str) -> Outcome<Self> {
        Preset::parse(text).map(Self).map_err(input)
    }

    /// The same, registers that meet in one bank taking longer or not.
    #[pyo3(signature = (*, on))]
    fn with_hazard(&self, on: bool) -> Self {
        let timing = Timing { hazard: on, ..self.0.timing.clone() };
        Self(Preset { timing, ..self.0.clone() })
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    /// What it is, in a line.
    #[getter]
    fn summary(&self) -> &str {
        &self.0.summary
    }

    /// Where its figures come from.
    #[getter]
    fn source(&self) -> &str {
        &self.0.source
    }

    /// How many DPUs it has.
    #[getter]
    fn dpus(&self) -> usize {
        self.0.dpus()
    }

    /// How many ranks they are on.
    #[getter]
    fn ranks(&self) -> u32 {
        self.0.ranks
    }

    /// Cycles of a DPU in a second.
    #[getter]
    fn clock_hz(&self) -> f64 {
        self.0.clock_hz
    }

    /// Whether registers that meet in one bank take longer.
    #[getter]
    fn hazard(&self) -> bool {
        self.0.timing.hazard
    }

    /// Bytes a second to so many DPUs at once, and from them.
    ///
    /// Args:
    ///     dpus: How many; with 0 the rates are those of one.
    ///     bytes_each: Bytes of each DPU, 1 or more; None for the rates of long transfers.
    ///
    /// Raises:
    ///     InputError: If there are no bytes.
    #[pyo3(signature = (dpus, bytes_each=None))]
    fn rates(&self, dpus: usize, bytes_each: Option<u64>) -> Outcome<(f64, f64)> {
        let known = &self.0.transfers;
        let Some(each) = bytes_each else {
            let long = |push| known.long_bytes_per_s(push, dpus);
            return Ok((long(Push::ToDpus), long(Push::FromDpus)));
        };
        let bytes = each.saturating_mul(dpus.max(1) as u64);
        if bytes == 0 {
            return Err(input("bytes_each is 0: give 1 or more"));
        }
        #[allow(clippy::cast_precision_loss, reason = "2^53 bytes are more than any machine has")]
        let rate = |push| bytes as f64 / known.seconds(push, dpus, bytes);
        Ok((rate(Push::ToDpus), rate(Push::FromDpus)))
    }
}
