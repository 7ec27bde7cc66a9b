//! GHASH of short messages: blocks times powers of the hash key, with one reduction for all.

#![allow(unsafe_code)]

use core::arch::x86_64::*;

use super::width::Width;
use crate::{
    schedule::{Expanded, POWERS},
    x86_64::{cpu::HaveAesNi, isa::Isa, window::item::Item},
};

/// Sums of products in each lane, `low + x^64 * (middle + low + high) + x^128 * high`: three multiplications a block. Where
/// folded powers are read it is four, and the sums are `low + x^64 * high`.
#[derive(Clone, Copy)]
pub(super) struct Sums<W: Width> {
    pub(super) low: W::Register,
    pub(super) middle: W::Register,
    pub(super) high: W::Register,
}

impl<W: Width> Sums<W> {
    /// No products.
    #[inline(always)]
    pub(super) fn nothing(w: W) -> Sums<W> {
        let zero = w.broadcast(&0);
        Sums { low: zero, middle: zero, high: zero }
    }

    /// With the products of more blocks and their powers.
    #[inline(always)]
    pub(super) fn and(self, w: W, blocks: W::Register, powers: W::Register) -> Sums<W> {
        Sums {
            low: w.xor(self.low, w.product::<0x00>(blocks, powers)),
            middle: w.xor(self.middle, w.product::<0x00>(halves(w, blocks), halves(w, powers))),
            high: w.xor(self.high, w.product::<0x11>(blocks, powers)),
        }
    }

    /// The same with powers in memory, and with those times x^-64 where these are read.
    ///
    /// # Safety
    /// They are readable.
    #[inline(always)]
    unsafe fn and_from(self, w: W, blocks: W::Register, at: *const u8) -> Sums<W> {
        // SAFETY: the caller promises readable powers.
        let powers = unsafe { w.load_table(at) };
        if !W::HAS_FOLDED {
            return self.and(w, blocks, powers);
        }
        // SAFETY: the caller promises these, too.
        let folded = unsafe { w.load_table(at.wrapping_sub(Expanded::FOLDED_BEFORE)) };
        let low = w.xor(w.product::<0x00>(blocks, folded), w.product::<0x01>(blocks, powers));
        let high = w.xor(w.product::<0x10>(blocks, folded), w.product::<0x11>(blocks, powers));
        Sums { low: w.xor(self.low, low), high: w.xor(self.high, high), ..self }
    }

    /// The same with one more block and its power in memory; a short one has no upper half.
    ///
    /// # Safety
    /// The power is readable, and that times x^-64, where these are read.
    #[inline(always)]
    pub(super) unsafe fn and_block(
        self,
        w: W,
        block: __m128i,
        is_short: bool,
        at: *const u8,
    ) -> Sums<W> {
        let narrow: HaveAesNi = w.into();
        let Sums { mut low, mut middle, mut high } = self;
        // SAFETY: the caller promises a readable power.
        let power = unsafe { narrow.load_table(at) };
        if W::HAS_FOLDED {
            // SAFETY: the caller promises it times x^-64, too.
            let folded = unsafe { narrow.load_table(at.wrapping_sub(Expanded::FOLDED_BEFORE)) };
            low = plus(w, low, narrow.product::<0x00>(block, folded));
            high = plus(w, high, narrow.product::<0x10>(block, folded));
            if !is_short {
                low = plus(w, low, narrow.product::<0x01>(block, power));
                high = plus(w, high, narrow.product::<0x11>(block, power));
            }
            return Sums { low, middle, high };
        }
        low = plus(w, low, narrow.product::<0x00>(block, power));
        middle =
            plus(w, middle, narrow.product::<0x00>(halves(narrow, block), halves(narrow, power)));
        if !is_short {
            high = plus(w, high, narrow.product::<0x11>(block, power));
        }
        Sums { low, middle, high }
    }

    /// All lanes in one block, times x^-128: see `ghash`.
    #[inline(always)]
    pub(super) fn reduced(self, w: W) -> __m128i {
        w.sum(self.in_lanes(w))
    }

    #[inline(always)]
    fn in_lanes(self, w: W) -> W::Register {
        if W::HAS_FOLDED {
            return w.reduce(self.low, self.high);
        }
        let middle = w.xor(self.middle, w.xor(self.low, self.high));
        fold(w, self.high, fold(w, middle, self.low))
    }
}

/// The exclusive or of each block's halves, in both.
#[inline(always)]
fn halves<I: Isa>(isa: I, blocks: I::Register) -> I::Register {
    isa.xor(blocks, isa.swap(blocks))
}

/// A sum with one more block in its first lane.
#[inline(always)]
fn plus<W: Width>(w: W, sum: W::Register, block: __m128i) -> W::Register {
    w.xor(sum, w.first_lane(block))
}

/// A sum, one of its terms times x^-64.
#[inline(always)]
fn fold<W: Width>(w: W, sum: W::Register, folded: W::Register) -> W::Register {
    let modulus = const { &(0xc2_u128 << 56) };
    let product = w.product::<0x00>(folded, w.broadcast(modulus));
    w.xor(w.xor(sum, w.swap(folded)), product)
}

// Registers of four blocks may run over the last power by two.
const _: () = assert!(16 * (POWERS + 2) <= Expanded::REACH);

/// Where under a key the powers for the last so many hashed blocks begin.
#[inline(always)]
pub(super) fn powers(key: *const u8, blocks: usize) -> *const u8 {
    debug_assert!(blocks <= POWERS, "{blocks} powers");
    key.wrapping_sub(Expanded::POWERS_BEFORE - 16 * (POWERS - blocks))
}

/// The products of an aad that so many other blocks follow.
///
/// # Safety
/// The aad is readable, and the key has powers for all blocks.
#[inline(always)]
pub(super) unsafe fn aad<W: Width>(w: W, item: &Item, following: usize) -> Sums<W> {
    let bytes = usize::from(item.aad_bytes);
    // SAFETY: the caller keeps the same promise.
    unsafe { products(w, item.aad, bytes, powers(item.key, bytes.div_ceil(16) + following)) }
}

/// The products of so many bytes, the last block filled up with zeros, with powers from a place on.
///
/// # Safety
/// The bytes are readable, and a whole register of powers is from the place of each register's first block on.
#[inline(always)]
pub(super) unsafe fn products<W: Width>(
    w: W,
    from: *const u8,
    bytes: usize,
    table: *const u8,
) -> Sums<W> {
    let mut sums = Sums::nothing(w);
    for at in (0..bytes).step_by(W::BYTES) {
        let from = from.wrapping_add(at);
        let blocks = if bytes - at >= W::BYTES {
            // SAFETY: the caller promises readable bytes.
            unsafe { w.load(from) }
        } else {
            // SAFETY: as above; fewer bytes than a register are left.
            unsafe { w.load_part(from, bytes - at) }
        };
        // SAFETY: within the tables, or a few blocks behind them, which lanes of zeros meet.
        sums = unsafe { sums.and_from(w, w.reverse(blocks), table.wrapping_add(at)) };
    }
    sums
}

/// The block of lengths in bits, reversed.
#[inline(always)]
pub(super) fn lengths(_token: HaveAesNi, item: &Item) -> __m128i {
    // SAFETY: `_token` is proof of the instructions.
    unsafe { lengths_compiled(i64::from(item.aad_bytes) << 3, i64::from(item.text_bytes) << 3) }
}

#[inline]
#[target_feature(enable = "sse2")]
fn lengths_compiled(aad: i64, text: i64) -> __m128i {
    _mm_set_epi64x(aad, text)
}
