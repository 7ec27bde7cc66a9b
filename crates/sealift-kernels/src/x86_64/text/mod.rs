//! One text through AES and GHASH.
//!
//! It is taken in steps of eight registers. Their AES rounds are woven with the products of ciphertext: of their own when it
//! is opened, of the step before when it is sealed. There the hash runs in lanes: lane i sums blocks i, i + n, ..., and each
//! register is multiplied with the same power in all lanes. The end, at least a byte, is multiplied with the last
//! powers in order, together with the block of lengths, so that the sum of the lanes is the hash.
#![allow(unsafe_code)]

mod counters;
mod end;
mod pieces;
mod span;
mod steps;

use core::arch::x86_64::__m128i;

use sealift_core::Op;

use self::end::end;
pub(super) use self::{counters::First, pieces::pieces, span::Span, steps::Steps};
use super::{ghash, isa::Isa};
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

/// Seals or opens a text, and takes its ciphertext into the hash, and the block of `lengths` if there is one. Each register
/// of an open is loaded once, and what is hashed is what is decrypted.
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
    lengths: Option<__m128i>,
    text: Span,
) -> __m128i {
    debug_assert_eq!(LONG, text.len() > short_bytes::<I>(), "{} bytes", text.len());
    if text.len() == 0 {
        return lengths
            .map_or(hash, |block| ghash::absorb_block(isa.into(), schedule, hash, block));
    }
    match op {
        // SAFETY: the caller keeps the same promise.
        Op::Seal => unsafe { work::<I, LONG, true>(isa, schedule, first, hash, lengths, text) },
        // SAFETY: the caller keeps the same promise.
        _ => unsafe { work::<I, LONG, false>(isa, schedule, first, hash, lengths, text) },
    }
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
    mut text: Span,
) -> __m128i {
    let hash = isa.first_lane(hash);
    if !LONG {
        let steps = Steps::without_powers(isa, schedule, first, hash);
        // SAFETY: the caller promises a text of one byte or more, and of no more than `short_bytes`.
        return unsafe { end::<I, SEAL, 0>(steps, &[], &text, lengths) };
    }
    let powers = steps::powers(isa, schedule);
    let mut steps = Steps::new(isa, schedule, &powers, first, hash);
    // Lanes need a power each, and the last blocks have the first powers.
    let end_blocks = (text.len() - 1) % short_bytes::<I>() / 16 + 1;
    if end_blocks + usize::from(lengths.is_some()) < I::LANES {
        // SAFETY: the caller promises a long text, which has more than two registers.
        unsafe { steps.work_two::<SEAL>(&mut text) };
    }
    if SEAL {
        // SAFETY: the caller promises a long text, which has more than two registers, and two at most were taken.
        unsafe { steps.seal(&mut text, lengths) }
    } else {
        // SAFETY: as for a seal.
        unsafe { steps.open(&mut text, lengths) }
    }
}

#[cfg(test)]
mod tests;
