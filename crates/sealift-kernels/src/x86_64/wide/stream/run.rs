//! Many full registers of one message.
#![allow(unsafe_code)]

use core::{arch::x86_64::*, cell::Cell};

use super::{
    super::zmm::{self, Z, wide_fn},
    step::{COUNTERS, KEYS, QUAD_BYTES, Slot, Text},
    weave::{finish, round},
};

/// Pairs of full quads in the middle of a message.
pub(super) struct Run<'s> {
    /// The round keys, each in all lanes.
    pub(super) keys: &'s [Cell<Z>; KEYS],
    /// The message.
    pub(super) slot: &'s Slot,
    /// Readable for the pairs.
    pub(super) input: *const u8,
    /// Writable for the pairs.
    pub(super) output: *mut u8,
    /// The number of its first block in the message, a multiple of 16.
    pub(super) first: u32,
    /// How many pairs.
    pub(super) pairs: usize,
    /// What a full quad is multiplied with in the hash.
    pub(super) weights: *const u8,
}

wide_fn! {
    /// Does what so many steps would do, all of one message. The texts are those of the pair that
    /// comes, of the last one, and of the one before; they take turns, and the two were full quads
    /// of the message as well.
    ///
    /// # Safety
    /// The run's addresses are what they say.
    #[inline(never)]
    pub(super) unsafe fn run<const ROUNDS: usize, const SEAL: bool>(
        run: &Run<'_>,
        [mut now, mut last, mut before]: [&[Text; 2]; 3],
    ) {
        let keys = (run.keys, run.keys);
        let (w, base) = (run.weights, run.slot.base.get());
        let (mut input, mut output) = (run.input, run.output);
        let mut hash = run.slot.hash.get();
        let mut counter = _mm512_maskz_set1_epi32(COUNTERS, run.first.cast_signed());
        let zero = _mm512_setzero_si512();
        for _ in 0..run.pairs {
            let [[mut a, mut b, mut c, mut d], [mut e, mut f, mut g, mut h]] =
                counters(base, &mut counter);
            let text = |i: usize| zmm::reverse(before[1][i].get());
            let (mut low, mut high) = (zero, zero);
            round!(keys, 1, (a b c d e f g h), text(1), w.wrapping_add(64), low, high);
            round!(keys, 2, (a b c d e f g h), text(2), w.wrapping_add(128), low, high);
            round!(keys, 3, (a b c d e f g h), text(3), w.wrapping_add(192), low, high);
            round!(keys, 4, (a b c d e f g h), zmm::xor(text(0), hash), w, low, high);
            let (mut less, mut more) = (zero, zero);
            let text = |i: usize| zmm::reverse(last[0][i].get());
            round!(keys, 5, (a b c d e f g h), text(1), w.wrapping_add(64), less, more);
            hash = zmm::xor(high, zmm::fold(low));
            round!(keys, 6, (a b c d e f g h), text(2), w.wrapping_add(128), less, more);
            round!(keys, 7, (a b c d e f g h), text(3), w.wrapping_add(192), less, more);
            round!(keys, 8, (a b c d e f g h), zmm::xor(text(0), hash), w, less, more);
            round!(keys, 9, (a b c d e f g h));
            hash = zmm::xor(more, zmm::fold(less));
            if ROUNDS > 10 {
                round!(keys, 10, (a b c d e f g h));
                round!(keys, 11, (a b c d e f g h));
            }
            if ROUNDS > 12 {
                round!(keys, 12, (a b c d e f g h));
                round!(keys, 13, (a b c d e f g h));
            }
            let key = run.keys[ROUNDS].get();
            macro_rules! last {
                ($($state:ident $quad:literal $i:literal),+) => {$(
                    let at = QUAD_BYTES * $quad + 64 * $i;
                    let (from, to) = (input.wrapping_add(at), output.wrapping_add(at));
                    // SAFETY: the caller promises the pairs, of which 64 bytes are there.
                    now[$quad][$i].set(unsafe { finish::<SEAL, true>($state, key, from, to, 64) });
                )+};
            }
            last!(a 0 0, b 0 1, c 0 2, d 0 3, e 1 0, f 1 1, g 1 2, h 1 3);
            input = input.wrapping_add(2 * QUAD_BYTES);
            output = output.wrapping_add(2 * QUAD_BYTES);
            (now, last, before) = (before, now, last);
        }
        run.slot.hash.set(hash);
    }
}

wide_fn! {
    /// The counter blocks of two quads after the first round key; `first` is the number of the
    /// first block where counters are, and that of the next two quads afterwards.
    #[inline]
    fn counters(base: Z, first: &mut Z) -> [[Z; 4]; 2] {
        let sixteen = _mm512_maskz_set1_epi32(COUNTERS, 16);
        let order = _mm512_set4_epi32(0x0c0d_0e0f, 0x0b0a_0908, 0x0706_0504, 0x0302_0100);
        let one = _mm512_shuffle_epi8(*first, order);
        let second = _mm512_add_epi32(*first, sixteen);
        let two = _mm512_shuffle_epi8(second, order);
        *first = _mm512_add_epi32(second, sixteen);
        let three = _mm512_shuffle_epi8(*first, order);
        [quad(base, one, two), quad(base, two, three)]
    }
}

wide_fn! {
    #[inline]
    fn quad(base: Z, now: Z, next: Z) -> [Z; 4] {
        // See `step`: of 16 blocks 14 differ in the last four bits only, and then the others are
        // one more.
        let end = _mm512_mask_mov_epi32(now, 0xff00, next);
        [
            zmm::xor3(base, now, low_bits([2, 3, 4, 5])),
            zmm::xor3(base, now, low_bits([6, 7, 8, 9])),
            zmm::xor3(base, now, low_bits([10, 11, 12, 13])),
            zmm::xor3(base, end, low_bits([14, 15, 0, 1])),
        ]
    }
}

wide_fn! {
    /// These in the last bytes of the lanes.
    #[inline]
    pub(super) fn low_bits([a, b, c, d]: [i32; 4]) -> Z {
        _mm512_set_epi32(d << 24, 0, 0, 0, c << 24, 0, 0, 0, b << 24, 0, 0, 0, a << 24, 0, 0, 0)
    }
}
