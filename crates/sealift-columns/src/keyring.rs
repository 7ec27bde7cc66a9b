//! Keys by id and version.

use crate::ColumnError;
use crate::format::RowId;
use crate::ids::MISSING;
use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sealift_core::{Algorithm, Key};
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
            Some(entry) => table.newest(entry).version.checked_add(1).ok_or_else(|| {
                ColumnError::Version { id: id.clone(), reason: "65,535 is the last".into() }
            })?,
        };
        table.insert(id, version, key)?;
        Ok(version)
    }

    /// Adds an id with all versions of its key by their numbers, ascending. If the keyring has the id, nothing is added and
    /// the result is false.
    ///
    /// # Errors
    /// As for [`rotate`](Self::rotate); no version. Nothing is added then.
    pub fn add(&self, id: &KeyId, versions: &[(u16, Key)]) -> Result<bool, ColumnError> {
        let wrong = |reason| Err(ColumnError::Version { id: id.clone(), reason });
        if versions.is_empty() {
            return wrong("0 is missing: give at least one key".to_owned());
        }
        if let Some(pair) = versions.windows(2).find(|pair| pair[0].0 >= pair[1].0) {
            return wrong(format!("{} is not above the one before, {}", pair[1].0, pair[0].0));
        }
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        if table.find(id).is_some() {
            return Ok(false);
        }
        versions.iter().try_for_each(|(version, key)| table.insert(id, *version, key))?;
        Ok(true)
    }

    /// Number of ids.
    #[must_use]
    pub fn len(&self) -> usize {
        self.read().entries.len()
    }

    /// What its first key is for; none without keys.
    #[must_use]
    pub fn algorithm(&self) -> Option<Algorithm> {
        self.read().present.first().map(|class| class.algorithm)
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
    /// Entries of small integer ids by id, [`MISSING`] where there is none: one read a lookup, near those of other ids.
    small: Vec<u32>,
    /// Those of larger ones.
    integers: HashMap<u64, u32, FxBuildHasher>,
    names: HashMap<Box<[u8]>, u32, FxBuildHasher>,
    pub(crate) entries: Vec<Entry>,
    /// The newest version of each entry, by itself: 8 bytes a lookup.
    newest: Vec<Version>,
    /// The id of each entry; 0 of a string.
    numbers: Vec<u64>,
    keys: Zeroizing<Vec<[u8; KEY_BYTES_MAX]>>,
    classes: Vec<Class>,
    /// Messages that each key has sealed.
    sealed: Vec<AtomicU64>,
    has_wide_id: bool,
    /// The classes of the keys, each once.
    present: Vec<Class>,
}

/// What the keys of a batch have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Class {
    pub(crate) algorithm: Algorithm,
    pub(crate) key_bytes: usize,
}

