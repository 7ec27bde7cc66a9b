//! The schedules of sixteen raw keys at once, at about the price of one.
//!
//! What it gives:
//! - [`Schedules`], the round keys of sixteen keys in lane layout: register `[group][round]` holds in its
//!   lanes the round keys of keys `4 * group ..`. [`expand`] fills one; [`begin`] and [`step`] do so in
//!   pieces, to be woven into other work.
//! - [`hash_keys`], from one group of them, H times x of four keys in lanes, as a record holds it.
//!
//! The memory given is secret afterwards; whoever gives it wipes it.
#![allow(unsafe_code)]

use core::arch::x86_64::*;

use super::{
    lanes::gather,
    words::{put_rows, step_128, step_192, step_256, words_of},
};
use crate::x86_64::wide::zmm::{Z, reverse, wide_fn, xor};

pub(in crate::x86_64::wide) use super::words::Words;

/// How many keys are expanded at once.
pub(in crate::x86_64::wide) const KEYS: usize = 16;
/// How many groups of four lanes they make.
pub(in crate::x86_64::wide) const GROUPS: usize = KEYS / 4;

/// Sixteen schedules in lane layout.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(in crate::x86_64::wide) struct Schedules(pub(in crate::x86_64::wide) [Lanes; GROUPS]);

/// The schedules of four keys: round keys in lanes, and room for the hash keys.
pub(in crate::x86_64::wide) type Lanes = [Z; BLOCKS];

/// Registers of a schedule.
pub(super) const BLOCKS: usize = 16;

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
    /// Expands sixteen keys. What is left at `words` is secret too.
    ///
    /// # Safety
    /// Each key is readable for 4 * (ROUNDS - 6) bytes, `to` and `words` are writable and aligned.
    pub(in crate::x86_64::wide) unsafe fn expand<const ROUNDS: usize>(
        keys: &[*const u8; KEYS],
        to: *mut Schedules,
        words: *mut Words,
    ) {
        // SAFETY: the caller keeps the same promise.
        let mut last = unsafe { begin::<ROUNDS>(|i| keys[i], to) };
        for number in 0..PARTS {
            // SAFETY: as above, and it has begun.
            unsafe { steps_of::<ROUNDS>(number, to, &mut last) };
        }
        // SAFETY: the caller promises a place.
        unsafe { words.write(last) };
    }
}

wide_fn! {
    /// One part of an expansion, all its pieces.
    ///
    /// # Safety
    /// As for [`step`]; the words are at `words`.
    pub(in crate::x86_64::wide) unsafe fn part<const ROUNDS: usize>(
        number: usize,
        to: *mut Schedules,
        words: *mut Words,
    ) {
        // SAFETY: the caller promises words there.
        let last = unsafe { &mut *words };
        // SAFETY: the caller keeps the same promise.
        unsafe { steps_of::<ROUNDS>(number, to, last) };
    }
}

wide_fn! {
    /// # Safety
    /// As for [`step`].
    #[inline]
    unsafe fn steps_of<const ROUNDS: usize>(part: usize, to: *mut Schedules, words: &mut Words) {
        // SAFETY: the caller keeps the same promise.
        unsafe { step::<ROUNDS, 0>(part, to, words) };
        // SAFETY: the caller promises a place, and these are the words that the piece before left.
        unsafe { step::<ROUNDS, 1>(part, to, words) };
        // SAFETY: the caller promises a place, and these are the words that the piece before left.
        unsafe { step::<ROUNDS, 2>(part, to, words) };
        // SAFETY: the caller promises a place, and these are the words that the piece before left.
        unsafe { step::<ROUNDS, 3>(part, to, words) };
    }
}

wide_fn! {
    /// Starts an expansion: reads the keys, which are the first round keys.
    ///
    /// # Safety
    /// Each key is readable for 4 * (ROUNDS - 6) bytes, `to` is writable and aligned.
    #[inline]
    pub(in crate::x86_64::wide) unsafe fn begin<const ROUNDS: usize>(
        key: impl Fn(usize) -> *const u8,
        to: *mut Schedules,
    ) -> Words {
        // SAFETY: all keys have 16 bytes.
        let first = unsafe { gather_all(&key, 0) };
        // SAFETY: writable for sixteen schedules.
        unsafe { put_rows(to, 0, first) };
        let [w0, w1, w2, w3] = words_of(first);
        let zero = _mm512_setzero_si512();
        if ROUNDS == 14 {
            // SAFETY: these keys have 32 bytes.
            let second = unsafe { gather_all(&key, 16) };
            // SAFETY: writable for sixteen schedules.
            unsafe { put_rows(to, 1, second) };
            let [w4, w5, w6, w7] = words_of(second);
            Words([w0, w1, w2, w3, w4, w5, w6, w7])
        } else if ROUNDS == 12 {
            // SAFETY: these keys have 24 bytes: words 2 to 5, of which the last two are the new ones.
            let [_, _, w4, w5] = words_of(unsafe { gather_all(&key, 8) });
            Words([w0, w1, w2, w3, w4, w5, zero, zero])
        } else {
            Words([w0, w1, w2, w3, zero, zero, zero, zero])
        }
    }
}

