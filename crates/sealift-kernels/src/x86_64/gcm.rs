//! The mode of SP 800-38D, section 7, over any register.
#![allow(unsafe_code)]

use core::arch::x86_64::__m128i;

use sealift_core::{Op, Slot, Status};

use super::{
    aesni::to_u128,
    cpu::HaveAesNi,
    ctr::{self, Span},
    ghash,
    isa::Isa,
};
use crate::{schedule::Expanded, verdict};

/// Seals, opens or verifies one message whose parts fit each other.
#[inline(always)]
pub(super) fn process<I: Isa>(isa: I, schedule: &Expanded, mut slot: Slot<'_>) -> Status {
    let narrow: HaveAesNi = isa.into();
    let zero = narrow.broadcast(&0);
    let counter = first_counter(isa, schedule, slot.nonce);
    let mask = ctr::encrypt_block(narrow, schedule, narrow.reverse(counter));
    // SAFETY: a slice is readable for its length.
    let hash =
        unsafe { ghash::absorb_bytes(isa, schedule, zero, slot.aad.as_ptr(), slot.aad.len()) };
    let text = Span::of(&mut slot.text);
    let text_len = text.len();
    let first = narrow.next_counters(counter);
    let hash = match slot.op {
        // SAFETY: a seal has a text to read and write.
        Op::Seal => unsafe { ctr::crypt(isa, schedule, Op::Seal, first, hash, text) },
        // SAFETY: an open has a text to read and write.
        Op::Open => unsafe { ctr::crypt(isa, schedule, Op::Open, first, hash, text) },
        // SAFETY: a span is readable for its length.
        Op::Verify => unsafe { ghash::absorb_bytes(isa, schedule, hash, text.from(), text_len) },
    };
    let hash = ghash::absorb_lengths(narrow, schedule, hash, slot.aad.len(), text_len);
    verdict::conclude(slot, to_u128(narrow.xor(narrow.reverse(hash), mask)))
}

/// J0, reversed: the nonce and a counter of 1, or for nonces of other lengths than 12 their hash.
#[inline(always)]
fn first_counter<I: Isa>(isa: I, schedule: &Expanded, nonce: &[u8]) -> __m128i {
    let narrow: HaveAesNi = isa.into();
    if nonce.len() == 12 {
        // SAFETY: a slice is readable for its length, here 12 bytes.
        let nonce = unsafe { narrow.load_part(nonce.as_ptr(), 12) };
        return narrow.next_counters(narrow.reverse(nonce));
    }
    let zero = narrow.broadcast(&0);
    // SAFETY: a slice is readable for its length.
    let hash = unsafe { ghash::absorb_bytes(isa, schedule, zero, nonce.as_ptr(), nonce.len()) };
    ghash::absorb_lengths(narrow, schedule, hash, 0, nonce.len())
}
