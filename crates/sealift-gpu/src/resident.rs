//! Keys of sessions that stay on the device.

use crate::GpuError;
use crate::gpu::{Gpu, KEY_BYTES, KEY_SLOTS};
use sealift_core::{Key, KeyLength, SessionId};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use zeroize::Zeroizing;

/// Which session's key lies in which of the device's slots.
///
/// A session's place is its slot modulo [`KEY_SLOTS`]. Whoever comes later evicts whoever was there, unless a batch that is
/// being worked uses that key. A key that is nobody's any more is overwritten; where that fails, its place is noted, and
/// tried again before any other key is lent, retired or forgotten.
#[derive(Debug, Default)]
pub(crate) struct Resident {
    entries: Mutex<Entries>,
}

#[derive(Debug, Default)]
struct Entries {
    /// Grows to the highest one used.
    places: Vec<Option<Entry>>,
    /// Places whose keys are nobody's and were not overwritten yet.
    stale: BTreeSet<usize>,
}

#[derive(Debug)]
struct Entry {
    session: SessionId,
    length: KeyLength,
    /// Messages that are being worked with it.
    users: usize,
    /// Whether it is overwritten as soon as nobody uses it.
    is_retired: bool,
}

/// A key that a batch may use, and its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lent {
    pub(crate) slot: u32,
    pub(crate) length: KeyLength,
}

/// The keys of a batch's sessions, kept in their places until it is dropped.
#[derive(Debug)]
pub(crate) struct Lease<'r> {
    resident: &'r Resident,
    lent: Vec<Lent>,
}

impl Resident {
    /// Lends the keys of some sessions, in their order, and brings to the device those that it lacks. Nothing if two that
    /// are in use share a place.
    ///
    /// # Errors
    /// A key is gone, or the device takes none, or it still has one that it should not have.
    pub(crate) fn lend<E: From<GpuError>>(
        &self,
        sessions: &[SessionId],
        gpu: &dyn Gpu,
        key_of: impl Fn(SessionId) -> Result<Arc<Key>, E>,
    ) -> Result<Option<Lease<'_>>, E> {
        let mut entries = self.lock();
        entries.overwrite(gpu)?;
        let mut lent = Vec::with_capacity(sessions.len());
        let mut fresh = Fresh::default();
        let lending = sessions.iter().try_for_each(|session| {
            let found = entries.lend(*session, |session| {
                let key = key_of(session).map_err(Stop::Error)?;
                let length = key.length();
                fresh.0.push((place(session), key));
                Ok(length)
            })?;
            lent.push(found);
            Ok(())
        });
        let lending = lending.and_then(|()| {
            fresh.write(gpu, &mut entries.stale).map_err(|error| Stop::Error(error.into()))
        });
        match lending {
            Ok(()) => {
                drop(entries);
                Ok(Some(Lease { resident: self, lent }))
            }
            Err(stop) => {
                entries.give_back(&lent);
                fresh.0.iter().for_each(|(slot, _)| entries.places[*slot] = None);
                match stop {
                    Stop::Shared => Ok(None),
                    Stop::Error(error) => Err(error),
                }
            }
        }
    }

    /// Overwrites a session's key on the device, and what could not be overwritten before. One that is being used is
    /// overwritten when it is not: by [`Resident::sweep`], or whoever comes next.
    ///
    /// # Errors
    /// The device does not take it; it is tried again.
    pub(crate) fn retire(&self, session: SessionId, gpu: &dyn Gpu) -> Result<(), GpuError> {
        let mut entries = self.lock();
        let slot = place(session);
        let found = entries.places.get_mut(slot).and_then(Option::as_mut);
        if let Some(entry) = found.filter(|entry| entry.session == session) {
            entry.is_retired = true;
            entries.clear_out(slot);
        }
        entries.overwrite(gpu)
    }

    /// Overwrites what is nobody's any more and was not yet.
    ///
    /// # Errors
    /// As [`Resident::retire`].
    pub(crate) fn sweep(&self, gpu: &dyn Gpu) -> Result<(), GpuError> {
        self.lock().overwrite(gpu)
    }

    /// Overwrites all keys that nobody uses.
    ///
    /// # Errors
    /// As [`Resident::retire`].
    pub(crate) fn forget(&self, gpu: &dyn Gpu) -> Result<(), GpuError> {
        let mut entries = self.lock();
        let Entries { places, stale } = &mut *entries;
        for (slot, entry) in places.iter_mut().enumerate() {
            stale.extend(entry.take_if(|entry| entry.users == 0).map(|_| slot));
        }
        entries.overwrite(gpu)
    }

    /// Nothing panics between two changes of an entry, so a poisoned lock guards whole ones.
    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why a batch's keys are not lent.
