//! Hashing in lanes, a row of blocks after the other.
#![allow(unsafe_code)]

use core::arch::x86_64::*;

use super::super::zmm::{Z, fold, load, reverse, wide_fn, xor, xor3};
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

wide_fn! {
    /// Unreduced products: see `ghash`.
    #[inline]
    fn multiply(y: Z, h: Z, folded: Z) -> (Z, Z) {
        let low = xor(_mm512_clmulepi64_epi128::<0x00>(y, folded), _mm512_clmulepi64_epi128::<0x01>(y, h));
        let high = xor(_mm512_clmulepi64_epi128::<0x10>(y, folded), _mm512_clmulepi64_epi128::<0x11>(y, h));
        (low, high)
    }
}

wide_fn! {
    #[inline]
    fn reduce((low, high): (Z, Z)) -> Z {
        let modulus = _mm512_set1_epi64(0xc2_i64 << 56);
        xor3(high, _mm512_shuffle_epi32::<0x4e>(low), _mm512_clmulepi64_epi128::<0x00>(low, modulus))
    }
}
