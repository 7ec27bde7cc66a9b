//! Raw keys, sixteen at a time.

use core::{
    arch::x86_64::*,
    mem::{MaybeUninit, offset_of},
    ptr,
};

use super::super::{
    item::Item,
    lane::expand::{self, GROUPS, KEYS, Schedules, Words},
    zmm::{self, Z, wide_fn},
};
use super::pieces::REACH;
use crate::{model::aes::ROUND_KEYS_MAX, schedule::Expanded};

/// Room for expanded keys.
pub(super) struct Records {
    schedules: MaybeUninit<Schedules>,
    words: MaybeUninit<Words>,
    records: [Record; KEYS],
}

/// The part of an expanded key that messages read, laid out as in an [`Expanded`].
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Record {
    /// H^16 down to H^1, folded.
    folded: [Z; 4],
    /// The same as they are.
    powers: [Z; 4],
    round_keys: [__m128i; ROUND_KEYS_MAX],
}

const _: () = {
    assert!(offset_of!(Record, powers) - offset_of!(Record, folded) == Expanded::FOLDED_BEFORE);
    assert!(offset_of!(Record, round_keys) - offset_of!(Record, powers) == Expanded::POWERS_BEFORE);
    assert!(offset_of!(Record, powers) + REACH <= size_of::<Record>());
    assert!(REACH <= Expanded::REACH);
};

impl Record {
    wide_fn! {
        #[inline]
        fn zeros() -> Record {
            let (row, key) = (_mm512_setzero_si512(), _mm_setzero_si128());
            Record { folded: [row; 4], powers: [row; 4], round_keys: [key; ROUND_KEYS_MAX] }
        }
    }
}

impl Records {
    wide_fn! {
        /// Expands the keys of up to sixteen messages, and gives the messages with these.
        ///
        /// # Safety
        /// They are readable for `4 * (rounds - 6)` bytes.
        #[inline]
        pub(super) unsafe fn expand(&mut self, rounds: usize, items: &[Item]) -> [Item; KEYS] {
            match rounds {
                // SAFETY: the caller keeps the same promise.
                10 => unsafe { self.expand_each::<10>(items) },
                // SAFETY: the caller promises keys that are readable for 4 * (12 - 6) bytes: 24.
                12 => unsafe { self.expand_each::<12>(items) },
                // SAFETY: the caller promises keys that are readable for 4 * (14 - 6) bytes: 32.
                _ => unsafe { self.expand_each::<14>(items) },
            }
            let mut expanded = [Item::NOBODYS; KEYS];
            for ((expanded, item), record) in expanded.iter_mut().zip(items).zip(&self.records) {
                let record = ptr::from_ref(record).cast::<u8>();
                *expanded = Item { key: record.wrapping_add(offset_of!(Record, round_keys)), ..*item };
            }
            expanded
        }
    }

    wide_fn! {
        /// # Safety
        /// As for [`expand`](Self::expand).
        // Not a part of what calls it, so that its stack can be wiped.
        #[inline(never)]
        unsafe fn expand_each<const ROUNDS: usize>(&mut self, items: &[Item]) {
            let Some(first) = items.first() else { return };
            let mut keys = [first.key; KEYS];
            for (key, item) in keys.iter_mut().zip(items) {
                *key = item.key;
            }
            let (schedules, words) = (self.schedules.as_mut_ptr(), self.words.as_mut_ptr());
            // SAFETY: the caller promises the keys; the places are such and aligned.
            unsafe { expand::expand::<ROUNDS>(&keys, schedules, words) };
            let groups = self.records.as_chunks_mut::<{ KEYS / GROUPS }>().0;
            // SAFETY: zeros are schedules, too, and these were expanded since.
            let schedules = unsafe { self.schedules.assume_init_ref() };
            for (lanes, records) in schedules.0.iter().zip(groups).take(items.len().div_ceil(KEYS / GROUPS)) {
                let [a, b, c, d] = records;
                for (round, key) in lanes.iter().enumerate().take(ROUNDS + 1) {
                    a.round_keys[round] = _mm512_castsi512_si128(*key);
                    b.round_keys[round] = _mm512_extracti32x4_epi32::<1>(*key);
                    c.round_keys[round] = _mm512_extracti32x4_epi32::<2>(*key);
                    d.round_keys[round] = _mm512_extracti32x4_epi32::<3>(*key);
                }
                set_powers(expand::hash_keys::<ROUNDS>(lanes), records);
            }
        }
    }

    wide_fn! {
        /// Forgets the keys of a call, given the number of its messages.
        #[inline(never)]
        pub(super) fn wipe(&mut self, messages: usize) {
            self.schedules = MaybeUninit::zeroed();
            self.words = MaybeUninit::zeroed();
            // Keys are expanded in groups: behind the last message's are others.
            let expanded = messages.next_multiple_of(KEYS / GROUPS);
            self.records.iter_mut().take(expanded).for_each(|record| *record = Record::zeros());
        }
    }
}

wide_fn! {
    /// Works out the powers of four hash keys, which are in lanes.
    #[inline]
    fn set_powers(h: Z, to: &mut [Record; KEYS / GROUPS]) {
        let folded = zmm::fold(h);
        let h2 = times(h, h, folded);
        let h3 = times(h2, h, folded);
        let h4 = times(h3, h, folded);
        for (row, record) in zmm::transpose([h4, h3, h2, h]).into_iter().zip(to) {
            set_rows(row, record);
        }
    }
}

wide_fn! {
    /// The powers of a hash key, from the fourth to the first.
    #[inline]
    fn set_rows(row: Z, to: &mut Record) {
        let folded = zmm::fold(row);
        let (h, f) =
            (_mm512_shuffle_i64x2::<0x00>(row, row), _mm512_shuffle_i64x2::<0x00>(folded, folded));
        let second = times(row, h, f);
        let second_folded = zmm::fold(second);
        let h = _mm512_shuffle_i64x2::<0x00>(second, second);
        let f = _mm512_shuffle_i64x2::<0x00>(second_folded, second_folded);
        let (third, fourth) = (times(row, h, f), times(second, h, f));
        to.powers = [fourth, third, second, row];
        to.folded = [zmm::fold(fourth), zmm::fold(third), second_folded, folded];
    }
}

wide_fn! {
    /// The product of two in each lane, of which the second is given folded too.
    #[inline]
    fn times(a: Z, b: Z, folded: Z) -> Z {
        let (low, high) = zmm::multiply(a, b, folded);
        zmm::xor(high, zmm::fold(low))
    }
}
