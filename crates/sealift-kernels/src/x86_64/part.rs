//! Fewer than 16 bytes, between memory and a block, without a buffer that would have to be wiped.
//!
//! Pieces overlap where the length is no power of two. When another thread changes the bytes in
//! between, the block is some mixture, but it is one block: what is hashed is what is decrypted.
#![allow(unsafe_code)]

use core::arch::x86_64::*;

/// Loads the first `len` bytes of a block; zeros behind them.
///
/// # Safety
/// `from` is readable for `len` bytes, and `len` is at most 16.
#[inline]
#[target_feature(enable = "ssse3")]
pub(super) unsafe fn load(from: *const u8, len: usize) -> __m128i {
    let behind = |piece: usize| from.wrapping_add(len - piece);
    match len {
        0 => _mm_setzero_si128(),
        1..4 => {
            let middle = from.wrapping_add(len / 2);
            // SAFETY: the first of `len` bytes.
            let first = unsafe { from.read() };
            // SAFETY: within `len` bytes.
            let middle = unsafe { middle.read() };
            // SAFETY: the last of `len` bytes.
            let last = unsafe { behind(1).read() };
            let at = |byte: u8, place: usize| i32::from(byte) << (8 * place);
            _mm_cvtsi32_si128(at(first, 0) | at(middle, len / 2) | at(last, len - 1))
        }
        4..8 => {
            // SAFETY: there are at least 4 bytes.
            let first = unsafe { _mm_loadu_si32(from.cast()) };
            // SAFETY: the last 4 of `len` bytes, which are at least 4.
            let last = unsafe { _mm_loadu_si32(behind(4).cast()) };
            _mm_or_si128(first, up(last, len - 4))
        }
        8..16 => {
            // SAFETY: there are at least 8 bytes.
            let first = unsafe { _mm_loadl_epi64(from.cast()) };
            // SAFETY: the last 8 of `len` bytes, which are at least 8.
            let last = unsafe { _mm_loadl_epi64(behind(8).cast()) };
            _mm_or_si128(first, up(last, len - 8))
        }
        // SAFETY: there are 16 bytes.
        _ => unsafe { _mm_loadu_si128(from.cast()) },
    }
}

/// Stores the first `len` bytes of a block.
///
/// # Safety
/// `to` is writable for `len` bytes, and `len` is at most 16.
#[inline]
#[target_feature(enable = "ssse3")]
pub(super) unsafe fn store(to: *mut u8, block: __m128i, len: usize) {
    let behind = |piece: usize| to.wrapping_add(len - piece);
    match len {
        0 => {}
        1..4 => {
            let middle = to.wrapping_add(len / 2);
            let [first, second, third, _] = _mm_cvtsi128_si32(block).to_le_bytes();
            // SAFETY: the first of `len` bytes.
            unsafe { to.write(first) };
            // SAFETY: within `len` bytes.
            unsafe { middle.write(if len == 1 { first } else { second }) };
            // SAFETY: the last of `len` bytes.
            unsafe { behind(1).write([first, second, third][len - 1]) };
        }
        4..8 => {
            let last = down(block, len - 4);
            // SAFETY: there are at least 4 bytes.
            unsafe { _mm_storeu_si32(to.cast(), block) };
            // SAFETY: the last 4 of `len` bytes, which are at least 4.
            unsafe { _mm_storeu_si32(behind(4).cast(), last) };
        }
        8..16 => {
            let last = down(block, len - 8);
            // SAFETY: there are at least 8 bytes.
            unsafe { _mm_storel_epi64(to.cast(), block) };
            // SAFETY: the last 8 of `len` bytes, which are at least 8.
            unsafe { _mm_storel_epi64(behind(8).cast(), last) };
        }
        // SAFETY: there are 16 bytes.
        _ => unsafe { _mm_storeu_si128(to.cast(), block) },
    }
}

/// A block moved up by as many bytes, with zeros before it.
#[inline]
#[target_feature(enable = "ssse3")]
pub(super) fn up(block: __m128i, bytes: usize) -> __m128i {
    _mm_shuffle_epi8(block, order(16 - bytes))
}

/// A block moved down by as many bytes, with zeros behind it.
#[inline]
#[target_feature(enable = "ssse3")]
pub(super) fn down(block: __m128i, bytes: usize) -> __m128i {
    _mm_shuffle_epi8(block, order(16 + bytes))
}

/// Which byte comes where. From 32 on there are zeros alone, as from 0 on.
#[inline]
#[target_feature(enable = "sse2")]
fn order(from: usize) -> __m128i {
    // SAFETY: 16 of 48 bytes are readable from each of the first 32 on.
    unsafe { _mm_loadu_si128(SHIFTS.as_ptr().wrapping_add(from % 32).cast()) }
}

/// The bytes of a block in order, between as many that become zeros.
static SHIFTS: [u8; 48] = {
    let (mut shifts, mut byte) = ([0x80; 48], 0);
    while byte < 16 {
        shifts[16 + byte as usize] = byte;
        byte += 1;
    }
    shifts
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::x86_64::{
        aesni::{load_block, to_u128},
        cpu::HaveAesNi,
    };

    #[test]
    fn every_length_goes_in_and_out() {
        if HaveAesNi::check().is_err() {
            return eprintln!("skipped: this processor lacks the instructions");
        }
        let bytes: [u8; 18] = core::array::from_fn(|i| u8::try_from(i).unwrap() + 1);
        for len in 0..=16 {
            // SAFETY: there are 17 bytes from there.
            let block = to_u128(unsafe { load(bytes[1..].as_ptr(), len) });
            let mut expected = [0; 16];
            expected[..len].copy_from_slice(&bytes[1..=len]);
            assert_eq!(block.to_le_bytes(), expected, "{len}");

            let mut out = [0xee; 18];
            // SAFETY: every processor of this kind has the instructions.
            let block = unsafe { load_block(&u128::from_le_bytes(expected)) };
            // SAFETY: there are 17 bytes from there.
            unsafe { store(out[1..].as_mut_ptr(), block, len) };
            assert_eq!(out[1..=len], bytes[1..=len]);
            assert!(out[0] == 0xee && out[len + 1..].iter().all(|byte| *byte == 0xee), "{len}");
        }
    }
}
