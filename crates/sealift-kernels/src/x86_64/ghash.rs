//! GHASH by carry-less multiplication, many blocks to one reduction.
//!
//! Blocks are held with their bytes reversed, so that bit 127 is the field's x^0 and the modulus is
//! x^128 + x^127 + x^126 + x^121 + 1. A product of two such numbers comes out shifted right by
//! one, which the tables undo by holding `H^i * x`. A sum of products is brought back to 128 bits by a factor of x^-128,
//! in two steps of 64 bits. With a table of `H^i * x * x^-64` ("folded") beside the other, a product of four multiplications
//! has the first step behind it. Three need no such table, but both steps: see [`Isa::KARATSUBA`].
//!
//! The tables run from H^16 down to H^1: n blocks are multiplied with the last n entries.
#![allow(unsafe_code)]

use core::{arch::x86_64::__m128i, ptr};

use super::{cpu::HaveAesNi, isa::Isa};
use crate::schedule::{Expanded, POWERS};

/// A power of the hash key in each lane.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Power<I: Isa> {
    pub(super) h: I::Register,
    /// For three multiplications the sum of its halves, for four itself times x^-64.
    other: I::Register,
}

impl<I: Isa> Power<I> {
    /// Of powers that are in no table, or of whose table there is no second.
    #[inline(always)]
    pub(super) fn of(isa: I, h: I::Register) -> Power<I> {
        let other =
            if I::KARATSUBA { isa.xor(h, isa.swap(h)) } else { isa.reduce(h, isa.broadcast(&0)) };
        Power { h, other }
    }

    /// An entry of the tables, in all lanes.
    #[inline(always)]
    pub(super) fn broadcast(isa: I, schedule: &Expanded, index: usize) -> Power<I> {
        let h = isa.broadcast(&schedule.powers[index % POWERS]);
        if I::KARATSUBA {
            return Power::of(isa, h);
        }
        Power { h, other: isa.broadcast(&schedule.folded[index % POWERS]) }
    }

    /// Entries of the tables from one on, one in each lane. Those behind the last come from the field behind and meet
    /// lanes of zeros.
    #[inline(always)]
    pub(super) fn in_order(isa: I, schedule: &Expanded, index: usize) -> Power<I> {
        const { assert!(I::LANES <= LANES_MAX) };
        // Costs nothing where the index is a constant, and keeps the reads within the schedule anywhere.
        let index = index % POWERS;
        let base = ptr::from_ref(schedule).cast::<u8>();
        let h = base.wrapping_add(core::mem::offset_of!(Expanded, powers) + 16 * index);
        // SAFETY: an entry of the table, from which `LANES_MAX` blocks are within the schedule.
        let h = unsafe { isa.load_table(h) };
        if I::KARATSUBA {
            return Power::of(isa, h);
        }
        let folded = base.wrapping_add(core::mem::offset_of!(Expanded, folded) + 16 * index);
        // SAFETY: an entry of this table, which the powers follow.
        Power { h, other: unsafe { isa.load_table(folded) } }
    }
}

/// Sums of products in each lane.
///
/// With three multiplications a block they are `low + x^64 * (middle + low + high) + x^128 * high`. With four they are
/// `low + x^64 * high`, times x^-64 already, and `middle` is nothing.
#[derive(Clone, Copy)]
pub(super) struct Sums<I: Isa> {
    pub(super) low: I::Register,
    pub(super) middle: I::Register,
    pub(super) high: I::Register,
}

impl<I: Isa> Sums<I> {
    /// No products.
    #[inline(always)]
    pub(super) fn nothing(isa: I) -> Sums<I> {
        let zero = isa.broadcast(&0);
        Sums { low: zero, middle: zero, high: zero }
    }

    /// With the product of one more block in each lane.
    #[inline(always)]
    pub(super) fn and(self, isa: I, y: I::Register, power: Power<I>) -> Sums<I> {
        self.and_between(isa, y, &power, ())
    }

