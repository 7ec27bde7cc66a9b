//! The keys behind sessions, and who may still need them.
//!
//! A batch leases the whole store for as long as it is in flight instead of counting references a
//! message. Every retirement ends an epoch; a retired key is wiped when no lease of its epoch or an
//! earlier one is left.
//!
//! Each group of threads has a stripe of its own, where batches are checked and their seals counted: it is granted
//! seals of each session, a million at a time, and gives what is left of them back when another one needs them. So
//! threads that seal at the same time don't wait for each other, and no key seals one message too many.
//!
//! Locks are taken in this order: what is common, then stripes. Only who has the first may have two stripes.

mod seat;

use crate::EngineError;
use crate::nonces::NonceCounter;
use crate::stripes::Stripes;
use crate::sync::{AtomicBool, AtomicU64, Mutex, MutexGuard};
use sealift_core::{
    Algorithm, Batch, BatchError, Key, KeySource, Keys, NONCE_BYTES, NonceRule, Op, Ops, SessionId,
};
use seat::{NonceSource, Seat, Terms, count};
use std::collections::VecDeque;
use std::ops::Deref;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock, PoisonError};

/// The most messages one AES-GCM key may seal (SP 800-38D section 8.3).
pub const SEALS_MAX: u64 = 1 << 32;

/// Sessions and their keys.
pub(crate) struct KeyStore {
    common: Mutex<Common>,
    stripes: Stripes<Mutex<Stripe>>,
    /// How many sessions were retired.
    epoch: AtomicU64,
    /// Whether a key is retired and not wiped, written under the lock.
    has_retired: AtomicBool,
    /// Whether one of these is needed by nobody, written under the lock.
    wipeable: AtomicBool,
}

/// What threads have in common.
#[derive(Default)]
struct Common {
    slots: Vec<Slot>,
    free: Vec<u32>,
    retired: VecDeque<(u64, SessionId)>,
}

struct Slot {
    /// 0, which no session has, when the slot is free.
    generation: u32,
    is_retired: bool,
    /// Behind a pointer, so that a growing list of slots moves no key and leaves none behind.
    key: Option<Arc<Key>>,
    limit: u64,
    /// How many messages it may still seal that no stripe was granted.
    seals_left: u64,
    /// Made when the first is wanted.
    nonces: Option<Arc<NonceCounter>>,
    /// Where the nonces of its seals come from; none before the first seal.
    nonce_source: Option<NonceSource>,
}

impl Slot {
    /// What its key is for; nothing once the key is wiped.
    fn algorithm(&self) -> Option<Algorithm> {
        self.key.as_deref().map(Key::algorithm)
    }
}

/// What a group of threads has for itself.
#[derive(Default)]
struct Stripe {
    /// What every message of every batch is checked against, for each slot: apart from the rest, so that
    /// it stays in the nearest cache.
    seats: Vec<Seat>,
    leases: VecDeque<(u64, usize)>,
}

impl Default for KeyStore {
    fn default() -> Self {
        Self {
            common: Mutex::default(),
            stripes: Stripes::new(Mutex::default),
            epoch: AtomicU64::new(0),
            has_retired: AtomicBool::new(false),
            wipeable: AtomicBool::new(false),
        }
    }
}

impl KeyStore {
    /// Installs a key that may seal `limit` messages.
    pub(crate) fn install(&self, key: Key, limit: u64) -> SessionId {
        // Numbered for the whole process, so that no engine takes another's session for its own; from somewhere on,
        // because another copy of this library in the process numbers its own.
        static GENERATIONS: LazyLock<AtomicU32> = LazyLock::new(|| AtomicU32::new(somewhere()));
        let generation = GENERATIONS.fetch_add(1, Ordering::Relaxed);
        let generation = generation.max(1);
        let key = Some(Arc::new(key));
        let fresh = Slot {
            generation,
            is_retired: false,
            key,
            limit,
            seals_left: limit,
            nonces: None,
            nonce_source: None,
        };
        let mut common = lock(&self.common);
        let slot = match common.free.pop() {
            Some(slot) => {
                common.slots[slot as usize] = fresh;
                slot
            }
            None => {
                common.slots.push(fresh);
                u32::try_from(common.slots.len() - 1).unwrap_or(u32::MAX)
            }
        };
        SessionId { slot, generation }
    }

