//! A text in parts, each hashed by itself from zero, and the tag of all of them.
#![allow(unsafe_code)]

use core::arch::x86_64::__m128i;

use sealift_core::PartHash;

use super::{aesni::to_u128, cpu::HaveAesNi, ctr, gcm, ghash, isa::Isa};
use crate::{
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
    next: *const u8,
) -> u128 {
    let narrow: HaveAesNi = isa.into();
    let counter = gcm::first_counter(isa, schedule, text.nonce());
    // Counters wrap in 32 bits, as they do block by block.
    let counter = narrow.later(counter, first_block as usize);
    let zero = narrow.broadcast(&0);
    to_u128(gcm::crypt::<I, LONG>(isa, schedule, &mut text, counter, zero, next))
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
    let mut last = (0, Power::first(token, schedule));
    for part in parts {
        if part.blocks() != last.0 {
            last = (part.blocks(), Power::of(token, schedule, part.blocks()));
        }
        // The first power stands for none where a part is empty.
        let moved = if part.blocks() == 0 { hash } else { last.1.times(token, hash) };
        hash = token.xor(moved, token.broadcast(part.hash()));
    }
    let hash = ghash::absorb_lengths(token, schedule, hash, aad.len(), slot.text_len());
    to_u128(token.xor(token.reverse(hash), mask))
}

/// A power of the hash key as it stands in the tables: see `ghash`.
#[derive(Clone, Copy)]
struct Power {
    h: __m128i,
    folded: __m128i,
}

impl Power {
    #[inline(always)]
    fn first(token: HaveAesNi, schedule: &Expanded) -> Power {
        let of = |table: &[u128; POWERS]| token.broadcast(&table[POWERS - 1]);
        Power { h: of(&schedule.powers), folded: of(&schedule.folded) }
    }

    /// That of so many blocks, at least one: squared for each binary digit behind the first.
    #[inline(always)]
    fn of(token: HaveAesNi, schedule: &Expanded, blocks: u64) -> Power {
        let first = Power::first(token, schedule);
        let mut power = first;
        for digit in (0..blocks.checked_ilog2().unwrap_or(0)).rev() {
            power = power.and(token, power);
            if blocks >> digit & 1 == 1 {
                power = power.and(token, first);
            }
        }
        power
    }

    #[inline(always)]
    fn and(self, token: HaveAesNi, other: Power) -> Power {
        let h = other.times(token, self.h);
        Power { h, folded: token.reduce(h, token.broadcast(&0)) }
    }

    #[inline(always)]
    fn times(self, token: HaveAesNi, hash: __m128i) -> __m128i {
        let (low, high) = token.multiply(hash, self.h, self.folded);
        token.reduce(low, high)
    }
}
