//! Keys by id and version.

use crate::ColumnError;
use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sealift_core::{Key, KeyLength};
use sealift_engine::SEALS_MAX;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};
use zeroize::{Zeroize, Zeroizing};

/// Which key a row is sealed with: an integer or a byte string, for example a name in UTF-8.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum KeyId {
    /// A number.
    Integer(u64),
    /// At most 255 bytes.
    Bytes(Box<[u8]>),
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(id) => write!(f, "{id}"),
            Self::Bytes(id) => write!(f, "{:?}", String::from_utf8_lossy(id)),
        }
    }
}

/// Keys by id, each in one or more versions: the newest seals, all of them open.
///
/// Ids are all integers or all byte strings. Keys are wiped on drop, and `Debug` shows none. Several threads may use it at
/// once; a rotation waits for the calls that are running.
#[derive(Default)]
pub struct Keyring {
    table: RwLock<Table>,
    /// Rows of seals that are running.
    pub(crate) in_flight: AtomicU64,
}

impl Keyring {
    /// One without keys.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the next version of an id's key, which seals from now on, and returns its number: 0 for the first.
    ///
    /// # Errors
    /// An id of another kind than those there are, or longer than 255 bytes; a version that is not above all others.
    pub fn rotate(&self, id: &KeyId, key: &Key) -> Result<u16, ColumnError> {
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        let version = match table.find(id) {
            None => 0,
            Some(entry) => table.newest(entry).version.checked_add(1).ok_or_else(
                || ColumnError::Version { id: id.clone(), reason: "65,535 is the last".into() },
            )?,
        };
        table.insert(id, version, key)?;
        Ok(version)
    }

    /// Adds a version of an id's key by its number, for a keyring that is made again.
    ///
    /// # Errors
    /// As for [`rotate`](Self::rotate).
    pub fn insert(&self, id: &KeyId, version: u16, key: &Key) -> Result<(), ColumnError> {
        self.table.write().unwrap_or_else(PoisonError::into_inner).insert(id, version, key)
    }

    /// Number of ids.
    #[must_use]
    pub fn len(&self) -> usize {
        self.read().entries.len()
    }

    /// Whether it has no id.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether it has a key of this id.
    #[must_use]
    pub fn contains(&self, id: &KeyId) -> bool {
        self.read().find(id).is_some()
    }

    pub(crate) fn read(&self) -> RwLockReadGuard<'_, Table> {
        self.table.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Keyring({} ids)", self.len())
    }
}

/// What a keyring holds.
#[derive(Default)]
pub(crate) struct Table {
    integers: HashMap<u64, u32, FxBuildHasher>,
    names: HashMap<Box<[u8]>, u32, FxBuildHasher>,
    pub(crate) entries: Vec<Entry>,
    /// The newest version of each entry, by itself: 8 bytes a lookup.
    newest: Vec<Version>,
    keys: Zeroizing<Vec<[u8; KEY_BYTES_MAX]>>,
    lengths: Vec<KeyLength>,
    /// Messages that each key has sealed.
    sealed: Vec<AtomicU64>,
    has_wide_id: bool,
}

/// The versions of one id's key.
pub(crate) struct Entry {
    pub(crate) id: KeyId,
    /// Ascending; never empty.
    versions: Vec<Version>,
}

/// One key.
#[derive(Clone, Copy)]
pub(crate) struct Version {
    pub(crate) version: u16,
    /// Its place among all keys.
    pub(crate) key: u32,
}

impl Entry {
    pub(crate) fn has_one_version(&self) -> bool {
        self.versions.len() == 1
    }

    pub(crate) fn version(&self, version: u16) -> Option<Version> {
        let at = self.versions.binary_search_by_key(&version, |found| found.version).ok()?;
        Some(self.versions[at])
    }
}

impl Table {
    fn insert(&mut self, id: &KeyId, version: u16, key: &Key) -> Result<(), ColumnError> {
        self.check_id(id)?;
        let wrong = |reason| ColumnError::Version { id: id.clone(), reason };
        let full = |_| wrong("there are 2^32 keys".to_owned());
        let found = self.find(id);
        if let Some(newest) = found.map(|entry| self.newest(entry).version)
            && version <= newest
        {
            return Err(wrong(format!("{version} is not above the newest, {newest}")));
        }
        let place = u32::try_from(self.lengths.len()).map_err(full)?;
        self.push_key(key);
        let version = Version { version, key: place };
        if let Some(entry) = found {
            self.newest[entry as usize] = version;
            self.entries[entry as usize].versions.push(version);
            return Ok(());
        }
        let entry = u32::try_from(self.entries.len()).map_err(full)?;
        match id {
            KeyId::Integer(number) => {
                self.has_wide_id |= *number > u32::MAX.into();
                self.integers.insert(*number, entry);
            }
            KeyId::Bytes(name) => {
                self.names.insert(name.clone(), entry);
            }
        }
        self.newest.push(version);
        self.entries.push(Entry { id: id.clone(), versions: vec![version] });
        Ok(())
    }

