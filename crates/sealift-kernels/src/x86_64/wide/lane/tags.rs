//! The tags of four messages.
#![allow(unsafe_code)]

use core::arch::x86_64::*;

use sealift_core::{Op, Status};

use super::{
    group::{Call, Group},
    lanes::{gather, lanes},
};
use crate::{
    verdict,
    x86_64::wide::zmm::{Z, wide_fn},
};

wide_fn! {
    /// Writes tags, in lanes, or compares them: a message that fails is zeros.
    ///
    /// # Safety
    /// Tags are as long as the call says; texts opened are writable.
    #[inline]
    pub(super) unsafe fn conclude(group: &Group, call: &Call, tags: Z) {
        if call.op == Op::Seal {
            // SAFETY: the caller keeps the same promise.
            unsafe { write_tags(group, call.tag_bytes, tags) };
        } else {
            // SAFETY: as above.
            let failed = unsafe { compare_tags(group, call.tag_bytes, tags) };
            if !verdict::public(failed == 0) {
                // SAFETY: as above.
                unsafe { fail(group, failed) };
            }
        }
    }
}

wide_fn! {
    /// # Safety
    /// The tags of the group are writable for so many bytes.
    #[inline]
    unsafe fn write_tags(group: &Group, tag_bytes: usize, tags: Z) {
        let a = _mm512_castsi512_si128(tags);
        let b = _mm512_extracti64x2_epi64::<1>(tags);
        let c = _mm512_extracti64x2_epi64::<2>(tags);
        let d = _mm512_extracti64x2_epi64::<3>(tags);
        for (item, tag) in group.iter().zip([a, b, c, d]) {
            if tag_bytes == 16 {
                // SAFETY: the caller promises a writable tag.
                unsafe { _mm_storeu_si128(item.tag.cast(), tag) };
            } else {
                // SAFETY: as above; masked bytes are not touched.
                unsafe { _mm_mask_storeu_epi8(item.tag.cast(), tag_mask(tag_bytes), tag) };
            }
        }
    }
}

wide_fn! {
    /// Two bits for each tag, not zeros if it is wrong.
    ///
    /// # Safety
    /// The tags of the group are readable for so many bytes.
    #[inline]
    unsafe fn compare_tags(group: &Group, tag_bytes: usize, tags: Z) -> u8 {
        let [a, b, c, d] = [&group[0], &group[1], &group[2], &group[3]].map(|item| item.tag);
        if tag_bytes == 16 {
            // SAFETY: the caller promises readable tags.
            let expected = unsafe { gather([a, b, c, d].map(<*mut u8>::cast_const)) };
            return _mm512_cmpneq_epi64_mask(tags, expected);
        }
        let mask = tag_mask(tag_bytes);
        // SAFETY: as above; masked bytes are not touched.
        let a = unsafe { _mm_maskz_loadu_epi8(mask, a.cast()) };
        // SAFETY: as above.
        let b = unsafe { _mm_maskz_loadu_epi8(mask, b.cast()) };
        // SAFETY: as above.
        let c = unsafe { _mm_maskz_loadu_epi8(mask, c.cast()) };
        // SAFETY: as above.
        let d = unsafe { _mm_maskz_loadu_epi8(mask, d.cast()) };
        let used = 0x0001_0001_0001_0001 * u64::from(mask);
        _mm512_cmpneq_epi64_mask(_mm512_maskz_mov_epi8(used, tags), lanes(a, b, c, d))
    }
}

/// Clears the outputs of messages that failed, and says so.
///
/// # Safety
/// Texts opened and statuses are writable.
#[cold]
unsafe fn fail(group: &Group, failed: u8) {
    for (lane, item) in group.iter().enumerate() {
        if (failed >> (2 * lane)) & 3 != 0 {
            if !item.output.is_null() {
                // SAFETY: the caller promises a writable text.
                unsafe { item.output.write_bytes(0, item.text_bytes as usize) };
            }
            // SAFETY: the caller promises a writable status.
            unsafe { item.status.write(Status::AuthFailed) };
        }
    }
}

/// A bit for each byte of a tag, of 1 to 16.
#[inline(always)]
fn tag_mask(tag_bytes: usize) -> u16 {
    u16::MAX >> (16 - tag_bytes.clamp(1, 16))
}
