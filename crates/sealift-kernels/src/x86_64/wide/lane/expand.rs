//! The schedules of sixteen raw keys at once, at about the price of one.
//!
//! What it gives:
//! - [`Schedules`], the round keys of sixteen keys in lane layout: register `[group][round]` holds in its
//!   lanes the round keys of keys `4 * group ..`. [`expand`] fills one; [`begin`] and [`step`] do so in
//!   pieces, to be woven into other work.
//! - [`hash_keys`], from one group of them, H times x of four keys in lanes, as a record holds it.
//! - [`records`], the same in row layout: sixteen [`Record`]s, each what the field `record` of an
//!   [`Expanded`](crate::schedule::Expanded) holds.
//!
//! Word j of all keys stands in one register: SubWord is one VAESENCLAST, whose round key is the round
//! constant and whose ShiftRows the byte shuffle before it undoes, and the sums of words are plain.
//!
//! The memory given is secret afterwards; whoever gives it wipes it.
#![allow(unsafe_code)]

use core::arch::x86_64::*;

use crate::{
    schedule::RECORD_BLOCKS,
    x86_64::wide::zmm::{Z, load, reverse, store, transpose, wide_fn, xor},
};

/// How many keys are expanded at once.
pub(in crate::x86_64::wide) const KEYS: usize = 16;
/// How many groups of four lanes they make.
pub(in crate::x86_64::wide) const GROUPS: usize = KEYS / 4;

/// Sixteen schedules in lane layout.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(in crate::x86_64::wide) struct Schedules(pub(in crate::x86_64::wide) [Lanes; GROUPS]);

/// The schedules of four keys: round keys in lanes.
pub(in crate::x86_64::wide) type Lanes = [Z; RECORD_BLOCKS];

/// A key's round keys and behind the last one H times x, in row layout.
pub(in crate::x86_64::wide) type Record = [u128; RECORD_BLOCKS];

/// The last words of schedules that are being expanded: of up to eight words of the sixteen keys.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(in crate::x86_64::wide) struct Words([Z; 8]);

/// How many pieces [`step`] cuts the work of each part into.
pub(in crate::x86_64::wide) const fn steps(rounds: usize) -> usize {
    match rounds {
        10 => 3,
        12 => 2,
        _ => 4,
    }
}

/// How many parts of [`steps`] pieces there are.
pub(in crate::x86_64::wide) const PARTS: usize = 4;

wide_fn! {
    /// Expands sixteen keys.
    ///
    /// # Safety
    /// Each key is readable for 4 * (ROUNDS - 6) bytes, `to` and `words` are writable and aligned.
    pub(in crate::x86_64::wide) unsafe fn expand<const ROUNDS: usize>(
        keys: &[*const u8; KEYS],
        to: *mut Schedules,
        words: *mut Words,
    ) {
        // SAFETY: the caller keeps the same promise.
        unsafe { begin::<ROUNDS>(keys, to, words) };
        for part in 0..PARTS {
            // SAFETY: as above, and it has begun.
            unsafe { step::<ROUNDS, 0>(part, to, words) };
            // SAFETY: as above.
            unsafe { step::<ROUNDS, 1>(part, to, words) };
            // SAFETY: as above.
            unsafe { step::<ROUNDS, 2>(part, to, words) };
            // SAFETY: as above.
            unsafe { step::<ROUNDS, 3>(part, to, words) };
        }
    }
}

