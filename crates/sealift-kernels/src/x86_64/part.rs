//! Fewer than 16 bytes, between memory and a block, without a buffer that would have to be wiped.
//!
//! Pieces overlap where the length is no power of two. When another thread changes the bytes in
//! between, the block is some mixture, but it is one block: what is hashed is what is decrypted.
#![allow(unsafe_code)]

/// Loads the first `len` bytes of a block; zeros behind them.
///
/// # Safety
/// `from` is readable for `len` bytes, and `len` is at most 16.
#[inline(always)]
pub(super) unsafe fn load(from: *const u8, len: usize) -> u128 {
    let behind = |piece: usize| from.wrapping_add(len - piece);
    match len {
        0 => 0,
        1..4 => {
            let middle = from.wrapping_add(len / 2);
            // SAFETY: the first of `len` bytes.
            let first = unsafe { from.read() };
            // SAFETY: within `len` bytes.
            let middle = unsafe { middle.read() };
            // SAFETY: the last of `len` bytes.
            let last = unsafe { behind(1).read() };
            at(first.into(), 0) | at(middle.into(), len / 2) | at(last.into(), len - 1)
        }
        4..8 => {
            // SAFETY: there are at least 4 bytes.
            let first = unsafe { from.cast::<u32>().read_unaligned() };
            // SAFETY: the last 4 of `len` bytes, which are at least 4.
            let last = unsafe { behind(4).cast::<u32>().read_unaligned() };
            u128::from(first) | from_byte(at(last.into(), len - 4), 4)
        }
        8..16 => {
            // SAFETY: there are at least 8 bytes.
            let first = unsafe { from.cast::<u64>().read_unaligned() };
            // SAFETY: the last 8 of `len` bytes, which are at least 8.
            let last = unsafe { behind(8).cast::<u64>().read_unaligned() };
            u128::from(first) | from_byte(at(last.into(), len - 8), 8)
        }
        // SAFETY: there are 16 bytes.
        _ => unsafe { from.cast::<u128>().read_unaligned() },
    }
}

/// Stores the first `len` bytes of a block.
///
/// # Safety
/// `to` is writable for `len` bytes, and `len` is at most 16.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "pieces are taken out of the block")]
pub(super) unsafe fn store(to: *mut u8, block: u128, len: usize) {
    let behind = |piece: usize| to.wrapping_add(len - piece);
    let bytes_at = |place: usize| block >> (8 * place);
    match len {
        0 => {}
        1..4 => {
            let middle = to.wrapping_add(len / 2);
            // SAFETY: the first of `len` bytes.
            unsafe { to.write(block as u8) };
            // SAFETY: within `len` bytes.
            unsafe { middle.write(bytes_at(len / 2) as u8) };
            // SAFETY: the last of `len` bytes.
            unsafe { behind(1).write(bytes_at(len - 1) as u8) };
        }
        4..8 => {
            // SAFETY: there are at least 4 bytes.
            unsafe { to.cast::<u32>().write_unaligned(block as u32) };
            // SAFETY: the last 4 of `len` bytes, which are at least 4.
            unsafe { behind(4).cast::<u32>().write_unaligned(bytes_at(len - 4) as u32) };
        }
        8..16 => {
            // SAFETY: there are at least 8 bytes.
            unsafe { to.cast::<u64>().write_unaligned(block as u64) };
            // SAFETY: the last 8 of `len` bytes, which are at least 8.
            unsafe { behind(8).cast::<u64>().write_unaligned(bytes_at(len - 8) as u64) };
        }
        // SAFETY: there are 16 bytes.
        _ => unsafe { to.cast::<u128>().write_unaligned(block) },
    }
}

/// Bytes moved up to a place in the block.
fn at(bytes: u128, place: usize) -> u128 {
    bytes << (8 * place)
}

/// A block without its first bytes.
fn from_byte(block: u128, place: usize) -> u128 {
    block & (u128::MAX << (8 * place))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_goes_in_and_out() {
        let bytes: [u8; 18] = core::array::from_fn(|i| u8::try_from(i).unwrap() + 1);
        for len in 0..=16 {
            // SAFETY: there are 17 bytes from there.
            let block = unsafe { load(bytes[1..].as_ptr(), len) };
            let mut expected = [0; 16];
            expected[..len].copy_from_slice(&bytes[1..=len]);
            assert_eq!(block.to_le_bytes(), expected, "{len}");

            let mut out = [0xee; 18];
            // SAFETY: there are 17 bytes from there.
            unsafe { store(out[1..].as_mut_ptr(), u128::from_le_bytes(expected), len) };
            assert_eq!(out[1..=len], bytes[1..=len]);
            assert!(out[0] == 0xee && out[len + 1..].iter().all(|byte| *byte == 0xee), "{len}");
        }
    }
}