enum Stop<E> {
    /// Two of them, or one of them and another batch's, share a place.
    Shared,
    Error(E),
}

impl Entries {
    fn lend<E>(
        &mut self,
        session: SessionId,
        bring: impl FnOnce(SessionId) -> Result<KeyLength, Stop<E>>,
    ) -> Result<Lent, Stop<E>> {
        let slot = place(session);
        if self.places.len() <= slot {
            self.places.resize_with(slot + 1, || None);
        }
        let entry = match &mut self.places[slot] {
            Some(entry) if entry.session == session => entry,
            Some(entry) if entry.users > 0 => return Err(Stop::Shared),
            other => {
                let length = bring(session)?;
                self.stale.extend(other.is_some().then_some(slot));
                other.insert(Entry { session, length, users: 0, is_retired: false })
            }
        };
        entry.users += 1;
        #[expect(clippy::cast_possible_truncation, reason = "there are 2^16 places")]
        Ok(Lent { slot: slot as u32, length: entry.length })
    }

    fn give_back(&mut self, lent: &[Lent]) {
        for lent in lent {
            let slot = lent.slot as usize;
            if let Some(Some(entry)) = self.places.get_mut(slot) {
                entry.users -= 1;
            }
            self.clear_out(slot);
        }
    }

    /// Takes note of a retired key that nobody uses.
    fn clear_out(&mut self, slot: usize) {
        let over = |entry: &mut Entry| entry.is_retired && entry.users == 0;
        let found = self.places.get_mut(slot).and_then(|entry| entry.take_if(over));
        self.stale.extend(found.map(|_| slot));
    }

    /// Overwrites what is nobody's, as much of it as the device takes, those side by side at once.
    fn overwrite(&mut self, gpu: &dyn Gpu) -> Result<(), GpuError> {
        let stale: Vec<_> = self.stale.iter().copied().collect();
        let mut all = Ok(());
        for run in stale.chunk_by(|one, next| one + 1 == *next) {
            let written = gpu.write_keys(run[0], &vec![0; KEY_BYTES * run.len()]);
            if written.is_ok() {
                run.iter().for_each(|slot| _ = self.stale.remove(slot));
            }
            all = all.and(written);
        }
        all
    }
}

impl Lease<'_> {
    /// The key of a message: one lent to all, or each its own.
    pub(crate) fn of(&self, message: usize) -> Lent {
        match &self.lent[..] {
            [one] => *one,
            each => each[message],
        }
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        self.resident.lock().give_back(&self.lent);
    }
}

/// Keys that the device lacks, by their places.
#[derive(Default)]
struct Fresh(Vec<(usize, Arc<Key>)>);

impl Fresh {
    /// Writes them, those side by side at once. Until all are there, their places are stale.
    fn write(&mut self, gpu: &dyn Gpu, stale: &mut BTreeSet<usize>) -> Result<(), GpuError> {
        self.0.sort_unstable_by_key(|(slot, _)| *slot);
        stale.extend(self.0.iter().map(|(slot, _)| *slot));
        let runs = self.0.chunk_by(|(one, _), (next, _)| one + 1 == *next);
        for run in runs {
            let mut records = Zeroizing::new(vec![0; KEY_BYTES * run.len()]);
            for (record, (_, key)) in records.chunks_exact_mut(KEY_BYTES).zip(run) {
                fill(record, key.as_bytes());
            }
            gpu.write_keys(run[0].0, &records)?;
        }
        self.0.iter().for_each(|(slot, _)| _ = stale.remove(slot));
        Ok(())
    }
}

/// A raw key's record, zeros behind it.
pub(crate) fn fill(record: &mut [u8], key: &[u8]) {
    let (raw, behind) = record.split_at_mut(key.len());
    sealift_kernels::copy::copy(raw, key);
    behind.fill(0);
}

fn place(session: SessionId) -> usize {
    session.slot as usize % KEY_SLOTS
}
