//! What devices and drivers say of themselves, as values.

use pyo3::prelude::*;
use sealift::{Capabilities, DRIVERS, Origin, Probe};

/// Looks for every device that Sealift knows, without opening any.
///
/// Returns:
///     One `DriverInfo` for each driver, absent ones too.
#[pyfunction]
pub(crate) fn drivers() -> Vec<DriverInfo> {
    DRIVERS.iter().map(|driver| DriverInfo::new(*driver)).collect()
}

/// What a driver found on this machine.
#[pyclass(frozen, get_all, module = "sealift")]
pub(crate) struct DriverInfo {
    /// The name that opens it.
    name: String,
    /// What it is, and the settings it takes.
    summary: String,
    /// Whether it is here: "present" or "absent".
    state: &'static str,
    /// What it is for: real, oracle, test only, simulated or null. None when absent.
    role: Option<String>,
    /// The instruction set or model. None when absent.
    detail: Option<String>,
    /// Why it is absent. None when present.
    reason: Option<String>,
}

#[pymethods]
impl DriverInfo {
    fn __repr__(&self) -> String {
        format!("DriverInfo({:?}, {})", self.name, self.state)
    }
}

impl DriverInfo {
    fn new(driver: &dyn sealift::Driver) -> Self {
        let (name, summary) = (driver.name().to_owned(), driver.summary().to_owned());
        match driver.probe() {
            Probe::Present { role, detail } => Self {
                name,
                summary,
                state: "present",
                role: Some(role.to_string()),
                detail: Some(detail),
                reason: None,
            },
            Probe::Absent { reason } => Self {
                name,
                summary,
                state: "absent",
                role: None,
                detail: None,
                reason: Some(reason),
            },
        }
    }
}

/// What an open device is and what it takes.
#[pyclass(frozen, get_all, module = "sealift")]
pub(crate) struct DeviceInfo {
    /// The spec that opens it again, and its name in `device=`.
    name: String,
    /// Its driver.
    driver: &'static str,
    /// Its use: real (only such are chosen unasked), oracle, test only, simulated or null.
    role: String,
    /// Whose seconds its timings are: "measured", "simulated", or "projected" from a description of
    /// a device that is not here.
    origin: &'static str,
    /// The instruction set or model.
    detail: String,
    /// What it computes.
    algorithms: Vec<String>,
    /// Threads or queues that work submitted batches at the same time.
    workers: usize,
    /// Submitted batches that it holds at most.
    slots: usize,
    /// Most messages a batch.
    messages_max: usize,
    /// Longest text in bytes.
    text_bytes_max: usize,
    /// Longest aad in bytes.
    aad_bytes_max: usize,
    /// Nonce lengths that it takes, in bytes, ascending.
    nonce_lengths: Vec<usize>,
    /// Tag lengths that it takes, in bytes.
    tag_lengths: Vec<usize>,
    /// Whether results may overwrite their texts.
    in_place: bool,
    /// Whether it works `seal_batch` and `open_batch`.
    runs_on_calling_thread: bool,
}

#[pymethods]
impl DeviceInfo {
    fn __repr__(&self) -> String {
        format!("DeviceInfo({:?}, {}, {:?})", self.name, self.role, self.detail)
    }
}

impl DeviceInfo {
    pub(crate) fn new(device: &Capabilities) -> Self {
        Self {
            name: device.name.clone(),
            driver: device.driver,
            role: device.role.to_string(),
            origin: origin(device.origin),
            detail: device.detail.clone(),
            algorithms: device.algorithms.iter().map(ToString::to_string).collect(),
            workers: device.workers,
            slots: device.slots,
            messages_max: device.messages_max,
            text_bytes_max: device.text_bytes_max,
            aad_bytes_max: device.aad_bytes_max,
            nonce_lengths: device.nonce_lengths.iter().collect(),
            tag_lengths: device.tag_lengths.iter().map(|length| length.bytes()).collect(),
            in_place: device.in_place,
            runs_on_calling_thread: device.runs_on_calling_thread,
        }
    }
}

pub(crate) fn origin(origin: Origin) -> &'static str {
    match origin {
        Origin::Measured => "measured",
        Origin::Simulated => "simulated",
        Origin::Projected => "projected",
    }
}
