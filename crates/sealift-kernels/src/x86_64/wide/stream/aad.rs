//! The hash of what is authenticated only.
#![allow(unsafe_code)]

use core::arch::x86_64::*;

use super::super::{
    item::Item,
    zmm::{self, Z, wide_fn},
};
use super::{
    keys::{KeyPlace, Weights},
    scratch::Slot,
    weave::multiply,
};
use crate::schedule::Expanded;

/// Bytes of the longest aad that is in one register.
pub(super) const SHORT: usize = 64;

wide_fn! {
    /// The hash of up to [`SHORT`] bytes of a message's aad, in lanes, as the text's first register takes
    /// it in.
    ///
    /// # Safety
    /// They are readable, and a key is at the place.
    #[inline]
    pub(super) unsafe fn hash_short(item: &Item, bytes: usize, place: KeyPlace) -> Z {
        // SAFETY: the caller promises the bytes.
        let register = unsafe { load(item.aad, bytes, bytes.next_multiple_of(16).wrapping_sub(64)) };
        let power = place.powers.wrapping_add(FOURTH);
        // SAFETY: the caller promises a key.
        let h = unsafe { zmm::broadcast(power) };
        // SAFETY: the caller promises a key, before whose place is the same power folded.
        let folded = unsafe { zmm::broadcast(power.wrapping_sub(Expanded::FOLDED_BEFORE)) };
        zmm::reduce(zmm::multiply(zmm::reverse(register), h, folded))
    }
}

/// Where H^4 is among the powers.
const FOURTH: usize = 16 * 12;

wide_fn! {
    /// Hashes a longer aad of a message, in lanes, as the text's first register takes it in.
    ///
    /// The blocks are at the end of their registers, behind blocks of zeros, which leave the hash
    /// zero.
    ///
    /// # Safety
    /// It is readable, and there are weights.
    #[cold]
    #[inline(never)]
    pub(super) unsafe fn hash(item: &Item, weights: &Weights, slot: &Slot) {
        let (from, bytes) = (item.aad, usize::from(item.aad_bytes));
        let mut hash = _mm512_setzero_si512();
        let mut left = bytes.next_multiple_of(16);
        while left > 0 {
            let registers = left.div_ceil(64).min(4);
            let (mut low, mut high) = (_mm512_setzero_si512(), _mm512_setzero_si512());
            for behind in (0..registers).rev() {
                // In groups of four from the front, the last one may be smaller.
                let start = bytes.next_multiple_of(16).wrapping_sub(left.div_ceil(64) * 64);
                let at = start.wrapping_add(64 * (registers - 1 - behind));
                // SAFETY: the caller promises the bytes, others are not touched.
                let register = unsafe { load(from, bytes, at) };
                let y = zmm::xor(zmm::reverse(register), hash);
                hash = _mm512_setzero_si512();
                // SAFETY: the caller promises weights.
                let (p, q) = unsafe { multiply(y, weights.at(behind)) };
                (low, high) = (zmm::xor(low, p), zmm::xor(high, q));
            }
            hash = zmm::xor(high, zmm::fold(low));
            left = (left.div_ceil(64) - registers) * 64;
        }
        slot.hash.set(hash);
    }
}

wide_fn! {
    /// The 64 bytes at a place that may begin before the first byte and end behind the last; zeros
    /// there.
    ///
    /// # Safety
    /// `bytes` are readable.
    #[inline]
    unsafe fn load(from: *const u8, bytes: usize, at: usize) -> Z {
        let missing = if at > bytes { at.wrapping_neg() } else { 0 };
        let end = bytes.wrapping_sub(at).min(64);
        // SAFETY: the caller promises the bytes; masked ones are not touched.
        unsafe { _mm512_maskz_loadu_epi8(zmm::mask(end) & !zmm::mask(missing), from.wrapping_add(at).cast()) }
    }
}
