//! A bounded table of expanded keys, shared by all threads of a device.
//!
//! For drivers in crates of your own too.

use crate::sync::{ShardedLock, ShardedLockReadGuard};
use sealift_core::{DeviceError, Key, SessionId, Shape, Work};
use std::cell::Cell;
use std::fmt;
use std::ops::Range;
use std::sync::PoisonError;
use std::time::Instant;

/// How a device expands a key.
pub trait Expander {
    /// An expanded key. It is moved, so it keeps its secrets behind a pointer; its drop wipes them.
    type Expanded;

    /// The device's name, for errors.
    fn device(&self) -> &str;

    /// Expands a key.
    ///
    /// # Errors
    /// The device can't.
    fn expand(&self, key: &Key) -> Result<Self::Expanded, DeviceError>;

    /// Whether an expanded key that was kept fits this batch.
    fn serves(&self, expanded: &Self::Expanded) -> bool;
}

/// The expanded keys of a range of messages.
#[derive(Clone, Copy)]
pub enum Lent<'a, T> {
    /// One for all.
    One(&'a T),
    /// One for each message of the range, in order.
    Each(&'a [&'a T]),
}

/// Works a range of messages with their expanded keys.
pub trait Step<T>:
    FnMut(&mut Work<'_>, Range<usize>, Lent<'_, T>) -> Result<(), DeviceError>
{
}

impl<T, F> Step<T> for F where
    F: FnMut(&mut Work<'_>, Range<usize>, Lent<'_, T>) -> Result<(), DeviceError>
{
}

/// Expanded keys by session.
///
/// A session's place is its slot modulo the capacity, and the last to come stays. Slots of an engine
/// are dense, so nothing is evicted while the sessions fit; beyond that, sessions that share a place
/// evict each other and nobody else, which a cycle through more sessions than fit survives better than
/// it would a least-recently-used table. There is no hashing and no bookkeeping on a hit.
///
/// A batch is worked in windows with the lock held for reading, so that messages borrow their keys
/// and count no references. Whoever misses expands outside the lock, works with keys of its own, and
/// puts them into the table afterwards. What is evicted, retired or dropped is wiped by its own drop.
pub struct KeyTable<T> {
    /// Read by every batch: each group of threads has a lock of its own, and who writes takes all of them.
    entries: ShardedLock<Entries<T>>,
    /// One less than the capacity, which is a power of two.
    mask: usize,
}

/// Grows to the highest slot seen and never beyond the capacity.
type Entries<T> = Vec<Option<(SessionId, T)>>;

impl<T> KeyTable<T> {
    /// Room for 65,536 sessions, which is not taken before it is needed.
    #[must_use]
    pub fn new() -> Self {
        Self::with_capacity(CAPACITY)
    }

    fn with_capacity(capacity: usize) -> Self {
        debug_assert!(capacity.is_power_of_two(), "{capacity}");
        Self { entries: ShardedLock::default(), mask: capacity - 1 }
    }

    /// Works all messages with the key of one session.
    ///
    /// # Errors
    /// The key is gone, or a step failed.
    pub fn run_one(
        &self,
        session: SessionId,
        work: &mut Work<'_>,
        expander: &impl Expander<Expanded = T>,
        mut step: impl Step<T>,
    ) -> Result<(), DeviceError> {
        let all = 0..work.len();
        let is_short = is_short(work.shape());
        if is_short {
            let entries = self.read();
            if let Some(kept) = self.find(&entries, session, expander) {
                return step(work, all, Lent::One(kept));
            }
        }
        let own = prepare(|| key_of(session, work, expander))?;
        step(work, all, Lent::One(&own))?;
        if is_short {
            prepare(|| self.install([(session, own)]));
        }
        Ok(())
    }

    /// Works each message with the key of its session.
    ///
    /// # Errors
    /// A key is gone, or a step failed.
    pub fn run_each(
        &self,
        sessions: &[SessionId],
        work: &mut Work<'_>,
        expander: &impl Expander<Expanded = T>,
        mut step: impl Step<T>,
    ) -> Result<(), DeviceError> {
        if let [session] = sessions {
            return self.run_one(*session, work, expander, step);
        }
        let Some(messages) = window_messages(work.shape()) else {
            return Self::run_long(sessions, work, expander, step);
        };
        let mut start = 0;
        for window in sessions.chunks(messages) {
            let range = start..start + window.len();
            start = range.end;
            if window.len() <= SMALL_WINDOW {
                self.window::<SMALL_WINDOW>(window, range, work, expander, &mut step)?;
            } else {
                self.window::<WINDOW>(window, range, work, expander, &mut step)?;
            }
        }
        Ok(())
    }

    /// Forgets the key of a session.
    pub fn retire(&self, session: SessionId) {
        let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        let entry = entries.get_mut(self.place(session));
        let retired = entry.and_then(|entry| entry.take_if(|(kept, _)| *kept == session));
        drop(entries);
        drop(retired);
    }

    /// Works messages of which some are so long that nobody should wait for them: keys are expanded
    /// for this batch only, and the table is left alone.
    fn run_long(
        sessions: &[SessionId],
        work: &mut Work<'_>,
        expander: &impl Expander<Expanded = T>,
        mut step: impl Step<T>,
    ) -> Result<(), DeviceError> {
        let mut start = 0;
        for same in sessions.chunk_by(|one, next| one == next) {
            let range = start..start + same.len();
            start = range.end;
            let own = key_of(same[0], work, expander)?;
            step(work, range, Lent::One(&own))?;
        }
        Ok(())
    }

