//! Expanded keys.

use core::fmt;

use sealift_core::{Key, KeyError, KeyLength};
use zeroize::{Zeroize, ZeroizeOnDrop};

#[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
use crate::x86_64::{
    self,
    expand::{self, Token},
};
use crate::{
    Path,
    model::aes::{self, ROUND_KEYS_MAX},
    shelf::Place,
    stack,
};

/// How many powers of the hash key a schedule holds: as many blocks share one reduction.
pub(crate) const POWERS: usize = 16;

/// Keys that are expanded at once: each step of one waits for the step before, and others fill that time.
pub(crate) const KEYS: usize = 16;

/// An expanded key.
///
/// It serves every path, but one made for [`Path::Model`] lacks what the fast paths need, and is
/// always computed by the model. The bytes stay in one place, by itself on the heap or on a [`Shelf`](crate::Shelf), so
/// that moving a schedule leaves nothing behind, and are wiped on drop.
pub struct Schedule {
    expanded: Place,
    /// Those of `expanded`, or 0 when it lacks what the fast paths need: beside the pointer, so that
    /// messages under many keys are told apart without a look at each key.
    fast_rounds: usize,
}

impl Schedule {
    /// Expands a key for a path.
    #[must_use]
    pub fn new(path: Path, key: &Key) -> Schedule {
        Schedule::at(Place::alone(), path, key)
    }

    /// Expands a key to a place.
    pub(crate) fn at(expanded: Place, path: Path, key: &Key) -> Schedule {
        let mut schedule = Schedule { expanded, fast_rounds: 0 };
        schedule.expand(path, key.as_bytes());
        stack::wipe_message();
        schedule
    }

    /// Expands a raw key of 16, 24 or 32 bytes.
    ///
    /// # Errors
    /// Any other length.
    pub fn from_raw(path: Path, key: &[u8]) -> Result<Schedule, KeyError> {
        let mut schedule = Schedule::empty();
        schedule.replace(path, key)?;
        Ok(schedule)
    }

    /// A schedule without a key, to be given one.
    // Not a part of what calls it, so that what is called later lies less deep in the stack.
    #[inline(never)]
    pub(crate) fn empty() -> Schedule {
        Schedule { expanded: Place::alone(), fast_rounds: 0 }
    }

    /// Expands a raw key of 16, 24 or 32 bytes over the present one, in the same memory.
    ///
    /// # Errors
    /// Any other length; the present key stays.
    pub fn replace(&mut self, path: Path, key: &[u8]) -> Result<(), KeyError> {
        KeyLength::from_bytes(key.len())?;
        self.expand(path, key);
        stack::wipe_message();
        Ok(())
    }

    /// Where what the fast paths compute with lies, and how many rounds AES has; none if they can't use it.
    #[inline(always)]
    #[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
    pub(crate) fn fast(&self) -> Option<(*const u8, usize)> {
        (self.fast_rounds > 0).then_some((self.address(), self.fast_rounds))
    }

    /// How many rounds AES has under this key; 0 if the fast paths can't use it.
    #[inline(always)]
    #[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
    pub(crate) fn fast_rounds(&self) -> usize {
        self.fast_rounds
    }

    /// Where the first round key lies, and before it what the fast paths hash with.
    #[inline(always)]
    #[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
    pub(crate) fn address(&self) -> *const u8 {
        let expanded = core::ptr::from_ref::<Expanded>(&self.expanded).cast::<u8>();
        expanded.wrapping_add(core::mem::offset_of!(Expanded, record))
    }

    /// Asks the cache for what a message that is worked by itself reads of it, in the order in which it lies.
    pub(crate) fn fetch(&self, path: Path) {
        let _ = path;
        #[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
        Expanded::fetch(self.address(), self.fast_rounds, matches!(path, Path::Vaes512(_)));
    }

    /// Expands raw keys of one length, one of those of AES and [`KEYS`] at most, over the present ones. The caller wipes the stack.
    // Not a part of what calls it, so that its stack can be wiped.
    #[inline(never)]
    pub(crate) fn expand_each(schedules: &mut [Schedule], path: Path, keys: &[&[u8]]) {
        Expanded::expand_each(path, keys, schedules, |schedule| &mut schedule.expanded);
        for schedule in schedules {
            let Expanded { rounds, is_fast, .. } = *schedule.expanded;
            schedule.fast_rounds = if is_fast { rounds } else { 0 };
        }
    }

    fn expand(&mut self, path: Path, key: &[u8]) {
        Schedule::expand_each(core::slice::from_mut(self), path, &[key]);
    }

    /// Leaves only zeros.
    pub(crate) fn wipe(&mut self) {
        self.expanded.wipe();
        self.fast_rounds = 0;
    }

