//! The keys behind sessions, and who may still need them.
//!
//! A batch leases the whole store for as long as it is in flight instead of counting references a
//! message. Every retirement ends an epoch; a retired key is wiped when no lease of its epoch or an
//! earlier one is left.

use crate::EngineError;
use crate::sync::{AtomicBool, Mutex, MutexGuard};
use sealift_core::{Batch, Key, KeySource, Keys, Op, Ops, SessionId};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, PoisonError};

/// The most messages one key may seal (SP 800-38D section 8.3).
pub const SEALS_MAX: u64 = 1 << 32;

/// Sessions and their keys.
#[derive(Default)]
pub(crate) struct KeyStore {
    inner: Mutex<Inner>,
    /// Whether a retired key is needed by nobody, written under the lock.
    wipeable: AtomicBool,
}

#[derive(Default)]
struct Inner {
    slots: Vec<Slot>,
    /// What every message of every batch is checked against, for each slot: apart from the rest, so that
    /// it stays in the nearest cache.
    seats: Vec<Seat>,
    free: Vec<u32>,
    epoch: u64,
    leases: VecDeque<(u64, usize)>,
    retired: VecDeque<(u64, SessionId)>,
}

struct Slot {
    generation: u32,
    /// Behind a pointer, so that a growing list of slots moves no key and leaves none behind.
    key: Option<Arc<Key>>,
    limit: u64,
}

#[derive(Clone, Copy)]
struct Seat {
    /// 0, which no session has, when its session is retired.
    generation: u32,
    /// How many messages its key may still seal.
    seals_left: u64,
}

impl Seat {
    #[inline]
    fn is_of(&self, session: SessionId) -> bool {
        self.generation == session.generation && session.generation != 0
    }
}

/// Whether there is such a session and its key may seal so many messages more; then they are counted.
#[inline]
fn count(seats: &mut [Seat], session: SessionId, seals: u64) -> bool {
    match seats.get_mut(session.slot as usize) {
        Some(seat) if seat.is_of(session) && seat.seals_left >= seals => {
            seat.seals_left -= seals;
            true
        }
        _ => false,
    }
}

impl KeyStore {
    /// Installs a key that may seal `limit` messages.
    pub(crate) fn install(&self, key: Key, limit: u64) -> SessionId {
        // Numbered for the whole process, so that no engine takes another's session for its own.
        static GENERATIONS: AtomicU32 = AtomicU32::new(1);
        let generation = GENERATIONS.fetch_add(1, Ordering::Relaxed);
        let generation = generation.max(1);
        let fresh = Slot { generation, key: Some(Arc::new(key)), limit };
        let seat = Seat { generation, seals_left: limit };
        let mut inner = self.lock();
        let slot = match inner.free.pop() {
            Some(slot) => {
                inner.slots[slot as usize] = fresh;
                inner.seats[slot as usize] = seat;
                slot
            }
            None => {
                inner.slots.push(fresh);
                inner.seats.push(seat);
                u32::try_from(inner.slots.len() - 1).unwrap_or(u32::MAX)
            }
        };
        SessionId { slot, generation }
    }

    /// Takes a session out of use. Its key lives on for work in flight.
    pub(crate) fn retire(&self, session: SessionId) {
        let mut inner = self.lock();
        let epoch = inner.epoch;
        if inner.slot_mut(session).is_some() {
            inner.seats[session.slot as usize].generation = 0;
            inner.retired.push_back((epoch, session));
            inner.epoch += 1;
        }
        self.wipeable.store(inner.has_wipeable(), Ordering::Release);
    }

    /// Checks every session of a batch, counts its seals and leases the store. All or nothing.
    pub(crate) fn admit(self: &Arc<Self>, batch: &Batch<'_>) -> Result<Lease, EngineError> {
        let mut inner = self.lock();
        inner.count_seals(batch)?;
        let epoch = inner.epoch;
        match inner.leases.back_mut() {
            Some((last, count)) if *last == epoch => *count += 1,
            _ => inner.leases.push_back((epoch, 1)),
        }
        Ok(Lease { store: Arc::clone(self), epoch })
    }

    /// Takes back what [`admit`](Self::admit) counted for a batch that was not worked after all.
    pub(crate) fn uncount(&self, batch: &Batch<'_>) {
        self.lock().uncount_seals(batch, batch.len);
    }

