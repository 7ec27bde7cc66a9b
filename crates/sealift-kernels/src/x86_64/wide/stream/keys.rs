//! Keys as the steps want them.
#![allow(unsafe_code)]

use core::{
    arch::x86_64::{_mm512_aesenc_epi128, _mm512_aesenclast_epi128},
    cell::Cell,
    mem::offset_of,
};

use super::super::zmm::{self, Z, wide_fn};
use super::step::{FOLDED, KEYS};
use crate::schedule::Expanded;

/// Where an expanded key is.
#[derive(Clone, Copy)]
pub(super) struct KeyPlace {
    /// The round keys.
    pub(super) record: *const u8,
    /// H^16 down to H^1, [`FOLDED`] bytes behind them the same folded, and readable bytes up to
    /// [`REACH`].
    pub(super) powers: *const u8,
}

/// A key, each part of it in all lanes.
#[repr(C, align(64))]
pub(super) struct Table {
    /// The round keys.
    pub(super) keys: [Cell<Z>; KEYS],
    /// H^16, H^12, H^8 and H^4, and the same folded.
    weights: [Cell<Z>; 8],
}

/// How far from `powers` registers are read, to be multiplied with zeros: two from the last power, folded.
const REACH: usize = FOLDED - 16 + FOLDED + 128;

impl KeyPlace {
    /// That of an `Expanded`.
    #[inline(always)]
    pub(super) fn of(expanded: *const u8) -> KeyPlace {
        const {
            assert!(
                core::mem::offset_of!(Expanded, powers) + FOLDED
                    == core::mem::offset_of!(Expanded, folded)
            )
        };
        let powers = expanded.wrapping_add(offset_of!(Expanded, powers));
        KeyPlace { record: expanded, powers }
    }

    /// H^1.
    #[inline(always)]
    pub(super) fn hash_key(&self) -> *const u8 {
        self.powers.wrapping_add(FOLDED - 16)
    }
}

impl Table {
    /// Room for a key.
    #[inline(always)]
    pub(super) fn new(zero: Z) -> Table {
        Table {
            keys: [(); KEYS].map(|()| Cell::new(zero)),
            weights: [(); 8].map(|()| Cell::new(zero)),
        }
    }

    wide_fn! {
        /// Takes the round keys in.
        ///
        /// # Safety
        /// A key is at the place.
        #[inline]
        pub(super) unsafe fn set_keys<const ROUNDS: usize>(&self, from: KeyPlace) {
            for (i, key) in self.keys.iter().enumerate().take(ROUNDS + 1) {
                // SAFETY: the caller promises as many round keys.
                key.set(unsafe { zmm::broadcast(from.record.wrapping_add(16 * i)) });
            }
        }
    }

    wide_fn! {
        /// Takes the weights in.
        ///
        /// # Safety
        /// A key is at the place.
        #[inline]
        pub(super) unsafe fn set_weights(&self, from: KeyPlace) {
            for (i, weight) in self.weights.iter().enumerate() {
                // SAFETY: the caller promises powers; the last four are folded.
                weight.set(unsafe { zmm::broadcast(from.powers.wrapping_add(64 * i)) });
            }
        }
    }

    /// The weights of a register behind which others follow in the quad, `behind` of them, and then a full
    /// quad.
    #[inline(always)]
    pub(super) fn weights(&self, behind: usize) -> *const u8 {
        self.weights[3 - behind % 4].as_ptr().cast()
    }

    wide_fn! {
        /// Four blocks after all rounds.
        #[inline]
        pub(super) fn encrypted<const ROUNDS: usize>(&self, blocks: Z) -> Z {
            let mut state = zmm::xor(blocks, self.keys[0].get());
            for round in 1..ROUNDS {
                state = _mm512_aesenc_epi128(state, self.keys[round].get());
            }
            _mm512_aesenclast_epi128(state, self.keys[ROUNDS].get())
        }
    }

    /// Forgets the key.
    pub(super) fn wipe(&self, zero: Z) {
        self.keys.iter().chain(&self.weights).for_each(|cell| cell.set(zero));
    }
}