    /// Takes a session out of use. Its key lives on for work in flight.
    pub(crate) fn retire(&self, session: SessionId) {
        let mut common = lock(&self.common);
        let Some(slot) = common.live(session) else { return };
        slot.is_retired = true;
        for stripe in self.stripes.iter() {
            let mut stripe = lock(stripe);
            if let Some(seat) = stripe.seat_of(session) {
                *seat = Seat::default();
            }
        }
        // Batches that found it above have leases of this epoch or of earlier ones.
        let epoch = self.epoch.fetch_add(1, Ordering::Relaxed);
        common.retired.push_back((epoch, session));
        // Before the leases are looked at, so that who ends one meanwhile looks again.
        self.has_retired.store(true, Ordering::Release);
        self.wipeable.store(self.finds_wipeable(&common), Ordering::Release);
    }

    /// Checks every session of a batch, counts its seals and leases the store. All or nothing.
    pub(crate) fn admit<S: Deref<Target = Self>>(
        store: S,
        batch: &Batch<'_>,
    ) -> Result<Lease<S>, EngineError> {
        let place = store.stripes.own_place();
        let mut stripe = lock(store.stripes.at(place));
        let counted = stripe.count_seals(batch, |_, _, _| false);
        if counted.is_err() {
            drop(stripe);
            let mut common = lock(&store.common);
            stripe = lock(store.stripes.at(place));
            let terms = Terms::of(batch);
            let top_up = |seats: &mut Vec<Seat>, session, seals| {
                store.top_up(&mut common, seats, place, session, seals, terms)
            };
            let counted = stripe.count_seals(batch, top_up);
            common.settle_sources(batch, &mut stripe, counted.is_ok(), terms.nonces);
            if let Err(RefusedMessage { message, session }) = counted {
                let left = stripe.seat_of(session).map_or(0, |seat| seat.seals_left);
                return Err(common.refusal(message, session, left, terms));
            }
        }
        let epoch = store.epoch.load(Ordering::Relaxed);
        stripe.lease(epoch);
        drop(stripe);
        Ok(Lease { store, place, epoch })
    }

    /// Grants a stripe more seals of a session, those of other stripes too where it takes them. False where
    /// there is no such session, it has not enough in all, or its nonces come from elsewhere.
    fn top_up(
        &self,
        common: &mut Common,
        seats: &mut Vec<Seat>,
        place: usize,
        session: SessionId,
        seals: u64,
        terms: Terms,
    ) -> bool {
        let Some(slot) = common.live(session) else { return false };
        let differs = slot.nonce_source.is_some_and(|source| source != terms.nonces);
        if slot.algorithm() != Some(terms.algorithm) || seals > 0 && differs {
            return false;
        }
        let at = session.slot as usize;
        if seats.len() <= at {
            seats.resize(at + 1, Seat::default());
        }
        let seat = &mut seats[at];
        if !seat.is_of(session) {
            *seat = Seat { owner: Seat::owner(session, terms), seals_left: 0 };
        }
        if seals == 0 {
            return true;
        }
        seat.owner = Seat::owner(session, terms);
        let missing = seals.saturating_sub(seat.seals_left);
        if slot.seals_left < missing {
            for (_, stripe) in self.stripes.iter().enumerate().filter(|(other, _)| *other != place)
            {
                let mut stripe = lock(stripe);
                if let Some(other) = stripe.seat_of(session) {
                    slot.seals_left += std::mem::take(&mut other.seals_left);
                }
            }
        }
        let granted = missing.max(GRANT).min(slot.seals_left);
        slot.seals_left -= granted;
        seat.seals_left += granted;
        granted >= missing
    }

    /// A session's counter of nonces.
    ///
    /// # Errors
    /// There is no such session; the system has no random bytes.
    pub(crate) fn nonces_of(&self, session: SessionId) -> Result<Arc<NonceCounter>, EngineError> {
        lock(&self.common).nonces_of(session, 0).cloned()
    }

