//! Key expansion with AES's own instructions, and the powers of hash keys, for many keys side by side.
#![allow(unsafe_code)]

mod words;

use core::{arch::x86_64::*, array, ptr};

use super::{
    aesni::to_u128,
    cpu::{HaveAesNi, HaveVaes256},
    ghash::Sums,
    isa::{Isa, proven},
};
use crate::{
    Path,
    model::aes::ROUND_KEYS_MAX,
    schedule::{Expanded, KEYS, POWERS},
};

/// Proof for the instructions that expand keys.
#[derive(Clone, Copy)]
pub(crate) enum Token {
    /// Four side by side.
    AesNi(HaveAesNi),
    /// Eight.
    Vaes256(HaveVaes256),
}

impl Token {
    /// The one that a path has, if it has any.
    pub(crate) fn of(path: Path) -> Option<Token> {
        match path {
            Path::Vaes256(token) => Some(Token::Vaes256(token)),
            _ => super::fast(path).map(Token::AesNi),
        }
    }

    /// Puts the round keys of a key of 16, 24 or 32 bytes down and returns how many rounds there are.
    pub(crate) fn round_keys(self, key: &[u8], to: &mut [u128; ROUND_KEYS_MAX]) -> usize {
        let rounds = rounds_of(key);
        let (keys, places) = ([key.as_ptr(); KEYS], [to.as_mut_ptr().cast(); KEYS]);
        // SAFETY: `self` is proof of the instructions; the key is as long as the rounds say, and the place is for the most
        // rounds there are.
        unsafe { round_keys_compiled(self.into(), rounds, &keys, &places) };
        rounds
    }

    /// Expands keys that are all of 16, 24 or 32 bytes, each to its place: round keys and all powers. Returns how many rounds
    /// there are.
    ///
    /// # Panics
    /// If there are none or more than [`KEYS`], fewer places, or keys of other lengths than the first.
    pub(crate) fn expand<S>(
        self,
        keys: &[&[u8]],
        to: &mut [S],
        of: impl Fn(&mut S) -> &mut Expanded,
    ) -> usize {
        let count = keys.len();
        assert!((1..=KEYS).contains(&count) && count <= to.len(), "{count} keys");
        let bytes = keys[0].len();
        assert!(keys.iter().all(|key| key.len() == bytes), "keys of one length");
        let rounds = rounds_of(keys[0]);
        let from = array::from_fn(|i| keys[i.min(count - 1)].as_ptr());
        let mut places = [ptr::null_mut(); KEYS];
        for (place, to) in places.iter_mut().zip(&mut to[..count]) {
            *place = of(to).place();
        }
        // Not borrowed once more for each: one pointer would end another.
        let last = places[count - 1];
        places[count..].fill(last);
        match self {
            // SAFETY: the token is proof of the instructions; the keys are as long as the rounds say, and the places are those
            // of whole schedules.
            Token::Vaes256(w) if count > 4 => unsafe {
                expand_two_lanes(w, rounds, &from, &places, count);
            },
            // SAFETY: the token is proof of these instructions, too; keys and places are as for two lanes.
            _ => unsafe { expand_one_lane(self.into(), rounds, &from, &places, count) },
        }
        rounds
    }
}

impl From<Token> for HaveAesNi {
    fn from(token: Token) -> HaveAesNi {
        match token {
            Token::AesNi(token) => token,
            Token::Vaes256(token) => token.into(),
        }
    }
}

/// How many rounds there are under a key.
fn rounds_of(key: &[u8]) -> usize {
    assert!([16, 24, 32].contains(&key.len()), "a key of {} bytes", key.len());
    key.len() / 4 + 6
}

/// # Safety
/// As for [`words::expand`].
#[target_feature(enable = "ssse3,sse4.1,aes,pclmulqdq")]
unsafe fn round_keys_compiled(
    w: HaveAesNi,
    rounds: usize,
    keys: &[*const u8; KEYS],
    places: &[*mut u8; KEYS],
) {
    // SAFETY: the caller keeps the same promise.
    unsafe { words::expand(w, rounds, keys, 1, places) };
}

/// # Safety
/// As for [`side_by_side`].
#[target_feature(enable = "ssse3,sse4.1,aes,pclmulqdq")]
unsafe fn expand_one_lane(
    w: HaveAesNi,
    rounds: usize,
    keys: &[*const u8; KEYS],
    places: &[*mut u8; KEYS],
    count: usize,
) {
    // SAFETY: the caller keeps the same promise.
    unsafe { side_by_side(w, rounds, keys, places, count, POWERS) };
}

/// # Safety
/// As for [`side_by_side`].
#[target_feature(enable = "ssse3,sse4.1,aes,pclmulqdq,avx,avx2,vaes,vpclmulqdq")]
unsafe fn expand_two_lanes(
    w: HaveVaes256,
    rounds: usize,
    keys: &[*const u8; KEYS],
    places: &[*mut u8; KEYS],
    count: usize,
) {
    // SAFETY: the caller keeps the same promise.
    unsafe { side_by_side(w, rounds, keys, places, count, POWERS) };
}

