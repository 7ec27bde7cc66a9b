//! Three pieces of groups of messages at once: while one goes through AES, the text of the one before is turned
//! from lanes to rows and back, and the one before that is hashed.
//!
//! So each round of AES has multiplications and shuffles beside it that wait for nothing of that round.
#![allow(unsafe_code)]

use core::arch::x86_64::*;

use super::{
    between::{Between, Powers, square},
    expand::{self, Lanes, Words},
    group::{Call, Piece, are_whole, crypt_part, crypt_whole, lay_aad, lay_half, lengths, nonces},
    keys::Expanding,
    lanes::{counter, gather, gather_two, keys},
    tags::conclude,
    weave::{Turn, early, hashed_blocks, turn},
};
use crate::x86_64::wide::zmm::{fold, pin, reverse, transpose, wide_fn, xor, xor3};

/// What is done in a pass.
pub(super) struct Pass<'a, const LONG: bool> {
    pub(super) ciphering: Piece<'a, LONG>,
    pub(super) crypting: Piece<'a, LONG>,
    /// Not in the first pass.
    pub(super) hashing: Option<Piece<'a, LONG>>,
    /// Round keys of the group in AES, if keys are raw.
    pub(super) keys: *const Lanes,
    /// Schedules to be carried on with meanwhile, if any.
    pub(super) expanding: Option<Expanding>,
}