    /// The next nonces of the sessions of so many messages, one behind the other.
    ///
    /// # Errors
    /// There is no such session, or it has given as many nonces as a key may seal messages; raw keys; the system has
    /// no random bytes.
    pub(crate) fn next_nonces(
        &self,
        keys: &Keys<'_>,
        messages: usize,
    ) -> Result<Vec<u8>, EngineError> {
        let (mut nonces, bytes) = (Vec::new(), messages.saturating_mul(NONCE_BYTES));
        nonces.try_reserve_exact(bytes).map_err(|_| BatchError::NoMemory { bytes })?;
        match keys {
            Keys::Raw(_) => return Err(EngineError::RawKeysDontCount),
            Keys::Session(session) => {
                let counter = self.nonces_of(*session)?;
                for nonce in counter.take(*session, messages as u64)? {
                    nonces.extend_from_slice(nonce.as_bytes());
                }
            }
            Keys::Sessions(sessions) => {
                let mut common = lock(&self.common);
                for (message, session) in sessions.iter().enumerate() {
                    let nonce = common.nonces_of(*session, message)?.take_one(*session)?;
                    nonces.extend_from_slice(nonce.as_bytes());
                }
            }
        }
        Ok(nonces)
    }

    /// Takes back what [`admit`](Self::admit) counted for a batch that was not worked after all.
    pub(crate) fn uncount(&self, batch: &Batch<'_>) {
        let mut common = lock(&self.common);
        for message in (0..batch.len).filter(|&message| batch.ops.get(message) == Op::Seal) {
            if let Some(slot) = batch.session_of(message).and_then(|session| common.live(session)) {
                slot.seals_left += 1;
            }
        }
    }

    /// Wipes the retired keys that no lease can need and returns their sessions. Give them to
    /// [`reuse`](Self::reuse) when the devices have forgotten them too.
    pub(crate) fn wipe_retired(&self) -> Vec<SessionId> {
        let mut common = lock(&self.common);
        let mut wiped = vec![];
        while self.finds_wipeable(&common) {
            let Some((_, session)) = common.retired.pop_front() else { break };
            if let Some(slot) = common.slot_mut(session) {
                slot.key = None;
                wiped.push(session);
            }
        }
        self.has_retired.store(!common.retired.is_empty(), Ordering::Release);
        self.wipeable.store(false, Ordering::Release);
        wiped
    }

    /// Frees the slots of wiped sessions.
    pub(crate) fn reuse(&self, wiped: &[SessionId]) {
        let mut common = lock(&self.common);
        for session in wiped {
            if let Some(slot) = common.slot_mut(*session) {
                slot.generation = 0;
                common.free.push(session.slot);
            }
        }
    }

    /// Whether [`wipe_retired`](Self::wipe_retired) would find something. Takes no lock.
    pub(crate) fn has_wipeable(&self) -> bool {
        self.wipeable.load(Ordering::Acquire)
    }

    /// What the key of a session is for; nothing where there is no such session.
    pub(crate) fn algorithm(&self, session: SessionId) -> Option<Algorithm> {
        lock(&self.common).live(session)?.algorithm()
    }

    /// Seals counted for a session.
    pub(crate) fn sealed(&self, session: SessionId) -> u64 {
        let mut common = lock(&self.common);
        let Some(slot) = common.slot_mut(session) else { return 0 };
        let granted = |stripe: &Mutex<Stripe>| {
            lock(stripe).seat_of(session).map_or(0, |seat| seat.seals_left)
        };
        let left: u64 = self.stripes.iter().map(granted).sum();
        slot.limit.saturating_sub(slot.seals_left + left)
    }

    /// Whether the first retired key was so before every lease there is.
    fn finds_wipeable(&self, common: &Common) -> bool {
        let Some((retired, _)) = common.retired.front() else { return false };
        self.stripes.iter().all(|stripe| {
            let oldest = lock(stripe).leases.front().map_or(u64::MAX, |(epoch, _)| *epoch);
            *retired < oldest
        })
    }

