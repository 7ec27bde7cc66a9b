//! The mode of SP 800-38D, section 7, over any register.
#![allow(unsafe_code)]

use core::arch::x86_64::__m128i;

use sealift_core::{Op, Status};

use super::{
    aesni::to_u128,
    cpu::HaveAesNi,
    ghash,
    isa::Isa,
    text::{self, First, Span, TagBlocks},
};
use crate::{caches::Caching, schedule::Expanded, verdict::Fitting};

/// Whether a message is so long that it is worked with `LONG`.
#[inline(always)]
pub(super) fn is_long<I: Isa>(slot: &Fitting<'_, '_>) -> bool {
    slot.text_len() > text::short_bytes::<I>()
}

/// Seals, opens or verifies one message; with `LONG` it [`is_long`].
#[inline(always)]
pub(super) fn process<I: Isa, const LONG: bool>(
    isa: I,
    schedule: &Expanded,
    mut slot: Fitting<'_, '_>,
    caching: Caching,
) -> Status {
    let narrow: HaveAesNi = isa.into();
    let zero = narrow.broadcast(&0);
    let (nonce, aad) = (slot.nonce(), slot.aad());
    let counter = first_counter(isa, schedule, nonce);
    // SAFETY: a slice is readable for its length.
    let hash = unsafe { ghash::absorb_bytes(isa, schedule, zero, aad.as_ptr(), aad.len()) };
    let mut ends = TagBlocks::of(narrow, counter, aad.len(), slot.text_len());
    let hash = crypt::<I, LONG>(isa, schedule, &mut slot, counter, hash, Some(&mut ends), caching);
    slot.conclude(to_u128(narrow.xor(narrow.reverse(hash), ends.mask)))
}

/// Seals or opens a text and takes its ciphertext into a hash, and if it is a whole message's does what its tag needs besides.
/// `before` is the counter block before its first.
#[inline(always)]
pub(super) fn crypt<I: Isa, const LONG: bool>(
    isa: I,
    schedule: &Expanded,
    slot: &mut Fitting<'_, '_>,
    before: __m128i,
    hash: __m128i,
    ends: Option<&mut TagBlocks>,
    caching: Caching,
) -> __m128i {
    let first = first_block(isa.into(), before, slot.nonce());
    let op = slot.op();
    let text = Span::of(slot.text()).with(caching);
    if op == Op::Verify {
        // SAFETY: a span is readable for its length.
        let hash = unsafe { ghash::absorb_bytes(isa, schedule, hash, text.from(), text.len()) };
        return ends.map_or(hash, |ends| ends.alone(isa.into(), schedule, hash));
    }
    // SAFETY: a fitting seal or open has a text to read and write, of one length; those who call this ask whether it is long.
    unsafe { text::crypt::<I, LONG>(isa, schedule, op, first, hash, ends, text) }
}

/// J0, reversed: the nonce and a counter of 1, or for nonces of other lengths than 12 their hash.
#[inline(always)]
pub(super) fn first_counter<I: Isa>(isa: I, schedule: &Expanded, nonce: &[u8]) -> __m128i {
    let narrow: HaveAesNi = isa.into();
    if is_plain(nonce) {
        // SAFETY: a slice is readable for its length, here 12 bytes.
        let nonce = unsafe { narrow.load_part(nonce.as_ptr(), 12) };
        return narrow.later(narrow.reverse(nonce), 1);
    }
    let zero = narrow.broadcast(&0);
    // SAFETY: a slice is readable for its length.
    let hash = unsafe { ghash::absorb_bytes(isa, schedule, zero, nonce.as_ptr(), nonce.len()) };
    ghash::absorb_block(narrow, schedule, hash, ghash::lengths(narrow, 0, nonce.len()))
}

/// The counter block of a text's first block, which follows that.
#[inline(always)]
pub(super) fn first_block(token: HaveAesNi, before: __m128i, nonce: &[u8]) -> First {
    First { block: token.later(before, 1), is_public: is_plain(nonce) }
}

/// Whether a nonce stands in the first counter as it is.
#[inline(always)]
fn is_plain(nonce: &[u8]) -> bool {
    nonce.len() == 12
}
