//! What Python says of messages, as the probes take it.

use crate::integers::check_byte_order;
use pyo3::buffer::{Element, PyBuffer};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sealift_probes::{Planned, Regime};

pub(super) fn values<T: Element>(
    py: Python<'_>,
    column: &PyBuffer<T>,
    name: &str,
) -> PyResult<Vec<T>> {
    check_byte_order(column.format(), name)?;
    column.to_vec(py)
}

pub(super) fn planned(code: u8) -> PyResult<Planned> {
    match code {
        0 => Ok(Planned::Seal),
        1 => Ok(Planned::Open),
        2 => Ok(Planned::Bad),
        3 => Ok(Planned::Verify),
        _ => {
            let right = "0 seals, 1 opens, 2 must fail, 3 verifies";
            Err(PyValueError::new_err(format!("operation {code}: {right}")))
        }
    }
}

pub(super) fn regime(keys: &str, sessions: usize) -> PyResult<Regime> {
    match keys {
        "one" => Ok(Regime::One),
        "sessions" => Ok(Regime::Sessions(sessions)),
        "fresh" => Ok(Regime::Fresh),
        _ => Err(PyValueError::new_err(format!("keys {keys:?}: one, sessions or fresh"))),
    }
}
