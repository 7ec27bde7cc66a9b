//! Key expansion word by word, for as many keys as words of them fill a register.
//!
//! Word j of all keys stands in one register: SubWord is one AESENCLAST, whose round key is the round
//! constant and whose ShiftRows the byte shuffle before it undoes, and the sums of words are plain.
#![allow(unsafe_code)]

use super::{Expander, Places};
use crate::{
    schedule::KEYS,
    x86_64::{cpu::HaveAesNi, isa::Isa},
};

/// The same word of many keys.
type Words<W, const N: usize> = [<W as Isa>::Register; N];

/// Puts the round keys of so many raw keys down, and of a few more, each at its place.
///
/// # Safety
/// Each key is readable for 4 * (rounds - 6) bytes, and its place is writable for as many blocks as there are round keys.
#[inline(always)]
pub(super) unsafe fn expand<W: Expander>(
    w: W,
    rounds: usize,
    keys: &[*const u8; KEYS],
    count: usize,
    to: impl Places,
) {
    for first in (0..count.min(KEYS)).step_by(4 * W::LANES) {
        let some = Some { w, keys, to, first };
        match rounds {
            // SAFETY: the caller promises keys of 4 * (10 - 6) bytes: 16.
            10 => unsafe { some.expand_128() },
            // SAFETY: the caller promises keys of 4 * (12 - 6) bytes: 24.
            12 => unsafe { some.expand_192() },
            // SAFETY: the caller promises keys of 4 * (14 - 6) bytes: 32.
            _ => unsafe { some.expand_256() },
        }
    }
}

/// Some of the keys.
struct Some<'a, W, P> {
    w: W,
    keys: &'a [*const u8; KEYS],
    to: P,
    first: usize,
}

