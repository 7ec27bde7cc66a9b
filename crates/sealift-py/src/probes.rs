//! The native measuring loops, for the lab.

use crate::errors::Failure;
use crate::gil;
use crate::integers::check_byte_order;
use pyo3::buffer::{Element, PyBuffer};
use pyo3::create_exception;
use pyo3::exceptions::{PyIndexError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use sealift_probes::{Arm, ArmError, ArmSpec, Columns, Planned, Regime, Sample, Verified};
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::Instant;

create_exception!(
    sealift,
    WrongResultError,
    PyRuntimeError,
    "A device computed something wrong while it was measured; its times mean nothing."
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

/// Devices with the messages they are to work, ready to be timed.
///
/// Args:
///     devices: The devices to open; besides those to measure at least one to check them against.
///
/// Raises:
///     UnknownDeviceError: If one is no device.
///     DeviceError: If one is absent.
#[pyclass(frozen, module = "sealift")]
pub(crate) struct Arms {
    engine: sealift::Engine,
    arms: Mutex<Vec<Arm>>,
}

#[pymethods]
impl Arms {
    #[new]
    fn new(devices: Vec<String>) -> Result<Self, Failure> {
        let names: Vec<&str> = devices.iter().map(String::as_str).collect();
        Ok(Self { engine: sealift::Engine::with(&names)?, arms: Mutex::default() })
    }

    /// Makes the messages, checks the device on every one of them, and warms up.
    ///
    /// It looks for Ctrl-C after each batch.
    ///
    /// Args:
    ///     device: The name of an open device.
    ///     operation: 0 seal, 1 open, 2 open that must fail; one for each message.
    ///     key_len: Bytes of each key.
    ///     nonce_len: Bytes of each nonce.
    ///     aad_len: Bytes of each aad.
    ///     text_len: Bytes of each text.
    ///     tag_len: Bytes of each tag.
    ///     keys: "one", "sessions" or "fresh".
    ///     sessions: How many keys are installed; looked at for "sessions" only.
    ///     batch: Messages handed to the engine at once.
    ///     threads: Threads that each work all messages.
    ///     seed: Of keys, nonces, aads and texts.
    ///
    /// Returns:
    ///     The number by which `sample` knows the arm, and the devices that it was checked against:
    ///     none for a device that encrypts nothing.
    ///
    /// Raises:
    ///     ValueError: If a column is wrong.
    ///     LimitError: If the device doesn't take the messages.
    ///     WrongResultError: If it computes something wrong.
    #[pyo3(signature = (device, *, operation, key_len, nonce_len, aad_len, text_len, tag_len, keys, sessions, batch, threads, seed))]
    #[expect(clippy::too_many_arguments, reason = "by name in Python")]
    fn prepare(
        &self,
        py: Python<'_>,
        device: &str,
        operation: PyBuffer<u8>,
        key_len: PyBuffer<u8>,
        nonce_len: PyBuffer<u8>,
        aad_len: PyBuffer<u32>,
        text_len: PyBuffer<u64>,
        tag_len: PyBuffer<u8>,
        keys: &str,
        sessions: usize,
        batch: usize,
        threads: usize,
        seed: u64,
    ) -> PyResult<(usize, Vec<String>)> {
        let columns = Columns {
            planned: values(py, &operation, "operation")?
                .into_iter()
                .map(planned)
                .collect::<PyResult<_>>()?,
            key_bytes: values(py, &key_len, "key_len")?,
            nonce_bytes: values(py, &nonce_len, "nonce_len")?,
            aad_bytes: values(py, &aad_len, "aad_len")?,
            text_bytes: values(py, &text_len, "text_len")?,
            tag_bytes: values(py, &tag_len, "tag_len")?,
        };
        let regime = regime(keys, sessions)?;
        let spec = ArmSpec { columns, regime, batch, threads, seed };
        let mut interrupt = None;
        let prepared = gil::leave(py, || {
            let mut arms = self.alone()?;
            let mut signals = Signals::default();
            let mut wanted = || {
                interrupt = signals.look();
                interrupt.is_none()
            };
            let arm = Arm::prepare_while(&self.engine, device, &spec, &mut wanted)?;
            let checkers = match arm.verified() {
                Verified::Against(names) => names.clone(),
                Verified::NothingToCheck => vec![],
            };
            arms.push(arm);
            Ok((arms.len() - 1, checkers))
        });
        match interrupt {
            Some(interrupt) => Err(interrupt),
            None => prepared.map_err(exception),
        }
    }

    /// Runs an arm for about `seconds`, looking for Ctrl-C ten times a second.
    ///
    /// Returns:
    ///     Wall nanoseconds, messages, bytes of text, involuntary switches, least CPU share of a
    ///     thread, and nanoseconds stolen by the hypervisor.
    ///
    /// Raises:
    ///     IndexError: If there is no such arm.
    ///     WrongResultError: If other messages failed than those that must.
    ///     DeviceError: If the device failed.
    fn sample(
        &self,
        py: Python<'_>,
        arm: usize,
        seconds: f64,
    ) -> PyResult<(u64, u64, u64, u64, f64, u64)> {
        let mut sum = self.step(py, arm, seconds)?;
        let left = |sum: &Sample| seconds - std::time::Duration::from_nanos(sum.ns).as_secs_f64();
        // A rest of under half a step is not worth another one.
        while left(&sum) > STEP_SECONDS / 2.0 {
            py.check_signals()?;
            sum = sum.and(self.step(py, arm, left(&sum))?);
        }
        let Sample { ns, messages, bytes, involuntary_switches, cpu_share, steal_ns } = sum;
        Ok((ns, messages, bytes, involuntary_switches, cpu_share, steal_ns))
    }
}

impl Arms {
    fn step(&self, py: Python<'_>, arm: usize, seconds: f64) -> PyResult<Sample> {
        gil::leave(py, || {
            let mut arms = self.alone()?;
            let there = arms.len();
            let arm = arms.get_mut(arm).ok_or(Stop::NoArm { arm, there })?;
            Ok(arm.sample(seconds.min(STEP_SECONDS))?)
        })
        .map_err(exception)
    }

    /// The arms, for one thread: two that measure at once would measure each other, and in a forked
    /// child a lock that its parent holds is never given back.
    fn alone(&self) -> Result<MutexGuard<'_, Vec<Arm>>, Stop> {
        match self.arms.try_lock() {
            Ok(arms) => Ok(arms),
            Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => Err(Stop::Busy),
        }
    }
}

/// Looks for Ctrl-C ten times a second at most: taking the GIL back may have to wait for others.
struct Signals(Instant);

impl Default for Signals {
    fn default() -> Self {
        Self(Instant::now())
    }
}

impl Signals {
    fn look(&mut self) -> Option<PyErr> {
        if self.0.elapsed().as_secs_f64() < STEP_SECONDS {
            return None;
        }
        self.0 = Instant::now();
        Python::attach(|py| py.check_signals()).err()
    }
}

/// Why nothing was measured.
enum Stop {
    Busy,
    NoArm { arm: usize, there: usize },
    Arm(ArmError),
}

impl From<ArmError> for Stop {
    fn from(error: ArmError) -> Self {
        Self::Arm(error)
    }
}

fn exception(stop: Stop) -> PyErr {
    match stop {
        Stop::Busy => PyRuntimeError::new_err(
            "another thread measures these arms, or did so when this process was forked: measure \
             in one thread, and make arms of its own in a child",
        ),
        Stop::NoArm { arm, there } => {
            PyIndexError::new_err(format!("arm {arm}: {there} are prepared, from 0"))
        }
        Stop::Arm(ArmError::Engine(error)) => Failure::Engine(error).into(),
        Stop::Arm(error @ ArmError::Wrong { .. }) => WrongResultError::new_err(error.to_string()),
        Stop::Arm(error @ ArmError::Spec { .. }) => PyValueError::new_err(error.to_string()),
        Stop::Arm(error) => PyRuntimeError::new_err(error.to_string()),
    }
}

fn values<T: Element>(py: Python<'_>, column: &PyBuffer<T>, name: &str) -> PyResult<Vec<T>> {
    check_byte_order(column.format(), name)?;
    column.to_vec(py)
}

fn planned(code: u8) -> PyResult<Planned> {
    match code {
        0 => Ok(Planned::Seal),
        1 => Ok(Planned::Open),
        2 => Ok(Planned::Bad),
        _ => Err(PyValueError::new_err(format!("operation {code}: 0 seals, 1 opens, 2 must fail"))),
    }
}

fn regime(keys: &str, sessions: usize) -> PyResult<Regime> {
    match keys {
        "one" => Ok(Regime::One),
        "sessions" => Ok(Regime::Sessions(sessions)),
        "fresh" => Ok(Regime::Fresh),
        _ => Err(PyValueError::new_err(format!("keys {keys:?}: one, sessions or fresh"))),
    }
}

const STEP_SECONDS: f64 = sealift_probes::SAMPLE_SECONDS_MAX;
