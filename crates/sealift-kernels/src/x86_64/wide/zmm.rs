//! What the wide kernels do with a register of four blocks.
//!
//! The functions are inlined into kernels that are compiled for the same instructions.
#![allow(unsafe_code)]

use core::arch::x86_64::*;

/// Four blocks.
pub(in crate::x86_64) type Z = __m512i;

/// A function compiled with the instructions of this folder: `wide_fn! { fn name(..) -> .. { .. } }`.
macro_rules! wide_fn {
    ($(#[$attribute:meta])* $visibility:vis unsafe fn $($rest:tt)*) => {
        $(#[$attribute])*
        #[target_feature(
            enable = "ssse3,sse4.1,aes,pclmulqdq,avx,avx2,vaes,vpclmulqdq,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi"
        )]
        $visibility unsafe fn $($rest)*
    };
    ($(#[$attribute:meta])* $visibility:vis fn $($rest:tt)*) => {
        $(#[$attribute])*
        #[target_feature(
            enable = "ssse3,sse4.1,aes,pclmulqdq,avx,avx2,vaes,vpclmulqdq,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi"
        )]
        $visibility fn $($rest)*
    };
}

/// Pins where a register is computed: instructions before and after keep their order, and nothing is
/// emitted. The compiler would put all multiplications first, which is much slower; `make weave` looks for it.
macro_rules! pin {
    ($($register:expr),+) => {$(
        // SAFETY: no instruction is emitted.
        unsafe {
            core::arch::asm!("/* {0} */", inout(zmm_reg) $register, options(nomem, nostack, preserves_flags));
        }
    )+};
}

pub(in crate::x86_64) use {pin, wide_fn};

/// Asks for a cache line.
#[inline(always)]
pub(in crate::x86_64) fn prefetch(from: *const u8) {
    // SAFETY: a prefetch reads nothing and cannot fault.
    unsafe { _mm_prefetch::<_MM_HINT_T1>(from.cast()) };
}

/// Asks the nearest cache for a line.
#[inline(always)]
pub(super) fn prefetch_near(from: *const u8) {
    // SAFETY: a prefetch reads nothing and cannot fault.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(from.cast()) };
}

wide_fn! {
    /// Loads 64 bytes.
    ///
    /// # Safety
    /// They are readable.
    #[inline]
    pub(in crate::x86_64) unsafe fn load(from: *const u8) -> Z {
        // SAFETY: the caller promises 64 readable bytes.
        unsafe { _mm512_loadu_si512(from.cast()) }
    }
}

wide_fn! {
    /// Loads the first `len` bytes, up to 64; zeros behind them.
    ///
    /// # Safety
    /// They are readable.
    #[inline]
    pub(super) unsafe fn load_part(from: *const u8, len: usize) -> Z {
        // SAFETY: the caller promises `len` readable bytes; masked ones are not touched.
        unsafe { _mm512_maskz_loadu_epi8(mask(len), from.cast()) }
    }
}

wide_fn! {
    /// Stores 64 bytes.
    ///
    /// # Safety
    /// They are writable.
    #[inline]
    pub(in crate::x86_64) unsafe fn store(to: *mut u8, register: Z) {
        // SAFETY: the caller promises 64 writable bytes.
        unsafe { _mm512_storeu_si512(to.cast(), register) };
    }
}

wide_fn! {
    /// Stores the first `len` bytes, up to 64.
    ///
    /// # Safety
    /// They are writable.
    #[inline]
    pub(super) unsafe fn store_part(to: *mut u8, register: Z, len: usize) {
        // SAFETY: the caller promises `len` writable bytes; masked ones are not touched.
        unsafe { _mm512_mask_storeu_epi8(to.cast(), mask(len), register) };
    }
}

wide_fn! {
    /// A nonce of 12 bytes, zeros behind it.
    ///
    /// # Safety
    /// It is readable.
    #[inline]
    pub(super) unsafe fn load_nonce(from: *const u8) -> __m128i {
        // SAFETY: the caller promises 12 readable bytes; masked ones are not touched.
        unsafe { _mm_maskz_loadu_epi32(0b0111, from.cast()) }
    }
}

wide_fn! {
    /// The same block in every lane.
    ///
    /// # Safety
    /// 16 bytes are readable.
    #[inline]
    pub(super) unsafe fn broadcast(from: *const u8) -> Z {
        // SAFETY: the caller promises 16 readable bytes.
        _mm512_broadcast_i32x4(unsafe { _mm_loadu_si128(from.cast()) })
    }
}

