//! Keys as the steps want them.
#![allow(unsafe_code)]

use core::{arch::x86_64::*, cell::Cell, mem::offset_of};

use super::super::zmm::{self, Z, wide_fn};
use super::step::{FOLDED, KEYS};
use crate::schedule::Expanded;

/// Where an expanded key is.
#[derive(Clone, Copy)]
pub(super) struct KeyPlace {
    /// The first round key.
    pub(super) round_keys: *const u8,
    /// How far the next ones are from each other, in bytes.
    pub(super) stride: usize,
    /// H^16 down to H^1, [`FOLDED`] bytes behind them the same folded, and readable bytes up to
    /// [`REACH`].
    pub(super) powers: *const u8,
}

/// A key, each part of it in all lanes.
#[repr(C, align(64))]
pub(super) struct Table {
    /// The round keys.
    pub(super) keys: [Cell<Z>; KEYS],
    /// H^16, H^12, H^8 and H^4, the same folded, and what is read behind the last one: zeros.
    weights: [Cell<Z>; 9],
}

/// How far from `powers` registers are read, to be multiplied with zeros: two from the last power,
/// folded.
pub(super) const REACH: usize = FOLDED - 16 + FOLDED + 128;

impl KeyPlace {
    /// That of an `Expanded`.
    #[inline(always)]
    pub(super) fn of(expanded: *const u8) -> KeyPlace {
        const {
            assert!(
                offset_of!(Expanded, powers) + FOLDED == offset_of!(Expanded, folded)
                    && offset_of!(Expanded, powers) + REACH <= Expanded::ZEROS_END
            )
        };
        let powers = expanded.wrapping_add(offset_of!(Expanded, powers));
        KeyPlace { round_keys: expanded, stride: 16, powers }
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
            weights: [(); 9].map(|()| Cell::new(zero)),
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
                key.set(unsafe { zmm::broadcast(from.round_keys.wrapping_add(from.stride * i)) });
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
            for (i, weight) in self.weights.iter().enumerate().take(8) {
                // SAFETY: the caller promises powers; the last four are folded.
                weight.set(unsafe { zmm::broadcast(from.powers.wrapping_add(64 * i)) });
            }
        }
    }

    /// The weights of a register behind which others follow in the quad, `behind` of them, and
    /// then a full quad.
    #[inline(always)]
    pub(super) fn weights(&self, behind: usize) -> *const u8 {
        self.weights[3 - behind % 4].as_ptr().cast()
    }

    /// Forgets the key.
    pub(super) fn wipe(&self, zero: Z) {
        self.keys.iter().chain(&self.weights).for_each(|cell| cell.set(zero));
    }
}

wide_fn! {
    /// Four blocks after all rounds.
    ///
    /// # Safety
    /// `ROUNDS + 1` round keys are there, in lanes.
    #[inline]
    pub(super) unsafe fn encrypted<const ROUNDS: usize>(keys: *const Z, blocks: Z) -> Z {
        // SAFETY: the caller promises as many.
        let key = |round: usize| unsafe { zmm::load(keys.wrapping_add(round).cast()) };
        let mut state = zmm::xor(blocks, key(0));
        for round in 1..ROUNDS {
            state = _mm512_aesenc_epi128(state, key(round));
        }
        _mm512_aesenclast_epi128(state, key(ROUNDS))
    }
}

wide_fn! {
    /// A block after all rounds.
    ///
    /// # Safety
    /// `ROUNDS + 1` round keys are there, one behind the other, and a block.
    #[inline]
    pub(super) unsafe fn encrypted_one<const ROUNDS: usize>(
        keys: *const u8,
        block: *const u8,
    ) -> __m128i {
        // SAFETY: the caller promises as many.
        let key = |round: usize| unsafe { _mm_loadu_si128(keys.wrapping_add(16 * round).cast()) };
        // SAFETY: the caller promises a block.
        let mut state = _mm_xor_si128(unsafe { _mm_loadu_si128(block.cast()) }, key(0));
        for round in 1..ROUNDS {
            state = _mm_aesenc_si128(state, key(round));
        }
        _mm_aesenclast_si128(state, key(ROUNDS))
    }
}
