//! GHASH by carry-less multiplication, many blocks to one reduction.
//!
//! Blocks are held with their bytes reversed, so that bit 127 is the field's x^0 and the modulus is
//! x^128 + x^127 + x^126 + x^121 + 1. A product of two such numbers comes out shifted right by
//! one, which the tables undo by holding `H^i * x`. A table of `H^i * x * x^-64` ("folded") stands
//! beside it, so that `y * H^i` is `low + x^64 * high` with only two sums to keep, and one step
//! by 64 bits reduces the sums of any number of products.
//!
//! The tables run from H^16 down to H^1: n blocks are multiplied with the last n entries.
#![allow(unsafe_code)]

use core::{arch::x86_64::__m128i, ptr};

use super::{cpu::HaveAesNi, isa::Isa};
use crate::schedule::{Expanded, POWERS};

/// Takes `N` full registers of ciphertext into the hash.
#[inline(always)]
pub(super) fn absorb<I: Isa, const N: usize>(
    isa: I,
    schedule: &Expanded,
    mut hash: __m128i,
    registers: &[I::Register; N],
) -> __m128i {
    for group in registers.chunks(POWERS / I::LANES) {
        let carried = isa.first_lane(hash);
        hash = absorb_group(isa, schedule, carried, group, group.len() * I::LANES);
    }
    hash
}

/// Takes one register into the hash, of which the first `blocks` blocks count; the others are zeros.
#[inline(always)]
pub(super) fn absorb_part<I: Isa>(
    isa: I,
    schedule: &Expanded,
    hash: __m128i,
    register: I::Register,
    blocks: usize,
) -> __m128i {
    absorb_group(isa, schedule, isa.first_lane(hash), &[register], blocks)
}

/// Takes bytes into the hash, with zeros up to the end of the last block.
///
/// # Safety
/// `from` is readable for `len` bytes.
#[inline(always)]
pub(super) unsafe fn absorb_bytes<I: Isa>(
    isa: I,
    schedule: &Expanded,
    mut hash: __m128i,
    mut from: *const u8,
    mut len: usize,
) -> __m128i {
    while len >= 4 * I::BYTES {
        // SAFETY: at least 4 registers are left to read.
        let registers = unsafe { load_4(isa, from) };
        hash = absorb(isa, schedule, hash, &registers);
        from = from.wrapping_add(4 * I::BYTES);
        len -= 4 * I::BYTES;
    }
    while len >= I::BYTES {
        // SAFETY: at least one register is left to read.
        let register = unsafe { isa.load(from) };
        hash = absorb(isa, schedule, hash, &[register]);
        from = from.wrapping_add(I::BYTES);
        len -= I::BYTES;
    }
    if len > 0 {
        // SAFETY: `len` bytes are left to read, fewer than a register.
        let register = unsafe { isa.load_part(from, len) };
        hash = absorb_part(isa, schedule, hash, register, len.div_ceil(16));
    }
    hash
}

/// Takes in the block of two lengths, given in bytes and hashed in bits.
#[inline(always)]
pub(super) fn absorb_lengths(
    token: HaveAesNi,
    schedule: &Expanded,
    hash: __m128i,
    first: usize,
    second: usize,
) -> __m128i {
    let lengths = ((first as u128 * 8) << 64) | (second as u128 * 8);
    let y = token.xor(hash, token.broadcast(&lengths));
    let (h, folded) = (&schedule.powers[POWERS - 1], &schedule.folded[POWERS - 1]);
    let (low, high) = token.multiply(y, token.broadcast(h), token.broadcast(folded));
    token.reduce(low, high)
}

/// # Safety
/// `from` is readable for 4 registers.
#[inline(always)]
unsafe fn load_4<I: Isa>(isa: I, from: *const u8) -> [I::Register; 4] {
    // SAFETY: the caller promises 4 readable registers.
    let first = unsafe { isa.load(from) };
    // SAFETY: the second of the 4 registers that the caller promises.
    let second = unsafe { isa.load(from.wrapping_add(I::BYTES)) };
    // SAFETY: the third of the 4 registers that the caller promises.
    let third = unsafe { isa.load(from.wrapping_add(2 * I::BYTES)) };
    // SAFETY: the last of the 4 registers that the caller promises.
    let fourth = unsafe { isa.load(from.wrapping_add(3 * I::BYTES)) };
    [first, second, third, fourth]
}

/// Takes registers of `blocks` blocks, at most [`POWERS`], into a hash in lanes with one reduction.
#[inline(always)]
pub(super) fn absorb_group<I: Isa>(
    isa: I,
    schedule: &Expanded,
    mut carried: I::Register,
    registers: &[I::Register],
    blocks: usize,
) -> __m128i {
    debug_assert!(blocks <= POWERS && blocks.div_ceil(I::LANES) == registers.len());
    let zero = isa.first_lane(isa.into().broadcast(&0));
    let (mut low, mut high) = (zero, zero);
    for (i, register) in registers.iter().enumerate() {
        let y = isa.xor(isa.reverse(*register), carried);
        carried = zero;
        let (h, folded) = powers(isa, schedule, POWERS - blocks + i * I::LANES);
        let (more_low, more_high) = isa.multiply(y, h, folded);
        low = isa.xor(low, more_low);
        high = isa.xor(high, more_high);
    }
    isa.into().reduce(isa.sum(low), isa.sum(high))
}

/// A register of each table from entry `index`, which is less than [`POWERS`].
///
/// Entries behind the end come from the field behind and meet lanes of zeros.
#[inline(always)]
fn powers<I: Isa>(isa: I, schedule: &Expanded, index: usize) -> (I::Register, I::Register) {
    const { assert!(I::LANES <= LANES_MAX) };
    // Costs nothing where the index is a constant, and keeps the reads within the schedule anywhere.
    let index = index % POWERS;
    let base = ptr::from_ref(schedule).cast::<u8>();
    let h = base.wrapping_add(core::mem::offset_of!(Expanded, powers) + 16 * index);
    let folded = base.wrapping_add(core::mem::offset_of!(Expanded, folded) + 16 * index);
    // SAFETY: an entry of the table, from which `LANES_MAX` blocks are within the schedule.
    let h = unsafe { isa.load_table(h) };
    // SAFETY: as above; zeros follow the table's last entries.
    let folded = unsafe { isa.load_table(folded) };
    (h, folded)
}

/// Blocks in the widest register.
const LANES_MAX: usize = 4;

// The widest register from the last entry of a table ends within the schedule.
const _: () = {
    use core::mem::offset_of;
    const REACH: usize = 16 * (POWERS - 1 + LANES_MAX);
    assert!(offset_of!(Expanded, powers) + REACH <= size_of::<Expanded>());
    assert!(offset_of!(Expanded, folded) + REACH <= size_of::<Expanded>());
};
