//! One block, or the beginning of one.
#![allow(unsafe_code)]

use core::arch::{asm, x86_64::*};

use super::zmm::wide_fn;

wide_fn! {
    /// Loads up to 16 bytes; zeros behind them.
    ///
    /// # Safety
    /// They are readable.
    #[inline]
    pub(super) unsafe fn load_block(from: *const u8, bytes: usize) -> __m128i {
        // SAFETY: the caller promises so many bytes; masked ones are not touched.
        unsafe { _mm_maskz_loadu_epi8(mask(bytes), from.cast()) }
    }
}

wide_fn! {
    /// Stores the first bytes of a block, up to 16.
    ///
    /// # Safety
    /// They are writable.
    #[inline]
    pub(super) unsafe fn store_block(to: *mut u8, block: __m128i, bytes: usize) {
        if bytes == 16 {
            // SAFETY: the caller promises so many bytes.
            unsafe { _mm_storeu_si128(to.cast(), block) };
        } else {
            // SAFETY: the caller promises so many bytes; masked ones are not touched.
            unsafe { _mm_mask_storeu_epi8(to.cast(), mask(bytes), block) };
        }
    }
}

wide_fn! {
    /// Zeros behind the first bytes.
    #[inline]
    pub(super) fn keep(block: __m128i, bytes: usize) -> __m128i {
        _mm_maskz_mov_epi8(mask(bytes), block)
    }
}

wide_fn! {
    #[inline]
    pub(super) fn to_bytes(block: __m128i) -> [u8; 16] {
        let mut bytes = [0; 16];
        // SAFETY: an array of 16 bytes is writable.
        unsafe { _mm_storeu_si128(bytes.as_mut_ptr().cast(), block) };
        bytes
    }
}

wide_fn! {
    #[inline]
    pub(super) fn from_bytes(bytes: &[u8; 16]) -> __m128i {
        // SAFETY: an array of 16 bytes is readable.
        unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
    }
}

/// Hides where a block came from, so that the compiler can't load it again.
#[inline(always)]
pub(super) fn once(mut block: __m128i) -> __m128i {
    // SAFETY: no instruction is emitted.
    unsafe {
        asm!("/* {0} */", inout(xmm_reg) block, options(nomem, nostack, preserves_flags));
    }
    block
}

/// A bit for each of the first bytes, up to 16.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "as many bits as a block has bytes")]
fn mask(bytes: usize) -> u16 {
    ((1_u32 << bytes) - 1) as u16
}
