//! Hashing in lanes, a row of blocks after the other.
#![allow(unsafe_code)]

use core::arch::x86_64::*;

use super::super::zmm::{Z, fold, load, multiply, reduce, reverse, wide_fn, xor};
use super::Row;

wide_fn! {
    /// The hash of rows of blocks in each lane, reversed.
    pub(super) fn hash(hash_keys: Z, rows: &[Row]) -> Z {
        let (h, folded) = (hash_keys, fold(hash_keys));
        let square = reduce(multiply(h, h, folded));
        let square_folded = fold(square);
        // SAFETY: a row is readable.
        let block = |row: &Row| reverse(unsafe { load(row.as_ptr().cast()) });
        let (single, pairs) = rows.split_at(rows.len() % 2);
        let mut hash = single.iter().fold(_mm512_setzero_si512(), |_, row| reduce(multiply(block(row), h, folded)));
        for pair in pairs.chunks_exact(2) {
            let (low, high) = multiply(block(&pair[1]), h, folded);
            let (more_low, more_high) = multiply(xor(hash, block(&pair[0])), square, square_folded);
            hash = reduce((xor(low, more_low), xor(high, more_high)));
        }
        hash
    }
}
