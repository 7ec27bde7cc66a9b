//! Texts, nonces and tags of four messages.

use core::arch::x86_64::*;

use sealift_core::Status;

use super::super::{
    item::Item,
    zmm::{Z, load, load_nonce, store, wide_fn},
};
use crate::verdict::public;

/// Messages that are worked at once.
pub(super) const GROUP: usize = 4;

/// The blocks of four messages: up to two registers each.
pub(super) type Rows = [[Z; 2]; GROUP];

wide_fn! {
    /// The nonce of a message, in all lanes, zeros behind it.
    ///
    /// # Safety
    /// It is readable.
    #[inline]
    pub(super) unsafe fn nonce(item: &Item) -> Z {
        // SAFETY: the caller promises it.
        _mm512_broadcast_i32x4(unsafe { load_nonce(item.nonce) })
    }
}

wide_fn! {
    /// Bytes of a message's last register, of `rows`: at most 64.
    #[inline]
    pub(super) fn last_bytes(item: &Item, rows: usize) -> usize {
        (item.text_bytes as usize).wrapping_sub(64 * (rows - 1))
    }
}

wide_fn! {
    /// Loads up to 64 bytes, zeros behind them.
    ///
    /// # Safety
    /// They are readable.
    #[inline]
    pub(super) unsafe fn load_up_to(from: *const u8, bytes: usize) -> Z {
        if bytes >= 64 {
            // SAFETY: the caller promises it.
            unsafe { load(from) }
        } else {
            // SAFETY: the caller promises `bytes` readable bytes; masked ones are not touched.
            unsafe { _mm512_maskz_loadu_epi8(mask(bytes), from.cast()) }
        }
    }
}

wide_fn! {
    /// Stores up to 64 bytes.
    ///
    /// # Safety
    /// They are writable.
    #[inline]
    pub(super) unsafe fn store_up_to(to: *mut u8, register: Z, bytes: usize) {
        if bytes >= 64 {
            // SAFETY: the caller promises it.
            unsafe { store(to, register) }
        } else {
            // SAFETY: the caller promises `bytes` writable bytes; masked ones are not touched.
            unsafe { _mm512_mask_storeu_epi8(to.cast(), mask(bytes), register) }
        }
    }
}

wide_fn! {
    /// Zeros behind the first bytes.
    #[inline]
    pub(super) fn keep(register: Z, bytes: usize) -> Z {
        _mm512_maskz_mov_epi8(if bytes >= 64 { u64::MAX } else { mask(bytes) }, register)
    }
}

wide_fn! {
    /// Writes the tags of a group.
    ///
    /// # Safety
    /// They are writable for `bytes`, unless a message has no status, being none.
    #[inline]
    pub(super) unsafe fn write_tags(group: &[Item; GROUP], tags: Z, bytes: usize) {
        let lanes = [
            _mm512_castsi512_si128(tags),
            _mm512_extracti64x2_epi64::<1>(tags),
            _mm512_extracti64x2_epi64::<2>(tags),
            _mm512_extracti64x2_epi64::<3>(tags),
        ];
        for (item, tag) in group.iter().zip(lanes) {
            if item.status.is_null() {
                continue;
            }
            if bytes == 16 {
                // SAFETY: the caller promises 16 writable bytes.
                unsafe { _mm_storeu_si128(item.tag.cast(), tag) };
            } else {
                // SAFETY: the caller promises `bytes`, fewer than 16; masked ones are not touched.
                unsafe { _mm_mask_storeu_epi8(item.tag.cast(), (1 << bytes) - 1, tag) };
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
    pub(super) unsafe fn compare_tags(group: &[Item; GROUP], tags: Z, bytes: usize) -> u8 {
        let [a, b, c, d] = group;
        macro_rules! gather {
            ($load:expr) => {{
                let load = $load;
                let tags = _mm512_castsi128_si512(load(a));
                let tags = _mm512_inserti64x2::<1>(tags, load(b));
                let tags = _mm512_inserti64x2::<2>(tags, load(c));
                _mm512_inserti64x2::<3>(tags, load(d))
            }};
        }
        if bytes == 16 {
            // SAFETY: the caller promises 16 readable bytes.
            let expected = gather!(|item: &Item| unsafe { _mm_loadu_si128(item.tag.cast_const().cast()) });
            return _mm512_cmpneq_epi64_mask(tags, expected);
        }
        let mask: u16 = (1 << bytes) - 1;
        let expected = gather!(
            // SAFETY: the caller promises `bytes`, fewer than 16; masked ones are not touched.
            |item: &Item| unsafe { _mm_maskz_loadu_epi8(mask, item.tag.cast_const().cast()) }
        );
        let tags = _mm512_maskz_mov_epi8(u64::from(mask) * 0x0001_0001_0001_0001, tags);
        _mm512_cmpneq_epi64_mask(tags, expected)
    }
}

/// Whether all tags of a group are right.
#[inline(always)]
pub(super) fn all_right(differ: u8) -> bool {
    public(differ == 0)
}

/// Whether the tag of a message is right.
#[inline(always)]
pub(super) fn is_right(differ: u8, message: usize) -> bool {
    (differ >> (2 * message)) & 3 == 0
}

/// Writes down which messages failed.
///
/// # Safety
/// The statuses are writable, unless a message has none.
#[cold]
pub(super) unsafe fn note_failures(group: &[Item; GROUP], differ: u8) {
    for (message, item) in group.iter().enumerate() {
        if !is_right(differ, message) && !item.status.is_null() {
            // SAFETY: the caller promises it.
            unsafe { item.status.write(Status::AuthFailed) };
        }
    }
}

/// A bit for each of the first `bytes`, fewer than 64.
#[inline(always)]
fn mask(bytes: usize) -> u64 {
    (1 << bytes) - 1
}