impl Class {
    fn of(key: &Key) -> Self {
        Self { algorithm: key.algorithm(), key_bytes: key.as_bytes().len() }
    }
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
        let place = u32::try_from(self.classes.len()).map_err(full)?;
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
                self.insert_integer(*number, entry);
            }
            KeyId::Bytes(name) => {
                self.names.insert(name.clone(), entry);
            }
        }
        self.newest.push(version);
        self.numbers.push(if let KeyId::Integer(number) = id { *number } else { 0 });
        self.entries.push(Entry { id: id.clone(), versions: vec![version] });
        Ok(())
    }

    fn insert_integer(&mut self, id: u64, entry: u32) {
        match usize::try_from(id).ok().filter(|id| *id < SMALL_IDS) {
            Some(id) => {
                if self.small.len() <= id {
                    self.small.resize(id + 1, MISSING);
                }
                self.small[id] = entry;
            }
            None => {
                self.integers.insert(id, entry);
            }
        }
    }

    fn check_id(&self, id: &KeyId) -> Result<(), ColumnError> {
        let wrong = |reason: &str| ColumnError::KeyId { id: id.clone(), reason: reason.to_owned() };
        match id {
            KeyId::Integer(_) if !self.names.is_empty() => {
                Err(wrong("the other ids of this keyring are strings"))
            }
            KeyId::Bytes(_) if self.names.is_empty() && !self.entries.is_empty() => {
                Err(wrong("the other ids of this keyring are integers"))
            }
            KeyId::Bytes(name) if name.len() > 255 => Err(wrong("an id has at most 255 bytes")),
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
        let class = Class::of(key);
        self.classes.push(class);
        if !self.present.contains(&class) {
            self.present.push(class);
        }
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
        match usize::try_from(id).ok().and_then(|id| self.small.get(id)) {
            Some(entry) => Some(*entry).filter(|entry| *entry != MISSING),
            None => self.integers.get(&id).copied(),
        }
    }

    #[inline]
    pub(crate) fn find_name(&self, id: &[u8]) -> Option<u32> {
        self.names.get(id).copied()
    }

    pub(crate) fn find_row_id(&self, id: RowId<'_>) -> Option<u32> {
        match id {
            RowId::Integer(id) => self.find_integer(id),
            RowId::Bytes(id) => self.find_name(id),
        }
    }

    /// Whether its ids are byte strings.
    pub(crate) fn has_names(&self) -> bool {
        !self.names.is_empty()
    }

    /// The version of an entry that seals.
    #[inline]
    pub(crate) fn newest(&self, entry: u32) -> Version {
        self.newest[entry as usize]
    }

    /// The id of an entry, for a header.
    #[inline]
    pub(crate) fn header_id(&self, entry: u32) -> RowId<'_> {
        if self.names.is_empty() {
            return RowId::Integer(self.numbers[entry as usize]);
        }
        match &self.entries[entry as usize].id {
            KeyId::Integer(id) => RowId::Integer(*id),
            KeyId::Bytes(id) => RowId::Bytes(id),
        }
    }

    /// Whether an integer id takes 8 bytes in a row, else 4.
    pub(crate) fn has_wide_id(&self) -> bool {
        self.has_wide_id
    }

    pub(crate) fn key_count(&self) -> usize {
        self.classes.len()
    }

    #[inline]
    pub(crate) fn class(&self, key: u32) -> Class {
        match self.present[..] {
            [one] => one,
            _ => self.classes[key as usize],
        }
    }

    /// The bytes of a key, zeros behind a short one.
    #[inline]
    pub(crate) fn key(&self, key: u32) -> &[u8; KEY_BYTES_MAX] {
        &self.keys[key as usize]
    }

    /// The classes that its keys have.
    pub(crate) fn all_classes(&self) -> &[Class] {
        &self.present
    }

    /// The length of nonces, if all keys have the same.
    pub(crate) fn common_nonce_bytes(&self) -> Option<usize> {
        let mut lengths = self.present.iter().map(|class| class.algorithm.nonce_bytes());
        let first = lengths.next()?;
        lengths.all(|length| length == first).then_some(first)
    }

    /// A version of an entry.
    pub(crate) fn version(&self, entry: u32, version: u16) -> Option<Version> {
        let newest = self.newest(entry);
        if newest.version == version {
            Some(newest)
        } else {
            self.entries[entry as usize].version(version)
        }
    }

    /// Whether some key could pass its limit by so many more messages.
    pub(crate) fn may_pass_limit(&self, messages: u64) -> bool {
        (0..self.sealed.len()).any(|key| self.passes(key, messages))
    }

    /// The first key that would pass its limit by so many messages of each and `others` that may be of any, and how many
    /// it has sealed.
    pub(crate) fn first_passed(&self, counts: &[u64], others: u64) -> Option<(KeyId, u64)> {
        let passes = |(key, count): (usize, &u64)| {
            *count > 0 && self.passes(key, count.saturating_add(others))
        };
        let key = counts.iter().enumerate().position(passes)?;
        let is_of =
            |entry: &&Entry| entry.versions.iter().any(|version| version.key as usize == key);
        let entry = self.entries.iter().find(is_of)?;
        Some((entry.id.clone(), self.sealed[key].load(Ordering::Relaxed)))
    }

    /// Whether so many more messages are too many for a key.
    fn passes(&self, key: usize, messages: u64) -> bool {
        let sealed = self.sealed[key].load(Ordering::Relaxed);
        sealed.saturating_add(messages) > self.classes[key].algorithm.seals_max()
    }

    /// Counts messages that were sealed, by key.
    pub(crate) fn add_sealed(&self, counts: &[u64]) {
        for (sealed, count) in self.sealed.iter().zip(counts).filter(|(_, count)| **count > 0) {
            sealed.fetch_add(*count, Ordering::Relaxed);
        }
    }
}

const KEY_BYTES_MAX: usize = 32;