    fn check_id(&self, id: &KeyId) -> Result<(), ColumnError> {
        let wrong = |reason: &str| ColumnError::KeyId { id: id.clone(), reason: reason.to_owned() };
        match id {
            KeyId::Integer(_) if !self.names.is_empty() => {
                Err(wrong("the other ids of this keyring are strings"))
            }
            KeyId::Bytes(_) if !self.integers.is_empty() => {
                Err(wrong("the other ids of this keyring are integers"))
            }
            KeyId::Bytes(name) if name.len() > 255 => {
                Err(wrong("an id has at most 255 bytes"))
            }
            _ => Ok(()),
        }
    }

    /// Keys are moved by hand, so that the memory they leave is wiped.
    fn push_key(&mut self, key: &Key) {
        if self.keys.len() == self.keys.capacity() {
            let mut larger = Zeroizing::new(Vec::with_capacity((2 * self.keys.len()).max(16)));
            larger.extend(self.keys.iter().copied());
            self.keys = larger;
        }
        let mut bytes = [0; KEY_BYTES_MAX];
        bytes[..key.as_bytes().len()].copy_from_slice(key.as_bytes());
        self.keys.push(bytes);
        bytes.zeroize();
        self.lengths.push(key.length());
        self.sealed.push(AtomicU64::new(0));
    }

    pub(crate) fn find(&self, id: &KeyId) -> Option<u32> {
        match id {
            KeyId::Integer(id) => self.find_integer(*id),
            KeyId::Bytes(id) => self.find_name(id),
        }
    }

    #[inline]
    pub(crate) fn find_integer(&self, id: u64) -> Option<u32> {
        self.integers.get(&id).copied()
    }

    #[inline]
    pub(crate) fn find_name(&self, id: &[u8]) -> Option<u32> {
        self.names.get(id).copied()
    }

    /// The version of an entry that seals.
    #[inline]
    pub(crate) fn newest(&self, entry: u32) -> Version {
        self.newest[entry as usize]
    }

    /// Whether an integer id takes 8 bytes in a row, else 4.
    pub(crate) fn has_wide_id(&self) -> bool {
        self.has_wide_id
    }

    pub(crate) fn key_count(&self) -> usize {
        self.lengths.len()
    }

    #[inline]
    pub(crate) fn length(&self, key: u32) -> KeyLength {
        self.lengths[key as usize]
    }

    /// The bytes of a key, zeros behind a short one.
    #[inline]
    pub(crate) fn key(&self, key: u32) -> &[u8; KEY_BYTES_MAX] {
        &self.keys[key as usize]
    }

    /// The length that all keys have, if it is one.
    pub(crate) fn common_length(&self) -> Option<KeyLength> {
        let first = *self.lengths.first()?;
        self.lengths.iter().all(|length| *length == first).then_some(first)
    }

    /// Whether some key could pass its limit by so many more messages.
    pub(crate) fn may_pass_limit(&self, messages: u64) -> bool {
        self.sealed.iter().any(|sealed| {
            sealed.load(Ordering::Relaxed).saturating_add(messages) > SEALS_MAX
        })
    }

    /// Messages that a key has sealed.
    pub(crate) fn sealed(&self, key: u32) -> u64 {
        self.sealed[key as usize].load(Ordering::Relaxed)
    }

    /// Counts messages that were sealed, by key.
    pub(crate) fn add_sealed(&self, counts: &[u32]) {
        for (sealed, count) in self.sealed.iter().zip(counts).filter(|(_, count)| **count > 0) {
            sealed.fetch_add((*count).into(), Ordering::Relaxed);
        }
    }

    /// The id of a key, for messages.
    pub(crate) fn id_of(&self, key: u32) -> Option<&KeyId> {
        let has = |entry: &&Entry| entry.versions.iter().any(|version| version.key == key);
        self.entries.iter().find(has).map(|entry| &entry.id)
    }
}

const KEY_BYTES_MAX: usize = 32;
