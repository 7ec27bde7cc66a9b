//! VAES and VPCLMULQDQ on 512-bit registers.
#![allow(unsafe_code)]

use core::arch::{asm, x86_64::*};

use super::{
    aesni::load_block,
    cpu::HaveVaes512,
    isa::{Isa, compiled, proven, proven_memory, proven_product},
};

compiled!(HaveVaes512, "ssse3,sse4.1,aes,pclmulqdq,avx,avx2,vaes,vpclmulqdq,avx512f,avx512bw");

impl Isa for HaveVaes512 {
    type Register = __m512i;
    const LANES: usize = 4;
    const KARATSUBA: bool = false;
    const LOADS_BLOCKS: bool = true;

    #[inline(always)]
    unsafe fn store_past_caches(self, to: *mut u8, register: __m512i) {
        // SAFETY: `self` is proof of the instructions; the caller keeps the same promise.
        unsafe { store_past_caches(to, register) }
    }

    proven_memory!(__m512i);
    proven_product!(__m512i, _mm512_clmulepi64_epi128);
    proven! {
        fn keep(register: __m512i, len: usize) -> __m512i => _mm512_maskz_mov_epi8(mask(len), register);
        fn broadcast(block: &u128) -> __m512i => broadcast(block);
        fn first_lane(block: __m128i) -> __m512i => _mm512_zextsi128_si512(block);
        fn sum(register: __m512i) -> __m128i => sum(register);
        fn reverse(register: __m512i) -> __m512i => reverse(register);
        fn counters(first: __m128i) -> __m512i => counters(first);
        fn add(a: __m512i, b: __m512i) -> __m512i => _mm512_add_epi32(a, b);
        fn xor(a: __m512i, b: __m512i) -> __m512i => _mm512_xor_si512(a, b);
        fn aes(state: __m512i, key: __m512i) -> __m512i => _mm512_aesenc_epi128(state, key);
        fn aes_last(state: __m512i, key: __m512i) -> __m512i => _mm512_aesenclast_epi128(state, key);
        fn swap(register: __m512i) -> __m512i => _mm512_shuffle_epi32::<0x4e>(register);
        fn reduce(low: __m512i, high: __m512i) -> __m512i => reduce(low, high);
        fn pin(register: __m512i) -> __m512i => once(register);
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn load(from: *const u8) -> __m512i {
    // SAFETY: the caller promises 64 readable bytes.
    once(unsafe { _mm512_loadu_si512(from.cast()) })
}

#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn load_table(from: *const u8) -> __m512i {
    // SAFETY: the caller promises 64 readable bytes.
    unsafe { _mm512_loadu_si512(from.cast()) }
}

#[inline]
#[target_feature(enable = "avx512bw")]
unsafe fn load_part(from: *const u8, len: usize) -> __m512i {
    // SAFETY: the caller promises `len` readable bytes; masked ones are not touched.
    once(unsafe { _mm512_maskz_loadu_epi8(mask(len), from.cast()) })
}

#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn store(to: *mut u8, register: __m512i) {
    // SAFETY: the caller promises 64 writable bytes.
    unsafe { _mm512_storeu_si512(to.cast(), register) };
}

#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn store_past_caches(to: *mut u8, register: __m512i) {
    // SAFETY: the caller promises 64 writable bytes, a cache line.
    unsafe { _mm512_stream_si512(to.cast(), register) };
}

#[inline]
#[target_feature(enable = "avx512bw")]
unsafe fn store_part(to: *mut u8, register: __m512i, len: usize) {
    // SAFETY: the caller promises `len` writable bytes; masked ones are not touched.
    unsafe { _mm512_mask_storeu_epi8(to.cast(), mask(len), register) };
}

/// A bit for each of the first `len` bytes, fewer than 64.
#[inline(always)]
fn mask(len: usize) -> u64 {
    (1 << len) - 1
}

#[inline]
#[target_feature(enable = "avx512f")]
fn broadcast(block: &u128) -> __m512i {
    _mm512_broadcast_i32x4(load_block(block))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn sum(register: __m512i) -> __m128i {
    let upper = _mm512_extracti64x4_epi64::<1>(register);
    let half = _mm256_xor_si256(_mm512_castsi512_si256(register), upper);
    _mm_xor_si128(_mm256_castsi256_si128(half), _mm256_extracti128_si256::<1>(half))
}

#[inline]
#[target_feature(enable = "avx512bw")]
fn reverse(register: __m512i) -> __m512i {
    let order = _mm_setr_epi8(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    _mm512_shuffle_epi8(register, _mm512_broadcast_i32x4(order))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn counters(first: __m128i) -> __m512i {
    let places = _mm512_setr_epi32(0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0);
    _mm512_add_epi32(_mm512_broadcast_i32x4(first), places)
}

#[inline]
#[target_feature(enable = "avx512f,vpclmulqdq")]
fn reduce(low: __m512i, high: __m512i) -> __m512i {
    let modulus = _mm512_set1_epi64(0xc2_i64 << 56);
    let swapped = _mm512_shuffle_epi32::<0x4e>(low);
    let folded = _mm512_clmulepi64_epi128::<0x00>(low, modulus);
    _mm512_xor_si512(_mm512_xor_si512(high, swapped), folded)
}

/// Hides where a register came from, so that the compiler can't load it again.
#[inline]
#[target_feature(enable = "avx512f")]
fn once(mut register: __m512i) -> __m512i {
    // SAFETY: no instruction is emitted.
    unsafe {
        asm!("/* {0} */", inout(zmm_reg) register, options(nomem, nostack, preserves_flags));
    }
    register
}
