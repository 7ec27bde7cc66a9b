//! Blocks of four messages, put together.
#![allow(unsafe_code)]

use core::arch::x86_64::*;

use super::group::Group;
use crate::x86_64::wide::zmm::{Z, wide_fn};

wide_fn! {
    /// One block of each of four messages, in lanes.
    ///
    /// # Safety
    /// Each is readable for 16 bytes.
    #[inline]
    pub(super) unsafe fn gather(from: [*const u8; 4]) -> Z {
        // SAFETY: the caller promises 16 readable bytes.
        let a = unsafe { _mm_loadu_si128(from[0].cast()) };
        // SAFETY: the caller promises 16 readable bytes of the second message, too.
        let b = unsafe { _mm_loadu_si128(from[1].cast()) };
        // SAFETY: the caller promises 16 readable bytes of the third message, too.
        let c = unsafe { _mm_loadu_si128(from[2].cast()) };
        // SAFETY: the caller promises 16 readable bytes of the fourth message, too.
        let d = unsafe { _mm_loadu_si128(from[3].cast()) };
        lanes(a, b, c, d)
    }
}

wide_fn! {
    /// Two blocks that follow each other of each of four messages, in lanes: those from `BLOCK` on, when block 0 is
    /// the second of a line.
    ///
    /// # Safety
    /// Each is readable for 32 bytes.
    #[inline]
    pub(super) unsafe fn gather_two<const BLOCK: usize>(from: [*const u8; 4]) -> [Z; 2] {
        // SAFETY: the caller promises 32 readable bytes of each.
        let ab = unsafe { halves::<BLOCK>(from[0], from[1]) };
        // SAFETY: the caller promises 32 readable bytes of the third and the fourth, too.
        let cd = unsafe { halves::<BLOCK>(from[2], from[3]) };
        [_mm512_shuffle_i64x2::<0x88>(ab, cd), _mm512_shuffle_i64x2::<0xdd>(ab, cd)]
    }
}

wide_fn! {
    /// # Safety
    /// Both are readable for 32 bytes.
    #[inline]
    unsafe fn halves<const BLOCK: usize>(low: *const u8, high: *const u8) -> Z {
        // SAFETY: the caller promises 32 readable bytes.
        let low = _mm512_castsi256_si512(unsafe { _mm256_loadu_si256(low.cast()) });
        if BLOCK % 4 == 1 {
            // The upper half of a line, which loads where it belongs without the ports that shuffle.
            // SAFETY: as above; masked bytes are not touched.
            unsafe { _mm512_mask_loadu_epi64(low, 0xf0, high.wrapping_sub(32).cast()) }
        } else {
            // SAFETY: the caller promises 32 readable bytes of the upper one, too.
            _mm512_inserti64x4::<1>(low, unsafe { _mm256_loadu_si256(high.cast()) })
        }
    }
}

wide_fn! {
    /// Four blocks as lanes.
    #[inline]
    pub(super) fn lanes(a: __m128i, b: __m128i, c: __m128i, d: __m128i) -> Z {
        // Pairs first: a half is put together from memory without the ports that shuffle.
        let low = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(a), b);
        let high = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(c), d);
        _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
    }
}

wide_fn! {
    /// A counter in the last word of each lane.
    #[inline]
    pub(super) fn counter(value: i32) -> Z {
        _mm512_maskz_set1_epi32(0x8888, value.swap_bytes())
    }
}

/// Where the round keys of a group begin, and something further on.
#[inline(always)]
pub(super) fn keys(group: &Group, offset: usize) -> [*const u8; 4] {
    [&group[0], &group[1], &group[2], &group[3]].map(|item| item.key.wrapping_add(offset))
}
