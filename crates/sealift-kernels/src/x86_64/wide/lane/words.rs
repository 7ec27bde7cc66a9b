//! Steps of sixteen key expansions, word by word.
//!
//! Word j of all keys stands in one register: SubWord is one VAESENCLAST, whose round key is the round
//! constant and whose ShiftRows the byte shuffle before it undoes, and the sums of words are plain.
#![allow(unsafe_code)]

use core::arch::x86_64::*;

use super::expand::Schedules;
use crate::{
    schedule::RECORD_BLOCKS,
    x86_64::wide::zmm::{Z, load, store, wide_fn, xor},
};

/// The last words of schedules that are being expanded: of up to eight words of the sixteen keys.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(in crate::x86_64::wide) struct Words([Z; 8]);

wide_fn! {
    #[inline]
    pub(super) unsafe fn step_128(round: usize, to: *mut Schedules, words: *mut Words) {
        // SAFETY: the caller promises readable words.
        let [w0, w1, w2, w3] = unsafe { get_words::<0>(words) };
        let w0 = xor(w0, sub_rot(w3, round));
        let w1 = xor(w1, w0);
        let w2 = xor(w2, w1);
        let w = [w0, w1, w2, xor(w3, w2)];
        // SAFETY: the caller promises a place for eight words.
        unsafe { put_words::<0>(words, w) };
        let rows = rows_of(w);
        // SAFETY: the caller promises a place for sixteen schedules, and there are 10 rounds.
        unsafe { put_rows(to, round, rows) };
    }
}

wide_fn! {
    /// Six words a time. The first piece of a part starts with two words of the time before, so that two
    /// pieces give three round keys.
    #[inline]
    pub(super) unsafe fn step_192<const PIECE: usize>(round: usize, to: *mut Schedules, words: *mut Words) {
        // SAFETY: the caller promises readable words.
        let [w0, w1, w2, w3] = unsafe { get_words::<0>(words) };
        // SAFETY: as above.
        let [_, _, old_w4, old_w5] = unsafe { get_words::<4>(words) };
        let w0 = xor(w0, sub_rot(old_w5, round));
        let w1 = xor(w1, w0);
        let w2 = xor(w2, w1);
        let w3 = xor(w3, w2);
        let w4 = xor(old_w4, w3);
        let w5 = xor(old_w5, w4);
        // SAFETY: the caller promises a place for eight words.
        unsafe { put_words::<0>(words, [w0, w1, w2, w3]) };
        // SAFETY: as above.
        unsafe { put_words::<4>(words, [w2, w3, w4, w5]) };
        let first = 3 * (round - 1) / 2 + 1;
        if PIECE == 0 {
            let rows = rows_of([old_w4, old_w5, w0, w1]);
            // SAFETY: the caller promises a place for sixteen schedules; the last part's is round key 11.
            unsafe { put_rows(to, first, rows) };
            let rows = rows_of([w2, w3, w4, w5]);
            // SAFETY: as above.
            unsafe { put_rows(to, first + 1, rows) };
        } else {
            let rows = rows_of([w0, w1, w2, w3]);
            // SAFETY: as above; the last part's is round key 12.
            unsafe { put_rows(to, first + 1, rows) };
        }
    }
}

wide_fn! {
    /// The upper and the lower four words in turn.
    #[inline]
    pub(super) unsafe fn step_256<const PIECE: usize>(round: usize, to: *mut Schedules, words: *mut Words) {
        // SAFETY: the caller promises readable words.
        let w = unsafe { get_words::<0>(words) };
        // SAFETY: as above.
        let v = unsafe { get_words::<4>(words) };
        let even = PIECE.is_multiple_of(2);
        let ([w0, w1, w2, w3], mixed) =
            if even { (w, sub_rot(v[3], round.div_ceil(2))) } else { (v, sub(w[3])) };
        let w0 = xor(w0, mixed);
        let w1 = xor(w1, w0);
        let w2 = xor(w2, w1);
        let new = [w0, w1, w2, xor(w3, w2)];
        if even {
            // SAFETY: the caller promises a place for eight words.
            unsafe { put_words::<0>(words, new) };
        } else {
            // SAFETY: as above.
            unsafe { put_words::<4>(words, new) };
        }
        let rows = rows_of(new);
        // SAFETY: the caller promises a place for sixteen schedules; the last step's is round key 14.
        unsafe { put_rows(to, round + 1, rows) };
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
    #[inline]
    pub(super) unsafe fn put_rows(to: *mut Schedules, round: usize, [a, b, c, d]: [Z; 4]) {
        let row = |group: usize| to.cast::<Z>().wrapping_add(RECORD_BLOCKS * group + round).cast();
        // SAFETY: the caller promises a place for sixteen schedules and a round within them.
        unsafe { store(row(0), a) };
        // SAFETY: as above.
        unsafe { store(row(1), b) };
        // SAFETY: as above.
        unsafe { store(row(2), c) };
        // SAFETY: as above.
        unsafe { store(row(3), d) };
    }
}

wide_fn! {
    #[inline]
    pub(super) unsafe fn put_words<const FIRST: usize>(to: *mut Words, [a, b, c, d]: [Z; 4]) {
        let word = |i: usize| to.cast::<Z>().wrapping_add(FIRST + i).cast();
        // SAFETY: the caller promises a place for eight words.
        unsafe { store(word(0), a) };
        // SAFETY: as above.
        unsafe { store(word(1), b) };
        // SAFETY: as above.
        unsafe { store(word(2), c) };
        // SAFETY: as above.
        unsafe { store(word(3), d) };
    }
}

wide_fn! {
    #[inline]
    unsafe fn get_words<const FIRST: usize>(from: *mut Words) -> [Z; 4] {
        let word = |i: usize| from.cast::<Z>().wrapping_add(FIRST + i).cast::<u8>().cast_const();
        // SAFETY: the caller promises eight readable words.
        let a = unsafe { load(word(0)) };
        // SAFETY: as above.
        let b = unsafe { load(word(1)) };
        // SAFETY: as above.
        let c = unsafe { load(word(2)) };
        // SAFETY: as above.
        let d = unsafe { load(word(3)) };
        [a, b, c, d]
    }
}

/// Of FIPS 197, by the step that uses them, from 1.
const ROUND_CONSTANTS: [i32; 16] = [0, 1, 2, 4, 8, 16, 32, 64, 128, 0x1b, 0x36, 0, 0, 0, 0, 0];
