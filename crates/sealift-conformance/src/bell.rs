//! What devices under test ring.

use sealift_core::Notify;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Counts rings, and waits for the next.
#[derive(Debug, Default)]
pub(crate) struct Bell {
    rings: Mutex<u64>,
    rung: Condvar,
}

impl Bell {
    /// Waits until it was rung since the last wait.
    ///
    /// # Errors
    /// Nobody rang in that time.
    pub(crate) fn wait(&self, at_most: Duration) -> Result<(), String> {
        let deadline = Instant::now() + at_most;
        let mut rings = self.rings.lock().unwrap_or_else(PoisonError::into_inner);
        while *rings == 0 {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(format!("nobody rang in {at_most:?}"));
            }
            rings = self.rung.wait_timeout(rings, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        *rings = 0;
        Ok(())
    }
}

impl Notify for Bell {
    fn ring(&self) {
        *self.rings.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.rung.notify_all();
    }
}
