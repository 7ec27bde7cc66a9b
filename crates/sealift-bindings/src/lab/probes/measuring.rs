//! Prepares and measures off the GIL, one at a time.

use super::arm::Arm;
use super::stop::{Stop, exception};
use crate::gil::{self, Signals};
use pyo3::prelude::*;
use sealift_probes::Sample;
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::Duration;

impl Arm {
    /// Makes an arm off the GIL, looking for Ctrl-C.
    pub(super) fn prepare(
        py: Python<'_>,
        make: impl FnOnce(&mut dyn FnMut() -> bool) -> Result<Made, Stop> + Send,
    ) -> PyResult<Self> {
        watched(py, make).map(|arm| Self(Mutex::new(arm)))
    }

    /// Runs for about so many seconds, looking for Ctrl-C between steps.
    pub(super) fn sampled(&self, py: Python<'_>, seconds: f64) -> PyResult<Figures> {
        let mut sum = self.step(py, seconds)?;
        let took = |sample: &Sample| Duration::from_nanos(sample.ns).as_secs_f64();
        let goes_on = self.look(|arm| arm.goes_on())?;
        // A rest of under half a step is not worth another one.
        while goes_on && seconds - took(&sum) > STEP_SECONDS / 2.0 {
            py.check_signals()?;
            sum = sum.and(self.step(py, seconds - took(&sum))?);
        }
        let Sample { ns, operations, bytes, involuntary_switches, cpu_share, steal_ns, clock_ghz } =
            sum;
        Ok((ns, operations, bytes, involuntary_switches, cpu_share, steal_ns, clock_ghz))
    }

    fn step(&self, py: Python<'_>, seconds: f64) -> PyResult<Sample> {
        watched(py, |wanted| Ok(take(&self.0)?.sample_while(seconds.min(STEP_SECONDS), wanted)?))
    }

    pub(super) fn look<T>(&self, at: impl FnOnce(&dyn sealift_probes::Arm) -> T) -> PyResult<T> {
        take(&self.0).map(|arm| at(&**arm)).map_err(exception)
    }
}

/// Works off the GIL, alone, looking for Ctrl-C.
pub(crate) fn watched<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&mut dyn FnMut() -> bool) -> Result<T, Stop> + Send,
) -> PyResult<T> {
    let mut interrupt = None;
    let done = gil::leave(py, || {
        let _alone = take(&MEASURING)?;
        let mut signals = Signals::default();
        let mut wanted = || {
            // Whoever asks again hears the same.
            interrupt = interrupt.take().or_else(|| signals.look());
            interrupt.is_none()
        };
        work(&mut wanted)
    });
    match interrupt {
        Some(interrupt) => Err(interrupt),
        None => done.map_err(exception),
    }
}

pub(super) type Figures = (u64, u64, u64, u64, f64, u64, Option<f64>);
pub(super) type Made = Box<dyn sealift_probes::Arm>;

/// Held while something is prepared or measured.
static MEASURING: Mutex<()> = Mutex::new(());

/// Never waits: in a forked child a lock that its parent holds is never given back.
fn take<T: ?Sized>(lock: &Mutex<T>) -> Result<MutexGuard<'_, T>, Stop> {
    match lock.try_lock() {
        Ok(guard) => Ok(guard),
        Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => Err(Stop::Busy),
    }
}

const STEP_SECONDS: f64 = sealift_probes::SAMPLE_SECONDS_MAX;
