//! What devices ring and waiters wait for.

use crate::sync::{Condvar, Mutex, MutexGuard};
use crate::{DeviceId, EngineError};
use rustix::event::{EventfdFlags, eventfd};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use sealift_core::Notify;
use std::mem;
use std::sync::{Arc, OnceLock, PoisonError};
use std::time::Duration;

/// Counts rings, so that one between looking and waiting is not missed, and knows which devices rang, so
/// that no other has to be asked for completions.
#[derive(Debug, Default)]
pub(crate) struct Bell {
    rings: Mutex<Rings>,
    rung: Condvar,
    descriptor: OnceLock<OwnedFd>,
}

#[derive(Debug, Default)]
struct Rings {
    count: u64,
    /// The counts that threads wait for: to wake one too early, or none, is a call of the system, too.
    awaited: Vec<u64>,
    /// Devices that rang since they were last taken, each once.
    devices: Vec<DeviceId>,
    /// Whether a device stands among them.
    stands: Vec<bool>,
}

/// What one device rings.
#[derive(Debug)]
pub(crate) struct Doorbell {
    bell: Arc<Bell>,
    device: DeviceId,
}

impl Doorbell {
    pub(crate) fn of(bell: &Arc<Bell>, device: DeviceId) -> Self {
        Self { bell: Arc::clone(bell), device }
    }
}

impl Notify for Doorbell {
    fn ring(&self) {
        self.bell.rung_by(Some(self.device));
    }
}

impl Rings {
    fn note(&mut self, DeviceId(at): DeviceId) {
        if self.stands.len() <= at {
            self.stands.resize(at + 1, false);
        }
        if !self.stands[at] {
            self.stands[at] = true;
            self.devices.push(DeviceId(at));
        }
    }
}

impl Bell {
    /// How often it rang.
    pub(crate) fn rings(&self) -> u64 {
        self.lock().count
    }

    /// The devices that rang since they were last taken. One that rings while it is polled stands
    /// here again.
    pub(crate) fn take_rung(&self) -> Vec<DeviceId> {
        let mut rings = self.lock();
        let devices = mem::take(&mut rings.devices);
        devices.iter().for_each(|DeviceId(at)| rings.stands[*at] = false);
        devices
    }

    /// Waits until it rang so often, for at most `left` or for ever, and tells whether it did.
    pub(crate) fn wait_for(&self, count: u64, left: Option<Duration>) -> bool {
        let quiet = |rings: &mut Rings| rings.count < count;
        let mut rings = self.lock();
        if rings.count >= count || left == Some(Duration::ZERO) {
            return rings.count >= count;
        }
        rings.awaited.push(count);
        let mut rings = match left {
            None => self.rung.wait_while(rings, quiet).unwrap_or_else(PoisonError::into_inner),
            Some(left) => {
                let woken = self.rung.wait_timeout_while(rings, left, quiet);
                woken.unwrap_or_else(PoisonError::into_inner).0
            }
        };
        if let Some(own) = rings.awaited.iter().position(|awaited| *awaited == count) {
            rings.awaited.swap_remove(own);
        }
        rings.count >= count
    }

    /// A descriptor that is readable after a ring, for epoll and asyncio.
    pub(crate) fn descriptor(&self) -> Result<BorrowedFd<'_>, EngineError> {
        if self.descriptor.get().is_none() {
            let made = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)
                .map_err(|error| EngineError::EventDescriptor { reason: error.to_string() })?;
            // Another thread may have been quicker; then its descriptor stands and this one closes.
            let _ = self.descriptor.set(made);
            // What was rung before anyone could see it.
            self.ring();
        }
        match self.descriptor.get() {
            Some(made) => Ok(made.as_fd()),
            None => Err(EngineError::EventDescriptor { reason: "it was not kept".into() }),
        }
    }

    /// Makes the descriptor unreadable until the next ring.
    pub(crate) fn clear_descriptor(&self) {
        if let Some(descriptor) = self.descriptor.get() {
            // Not readable is what is wanted.
            let _ = rustix::io::read(descriptor, &mut [0; 8]);
        }
    }

    /// Makes the descriptor readable without waking those who wait here.
    pub(crate) fn signal_descriptor(&self) {
        if let Some(descriptor) = self.descriptor.get() {
            // It can only fail when the counter is full, and then it is readable anyway.
            let _ = rustix::io::write(descriptor, &1u64.to_ne_bytes());
        }
    }

    fn rung_by(&self, device: Option<DeviceId>) {
        let mut rings = self.lock();
        rings.count += 1;
        if let Some(device) = device {
            rings.note(device);
        }
        let is_awaited = rings.awaited.iter().any(|awaited| *awaited <= rings.count);
        drop(rings);
        if is_awaited {
            self.rung.notify_all();
        }
        self.signal_descriptor();
    }

    fn lock(&self) -> MutexGuard<'_, Rings> {
        self.rings.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Notify for Bell {
    fn ring(&self) {
        self.rung_by(None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_between_looking_and_waiting_is_kept() {
        let bell = Bell::default();
        let seen = bell.rings();
        bell.ring();
        assert!(bell.wait_for(seen + 1, None));
        assert!(!bell.wait_for(bell.rings() + 1, Some(Duration::from_millis(5))));
    }

    #[test]
    fn who_waits_for_many_rings_is_woken_by_the_last_of_them() {
        let bell = Arc::new(Bell::default());
        let waiter = {
            let bell = Arc::clone(&bell);
            std::thread::spawn(move || bell.wait_for(3, None) && bell.rings() == 3)
        };
        while bell.lock().awaited.is_empty() {
            std::thread::yield_now();
        }
        (0..3).for_each(|_| bell.ring());
        assert!(waiter.join().unwrap());
        assert!(bell.lock().awaited.is_empty());
    }

    #[test]
    fn a_device_that_rang_is_named_once_until_it_rings_again() {
        let bell = Arc::new(Bell::default());
        let doors = [3, 0].map(|at| Doorbell::of(&bell, DeviceId(at)));
        doors[0].ring();
        doors[1].ring();
        doors[0].ring();
        assert_eq!(bell.rings(), 3);
        assert_eq!(bell.take_rung(), [DeviceId(3), DeviceId(0)]);
        assert_eq!(bell.take_rung(), []);
        doors[0].ring();
        assert_eq!(bell.take_rung(), [DeviceId(3)]);
    }

    #[test]
    fn the_descriptor_is_readable_after_a_ring_until_it_is_cleared() {
        let bell = Bell::default();
        let readable = |bell: &Bell| {
            let descriptor = bell.descriptor().unwrap();
            let mut poll = [rustix::event::PollFd::new(&descriptor, rustix::event::PollFlags::IN)];
            let now = rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 };
            rustix::event::poll(&mut poll, Some(&now)).unwrap() == 1
        };
        assert!(readable(&bell));
        bell.clear_descriptor();
        assert!(!readable(&bell));
        bell.ring();
        assert!(readable(&bell));
    }
}
