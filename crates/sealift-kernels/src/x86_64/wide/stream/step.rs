//! Eight registers of text: AES of these, woven with GHASH of the eight before.
#![allow(unsafe_code)]

use core::{arch::x86_64::*, cell::Cell};

use super::{
    super::zmm::{self, Z, wide_fn},
    run::low_bits,
    weave::{finish, load, multiply, round},
};

/// Up to four registers of one message.
#[derive(Clone, Copy)]
pub(super) struct Quad<'s> {
    /// The round keys, each in all lanes.
    pub(super) keys: &'s [Cell<Z>; KEYS],
    /// The message.
    pub(super) slot: &'s Slot,
    /// Readable for `bytes`.
    pub(super) input: *const u8,
    /// Writable for `bytes`.
    pub(super) output: *mut u8,
    /// At most [`QUAD_BYTES`].
    pub(super) bytes: usize,
    /// The number of its first block in the message; when it is full, a multiple of 16.
    pub(super) first: u32,
    /// What the first two registers are multiplied with in the hash and what the others are, one
    /// register behind the other; the same folded is [`FOLDED`] bytes behind.
    pub(super) weights: [*const u8; 2],
}

/// A message that is being worked.
#[repr(C, align(64))]
pub(super) struct Slot {
    /// Its hash so far, in lanes.
    pub(super) hash: Cell<Z>,
    /// The nonce and a counter of zero, after the first round key, in all lanes.
    pub(super) base: Cell<Z>,
}

/// Round keys of the longest key.
pub(super) const KEYS: usize = 15;
/// Bytes of a full quad.
pub(super) const QUAD_BYTES: usize = 256;
/// Bytes from weights to the same folded, as in an `Expanded` from `powers` to `folded`.
pub(super) const FOLDED: usize = 256;

/// The ciphertext of a quad, between being made or read and being hashed.
pub(super) type Text = [Cell<Z>; 4];

/// The last round of a quad's registers, and its text.
macro_rules! last {
    ($seal:ident, $full:ident, $quad:expr, $key:expr, $text:expr, $(($state:ident $i:literal))+) => {{
        $(
            let bytes = $quad.bytes.saturating_sub(64 * $i).min(64);
            let (from, to) = ($quad.input.wrapping_add(64 * $i), $quad.output.wrapping_add(64 * $i));
            // SAFETY: the caller of the step promises the quads: as many bytes are left of them.
            $text[$i].set(unsafe { finish::<$seal, $full>($state, $key, from, to, bytes) });
        )+
    }};
}