    /// Wipes the retired keys that no lease can need and returns their sessions. Give them to
    /// [`reuse`](Self::reuse) when the devices have forgotten them too.
    pub(crate) fn wipe_retired(&self) -> Vec<SessionId> {
        let mut inner = self.lock();
        let mut wiped = vec![];
        while inner.has_wipeable() {
            let Some((_, session)) = inner.retired.pop_front() else { break };
            if let Some(slot) = inner.slot_mut(session) {
                slot.key = None;
                wiped.push(session);
            }
        }
        self.wipeable.store(false, Ordering::Release);
        wiped
    }

    /// Frees the slots of wiped sessions.
    pub(crate) fn reuse(&self, wiped: &[SessionId]) {
        let mut inner = self.lock();
        for session in wiped {
            if let Some(slot) = inner.slot_mut(*session) {
                slot.generation = 0;
                inner.free.push(session.slot);
            }
        }
    }

    /// Whether [`wipe_retired`](Self::wipe_retired) would find something. Takes no lock.
    pub(crate) fn has_wipeable(&self) -> bool {
        self.wipeable.load(Ordering::Acquire)
    }

    /// Seals counted for a session.
    pub(crate) fn sealed(&self, session: SessionId) -> u64 {
        let mut inner = self.lock();
        let limit = inner.slot_mut(session).map_or(0, |slot| slot.limit);
        inner
            .seats
            .get(session.slot as usize)
            .map_or(0, |seat| limit.saturating_sub(seat.seals_left))
    }

