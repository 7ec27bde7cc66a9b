//! The counter blocks that messages begin with.
#![allow(unsafe_code)]

use core::arch::x86_64::*;

use super::super::block::{load_block, to_bytes};
use super::super::item::Item;
use super::super::zmm::{Z, load_nonce, reverse, wide_fn, xor};
use super::hash::hash;
use super::{LANES, Row};

/// The most blocks that are hashed of a nonce of up to 128 bytes: it and its length.
const HASHED_MAX: usize = 9;

/// Nonces of four messages that are hashed, because they have not 12 bytes.
#[repr(C, align(64))]
pub(super) struct Nonces {
    /// Of which `hashed` rows are in use.
    rows: [Row; HASHED_MAX],
    hashed: usize,
}

impl Nonces {
    /// Takes the nonces of up to four messages, some time before they are needed.
    ///
    /// # Safety
    /// The items' addresses are what they say, and this processor has the instructions.
    pub(super) unsafe fn put(&mut self, items: &[Item]) {
        // SAFETY: the caller keeps the same promise.
        unsafe { put_nonces(self, items) }
    }

    /// The first counter blocks, reversed.
    ///
    /// # Safety
    /// As for [`put`](Nonces::put), with the same items.
    pub(super) unsafe fn first_counters(&self, items: &[Item], hash_keys: Z) -> Z {
        // SAFETY: the caller keeps the same promise.
        unsafe { first_counters(self, items, hash_keys) }
    }
}

wide_fn! {
    /// # Safety
    /// The items' nonces are readable for their lengths.
    unsafe fn put_nonces(nonces: &mut Nonces, items: &[Item]) {
        let blocks = |item: &Item| if item.nonce_bytes == 12 { 0 } else { 1 + nonce_blocks(item) };
        nonces.hashed = items.iter().map(blocks).max().unwrap_or(0);
        for lane in 0..LANES {
            let own = items.get(lane).map_or(0, blocks);
            let (zeros, column) = nonces.rows[..nonces.hashed].split_at_mut(nonces.hashed - own);
            zeros.iter_mut().for_each(|row| row[lane] = [0; 16]);
            if let (Some(item), Some((lengths, column))) = (items.get(lane), column.split_last_mut()) {
                // SAFETY: the nonce is readable for its length.
                unsafe { put(item.nonce, item.nonce_bytes.into(), lane, column) };
                lengths[lane] = (u128::from(item.nonce_bytes) * 8).to_be_bytes();
            }
        }
    }
}

wide_fn! {
    /// # Safety
    /// The items' nonces are readable for their lengths.
    unsafe fn first_counters(nonces: &Nonces, items: &[Item], hash_keys: Z) -> Z {
        let one = _mm_set_epi32(1 << 24, 0, 0, 0);
        let plain = |lane: usize| match items.get(lane) {
            // SAFETY: the nonce has 12 bytes.
            Some(item) if item.nonce_bytes == 12 => _mm_or_si128(unsafe { load_nonce(item.nonce) }, one),
            _ => _mm_setzero_si128(),
        };
        let first = _mm512_inserti64x2::<1>(_mm512_castsi128_si512(plain(0)), plain(1));
        let second = _mm512_inserti64x2::<2>(first, plain(2));
        let counters = reverse(_mm512_inserti64x2::<3>(second, plain(3)));
        match &nonces.rows[..nonces.hashed] {
            [] => counters,
            rows => xor(counters, hash(hash_keys, rows)),
        }
    }
}

wide_fn! {
    /// Puts bytes into a column from its first row on, the last block filled up with zeros.
    ///
    /// # Safety
    /// So many bytes are readable.
    #[inline]
    pub(super) unsafe fn put(from: *const u8, bytes: usize, lane: usize, rows: &mut [Row]) {
        for (i, row) in rows[..bytes.div_ceil(16)].iter_mut().enumerate() {
            // SAFETY: the caller promises so many bytes.
            row[lane] = to_bytes(unsafe { load_block(from.wrapping_add(16 * i), (bytes - 16 * i).min(16)) });
        }
    }
}

fn nonce_blocks(item: &Item) -> usize {
    usize::from(item.nonce_bytes).div_ceil(16)
}
