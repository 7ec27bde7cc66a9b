//! What is kept of messages while they are worked.
#![allow(unsafe_code)]

use core::{arch::x86_64::*, cell::Cell, mem};

use super::super::zmm::{Z, wide_fn};
use super::keys::{KeyPlace, Weights};

/// A message that is being worked.
#[repr(C, align(64))]
pub(super) struct Slot {
    /// Its hash so far, in lanes.
    pub(super) hash: Cell<Z>,
    /// The nonce and a counter of zero, after the first round key, in all lanes.
    pub(super) base: Cell<Z>,
    /// Its encrypted first counter, if its key is an expanded one of its own.
    pub(super) mask: Cell<__m128i>,
    /// Those of its key, if it needs them and the key is its own.
    pub(super) weights: Weights,
    /// That of its key, if it was a raw one.
    pub(super) place: Cell<KeyPlace>,
}

/// What is kept of the messages that are being worked.
#[repr(C, align(64))]
pub(super) struct Scratch {
    /// The messages, in turn.
    pub(super) slots: [[Slot; 4]; SLOTS / 4],
    /// What quads of nothing belong to; its weights are those of all messages' key.
    pub(super) idle: Slot,
}

impl Slot {
    #[inline(always)]
    fn new(zero: Z, some_key: KeyPlace) -> Slot {
        let (hash, base) = (Cell::new(zero), Cell::new(zero));
        // SAFETY: 16 bytes, whatever they are.
        let mask = Cell::new(unsafe { mem::transmute::<u128, __m128i>(0) });
        Slot { hash, base, mask, weights: Weights::new(zero), place: Cell::new(some_key) }
    }

    wide_fn! {
        /// The first counter block after the first round key.
        #[inline]
        pub(super) fn first_counter(&self) -> __m128i {
            let one = _mm_set_epi32(1 << 24, 0, 0, 0);
            // SAFETY: a cell of 64 bytes.
            _mm_xor_si128(unsafe { _mm_load_si128(self.base.as_ptr().cast()) }, one)
        }
    }

    fn wipe(&self, zero: Z) {
        self.hash.set(zero);
        self.base.set(zero);
        // SAFETY: 16 bytes, whatever they are.
        self.mask.set(unsafe { mem::transmute::<u128, __m128i>(0) });
        self.weights.wipe(zero);
    }
}

impl Scratch {
    /// Room for messages.
    #[inline(always)]
    pub(super) fn new(zero: Z, some_key: KeyPlace) -> Scratch {
        let four = || [(); 4].map(|()| Slot::new(zero, some_key));
        Scratch { slots: [four(), four()], idle: Slot::new(zero, some_key) }
    }

    /// The place of message number `index`.
    #[inline(always)]
    pub(super) fn slot(&self, index: usize) -> &Slot {
        &self.slots.as_flattened()[index % SLOTS]
    }

    /// The places of four messages, of which number `first`, a multiple of four, is the first.
    #[inline(always)]
    pub(super) fn four(&self, first: usize) -> &[Slot; 4] {
        &self.slots[first / 4 % (SLOTS / 4)]
    }

    /// Forgets as many messages, and the key of all.
    pub(super) fn wipe(&self, messages: usize, zero: Z) {
        for slot in self.slots.as_flattened().iter().take(messages).chain([&self.idle]) {
            slot.wipe(zero);
        }
    }
}

/// Messages that are worked at a time: up to two are begun in a step, three are not hashed then, and
/// three wait for a fourth.
pub(super) const SLOTS: usize = 8;
