//! Raw keys, expanded for one message.
#![allow(unsafe_code)]

use core::{arch::x86_64::*, cell::Cell};

use super::super::zmm::{self, Z, wide_fn};
use super::weave::product;
use crate::{
    model::aes::ROUND_KEYS_MAX,
    schedule::Expanded,
    x86_64::{cpu::HaveAesNi, expand},
};

/// Room for an expanded key, laid out as the front part of an [`Expanded`].
#[repr(C, align(64))]
pub(super) struct RawKey {
    record: Cell<[u128; 16]>,
    powers: [Cell<Z>; 4],
    folded: [Cell<Z>; 4],
    behind: [Cell<Z>; 2],
}

const _: () = {
    use core::mem::offset_of;
    assert!(offset_of!(RawKey, powers) == offset_of!(Expanded, powers));
    assert!(offset_of!(RawKey, folded) == offset_of!(Expanded, folded));
};

impl RawKey {
    /// Room for a key.
    #[inline(always)]
    pub(super) fn new(zero: Z) -> RawKey {
        RawKey {
            record: Cell::new([0; 16]),
            powers: [(); 4].map(|()| Cell::new(zero)),
            folded: [(); 4].map(|()| Cell::new(zero)),
            behind: [(); 2].map(|()| Cell::new(zero)),
        }
    }

    /// Where it is.
    #[inline(always)]
    pub(super) fn address(&self) -> *const u8 {
        core::ptr::from_ref(self).cast()
    }

    wide_fn! {
        /// Expands a key of `4 * (ROUNDS - 6)` bytes.
        ///
        /// # Safety
        /// It is readable.
        pub(super) unsafe fn expand<const ROUNDS: usize>(&self, token: HaveAesNi, key: *const u8) {
            let mut record = [0; 16];
            // SAFETY: the caller promises the key.
            let key = unsafe { core::slice::from_raw_parts(key, 4 * (ROUNDS - 6)) };
            expand::round_keys(token, key, &mut record[..ROUND_KEYS_MAX]);
            self.record.set(record);
            zeroize::Zeroize::zeroize(&mut record);
            // SAFETY: the round keys that were just set.
            let hash_key = unsafe { encrypted::<ROUNDS>(self.address(), &_mm_setzero_si128()) };
            self.set_powers(times_x(zmm::reverse(_mm512_broadcast_i32x4(hash_key))));
        }
    }

    wide_fn! {
        /// Works out the powers of a hash key that is in all lanes.
        #[inline]
        fn set_powers(&self, h: Z) {
            let h2 = times(h, h);
            // H and H^2 from the highest lane on, then H^3 and H^4 in front of them.
            let pair = _mm512_mask_blend_epi64(0x33, h, h2);
            let more = times(pair, h2);
            let row = _mm512_mask_blend_epi64(0x0f, pair, more);
            let h4 = _mm512_shuffle_i64x2::<0x00>(more, more);
            let second = times(row, h4);
            let h8 = _mm512_shuffle_i64x2::<0x00>(second, second);
            let rows = [times(second, h8), times(row, h8), second, row];
            for ((row, power), folded) in rows.into_iter().zip(&self.powers).zip(&self.folded) {
                power.set(row);
                folded.set(zmm::fold(row));
            }
        }
    }

    /// Forgets the key.
    pub(super) fn wipe(&self, zero: Z) {
        self.record.set([0; 16]);
        self.powers.iter().chain(&self.folded).for_each(|cell| cell.set(zero));
    }
}

wide_fn! {
    /// A block after all rounds.
    ///
    /// # Safety
    /// Round keys and a block are there.
    #[inline]
    pub(super) unsafe fn encrypted<const ROUNDS: usize>(record: *const u8, block: *const __m128i) -> __m128i {
        // SAFETY: the caller promises `ROUNDS + 1` round keys.
        let key = |round: usize| unsafe { _mm_loadu_si128(record.wrapping_add(16 * round).cast()) };
        // SAFETY: the caller promises a block.
        let mut state = _mm_xor_si128(unsafe { _mm_loadu_si128(block) }, key(0));
        for round in 1..ROUNDS {
            state = _mm_aesenc_si128(state, key(round));
        }
        _mm_aesenclast_si128(state, key(ROUNDS))
    }
}

wide_fn! {
    /// The product of two, in each lane.
    #[inline]
    fn times(a: Z, b: Z) -> Z {
        let (low, high) = product(a, b, zmm::fold(b));
        zmm::xor(high, zmm::fold(low))
    }
}

wide_fn! {
    /// Times x in each lane: see `expand`.
    #[inline]
    fn times_x(h: Z) -> Z {
        let modulus = _mm512_broadcast_i32x4(_mm_set_epi64x(0xc2_i64 << 56, 1));
        let sign = _mm512_srai_epi64::<63>(_mm512_shuffle_epi32::<0xee>(h));
        let carried = _mm512_bslli_epi128::<8>(_mm512_srli_epi64::<63>(h));
        zmm::xor3(_mm512_slli_epi64::<1>(h), carried, _mm512_and_si512(sign, modulus))
    }
}
