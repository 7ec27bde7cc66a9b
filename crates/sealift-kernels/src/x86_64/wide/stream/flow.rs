//! Messages in, quads out.
#![allow(unsafe_code)]

use core::arch::x86_64::*;

use super::super::{
    item::{Class, Item, KeyForm},
    zmm::{self, wide_fn},
};
use super::{
    aad,
    keys::{Form, KeyPlace, Keys, Weights, round_key},
    scratch::{Scratch, Slot},
    step::{Hashed, QUAD_BYTES, Quad},
};

/// What a call works on, and where.
#[derive(Clone, Copy)]
pub(super) struct Call<'s> {
    pub(super) class: &'s Class,
    pub(super) items: &'s [Item],
    pub(super) keys: Keys<'s>,
    pub(super) scratch: &'s Scratch,
}

/// Cuts messages into quads.
// IMPLEMENTATION NOTE: it is little, and computes again what it could keep: the steps before fill the
// processor's queue of stores, so that what stores much has to wait for them.
pub(super) struct Flow<'s> {
    call: Call<'s>,
    /// Messages that were cut.
    cut: usize,
    /// Bytes of the next one that were cut off.
    at: usize,
}

impl<'s> Flow<'s> {
    /// All messages of a call.
    #[inline(always)]
    pub(super) fn new(call: Call<'s>) -> Flow<'s> {
        Flow { call, cut: 0, at: 0 }
    }

    /// Messages that end with the quads so far.
    #[inline(always)]
    pub(super) fn ended(&self) -> usize {
        self.cut
    }

    /// Whether there is another quad.
    #[inline(always)]
    pub(super) fn has_more(&self) -> bool {
        self.cut < self.call.items.len()
    }

    /// A quad of nothing.
    #[inline(always)]
    pub(super) fn idle(&self) -> Quad<'s> {
        let hashed = Hashed { slot: &self.call.scratch.idle, weights: self.call.keys.one.powers };
        let item = &self.call.items[0];
        Quad { item, at: 0, bytes: 0, input: item.input, output: item.output, hashed }
    }

    wide_fn! {
        /// The next quad, the first or the second of a pair; of nothing, if there are no more.
        ///
        /// # Safety
        /// The items' addresses are what they say.
        // IMPLEMENTATION NOTE: the parameters make this another function for each caller, so that the
        // compiler inlines it.
        #[inline]
        pub(super) unsafe fn quad<F: Form, const OP: u8, const INDEX: usize>(&mut self) -> Quad<'s> {
            let Some(item) = self.call.items.get(self.cut) else { return self.idle() };
            let slot = self.call.scratch.slot(self.cut);
            if self.at == 0 {
                // SAFETY: the caller keeps the same promise.
                unsafe { begin::<F, OP, INDEX>(&self.call, self.cut, item, slot) };
            }
            let left = item.text_bytes as usize - self.at;
            let bytes = cut(left);
            let (mut at, mut cut) = (self.at + bytes, self.cut);
            let mut weights = self.call.weights::<F>(slot).of(bytes);
            if bytes == left {
                (at, cut) = (0, cut + 1);
                let powers = self.call.keys.place::<F>(item, slot).powers;
                weights = powers.wrapping_add(QUAD_BYTES - bytes.next_multiple_of(16));
            }
            let (input, output) = (item.input.wrapping_add(self.at), item.output.wrapping_add(self.at));
            let hashed = Hashed { slot, weights };
            let quad = Quad { item, at: self.at, bytes, input, output, hashed };
            (self.at, self.cut) = (at, cut);
            quad
        }
    }
}

wide_fn! {
    /// Begins a message, which is number `index`.
    ///
    /// # Safety
    /// The items' addresses are what they say, and messages begin in order.
    #[inline]
    unsafe fn begin<F: Form, const OP: u8, const INDEX: usize>(
        call: &Call<'_>,
        index: usize,
        item: &Item,
        slot: &Slot,
    ) {
        if let (KeyForm::Raw, Some(raw)) = (F::KEYS, call.keys.raw) {
            // SAFETY: the caller promises the keys.
            unsafe { raw.expand(call.class.rounds, call.items, index) };
            slot.place.set(raw.place(index));
        }
        if let (KeyForm::Each, Some(later)) = (F::KEYS, call.items.get(index + KEYS_AHEAD)) {
            KeyPlace::fetch(later.key);
        }
        let place = call.keys.place::<F>(item, slot);
        let (text_bytes, aad_bytes) = (item.text_bytes as usize, usize::from(item.aad_bytes));
        if !matches!(F::KEYS, KeyForm::One) && (text_bytes > QUAD_BYTES || aad_bytes > aad::SHORT) {
            // SAFETY: a key is at the place.
            unsafe { slot.weights.set(place) };
        }
        // SAFETY: the nonce is readable.
        let nonce = _mm512_broadcast_i32x4(unsafe { zmm::load_nonce(item.nonce) });
        // SAFETY: round keys are at the place.
        slot.base.set(zmm::xor(nonce, unsafe { round_key::<F>(place.round_keys, 0) }));
        let mut hash = _mm512_setzero_si512();
        if aad_bytes > 0 {
            // SAFETY: the aad is readable, and a key is at the place.
            hash = unsafe { aad::hash_short(item, aad_bytes.min(aad::SHORT), place) };
        }
        slot.hash.set(hash);
        if aad_bytes > aad::SHORT {
            // SAFETY: the aad is readable, and there are weights.
            unsafe { aad::hash(item, call.weights::<F>(slot), slot) };
        }
    }
}

impl<'s> Call<'s> {
    /// The weights of a message.
    #[inline(always)]
    fn weights<F: Form>(&self, slot: &'s Slot) -> &'s Weights {
        if matches!(F::KEYS, KeyForm::One) { &self.scratch.idle.weights } else { &slot.weights }
    }
}

/// How many bytes of a text are the next quad.
///
/// A quad in which a message ends has eight blocks or more, so that the hash before has a block in
/// each lane; all those before are full but for one right before it, which has eight.
#[inline(always)]
fn cut(left: usize) -> usize {
    if left <= QUAD_BYTES {
        left
    } else if left < QUAD_BYTES + HALF_BYTES {
        HALF_BYTES
    } else {
        QUAD_BYTES
    }
}

/// Bytes of half a quad.
const HALF_BYTES: usize = QUAD_BYTES / 2;

/// How many messages before its own a key is asked for.
const KEYS_AHEAD: usize = 6;