    /// The same with other work between the multiplications.
    #[inline(always)]
    pub(super) fn and_between(
        mut self,
        isa: I,
        y: I::Register,
        Power { h, other }: &Power<I>,
        mut between: impl Between,
    ) -> Sums<I> {
        between.quarter(0);
        if I::KARATSUBA {
            let low = isa.pin(isa.product::<0x00>(y, *h));
            between.quarter(1);
            let high = isa.pin(isa.product::<0x11>(y, *h));
            self.low = isa.pin(isa.xor(self.low, low));
            between.quarter(2);
            let middle = isa.pin(isa.product::<0x00>(isa.xor(y, isa.swap(y)), *other));
            self.high = isa.pin(isa.xor(self.high, high));
            between.quarter(3);
            self.middle = isa.pin(isa.xor(self.middle, middle));
            return self;
        }
        let a = isa.pin(isa.product::<0x00>(y, *other));
        between.quarter(1);
        let b = isa.pin(isa.product::<0x01>(y, *h));
        self.low = isa.pin(isa.xor(isa.xor(self.low, a), b));
        between.quarter(2);
        let c = isa.pin(isa.product::<0x10>(y, *other));
        between.quarter(3);
        let d = isa.pin(isa.product::<0x11>(y, *h));
        self.high = isa.pin(isa.xor(isa.xor(self.high, c), d));
        self
    }

    /// They in each lane, brought back to 128 bits.
    #[inline(always)]
    pub(super) fn reduced(self, isa: I) -> I::Register {
        let Sums { low, middle, high } = self;
        if I::KARATSUBA {
            let middle = isa.xor(middle, isa.xor(low, high));
            return isa.reduce(isa.reduce(low, middle), high);
        }
        isa.reduce(low, high)
    }
}

/// Work that is done between multiplications.
// IMPLEMENTATION NOTE: not a closure, which the compiler need not put where it is called.
pub(super) trait Between {
    /// Does one of four quarters of it.
    fn quarter(&mut self, quarter: usize);
}

impl Between for () {
    #[inline(always)]
    fn quarter(&mut self, _quarter: usize) {}
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
        hash = absorb(isa, schedule, hash, &registers, 4 * I::LANES);
        from = from.wrapping_add(4 * I::BYTES);
        len -= 4 * I::BYTES;
    }
    while len >= I::BYTES {
        // SAFETY: at least one register is left to read.
        let register = unsafe { isa.load(from) };
        hash = absorb(isa, schedule, hash, &[register], I::LANES);
        from = from.wrapping_add(I::BYTES);
        len -= I::BYTES;
    }
    if len > 0 {
        // SAFETY: `len` bytes are left to read, fewer than a register.
        let register = unsafe { isa.load_part(from, len) };
        hash = absorb(isa, schedule, hash, &[register], len.div_ceil(16));
    }
    hash
}

/// The block of two lengths, given in bytes and hashed in bits.
#[inline(always)]
pub(super) fn lengths(token: HaveAesNi, first: usize, second: usize) -> __m128i {
    token.broadcast(&(((first as u128 * 8) << 64) | (second as u128 * 8)))
}

/// Takes one block into the hash.
#[inline(always)]
pub(super) fn absorb_block(
    token: HaveAesNi,
    schedule: &Expanded,
    hash: __m128i,
    block: __m128i,
) -> __m128i {
    let h = Power::in_order(token, schedule, POWERS - 1);
    Sums::nothing(token).and(token, token.xor(hash, block), h).reduced(token)
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

/// Takes registers of `blocks` blocks, at most [`POWERS`], into the hash with one reduction. What is behind the last
/// block is zeros.
#[inline(always)]
fn absorb<I: Isa>(
    isa: I,
    schedule: &Expanded,
    hash: __m128i,
    registers: &[I::Register],
    blocks: usize,
) -> __m128i {
    debug_assert!(blocks <= POWERS && blocks.div_ceil(I::LANES) == registers.len());
    let mut sums = Sums::nothing(isa);
    for (i, register) in registers.iter().enumerate() {
        let block = isa.reverse(*register);
        let y = if i == 0 { isa.xor(block, isa.first_lane(hash)) } else { block };
        sums = sums.and(isa, y, Power::in_order(isa, schedule, POWERS - blocks + i * I::LANES));
    }
    isa.sum(sums.reduced(isa))
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