wide_fn! {
    /// One pass over a piece each of three groups; it has at most `BLOCKS` blocks of a text, which has others if it is `LONG`.
    ///
    /// # Safety
    /// Addresses of the groups are what they say, keys are raw or not as `RAW` says, and the pass has keys
    /// and places for schedules accordingly.
    #[inline]
    #[allow(unused_assignments, reason = "the last turn might be the second of a pair")]
    pub(super) unsafe fn pass<
        const ROUNDS: usize,
        const RAW: bool,
        const BLOCKS: usize,
        const AAD: bool,
        const LONG: bool,
    >(
        call: &Call,
        between: &mut Between,
        pass: &Pass<'_, LONG>,
    ) {
        let zero = _mm512_setzero_si512();
        let Pass { ciphering, crypting, .. } = *pass;
        // In the first pass something else, of which nothing comes.
        let hashing = pass.hashing.unwrap_or(crypting);
        let Between { secret, hashed, nonces: kept, .. } = between;
        // Texts of one piece are those of three groups in a row.
        let place = ciphering.place;
        let (laid, from) = if LONG { (crypting.place, hashing.place) } else { (1 - place, place) };
        let text_at = call.text_at + crypting.start() / 16;
        macro_rules! hashed {
            ($block:expr) => {
                *hashed.at::<LONG>(from, hashing.number() * hashed_blocks(BLOCKS, AAD) + $block)
            };
        }
        let powers = if RAW {
            secret.powers
        } else {
            // SAFETY: keys of the group are expanded.
            unsafe { Powers::gather::<ROUNDS>(hashing.group) }
        };
        let mut sum = if LONG { secret.sum } else { zero };
        // Two round keys.
        let mut two = [zero; 2];
        // The second of a pair, until its first has its turn.
        let (mut low, mut high) = (zero, zero);

        macro_rules! key {
            ($round:tt) => {
                if RAW {
                    // SAFETY: round keys of the group, as the caller promises.
                    unsafe { (*pass.keys)[$round] }
                } else {
                    if $round == 0 {
                        // SAFETY: keys of the group are expanded, and their round keys are there.
                        two[0] = unsafe { gather(keys(ciphering.group, 0)) };
                    } else if $round % 2 == 1 {
                        // SAFETY: keys of the group are expanded, and have an even number of rounds.
                        two = unsafe { gather_two::<$round>(keys(ciphering.group, 16 * $round)) };
                        two.swap(0, 1);
                    }
                    two[$round % 2]
                }
            };
        }
        macro_rules! multiply {
            ($turn:expr, [$($one:tt)*] [$($two:tt)*] [$($three:tt)*] [$($four:tt)*]) => {{
                let turn = $turn;
                let (y, h, folded) = match turn {
                    Turn::Nothing => (zero, zero, zero),
                    Turn::Alone(block) => (xor(sum, hashed!(block)), powers.h, powers.folded),
                    Turn::Second(block) => (hashed!(block), powers.h, powers.folded),
                    Turn::First(block) => (xor(sum, hashed!(block)), powers.h2, powers.folded2),
                };
                // Without aad the block of lengths has no upper half, and half of its products are nothing.
                let lengths = Turn::Second(const { hashed_blocks(BLOCKS, AAD) - 1 });
                let has_upper = AAD || LONG || turn != lengths;
                let (mut a, mut b, mut c, mut d) = (zero, zero, zero, zero);
                if !matches!(turn, Turn::Nothing) {
                    a = _mm512_clmulepi64_epi128::<0x00>(y, folded);
                    pin!(a);
                }
                $($one)*
                if has_upper && !matches!(turn, Turn::Nothing) {
                    b = _mm512_clmulepi64_epi128::<0x01>(y, h);
                    pin!(b);
                }
                $($two)*
                if !matches!(turn, Turn::Nothing) {
                    c = _mm512_clmulepi64_epi128::<0x10>(y, folded);
                    pin!(c);
                }
                $($three)*
                if has_upper && !matches!(turn, Turn::Nothing) {
                    d = _mm512_clmulepi64_epi128::<0x11>(y, h);
                    pin!(d);
                }
                match turn {
                    Turn::Nothing => {}
                    Turn::Second(_) => (low, high) = (xor(a, b), xor(c, d)),
                    Turn::Alone(_) => sum = xor3(fold(xor(a, b)), c, d),
                    Turn::First(_) => sum = xor(fold(xor3(a, b, low)), xor3(c, d, high)),
                }
                if !matches!(turn, Turn::Nothing | Turn::Second(_)) {
                    pin!(sum);
                }
                $($four)*
            }};
        }
        multiply!(const { early(0, ROUNDS, hashed_blocks(BLOCKS, AAD)) }, [] [] [] []);
        multiply!(const { early(1, ROUNDS, hashed_blocks(BLOCKS, AAD)) }, [] [] [] []);
        multiply!(const { early(2, ROUNDS, hashed_blocks(BLOCKS, AAD)) }, [] [] [] []);

        // The first counter block, the text's and behind them, if keys are raw, the zero block.
        let key = key!(0);
        let kept = &mut kept[ciphering.place % 2];
        let mut nonce = *kept;
        if ciphering.number() == 0 {
            // SAFETY: nonces of the group.
            nonce = unsafe { nonces(ciphering.group) };
            if LONG {
                *kept = nonce;
            }
        }
        let start = xor(nonce, key);
        #[expect(clippy::cast_possible_truncation, reason = "a text has few blocks")]
        let blocks_before = counter((ciphering.start() / 16) as i32);
        let mut s = [zero; 10];
        macro_rules! start {
            ($($i:literal)*) => {$(
                if $i < BLOCKS + 1 {
                    let mut counter = counter($i + 1);
                    if LONG && $i > 0 {
                        counter = _mm512_add_epi32(counter, blocks_before);
                    }
                    s[$i] = xor(start, counter);
                } else if RAW && $i == BLOCKS + 1 {
                    s[$i] = key;
                }
            )*};
        }
        start!(0 1 2 3 4 5 6 7 8 9);
        macro_rules! aes {
            ($key:ident: $($i:literal)*) => {$(
                if $i < BLOCKS + 1 || (RAW && $i == BLOCKS + 1) {
                    s[$i] = _mm512_aesenc_epi128(s[$i], $key);
                    pin!(s[$i]);
                }
            )*};
        }
        macro_rules! round {
            ($round:literal) => {{
                let mut key = key!($round);
                pin!(key);
                multiply!(const { turn($round, ROUNDS, hashed_blocks(BLOCKS, AAD)) },
                    [aes!(key: 0 1 2);] [aes!(key: 3 4);] [aes!(key: 5 6 7);] [aes!(key: 8 9);]);
            }};
        }
        let mut words = Words::zeros();
        macro_rules! expand {
            ($piece:literal) => {
                if RAW && let Some(Expanding { part, to, words: place }) = pass.expanding {
                    // Longer texts leave no registers for words between two pieces.
                    if BLOCKS == 8 || $piece == 0 {
                        // SAFETY: the caller promises that the expansion has begun.
                        words = unsafe { Words::load::<ROUNDS>(place) };
                    }
                    // SAFETY: as above; the caller promises a place.
                    unsafe { expand::step::<ROUNDS, $piece>(part, to, &mut words) };
                    if BLOCKS == 8 || $piece + 1 == expand::steps(ROUNDS) {
                        match (ROUNDS, BLOCKS) {
                            // SAFETY: the caller promises a place.
                            (10, _) => unsafe { words.store::<0, 4>(place) },
                            // SAFETY: the caller promises a place for eight words, of which these are the first six.
                            (12, _) => unsafe { words.store::<0, 6>(place) },
                            // SAFETY: the caller promises a place for eight words, of which these are the lower four.
                            (_, 8) if $piece % 2 == 0 => unsafe { words.store::<0, 4>(place) },
                            // SAFETY: the caller promises a place for eight words, of which these are the upper four.
                            (_, 8) => unsafe { words.store::<4, 8>(place) },
                            // SAFETY: the caller promises a place for eight words, and these are all.
                            _ => unsafe { words.store::<0, 8>(place) },
                        }
                    }
                }
            };
        }
        let mut rows = [zero; 4];
        macro_rules! crypt {
            ($half:literal) => {
                if are_whole::<BLOCKS, $half>(crypting.group, crypting.start()) {
                    // SAFETY: texts of the group, which are that long.
                    rows = unsafe { crypt_whole::<BLOCKS, $half>(crypting.group, call, crypting.start(), rows) };
                } else {
                    crypt!($half: 0 1 2 3);
                }
            };
            ($half:literal: $($lane:literal)*) => {$(
                // SAFETY: a text of the group.
                rows[$lane] = unsafe { crypt_part::<$half>(&crypting.group[$lane], call, crypting.start(), rows[$lane]) };
            )*};
        }

        round!(1);
        if AAD && crypting.number() == 0 {
            // SAFETY: aad of the group.
            unsafe { lay_aad::<LONG>(crypting.group, laid, call.aad_at, hashed) };
        }
        let [a, b, c, d, ..] = secret.stream;
        rows = transpose([a, b, c, d]);
        pin!(rows[0], rows[1], rows[2], rows[3]);
        round!(2);
        crypt!(0);
        pin!(rows[0], rows[1], rows[2], rows[3]);
        expand!(0);
        round!(3);
        lay_half::<BLOCKS, 0, LONG>(rows, laid, text_at, hashed);
        round!(4);
        expand!(1);
        let mut next = secret.powers;
        if RAW && crypting.number() == 0 {
            next.h = expand::times_x(reverse(secret.zeros));
            next.folded = fold(next.h);
            pin!(next.folded);
        }
        round!(5);
        if BLOCKS == 8 {
            let [_, _, _, _, a, b, c, d] = secret.stream;
            rows = transpose([a, b, c, d]);
            pin!(rows[0], rows[1], rows[2], rows[3]);
        }
        round!(6);
        if BLOCKS == 8 {
            crypt!(1);
            pin!(rows[0], rows[1], rows[2], rows[3]);
        }
        expand!(2);
        if RAW && crypting.number() == 0 {
            next.h2 = square(next.h);
            pin!(next.h2);
        }
        round!(7);
        if BLOCKS == 8 {
            lay_half::<BLOCKS, 1, LONG>(rows, laid, text_at, hashed);
        }
        *hashed.at::<LONG>(laid, call.lengths_at) = lengths(crypting.group);
        round!(8);
        expand!(3);
        round!(9);
        if RAW && crypting.number() == 0 {
            next.folded2 = fold(next.h2);
            secret.powers = next;
        }
        if ROUNDS > 10 {
            round!(10);
            round!(11);
        }
        if ROUNDS > 12 {
            round!(12);
            round!(13);
        }
        let key = key!(ROUNDS);
        macro_rules! last {
            ($($i:literal)*) => {$(
                if $i < BLOCKS + 1 {
                    secret.stream[($i - 1) % 8] = _mm512_aesenclast_epi128(s[$i], key);
                } else if RAW && $i == BLOCKS + 1 {
                    secret.zeros = _mm512_aesenclast_epi128(s[$i], key);
                }
            )*};
        }
        last!(1 2 3 4 5 6 7 8 9);
        let tags = xor(reverse(sum), secret.masks[from]);
        secret.masks[place] = _mm512_aesenclast_epi128(s[0], key);
        let Some(Piece { group, .. }) = pass.hashing else { return };
        if LONG {
            secret.sum = if hashing.is_last() { zero } else { sum };
        }
        if hashing.is_last() {
            // SAFETY: tags, texts and statuses of the group.
            unsafe { conclude::<ROUNDS, RAW, BLOCKS, AAD, LONG, false>(group, call, tags) };
        }
    }
}
