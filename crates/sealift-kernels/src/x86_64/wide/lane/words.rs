//! Steps of sixteen key expansions, word by word.
//!
//! Word j of all keys stands in one register: SubWord is one VAESENCLAST, whose round key is the round
//! constant and whose ShiftRows the byte shuffle before it undoes, and the sums of words are plain.
#![allow(unsafe_code)]

use core::arch::x86_64::*;

use super::expand::{BLOCKS, Schedules};
use crate::x86_64::wide::zmm::{Z, load, store, wide_fn, xor, xor3};

/// The last words of schedules that are being expanded: of up to eight words of the sixteen keys.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(in crate::x86_64::wide) struct Words(pub(super) [Z; 8]);

impl Words {
    wide_fn! {
        /// None.
        #[inline]
        pub(super) fn zeros() -> Words {
            Words([_mm512_setzero_si512(); 8])
        }
    }

    wide_fn! {
        /// Those that are of use in so many rounds.
        ///
        /// # Safety
        /// They are readable and aligned.
        #[inline]
        pub(super) unsafe fn load<const ROUNDS: usize>(from: *const Words) -> Words {
            let mut words = Words::zeros();
            for (i, word) in words.0.iter_mut().enumerate().take(ROUNDS - 6) {
                // SAFETY: the caller promises eight words.
                *word = unsafe { load(from.cast::<Z>().wrapping_add(i).cast()) };
            }
            words
        }
    }

    wide_fn! {
        /// Puts words `FIRST` to `END` down.
        ///
        /// # Safety
        /// The place is writable and aligned.
        #[inline]
        pub(super) unsafe fn store<const FIRST: usize, const END: usize>(&self, to: *mut Words) {
            for (i, word) in self.0.iter().enumerate() {
                if i >= FIRST && i < END {
                    // SAFETY: the caller promises a place for eight words.
                    unsafe { store(to.cast::<Z>().wrapping_add(i).cast(), *word) };
                }
            }
        }
    }
}

wide_fn! {
    /// # Safety
    /// `to` is writable for sixteen schedules of 10 rounds, of which `round` is one.
    #[inline]
    pub(super) unsafe fn step_128(round: usize, to: *mut Schedules, Words(words): &mut Words) {
        let [w0, w1, w2, w3, ..] = *words;
        let new = four([w0, w1, w2, w3], sub_rot(w3, round));
        words[..4].copy_from_slice(&new);
        let rows = rows_of(new);
        // SAFETY: the caller promises a place for schedules of 10 rounds, of which this is one.
        unsafe { put_rows(to, round, rows) };
    }
}

wide_fn! {
    /// Six words a time. The first piece of a part starts with two words of the time before, so that two
    /// pieces give three round keys.
    ///
    /// # Safety
    /// `to` is writable for sixteen schedules of 12 rounds, and `round` is 1 to 8.
    #[inline]
    pub(super) unsafe fn step_192<const PIECE: usize>(
        round: usize,
        to: *mut Schedules,
        Words(words): &mut Words,
    ) {
        let [w0, w1, w2, w3, old_w4, old_w5, ..] = *words;
        let new = four([w0, w1, w2, w3], sub_rot(old_w5, round));
        let [w0, w1, w2, w3] = new;
        let w4 = xor(old_w4, w3);
        let w5 = xor3(old_w5, old_w4, w3);
        words[..6].copy_from_slice(&[w0, w1, w2, w3, w4, w5]);
        let first = 3 * (round - 1) / 2 + 1;
        if PIECE == 0 {
            let rows = rows_of([old_w4, old_w5, w0, w1]);
            // SAFETY: the caller promises a place; the last of these is round key 10.
            unsafe { put_rows(to, first, rows) };
            let rows = rows_of([w2, w3, w4, w5]);
            // SAFETY: as above; the last of these is round key 11.
            unsafe { put_rows(to, first + 1, rows) };
        } else {
            let rows = rows_of(new);
            // SAFETY: as above; the last of these is round key 12.
            unsafe { put_rows(to, first + 1, rows) };
        }
    }
}