wide_fn! {
    /// Starts an expansion: reads the keys, which are the first round keys.
    ///
    /// # Safety
    /// Each key is readable for 4 * (ROUNDS - 6) bytes, `to` and `words` are writable and aligned.
    #[inline]
    pub(in crate::x86_64::wide) unsafe fn begin<const ROUNDS: usize>(
        keys: &[*const u8; KEYS],
        to: *mut Schedules,
        words: *mut Words,
    ) {
        // SAFETY: all keys have 16 bytes.
        let first = unsafe { gather_all(keys, 0) };
        // SAFETY: writable for sixteen schedules.
        unsafe { put_rows(to, 0, first) };
        // SAFETY: writable for eight words.
        unsafe { put_words::<0>(words, words_of(first)) };
        if ROUNDS == 14 {
            // SAFETY: these keys have 32 bytes.
            let second = unsafe { gather_all(keys, 16) };
            // SAFETY: writable for sixteen schedules.
            unsafe { put_rows(to, 1, second) };
            // SAFETY: writable for eight words.
            unsafe { put_words::<4>(words, words_of(second)) };
        } else if ROUNDS == 12 {
            // SAFETY: these keys have 24 bytes: words 2 to 5, of which the last two are the new ones.
            let second = unsafe { gather_all(keys, 8) };
            // SAFETY: writable for eight words.
            unsafe { put_words::<4>(words, words_of(second)) };
        }
    }
}

wide_fn! {
    /// The next piece of an expansion: for each part in order of 0 to 3, pieces 0 to [`steps`] in order.
    /// Pieces that an expansion has not are nothing.
    ///
    /// # Safety
    /// The expansion has begun with these places, which are writable and aligned.
    #[inline]
    pub(in crate::x86_64::wide) unsafe fn step<const ROUNDS: usize, const PIECE: usize>(
        part: usize,
        to: *mut Schedules,
        words: *mut Words,
    ) {
        debug_assert!(part < PARTS, "{part}");
        // The counting of rounds starts where round keys stop being copies of the key.
        let round = steps(ROUNDS) * part + PIECE + 1;
        if PIECE < steps(ROUNDS) && round <= LAST_STEP[ROUNDS / 2 - 5] {
            match ROUNDS {
                // SAFETY: the caller keeps the same promise.
                10 => unsafe { step_128(round, to, words) },
                // SAFETY: as above.
                12 => unsafe { step_192::<PIECE>(round, to, words) },
                // SAFETY: as above.
                _ => unsafe { step_256::<PIECE>(round, to, words) },
            }
        }
    }
}

wide_fn! {
    /// H times x of the four keys of a group, in lanes.
    #[inline]
    pub(in crate::x86_64::wide) fn hash_keys<const ROUNDS: usize>(group: &Lanes) -> Z {
        let mut state = group[0];
        for key in &group[1..ROUNDS] {
            state = _mm512_aesenc_epi128(state, *key);
        }
        times_x(reverse(_mm512_aesenclast_epi128(state, group[ROUNDS])))
    }
}

wide_fn! {
    /// Encrypted zero blocks, reversed, to hash keys as tables hold them: times x in each lane.
    #[inline]
    pub(in crate::x86_64::wide) fn times_x(h: Z) -> Z {
        let modulus = _mm512_broadcast_i32x4(_mm_set_epi64x(0xc200_0000_0000_0001_u64.cast_signed(), 1));
        // The bits that leave a half, each where the other half and the modulus want it.
        let carries = _mm512_srai_epi32::<31>(_mm512_shuffle_epi32::<0xd3>(h));
        xor(_mm512_add_epi64(h, h), _mm512_and_si512(carries, modulus))
    }
}

wide_fn! {
    /// Expands sixteen keys into records. `schedules` and `words` are for use on the way.
    ///
    /// # Safety
    /// Each key is readable for 4 * (ROUNDS - 6) bytes, `schedules` and `words` are writable and aligned.
    pub(in crate::x86_64::wide) unsafe fn records<const ROUNDS: usize>(
        keys: &[*const u8; KEYS],
        to: &mut [Record; KEYS],
        schedules: *mut Schedules,
        words: *mut Words,
    ) {
        // SAFETY: the caller keeps the same promise.
        unsafe { expand::<ROUNDS>(keys, schedules, words) };
        // SAFETY: it is aligned, and its registers are valid whatever they were before.
        let Schedules(groups) = unsafe { &mut *schedules };
        for (group, records) in groups.iter_mut().zip(to.as_chunks_mut::<4>().0) {
            group[ROUNDS + 1] = hash_keys::<ROUNDS>(group);
            for (quarter, lanes) in group.as_chunks::<4>().0.iter().enumerate() {
                for (record, row) in records.iter_mut().zip(transpose(*lanes)) {
                    let place = record[4 * quarter..][..4].as_mut_ptr();
                    // SAFETY: four blocks of the record.
                    unsafe { store(place.cast(), row) };
                }
            }
        }
    }
}

