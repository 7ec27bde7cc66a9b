//! Four messages on their way from texts to tags.
#![allow(unsafe_code)]

use core::arch::x86_64::*;

use sealift_core::{Op, Status};

use super::super::block::{from_bytes, keep, load_block, once, store_block, to_bytes};
use super::super::item::{Item, LONG_TEXT, MEDIUM_AAD_BLOCKS};
use super::super::lane::expand::Lanes;
use super::super::zmm::{Z, load, reverse, store, wide_fn, xor};
use super::hash::hash;
use super::nonces::{Nonces, put};
use super::{LANES, Row};
use crate::verdict;

/// The most blocks that are hashed of a message: aad, text, and their lengths.
const HASHED_MAX: usize = MEDIUM_AAD_BLOCKS + LONG_TEXT;

/// A group of messages between its texts and its tags.
#[repr(C, align(64))]
pub(super) struct Group {
    /// The key stream: the block that masks the tag, then those of the text.
    stream: [Row; LONG_TEXT],
    /// What is hashed, of which `hashed` rows are in use.
    rows: [Row; HASHED_MAX],
    hashed: usize,
    hash_keys: Z,
}

impl Group {
    /// Works the texts of up to four messages, and keeps what their tags are made of.
    ///
    /// # Safety
    /// The items' addresses are what they say, and this processor has the instructions.
    pub(super) unsafe fn work_texts<const ROUNDS: usize>(
        &mut self,
        schedule: &Lanes,
        items: &[Item],
        nonces: &Nonces,
    ) {
        // SAFETY: the caller keeps the same promise.
        unsafe { texts::<ROUNDS>(self, schedule, items, nonces) }
    }

    /// Writes or compares their tags; what fails leaves zeros.
    ///
    /// # Safety
    /// As for [`work_texts`](Group::work_texts), with the same items.
    pub(super) unsafe fn finish(&self, items: &[Item], tag_bytes: usize) {
        if !items.is_empty() {
            // SAFETY: the caller keeps the same promise.
            unsafe { tags(self, items, tag_bytes) }
        }
    }
}

wide_fn! {
    /// # Safety
    /// The items' addresses are what they say.
    unsafe fn texts<const ROUNDS: usize>(
        group: &mut Group,
        schedule: &Lanes,
        items: &[Item],
        nonces: &Nonces,
    ) {
        group.hash_keys = schedule[ROUNDS + 1];
        // SAFETY: the caller promises the items' addresses.
        let first = unsafe { nonces.first_counters(items, group.hash_keys) };
        let blocks = items.iter().map(text_blocks).max().unwrap_or(0);
        match blocks {
            0..=2 => stream::<ROUNDS, 3>(schedule, first, group),
            3..=4 => stream::<ROUNDS, 5>(schedule, first, group),
            _ => stream::<ROUNDS, 9>(schedule, first, group),
        }
        group.hashed = 1 + items.iter().map(|item| aad_blocks(item) + text_blocks(item)).max().unwrap_or(0);
        for lane in 0..LANES {
            match items.get(lane) {
                // SAFETY: the caller promises the items' addresses; the rows reach as far as the longest.
                Some(item) => unsafe { copy(item, lane, group) },
                None => group.rows[..group.hashed].iter_mut().for_each(|row| row[lane] = [0; 16]),
            }
        }
    }
}

wide_fn! {
    /// The first `N` blocks of key stream of four messages.
    fn stream<const ROUNDS: usize, const N: usize>(
        schedule: &Lanes,
        first: Z,
        group: &mut Group,
    ) {
        let one = _mm512_maskz_set1_epi32(0x1111, 1);
        let mut counters = first;
        let mut states = [first; N];
        for state in &mut states {
            *state = xor(reverse(counters), schedule[0]);
            counters = _mm512_add_epi32(counters, one);
        }
        for key in &schedule[1..ROUNDS] {
            for state in &mut states {
                *state = _mm512_aesenc_epi128(*state, *key);
            }
        }
        for (state, row) in states.iter().zip(&mut group.stream) {
            let block = _mm512_aesenclast_epi128(*state, schedule[ROUNDS]);
            // SAFETY: a row is writable.
            unsafe { store(row.as_mut_ptr().cast(), block) };
        }
    }
}

