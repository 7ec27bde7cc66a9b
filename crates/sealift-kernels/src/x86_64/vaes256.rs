//! VAES and VPCLMULQDQ on 256-bit registers, for processors with these and without AVX-512.
#![allow(unsafe_code)]

use core::arch::{asm, x86_64::*};

use super::{
    aesni::load_block,
    cpu::HaveVaes256,
    isa::{Isa, compiled, proven, proven_memory, proven_product},
    part,
    text::{STEP, Span, Steps, open_pieces, seal_pieces, weave_piece},
};

compiled!(HaveVaes256, "ssse3,sse4.1,aes,pclmulqdq,avx,avx2,vaes,vpclmulqdq");

impl Isa for HaveVaes256 {
    type Register = __m256i;
    const LANES: usize = 2;
    const KARATSUBA: bool = true;
    const HAS_PIECES: bool = true;

    #[inline(always)]
    unsafe fn seal_pieces(
        steps: &mut Steps<'_, Self>,
        mask: &mut __m128i,
        text: &mut Span,
    ) -> [__m256i; STEP] {
        // SAFETY: the steps have proof of the instructions; the caller promises the rest.
        unsafe { seal_pieces(steps, mask, text) }
    }

    #[inline(always)]
    fn weave_piece<const N: usize>(
        steps: &mut Steps<'_, Self>,
        hashed: &[__m256i; STEP],
    ) -> [__m256i; N] {
        // SAFETY: the steps have proof of the instructions.
        unsafe { weave_piece(steps, hashed) }
    }

    #[inline(always)]
    unsafe fn open_pieces(steps: &mut Steps<'_, Self>, text: &mut Span) {
        // SAFETY: the steps have proof of the instructions; the caller promises the rest.
        unsafe { open_pieces(steps, text) }
    }

    proven_memory!(__m256i);
    proven_product!(__m256i, _mm256_clmulepi64_epi128);
    proven! {
        fn keep(register: __m256i, len: usize) -> __m256i => keep(register, len);
        fn broadcast(block: &u128) -> __m256i => broadcast(block);
        fn first_lane(block: __m128i) -> __m256i => _mm256_zextsi128_si256(block);
        fn sum(register: __m256i) -> __m128i => sum(register);
        fn reverse(register: __m256i) -> __m256i => reverse(register);
        fn counters(first: __m128i) -> __m256i => counters(first);
        fn add(a: __m256i, b: __m256i) -> __m256i => _mm256_add_epi32(a, b);
        fn xor(a: __m256i, b: __m256i) -> __m256i => _mm256_xor_si256(a, b);
        fn aes(state: __m256i, key: __m256i) -> __m256i => _mm256_aesenc_epi128(state, key);
        fn aes_last(state: __m256i, key: __m256i) -> __m256i => _mm256_aesenclast_epi128(state, key);
        fn swap(register: __m256i) -> __m256i => _mm256_shuffle_epi32::<0x4e>(register);
        fn reduce(low: __m256i, high: __m256i) -> __m256i => reduce(low, high);
        fn pin(register: __m256i) -> __m256i => once(register);
    }
}

impl HaveVaes256 {
    /// The block of each lane.
    #[inline(always)]
    pub(super) fn blocks(self, register: __m256i) -> [__m128i; 2] {
        // SAFETY: `self` is proof that this processor has the instructions.
        let last = unsafe { _mm256_extracti128_si256::<1>(register) };
        // SAFETY: `self` is proof that this processor has the instructions.
        [unsafe { _mm256_castsi256_si128(register) }, last]
    }

    /// A block in the last lane, zeros in the first.
    #[inline(always)]
    pub(super) fn in_last_lane(self, block: __m128i) -> __m256i {
        // SAFETY: `self` is proof that this processor has the instructions.
        unsafe { in_last_lane(block) }
    }
}

#[inline]
#[target_feature(enable = "avx2")]
unsafe fn load(from: *const u8) -> __m256i {
    // SAFETY: the caller promises 32 readable bytes.
    once(unsafe { _mm256_loadu_si256(from.cast()) })
}

