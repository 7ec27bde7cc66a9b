//! Decisions that are used again: asking anew would take as long as the work.

use super::HERE_MAX_NS;
use super::quote::{Because, Decision};
use crate::{DeviceId, route};
use sealift_core::{Device, Shape};
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The decisions of one engine on small batches. Each thread has its own, so that using one takes no lock; that of a
/// trial is one more.
#[derive(Debug)]
pub(crate) struct DecisionCache {
    engine: u64,
    /// How often all were invalidated.
    version: AtomicU64,
}

impl DecisionCache {
    pub(super) fn new() -> Self {
        static ENGINES: AtomicU64 = AtomicU64::new(0);
        Self { engine: ENGINES.fetch_add(1, Ordering::Relaxed), version: AtomicU64::new(0) }
    }

    /// The decision of this thread for such a batch, for one batch more.
    pub(crate) fn use_once(
        &self,
        devices: &[Arc<dyn Device>],
        shape: &Shape,
        named: Option<DeviceId>,
    ) -> Option<Arc<Decision>> {
        let used = on_thread(|last| {
            let use_once = |entry| self.own(entry)?.cached.use_once(devices, shape, named);
            let of_trial = use_once(&mut last.trial);
            if of_trial.is_some() {
                return of_trial;
            }
            let decision = use_once(&mut last.usual)?;
            last.used += 1;
            Some(decision)
        });
        used.flatten()
    }

    /// The same without using it.
    pub(super) fn peek(
        &self,
        devices: &[Arc<dyn Device>],
        shape: &Shape,
        named: Option<DeviceId>,
    ) -> Option<Arc<Decision>> {
        let kept = on_thread(|last| {
            [&mut last.trial, &mut last.usual].map(|entry| Some(self.own(entry)?.cached.clone()))
        });
        let mut kept = kept?.into_iter().flatten();
        kept.find_map(|mut cached| cached.use_once(devices, shape, named))
    }

    /// How many batches of this thread went by usual decisions since this was asked last.
    pub(crate) fn take_used(&self) -> u32 {
        on_thread(|last| std::mem::take(&mut last.used)).unwrap_or(0)
    }

    pub(super) fn put(&self, cached: CachedDecision) {
        let version = self.version.load(Ordering::Relaxed);
        let is_of_trial = cached.decision.because == Because::Explored;
        let entry = Some(Entry { engine: self.engine, version, cached });
        on_thread(|last| *if is_of_trial { &mut last.trial } else { &mut last.usual } = entry);
    }

    /// What a thread keeps, if it is this engine's and holds.
    fn own<'e>(&self, entry: &'e mut Option<Entry>) -> Option<&'e mut Entry> {
        let version = self.version.load(Ordering::Relaxed);
        entry.as_mut().filter(|entry| entry.engine == self.engine && entry.version == version)
    }

    /// No decision is used again, by no thread.
    pub(crate) fn invalidate(&self) {
        self.version.fetch_add(1, Ordering::Relaxed);
    }
}

thread_local! {
    static CACHE: RefCell<ThreadCache> =
        const { RefCell::new(ThreadCache { usual: None, trial: None, used: 0 }) };
}

/// Looks at what the calling thread keeps; none once the thread ends and has dropped it.
fn on_thread<R>(look: impl FnOnce(&mut ThreadCache) -> R) -> Option<R> {
    CACHE.try_with(|last| look(&mut last.borrow_mut())).ok()
}

struct ThreadCache {
    usual: Option<Entry>,
    /// A device that this thread tries again. Another thread's batch in between would find it cold.
    trial: Option<Entry>,
    /// How many batches went by the usual one.
    used: u32,
}

struct Entry {
    engine: u64,
    version: u64,
    cached: CachedDecision,
}

/// A decision that is used for the next batches like the one it was made for.
#[derive(Clone, Debug)]
pub(super) struct CachedDecision {
    shape: Shape,
    decision: Arc<Decision>,
    left: u32,
}

impl CachedDecision {
    /// Of a small batch: work as usual, or a trial.
    pub(super) fn new(shape: &Shape, decision: &Arc<Decision>) -> Option<Self> {
        let batches = match decision.because {
            Because::LastResort => return None,
            Because::Explored => TRIAL_BATCHES,
            _ if decision.work_ns <= HERE_MAX_NS => SMALL_BATCHES,
            _ => USUAL_BATCHES,
        };
        let is_short = decision.work_ns <= CACHED_MAX_NS;
        is_short.then_some(Self {
            shape: *shape,
            decision: Arc::clone(decision),
            left: batches - 1,
        })
    }

    /// The decision, if it is one for such a batch, too, which names this device or none.
    pub(super) fn use_once(
        &mut self,
        devices: &[Arc<dyn Device>],
        shape: &Shape,
        named: Option<DeviceId>,
    ) -> Option<Arc<Decision>> {
        let own = Some(self.decision.device).filter(|_| self.decision.because == Because::Named);
        if named != own {
            return None;
        }
        let takes_it = || {
            let device = devices[self.decision.device.0].capabilities();
            route::accept(device, shape, true).is_ok()
        };
        let is_like = || {
            let (bytes, known_bytes) = (shape.bytes(), self.shape.bytes());
            let is_as_large = bytes / 2 <= known_bytes && known_bytes / 2 <= bytes;
            let is_of_class =
                shape.raw_keys == self.shape.raw_keys && shape.opens == self.shape.opens;
            let is_of_class = is_of_class && shape.algorithm == self.shape.algorithm;
            shape.messages == self.shape.messages && is_as_large && is_of_class && takes_it()
        };
        if self.left == 0 || !(*shape == self.shape || is_like()) {
            return None;
        }
        self.left -= 1;
        Some(Arc::clone(&self.decision))
    }
}

/// So many batches go by one decision.
const USUAL_BATCHES: u32 = 32;
/// So many of those that take less time than deciding with a lock that others want.
const SMALL_BATCHES: u32 = 128;
/// What takes longer is decided each time, and learnt from.
pub(super) const CACHED_MAX_NS: f64 = 50_000.0;
/// So many does a device get that is tried again, one right after the other where batches are alike. The first one finds nothing
/// in its caches, and some may be interrupted for a while.
pub(super) const TRIAL_BATCHES: u32 = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_ends_keeps_nothing() {
        struct AtTheEnd;
        impl Drop for AtTheEnd {
            fn drop(&mut self) {
                let (cache, shape) = (DecisionCache::new(), Shape::of_seals(1, 16));
                assert_eq!(cache.take_used(), 0);
                assert!(cache.use_once(&[], &shape, None).is_none());
                let named = Arc::new(Decision::named(DeviceId(0)));
                cache.put(CachedDecision::new(&shape, &named).unwrap());
            }
        }
        thread_local!(static GUARD: AtTheEnd = const { AtTheEnd });
        // What is used first is dropped last; a panic in there would end the process.
        let works = std::thread::spawn(|| {
            GUARD.with(|_| ());
            DecisionCache::new().take_used()
        });
        assert_eq!(works.join().unwrap(), 0);
    }
}
