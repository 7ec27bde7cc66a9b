//! AES-NI and PCLMULQDQ on 128-bit registers.
#![allow(unsafe_code)]

use core::{
    arch::{asm, x86_64::*},
    ptr,
};

use super::{
    cpu::HaveAesNi,
    isa::{Isa, compiled, proven, proven_memory, proven_product},
    part as bytes, parts,
};
use crate::{schedule::Expanded, verdict::Fitting};
use sealift_core::PartHash;

compiled!(HaveAesNi, "ssse3,sse4.1,aes,pclmulqdq");

/// The tag of a message whose text was worked in parts.
pub(crate) fn tag_of_parts(
    token: HaveAesNi,
    schedule: &Expanded,
    slot: &Fitting<'_, '_>,
    hashes: &[PartHash],
) -> u128 {
    // SAFETY: `token` is proof that this processor has the instructions.
    unsafe { tag_of_parts_compiled(token, schedule, slot, hashes) }
}

#[target_feature(enable = "ssse3,sse4.1,aes,pclmulqdq")]
fn tag_of_parts_compiled(
    token: HaveAesNi,
    schedule: &Expanded,
    slot: &Fitting<'_, '_>,
    hashes: &[PartHash],
) -> u128 {
    parts::tag(token, schedule, slot, hashes)
}

impl Isa for HaveAesNi {
    type Register = __m128i;
    const LANES: usize = 1;
    const KARATSUBA: bool = true;

    proven_memory!(__m128i);
    proven_product!(__m128i, _mm_clmulepi64_si128);
    proven! {
        fn keep(register: __m128i, len: usize) -> __m128i => keep(register, len);
        fn broadcast(block: &u128) -> __m128i => load_block(block);
        fn reverse(register: __m128i) -> __m128i => reverse(register);
        fn add(a: __m128i, b: __m128i) -> __m128i => _mm_add_epi32(a, b);
        fn xor(a: __m128i, b: __m128i) -> __m128i => _mm_xor_si128(a, b);
        fn aes(state: __m128i, key: __m128i) -> __m128i => _mm_aesenc_si128(state, key);
        fn aes_last(state: __m128i, key: __m128i) -> __m128i => _mm_aesenclast_si128(state, key);
        fn swap(register: __m128i) -> __m128i => _mm_shuffle_epi32::<0x4e>(register);
        fn reduce(low: __m128i, high: __m128i) -> __m128i => reduce(low, high);
        fn pin(register: __m128i) -> __m128i => once(register);
    }

    #[inline(always)]
    fn first_lane(self, block: __m128i) -> __m128i {
        block
    }

    #[inline(always)]
    fn sum(self, register: __m128i) -> __m128i {
        register
    }

    #[inline(always)]
    fn counters(self, first: __m128i) -> __m128i {
        first
    }
}

impl HaveAesNi {
    /// Asks for a cache line.
    #[inline(always)]
    pub(super) fn prefetch(self, from: *const u8) {
        // SAFETY: a prefetch reads nothing and cannot fault.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(from.cast()) };
    }

    /// Asks for a cache line to be written.
    #[inline(always)]
    pub(super) fn prefetch_to_write(self, to: *const u8) {
        // SAFETY: a prefetch reads nothing and cannot fault.
        unsafe { _mm_prefetch::<_MM_HINT_ET0>(to.cast()) };
    }
}

#[inline]
#[target_feature(enable = "sse2")]
unsafe fn load(from: *const u8) -> __m128i {
    // SAFETY: the caller promises 16 readable bytes.
    once(unsafe { _mm_loadu_si128(from.cast()) })
}

#[inline]
#[target_feature(enable = "sse2")]
unsafe fn load_table(from: *const u8) -> __m128i {
    // SAFETY: the caller promises 16 readable bytes.
    unsafe { _mm_loadu_si128(from.cast()) }
}

#[inline]
#[target_feature(enable = "ssse3")]
unsafe fn load_part(from: *const u8, len: usize) -> __m128i {
    // SAFETY: the caller promises `len` readable bytes, fewer than 16.
    once(unsafe { bytes::load(from, len) })
}

#[inline]
#[target_feature(enable = "sse2")]
unsafe fn store(to: *mut u8, register: __m128i) {
    // SAFETY: the caller promises 16 writable bytes.
    unsafe { _mm_storeu_si128(to.cast(), register) };
}

#[inline]
#[target_feature(enable = "ssse3")]
unsafe fn store_part(to: *mut u8, register: __m128i, len: usize) {
    // SAFETY: the caller promises `len` writable bytes, fewer than 16.
    unsafe { bytes::store(to, register, len) };
}

#[inline]
#[target_feature(enable = "sse2")]
fn keep(register: __m128i, len: usize) -> __m128i {
    let place = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    let end = _mm_set1_epi8(i8::try_from(len).unwrap_or(i8::MAX));
    _mm_and_si128(register, _mm_cmpgt_epi8(end, place))
}

#[inline]
#[target_feature(enable = "sse2")]
pub(super) fn load_block(block: &u128) -> __m128i {
    // SAFETY: a reference to 16 aligned bytes is readable.
    unsafe { _mm_load_si128(ptr::from_ref(block).cast()) }
}

#[inline]
#[target_feature(enable = "ssse3")]
fn reverse(register: __m128i) -> __m128i {
    let order = _mm_setr_epi8(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    _mm_shuffle_epi8(register, order)
}

#[inline]
#[target_feature(enable = "sse2,pclmulqdq")]
fn reduce(low: __m128i, high: __m128i) -> __m128i {
    // The modulus without x^128 and 1, divided by x^64.
    let modulus = _mm_set_epi64x(0, 0xc2_i64 << 56);
    let swapped = _mm_shuffle_epi32::<0x4e>(low);
    let folded = _mm_clmulepi64_si128::<0x00>(low, modulus);
    _mm_xor_si128(_mm_xor_si128(high, swapped), folded)
}

/// The register's 16 bytes as a number, the first byte lowest.
#[inline(always)]
pub(super) fn to_u128(register: __m128i) -> u128 {
    // SAFETY: both are 16 bytes without invalid values.
    unsafe { core::mem::transmute::<__m128i, u128>(register) }
}

/// Hides where a register came from, so that the compiler can't load it again.
#[inline]
#[target_feature(enable = "sse2")]
fn once(mut register: __m128i) -> __m128i {
    // SAFETY: no instruction is emitted.
    unsafe {
        asm!("/* {0} */", inout(xmm_reg) register, options(nomem, nostack, preserves_flags));
    }
    register
}