    fn release(&self, place: usize, epoch: u64) {
        lock(self.stripes.at(place)).end_lease(epoch);
        if self.has_retired.load(Ordering::Acquire) {
            let common = lock(&self.common);
            self.wipeable.store(self.finds_wipeable(&common), Ordering::Release);
        }
    }
}

impl KeySource for KeyStore {
    fn key(&self, session: SessionId) -> Option<Arc<Key>> {
        lock(&self.common).slot_mut(session)?.key.clone()
    }
}

impl Common {
    fn slot_mut(&mut self, session: SessionId) -> Option<&mut Slot> {
        let slot = self.slots.get_mut(session.slot as usize)?;
        let known = slot.generation == session.generation && slot.generation != 0;
        known.then_some(slot)
    }

    fn live(&mut self, session: SessionId) -> Option<&mut Slot> {
        self.slot_mut(session).filter(|slot| !slot.is_retired)
    }

    /// After sessions of a batch were granted seals: where the nonces of those come from that had none before. Of a
    /// refused batch they give the seals back, and it stays open.
    fn settle_sources(
        &mut self,
        batch: &Batch<'_>,
        stripe: &mut Stripe,
        is_admitted: bool,
        nonces: NonceSource,
    ) {
        for message in (0..batch.len).filter(|&message| batch.ops.get(message) == Op::Seal) {
            let Some(session) = batch.session_of(message) else { return };
            let Some(slot) = self.live(session).filter(|slot| slot.nonce_source.is_none()) else {
                continue;
            };
            if is_admitted {
                slot.nonce_source = Some(nonces);
            } else if let Some(seat) = stripe.seat_of(session) {
                slot.seals_left += seat.seals_left;
                *seat = Seat::default();
            }
        }
    }

    fn nonces_of(
        &mut self,
        session: SessionId,
        message: usize,
    ) -> Result<&Arc<NonceCounter>, EngineError> {
        let slot = self.live(session).ok_or(EngineError::UnknownSession { message, session })?;
        if let Some(algorithm) =
            slot.algorithm().filter(|algorithm| *algorithm != Algorithm::AesGcm)
        {
            return Err(BatchError::NonceRule { algorithm, rule: NonceRule::Counted }.into());
        }
        match &mut slot.nonces {
            Some(counter) => Ok(counter),
            none => Ok(none.insert(Arc::new(NonceCounter::new()?))),
        }
    }

    /// Why a message may not be sealed or opened, when a stripe has so many seals of its session and the
    /// others none.
    #[cold]
    fn refusal(
        &mut self,
        message: usize,
        session: SessionId,
        left: u64,
        terms: Terms,
    ) -> EngineError {
        let Some((slot, key)) = self.live(session).and_then(|slot| {
            let key = slot.algorithm()?;
            Some((slot, key))
        }) else {
            return EngineError::UnknownSession { message, session };
        };
        match slot.nonce_source {
            _ if key != terms.algorithm => {
                EngineError::Algorithm { message, session, key, batch: terms.algorithm }
            }
            Some(source) if source != terms.nonces => match terms.nonces {
                NonceSource::Counter => EngineError::NoncesOfCaller { session },
                NonceSource::Caller => EngineError::NoncesCounted { session },
            },
            _ => {
                let sealed = slot.limit - slot.seals_left - left;
                EngineError::SealLimit { session, sealed, limit: slot.limit }
            }
        }
    }
}

/// The first message whose session is not known here, or has not enough seals.
struct RefusedMessage {
    message: usize,
    session: SessionId,
}

impl Stripe {
    fn seat_of(&mut self, session: SessionId) -> Option<&mut Seat> {
        self.seats.get_mut(session.slot as usize).filter(|seat| seat.is_of(session))
    }

