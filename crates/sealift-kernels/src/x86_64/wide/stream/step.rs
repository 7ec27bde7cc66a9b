//! Eight registers of text: AES of these, woven with GHASH of the eight before.
#![allow(unsafe_code)]

use core::arch::x86_64::*;

use sealift_core::Op;

use super::super::{
    block::once,
    item::{Item, KeyForm, LONGEST_TEXT},
    zmm::{self, Z, wide_fn},
};
use super::{
    flow::Call,
    keys::{Form, round_key},
    scratch::Slot,
    weave::{finish, load, multiply, round, round_keys},
};
use crate::x86_64::text::{COUNTER_BLOCKS, CounterBlocks};

/// Up to four registers of one message.
#[derive(Clone, Copy)]
pub(super) struct Quad<'s> {
    pub(super) item: &'s Item,
    /// Where in the message it begins, a multiple of 128.
    pub(super) at: usize,
    /// How many bytes there are, at most [`QUAD_BYTES`].
    pub(super) bytes: usize,
    /// Its text.
    pub(super) input: *const u8,
    /// Where its result goes.
    pub(super) output: *mut u8,
    pub(super) hashed: Hashed<'s>,
}

/// What a quad's hash needs.
#[derive(Clone, Copy)]
pub(super) struct Hashed<'s> {
    /// The message.
    pub(super) slot: &'s Slot,
    /// What the registers are multiplied with, one behind the other; the same folded is
    /// `Expanded::FOLDED_BEFORE` bytes before.
    pub(super) weights: *const u8,
}

/// How far behind a quad texts are asked for.
const AHEAD: usize = 2 << 10;
/// Bytes of a full quad.
pub(super) const QUAD_BYTES: usize = 256;

/// The ciphertext of a quad.
pub(super) type Rows = [Z; 4];

/// A quad that was made or read, and is to be hashed.
pub(super) type Made<'s> = (Hashed<'s>, Rows);

impl Quad<'_> {
    /// Whether it has all registers.
    #[inline(always)]
    fn is_full(&self) -> bool {
        self.bytes == QUAD_BYTES
    }

    /// Asks the nearest cache for the text a little behind it, as if texts were behind each other. The
    /// processor finds it by itself, but too late where pages begin.
    #[inline(always)]
    pub(super) fn fetch_later(&self) {
        for line in (AHEAD..AHEAD + QUAD_BYTES).step_by(64) {
            zmm::prefetch_near(self.input.wrapping_add(line));
        }
    }
}

/// The last round of a quad's registers: their ciphertext.
macro_rules! last {
    ($op:ident, $full:ident, $quad:expr, $key:expr, $states:tt) => {
        // Asked once a quad: beside one that isn't full there is mostly one that is.
        if $full || $quad.is_full() {
            last!(@ $op, true, $quad, $key, $states)
        } else {
            last!(@ $op, false, $quad, $key, $states)
        }
    };
    (@ $op:ident, $full:literal, $quad:expr, $key:expr, ($($state:ident $i:literal),+)) => {
        [$({
            let bytes = $quad.bytes.saturating_sub(64 * $i).min(64);
            let (from, to) = ($quad.input.wrapping_add(64 * $i), $quad.output.wrapping_add(64 * $i));
            // SAFETY: the caller of the step promises the quads: as many bytes are left of them.
            unsafe { finish::<$op, $full>($state, $key, from, to, bytes) }
        }),+]
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
                    // SAFETY: the caller promises that the quad's key is of the form and of so many rounds.
                    unsafe { set_mask::<F>(call, quad) };
                }
            }
            // SAFETY: the caller promises that the quads' addresses are what they say.
            return now.map(|quad| unsafe { read(&quad) });
        }
        let has_heads = const { matches!(F::KEYS, KeyForm::Each) };
        if !(now[0].is_full() & now[1].is_full()) {
            return match has_heads {
                // SAFETY: the caller keeps the same promise, and quads need not be full.
                true => unsafe { step::<F, OP, false, true>(call, &now, hashed) },
                // SAFETY: the caller keeps the same promise, and quads need not be full.
                false => unsafe { step::<F, OP, false, false>(call, &now, hashed) },
            };
        }
        if has_heads && (now[0].at == 0 || now[1].at == 0) {
            // SAFETY: the caller keeps the same promise, and both quads are full.
            unsafe { step::<F, OP, true, true>(call, &now, hashed) }
        } else {
            // SAFETY: the caller keeps the same promise, and both quads are full.
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
        let [mut a, mut b, mut c, mut d] = counters(&now[0]);
        let [mut e, mut f, mut g, mut h] = counters(&now[1]);
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
        let first = last!(OP, FULL, now[0], k, (a 0, b 1, c 2, d 3));
        [first, last!(OP, FULL, now[1], l, (e 0, f 1, g 2, h 3))]
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
        // SAFETY: the caller promises weights of four registers, and these are the second's.
        let (r, s) = unsafe { multiply(second, w.wrapping_add(64)) };
        // SAFETY: the caller promises weights of four registers, and these are the third's.
        let (t, u) = unsafe { multiply(third, w.wrapping_add(128)) };
        // SAFETY: the caller promises weights of four registers, and these are the fourth's.
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
            unsafe { load::<false>(quad.input.wrapping_add(64 * i), bytes) }
        };
        [part(0), part(1), part(2), part(3)]
    }
}

wide_fn! {
    /// The counter blocks of a quad after the first round key.
    #[inline]
    fn counters(quad: &Quad<'_>) -> [Z; 4] {
        let base = quad.hashed.slot.base.get();
        let from = COUNTER_BLOCKS.of(2).wrapping_add(quad.at);
        debug_assert!(quad.at < LONGEST_TEXT);
        // SAFETY: as many counters as the longest text and another quad have are there.
        [0, 64, 128, 192].map(|at| zmm::xor(base, unsafe { zmm::load(from.wrapping_add(at)) }))
    }
}

// There are counters for the longest text, from 2 on, and another quad.
const _: () = assert!(CounterBlocks::LEN >= 2 + (LONGEST_TEXT + QUAD_BYTES) / 16);
