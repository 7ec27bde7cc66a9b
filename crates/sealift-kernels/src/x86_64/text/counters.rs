//! The counters of a text, some registers at a time.
#![allow(unsafe_code)]

use core::arch::x86_64::__m128i;

use crate::x86_64::{aesni::to_u128, isa::Isa, window::item::LONGEST_TEXT};

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

    /// The counter blocks of the next `N` registers, with the first round key added; so many of them are used.
    #[inline(always)]
    pub(super) fn blocks<const N: usize>(
        &mut self,
        isa: I,
        key: I::Register,
        used: usize,
    ) -> [I::Register; N] {
        let mut blocks = [self.now; N];
        let changes_last_byte_only = self.low + N * I::LANES <= 256;
        if changes_last_byte_only && I::LOADS_BLOCKS {
            // A secret byte never gets here, so it may say where to load from.
            let last_bytes = |register: usize| {
                let place = COUNTER_BLOCKS.of(self.low + register * I::LANES);
                // SAFETY: the table has a block for every byte, and the last of these is no later than that of 255.
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
        self.now = isa.later(self.now, used);
        // Back to a byte, and a secret stays one.
        self.low = (self.low + used) & !256;
        blocks
    }
}

/// Counter blocks but for their nonce, from zero on: making them takes the ports that AES and multiplications do.
pub(in crate::x86_64) static COUNTER_BLOCKS: CounterBlocks = CounterBlocks::new();

/// See [`COUNTER_BLOCKS`].
#[repr(C, align(64))]
pub(in crate::x86_64) struct CounterBlocks {
    // So that the block of a text's first counter, which is 2 with a nonce of 12 bytes, begins a cache line.
    _before: [[u8; 16]; 2],
    blocks: [[u8; 16]; CounterBlocks::LEN],
}

impl CounterBlocks {
    /// As many as the longest text has that is not worked by itself, those before its first, and a register more.
    pub(in crate::x86_64) const LEN: usize = 2 + LONGEST_TEXT / 16 + 4;

    const fn new() -> CounterBlocks {
        let (mut blocks, mut counter) = ([[0; 16]; CounterBlocks::LEN], 0);
        while counter < CounterBlocks::LEN {
            blocks[counter] = (counter as u128).to_be_bytes();
            counter += 1;
        }
        CounterBlocks { _before: [[0; 16]; 2], blocks }
    }

    /// Where that of a counter is.
    #[inline(always)]
    pub(in crate::x86_64) fn of(&self, counter: usize) -> *const u8 {
        self.blocks.as_ptr().wrapping_add(counter).cast()
    }
}

const _: () = assert!(CounterBlocks::LEN >= 256);
