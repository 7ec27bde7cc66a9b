//! The first group of a call and its last two, for which there is nothing to be woven in.
#![allow(unsafe_code)]

use core::arch::x86_64::*;

use super::{
    between::{Between, Powers, Secret},
    expand::{self, Lanes},
    group::{
        Call, Group, Piece, are_whole, crypt_part, crypt_whole, lay_aad, lay_half, lengths, nonces,
    },
    lanes::{counter, gather, keys},
    tags::conclude,
    weave::hashed_blocks,
};
use crate::x86_64::wide::zmm::{Z, multiply, reduce, reverse, transpose, wide_fn, xor};

wide_fn! {
    /// Takes the first group through AES.
    ///
    /// # Safety
    /// As for [`pass`](super::kernel::pass).
    // Not a part of what calls it: it would not be faster for it.
    #[inline(never)]
    pub(super) unsafe fn start<const ROUNDS: usize, const RAW: bool, const BLOCKS: usize>(
        between: &mut Between,
        group: &Group,
        schedule: *const Lanes,
    ) {
        let key = |round: usize| {
            if RAW {
                // SAFETY: round keys of the group, as the caller promises.
                unsafe { (*schedule)[round] }
            } else {
                // SAFETY: keys of the group are expanded, and their round keys are there.
                unsafe { gather(keys(group, 16 * round)) }
            }
        };
        let first = key(0);
        // SAFETY: nonces of the group.
        let nonces = unsafe { nonces(group) };
        between.nonces[0] = nonces;
        let start = xor(nonces, first);
        let mut states: [Z; 10] = core::array::from_fn(|_| first);
        for (state, value) in states[..=BLOCKS].iter_mut().zip(1..) {
            *state = xor(start, counter(value));
        }
        let used = BLOCKS + 1 + usize::from(RAW);
        for round in 1..ROUNDS {
            let key = key(round);
            for state in &mut states[..used] {
                *state = _mm512_aesenc_epi128(*state, key);
            }
        }
        let key = key(ROUNDS);
        let last = states.map(|state| _mm512_aesenclast_epi128(state, key));
        let Secret { stream, zeros, sum, masks, .. } = &mut between.secret;
        *sum = _mm512_setzero_si512();
        masks[0] = last[0];
        stream[..BLOCKS].copy_from_slice(&last[1..=BLOCKS]);
        if RAW {
            *zeros = last[BLOCKS + 1];
        }
    }
}

