//! What devices under test ring.

use sealift_core::Notify;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Counts rings, and waits for the next.
#[derive(Debug, Default)]
pub(crate) struct Bell {
    rings: Mutex<Rings>,
    rung: Condvar,
}

#[derive(Debug, Default)]
struct Rings {
    all: u64,
    /// How many there were when `wait` last returned.
    seen: u64,
}

impl Bell {
    /// Waits until it was rung since the last wait.
    ///
    /// # Errors
    /// Nobody rang in that time.
    pub(crate) fn wait(&self, at_most: Duration) -> Result<(), String> {
        let seen = self.lock().seen;
        self.wait_beyond(seen, at_most)?;
        let mut rings = self.lock();
        rings.seen = rings.all;
        Ok(())
    }

    /// How often it was rung.
    pub(crate) fn rings(&self) -> u64 {
        self.lock().all
    }

    /// Waits until it was rung more often than that, which any number of threads may do at once.
    ///
    /// # Errors
    /// Nobody rang in that time.
    pub(crate) fn wait_beyond(&self, rings: u64, at_most: Duration) -> Result<(), String> {
        let silent = |found: &mut Rings| found.all <= rings;
        let waited = self.rung.wait_timeout_while(self.lock(), at_most, silent);
        let timed_out = waited.unwrap_or_else(PoisonError::into_inner).1.timed_out();
        if timed_out { Err(format!("nobody rang in {at_most:?}")) } else { Ok(()) }
    }

    fn lock(&self) -> MutexGuard<'_, Rings> {
        self.rings.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Notify for Bell {
    fn ring(&self) {
        self.lock().all += 1;
        self.rung.notify_all();
    }
}
