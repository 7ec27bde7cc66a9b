//! The suite for devices, from Python.

use crate::errors::{Failure, Outcome};
use crate::gil;
use crate::info::DeviceInfo;
use pyo3::prelude::*;
use sealift::{EngineError, OpenError, Spec, SpecError, driver};
use sealift_conformance::{Candidate, Checker};

/// A device that was opened to be checked: by the suite that every device has to pass.
///
/// `sealift check` runs it. Results are compared with published vectors, and with another device.
///
/// Args:
///     device: Its name, as `Engine` takes it.
///     seed: Of what is drawn; the same seed draws the same messages.
///
/// Raises:
///     UnknownDeviceError: If it is no device, or has a setting that its driver does not take.
///     DeviceError: If it is absent.
#[pyclass(frozen, module = "sealift")]
pub(crate) struct DeviceCheck(Checker);

#[pymethods]
impl DeviceCheck {
    #[new]
    #[pyo3(signature = (device, *, seed))]
    fn new(py: Python<'_>, device: &str, seed: u64) -> Outcome<Self> {
        let opened = gil::leave(py, || open(device, seed));
        Ok(Self(opened.map_err(EngineError::Open)?))
    }

    /// What the device is.
    #[getter]
    fn device(&self) -> DeviceInfo {
        DeviceInfo::new(self.0.capabilities())
    }

    /// The name of the device that it is compared with.
    #[getter]
    fn compared_with(&self) -> &str {
        self.0.compared_with()
    }

    /// The names of all checks: each a sentence that is true of a right device.
    #[getter]
    fn checks(&self) -> Vec<&'static str> {
        Checker::checks()
    }

    /// Runs one of `checks`, which takes up to some seconds.
    ///
    /// Raises:
    ///     InputError: If there is no check of that name.
    fn run(&self, py: Python<'_>, check: &str) -> Outcome<CheckResult> {
        let checked = gil::leave(py, || self.0.run(check)).map_err(Failure::Input)?;
        let (passed, text) = match checked.outcome {
            Ok(summary) => (true, summary),
            Err(fault) => (false, fault),
        };
        Ok(CheckResult { passed, text, messages: checked.messages, refused: checked.refused })
    }
}

/// What came of a check.
#[pyclass(frozen, get_all, module = "sealift")]
pub(crate) struct CheckResult {
    /// Whether the device passed.
    passed: bool,
    /// What was done, or the first fault, with the seed.
    text: String,
    /// Messages that the device worked, every byte of which was compared.
    messages: u64,
    /// Those of them that did not open: they were spoiled on purpose.
    refused: u64,
}

#[pymethods]
impl CheckResult {
    fn __repr__(&self) -> String {
        format!("CheckResult(passed={}, {:?})", self.passed, self.text)
    }
}

fn open(device: &str, seed: u64) -> Result<Checker, OpenError> {
    let wrong =
        |error: SpecError| OpenError::Setting { device: device.into(), reason: error.to_string() };
    let spec: Spec = device.parse().map_err(wrong)?;
    let candidate = Candidate::new(driver(spec.driver())?, device).scale(SCALE);
    Checker::open(&candidate, seed)
}

/// Of the large numbers of the suite: some seconds of a core.
const SCALE: f64 = 0.01;