wide_fn! {
    /// Ends a call: all pieces of groups have been through AES, and the last two have to be concluded.
    ///
    /// # Safety
    /// As for [`pass`](super::kernel::pass).
    #[inline(never)]
    pub(super) unsafe fn finish<
        const ROUNDS: usize,
        const RAW: bool,
        const BLOCKS: usize,
        const AAD: bool,
        const LONG: bool,
    >(
        call: &Call,
        between: &mut Between,
        last: Piece<'_, LONG>,
        before: Option<Piece<'_, LONG>>,
    ) {
        let Between { secret, hashed, .. } = between;
        let Piece { group, place, .. } = last;
        let text_at = call.text_at + last.start() / 16;
        // The last piece of a long text is never its first, with which its aad was laid down.
        if AAD && !LONG {
            // SAFETY: aad of the group.
            unsafe { lay_aad::<LONG>(group, place, call.aad_at, hashed) };
        }
        let [a, b, c, d, ..] = secret.stream;
        let rows = transpose([a, b, c, d]);
        // SAFETY: texts of the group.
        let rows = unsafe { crypt_half::<BLOCKS, 0>(group, call, last.start(), rows) };
        lay_half::<BLOCKS, 0, LONG>(rows, place, text_at, hashed);
        if BLOCKS == 8 {
            let [_, _, _, _, a, b, c, d] = secret.stream;
            let rows = transpose([a, b, c, d]);
            // SAFETY: texts of the group, from their fifth block on.
            let rows = unsafe { crypt_half::<BLOCKS, 1>(group, call, last.start(), rows) };
            lay_half::<BLOCKS, 1, LONG>(rows, place, text_at, hashed);
        }
        *hashed.at::<LONG>(place, call.lengths_at) = lengths(group);
        let blocks = const { hashed_blocks(BLOCKS, AAD) };
        let hashed = hashed.all::<LONG>();
        let hashed = |piece: Piece<'_, LONG>| &hashed[piece.place][blocks * piece.number()..][..blocks];
        let mut sum = _mm512_setzero_si512();
        if let Some(before) = before {
            let powers = if RAW {
                secret.powers
            } else {
                // SAFETY: keys of the group are expanded.
                unsafe { Powers::gather::<ROUNDS>(before.group) }
            };
            let hash = hash(&powers, secret.sum, hashed(before));
            if before.is_last() {
                let tags = xor(reverse(hash), secret.masks[before.place]);
                // SAFETY: tags, texts and statuses of the group.
                unsafe { conclude::<ROUNDS, RAW, BLOCKS, AAD, LONG, true>(before.group, call, tags) };
            } else {
                sum = hash;
            }
        }
        let powers = if RAW {
            Powers::of(expand::times_x(reverse(secret.zeros)))
        } else {
            // SAFETY: keys of the last group are expanded, too.
            unsafe { Powers::gather::<ROUNDS>(group) }
        };
        let hash = hash(&powers, sum, hashed(last));
        let tags = xor(reverse(hash), secret.masks[place]);
        // SAFETY: tags, texts and statuses of the last group.
        unsafe { conclude::<ROUNDS, RAW, BLOCKS, AAD, LONG, true>(group, call, tags) };
    }
}

wide_fn! {
    /// Seals, opens or reads a register of each text, from block 4 * `HALF` of a piece on, with its key stream in rows.
    /// Returns the ciphertext; behind its end there are zeros.
    ///
    /// # Safety
    /// Texts are readable, and writable for a seal and an open.
    #[inline]
    unsafe fn crypt_half<const BLOCKS: usize, const HALF: usize>(
        group: &Group,
        call: &Call,
        start: usize,
        stream: [Z; 4],
    ) -> [Z; 4] {
        if are_whole::<BLOCKS, HALF>(group, start) {
            // SAFETY: the caller keeps the same promise, and texts are that long.
            return unsafe { crypt_whole::<BLOCKS, HALF>(group, call, start, stream) };
        }
        let [a, b, c, d] = stream;
        // SAFETY: the caller promises the first text, to read and, but for a verify, to write.
        let a = unsafe { crypt_part::<HALF>(&group[0], call, start, a) };
        // SAFETY: the caller promises the second text, to read and, but for a verify, to write.
        let b = unsafe { crypt_part::<HALF>(&group[1], call, start, b) };
        // SAFETY: the caller promises the third text, to read and, but for a verify, to write.
        let c = unsafe { crypt_part::<HALF>(&group[2], call, start, c) };
        // SAFETY: the caller promises the fourth text, to read and, but for a verify, to write.
        let d = unsafe { crypt_part::<HALF>(&group[3], call, start, d) };
        [a, b, c, d]
    }
}

wide_fn! {
    /// The hash of blocks in each lane, behind that of others.
    #[inline]
    fn hash(powers: &Powers, mut sum: Z, blocks: &[Z]) -> Z {
        let Powers { h, h2, folded, folded2 } = *powers;
        let (single, pairs) = blocks.split_at(blocks.len() % 2);
        if let [block] = single {
            sum = reduce(multiply(xor(sum, *block), h, folded));
        }
        for pair in pairs.chunks_exact(2) {
            let (low, high) = multiply(pair[1], h, folded);
            let (more_low, more_high) = multiply(xor(sum, pair[0]), h2, folded2);
            sum = reduce((xor(low, more_low), xor(high, more_high)));
        }
        sum
    }
}