#[inline]
#[target_feature(enable = "avx2")]
unsafe fn load_table(from: *const u8) -> __m256i {
    // SAFETY: the caller promises 32 readable bytes.
    unsafe { _mm256_loadu_si256(from.cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
unsafe fn load_part(from: *const u8, len: usize) -> __m256i {
    if len < 16 {
        // SAFETY: the caller promises `len` readable bytes.
        return once(_mm256_zextsi128_si256(unsafe { part::load(from, len) }));
    }
    // SAFETY: there are 16 bytes.
    let low = unsafe { _mm_loadu_si128(from.cast()) };
    // SAFETY: the last 16 of `len` bytes, of which there are so many.
    let last = unsafe { _mm_loadu_si128(from.wrapping_add(len - 16).cast()) };
    once(_mm256_setr_m128i(low, part::down(last, 32 - len)))
}

#[inline]
#[target_feature(enable = "avx2")]
unsafe fn store(to: *mut u8, register: __m256i) {
    // SAFETY: the caller promises 32 writable bytes.
    unsafe { _mm256_storeu_si256(to.cast(), register) };
}

#[inline]
#[target_feature(enable = "avx2")]
unsafe fn store_part(to: *mut u8, register: __m256i, len: usize) {
    let (low, high) = (_mm256_castsi256_si128(register), _mm256_extracti128_si256::<1>(register));
    if len < 16 {
        // SAFETY: the caller promises `len` writable bytes.
        return unsafe { part::store(to, low, len) };
    }
    let last = _mm_or_si128(part::down(low, len - 16), part::up(high, 32 - len));
    // SAFETY: there are 16 bytes.
    unsafe { _mm_storeu_si128(to.cast(), low) };
    // SAFETY: the last 16 of `len` bytes, of which there are so many.
    unsafe { _mm_storeu_si128(to.wrapping_add(len - 16).cast(), last) };
}

#[inline]
#[target_feature(enable = "avx2")]
fn keep(register: __m256i, len: usize) -> __m256i {
    let low = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    let place = _mm256_setr_m128i(low, _mm_add_epi8(low, _mm_set1_epi8(16)));
    let end = _mm256_set1_epi8(i8::try_from(len).unwrap_or(i8::MAX));
    _mm256_and_si256(register, _mm256_cmpgt_epi8(end, place))
}

#[inline]
#[target_feature(enable = "avx2")]
fn broadcast(block: &u128) -> __m256i {
    _mm256_broadcastsi128_si256(load_block(block))
}

#[inline]
#[target_feature(enable = "avx2")]
fn sum(register: __m256i) -> __m128i {
    _mm_xor_si128(_mm256_castsi256_si128(register), _mm256_extracti128_si256::<1>(register))
}

#[inline]
#[target_feature(enable = "avx2")]
fn in_last_lane(block: __m128i) -> __m256i {
    _mm256_inserti128_si256::<1>(_mm256_setzero_si256(), block)
}

#[inline]
#[target_feature(enable = "avx2")]
fn reverse(register: __m256i) -> __m256i {
    let order = _mm_setr_epi8(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    _mm256_shuffle_epi8(register, _mm256_broadcastsi128_si256(order))
}

#[inline]
#[target_feature(enable = "avx2")]
fn counters(first: __m128i) -> __m256i {
    _mm256_add_epi32(_mm256_broadcastsi128_si256(first), _mm256_setr_epi32(0, 0, 0, 0, 1, 0, 0, 0))
}

#[inline]
#[target_feature(enable = "avx2,vpclmulqdq")]
fn reduce(low: __m256i, high: __m256i) -> __m256i {
    let modulus = _mm256_set1_epi64x(0xc2_i64 << 56);
    let swapped = _mm256_shuffle_epi32::<0x4e>(low);
    let folded = _mm256_clmulepi64_epi128::<0x00>(low, modulus);
    _mm256_xor_si256(_mm256_xor_si256(high, swapped), folded)
}

/// Hides where a register came from, so that the compiler can't load it again.
#[inline]
#[target_feature(enable = "avx2")]
fn once(mut register: __m256i) -> __m256i {
    // SAFETY: no instruction is emitted.
    unsafe {
        asm!("/* {0} */", inout(ymm_reg) register, options(nomem, nostack, preserves_flags));
    }
    register
}
