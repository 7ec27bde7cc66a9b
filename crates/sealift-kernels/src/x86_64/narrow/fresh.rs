//! Schedules of raw keys, many at once: what the kernel reads of an expanded key, where it reads it.
#![allow(unsafe_code)]

use core::{arch::x86_64::*, hint::black_box, mem::offset_of, ptr};

use super::{hash::Sums, nonces, width::Expander, words};
use crate::{
    model::aes::ROUND_KEYS_MAX,
    schedule::{Expanded, POWERS},
    x86_64::{aesni::to_u128, cpu::HaveAesNi, isa::Isa, window::item::Item},
};

/// How many keys are expanded at once.
pub(super) const KEYS: usize = 16;

/// Of an expanded key as much as the kernel reads.
#[repr(C, align(64))]
pub(super) struct Fresh {
    powers: [u128; POWERS],
    pub(super) round_keys: [u128; ROUND_KEYS],
}

/// As many as the longest key has, and one more, so that indices are cut cheaply.
const ROUND_KEYS: usize = (ROUND_KEYS_MAX + 1).next_power_of_two();

const _: () = assert!(offset_of!(Fresh, round_keys) == Expanded::POWERS_BEFORE);

/// A place for so many; it is secret, and wiped by its owner.
#[repr(C)]
pub(super) struct Keys {
    fresh: [Fresh; KEYS],
}

impl Keys {
    /// None yet.
    pub(super) fn new() -> Keys {
        let fresh = [const { Fresh { powers: [0; POWERS], round_keys: [0; ROUND_KEYS] } }; KEYS];
        Keys { fresh }
    }

    /// Puts expanded keys at the place of raw ones.
    ///
    /// # Safety
    /// There are one to [`KEYS`] of them, and their keys are raw ones with so many rounds. `has_plain_nonces` only if
    /// every nonce has 12 bytes: else powers for its blocks are made, too.
    #[inline(always)]
    pub(super) unsafe fn expand<W: Expander>(
        &mut self,
        w: W,
        rounds: usize,
        has_plain_nonces: bool,
        items: &mut [Item],
    ) {
        // There are no powers times x^-64, and registers end with the powers.
        const { assert!(!W::HAS_FOLDED && W::LANES <= 2) };
        let count = items.len();
        let keys = core::array::from_fn(|i| items[i.min(count - 1)].key);
        // SAFETY: the caller promises raw keys as long as the rounds say; the last one stands for those that are missing.
        unsafe { words::expand(w, rounds, &keys, count, &mut self.fresh) };
        self.hash_keys(w.into(), rounds, count);
        let mut last = items.iter().map(hashed_blocks).max().unwrap_or(0);
        if !has_plain_nonces {
            last = items.iter().map(nonces::blocks).fold(last, usize::max);
        }
        self.powers(w, last, count);
        let keys = self.fresh.as_ptr();
        for (i, item) in items.iter_mut().enumerate() {
            item.key = keys.wrapping_add(i).cast::<u8>().wrapping_add(Expanded::POWERS_BEFORE);
        }
    }

    /// Encrypts zeros under so many keys, eight at a time.
    #[inline(always)]
    fn hash_keys(&mut self, w: HaveAesNi, rounds: usize, count: usize) {
        for eight in self.fresh.as_chunks_mut::<8>().0.iter_mut().take(count.div_ceil(8)) {
            let mut states = eight.each_ref().map(|fresh| w.broadcast(&fresh.round_keys[0]));
            for round in 1..rounds {
                for (state, fresh) in states.iter_mut().zip(&*eight) {
                    *state = w.aes(*state, w.broadcast(&fresh.round_keys[round % ROUND_KEYS]));
                }
            }
            for (state, fresh) in states.into_iter().zip(eight) {
                let last = w.broadcast(&fresh.round_keys[rounds % ROUND_KEYS]);
                fresh.powers[POWERS - 1] = to_u128(times_x(w, w.reverse(w.aes_last(state, last))));
            }
        }
    }

    /// Powers of so many hash keys up to one.
    #[inline(always)]
    fn powers<W: Expander>(&mut self, w: W, last: usize, count: usize) {
        let registers = count.next_multiple_of(W::LANES);
        for power in 2..=last.min(POWERS) {
            for some in self.fresh[..registers].chunks_exact_mut(W::LANES) {
                let of = |power: usize| {
                    let from = |lane: usize| ptr::from_ref(&some[lane].powers[POWERS - power]);
                    // SAFETY: each power is a block.
                    unsafe { w.load_lanes(|lane| from(lane).cast()) }
                };
                // Halves, so that the products depend on few others.
                let product = match (of(power / 2), power % 2) {
                    (half, 0) => Sums::square(w, half),
                    (half, _) => Sums::nothing(w).and(w, half, of(power.div_ceil(2))),
                };
                let [first, second] = product.each_reduced(w);
                some[0].powers[POWERS - power] = to_u128(first);
                if let Some(other) = some.get_mut(1) {
                    other.powers[POWERS - power] = to_u128(second);
                }
            }
        }
    }

    /// Leaves only zeros.
    pub(super) fn wipe(&mut self) {
        // SAFETY: integers may be zeros.
        unsafe { ptr::from_mut(self).write_bytes(0, 1) };
        black_box(self);
    }
}

/// Blocks that are hashed of a message.
#[inline(always)]
fn hashed_blocks(item: &Item) -> usize {
    let text = (item.text_bytes as usize).div_ceil(16).max(1);
    usize::from(item.aad_bytes).div_ceil(16) + text + 1
}

/// An encrypted zero block, reversed, to what tables hold: times x.
#[inline(always)]
fn times_x(_token: HaveAesNi, h: __m128i) -> __m128i {
    // SAFETY: `_token` is proof of the instructions.
    unsafe { times_x_compiled(h) }
}

#[inline]
#[target_feature(enable = "sse2")]
fn times_x_compiled(h: __m128i) -> __m128i {
    let modulus = _mm_set_epi64x(0xc200_0000_0000_0001_u64.cast_signed(), 1);
    // The bits that leave a half, each where the other half and the modulus want it.
    let carries = _mm_srai_epi32::<31>(_mm_shuffle_epi32::<0xd3>(h));
    _mm_xor_si128(_mm_add_epi64(h, h), _mm_and_si128(carries, modulus))
}
