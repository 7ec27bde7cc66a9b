//! A text in parts, each hashed by itself from zero, and the tag of all of them.
#![allow(unsafe_code)]

use core::arch::x86_64::__m128i;

use sealift_core::PartHash;

use super::{
    aesni::to_u128,
    cpu::HaveAesNi,
    ctr, gcm,
    ghash::{self, Power, Sums},
    isa::Isa,
};
use crate::{
    caches::Caching,
    schedule::{Expanded, POWERS},
    verdict::Fitting,
};

/// Seals or opens a part that begins so many blocks behind the text's beginning, and gives its hash.
#[inline(always)]
pub(super) fn part<I: Isa, const LONG: bool>(
    isa: I,
    schedule: &Expanded,
    mut text: Fitting<'_, '_>,
    first_block: u32,
    caching: Caching,
) -> u128 {
    let narrow: HaveAesNi = isa.into();
    let counter = gcm::first_counter(isa, schedule, text.nonce());
    // Counters wrap in 32 bits, as they do block by block.
    let counter = narrow.later(counter, first_block as usize);
    let zero = narrow.broadcast(&0);
    to_u128(gcm::crypt::<I, LONG>(isa, schedule, &mut text, counter, zero, None, caching))
}

/// The tag of a message whose parts have these hashes: each is multiplied with the power of the hash key that the blocks
/// behind it make.
#[inline(always)]
pub(super) fn tag(
    token: HaveAesNi,
    schedule: &Expanded,
    slot: &Fitting<'_, '_>,
    parts: &[PartHash],
) -> u128 {
    let counter = gcm::first_counter(token, schedule, slot.nonce());
    let mask = ctr::encrypt_block(token, schedule, token.reverse(counter));
    let (aad, zero) = (slot.aad(), token.broadcast(&0));
    // SAFETY: a slice is readable for its length.
    let mut hash = unsafe { ghash::absorb_bytes(token, schedule, zero, aad.as_ptr(), aad.len()) };
    let mut last = (0, first_power(token, schedule));
    for part in parts {
        if part.blocks() != last.0 {
            last = (part.blocks(), power(token, schedule, part.blocks()));
        }
        // The first power stands for none where a part is empty.
        let moved = if part.blocks() == 0 { hash } else { times(token, hash, last.1) };
        hash = token.xor(moved, token.broadcast(part.hash()));
    }
    let lengths = ghash::lengths(token, aad.len(), slot.text_len());
    let hash = ghash::absorb_block(token, schedule, hash, lengths);
    to_u128(token.xor(token.reverse(hash), mask))
}

/// The power of the hash key of so many blocks, at least one: squared for each binary digit behind the first.
#[inline(always)]
fn power(token: HaveAesNi, schedule: &Expanded, blocks: u64) -> __m128i {
    let first = first_power(token, schedule);
    let mut power = first;
    for digit in (0..blocks.checked_ilog2().unwrap_or(0)).rev() {
        power = times(token, power, power);
        if blocks >> digit & 1 == 1 {
            power = times(token, power, first);
        }
    }
    power
}

#[inline(always)]
fn first_power(token: HaveAesNi, schedule: &Expanded) -> __m128i {
    token.broadcast(&schedule.powers[POWERS - 1])
}

/// A hash, or a power, times a power as they stand in the tables: see `ghash`.
#[inline(always)]
fn times(token: HaveAesNi, hash: __m128i, power: __m128i) -> __m128i {
    Sums::nothing(token).and(token, hash, Power::of(token, power)).reduced(token)
}