/// Smaller integer ids are found without hashing.
const SMALL_IDS: usize = 1 << 16;

#[cfg(test)]
mod tests {
    use super::*;

    fn keyring(algorithm: Algorithm) -> Keyring {
        let keyring = Keyring::new();
        let key = Key::with_algorithm(algorithm, &[7; 32]).unwrap();
        keyring.rotate(&KeyId::Integer(5), &key).unwrap();
        keyring
    }

    #[test]
    fn a_key_with_nonces_of_12_bytes_seals_2_to_the_32_rows() {
        for algorithm in [Algorithm::AesGcm, Algorithm::AesGcmSiv] {
            seals_2_to_the_32_rows(&keyring(algorithm));
        }
    }

    fn seals_2_to_the_32_rows(keyring: &Keyring) {
        let table = keyring.read();
        table.add_sealed(&[u64::from(u32::MAX)]);
        assert!(!table.may_pass_limit(1));
        assert!(table.may_pass_limit(2));
        let sealed = u32::MAX.into();
        assert_eq!(table.first_passed(&[2], 0), Some((KeyId::Integer(5), sealed)));
        assert_eq!(table.first_passed(&[1], 0), None);
        assert_eq!(table.first_passed(&[1], 1), Some((KeyId::Integer(5), sealed)));
        assert_eq!(table.first_passed(&[0], 9), None, "a call that doesn't use the key");
    }

    #[test]
    fn xaes_has_no_limit_to_count() {
        let keyring = keyring(Algorithm::Xaes256Gcm);
        keyring.read().add_sealed(&[u64::from(u32::MAX)]);
        assert!(!keyring.read().may_pass_limit(u64::MAX));
    }

    #[test]
    fn an_id_is_added_with_all_its_versions_or_not_at_all() {
        let keyring = Keyring::new();
        let (id, key) = (KeyId::Integer(5), || Key::new(&[1; 16]).unwrap());
        for wrong in [vec![], vec![(3, key()), (3, key())], vec![(4, key()), (2, key())]] {
            assert!(matches!(keyring.add(&id, &wrong), Err(ColumnError::Version { .. })));
            assert!(keyring.is_empty());
        }
        assert_eq!(keyring.add(&id, &[(2, key()), (7, key())]), Ok(true));
        assert_eq!(keyring.add(&id, &[(9, key())]), Ok(false));
        assert_eq!(keyring.rotate(&id, &key()), Ok(8));
    }

    #[test]
    fn versions_ascend_and_ids_are_of_one_kind() {
        let (keyring, key) = (keyring(Algorithm::AesGcm), Key::new(&[1; 16]).unwrap());
        let id = KeyId::Integer(5);
        assert_eq!(keyring.rotate(&id, &key).unwrap(), 1);
        let last = KeyId::Integer(6);
        keyring.add(&last, &[(u16::MAX, Key::new(&[1; 16]).unwrap())]).unwrap();
        assert!(matches!(keyring.rotate(&last, &key), Err(ColumnError::Version { .. })));
        let name = KeyId::Bytes((&b"name"[..]).into());
        assert!(matches!(keyring.rotate(&name, &key), Err(ColumnError::KeyId { .. })));
        let long = KeyId::Bytes([0; 256].into());
        assert!(matches!(Keyring::new().rotate(&long, &key), Err(ColumnError::KeyId { .. })));
    }

    #[test]
    fn ids_of_every_size_are_found_and_no_others() {
        let (keyring, key) = (Keyring::new(), Key::new(&[1; 16]).unwrap());
        let ids = [0, 3, SMALL_IDS as u64 - 1, SMALL_IDS as u64, u64::from(u32::MAX), u64::MAX];
        for (entry, id) in ids.into_iter().enumerate() {
            assert!(!keyring.read().has_wide_id(), "{entry}");
            keyring.rotate(&KeyId::Integer(id), &key).unwrap();
        }
        let table = keyring.read();
        assert!(table.has_wide_id());
        for (entry, id) in (0..).zip(ids) {
            assert_eq!(table.find_integer(id), Some(entry));
            assert_eq!(table.find_integer(id ^ 2), None);
        }
    }

    #[test]
    fn debug_shows_no_key() {
        assert_eq!(format!("{:?}", keyring(Algorithm::AesGcm)), "Keyring(1 ids)");
    }
}
