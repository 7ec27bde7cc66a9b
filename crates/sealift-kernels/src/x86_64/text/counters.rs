//! The counters of a text, some registers at a time.
#![allow(unsafe_code)]

use core::arch::x86_64::__m128i;

use crate::x86_64::{aesni::to_u128, isa::Isa};

/// The counter block of a text's first block.
#[derive(Clone, Copy)]
pub(in crate::x86_64) struct First {
    /// It, reversed.
    pub(in crate::x86_64) block: __m128i,
    /// Whether anybody may know it: a hashed nonce tells of the hash key.
    pub(in crate::x86_64) is_public: bool,
}

/// Reversed counter blocks.
pub(super) struct Counters<I: Isa> {
    now: I::Register,
    /// The last byte of the first one, or [`SECRET`].
    low: usize,
}

/// Stands for the last byte of a counter block on which nothing may depend.
const SECRET: usize = usize::MAX / 2 + 1;

impl<I: Isa> Counters<I> {
    /// Those from the first of a text on.
    #[inline(always)]
    pub(super) fn new(isa: I, first: First) -> Counters<I> {
        let low = if first.is_public { (to_u128(first.block) % 256) as usize } else { SECRET };
        Counters { now: isa.counters(first.block), low }
    }

    /// The counter blocks of the next `N` registers, with the first round key added.
    #[inline(always)]
    pub(super) fn blocks<const N: usize>(&mut self, isa: I, key: I::Register) -> [I::Register; N] {
        let mut blocks = [self.now; N];
        let changes_last_byte_only = self.low + N * I::LANES <= 256;
        if changes_last_byte_only && I::LOADS_BLOCKS {
            // A secret byte never gets here, so it may say where to load from.
            let last_bytes = |register: usize| {
                let place = LAST_BYTES.of(self.low + register * I::LANES);
                // SAFETY: there is a block for every byte, and the last of these is no later than that of 255.
                unsafe { isa.load_table(place) }
            };
            let first = isa.xor(isa.reverse(self.now), key);
            let before = isa.xor(first, last_bytes(0));
            blocks[0] = first;
            for (i, block) in blocks.iter_mut().enumerate().skip(1) {
                *block = isa.xor(before, last_bytes(i));
            }
        } else if changes_last_byte_only {
            // There is no need to turn each block around.
            let first = isa.reverse(self.now);
            for (i, block) in blocks.iter_mut().enumerate() {
                let more = ((i * I::LANES) as u128) << 120;
                *block = isa.xor(isa.add(first, isa.broadcast(&more)), key);
            }
        } else {
            for (i, block) in blocks.iter_mut().enumerate() {
                let counter = isa.later(*block, i * I::LANES);
                *block = isa.xor(isa.reverse(counter), key);
            }
        }
        self.now = isa.later(self.now, N * I::LANES);
        // Back to a byte, and a secret stays one.
        self.low = (self.low + N * I::LANES) & !256;
        blocks
    }
}

/// For every byte a block that ends with it, behind zeros: 4 KiB, of which a step reads half a KiB.
#[repr(C, align(64))]
struct LastBytes {
    // So that the block for 2, with which the first counter of a nonce of 12 bytes ends, begins a cache line.
    _before: [[u8; 16]; 2],
    blocks: [[u8; 16]; 256],
}

impl LastBytes {
    /// Where that of a byte is.
    #[inline(always)]
    fn of(&self, byte: usize) -> *const u8 {
        self.blocks.as_ptr().wrapping_add(byte).cast()
    }
}

#[expect(clippy::cast_possible_truncation, reason = "bytes are counted")]
static LAST_BYTES: LastBytes = {
    let (mut blocks, mut byte) = ([[0; 16]; 256], 0);
    while byte < 256 {
        blocks[byte][15] = byte as u8;
        byte += 1;
    }
    LastBytes { _before: [[0; 16]; 2], blocks }
};
