//! Why nothing was measured, as an exception.

use super::{NotMeasurableError, WrongResultError};
use crate::errors::Failure;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use sealift_probes::ArmError;

/// Why nothing was measured.
pub(crate) enum Stop {
    Busy,
    Arm(ArmError),
}

impl From<ArmError> for Stop {
    fn from(error: ArmError) -> Self {
        Self::Arm(error)
    }
}

pub(crate) fn exception(stop: Stop) -> PyErr {
    match stop {
        Stop::Busy => PyRuntimeError::new_err(
            "another thread measures, or did so when this process was forked: measure in one \
             thread, and in a child that has not measured before it was forked",
        ),
        Stop::Arm(ArmError::Engine(error)) => Failure::Engine(error).into(),
        Stop::Arm(error @ ArmError::Wrong { .. }) => WrongResultError::new_err(error.to_string()),
        Stop::Arm(error @ ArmError::Spec { .. }) => PyValueError::new_err(error.to_string()),
        Stop::Arm(error) => NotMeasurableError::new_err(error.to_string()),
    }
}
