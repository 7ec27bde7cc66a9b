//! Frames between two processes, for the lab.

use crate::gil;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sealift_probes::ArmError;
use sealift_probes::frames::{self, FrameSpec, Pattern, RULES, Rules, Way};
use std::ffi::OsString;
use std::io::stdin;
use std::os::fd::AsFd;
use std::sync::atomic::AtomicU64;

/// The ways that frames can go between two processes, by name.
#[pyfunction]
pub(crate) fn frame_ways() -> Vec<&'static str> {
    Way::ALL.map(|(name, _)| name).to_vec()
}

/// Answers frames over the socket that is standard input, until its other end is closed.
///
/// What the command does that `Arm.frames` starts; it returns when who measures is gone.
///
/// Raises:
///     ValueError: If standard input is no such socket, or a frame was wrong; the process that
///         measures is told, too.
#[pyfunction]
pub(crate) fn answer_frames(py: Python<'_>) -> PyResult<()> {
    let end = stdin().as_fd().try_clone_to_owned()?;
    gil::leave(py, || frames::answer_frames(end, &AtomicU64::new(0)))
        .map_err(|error| PyValueError::new_err(error.to_string()))
}

pub(crate) fn spec(
    (way, pattern): (&str, &str),
    (frame_bytes, batch): (usize, usize),
    seed: u64,
    far: Vec<OsString>,
) -> Result<FrameSpec, ArmError> {
    let (way, pattern) = (Way::parse(way)?, Pattern::parse(pattern)?);
    let rules = Rules::parse(RULES)?;
    Ok(FrameSpec { way, pattern, frame_bytes, batch, seed, rules, far })
}