    /// What the paths compute with.
    #[inline]
    pub(crate) fn expanded(&self) -> &Expanded {
        &self.expanded
    }
}

/// What is secret in it is wiped on drop.
impl ZeroizeOnDrop for Schedule {}

impl fmt::Debug for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Schedule({} rounds, secret)", self.expanded.rounds)
    }
}

/// Blocks of a record: round keys and what messages of a few blocks are hashed with. Its end is that of a cache line.
pub(crate) const RECORD_BLOCKS: usize = ROUND_KEYS_MAX + 4;

/// The round keys of a key, its hash key and the tables the fast paths multiply with.
///
/// A message of a few blocks reads the last powers and the round keys, which are side by side. One of 8 blocks under AES-128 has them
/// in five cache lines, because the last power shares one with the first round keys; where these lay apart, in six, such messages
/// under keys from afar took 1.5 times as long.
// IMPLEMENTATION NOTE: wide loads from the end of `folded` and of `powers` run over into the field
// behind, so the order of the fields matters; see `x86_64::ghash`.
#[derive(ZeroizeOnDrop)]
#[repr(C, align(64))]
pub(crate) struct Expanded {
    /// The encrypted zero block.
    hash_key: u128,
    /// The powers, each times x^-64, where a path of this processor reads them.
    pub(crate) folded: [u128; POWERS],
    /// H^16 down to H^1, each times x: see `x86_64::ghash`. Zeros for the model.
    pub(crate) powers: [u128; POWERS],
    /// The round keys, and behind the last one, where there is a `folded`, H^1 and H^2 as they stand in `powers` and again as there:
    /// all that is needed for short messages under many keys, in as few cache lines as it takes.
    record: [u128; RECORD_BLOCKS],
    rounds: usize,
    is_fast: bool,
}

impl Expanded {
    /// How many bytes before the round keys the powers begin.
    #[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
    pub(crate) const POWERS_BEFORE: usize =
        core::mem::offset_of!(Expanded, record) - core::mem::offset_of!(Expanded, powers);

    /// How many bytes before a power the same folded is.
    #[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
    pub(crate) const FOLDED_BEFORE: usize =
        core::mem::offset_of!(Expanded, powers) - core::mem::offset_of!(Expanded, folded);

    /// How many bytes from the first power on may be read, those behind the last one to be multiplied with zeros.
    #[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
    pub(crate) const REACH: usize =
        core::mem::offset_of!(Expanded, rounds) - core::mem::offset_of!(Expanded, powers);

    /// Asks the cache for it as [`Schedule::fetch`] does, given where the first round key lies.
    #[inline(always)]
    #[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
    pub(crate) fn fetch(round_keys: *const u8, rounds: usize, reads_folded: bool) {
        let before = Self::POWERS_BEFORE + if reads_folded { Self::FOLDED_BEFORE } else { 0 };
        x86_64::lines(round_keys.wrapping_sub(before), before + 16 * (rounds + 1));
        // How many rounds there are lies behind the record.
        x86_64::lines(round_keys.wrapping_add(16 * RECORD_BLOCKS), 1);
    }

    /// The one whose first round key is the given one.
    ///
    /// # Safety
    /// `first` is the address of a [`Schedule`] that lives while the reference does, and that nobody writes to meanwhile.
    #[inline(always)]
    #[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
    #[expect(unsafe_code, reason = "kernels have the addresses of keys")]
    pub(crate) unsafe fn of_record<'a>(first: *const u8) -> &'a Expanded {
        let expanded = first.wrapping_sub(core::mem::offset_of!(Expanded, record));
        // SAFETY: the caller promises a schedule around that address, which lives as long and is not written to.
        unsafe { &*expanded.cast() }
    }

    /// The round keys in use.
    #[inline(always)]
    pub(crate) fn round_keys(&self) -> &[u128] {
        &self.record[..=self.rounds]
    }

    /// As many blocks as there are round keys of the longest key, first those in use.
    #[inline(always)]
    #[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
    pub(crate) fn first_blocks(&self) -> &[u128; ROUND_KEYS_MAX] {
        const { assert!(ROUND_KEYS_MAX <= RECORD_BLOCKS) };
        self.record.first_chunk().unwrap_or_else(|| unreachable!())
    }

    /// The hash key as SP 800-38D writes it: its highest bit is the field's x^0.
    pub(crate) fn hash_key(&self) -> u128 {
        self.hash_key.swap_bytes()
    }

    /// Whether the fast paths can use it.
    #[inline]
    pub(crate) fn is_fast(&self) -> bool {
        self.is_fast
    }

    #[cfg(test)]
    pub(crate) fn is_zero(&self) -> bool {
        let tables = [&self.powers[..], &self.folded, &self.record].concat();
        self.hash_key == 0 && tables.iter().all(|block| *block == 0)
    }

