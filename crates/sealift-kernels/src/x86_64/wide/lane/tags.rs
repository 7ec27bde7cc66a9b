//! The tags of four messages.
#![allow(unsafe_code)]

use core::arch::x86_64::*;

use sealift_core::{Op, Status};

use super::{
    group::{Call, Group, are_whole},
    lanes::{gather, lanes},
};
use crate::{
    verdict,
    x86_64::wide::zmm::{Z, store_part, wide_fn},
};

wide_fn! {
    /// Writes tags, in lanes, or compares them: a message that fails is zeros. Texts have at most `BLOCKS`
    /// blocks in each of several pieces, if they are `LONG`.
    ///
    /// The other constants make it a function of its own for each pass, and so a part of it.
    ///
    /// # Safety
    /// Tags are as long as the call says; texts opened and statuses are writable.
    #[inline]
    pub(super) unsafe fn conclude<
        const ROUNDS: usize,
        const RAW: bool,
        const BLOCKS: usize,
        const AAD: bool,
        const LONG: bool,
        const LAST: bool,
    >(
        group: &Group,
        call: &Call,
        tags: Z,
    ) {
        if call.op == Op::Seal {
            // SAFETY: the caller keeps the same promise.
            unsafe { write_tags(group, call.tag_bytes, tags) };
        } else {
            // SAFETY: the caller promises tags as long as the call says; where they aren't written they are read.
            let failed = unsafe { compare_tags(group, call.tag_bytes, tags) };
            if !verdict::public(failed == 0) {
                // SAFETY: the caller promises writable statuses and, of an open, writable texts.
                unsafe { fail::<ROUNDS, RAW, BLOCKS, AAD, LONG, LAST>(group, call, failed) };
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
        // SAFETY: the second tag is as long; masked bytes are not touched.
        let b = unsafe { _mm_maskz_loadu_epi8(mask, b.cast()) };
        // SAFETY: the third tag is as long; masked bytes are not touched.
        let c = unsafe { _mm_maskz_loadu_epi8(mask, c.cast()) };
        // SAFETY: the fourth tag is as long; masked bytes are not touched.
        let d = unsafe { _mm_maskz_loadu_epi8(mask, d.cast()) };
        let used = 0x0001_0001_0001_0001 * u64::from(mask);
        _mm512_cmpneq_epi64_mask(_mm512_maskz_mov_epi8(used, tags), lanes(a, b, c, d))
    }
}

wide_fn! {
    /// Clears the outputs of messages that failed, and says so.
    ///
    /// The same is done for those that did not, with nothing to clear: which ones fail is not guessed right.
    ///
    /// # Safety
    /// Texts opened and statuses are writable.
    #[inline]
    unsafe fn fail<
        const ROUNDS: usize,
        const RAW: bool,
        const BLOCKS: usize,
        const AAD: bool,
        const LONG: bool,
        const LAST: bool,
    >(
        group: &Group,
        call: &Call,
        failed: u8,
    ) {
        let is_whole = match BLOCKS {
            8 => !LONG && are_whole::<BLOCKS, 1>(group, 0),
            _ => are_whole::<BLOCKS, 0>(group, 0),
        };
        if !is_whole {
            // SAFETY: the caller keeps the same promise.
            return unsafe { fail_part(group, call, failed) };
        }
        let zero = _mm512_setzero_si512();
        for (lane, item) in group.iter().enumerate() {
            let has_failed = u8::from((failed >> (2 * lane)) & 3 != 0);
            if call.op == Op::Open {
                let words = 0_u8.wrapping_sub(has_failed) & const { words(BLOCKS) };
                // SAFETY: the caller promises a writable text, which has all blocks.
                unsafe { _mm512_mask_storeu_epi64(item.output.cast(), words, zero) };
                if BLOCKS == 8 {
                    // SAFETY: a writable text that has all 8 blocks has 64 bytes from there, too.
                    unsafe { _mm512_mask_storeu_epi64(item.output.wrapping_add(64).cast(), words, zero) };
                }
            }
            // SAFETY: the caller promises a writable status.
            unsafe { item.status.write([Status::Ok, Status::AuthFailed][usize::from(has_failed)]) };
        }
    }
}

wide_fn! {
    /// The same for texts that don't end with a block or have several pieces.
    ///
    /// # Safety
    /// As for [`fail`].
    #[inline(never)]
    unsafe fn fail_part(group: &Group, call: &Call, failed: u8) {
        let zero = _mm512_setzero_si512();
        for (lane, item) in group.iter().enumerate() {
            let has_failed = usize::from((failed >> (2 * lane)) & 3 != 0);
            let bytes = item.text_bytes as usize * has_failed;
            if call.op == Op::Open {
                for at in (0..item.text_bytes as usize).step_by(64) {
                    let to = item.output.wrapping_add(at);
                    // SAFETY: the caller promises a writable text, and nothing is stored behind its end.
                    unsafe { store_part(to, zero, bytes.saturating_sub(at)) };
                }
            }
            // SAFETY: the caller promises a writable status.
            unsafe { item.status.write([Status::Ok, Status::AuthFailed][has_failed]) };
        }
    }
}

/// A bit for each half of the first blocks, up to four.
const fn words(blocks: usize) -> u8 {
    if blocks < 4 { (1 << (2 * blocks)) - 1 } else { u8::MAX }
}

/// A bit for each byte of a tag, of 1 to 16.
#[inline(always)]
fn tag_mask(tag_bytes: usize) -> u16 {
    u16::MAX >> (16 - tag_bytes.clamp(1, 16))
}
