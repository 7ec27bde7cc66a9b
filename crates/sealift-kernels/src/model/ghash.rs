//! GHASH of SP 800-38D, section 6.4.

use core::hint::black_box;

use crate::once;

/// A running GHASH. Blocks are `u128`s whose highest bit is the field's x^0, as the standard
/// writes them.
pub(super) struct Ghash {
    key: u128,
    sum: u128,
}

impl Ghash {
    /// Starts a hash under the hash key H.
    pub(super) fn new(key: u128) -> Ghash {
        Ghash { key, sum: 0 }
    }

    /// Takes in one block.
    pub(super) fn block(&mut self, block: [u8; 16]) {
        self.sum = multiply(self.sum ^ u128::from_be_bytes(block), self.key);
    }

    /// Takes in bytes, with zeros up to the end of the last block.
    pub(super) fn padded(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(16) {
            self.block(once::block(chunk));
        }
    }

    /// Takes in so many blocks by their hash.
    pub(super) fn part(&mut self, blocks: u64, hash: u128) {
        let (mut power, mut left) = (self.key, blocks);
        while left > 0 {
            if left & 1 == 1 {
                self.sum = multiply(self.sum, power);
            }
            power = multiply(power, power);
            left >>= 1;
        }
        self.sum ^= hash;
    }

    /// Takes in two lengths, given in bytes and hashed in bits.
    pub(super) fn lengths(&mut self, first: usize, second: usize) {
        let block = ((first as u128 * 8) << 64) | (second as u128 * 8);
        self.block(block.to_be_bytes());
    }

    /// The hash of everything taken in.
    pub(super) fn sum(&self) -> u128 {
        self.sum
    }
}

/// The product in GF(2^128), bit by bit (SP 800-38D, algorithm 1).
fn multiply(x: u128, y: u128) -> u128 {
    const R: u128 = 0xe1 << 120;
    let (mut product, mut shifted) = (0, y);
    for bit in (0..128).rev() {
        product ^= shifted & all_if(x >> bit);
        shifted = (shifted >> 1) ^ (R & all_if(shifted));
    }
    product
}

/// All bits set if the lowest is.
fn all_if(bit: u128) -> u128 {
    // Without the barrier the compiler sees a choice between two values and may branch on it.
    black_box(bit & 1).wrapping_neg()
}