    /// Works at most `N` messages, whose keys are found in the table or expanded.
    fn window<const N: usize>(
        &self,
        sessions: &[SessionId],
        range: Range<usize>,
        work: &mut Work<'_>,
        expander: &impl Expander<Expanded = T>,
        step: &mut impl Step<T>,
    ) -> Result<(), DeviceError> {
        let mut own = Own(vec![]);
        loop {
            let entries = self.read();
            let slots = entries.as_slice();
            let find = |session: &SessionId| {
                self.find(slots, *session, expander).or_else(|| own.find(*session))
            };
            if let Some(first) = find(&sessions[0]) {
                let mut lent = [first; N];
                let found = lent.iter_mut().zip(sessions).all(|(place, session)| {
                    find(session).map(|expanded| *place = expanded).is_some()
                });
                if found {
                    step(work, range, Lent::Each(&lent[..sessions.len()]))?;
                    break;
                }
            }
            let missing = sessions.iter().filter(|session| find(session).is_none());
            let missing: Vec<_> = missing.copied().collect();
            drop(entries);
            // Each turn adds at least one of the window's keys, so this ends even when others evict
            // at the same time.
            prepare(|| own.expand(missing, work, expander))?;
        }
        if !own.0.is_empty() {
            prepare(|| self.install(own.0));
        }
        Ok(())
    }

    fn install(&self, keys: impl IntoIterator<Item = (SessionId, T)>) {
        let mut evicted = vec![];
        let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        for key in keys {
            let place = self.place(key.0);
            if entries.len() <= place {
                entries.resize_with(place + 1, || None);
            }
            evicted.extend(entries[place].replace(key));
        }
        // Wiping takes time, which others need not wait for.
        drop(entries);
        drop(evicted);
    }

    #[inline]
    fn find<'a>(
        &self,
        entries: &'a [Option<(SessionId, T)>],
        session: SessionId,
        expander: &impl Expander<Expanded = T>,
    ) -> Option<&'a T> {
        let (kept, expanded) = entries.get(self.place(session))?.as_ref()?;
        (*kept == session && expander.serves(expanded)).then_some(expanded)
    }

    #[inline]
    fn place(&self, session: SessionId) -> usize {
        session.slot as usize & self.mask
    }

    /// Nothing panics while it writes, so a poisoned lock guards whole entries.
    #[inline]
    fn read(&self) -> ShardedLockReadGuard<'_, Entries<T>> {
        self.entries.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Default for KeyTable<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> fmt::Debug for KeyTable<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyTable({} places, secret)", self.mask + 1)
    }
}

/// Keys expanded for one window, in the order of their sessions.
struct Own<T>(Vec<(SessionId, T)>);

impl<T> Own<T> {
    fn find(&self, session: SessionId) -> Option<&T> {
        let at = self.0.binary_search_by_key(&session, |(known, _)| *known).ok()?;
        Some(&self.0[at].1)
    }

    fn expand(
        &mut self,
        mut missing: Vec<SessionId>,
        work: &Work<'_>,
        expander: &impl Expander<Expanded = T>,
    ) -> Result<(), DeviceError> {
        missing.sort_unstable();
        missing.dedup();
        for session in missing {
            self.0.push((session, key_of(session, work, expander)?));
        }
        self.0.sort_unstable_by_key(|(session, _)| *session);
        Ok(())
    }
}

/// Counts the time that making keys ready takes.
fn prepare<R>(make: impl FnOnce() -> R) -> R {
    let begun = Instant::now();
    let made = make();
    let took_ns = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
    PREPARED_NS.set(PREPARED_NS.get().saturating_add(took_ns));
    made
}

/// How long the calling thread has made keys ready since it last asked.
pub(crate) fn take_prepared_ns() -> u64 {
    PREPARED_NS.take()
}

thread_local! {
    static PREPARED_NS: Cell<u64> = const { Cell::new(0) };
}

fn key_of<E: Expander>(
    session: SessionId,
    work: &Work<'_>,
    expander: &E,
) -> Result<E::Expanded, DeviceError> {
    let key = work.key(session, expander.device())?;
    expander.expand(&key)
}

/// Whether a whole batch may hold the lock.
fn is_short(shape: &Shape) -> bool {
    shape.messages <= WINDOW && shape.text_bytes.saturating_add(shape.aad_bytes) <= HELD_BYTES_MAX
}

/// As many messages as may hold the lock together; none when one alone would hold it too long.
fn window_messages(shape: &Shape) -> Option<usize> {
    let longest = (shape.text_bytes_max as u64).saturating_add(shape.aad_bytes_max as u64);
    match HELD_BYTES_MAX.checked_div(longest) {
        None => Some(WINDOW),
        Some(0) => None,
        Some(messages) => Some(usize::try_from(messages).map_or(WINDOW, |n| n.min(WINDOW))),
    }
}

/// Sessions kept by a device: at most 70 MiB of the kernels' schedules, 40 MiB of AWS-LC's contexts.
const CAPACITY: usize = 1 << 16;

/// Messages worked under one hold of the lock.
const WINDOW: usize = 1_024;

/// A window whose list of keys is cheap to make for few messages.
const SMALL_WINDOW: usize = 16;

/// Text and aad worked under one hold of the lock: whoever brings a new key waits for the holders,
/// about 0.1 ms with this. Beyond it, or beyond [`WINDOW`] messages of one key, expanding the key again
/// costs about 1 % of the work.
const HELD_BYTES_MAX: u64 = 1 << 20;

#[cfg(test)]
#[cfg(sealift_loom)]
mod models;
#[cfg(test)]
mod tests;