wide_fn! {
    /// One block of each of four messages, in lanes.
    ///
    /// # Safety
    /// Each is readable for 16 bytes.
    #[inline]
    pub(in crate::x86_64::wide) unsafe fn gather(from: [*const u8; 4]) -> Z {
        // SAFETY: the caller promises 16 readable bytes.
        let a = unsafe { _mm_loadu_si128(from[0].cast()) };
        // SAFETY: as above.
        let b = unsafe { _mm_loadu_si128(from[1].cast()) };
        // SAFETY: as above.
        let c = unsafe { _mm_loadu_si128(from[2].cast()) };
        // SAFETY: as above.
        let d = unsafe { _mm_loadu_si128(from[3].cast()) };
        lanes(a, b, c, d)
    }
}

wide_fn! {
    /// Four blocks as lanes.
    #[inline]
    pub(in crate::x86_64::wide) fn lanes(a: __m128i, b: __m128i, c: __m128i, d: __m128i) -> Z {
        // Pairs first: a half is put together from memory without the ports that shuffle.
        let low = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(a), b);
        let high = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(c), d);
        _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
    }
}

wide_fn! {
    #[inline]
    unsafe fn step_128(round: usize, to: *mut Schedules, words: *mut Words) {
        // SAFETY: the caller promises readable words.
        let [w0, w1, w2, w3] = unsafe { get_words::<0>(words) };
        let w0 = xor(w0, sub_rot(w3, round));
        let w1 = xor(w1, w0);
        let w2 = xor(w2, w1);
        let w = [w0, w1, w2, xor(w3, w2)];
        // SAFETY: the caller promises a place for eight words.
        unsafe { put_words::<0>(words, w) };
        // SAFETY: the caller promises a place for sixteen schedules, and there are 10 rounds.
        unsafe { put_rows(to, round, rows_of(w)) };
    }
}

wide_fn! {
    /// Six words a time. The first piece of a part starts with two words of the time before, so that two
    /// pieces give three round keys.
    #[inline]
    unsafe fn step_192<const PIECE: usize>(round: usize, to: *mut Schedules, words: *mut Words) {
        // SAFETY: the caller promises readable words.
        let [w0, w1, w2, w3] = unsafe { get_words::<0>(words) };
        // SAFETY: as above.
        let [_, _, old_w4, old_w5] = unsafe { get_words::<4>(words) };
        let w0 = xor(w0, sub_rot(old_w5, round));
        let w1 = xor(w1, w0);
        let w2 = xor(w2, w1);
        let w3 = xor(w3, w2);
        let w4 = xor(old_w4, w3);
        let w5 = xor(old_w5, w4);
        // SAFETY: the caller promises a place for eight words.
        unsafe { put_words::<0>(words, [w0, w1, w2, w3]) };
        // SAFETY: as above.
        unsafe { put_words::<4>(words, [w2, w3, w4, w5]) };
        let first = 3 * (round - 1) / 2 + 1;
        if PIECE == 0 {
            // SAFETY: the caller promises a place for sixteen schedules; the last part's is round key 11.
            unsafe { put_rows(to, first, rows_of([old_w4, old_w5, w0, w1])) };
            // SAFETY: as above.
            unsafe { put_rows(to, first + 1, rows_of([w2, w3, w4, w5])) };
        } else {
            // SAFETY: as above; the last part's is round key 12.
            unsafe { put_rows(to, first + 1, rows_of([w0, w1, w2, w3])) };
        }
    }
}

