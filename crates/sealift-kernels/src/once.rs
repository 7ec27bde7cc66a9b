//! Reading bytes that another thread may be rewriting.
#![allow(unsafe_code)]

use core::ptr;

/// Copies up to 16 bytes into a block, zeros behind them, reading each byte exactly once.
///
/// What is hashed and what is decrypted must be the same bytes. The compiler may load from a slice
/// as often as it likes; a volatile read happens once, and everything after works on the copy.
pub(crate) fn block(bytes: &[u8]) -> [u8; 16] {
    if let Ok(whole) = <&[u8; 16]>::try_from(bytes) {
        // SAFETY: a reference to an array is readable and aligned.
        return unsafe { ptr::read_volatile(whole) };
    }
    let mut block = [0; 16];
    for (to, from) in block.iter_mut().zip(bytes) {
        // SAFETY: a reference to a byte is readable and aligned.
        *to = unsafe { ptr::read_volatile(from) };
    }
    block
}
