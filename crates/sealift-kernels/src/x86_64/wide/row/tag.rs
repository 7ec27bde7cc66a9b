//! Tags of a group, and what becomes of messages whose tags are wrong.

use core::arch::x86_64::*;

use sealift_core::Status;

use super::{
    super::{
        item::Item,
        zmm::{Z, wide_fn},
    },
    place::{QUAD, quad},
};
use crate::verdict::public;

wide_fn! {
    /// Writes the tags of a group, given in registers of four.
    ///
    /// # Safety
    /// They are writable for `bytes`.
    #[inline]
    pub(super) unsafe fn write_tags<const N: usize>(group: &[Item; N], tags: [Z; 2], bytes: usize) {
        for (four, tags) in group.as_chunks::<QUAD>().0.iter().zip(tags) {
            let lanes = [
                _mm512_castsi512_si128(tags),
                _mm512_extracti64x2_epi64::<1>(tags),
                _mm512_extracti64x2_epi64::<2>(tags),
                _mm512_extracti64x2_epi64::<3>(tags),
            ];
            if bytes == 16 {
                for (item, tag) in four.iter().zip(lanes) {
                    // SAFETY: the caller promises 16 writable bytes.
                    unsafe { _mm_storeu_si128(item.tag.cast(), tag) };
                }
            } else {
                for (item, tag) in four.iter().zip(lanes) {
                    // SAFETY: the caller promises `bytes`, fewer than 16; masked ones are not touched.
                    unsafe { _mm_mask_storeu_epi8(item.tag.cast(), (1 << bytes) - 1, tag) };
                }
            }
        }
    }
}

wide_fn! {
    /// Compares the tags of a group with the expected ones: two bits for each message, set where they
    /// differ.
    ///
    /// # Safety
    /// The expected ones are readable for `bytes`.
    #[inline]
    pub(super) unsafe fn compare_tags<const N: usize>(
        group: &[Item; N],
        tags: [Z; 2],
        bytes: usize,
    ) -> u16 {
        // SAFETY: the caller promises `bytes` of each expected tag, of which these are the first four.
        let differ = unsafe { compare_four(quad(group, 0), tags[0], bytes) };
        if N == QUAD {
            return u16::from(differ);
        }
        // SAFETY: the caller promises `bytes` of each expected tag, of which these are the second four.
        u16::from_le_bytes([differ, unsafe { compare_four(quad(group, 1), tags[1], bytes) }])
    }
}

wide_fn! {
    /// # Safety
    /// As for [`compare_tags`].
    #[inline]
    unsafe fn compare_four(four: &[Item; QUAD], tags: Z, bytes: usize) -> u8 {
        if bytes == 16 {
            // SAFETY: the caller promises 16 readable bytes.
            let expected = four.each_ref().map(|item| unsafe { _mm_loadu_si128(item.tag.cast_const().cast()) });
            return _mm512_cmpneq_epi64_mask(tags, joined(expected));
        }
        let mask: u16 = (1 << bytes) - 1;
        let expected = four.each_ref().map(|item| {
            // SAFETY: the caller promises `bytes`, fewer than 16; masked ones are not touched.
            unsafe { _mm_maskz_loadu_epi8(mask, item.tag.cast_const().cast()) }
        });
        let tags = _mm512_maskz_mov_epi8(u64::from(mask) * 0x0001_0001_0001_0001, tags);
        _mm512_cmpneq_epi64_mask(tags, joined(expected))
    }
}

wide_fn! {
    #[inline]
    fn joined([a, b, c, d]: [__m128i; QUAD]) -> Z {
        let joined = _mm512_inserti64x2::<1>(_mm512_castsi128_si512(a), b);
        _mm512_inserti64x2::<3>(_mm512_inserti64x2::<2>(joined, c), d)
    }
}

/// Whether all tags of a group are right.
#[inline(always)]
pub(super) fn all_right(differ: u16) -> bool {
    public(differ == 0)
}

wide_fn! {
    /// A text, or zeros if its message failed.
    #[inline]
    pub(super) fn cleared(row: Z, differ: u16, message: usize) -> Z {
        _mm512_maskz_mov_epi64(if is_right(differ, message) { 0xff } else { 0 }, row)
    }
}

/// Writes down which messages failed.
///
/// # Safety
/// The statuses are writable.
#[cold]
#[inline(never)]
pub(super) unsafe fn note_failures<const N: usize>(group: &[Item; N], differ: u16) {
    for (message, item) in group.iter().enumerate() {
        if !is_right(differ, message) {
            // SAFETY: the caller promises writable statuses.
            unsafe { item.status.write(Status::AuthFailed) };
        }
    }
}

/// Whether the tag of a message is right.
#[inline(always)]
fn is_right(differ: u16, message: usize) -> bool {
    (differ >> (2 * message)) & 3 == 0
}