wide_fn! {
    /// The upper and the lower four words in turn.
    #[inline]
    unsafe fn step_256<const PIECE: usize>(round: usize, to: *mut Schedules, words: *mut Words) {
        // SAFETY: the caller promises readable words.
        let w = unsafe { get_words::<0>(words) };
        // SAFETY: as above.
        let v = unsafe { get_words::<4>(words) };
        let even = PIECE % 2 == 0;
        let ([w0, w1, w2, w3], mixed) =
            if even { (w, sub_rot(v[3], round.div_ceil(2))) } else { (v, sub(w[3])) };
        let w0 = xor(w0, mixed);
        let w1 = xor(w1, w0);
        let w2 = xor(w2, w1);
        let new = [w0, w1, w2, xor(w3, w2)];
        if even {
            // SAFETY: the caller promises a place for eight words.
            unsafe { put_words::<0>(words, new) };
        } else {
            // SAFETY: as above.
            unsafe { put_words::<4>(words, new) };
        }
        // SAFETY: the caller promises a place for sixteen schedules; the last step's is round key 14.
        unsafe { put_rows(to, round + 1, rows_of(new)) };
    }
}

wide_fn! {
    /// RotWord, SubWord and the round constant.
    #[inline]
    fn sub_rot(word: Z, round: usize) -> Z {
        let order = _mm_setr_epi8(1, 14, 11, 4, 5, 2, 15, 8, 9, 6, 3, 12, 13, 10, 7, 0);
        let constant = _mm512_set1_epi32(ROUND_CONSTANTS[round % ROUND_CONSTANTS.len()]);
        _mm512_aesenclast_epi128(_mm512_shuffle_epi8(word, _mm512_broadcast_i32x4(order)), constant)
    }
}

wide_fn! {
    /// SubWord.
    #[inline]
    fn sub(word: Z) -> Z {
        let order = _mm_setr_epi8(0, 13, 10, 7, 4, 1, 14, 11, 8, 5, 2, 15, 12, 9, 6, 3);
        let shuffled = _mm512_shuffle_epi8(word, _mm512_broadcast_i32x4(order));
        _mm512_aesenclast_epi128(shuffled, _mm512_setzero_si512())
    }
}

wide_fn! {
    /// Rows of four lanes to words of sixteen keys.
    #[inline]
    fn words_of(rows: [Z; 4]) -> [Z; 4] {
        let low_01 = _mm512_unpacklo_epi32(rows[0], rows[1]);
        let low_23 = _mm512_unpacklo_epi32(rows[2], rows[3]);
        let high_01 = _mm512_unpackhi_epi32(rows[0], rows[1]);
        let high_23 = _mm512_unpackhi_epi32(rows[2], rows[3]);
        [
            _mm512_unpacklo_epi64(low_01, low_23),
            _mm512_unpackhi_epi64(low_01, low_23),
            _mm512_unpacklo_epi64(high_01, high_23),
            _mm512_unpackhi_epi64(high_01, high_23),
        ]
    }
}

wide_fn! {
    /// And back: it is its own inverse.
    #[inline]
    fn rows_of(words: [Z; 4]) -> [Z; 4] {
        words_of(words)
    }
}

wide_fn! {
    #[inline]
    unsafe fn gather_all(keys: &[*const u8; KEYS], offset: usize) -> [Z; 4] {
        let at = |i: usize| keys[i].wrapping_add(offset);
        // SAFETY: the caller promises 16 readable bytes of each key from the offset.
        let a = unsafe { gather([at(0), at(1), at(2), at(3)]) };
        // SAFETY: as above.
        let b = unsafe { gather([at(4), at(5), at(6), at(7)]) };
        // SAFETY: as above.
        let c = unsafe { gather([at(8), at(9), at(10), at(11)]) };
        // SAFETY: as above.
        let d = unsafe { gather([at(12), at(13), at(14), at(15)]) };
        [a, b, c, d]
    }
}

