//! Tags.
#![allow(unsafe_code)]

use core::arch::x86_64::*;

use sealift_core::Op;

use super::{group::Call, width::Width};
use crate::x86_64::{cpu::HaveAesNi, isa::Isa, window::item::Item};

/// A hash, hidden.
#[inline(always)]
pub(super) fn masked<W: Width>(w: W, hash: __m128i, mask: __m128i) -> __m128i {
    let narrow: HaveAesNi = w.into();
    narrow.xor(narrow.reverse(hash), mask)
}

/// Writes the tag of a sealed message, or compares that of another: 3 if it is wrong.
///
/// # Safety
/// The item's tag is writable or readable.
#[inline(always)]
pub(super) unsafe fn conclude<W: Width>(w: W, call: &Call, item: &Item, tag: __m128i) -> u16 {
    let narrow: HaveAesNi = w.into();
    if call.op == Op::Seal {
        if call.tag_bytes == 16 {
            // SAFETY: the caller promises a writable tag for a seal, and it has 16 bytes.
            unsafe { narrow.store(item.tag, tag) };
        } else {
            // SAFETY: as above; tags are no longer than a block.
            unsafe { narrow.store_part(item.tag, tag, call.tag_bytes) };
        }
        return 0;
    }
    let (tag, expected) = if call.tag_bytes == 16 {
        // SAFETY: the caller promises a readable tag for an open or a verify, and it has 16 bytes.
        (tag, unsafe { narrow.load(item.tag) })
    } else {
        // SAFETY: the caller promises a readable tag of the call's length, which is less than a block here.
        (narrow.keep(tag, call.tag_bytes), unsafe { narrow.load_part(item.tag, call.tag_bytes) })
    };
    3 * u16::from(differ(narrow, tag, expected))
}

/// Whether two blocks differ.
#[inline(always)]
fn differ(_token: HaveAesNi, a: __m128i, b: __m128i) -> bool {
    // SAFETY: `_token` is proof of the instructions.
    unsafe { differ_compiled(a, b) }
}

#[inline]
#[target_feature(enable = "sse2,sse4.1")]
fn differ_compiled(a: __m128i, b: __m128i) -> bool {
    let difference = _mm_xor_si128(a, b);
    _mm_testz_si128(difference, difference) == 0
}