    fn release(&self, epoch: u64) {
        let mut inner = self.lock();
        if let Ok(at) = inner.leases.binary_search_by_key(&epoch, |(epoch, _)| *epoch) {
            inner.leases[at].1 -= 1;
        }
        while inner.leases.front().is_some_and(|(_, count)| *count == 0) {
            inner.leases.pop_front();
        }
        self.wipeable.store(inner.has_wipeable(), Ordering::Release);
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KeySource for KeyStore {
    fn key(&self, session: SessionId) -> Option<Arc<Key>> {
        self.lock().slot_mut(session)?.key.clone()
    }
}

impl Inner {
    fn slot_mut(&mut self, session: SessionId) -> Option<&mut Slot> {
        let slot = self.slots.get_mut(session.slot as usize)?;
        // Free slots have generation 0, which no session has.
        let known = slot.generation == session.generation && slot.generation != 0;
        known.then_some(slot)
    }

    /// Whether the first retired key was so before every lease there is.
    fn has_wipeable(&self) -> bool {
        let oldest = self.leases.front().map_or(u64::MAX, |(epoch, _)| *epoch);
        self.retired.front().is_some_and(|(epoch, _)| *epoch < oldest)
    }

    fn count_seals(&mut self, batch: &Batch<'_>) -> Result<(), EngineError> {
        let seals = |op| u64::from(op == Op::Seal);
        match (&batch.keys, &batch.ops) {
            (Keys::Raw(_), _) => Ok(()),
            (Keys::Session(session), Ops::All(op)) => {
                let seals = seals(*op) * batch.len as u64;
                self.count_each(batch, std::iter::once((*session, seals)))
            }
            (Keys::Sessions(sessions), Ops::All(op)) => {
                let seals = seals(*op);
                self.count_each(batch, sessions.iter().map(|session| (*session, seals)))
            }
            (Keys::Sessions(sessions), Ops::Each(ops)) => {
                let sessions =
                    sessions.iter().zip(&**ops).map(|(session, op)| (*session, seals(*op)));
                self.count_each(batch, sessions)
            }
            (Keys::Session(session), Ops::Each(ops)) => {
                self.count_each(batch, ops.iter().map(|op| (*session, seals(*op))))
            }
        }
    }

    fn count_each(
        &mut self,
        batch: &Batch<'_>,
        sessions: impl Iterator<Item = (SessionId, u64)>,
    ) -> Result<(), EngineError> {
        let seats = self.seats.as_mut_slice();
        let refused =
            sessions.enumerate().find(|(_, (session, seals))| !count(seats, *session, *seals));
        let Some((message, (session, _))) = refused else { return Ok(()) };
        self.uncount_seals(batch, message);
        Err(self.refusal(message, session))
    }

    #[cold]
    fn refusal(&mut self, message: usize, session: SessionId) -> EngineError {
        let seat = self.seats.get(session.slot as usize);
        if seat.is_none_or(|seat| !seat.is_of(session)) {
            return EngineError::UnknownSession { message, session };
        }
        self.at_limit(session)
    }

    fn at_limit(&self, session: SessionId) -> EngineError {
        let place = session.slot as usize;
        let limit = self.slots[place].limit;
        let sealed = limit - self.seats[place].seals_left;
        EngineError::SealLimit { session, sealed, limit }
    }

    fn uncount_seals(&mut self, batch: &Batch<'_>, messages: usize) {
        for message in (0..messages).filter(|&message| batch.ops.get(message) == Op::Seal) {
            let Some(session) = batch.session_of(message) else { continue };
            if self.slot_mut(session).is_some() {
                self.seats[session.slot as usize].seals_left += 1;
            }
        }
    }
}

/// Holds every key that was live when it was made, until it is dropped.
pub(crate) struct Lease {
    store: Arc<KeyStore>,
    epoch: u64,
}

impl KeySource for Lease {
    fn key(&self, session: SessionId) -> Option<Arc<Key>> {
        self.store.key(session)
    }
}

impl std::fmt::Debug for Lease {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Lease(secret)")
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.store.release(self.epoch);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sealift_core::Column;

    fn key() -> Key {
        Key::Aes128([7; 16])
    }

    fn seal(sessions: &[SessionId]) -> Batch<'_> {
        Batch::seal(sessions.len(), sessions, Column::Same([0; 12].to_vec().into()), Column::Empty)
    }

    #[test]
    fn a_retired_key_lives_until_the_last_lease_of_its_time_ends() {
        let store = Arc::new(KeyStore::default());
        let (old, other) = (store.install(key(), 10), store.install(key(), 10));
        let lease = store.admit(&seal(&[old])).unwrap();
        store.retire(old);
        let later = store.admit(&seal(&[other])).unwrap();
        assert!(store.wipe_retired().is_empty());
        assert!(lease.key(old).is_some());
        assert!(store.admit(&seal(&[old])).is_err());
        drop(lease);
        assert_eq!(store.wipe_retired(), [old], "the later lease can't need it");
        assert!(later.key(old).is_none() && later.key(other).is_some());
    }

    #[test]
    fn a_free_slot_belongs_to_no_session() {
        let store = Arc::new(KeyStore::default());
        let old = store.install(key(), 10);
        store.retire(old);
        let wiped = store.wipe_retired();
        store.reuse(&wiped);
        let forged = SessionId { generation: 0, ..old };
        assert!(store.admit(&seal(&[forged])).is_err());
        store.retire(forged);
        assert!(store.wipe_retired().is_empty());
        let (one, other) = (store.install(key(), 10), store.install(key(), 10));
        assert_ne!(one.slot, other.slot);
    }

    #[test]
    fn a_slot_that_is_used_again_is_another_session() {
        let store = Arc::new(KeyStore::default());
        let old = store.install(key(), 10);
        store.retire(old);
        let wiped = store.wipe_retired();
        store.reuse(&wiped);
        let new = store.install(key(), 10);
        assert_eq!(old.slot, new.slot);
        assert_ne!(old, new);
        let error = store.admit(&seal(&[new, old])).err();
        assert_eq!(error, Some(EngineError::UnknownSession { message: 1, session: old }));
        assert_eq!(store.sealed(new), 0, "a refused batch counts nothing");
    }

    #[test]
    fn a_session_stops_at_its_limit_and_refused_batches_count_nothing() {
        let store = Arc::new(KeyStore::default());
        let session = store.install(key(), 3);
        let twice = [session, session];
        let batch = Batch { keys: session.into(), ..seal(&twice) };
        drop(store.admit(&batch).unwrap());
        let error = store.admit(&batch).err();
        assert_eq!(error, Some(EngineError::SealLimit { session, sealed: 2, limit: 3 }));
        assert!(store.admit(&seal(&[session, session])).is_err());
        assert_eq!(store.sealed(session), 2);
        store.uncount(&batch);
        assert_eq!(store.sealed(session), 0);
        let open = Batch { ops: Ops::All(Op::Open), ..batch };
        (0..9).for_each(|_| drop(store.admit(&open).unwrap()));
        assert_eq!(store.sealed(session), 0, "opening is not limited");
    }

    #[test]
    fn leases_end_in_any_order() {
        let store = Arc::new(KeyStore::default());
        let sessions: Vec<_> = (0..4).map(|_| store.install(key(), 10)).collect();
        let mut leases = vec![];
        for session in &sessions {
            leases.push(store.admit(&seal(&[*session])).unwrap());
            store.retire(*session);
        }
        drop(leases.remove(2));
        assert!(store.wipe_retired().is_empty());
        drop(leases.remove(0));
        assert_eq!(store.wipe_retired(), sessions[..1]);
        leases.clear();
        assert_eq!(store.wipe_retired(), sessions[1..]);
    }
}