wide_fn! {
    /// The bytes of each block in opposite order.
    #[inline]
    pub(super) fn reverse(register: Z) -> Z {
        let order = _mm_setr_epi8(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
        _mm512_shuffle_epi8(register, _mm512_broadcast_i32x4(order))
    }
}

wide_fn! {
    /// Exclusive or of two.
    #[inline]
    pub(super) fn xor(a: Z, b: Z) -> Z {
        _mm512_xor_si512(a, b)
    }
}

wide_fn! {
    /// Exclusive or of three.
    #[inline]
    pub(super) fn xor3(a: Z, b: Z, c: Z) -> Z {
        _mm512_ternarylogic_epi64::<0x96>(a, b, c)
    }
}

wide_fn! {
    /// Times x^-64 in each lane: see `ghash`.
    #[inline]
    pub(super) fn fold(register: Z) -> Z {
        let modulus = _mm512_set1_epi64(0xc2_i64 << 56);
        let folded = _mm512_clmulepi64_epi128::<0x00>(register, modulus);
        xor(_mm512_shuffle_epi32::<0x4e>(register), folded)
    }
}

wide_fn! {
    /// Both halves of unreduced products in each lane, of blocks with hash keys that also come times x^-64:
    /// see `ghash`.
    #[inline]
    pub(super) fn multiply(y: Z, h: Z, folded: Z) -> (Z, Z) {
        let low = xor(_mm512_clmulepi64_epi128::<0x00>(y, folded), _mm512_clmulepi64_epi128::<0x01>(y, h));
        let high = xor(_mm512_clmulepi64_epi128::<0x10>(y, folded), _mm512_clmulepi64_epi128::<0x11>(y, h));
        (low, high)
    }
}

wide_fn! {
    /// Reduces them.
    #[inline]
    pub(super) fn reduce((low, high): (Z, Z)) -> Z {
        let modulus = _mm512_set1_epi64(0xc2_i64 << 56);
        xor3(high, _mm512_shuffle_epi32::<0x4e>(low), _mm512_clmulepi64_epi128::<0x00>(low, modulus))
    }
}

wide_fn! {
    /// Four registers as the rows of a matrix of blocks: its columns.
    #[inline]
    pub(super) fn transpose([a, b, c, d]: [Z; 4]) -> [Z; 4] {
        let low_ab = _mm512_shuffle_i64x2::<0x44>(a, b);
        let high_ab = _mm512_shuffle_i64x2::<0xee>(a, b);
        let low_cd = _mm512_shuffle_i64x2::<0x44>(c, d);
        let high_cd = _mm512_shuffle_i64x2::<0xee>(c, d);
        [
            _mm512_shuffle_i64x2::<0x88>(low_ab, low_cd),
            _mm512_shuffle_i64x2::<0xdd>(low_ab, low_cd),
            _mm512_shuffle_i64x2::<0x88>(high_ab, high_cd),
            _mm512_shuffle_i64x2::<0xdd>(high_ab, high_cd),
        ]
    }
}

wide_fn! {
    /// The same, and the bytes of each block in opposite order.
    #[inline]
    pub(super) fn transpose_reversed([a, b, c, d]: [Z; 4]) -> [Z; 4] {
        let low_ab = _mm512_shuffle_i64x2::<0x44>(a, b);
        let high_ab = _mm512_shuffle_i64x2::<0xee>(a, b);
        let low_cd = _mm512_shuffle_i64x2::<0x44>(c, d);
        let high_cd = _mm512_shuffle_i64x2::<0xee>(c, d);
        // SAFETY: 64 bytes.
        let even = unsafe { load(EVEN_REVERSED.as_ptr()) };
        // SAFETY: this order has 64 bytes, too.
        let odd = unsafe { load(ODD_REVERSED.as_ptr()) };
        [
            _mm512_permutex2var_epi8(low_ab, even, low_cd),
            _mm512_permutex2var_epi8(low_ab, odd, low_cd),
            _mm512_permutex2var_epi8(high_ab, even, high_cd),
            _mm512_permutex2var_epi8(high_ab, odd, high_cd),
        ]
    }
}

/// Takes the blocks of even number of two registers, and of each the last byte first.
const EVEN_REVERSED: [u8; 64] = reversed(0);
/// The same for those of odd number.
const ODD_REVERSED: [u8; 64] = reversed(1);

const fn reversed(first: u8) -> [u8; 64] {
    let mut order = [0; 64];
    let mut at: u8 = 0;
    while at < 64 {
        let block = first + 2 * (at / 16);
        order[at as usize] = 16 * block + 15 - at % 16;
        at += 1;
    }
    order
}

/// A bit for each of the first `len` bytes, up to 64.
#[inline(always)]
pub(super) fn mask(len: usize) -> u64 {
    if len < 64 { (1 << len) - 1 } else { u64::MAX }
}
