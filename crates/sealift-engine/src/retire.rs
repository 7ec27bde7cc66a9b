//! Sessions that some device can't be told to forget yet.

use crate::DeviceId;
use sealift_core::SessionId;
use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Retired sessions with the devices that still have to forget them.
#[derive(Debug, Default)]
pub(crate) struct Retirements {
    left: Mutex<Vec<(SessionId, Vec<DeviceId>)>>,
    some: AtomicBool,
}

impl Retirements {
    /// Whether any were put off. Takes no lock.
    pub(crate) fn are_due(&self) -> bool {
        self.some.load(Ordering::Acquire)
    }

    /// Those that were put off, and new ones that all devices have to forget.
    pub(crate) fn take(
        &self,
        new: Vec<SessionId>,
        devices: usize,
    ) -> Vec<(SessionId, Vec<DeviceId>)> {
        let mut left = self.lock();
        let mut due = mem::take(&mut *left);
        self.some.store(false, Ordering::Release);
        let everyone = || (0..devices).map(DeviceId).collect();
        due.extend(new.into_iter().map(|session| (session, everyone())));
        due
    }

    /// Keeps a session for later.
    pub(crate) fn put_off(&self, session: SessionId, devices: Vec<DeviceId>) {
        let mut left = self.lock();
        left.push((session, devices));
        self.some.store(true, Ordering::Release);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(SessionId, Vec<DeviceId>)>> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