wide_fn! {
    #[inline]
    unsafe fn put_rows(to: *mut Schedules, round: usize, [a, b, c, d]: [Z; 4]) {
        let row = |group: usize| to.cast::<Z>().wrapping_add(RECORD_BLOCKS * group + round).cast();
        // SAFETY: the caller promises a place for sixteen schedules and a round within them.
        unsafe { store(row(0), a) };
        // SAFETY: as above.
        unsafe { store(row(1), b) };
        // SAFETY: as above.
        unsafe { store(row(2), c) };
        // SAFETY: as above.
        unsafe { store(row(3), d) };
    }
}

wide_fn! {
    #[inline]
    unsafe fn put_words<const FIRST: usize>(to: *mut Words, [a, b, c, d]: [Z; 4]) {
        let word = |i: usize| to.cast::<Z>().wrapping_add(FIRST + i).cast();
        // SAFETY: the caller promises a place for eight words.
        unsafe { store(word(0), a) };
        // SAFETY: as above.
        unsafe { store(word(1), b) };
        // SAFETY: as above.
        unsafe { store(word(2), c) };
        // SAFETY: as above.
        unsafe { store(word(3), d) };
    }
}

wide_fn! {
    #[inline]
    unsafe fn get_words<const FIRST: usize>(from: *mut Words) -> [Z; 4] {
        let word = |i: usize| from.cast::<Z>().wrapping_add(FIRST + i).cast::<u8>().cast_const();
        // SAFETY: the caller promises eight readable words.
        let a = unsafe { load(word(0)) };
        // SAFETY: as above.
        let b = unsafe { load(word(1)) };
        // SAFETY: as above.
        let c = unsafe { load(word(2)) };
        // SAFETY: as above.
        let d = unsafe { load(word(3)) };
        [a, b, c, d]
    }
}

/// Of FIPS 197, by the step that uses them, from 1.
const ROUND_CONSTANTS: [i32; 16] = [0, 1, 2, 4, 8, 16, 32, 64, 128, 0x1b, 0x36, 0, 0, 0, 0, 0];

/// The last step of an expansion for 10, 12 and 14 rounds.
const LAST_STEP: [usize; 3] = [10, 8, 13];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Path, Schedule, x86_64::cpu::HaveVaes512};

    fn records_of<const ROUNDS: usize>(
        _token: HaveVaes512,
        keys: &[*const u8; KEYS],
    ) -> [Record; KEYS] {
        let mut made = [[0; RECORD_BLOCKS]; KEYS];
        let mut schedules = Box::<Schedules>::new_uninit();
        let mut words = Box::<Words>::new_uninit();
        // SAFETY: `_token` is proof of the instructions, keys are long enough, places are writable.
        unsafe {
            records::<ROUNDS>(keys, &mut made, schedules.as_mut_ptr(), words.as_mut_ptr());
        };
        made
    }

    #[test]
    fn records_are_those_of_keys_expanded_one_by_one() {
        let Ok(token) = HaveVaes512::check() else {
            return eprintln!("skipped: this processor lacks the instructions");
        };
        for rounds in [10, 12, 14] {
            let bytes = 4 * (rounds - 6);
            let keys: [Vec<u8>; KEYS] = core::array::from_fn(|i| {
                (0..bytes).map(|byte| u8::try_from((37 * i + 11 * byte) % 256).unwrap()).collect()
            });
            let places = core::array::from_fn(|i| keys[i].as_ptr());
            let records = match rounds {
                10 => records_of::<10>(token, &places),
                12 => records_of::<12>(token, &places),
                _ => records_of::<14>(token, &places),
            };
            for (record, key) in records.iter().zip(&keys) {
                let schedule = Schedule::from_raw(Path::Vaes512(token), key).unwrap();
                // SAFETY: an expanded key begins with its record.
                let expected = unsafe { schedule.address().cast::<Record>().read() };
                assert_eq!(record[..rounds + 2], expected[..rounds + 2], "{rounds} rounds");
            }
        }
    }
}