    /// Counts the seals of a batch, or nothing. `top_up` is called for a session that has not enough here and
    /// says whether it has now.
    fn count_seals(
        &mut self,
        batch: &Batch<'_>,
        top_up: impl FnMut(&mut Vec<Seat>, SessionId, u64) -> bool,
    ) -> Result<(), RefusedMessage> {
        let seals = |op| u64::from(op == Op::Seal);
        match (&batch.keys, &batch.ops) {
            (Keys::Raw(_), _) => Ok(()),
            (Keys::Session(session), Ops::All(op)) => {
                let seals = seals(*op) * batch.len as u64;
                self.count_each(batch, std::iter::once((*session, seals)), top_up)
            }
            // Numbers that the compiler knows spare a quarter of the time.
            (Keys::Sessions(sessions), Ops::All(Op::Seal)) => {
                self.count_each(batch, sessions.iter().map(|session| (*session, 1)), top_up)
            }
            (Keys::Sessions(sessions), Ops::All(Op::Open | Op::Verify)) => {
                self.count_each(batch, sessions.iter().map(|session| (*session, 0)), top_up)
            }
            (Keys::Sessions(sessions), Ops::Each(ops)) => {
                let sessions =
                    sessions.iter().zip(&**ops).map(|(session, op)| (*session, seals(*op)));
                self.count_each(batch, sessions, top_up)
            }
            (Keys::Session(session), Ops::Each(ops)) => {
                self.count_each(batch, ops.iter().map(|op| (*session, seals(*op))), top_up)
            }
        }
    }

    fn count_each(
        &mut self,
        batch: &Batch<'_>,
        sessions: impl Iterator<Item = (SessionId, u64)>,
        mut top_up: impl FnMut(&mut Vec<Seat>, SessionId, u64) -> bool,
    ) -> Result<(), RefusedMessage> {
        let terms = Terms::of(batch);
        let mut sessions = sessions.enumerate();
        loop {
            let seats = &mut self.seats[..];
            let missing =
                sessions.find(|(_, (session, seals))| !count(seats, *session, *seals, terms));
            let Some((message, (session, seals))) = missing else { return Ok(()) };
            let seats = &mut self.seats;
            if top_up(seats, session, seals) && count(seats, session, seals, terms) {
                continue;
            }
            self.uncount_seals(batch, message);
            return Err(RefusedMessage { message, session });
        }
    }

    fn uncount_seals(&mut self, batch: &Batch<'_>, messages: usize) {
        for message in (0..messages).filter(|&message| batch.ops.get(message) == Op::Seal) {
            if let Some(seat) = batch.session_of(message).and_then(|session| self.seat_of(session))
            {
                seat.seals_left += 1;
            }
        }
    }

    fn lease(&mut self, epoch: u64) {
        match self.leases.back_mut() {
            Some((last, count)) if *last == epoch => *count += 1,
            _ => self.leases.push_back((epoch, 1)),
        }
    }

    fn end_lease(&mut self, epoch: u64) {
        match self.leases.back_mut() {
            Some((last, count)) if *last == epoch => *count -= 1,
            _ => {
                if let Ok(at) = self.leases.binary_search_by_key(&epoch, |(epoch, _)| *epoch) {
                    self.leases[at].1 -= 1;
                }
            }
        }
        while self.leases.front().is_some_and(|(_, count)| *count == 0) {
            self.leases.pop_front();
        }
    }
}

/// Holds every key that was live when it was made, until it is dropped.
pub(crate) struct Lease<S: Deref<Target = KeyStore> = Arc<KeyStore>> {
    store: S,
    place: usize,
    epoch: u64,
}

impl KeySource for Lease {
    fn key(&self, session: SessionId) -> Option<Arc<Key>> {
        self.store.key(session)
    }
}

impl<S: Deref<Target = KeyStore>> std::fmt::Debug for Lease<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Lease(secret)")
    }
}

impl<S: Deref<Target = KeyStore>> Drop for Lease<S> {
    fn drop(&mut self) {
        self.store.release(self.place, self.epoch);
    }
}

/// Nothing panics while one of these is locked.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Seals that a stripe is granted at a time.
const GRANT: u64 = 1 << 20;

/// A number to begin at, far from where another copy of this library begins; identifiers made of it fit 63 bits.
fn somewhere() -> u32 {
    let mut random = [0; 4];
    // Without random numbers there are no nonces either, which says so.
    let _ = getrandom::fill(&mut random);
    u32::from_le_bytes(random) >> 2 | 1
}

#[cfg(test)]
mod tests;
