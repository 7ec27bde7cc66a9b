//! Longer texts, one after the other.
#![allow(unsafe_code)]

use core::{arch::x86_64::__m128i, ptr, slice};

use sealift_core::Op;

use super::{
    group::{Call, fail},
    tag,
};
use crate::{
    caches::Caching,
    schedule::Expanded,
    stack,
    verdict::public,
    x86_64::{
        cpu::{HaveAesNi, HaveVaes256},
        gcm, ghash,
        isa::Isa,
        text::{Chain, Span, TagBlocks},
        window::item::{Ahead, Item},
    },
};

/// Works messages of one class, whose texts are longer than a step, on registers of two blocks.
///
/// # Safety
/// The items' addresses are what they say, they are as the call says, which verifies none, and their keys are expanded ones.
pub(super) unsafe fn run(isa: HaveVaes256, call: &Call, items: &[Item], ahead: &Ahead<'_>) {
    debug_assert!(call.op != Op::Verify, "nothing is written where a message is verified");
    match call.op {
        // SAFETY: the token is proof of the instructions; the caller promises the rest.
        Op::Seal => unsafe { work::<true>(isa, call, items, ahead) },
        // SAFETY: the token is proof of the instructions; the caller promises the rest, and that nothing is verified.
        _ => unsafe { work::<false>(isa, call, items, ahead) },
    }
    stack::wipe_kernel();
}

/// # Safety
/// As for [`run`].
// Not a part of what calls it, so that its stack can be wiped.
#[inline(never)]
#[target_feature(enable = "ssse3,sse4.1,aes,pclmulqdq,avx,avx2,vaes,vpclmulqdq")]
unsafe fn work<const SEAL: bool>(isa: HaveVaes256, call: &Call, items: &[Item], ahead: &Ahead<'_>) {
    let narrow: HaveAesNi = isa.into();
    let mut chain = Chain::<SEAL>::new(isa);
    let (mut before, mut key) = (None, ptr::null());
    for (i, item) in items.iter().enumerate() {
        let next = items.get(i + 1).unwrap_or(item);
        if ahead.has_far_keys {
            Expanded::fetch(next.key, call.rounds, false);
        }
        // SAFETY: the caller promises an expanded key.
        let schedule = unsafe { Expanded::of_record(item.key) };
        // SAFETY: the caller promises a readable nonce.
        let nonce = unsafe { slice::from_raw_parts(item.nonce, item.nonce_bytes.into()) };
        let (aad_bytes, text_bytes) = (item.aad_bytes.into(), item.text_bytes as usize);
        let counter = gcm::first_counter(isa, schedule, nonce);
        let zero = narrow.broadcast(&0);
        // SAFETY: the caller promises a readable aad.
        let hash = unsafe { ghash::absorb_bytes(isa, schedule, zero, item.aad, aad_bytes) };
        let ends = TagBlocks::of(narrow, counter, aad_bytes, text_bytes);
        let first = gcm::first_block(narrow, counter, nonce);
        let caching = if ahead.is_far { Caching::Asked(next.input) } else { Caching::Nothing };
        let text = Span::at(item.input, item.output, text_bytes).with(caching);
        // SAFETY: the caller promises a text to read and to write, and that it is long.
        let tag = unsafe { chain.push(schedule, item.key == key, first, hash, ends, text) };
        if let (Some(tag), Some(one)) = (tag, before) {
            // SAFETY: the caller promises the items.
            unsafe { conclude(narrow, call, one, tag) };
        }
        (before, key) = (Some(item), item.key);
    }
    if let (Some(tag), Some(one)) = (chain.finish(), before) {
        // SAFETY: the caller promises the items.
        unsafe { conclude(narrow, call, one, tag) };
    }
}

/// Writes the tag of a message or compares it: of one whose tag is wrong the output is cleared.
///
/// # Safety
/// The item's addresses are what they say.
#[inline(always)]
unsafe fn conclude(narrow: HaveAesNi, call: &Call, item: &Item, tag: __m128i) {
    // SAFETY: the caller promises the tag.
    let wrong = unsafe { tag::conclude(narrow, call, item, tag) };
    if !public(wrong == 0) {
        // SAFETY: the caller promises output and status.
        unsafe { fail(slice::from_ref(item), wrong) };
    }
}