wide_fn! {
    /// The next piece of an expansion: for each part in order of 0 to 3, pieces 0 to [`steps`] in order.
    /// Pieces that an expansion has not are nothing.
    ///
    /// # Safety
    /// The expansion has begun at `to`, which is writable and aligned, and left these words.
    #[inline]
    pub(in crate::x86_64::wide) unsafe fn step<const ROUNDS: usize, const PIECE: usize>(
        part: usize,
        to: *mut Schedules,
        words: &mut Words,
    ) {
        debug_assert!(part < PARTS, "{part}");
        // The counting of rounds starts where round keys stop being copies of the key.
        let round = steps(ROUNDS) * part + PIECE + 1;
        if PIECE < steps(ROUNDS) && round <= LAST_STEP[ROUNDS / 2 - 5] {
            match ROUNDS {
                // SAFETY: the caller keeps the same promise.
                10 => unsafe { step_128(round, to, words) },
                // SAFETY: the caller promises a place, and the last round counted is 8 here.
                12 => unsafe { step_192::<PIECE>(round, to, words) },
                // SAFETY: the caller promises a place, and the last round counted is 13 here.
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
        let modulus = _mm_set_epi64x(0xc200_0000_0000_0001_u64.cast_signed(), 1);
        // The bits that leave a half, each where the other half and the modulus want it.
        let carries = _mm512_srai_epi32::<31>(_mm512_shuffle_epi32::<0xd3>(h));
        xor(_mm512_add_epi64(h, h), _mm512_and_si512(carries, _mm512_broadcast_i32x4(modulus)))
    }
}

wide_fn! {
    /// # Safety
    /// Each key is readable for 16 bytes from `offset` on.
    #[inline]
    unsafe fn gather_all(key: impl Fn(usize) -> *const u8, offset: usize) -> [Z; 4] {
        let at = |i: usize| key(i).wrapping_add(offset);
        // SAFETY: the caller promises 16 readable bytes of each key from the offset.
        let a = unsafe { gather([at(0), at(1), at(2), at(3)]) };
        // SAFETY: the caller promises 16 readable bytes from the offset of keys 4 to 7, too.
        let b = unsafe { gather([at(4), at(5), at(6), at(7)]) };
        // SAFETY: the caller promises 16 readable bytes from the offset of keys 8 to 11, too.
        let c = unsafe { gather([at(8), at(9), at(10), at(11)]) };
        // SAFETY: the caller promises 16 readable bytes from the offset of keys 12 to 15, too.
        let d = unsafe { gather([at(12), at(13), at(14), at(15)]) };
        [a, b, c, d]
    }
}

/// The last step of an expansion for 10, 12 and 14 rounds.
const LAST_STEP: [usize; 3] = [10, 8, 13];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Path, Schedule, x86_64::cpu::HaveVaes512};

    /// Round keys and H times x of each key, in rows.
    fn records<const ROUNDS: usize>(
        _token: HaveVaes512,
        keys: &[*const u8; KEYS],
    ) -> Vec<[u128; BLOCKS]> {
        let mut schedules = Box::<Schedules>::new_uninit();
        let mut words = Box::<Words>::new_uninit();
        // SAFETY: `_token` is proof of the instructions, keys are long enough, places are writable.
        unsafe { expand::<ROUNDS>(keys, schedules.as_mut_ptr(), words.as_mut_ptr()) };
        // SAFETY: registers hold any bytes, and those that count were written.
        let Schedules(mut groups) = unsafe { *schedules.assume_init() };
        for group in &mut groups {
            // SAFETY: `_token` is proof of the instructions.
            group[ROUNDS + 1] = unsafe { hash_keys::<ROUNDS>(group) };
        }
        let lanes = groups.map(|group| {
            // SAFETY: a register is four blocks.
            group.map(|register| unsafe { core::mem::transmute::<Z, [u128; 4]>(register) })
        });
        (0..KEYS).map(|key| lanes[key / 4].map(|register| register[key % 4])).collect()
    }

    #[test]
    fn keys_are_expanded_as_they_are_one_by_one() {
        let Ok(token) = HaveVaes512::check() else {
            return eprintln!("skipped: this processor lacks the instructions");
        };
        for rounds in [10, 12, 14] {
            let byte = |i: usize| u8::try_from(i % 256).unwrap();
            let keys: [Vec<u8>; KEYS] = core::array::from_fn(|key| {
                (0..4 * (rounds - 6)).map(|i| byte(37 * key + 11 * i)).collect()
            });
            let places = core::array::from_fn(|i| keys[i].as_ptr());
            let records = match rounds {
                10 => records::<10>(token, &places),
                12 => records::<12>(token, &places),
                _ => records::<14>(token, &places),
            };
            for (record, key) in records.iter().zip(&keys) {
                let schedule = Schedule::from_raw(Path::Vaes512(token), key).unwrap();
                // SAFETY: round keys begin the record.
                let expected = unsafe { schedule.address().cast::<[u128; BLOCKS]>().read() };
                assert_eq!(record[..rounds + 2], expected[..rounds + 2], "{rounds} rounds");
            }
        }
    }
}
