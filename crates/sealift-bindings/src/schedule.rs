//! Which device gets a batch, what each would take, and where that is known from, as values.

use crate::errors::Outcome;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sealift::{CostSource, DeviceId, POLICIES, State};
use std::path::PathBuf;
use std::time::UNIX_EPOCH;

/// The ways in which an engine chooses a device for a batch; the first is the usual one.
#[pyfunction]
pub(crate) fn policies() -> Vec<PolicyInfo> {
    let info =
        |policy: &&sealift::NamedPolicy| PolicyInfo { name: policy.name, summary: policy.summary };
    POLICIES.iter().map(info).collect()
}

/// A way in which an engine chooses a device for a batch.
#[pyclass(frozen, get_all, module = "sealift")]
pub(crate) struct PolicyInfo {
    /// What `Engine(policy=...)` takes.
    name: &'static str,
    /// What it does, and the settings it takes, as in "size-split:bytes=4096".
    summary: &'static str,
}

#[pymethods]
impl PolicyInfo {
    fn __repr__(&self) -> String {
        format!("PolicyInfo({:?}, {:?})", self.name, self.summary)
    }
}

/// What a batch costs on a device: a set-up, so much a message and so much a byte.
#[pyclass(frozen, get_all, module = "sealift")]
#[derive(Clone)]
pub(crate) struct Cost {
    /// What every batch costs, however small, in nanoseconds.
    setup_ns: f64,
    /// What each message adds, in nanoseconds.
    per_message_ns: f64,
    /// What each byte of text and aad adds, in nanoseconds.
    per_byte_ns: f64,
}

#[pymethods]
impl Cost {
    fn __repr__(&self) -> String {
        let Self { setup_ns, per_message_ns, per_byte_ns } = self;
        format!(
            "Cost({setup_ns:.0} ns a batch, {per_message_ns:.1} ns a message, {per_byte_ns:.4} ns a byte)"
        )
    }
}

impl Cost {
    pub(crate) fn new(cost: sealift::Cost) -> Self {
        Self {
            setup_ns: cost.setup_ns(),
            per_message_ns: cost.per_message_ns(),
            per_byte_ns: cost.per_byte_ns(),
        }
    }

    #[cfg(feature = "lab")]
    pub(crate) fn native(&self) -> sealift::Cost {
        sealift::Cost::clamped(self.setup_ns, self.per_message_ns, self.per_byte_ns)
    }
}

/// What a device was predicted to take for a batch.
#[pyclass(frozen, get_all, module = "sealift")]
#[derive(Clone)]
pub(crate) struct Quote {
    /// The device that was asked.
    device: String,
    /// Until the results are there, in nanoseconds.
    predicted_ns: f64,
    /// Time of this machine's processors that it takes, in nanoseconds.
    host_ns: f64,
}

#[pymethods]
impl Quote {
    fn __repr__(&self) -> String {
        format!("Quote({:?}, {:.0} ns)", self.device, self.predicted_ns)
    }
}

/// Which device would get a batch, and why.
#[pyclass(frozen, get_all, module = "sealift")]
pub(crate) struct Explanation {
    /// The device that would get it.
    device: String,
    /// Why.
    because: String,
    /// What it is predicted to take, in nanoseconds.
    predicted_ns: f64,
    /// Who was asked, in the engine's order.
    quotes: Vec<Quote>,
}

#[pymethods]
impl Explanation {
    fn __repr__(&self) -> String {
        let Self { device, because, predicted_ns, .. } = self;
        format!("Explanation({device:?}, because {because}, {predicted_ns:.0} ns)")
    }
}

impl Explanation {
    pub(crate) fn new(explained: &sealift::Explained, devices: &[String]) -> Self {
        let name = |id: DeviceId| devices.get(id.index()).cloned().unwrap_or_default();
        let quote = |candidate: &sealift::Candidate| Quote {
            device: name(candidate.device),
            predicted_ns: candidate.finish_ns,
            host_ns: candidate.host_ns,
        };
        Self {
            device: name(explained.decision.device),
            because: explained.decision.because.to_string(),
            predicted_ns: explained.decision.predicted_ns,
            quotes: explained.candidates.iter().map(quote).collect(),
        }
    }
}

/// What an engine knows of its devices' costs, and where from.
#[pyclass(frozen, get_all, module = "sealift")]
pub(crate) struct Calibration {
    /// One for each device, by its name.
    devices: Py<PyDict>,
    /// The file that keeps costs; None where there is no place for one.
    file: Option<PathBuf>,
    /// What kept costs from being read or kept there. Nothing else comes of it.
    remarks: Vec<String>,
}

#[pymethods]
impl Calibration {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("Calibration({})", self.devices.bind(py).repr()?))
    }
}

/// What a device's batches cost, and where that is known from.
#[pyclass(frozen, get_all, module = "sealift")]
pub(crate) struct Calibrated {
    /// What the engine goes by, until it has learnt more.
    cost: Cost,
    /// How that is known: "measured" just now, from the "cache", or "known" from what the device
    /// says of itself and what was learnt from its batches.
    source: &'static str,
    /// When it was measured that is from the cache, in seconds since 1970; else None.
    measured_at_s: Option<f64>,
    /// Why it was not measured; None where it was.
    reason: Option<String>,
}

#[pymethods]
impl Calibrated {
    fn __repr__(&self) -> String {
        format!("Calibrated({}, {})", self.cost.__repr__(), self.source)
    }
}

impl Calibration {
    pub(crate) fn new(
        py: Python<'_>,
        found: sealift::Calibration,
        names: &[String],
    ) -> Outcome<Self> {
        let devices = PyDict::new(py);
        for found in found.devices {
            let name = names.get(found.device.index()).map_or("", String::as_str);
            devices.set_item(name, Calibrated::new(found))?;
        }
        Ok(Self { devices: devices.unbind(), file: found.file, remarks: found.remarks })
    }
}

impl Calibrated {
    fn new(found: sealift::Calibrated) -> Self {
        let cost = Cost::new(found.cost);
        let known = |source| Self { cost: cost.clone(), source, measured_at_s: None, reason: None };
        match found.source {
            CostSource::Measured => known("measured"),
            CostSource::Cache { measured_at } => {
                let since = measured_at.duration_since(UNIX_EPOCH);
                let measured_at_s = since.ok().map(|since| since.as_secs_f64());
                Self { measured_at_s, ..known("cache") }
            }
            CostSource::Known { reason } => Self { reason: Some(reason), ..known("known") },
            // Of a later version of the engine.
            _ => known("known"),
        }
    }
}

/// Whether a device gets batches, in a word.
pub(crate) fn state(state: State) -> &'static str {
    match state {
        State::Up => "up",
        State::Down { .. } => "down",
        State::Quarantined => "quarantined",
    }
}
