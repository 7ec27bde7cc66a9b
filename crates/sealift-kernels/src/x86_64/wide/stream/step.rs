//! Eight registers of text: AES of these, woven with GHASH of the eight before.
#![allow(unsafe_code)]

use core::arch::x86_64::*;

use sealift_core::Op;

use super::super::{
    block::once,
    item::{Item, KeyForm},
    zmm::{self, Z, wide_fn},
};
use super::{
    flow::Call,
    keys::{Form, round_key},
    scratch::Slot,
    weave::{finish, load, multiply, round, round_keys},
};

/// Up to four registers of one message.
#[derive(Clone, Copy)]
pub(super) struct Quad<'s> {
    pub(super) item: &'s Item,
    /// Where in the message it begins, a multiple of 128.
    pub(super) at: usize,
    /// How many there are, at most [`QUAD_BYTES`].
    pub(super) bytes: usize,
    pub(super) hashed: Hashed<'s>,
}

/// What a quad's hash needs.
#[derive(Clone, Copy)]
pub(super) struct Hashed<'s> {
    /// The message.
    pub(super) slot: &'s Slot,
    /// What the registers are multiplied with, one behind the other; the same folded is [`FOLDED`] bytes
    /// behind.
    pub(super) weights: *const u8,
}

/// Bytes of a full quad.
pub(super) const QUAD_BYTES: usize = 256;
/// Bytes from weights to the same folded, as in an `Expanded` from `powers` to `folded`.
pub(super) const FOLDED: usize = 256;

/// The ciphertext of a quad.
pub(super) type Rows = [Z; 4];

/// A quad that was made or read, and is to be hashed.
pub(super) type Made<'s> = (Hashed<'s>, Rows);

impl Quad<'_> {
    /// Whether it has all registers, and its counters carry where those of a message's first quad do.
    #[inline(always)]
    fn is_full(&self) -> bool {
        self.bytes == QUAD_BYTES && self.at.is_multiple_of(QUAD_BYTES)
    }

    /// Where its text is.
    #[inline(always)]
    fn input(&self) -> *const u8 {
        self.item.input.wrapping_add(self.at)
    }

    /// Where its result goes.
    #[inline(always)]
    fn output(&self) -> *mut u8 {
        self.item.output.wrapping_add(self.at)
    }

    /// The number of its first block in the message, which is shorter than 2^32 blocks.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "messages are short enough")]
    fn first(&self) -> u32 {
        (self.at / 16) as u32
    }
}

/// The last round of a quad's registers: their ciphertext.
macro_rules! last {
    ($op:ident, $full:ident, $quad:expr, $key:expr, $(($state:ident $row:ident $i:literal))+) => {
        $(
            let bytes = $quad.bytes.saturating_sub(64 * $i).min(64);
            let (from, to) = ($quad.input().wrapping_add(64 * $i), $quad.output().wrapping_add(64 * $i));
            // SAFETY: the caller of the step promises the quads: as many bytes are left of them.
            let $row = unsafe { finish::<$op, $full>($state, $key, from, to, bytes) };
        )+
    };
}