/// Where expanded keys go. A place is where the first round key goes; the powers lie before it as they do in an
/// [`Expanded`].
pub(super) trait Places: Copy {
    /// That of a key.
    fn at(self, key: usize) -> *mut u8;
}

impl Places for &[*mut u8; KEYS] {
    #[inline(always)]
    fn at(self, key: usize) -> *mut u8 {
        self[key]
    }
}

/// Places at equal distances in bytes, the first of which is given.
#[derive(Clone, Copy)]
pub(super) struct InRow<const BYTES: usize>(pub(super) *mut u8);

impl<const BYTES: usize> Places for InRow<BYTES> {
    #[inline(always)]
    fn at(self, key: usize) -> *mut u8 {
        self.0.wrapping_add(BYTES * key)
    }
}

/// Expands so many keys, each to its place, and the powers up to one.
///
/// # Safety
/// There are one to [`KEYS`] of them; behind them the last one stands again, at its own place or at others. Each is readable for
/// 4 * (rounds - 6) bytes. All places are aligned and have room, those of as many keys as the next multiple of eight initialized.
#[inline(always)]
pub(super) unsafe fn side_by_side<W: Expander>(
    w: W,
    rounds: usize,
    keys: &[*const u8; KEYS],
    places: impl Places,
    count: usize,
    last_power: usize,
) {
    // SAFETY: the caller keeps the same promise.
    unsafe { words::expand(w, rounds, keys, count, places) };
    let narrow: HaveAesNi = w.into();
    for first in (0..count).step_by(8) {
        let places = array::from_fn(|i| places.at(first + i));
        // SAFETY: round keys were put down there, and where there is no key, the caller promises something.
        unsafe { hash_keys(narrow, rounds, &places) };
    }
    for power in 2..=last_power.min(POWERS) {
        for first in (0..count).step_by(W::LANES) {
            let places = [places.at(first), places.at(first + W::LANES - 1)];
            // SAFETY: the caller promises places with room for powers, of which those before were put down.
            unsafe { put_power(w, power, places) };
        }
    }
}

/// Encrypts zeros under eight keys: each of them the first power.
///
/// # Safety
/// At each place are round keys, or as much of something else, and there is room for powers.
#[inline(always)]
unsafe fn hash_keys(w: HaveAesNi, rounds: usize, places: &[*mut u8; 8]) {
    // A closure would not be inlined.
    macro_rules! round_key {
        ($place:expr, $round:expr) => {{
            // SAFETY: the caller promises a round key there.
            unsafe { w.load_table($place.wrapping_add(16 * $round).cast_const()) }
        }};
    }
    let mut states = [w.broadcast(&0); 8];
    for (state, place) in states.iter_mut().zip(places) {
        *state = round_key!(place, 0);
    }
    for round in 1..rounds {
        for (state, place) in states.iter_mut().zip(places) {
            *state = w.aes(*state, round_key!(place, round));
        }
    }
    for (state, place) in states.into_iter().zip(places) {
        let hash_key = times_x(w, w.reverse(w.aes_last(state, round_key!(place, rounds))));
        // SAFETY: the caller promises room for it.
        unsafe { w.store(power_at(*place, 1), hash_key) };
    }
}

/// The next power for as many keys as there are lanes, one or two.
///
/// # Safety
/// The powers before it are there, and there is room for it.
#[inline(always)]
unsafe fn put_power<W: Expander>(w: W, power: usize, places: [*mut u8; 2]) {
    let of = |power: usize| {
        // SAFETY: the caller promises a power before this one for each lane.
        unsafe { w.load_lanes(|lane| power_at(places[lane], power).cast_const()) }
    };
    // Halves, so that the products depend on few others.
    let half = of(power / 2);
    let other = if power.is_multiple_of(2) { half } else { of(power.div_ceil(2)) };
    let (low, high) = (w.product::<0x00>(half, other), w.product::<0x11>(half, other));
    let middle = if power.is_multiple_of(2) {
        // The halves of a square need not be multiplied with each other.
        w.xor(low, high)
    } else {
        let sum = |block| w.xor(block, w.swap(block));
        w.product::<0x00>(sum(half), sum(other))
    };
    let sums = Sums { low, middle, high };
    let narrow: HaveAesNi = w.into();
    for (block, place) in w.lanes(sums.reduced(w)).into_iter().zip(places).take(W::LANES) {
        // SAFETY: the caller promises room for it.
        unsafe { narrow.store(power_at(place, power), block) };
    }
}

/// Where a power is, for round keys at a place.
#[inline(always)]
fn power_at(place: *mut u8, power: usize) -> *mut u8 {
    place.wrapping_sub(Expanded::POWERS_BEFORE - 16 * (POWERS - power))
}

/// Fills the table of folded powers, from the other one.
pub(crate) fn fold(token: HaveAesNi, schedule: &mut Expanded) {
    // SAFETY: `token` is proof that this processor has the instructions.
    unsafe { fold_compiled(token, schedule) }
}

