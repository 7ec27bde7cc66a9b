//! One text through AES and GHASH.
//!
//! It is taken in steps of eight registers. Their AES rounds are woven with the products of ciphertext: of their own when it
//! is opened, of the step before when it is sealed. There the hash runs in lanes: lane i sums blocks i, i + n, ..., and each
//! register is multiplied with the same power in all lanes. The end, at least a byte, is multiplied with the last
//! powers in order, together with the block of lengths, so that the sum of the lanes is the hash.
#![allow(unsafe_code)]

mod chain;
mod counters;
mod end;
mod pieces;
mod span;
mod steps;

use core::arch::x86_64::__m128i;

use sealift_core::Op;

pub(super) use self::{
    chain::Chain,
    counters::{COUNTER_BLOCKS, CounterBlocks, First},
    pieces::{open_pieces, seal_pieces, weave_piece},
    span::Span,
    steps::Steps,
};
use self::{end::end, span::LINE};
use super::{cpu::HaveAesNi, ctr, ghash, isa::Isa};
use crate::schedule::{Expanded, POWERS};

/// Registers of a step.
pub(super) const STEP: usize = 8;

/// Registers of the longest end: there are powers for its blocks.
const fn end_registers<I: Isa>() -> usize {
    if POWERS / I::LANES < STEP { POWERS / I::LANES } else { STEP }
}

/// Texts of more bytes than these are long: there are steps before their end.
pub(super) const fn short_bytes<I: Isa>() -> usize {
    end_registers::<I>() * I::BYTES
}

/// What the tag of a message needs besides its texts.
pub(super) struct TagBlocks {
    /// The lengths of its texts, which are hashed last.
    pub(super) lengths: __m128i,
    /// The block that hides the hash once it is encrypted, which is done beside the text.
    pub(super) mask: __m128i,
}

impl TagBlocks {
    /// Of a message with this first counter block, reversed; lengths are in bytes.
    #[inline(always)]
    pub(super) fn of(token: HaveAesNi, counter: __m128i, aad: usize, text: usize) -> TagBlocks {
        TagBlocks { lengths: ghash::lengths(token, aad, text), mask: token.reverse(counter) }
    }

    /// Does what is to be done where there is no text to encrypt.
    #[inline(always)]
    pub(super) fn alone(
        &mut self,
        token: HaveAesNi,
        schedule: &Expanded,
        hash: __m128i,
    ) -> __m128i {
        self.mask = ctr::encrypt_block(token, schedule, self.mask);
        ghash::absorb_block(token, schedule, hash, self.lengths)
    }
}

/// Seals or opens a text, and takes its ciphertext into the hash; of a whole message also the block of lengths, and its mask is
/// encrypted meanwhile. Each register of an open is loaded once, and what is hashed is what is decrypted.
///
/// # Safety
/// `text` is readable and writable for its length. With `LONG`, and only then, that is more than [`short_bytes`].
#[inline(always)]
pub(super) unsafe fn crypt<I: Isa, const LONG: bool>(
    isa: I,
    schedule: &Expanded,
    op: Op,
    first: First,
    hash: __m128i,
    ends: Option<&mut TagBlocks>,
    text: Span,
) -> __m128i {
    debug_assert_eq!(LONG, text.len() > short_bytes::<I>(), "{} bytes", text.len());
    if text.len() == 0 {
        return ends.map_or(hash, |ends| ends.alone(isa.into(), schedule, hash));
    }
    let narrow: HaveAesNi = isa.into();
    let lengths = ends.as_ref().map(|ends| ends.lengths);
    // A part of a text has none. Zeros are encrypted instead: the hash key, which is forgotten.
    let mask = ends.as_ref().map_or(narrow.broadcast(&0), |ends| ends.mask);
    let mut state = [narrow.xor(mask, narrow.broadcast(&schedule.first_blocks()[0]))];
    let hash = match op {
        // SAFETY: the caller keeps the same promise.
        Op::Seal => unsafe {
            work::<I, LONG, true>(isa, schedule, first, hash, lengths, &mut state, text)
        },
        // SAFETY: the caller keeps the same promise.
        _ => unsafe {
            work::<I, LONG, false>(isa, schedule, first, hash, lengths, &mut state, text)
        },
    };
    if let Some(ends) = ends {
        [ends.mask] = state;
    }
    hash
}

/// # Safety
/// As for [`crypt`], and the text has a byte.
#[inline(always)]
unsafe fn work<I: Isa, const LONG: bool, const SEAL: bool>(
    isa: I,
    schedule: &Expanded,
    first: First,
    hash: __m128i,
    lengths: Option<__m128i>,
    mask: &mut [__m128i; 1],
    mut text: Span,
) -> __m128i {
    let hash = isa.first_lane(hash);
    if !LONG {
        let steps = Steps::without_powers(isa, schedule, first, hash);
        // SAFETY: the caller promises a text of one byte or more, and of no more than `short_bytes`.
        return unsafe { end::<I, SEAL, 0, 1>(steps, &[], &text, lengths, mask) };
    }
    let powers = steps::powers(isa, schedule);
    let keys;
    let keys = if I::LOADS_BLOCKS {
        keys = steps::keys(isa, schedule);
        Some(&keys)
    } else {
        None
    };
    let mut steps = Steps::new(isa, schedule, &powers, keys, first, hash);
    if I::BYTES == LINE
        && let Some(blocks) = text.blocks_before_line()
    {
        // SAFETY: the caller promises a long text, which has more than four registers.
        unsafe { steps.work_head::<SEAL>(&mut text, blocks) };
    }
    // Lanes need a power each, and the last blocks have the first powers.
    let end_blocks = (text.len() - 1) % short_bytes::<I>() / 16 + 1;
    if end_blocks + usize::from(lengths.is_some()) < I::LANES {
        // SAFETY: the caller promises a long text, which has more than four registers, and a part of one at most was taken.
        unsafe { steps.work_two::<SEAL>(&mut text) };
    }
    if SEAL {
        // SAFETY: the caller promises a long text, which has more than four registers, and fewer were taken.
        unsafe { steps.seal(&mut text, lengths, mask) }
    } else {
        // SAFETY: as for a seal.
        unsafe { steps.open(&mut text, lengths, mask) }
    }
}

#[cfg(test)]
mod tests;
