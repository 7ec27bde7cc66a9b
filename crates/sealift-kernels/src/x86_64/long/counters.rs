//! The counters of a long text, a step at a time.

use super::STEP;
use crate::x86_64::{aesni::to_u128, ctr::First, isa::Isa};

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
    pub(super) fn new(now: I::Register, first: First) -> Counters<I> {
        let low = if first.is_public { (to_u128(first.block) % 256) as usize } else { SECRET };
        Counters { now, low }
    }

    /// Those of the register that comes next.
    #[inline(always)]
    pub(super) fn next(&self) -> I::Register {
        self.now
    }

    /// The counter blocks of the next step, with the first round key added.
    #[inline(always)]
    pub(super) fn blocks(&mut self, isa: I, key: I::Register) -> [I::Register; STEP] {
        let mut blocks = [self.now; STEP];
        if self.low + STEP * I::LANES <= 256 {
            // The last byte alone changes: there is no need to turn each block around.
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
        self.now = isa.later(self.now, STEP * I::LANES);
        // Back to a byte, and a secret stays one.
        self.low = (self.low + STEP * I::LANES) & !256;
        blocks
    }
}