wide_fn! {
    /// Copies a message's aad, text and lengths to the end of its column; the text is encrypted or
    /// decrypted on the way.
    ///
    /// # Safety
    /// The item's addresses are what they say, and the column has room for it.
    unsafe fn copy(item: &Item, lane: usize, group: &mut Group) {
        let (aad, text) = (aad_blocks(item), text_blocks(item));
        let Group { stream, rows, hashed, .. } = group;
        let (zeros, column) = rows[..*hashed].split_at_mut(*hashed - 1 - aad - text);
        zeros.iter_mut().for_each(|row| row[lane] = [0; 16]);
        // SAFETY: the aad is readable for its length.
        unsafe { put(item.aad, item.aad_bytes.into(), lane, column) };
        let mut left = item.text_bytes as usize;
        for (i, (mask, row)) in stream[1..].iter().zip(&mut column[aad..aad + text]).enumerate() {
            let bytes = left.min(16);
            left -= bytes;
            // SAFETY: so many bytes of the text are left from there.
            let input = once(unsafe { load_block(item.input.wrapping_add(16 * i), bytes) });
            let output = keep(_mm_xor_si128(input, from_bytes(&mask[lane])), bytes);
            if item.op != Op::Verify {
                // SAFETY: a seal and an open have as much room.
                unsafe { store_block(item.output.wrapping_add(16 * i), output, bytes) };
            }
            row[lane] = to_bytes(if item.op == Op::Seal { output } else { input });
        }
        let lengths = (u128::from(item.aad_bytes) << 64) | u128::from(item.text_bytes);
        column[aad + text][lane] = (lengths * 8).to_be_bytes();
    }
}

wide_fn! {
    /// # Safety
    /// The items' addresses are what they say.
    unsafe fn tags(group: &Group, items: &[Item], tag_bytes: usize) {
        let hash = reverse(hash(group.hash_keys, &group.rows[..group.hashed]));
        // SAFETY: a row is readable.
        let tags = xor(hash, unsafe { load(group.stream[0].as_ptr().cast()) });
        let mut row: Row = [[0; 16]; LANES];
        // SAFETY: a row is writable.
        unsafe { store(row.as_mut_ptr().cast(), tags) };
        for (tag, item) in row.iter().zip(items) {
            let tag = from_bytes(tag);
            if item.op == Op::Seal {
                // SAFETY: a seal's tag is writable for so many bytes.
                unsafe { store_block(item.tag, tag, tag_bytes) };
                continue;
            }
            // SAFETY: the tag is readable for so many bytes.
            let expected = unsafe { load_block(item.tag, tag_bytes) };
            let difference = _mm_xor_si128(keep(tag, tag_bytes), expected);
            if !verdict::public(_mm_testz_si128(difference, difference) == 1) {
                // SAFETY: the item's status and, of an open, its output are writable.
                unsafe { fail(item) };
            }
        }
    }
}

/// Zeroes the output of a message and says that it failed.
///
/// # Safety
/// The item's status and, of an open, its output are writable.
unsafe fn fail(item: &Item) {
    if item.op == Op::Open {
        // SAFETY: the caller promises a writable output of an open, which is as long as the text.
        unsafe { item.output.write_bytes(0, item.text_bytes as usize) };
    }
    // SAFETY: the caller promises a writable status, whatever was done.
    unsafe { item.status.write(Status::AuthFailed) };
}

fn text_blocks(item: &Item) -> usize {
    (item.text_bytes as usize).div_ceil(16)
}

fn aad_blocks(item: &Item) -> usize {
    usize::from(item.aad_bytes).div_ceil(16)
}
