//! At most 16 bytes, between memory and a block, without a buffer that would have to be wiped.
//!
//! Pieces overlap where the length is no power of two, and each byte is taken from one of them. When another thread changes the
//! bytes in between, the block is some mixture, but it is one block: what is hashed is what is decrypted.
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
        // SAFETY: there is a byte.
        1 => _mm_cvtsi32_si128(unsafe { from.read() }.into()),
        2 | 3 => {
            // SAFETY: there are at least 2 bytes.
            let first = unsafe { from.cast::<u16>().read_unaligned() };
            // SAFETY: the last of `len` bytes.
            let last = if len == 3 { unsafe { behind(1).read() } } else { 0 };
            _mm_cvtsi32_si128(i32::from(first) | i32::from(last) << 16)
        }
        4..8 => {
            // SAFETY: there are at least 4 bytes.
            let first = unsafe { _mm_loadu_si32(from.cast()) };
            // SAFETY: the last 4 of `len` bytes, which are at least 4.
            let last = unsafe { _mm_loadu_si32(behind(4).cast()) };
            _mm_unpacklo_epi32(first, down(last, 8 - len))
        }
        8..16 => {
            // SAFETY: there are at least 8 bytes.
            let first = unsafe { _mm_loadl_epi64(from.cast()) };
            // SAFETY: the last 8 of `len` bytes, which are at least 8.
            let last = unsafe { _mm_loadl_epi64(behind(8).cast()) };
            _mm_unpacklo_epi64(first, down(last, 16 - len))
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
#[expect(clippy::cast_possible_truncation, reason = "a byte is taken out")]
pub(super) unsafe fn store(to: *mut u8, block: __m128i, len: usize) {
    let behind = |piece: usize| to.wrapping_add(len - piece);
    match len {
        0 => {}
        1..4 => {
            let bytes = _mm_cvtsi128_si32(block).cast_unsigned();
            let at = |place: usize| (bytes >> (8 * place)) as u8;
            // SAFETY: the first of `len` bytes.
            unsafe { to.write(at(0)) };
            // SAFETY: within `len` bytes.
            unsafe { to.wrapping_add(len / 2).write(at(len / 2)) };
            // SAFETY: the last of `len` bytes.
            unsafe { behind(1).write(at(len - 1)) };
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

/// A block moved up by so many bytes, at most 16, with zeros before it.
#[inline]
#[target_feature(enable = "ssse3")]
pub(super) fn up(block: __m128i, bytes: usize) -> __m128i {
    _mm_shuffle_epi8(block, order(16 - bytes))
}

/// A block moved down by so many bytes, at most 16, with zeros behind it.
#[inline]
#[target_feature(enable = "ssse3")]
pub(super) fn down(block: __m128i, bytes: usize) -> __m128i {
    _mm_shuffle_epi8(block, order(16 + bytes))
}

/// Which byte comes where. From 32 on there would be zeros alone, as from 0 on.
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
        cpu::{HaveAesNi, HaveVaes256},
        isa::Isa,
    };

    #[test]
    fn every_length_goes_in_and_out() {
        if HaveAesNi::check().is_err() {
            return eprintln!("skipped: this processor lacks the instructions");
        }
        let bytes: [u8; 18] = core::array::from_fn(|i| u8::try_from(i).unwrap() + 1);
        for len in 0..=16 {
            // SAFETY: there are 17 bytes from there, and the processor was asked for the instructions.
            let block = to_u128(unsafe { load(bytes[1..].as_ptr(), len) });
            let mut expected = [0; 16];
            expected[..len].copy_from_slice(&bytes[1..=len]);
            assert_eq!(block.to_le_bytes(), expected, "{len}");

            let mut out = [0xee; 18];
            // SAFETY: every processor of this kind has the instructions.
            let block = unsafe { load_block(&u128::from_le_bytes(expected)) };
            // SAFETY: there are 17 bytes from there, and the processor was asked for the instructions.
            unsafe { store(out[1..].as_mut_ptr(), block, len) };
            assert_eq!(out[1..=len], bytes[1..=len]);
            assert!(out[0] == 0xee && out[len + 1..].iter().all(|byte| *byte == 0xee), "{len}");
        }
    }

    #[test]
    fn every_part_of_two_blocks_goes_in_and_out() {
        let Ok(isa) = HaveVaes256::check() else {
            return eprintln!("skipped: this processor lacks the instructions");
        };
        let bytes: [u8; 34] = core::array::from_fn(|i| u8::try_from(i).unwrap() + 1);
        for len in 0..32 {
            // SAFETY: there are 33 bytes from there.
            let register = unsafe { isa.load_part(bytes[1..].as_ptr(), len) };
            let (mut whole, mut expected) = ([0xee; 32], [0; 32]);
            // SAFETY: there are 32 bytes.
            unsafe { isa.store(whole.as_mut_ptr(), register) };
            expected[..len].copy_from_slice(&bytes[1..=len]);
            assert_eq!(whole, expected, "{len}");

            let mut out = [0xee; 34];
            // SAFETY: there are 33 bytes from there.
            unsafe { isa.store_part(out[1..].as_mut_ptr(), register, len) };
            assert_eq!(out[1..=len], bytes[1..=len]);
            assert!(out[0] == 0xee && out[len + 1..].iter().all(|byte| *byte == 0xee), "{len}");
        }
    }
}