wide_fn! {
    /// The upper and the lower four words in turn.
    ///
    /// # Safety
    /// `to` is writable for sixteen schedules of 14 rounds, and `round` is 1 to 13.
    #[inline]
    pub(super) unsafe fn step_256<const PIECE: usize>(
        round: usize,
        to: *mut Schedules,
        Words(words): &mut Words,
    ) {
        let [w0, w1, w2, w3, v0, v1, v2, v3] = *words;
        let new = if PIECE.is_multiple_of(2) {
            let new = four([w0, w1, w2, w3], sub_rot(v3, round.div_ceil(2)));
            words[..4].copy_from_slice(&new);
            new
        } else {
            let new = four([v0, v1, v2, v3], sub(w3));
            words[4..].copy_from_slice(&new);
            new
        };
        let rows = rows_of(new);
        // SAFETY: the caller promises it; the last one is round key 14.
        unsafe { put_rows(to, round + 1, rows) };
    }
}

wide_fn! {
    /// Four words: each is the sum of the one before and its old one, the first that of `mixed`.
    #[inline]
    fn four([w0, w1, w2, w3]: [Z; 4], mixed: Z) -> [Z; 4] {
        // Sums that wait for `mixed` no longer than they must: each step waits for the one before.
        let new_w1 = xor3(w1, w0, mixed);
        [xor(w0, mixed), new_w1, xor(w2, new_w1), xor3(w3, w2, new_w1)]
    }
}

wide_fn! {
    /// RotWord, SubWord and the round constant.
    #[inline]
    fn sub_rot(word: Z, round: usize) -> Z {
        let order = _mm_setr_epi8(1, 14, 11, 4, 5, 2, 15, 8, 9, 6, 3, 12, 13, 10, 7, 0);
        let constant = _mm512_set1_epi32(ROUND_CONSTANTS[round % ROUND_CONSTANTS.len()]);
        _mm512_aesenclast_epi128(_mm512_shuffle_epi8(word, _mm512_broadcast_i32x4(order)), constant)
    }
}

wide_fn! {
    /// SubWord.
    #[inline]
    fn sub(word: Z) -> Z {
        let order = _mm_setr_epi8(0, 13, 10, 7, 4, 1, 14, 11, 8, 5, 2, 15, 12, 9, 6, 3);
        let shuffled = _mm512_shuffle_epi8(word, _mm512_broadcast_i32x4(order));
        _mm512_aesenclast_epi128(shuffled, _mm512_setzero_si512())
    }
}

wide_fn! {
    /// Rows of four lanes to words of sixteen keys.
    #[inline]
    pub(super) fn words_of(rows: [Z; 4]) -> [Z; 4] {
        let low_01 = _mm512_unpacklo_epi32(rows[0], rows[1]);
        let low_23 = _mm512_unpacklo_epi32(rows[2], rows[3]);
        let high_01 = _mm512_unpackhi_epi32(rows[0], rows[1]);
        let high_23 = _mm512_unpackhi_epi32(rows[2], rows[3]);
        [
            _mm512_unpacklo_epi64(low_01, low_23),
            _mm512_unpackhi_epi64(low_01, low_23),
            _mm512_unpacklo_epi64(high_01, high_23),
            _mm512_unpackhi_epi64(high_01, high_23),
        ]
    }
}

wide_fn! {
    /// And back: it is its own inverse.
    #[inline]
    fn rows_of(words: [Z; 4]) -> [Z; 4] {
        words_of(words)
    }
}

wide_fn! {
    /// # Safety
    /// The schedules are writable.
    #[inline]
    pub(super) unsafe fn put_rows(to: *mut Schedules, round: usize, [a, b, c, d]: [Z; 4]) {
        let row = |group: usize| to.cast::<Z>().wrapping_add(BLOCKS * group + round).cast();
        // SAFETY: the caller promises a place for sixteen schedules and a round within them.
        unsafe { store(row(0), a) };
        // SAFETY: the place has schedules of the second group, and the round is within them, too.
        unsafe { store(row(1), b) };
        // SAFETY: the place has schedules of the third group, and the round is within them, too.
        unsafe { store(row(2), c) };
        // SAFETY: the place has schedules of the fourth group, and the round is within them, too.
        unsafe { store(row(3), d) };
    }
}

/// Of FIPS 197, by the step that uses them, from 1.
const ROUND_CONSTANTS: [i32; 16] = [0, 1, 2, 4, 8, 16, 32, 64, 128, 0x1b, 0x36, 0, 0, 0, 0, 0];
