//! Decisions that are used again: asking anew would take as long as the work.

use super::HERE_MAX_NS;
use super::quote::{Because, Decision};
use crate::{DeviceId, route};
use sealift_core::{Device, Shape};
use std::cell::{Cell, RefCell};
use std::ops::Deref;
use std::rc::Rc;
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
    ) -> Option<Rc<Standing>> {
        let used = on_thread(|last| {
            let use_once = |entry| self.own(entry)?.cached.use_once(devices, shape, named);
            use_once(&mut last.trial).or_else(|| use_once(&mut last.usual))
        });
        used.flatten()
    }

    /// The same without using it.
    pub(super) fn peek(
        &self,
        devices: &[Arc<dyn Device>],
        shape: &Shape,
        named: Option<DeviceId>,
    ) -> Option<Rc<Standing>> {
        let kept = on_thread(|last| {
            [&mut last.trial, &mut last.usual].map(|entry| Some(self.own(entry)?.cached.clone()))
        });
        let mut kept = kept?.into_iter().flatten();
        kept.find_map(|mut cached| cached.use_once(devices, shape, named))
    }

    /// The batches of this thread that went by the usual decision since this was asked last.
    pub(crate) fn take_worked(&self) -> Option<Worked> {
        let taken = on_thread(|last| {
            let entry = last.usual.as_ref().filter(|entry| self.is_own(entry))?;
            let CachedDecision { shape, decision, .. } = &entry.cached;
            Some(Worked { holds: self.holds(entry), ..decision.take_worked(shape) })
        });
        taken.flatten()
    }

    /// The usual decision of this thread is used no more.
    pub(crate) fn end_usual(&self) {
        on_thread(|last| {
            if let Some(entry) = self.own(&mut last.usual) {
                entry.cached.left = 0;
            }
        });
    }

    pub(super) fn put(&self, cached: CachedDecision) {
        let version = self.version.load(Ordering::Relaxed);
        let is_of_trial = cached.decision.because == Because::Explored;
        let entry = Some(Entry { engine: self.engine, version, cached });
        on_thread(|last| *if is_of_trial { &mut last.trial } else { &mut last.usual } = entry);
    }

    /// What a thread keeps, if it is this engine's and holds.
    fn own<'e>(&self, entry: &'e mut Option<Entry>) -> Option<&'e mut Entry> {
        entry.as_mut().filter(|entry| self.is_own(entry) && self.holds(entry))
    }

    fn is_own(&self, entry: &Entry) -> bool {
        entry.engine == self.engine
    }

    fn holds(&self, entry: &Entry) -> bool {
        entry.version == self.version.load(Ordering::Relaxed)
    }

    /// No decision is used again, by no thread.
    pub(crate) fn invalidate(&self) {
        self.version.fetch_add(1, Ordering::Relaxed);
    }
}

thread_local! {
    static CACHE: RefCell<ThreadCache> =
        const { RefCell::new(ThreadCache { usual: None, trial: None }) };
}

/// Looks at what the calling thread keeps; none once the thread ends and has dropped it.
fn on_thread<R>(look: impl FnOnce(&mut ThreadCache) -> R) -> Option<R> {
    CACHE.try_with(|last| look(&mut last.borrow_mut())).ok()
}

struct ThreadCache {
    usual: Option<Entry>,
    /// A device that this thread tries again. Another thread's batch in between would find it cold.
    trial: Option<Entry>,
}

struct Entry {
    engine: u64,
    version: u64,
    cached: CachedDecision,
}

/// A decision that may stand for more than one batch of a thread.
#[derive(Debug)]
pub(crate) struct Standing {
    decision: Decision,
    worked: Cell<Sums>,
}

impl Standing {
    pub(crate) fn new(decision: Decision) -> Rc<Self> {
        Rc::new(Self { decision, worked: Cell::default() })
    }

    /// Takes note of what a batch took, which was not surprisingly long.
    pub(crate) fn note(&self, shape: &Shape, took_ns: u64) {
        let Sums { batches, bytes, took_ns: before_ns } = self.worked.get();
        self.worked.set(Sums {
            batches: batches + 1,
            bytes: bytes.saturating_add(shape.bytes()),
            took_ns: before_ns.saturating_add(took_ns),
        });
    }

    /// Whether enough batches went by it that one of them which takes far longer is an accident.
    pub(crate) fn has_enough(&self) -> bool {
        self.worked.get().batches >= TAUGHT_MIN
    }

    /// Goes on with batches that were too few to be learnt from.
    pub(crate) fn go_on(&self, worked: &Worked) {
        self.worked.set(worked.sums);
    }

    /// The batches that went by it since this was asked last; they are like one of this shape.
    pub(crate) fn take_worked(&self, shape: &Shape) -> Worked {
        let (device, sums) = (self.decision.device, self.worked.take());
        Worked { device, shape: *shape, sums, holds: true }
    }
}

impl Deref for Standing {
    type Target = Decision;

