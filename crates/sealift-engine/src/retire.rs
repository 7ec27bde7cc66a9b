//! Sessions that some device can't be told to forget yet.

use crate::DeviceId;
use crate::sync::{AtomicBool, Mutex, MutexGuard};
use sealift_core::SessionId;
use std::collections::HashMap;
use std::mem;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

/// What each device has still to forget: a device that hangs may not be asked to, because it might wait
/// for what it hangs on.
#[derive(Debug)]
pub(crate) struct Retirements {
    inner: Mutex<Inner>,
    /// Whether a device that was waited for has come back.
    due: AtomicBool,
}

#[derive(Debug)]
struct Inner {
    put_off: Vec<Vec<SessionId>>,
    /// How many devices have still to forget a session.
    left: HashMap<SessionId, usize>,
}

impl Retirements {
    pub(crate) fn of(devices: usize) -> Self {
        let inner = Inner { put_off: vec![vec![]; devices], left: HashMap::new() };
        Self { inner: Mutex::new(inner), due: AtomicBool::new(false) }
    }

    /// Whether [`take_due`](Self::take_due) would find something. Takes no lock.
    pub(crate) fn are_due(&self) -> bool {
        self.due.load(Ordering::Acquire)
    }

    /// A device holds nothing any more that was given up.
    pub(crate) fn came_back(&self, device: DeviceId) {
        if !self.lock().put_off[device.0].is_empty() {
            self.due.store(true, Ordering::Release);
        }
    }

    /// Keeps sessions for a device until it comes back.
    pub(crate) fn put_off(&self, device: DeviceId, sessions: &[SessionId]) {
        let mut inner = self.lock();
        inner.put_off[device.0].extend_from_slice(sessions);
        for session in sessions {
            *inner.left.entry(*session).or_default() += 1;
        }
    }

    /// The sessions that a device may be told to forget now.
    pub(crate) fn take_due(
        &self,
        is_back: impl Fn(DeviceId) -> bool,
    ) -> Vec<(DeviceId, Vec<SessionId>)> {
        self.due.store(false, Ordering::Release);
        let mut inner = self.lock();
        let places = inner.put_off.iter_mut().enumerate();
        let back = places.filter(|(at, sessions)| !sessions.is_empty() && is_back(DeviceId(*at)));
        back.map(|(at, sessions)| (DeviceId(at), mem::take(sessions))).collect()
    }

    /// Whether every device has forgotten a session, one more of those that were waited for.
    pub(crate) fn forgot(&self, session: SessionId) -> bool {
        let mut inner = self.lock();
        let Some(left) = inner.left.get_mut(&session) else { return true };
        *left -= 1;
        let done = *left == 0;
        if done {
            inner.left.remove(&session);
        }
        done
    }

    /// Whether no device has still to forget a session.
    pub(crate) fn is_forgotten(&self, session: SessionId) -> bool {
        !self.lock().left.contains_key(&session)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_forgotten_when_the_last_device_has_forgotten_it() {
        let session = SessionId { slot: 0, generation: 1 };
        let retirements = Retirements::of(2);
        for at in [0, 1] {
            retirements.put_off(DeviceId(at), &[session]);
        }
        assert!(!retirements.forgot(session));
        assert!(retirements.forgot(session));
    }
}