wide_fn! {
    /// Works two quads, and hashes two of those before, of which the rows are given: the second of the
    /// step before the last one and the first of that. Returns the rows of the former.
    ///
    /// # Safety
    /// The quads' addresses are what they say; keys are of the form and of so many rounds.
    // IMPLEMENTATION NOTE: a quad is hashed half a step after it was encrypted at the earliest. If the
    // hash began with what the last step made, it would wait for the end of that, and delay what the
    // ports could do meanwhile.
    #[inline]
    pub(super) unsafe fn work<F: Form, const OP: u8>(
        call: &Call<'_>,
        now: [Quad<'_>; 2],
        hashed: [&Made<'_>; 2],
    ) -> [Rows; 2] {
        if OP == Op::Verify as u8 {
            for made in hashed {
                // SAFETY: the caller keeps the same promise.
                unsafe { absorb(made) };
            }
            if const { matches!(F::KEYS, KeyForm::Each) } {
                for quad in now.iter().filter(|quad| quad.at == 0) {
                    // SAFETY: as above.
                    unsafe { set_mask::<F>(call, quad) };
                }
            }
            // SAFETY: as above.
            return now.map(|quad| unsafe { read(&quad) });
        }
        let has_heads = const { matches!(F::KEYS, KeyForm::Each) };
        if !(now[0].is_full() & now[1].is_full()) {
            return match has_heads {
                // SAFETY: as above.
                true => unsafe { step::<F, OP, false, true>(call, &now, hashed) },
                // SAFETY: as above.
                false => unsafe { step::<F, OP, false, false>(call, &now, hashed) },
            };
        }
        if has_heads && (now[0].at == 0 || now[1].at == 0) {
            // SAFETY: as above.
            unsafe { step::<F, OP, true, true>(call, &now, hashed) }
        } else {
            // SAFETY: as above.
            unsafe { step::<F, OP, true, false>(call, &now, hashed) }
        }
    }
}

wide_fn! {
    /// Seals two quads, or opens them, and hashes two others, of which the rows are given. With `FULL`
    /// the former are full; with `HEADS` the first counters of messages that begin are encrypted too.
    /// Returns the rows of the former.
    ///
    /// # Safety
    /// The quads' addresses are what they say; keys are of the form and of so many rounds.
    #[inline]
    unsafe fn step<F: Form, const OP: u8, const FULL: bool, const HEADS: bool>(
        call: &Call<'_>,
        now: &[Quad<'_>; 2],
        hashed: [&Made<'_>; 2],
    ) -> [Rows; 2] {
        let (keys, rounds) = (now.map(|quad| call.keys.place::<F>(quad.item, quad.hashed.slot).round_keys), call.class.rounds);
        let [mut a, mut b, mut c, mut d] = counters::<FULL>(&now[0]);
        let [mut e, mut f, mut g, mut h] = counters::<FULL>(&now[1]);
        let [mut m, mut n] = now.map(|quad| quad.hashed.slot.first_counter());
        let zero = _mm512_setzero_si512();
        let (mut low, mut high) = (zero, zero);
        let (quad, rows) = hashed[0];
        let text = |i: usize| zmm::reverse(rows[i]);
        let p = quad.weights;
        round!(F HEADS, keys, 1, (a b c d e f g h, m n), text(1), p.wrapping_add(64), low, high);
        round!(F HEADS, keys, 2, (a b c d e f g h, m n), text(2), p.wrapping_add(128), low, high);
        round!(F HEADS, keys, 3, (a b c d e f g h, m n), text(3), p.wrapping_add(192), low, high);
        let first = zmm::xor(text(0), quad.slot.hash.get());
        round!(F HEADS, keys, 4, (a b c d e f g h, m n), first, p, low, high);
        let (mut less, mut more) = (zero, zero);
        let (next, rows) = hashed[1];
        let text = |i: usize| zmm::reverse(rows[i]);
        let p = next.weights;
        round!(F HEADS, keys, 5, (a b c d e f g h, m n), text(1), p.wrapping_add(64), less, more);
        quad.slot.hash.set(zmm::xor(high, zmm::fold(low)));
        round!(F HEADS, keys, 6, (a b c d e f g h, m n), text(2), p.wrapping_add(128), less, more);
        round!(F HEADS, keys, 7, (a b c d e f g h, m n), text(3), p.wrapping_add(192), less, more);
        let first = zmm::xor(text(0), next.slot.hash.get());
        round!(F HEADS, keys, 8, (a b c d e f g h, m n), first, p, less, more);
        round!(F HEADS, keys, 9, (a b c d e f g h, m n));
        next.slot.hash.set(zmm::xor(more, zmm::fold(less)));
        if rounds > 10 {
            round!(F HEADS, keys, 10, (a b c d e f g h, m n));
            round!(F HEADS, keys, 11, (a b c d e f g h, m n));
            if rounds > 12 {
                round!(F HEADS, keys, 12, (a b c d e f g h, m n));
                round!(F HEADS, keys, 13, (a b c d e f g h, m n));
            }
        }
        // SAFETY: the caller promises keys of so many rounds.
        let (k, l) = unsafe { round_keys::<F>(keys, rounds) };
        if HEADS {
            let masks = [
                _mm_aesenclast_si128(m, _mm512_castsi512_si128(k)),
                _mm_aesenclast_si128(n, _mm512_castsi512_si128(l)),
            ];
            for (quad, mask) in now.iter().zip(masks) {
                let slot = if quad.at == 0 { quad.hashed.slot } else { &call.scratch.idle };
                slot.mask.set(mask);
            }
        }
        last!(OP, FULL, now[0], k, (a r 0) (b s 1) (c t 2) (d u 3));
        last!(OP, FULL, now[1], l, (e v 0) (f w 1) (g x 2) (h y 3));
        [[r, s, t, u], [v, w, x, y]]
    }
}

wide_fn! {
    /// Encrypts the first counter of a message.
    ///
    /// # Safety
    /// Its key is of the form and of so many rounds.
    #[inline]
    unsafe fn set_mask<F: Form>(call: &Call<'_>, quad: &Quad<'_>) {
        let (slot, rounds) = (quad.hashed.slot, call.class.rounds);
        let keys = call.keys.place::<F>(quad.item, slot).round_keys;
        // SAFETY: the caller promises as many keys as rounds and one.
        let key = |round| _mm512_castsi512_si128(unsafe { round_key::<F>(keys, round) });
        let mut state = slot.first_counter();
        for round in 1..rounds {
            state = _mm_aesenc_si128(state, key(round));
        }
        slot.mask.set(_mm_aesenclast_si128(state, key(rounds)));
    }
}

wide_fn! {
    /// Hashes a quad.
    ///
    /// # Safety
    /// Its weights are what they say.
    #[inline]
    pub(super) unsafe fn absorb((quad, rows): &Made<'_>) {
        let w = quad.weights;
        let [first, second, third, fourth] = rows.map(|row| zmm::reverse(row));
        let first = zmm::xor(first, quad.slot.hash.get());
        // SAFETY: the caller promises weights.
        let (p, q) = unsafe { multiply(first, w) };
        // SAFETY: as above.
        let (r, s) = unsafe { multiply(second, w.wrapping_add(64)) };
        // SAFETY: as above.
        let (t, u) = unsafe { multiply(third, w.wrapping_add(128)) };
        // SAFETY: as above.
        let (low, high) = unsafe { multiply(fourth, w.wrapping_add(192)) };
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
    unsafe fn read(quad: &Quad<'_>) -> Rows {
        let part = |i: usize| {
            let bytes = quad.bytes.saturating_sub(64 * i).min(64);
            // SAFETY: as many bytes of the quad from there are readable.
            unsafe { load::<false>(quad.input().wrapping_add(64 * i), bytes) }
        };
        [part(0), part(1), part(2), part(3)]
    }
}

wide_fn! {
    /// The counter blocks of a quad after the first round key.
    #[inline]
    fn counters<const FULL: bool>(quad: &Quad<'_>) -> [Z; 4] {
        let base = quad.hashed.slot.base.get();
        if FULL {
            // The counter of a message's first block is 2. Of 16 blocks 14 differ in the last four
            // bits only, and then the other bits are one more.
            let (now, next) = (quad.first().swap_bytes(), (quad.first() + 16).swap_bytes());
            let counter = _mm512_maskz_set1_epi32(COUNTERS, now.cast_signed());
            let last = _mm512_mask_set1_epi32(counter, COUNTERS & 0xff00, next.cast_signed());
            return [
                zmm::xor3(base, counter, low_bits([2, 3, 4, 5])),
                zmm::xor3(base, counter, low_bits([6, 7, 8, 9])),
                zmm::xor3(base, counter, low_bits([10, 11, 12, 13])),
                zmm::xor3(base, last, low_bits([14, 15, 0, 1])),
            ];
        }
        let counter = _mm512_maskz_set1_epi32(COUNTERS, quad.first().cast_signed());
        let swapped = |low: Z| {
            let order = _mm512_set4_epi32(0x0c0d_0e0f, 0x0b0a_0908, 0x0706_0504, 0x0302_0100);
            zmm::xor(base, _mm512_shuffle_epi8(_mm512_add_epi32(counter, low), order))
        };
        [2, 6, 10, 14].map(|first| swapped(numbers(first)))
    }
}

wide_fn! {
    /// These in the last bytes of the lanes.
    #[inline]
    fn low_bits([a, b, c, d]: [i32; 4]) -> Z {
        _mm512_set_epi32(d << 24, 0, 0, 0, c << 24, 0, 0, 0, b << 24, 0, 0, 0, a << 24, 0, 0, 0)
    }
}

wide_fn! {
    /// Four numbers, where counters are.
    #[inline]
    fn numbers(first: i32) -> Z {
        let [a, b, c, d] = [first, first + 1, first + 2, first + 3];
        _mm512_set_epi32(d, 0, 0, 0, c, 0, 0, 0, b, 0, 0, 0, a, 0, 0, 0)
    }
}

/// The dwords in which counters are.
const COUNTERS: __mmask16 = 0x8888;