    fn deref(&self) -> &Decision {
        &self.decision
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    batches: u32,
    bytes: u64,
    took_ns: u64,
}

/// Batches that went by one decision, none of which took surprisingly long.
#[derive(Debug)]
pub(crate) struct Worked {
    pub(super) device: DeviceId,
    /// What they are like.
    shape: Shape,
    sums: Sums,
    /// Whether the decision still holds. Else they say how many there were, and no more.
    holds: bool,
}

impl Worked {
    /// How many they are.
    pub(super) fn batches(&self) -> u32 {
        self.sums.batches
    }

    /// Whether they are such that a batch of this shape on a device is one more of them.
    pub(crate) fn are_like(&self, device: DeviceId, shape: &Shape) -> bool {
        self.holds && self.device == device && are_alike(shape, &self.shape)
    }

    /// Whether they are enough to be learnt from.
    pub(crate) fn are_enough(&self) -> bool {
        self.holds && self.sums.batches >= TAUGHT_MIN
    }

    /// The mean of them, with what it took in nanoseconds, where they are enough to be learnt from: what a batch costs is linear
    /// in its bytes, and they have as many messages.
    pub(super) fn mean(&self) -> Option<(Shape, u64)> {
        let Sums { batches, bytes, took_ns } = self.sums;
        let mean = |sum: u64| sum / u64::from(batches);
        self.are_enough().then(|| {
            let (text_bytes, whole_text_bytes) = (mean(bytes), mean(bytes));
            (Shape { aad_bytes: 0, text_bytes, whole_text_bytes, ..self.shape }, mean(took_ns))
        })
    }
}

/// A decision that is used for the next batches like the one it was made for.
#[derive(Clone, Debug)]
pub(super) struct CachedDecision {
    shape: Shape,
    decision: Rc<Standing>,
    left: u32,
}

impl CachedDecision {
    /// Of a small batch: work as usual, or a trial.
    pub(super) fn new(shape: &Shape, decision: &Rc<Standing>) -> Option<Self> {
        let batches = match decision.because {
            Because::LastResort => return None,
            Because::Explored => TRIAL_BATCHES,
            _ if decision.work_ns <= HERE_MAX_NS => SMALL_BATCHES,
            _ => USUAL_BATCHES,
        };
        let is_short = decision.work_ns <= CACHED_MAX_NS;
        is_short.then_some(Self { shape: *shape, decision: Rc::clone(decision), left: batches - 1 })
    }

    /// The decision, if it is one for such a batch, too, which names this device or none.
    pub(super) fn use_once(
        &mut self,
        devices: &[Arc<dyn Device>],
        shape: &Shape,
        named: Option<DeviceId>,
    ) -> Option<Rc<Standing>> {
        let own = Some(self.decision.device).filter(|_| self.decision.because == Because::Named);
        if named != own {
            return None;
        }
        let takes_it = || {
            let device = devices[self.decision.device.0].capabilities();
            route::accept(device, shape, true).is_ok()
        };
        let is_like = || are_alike(shape, &self.shape) && takes_it();
        if self.left == 0 || !(*shape == self.shape || is_like()) {
            return None;
        }
        self.left -= 1;
        Some(Rc::clone(&self.decision))
    }
}

/// Whether one decision may stand for both.
fn are_alike(one: &Shape, other: &Shape) -> bool {
    let (bytes, other_bytes) = (one.bytes(), other.bytes());
    let are_as_large = bytes / 2 <= other_bytes && other_bytes / 2 <= bytes;
    let are_of_class = one.raw_keys == other.raw_keys && one.opens == other.opens;
    let are_of_class = are_of_class && one.algorithm == other.algorithm;
    one.messages == other.messages && are_as_large && are_of_class
}

/// So many batches by one decision say more together than the one that was decided, which finds cold caches and may have been
/// interrupted.
const TAUGHT_MIN: u32 = 8;
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
                assert!(cache.take_worked().is_none());
                assert!(cache.use_once(&[], &shape, None).is_none());
                let named = Standing::new(Decision::named(DeviceId(0)));
                cache.put(CachedDecision::new(&shape, &named).unwrap());
            }
        }
        thread_local!(static GUARD: AtTheEnd = const { AtTheEnd });
        // What is used first is dropped last; a panic in there would end the process.
        let works = std::thread::spawn(|| {
            GUARD.with(|_| ());
            DecisionCache::new().take_worked().is_none()
        });
        assert!(works.join().unwrap());
    }

    #[test]
    fn what_batches_took_before_decisions_were_invalidated_is_not_learnt() {
        let (cache, shape) = (DecisionCache::new(), Shape::of_seals(1, 16));
        for holds in [true, false] {
            let decision = Standing::new(Decision::named(DeviceId(0)));
            cache.put(CachedDecision::new(&shape, &decision).unwrap());
            (0..u64::from(TAUGHT_MIN)).for_each(|took_ns| decision.note(&shape, took_ns));
            if !holds {
                cache.invalidate();
            }
            assert!(DecisionCache::new().take_worked().is_none(), "of another engine");
            let worked = cache.take_worked().unwrap();
            assert_eq!((worked.batches(), worked.are_enough()), (TAUGHT_MIN, holds));
            assert_eq!(worked.mean(), holds.then_some((shape, 3)));
            assert_eq!(worked.are_like(DeviceId(0), &shape), holds);
            assert!(!worked.are_like(DeviceId(1), &shape));
        }
    }
}