wide_fn! {
    /// Seals two quads, or opens them, and hashes two earlier ones. With `FULL` the former are
    /// full.
    ///
    /// # Safety
    /// The quads' addresses are what they say.
    // IMPLEMENTATION NOTE: a quad is hashed half a step after it was encrypted at the earliest. If
    // the hash began with what the last step made, it would wait for the end of that.
    #[inline(never)]
    pub(super) unsafe fn step<const ROUNDS: usize, const SEAL: bool, const FULL: bool>(
        now: [&Quad<'_>; 2],
        made: &[Text; 2],
        hashed: [&Quad<'_>; 2],
        texts: [&Text; 2],
    ) {
        let keys = (now[0].keys, now[1].keys);
        let [mut a, mut b, mut c, mut d] = counters::<FULL>(now[0]);
        let [mut e, mut f, mut g, mut h] = counters::<FULL>(now[1]);
        let zero = _mm512_setzero_si512();
        let (mut low, mut high) = (zero, zero);
        let text = |i: usize| zmm::reverse(texts[0][i].get());
        let [w, v] = hashed[0].weights;
        round!(keys, 1, (a b c d e f g h), text(1), w.wrapping_add(64), low, high);
        round!(keys, 2, (a b c d e f g h), text(2), v, low, high);
        round!(keys, 3, (a b c d e f g h), text(3), v.wrapping_add(64), low, high);
        let first = zmm::xor(text(0), hashed[0].slot.hash.get());
        round!(keys, 4, (a b c d e f g h), first, w, low, high);
        let (mut less, mut more) = (zero, zero);
        let text = |i: usize| zmm::reverse(texts[1][i].get());
        let [w, v] = hashed[1].weights;
        round!(keys, 5, (a b c d e f g h), text(1), w.wrapping_add(64), less, more);
        hashed[0].slot.hash.set(zmm::xor(high, zmm::fold(low)));
        round!(keys, 6, (a b c d e f g h), text(2), v, less, more);
        round!(keys, 7, (a b c d e f g h), text(3), v.wrapping_add(64), less, more);
        let first = zmm::xor(text(0), hashed[1].slot.hash.get());
        round!(keys, 8, (a b c d e f g h), first, w, less, more);
        round!(keys, 9, (a b c d e f g h));
        hashed[1].slot.hash.set(zmm::xor(more, zmm::fold(less)));
        if ROUNDS > 10 {
            round!(keys, 10, (a b c d e f g h));
            round!(keys, 11, (a b c d e f g h));
        }
        if ROUNDS > 12 {
            round!(keys, 12, (a b c d e f g h));
            round!(keys, 13, (a b c d e f g h));
        }
        let ends = (keys.0[ROUNDS].get(), keys.1[ROUNDS].get());
        last!(SEAL, FULL, now[0], ends.0, made[0], (a 0) (b 1) (c 2) (d 3));
        last!(SEAL, FULL, now[1], ends.1, made[1], (e 0) (f 1) (g 2) (h 3));
    }
}

wide_fn! {
    /// Hashes a quad.
    ///
    /// # Safety
    /// Its weights are what they say.
    #[inline]
    pub(super) unsafe fn absorb(quad: &Quad<'_>, text: &Text) {
        let [w, v] = quad.weights;
        let first = zmm::xor(zmm::reverse(text[0].get()), quad.slot.hash.get());
        let (second, third) = (zmm::reverse(text[1].get()), zmm::reverse(text[2].get()));
        let fourth = zmm::reverse(text[3].get());
        // SAFETY: the caller promises weights.
        let (p, q) = unsafe { multiply(first, w) };
        // SAFETY: as above.
        let (r, s) = unsafe { multiply(second, w.wrapping_add(64)) };
        // SAFETY: as above.
        let (t, u) = unsafe { multiply(third, v) };
        // SAFETY: as above.
        let (low, high) = unsafe { multiply(fourth, v.wrapping_add(64)) };
        let (low, high) = (zmm::xor3(low, p, zmm::xor(r, t)), zmm::xor3(high, q, zmm::xor(s, u)));
        quad.slot.hash.set(zmm::xor(high, zmm::fold(low)));
    }
}

wide_fn! {
    /// Reads the text of a quad.
    ///
    /// # Safety
    /// The quad's addresses are what they say.
    #[inline]
    pub(super) unsafe fn read(quad: &Quad<'_>, text: &Text) {
        let part = |i: usize| {
            let bytes = quad.bytes.saturating_sub(64 * i).min(64);
            // SAFETY: as many bytes of the quad from there are readable.
            unsafe { load::<false>(quad.input.wrapping_add(64 * i), bytes) }
        };
        text[0].set(part(0));
        text[1].set(part(1));
        text[2].set(part(2));
        text[3].set(part(3));
    }
}

wide_fn! {
    /// The counter blocks of a quad after the first round key.
    #[inline]
    fn counters<const FULL: bool>(quad: &Quad<'_>) -> [Z; 4] {
        let base = quad.slot.base.get();
        if FULL {
            // The counter of a message's first block is 2. Of 16 blocks 14 differ in the last four
            // bits only, and then the other bits are one more.
            let (now, next) = (quad.first.swap_bytes(), (quad.first + 16).swap_bytes());
            let counter = _mm512_maskz_set1_epi32(COUNTERS, now.cast_signed());
            let last = _mm512_mask_set1_epi32(counter, COUNTERS & 0xff00, next.cast_signed());
            return [
                zmm::xor3(base, counter, low_bits([2, 3, 4, 5])),
                zmm::xor3(base, counter, low_bits([6, 7, 8, 9])),
                zmm::xor3(base, counter, low_bits([10, 11, 12, 13])),
                zmm::xor3(base, last, low_bits([14, 15, 0, 1])),
            ];
        }
        let counter = _mm512_maskz_set1_epi32(COUNTERS, quad.first.cast_signed());
        let swapped = |low: Z| {
            let order = _mm512_set4_epi32(0x0c0d_0e0f, 0x0b0a_0908, 0x0706_0504, 0x0302_0100);
            zmm::xor(base, _mm512_shuffle_epi8(_mm512_add_epi32(counter, low), order))
        };
        let number = |first: i32| {
            _mm512_set_epi32(
                first + 3,
                0,
                0,
                0,
                first + 2,
                0,
                0,
                0,
                first + 1,
                0,
                0,
                0,
                first,
                0,
                0,
                0,
            )
        };
        [swapped(number(2)), swapped(number(6)), swapped(number(10)), swapped(number(14))]
    }
}

/// The dwords in which counters are.
pub(super) const COUNTERS: __mmask16 = 0x8888;
