//! Key expansion with AES-NI, and the powers of the hash key.
#![allow(unsafe_code)]

use core::arch::x86_64::*;

use super::{
    aesni::to_u128,
    cpu::HaveAesNi,
    ctr,
    ghash::{Power, Sums},
    isa::Isa,
};
use crate::{
    model::aes,
    schedule::{Expanded, POWERS},
};

/// Expands a key of 16, 24 or 32 bytes and returns the number of rounds.
pub(crate) fn round_keys(_token: HaveAesNi, key: &[u8], round_keys: &mut [u128]) -> usize {
    // SAFETY: `_token` is proof that this processor has the instructions.
    unsafe { round_keys_compiled(key, round_keys) }
}

/// The encrypted zero block.
pub(crate) fn hash_key(token: HaveAesNi, schedule: &Expanded) -> u128 {
    // SAFETY: `token` is proof that this processor has the instructions.
    unsafe { hash_key_compiled(token, schedule) }
}

/// Fills the table of powers that `ghash` multiplies with, from the hash key of the schedule.
pub(crate) fn powers(token: HaveAesNi, schedule: &mut Expanded) {
    // SAFETY: `token` is proof that this processor has the instructions.
    unsafe { powers_compiled(token, schedule) }
}

/// Fills the table of folded powers, from the other one.
pub(crate) fn fold(token: HaveAesNi, schedule: &mut Expanded) {
    // SAFETY: `token` is proof that this processor has the instructions.
    unsafe { fold_compiled(token, schedule) }
}

#[target_feature(enable = "ssse3,sse4.1,aes,pclmulqdq")]
fn round_keys_compiled(key: &[u8], round_keys: &mut [u128]) -> usize {
    aes::expand(key, round_keys, |word| {
        // With the same word in all columns, shifting rows changes nothing.
        let state = _mm_set1_epi32(word.cast_signed());
        let state = _mm_aesenclast_si128(state, _mm_setzero_si128());
        _mm_cvtsi128_si32(state).cast_unsigned()
    })
}

#[target_feature(enable = "ssse3,sse4.1,aes,pclmulqdq")]
fn hash_key_compiled(token: HaveAesNi, schedule: &Expanded) -> u128 {
    to_u128(ctr::encrypt_block(token, schedule, _mm_setzero_si128()))
}

#[target_feature(enable = "ssse3,sse4.1,aes,pclmulqdq")]
fn powers_compiled(token: HaveAesNi, schedule: &mut Expanded) {
    let at = |power: usize| POWERS - power;
    schedule.powers[at(1)] = times_x(schedule.hash_key());
    for power in 2..=POWERS {
        // Halves, so that the products depend on few others.
        let (a, b) = (at(power / 2), at(power.div_ceil(2)));
        let y = token.broadcast(&schedule.powers[a]);
        let h = token.broadcast(&schedule.powers[b]);
        let product = Sums::nothing(token).and(token, y, Power::of(token, h));
        schedule.powers[at(power)] = to_u128(product.reduced(token));
    }
}

#[target_feature(enable = "ssse3,sse4.1,aes,pclmulqdq")]
fn fold_compiled(token: HaveAesNi, schedule: &mut Expanded) {
    for (power, folded) in schedule.powers.iter().zip(&mut schedule.folded) {
        *folded = to_u128(token.reduce(token.broadcast(power), _mm_setzero_si128()));
    }
}

/// A field element times x, both with x^0 at bit 127: a shift to the left, because a product of
/// reversed numbers is shifted to the right.
fn times_x(h: u128) -> u128 {
    const MODULUS: u128 = (0xc2 << 120) | 1;
    (h << 1) ^ ((h.cast_signed() >> 127).cast_unsigned() & MODULUS)
}