#[target_feature(enable = "ssse3,sse4.1,aes,pclmulqdq")]
fn fold_compiled(token: HaveAesNi, schedule: &mut Expanded) {
    for (power, folded) in schedule.powers.iter().zip(&mut schedule.folded) {
        *folded = to_u128(token.reduce(token.broadcast(power), _mm_setzero_si128()));
    }
}

/// An encrypted zero block, reversed, to what tables hold: a field element with x^0 at bit 127, times x, because a product of
/// reversed numbers is shifted to the right.
#[inline(always)]
fn times_x(_token: HaveAesNi, h: __m128i) -> __m128i {
    // SAFETY: `_token` is proof of the instructions.
    unsafe { times_x_compiled(h) }
}

#[inline]
#[target_feature(enable = "sse2")]
fn times_x_compiled(h: __m128i) -> __m128i {
    let modulus = _mm_set_epi64x(0xc200_0000_0000_0001_u64.cast_signed(), 1);
    // The bits that leave a half, each where the other half and the modulus want it.
    let carries = _mm_srai_epi32::<31>(_mm_shuffle_epi32::<0xd3>(h));
    _mm_xor_si128(_mm_add_epi64(h, h), _mm_and_si128(carries, modulus))
}

/// The inverse of [`times_x`]: a field element over x.
pub(crate) fn over_x(power: u128) -> u128 {
    const MODULUS: u128 = (0xc2 << 120) | 1;
    let carry = power & 1;
    ((power ^ (carry.wrapping_neg() & MODULUS)) >> 1) | (carry << 127)
}

/// A width of registers in which keys are expanded side by side.
pub(super) trait Expander: Isa {
    /// Bytes of each block in another order.
    fn shuffle(self, register: Self::Register, order: Self::Register) -> Self::Register;
    /// Words of the lower halves of each block in turn.
    fn low_words(self, a: Self::Register, b: Self::Register) -> Self::Register;
    /// Words of the upper halves of each block in turn.
    fn high_words(self, a: Self::Register, b: Self::Register) -> Self::Register;
    /// The lower half of each block, and that of another.
    fn low_halves(self, a: Self::Register, b: Self::Register) -> Self::Register;
    /// The upper half of each block, and that of another.
    fn high_halves(self, a: Self::Register, b: Self::Register) -> Self::Register;
    /// The blocks of the first lane and the last one.
    fn lanes(self, register: Self::Register) -> [__m128i; 2];

    /// A block for each lane, from where it lies, loaded once: another thread may have rewritten a raw key.
    ///
    /// # Safety
    /// Each is readable.
    unsafe fn load_lanes(self, from: impl Fn(usize) -> *const u8) -> Self::Register;
}

impl Expander for HaveAesNi {
    proven! {
        fn shuffle(register: __m128i, order: __m128i) -> __m128i => _mm_shuffle_epi8(register, order);
        fn low_words(a: __m128i, b: __m128i) -> __m128i => _mm_unpacklo_epi32(a, b);
        fn high_words(a: __m128i, b: __m128i) -> __m128i => _mm_unpackhi_epi32(a, b);
        fn low_halves(a: __m128i, b: __m128i) -> __m128i => _mm_unpacklo_epi64(a, b);
        fn high_halves(a: __m128i, b: __m128i) -> __m128i => _mm_unpackhi_epi64(a, b);
    }

    #[inline(always)]
    fn lanes(self, register: __m128i) -> [__m128i; 2] {
        [register; 2]
    }

    #[inline(always)]
    unsafe fn load_lanes(self, from: impl Fn(usize) -> *const u8) -> __m128i {
        // SAFETY: the caller promises a readable block for the only lane.
        unsafe { self.load(from(0)) }
    }
}

impl Expander for HaveVaes256 {
    proven! {
        fn shuffle(register: __m256i, order: __m256i) -> __m256i => _mm256_shuffle_epi8(register, order);
        fn low_words(a: __m256i, b: __m256i) -> __m256i => _mm256_unpacklo_epi32(a, b);
        fn high_words(a: __m256i, b: __m256i) -> __m256i => _mm256_unpackhi_epi32(a, b);
        fn low_halves(a: __m256i, b: __m256i) -> __m256i => _mm256_unpacklo_epi64(a, b);
        fn high_halves(a: __m256i, b: __m256i) -> __m256i => _mm256_unpackhi_epi64(a, b);
    }

    #[inline(always)]
    fn lanes(self, register: __m256i) -> [__m128i; 2] {
        self.blocks(register)
    }

    #[inline(always)]
    unsafe fn load_lanes(self, from: impl Fn(usize) -> *const u8) -> __m256i {
        let narrow: HaveAesNi = self.into();
        // SAFETY: the caller promises a readable block for the first lane.
        let first = unsafe { narrow.load(from(0)) };
        // SAFETY: the caller promises a readable block for the second lane.
        let second = unsafe { narrow.load(from(1)) };
        // SAFETY: `self` is proof of the instructions.
        unsafe { _mm256_inserti128_si256::<1>(self.first_lane(first), second) }
    }
}