impl<W: Expander, P: Places> Some<'_, W, P> {
    /// # Safety
    /// Keys are readable for 16 bytes, and places have room.
    #[inline(always)]
    unsafe fn expand_128(&self) {
        // SAFETY: the caller promises 16 bytes of each key, from the first on.
        let mut words = unsafe { self.copy(0, 0) };
        for round in 1..=10 {
            words = self.four(words, self.sub_rot(words[3], round));
            // SAFETY: the caller promises room for the round key.
            unsafe { self.put(round, words) };
        }
    }

    /// # Safety
    /// Keys are readable for 24 bytes, and places have room.
    #[inline(always)]
    unsafe fn expand_192(&self) {
        // SAFETY: the caller promises 24 bytes of each key, of which these are the first 16.
        let mut words = unsafe { self.copy(0, 0) };
        // SAFETY: the caller promises 24 bytes of each key, of which these are the last 16.
        let [_, _, mut w4, mut w5] = unsafe { self.load(8) };
        // Six words a time, and four a round key: two times give three.
        for twice in 0..4 {
            let (old_w4, old_w5) = (w4, w5);
            words = self.four(words, self.sub_rot(w5, 2 * twice + 1));
            w4 = self.w.xor(w4, words[3]);
            w5 = self.w.xor(w5, w4);
            let [w0, w1, w2, w3] = words;
            // SAFETY: the caller promises room for the round key.
            unsafe { self.put(3 * twice + 1, [old_w4, old_w5, w0, w1]) };
            // SAFETY: the caller promises room for the round key.
            unsafe { self.put(3 * twice + 2, [w2, w3, w4, w5]) };
            words = self.four(words, self.sub_rot(w5, 2 * twice + 2));
            w4 = self.w.xor(w4, words[3]);
            w5 = self.w.xor(w5, w4);
            // SAFETY: the caller promises room for the round key.
            unsafe { self.put(3 * twice + 3, words) };
        }
    }

    /// # Safety
    /// Keys are readable for 32 bytes, and places have room.
    #[inline(always)]
    unsafe fn expand_256(&self) {
        // SAFETY: the caller promises 32 bytes of each key, of which these are the first 16.
        let mut lower = unsafe { self.copy(0, 0) };
        // SAFETY: the caller promises 32 bytes of each key, of which these are the last 16.
        let mut upper = unsafe { self.copy(16, 1) };
        for twice in 1..=7 {
            lower = self.four(lower, self.sub_rot(upper[3], twice));
            // SAFETY: the caller promises room for the round key.
            unsafe { self.put(2 * twice, lower) };
            if twice < 7 {
                upper = self.four(upper, self.sub(lower[3]));
                // SAFETY: the caller promises room for the round key.
                unsafe { self.put(2 * twice + 1, upper) };
            }
        }
    }

    /// Reads four words, which are a round key.
    ///
    /// # Safety
    /// Keys are readable for 16 bytes from the offset, and places have room.
    #[inline(always)]
    unsafe fn copy(&self, offset: usize, round: usize) -> Words<W, 4> {
        // SAFETY: the caller promises 16 bytes of each key from the offset.
        let words = unsafe { self.load(offset) };
        // SAFETY: the caller promises room for the round key.
        unsafe { self.put(round, words) };
        words
    }

    /// Reads four words.
    ///
    /// # Safety
    /// Keys are readable for 16 bytes from the offset.
    #[inline(always)]
    unsafe fn load(&self, offset: usize) -> Words<W, 4> {
        let mut rows = [self.w.broadcast(&0); 4];
        for (i, row) in rows.iter_mut().enumerate() {
            let at = |lane: usize| self.keys[self.first + 4 * lane + i].wrapping_add(offset);
            // SAFETY: the caller promises 16 bytes of each key from the offset, those of the lanes among them.
            *row = unsafe { self.w.load_lanes(at) };
        }
        columns(self.w, rows)
    }

    /// Puts a round key down.
    ///
    /// # Safety
    /// There is room for it at each place.
    #[inline(always)]
    unsafe fn put(&self, round: usize, words: Words<W, 4>) {
        let narrow: HaveAesNi = self.w.into();
        for (i, row) in columns(self.w, words).into_iter().enumerate() {
            for (lane, block) in self.w.lanes(row).into_iter().enumerate().take(W::LANES) {
                let to = self.to.at(self.first + 4 * lane + i).wrapping_add(16 * round);
                // SAFETY: the caller promises room.
                unsafe { narrow.store(to, block) };
            }
        }
    }

    /// Four words: each is the sum of the one before and its old one, the first that of `mixed`.
    #[inline(always)]
    fn four(&self, [w0, w1, w2, w3]: Words<W, 4>, mixed: W::Register) -> Words<W, 4> {
        // Sums that wait for `mixed` no longer than they must: each step waits for the one before.
        let w01 = self.w.xor(w0, w1);
        let w23 = self.w.xor(w2, w3);
        let new_w1 = self.w.xor(w01, mixed);
        [self.w.xor(w0, mixed), new_w1, self.w.xor(w2, new_w1), self.w.xor(w23, new_w1)]
    }

    /// RotWord, SubWord and the round constant.
    #[inline(always)]
    fn sub_rot(&self, word: W::Register, round: usize) -> W::Register {
        let order = const { &bytes([1, 14, 11, 4, 5, 2, 15, 8, 9, 6, 3, 12, 13, 10, 7, 0]) };
        let shuffled = self.w.shuffle(word, self.w.broadcast(order));
        self.w.aes_last(shuffled, self.w.broadcast(&ROUND_CONSTANTS[round % 11]))
    }

    /// SubWord.
    #[inline(always)]
    fn sub(&self, word: W::Register) -> W::Register {
        let order = const { &bytes([0, 13, 10, 7, 4, 1, 14, 11, 8, 5, 2, 15, 12, 9, 6, 3]) };
        let shuffled = self.w.shuffle(word, self.w.broadcast(order));
        self.w.aes_last(shuffled, self.w.broadcast(&0))
    }
}

/// Rows of words to words of rows, in each lane, and back: it is its own inverse.
#[inline(always)]
fn columns<W: Expander>(w: W, [a, b, c, d]: Words<W, 4>) -> Words<W, 4> {
    let (low_ab, low_cd) = (w.low_words(a, b), w.low_words(c, d));
    let (high_ab, high_cd) = (w.high_words(a, b), w.high_words(c, d));
    [
        w.low_halves(low_ab, low_cd),
        w.high_halves(low_ab, low_cd),
        w.low_halves(high_ab, high_cd),
        w.high_halves(high_ab, high_cd),
    ]
}

const fn bytes(order: [u8; 16]) -> u128 {
    u128::from_le_bytes(order)
}

/// Of FIPS 197, by the step that uses them, from 1: in every word.
const ROUND_CONSTANTS: [u128; 11] = {
    let constants: [u128; 11] = [0, 1, 2, 4, 8, 16, 32, 64, 128, 0x1b, 0x36];
    let mut words = [0; 11];
    let mut step = 0;
    while step < 11 {
        words[step] = constants[step] * 0x0000_0001_0000_0001_0000_0001_0000_0001;
        step += 1;
    }
    words
};