    pub(crate) fn empty() -> Expanded {
        Expanded {
            hash_key: 0,
            folded: [0; POWERS],
            powers: [0; POWERS],
            record: [0; RECORD_BLOCKS],
            rounds: 0,
            is_fast: false,
        }
    }

    /// Expands keys of one length, one of those of AES and [`KEYS`] at most, each in its place.
    pub(crate) fn expand_each<S>(
        path: Path,
        keys: &[&[u8]],
        to: &mut [S],
        of: impl Fn(&mut S) -> &mut Expanded,
    ) {
        #[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
        if let Some(token) = Token::of(path) {
            let rounds = token.expand(keys, to, &of);
            for to in &mut to[..keys.len()] {
                of(to).complete(token, rounds);
            }
            return;
        }
        debug_assert_eq!(path.name(), "model", "every other path has its own expansion");
        for (key, to) in keys.iter().zip(to) {
            of(to).expand_slowly(key);
        }
    }

    /// Expands a key for the model.
    fn expand_slowly(&mut self, key: &[u8]) {
        self.rounds = aes::expand(key, &mut self.record[..ROUND_KEYS_MAX]);
        self.hash_key = aes::encrypt(self.round_keys(), 0);
        self.powers.zeroize();
        self.folded.zeroize();
        self.is_fast = false;
    }

    /// Adds to round keys and powers what else is made of them.
    #[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
    fn complete(&mut self, token: Token, rounds: usize) {
        self.rounds = rounds;
        self.hash_key = expand::over_x(self.powers[POWERS - 1]).swap_bytes();
        if x86_64::folds() {
            expand::fold(token.into(), self);
            let ([.., h2, h], [.., folded2, folded]) = (self.powers, self.folded);
            self.record[rounds + 1..][..4].copy_from_slice(&[h, h2, folded, folded2]);
        }
        self.is_fast = true;
    }

    /// Where the first round key goes.
    #[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
    pub(crate) fn place(&mut self) -> *mut u8 {
        let expanded = core::ptr::from_mut(self).cast::<u8>();
        expanded.wrapping_add(core::mem::offset_of!(Expanded, record))
    }
}

// The last power begins a line, the first round keys fill it, and the longest record ends with one.
#[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
const _: () = {
    use core::mem::offset_of;
    assert!((offset_of!(Expanded, record) - 16).is_multiple_of(64));
    assert!(offset_of!(Expanded, rounds).is_multiple_of(64));
};

/// Round keys alone, for a key that nothing is hashed under. The longest key has all of them.
#[derive(Default, Zeroize)]
pub(crate) struct RoundKeys([u128; ROUND_KEYS_MAX]);

impl RoundKeys {
    /// Expands a key over the present one and gives those in use.
    pub(crate) fn expand(&mut self, path: Path, key: &[u8]) -> &[u128] {
        let Self(all) = self;
        #[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
        if let Some(token) = Token::of(path) {
            let rounds = token.round_keys(key, all);
            return &all[..=rounds];
        }
        debug_assert_eq!(path.name(), "model", "every other path has its own expansion");
        let rounds = aes::expand(key, all);
        &all[..=rounds]
    }
}

#[cfg(test)]
mod tests {
    use core::mem::MaybeUninit;

    use super::*;
    use sealift_core::Algorithm;

    #[test]
    fn debug_shows_no_key_byte() {
        let schedule = Schedule::new(Path::Model, &Key::Aes256([0xab; 32]));
        assert_eq!(format!("{schedule:?}"), "Schedule(14 rounds, secret)");
    }

    #[test]
    fn a_raw_key_of_another_length_is_refused() {
        for bytes in [0, 15, 17, 31, 33] {
            let error = Schedule::from_raw(Path::Model, &vec![1; bytes]).unwrap_err();
            assert_eq!(error, KeyError::Length { algorithm: Algorithm::AesGcm, bytes });
        }
    }

    #[test]
    #[expect(unsafe_code, reason = "the memory is looked at after the drop")]
    fn a_dropped_schedule_leaves_zeros() {
        for path in Path::available() {
            let mut place = Box::new(MaybeUninit::new(Expanded::empty()));
            // SAFETY: just initialized.
            let expanded = unsafe { place.assume_init_mut() };
            Expanded::expand_each(path, &[&[7; 24]], &mut [expanded], |expanded| expanded);
            // SAFETY: still initialized.
            let before = unsafe { place.assume_init_ref() };
            assert!(before.record[12] != 0 && before.hash_key != 0);
            // SAFETY: initialized, and not dropped again.
            unsafe { place.assume_init_drop() };
            // SAFETY: wiping leaves integers, which need no drop and are valid whatever they are.
            let after = unsafe { place.assume_init_ref() };
            assert!(after.is_zero(), "{}", path.name());
        }
    }
}
