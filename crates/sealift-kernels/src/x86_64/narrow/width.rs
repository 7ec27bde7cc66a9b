//! What the kernel does with a register, next to what the mode needs of one.
#![allow(unsafe_code)]

use core::{
    arch::{asm, x86_64::*},
    ptr,
};

use super::{chain, group::Call, hash::Sums, kernel};
use crate::{
    schedule::{Expanded, POWERS},
    x86_64::{
        cpu::{HaveAesNi, HaveVaes256, HaveVaes512},
        expand::Expander,
        isa::{Isa, proven},
        window::item::{Ahead, Item, LONGEST_TEXT},
    },
};

/// A width of registers: one block, two, or four.
pub(in crate::x86_64) trait Width: Isa {
    /// Blocks of the longest text that the kernel takes.
    const TEXT_BLOCKS: usize;
    /// Whether powers times x^-64 are read, too: four multiplications a block instead of three, and no shuffles.
    const HAS_FOLDED: bool;
    /// Whether longer texts are worked in chains.
    const HAS_CHAINS: bool = false;
    /// Longer texts, in bytes, are worked one by one.
    const LONGEST_TEXT: usize = LONGEST_TEXT;

    /// The same block in every lane.
    fn spread(self, block: __m128i) -> Self::Register;
    /// The block in a lane, in the last one if there are no more.
    fn lane<const LANE: usize>(self, register: Self::Register) -> __m128i;
    /// The register with a block in a lane behind the first, in the last one if there are no more; as it was, if it has
    /// but one.
    fn with_lane<const LANE: usize>(
        self,
        register: Self::Register,
        block: __m128i,
    ) -> Self::Register;

    /// Adds products of blocks and their powers, both in memory: [`Sums::and`] with two registers for all
    /// that is between, because states take the others.
    ///
    /// # Safety
    /// Powers are readable, those times x^-64, too, if they are read, and as aligned as a block.
    unsafe fn add_products(self, sums: &mut Sums<Self>, blocks: &Self::Register, powers: *const u8);

    /// Works messages of one class under expanded keys, compiled with the instructions.
    ///
    /// # Safety
    /// As for `run` of [`kernel`].
    unsafe fn run(self, call: &Call, items: &[Item], ahead: &mut Ahead<'_>);

    /// Works messages with longer texts, all sealed or all opened: see [`Width::HAS_CHAINS`].
    ///
    /// # Safety
    /// As for `run` of [`chain`].
    unsafe fn chain(self, _call: &Call, _items: &[Item], _ahead: &Ahead<'_>) {
        unreachable!("there are no chains")
    }
}

/// A width in which messages under raw keys are worked.
pub(in crate::x86_64) trait TakesRaw: Width + Expander {
    /// Works messages under raw keys of so many rounds, compiled with the instructions.
    ///
    /// # Safety
    /// As for `run_fresh` of [`kernel`].
    unsafe fn run_fresh(
        self,
        rounds: usize,
        tag_bytes: usize,
        items: &[Item],
        ahead: &mut Ahead<'_>,
    );
}

impl Width for HaveAesNi {
    const TEXT_BLOCKS: usize = 8;
    const HAS_FOLDED: bool = false;

    #[inline(always)]
    fn spread(self, block: __m128i) -> __m128i {
        block
    }

    #[inline(always)]
    fn lane<const LANE: usize>(self, register: __m128i) -> __m128i {
        register
    }

    #[inline(always)]
    fn with_lane<const LANE: usize>(self, register: __m128i, _block: __m128i) -> __m128i {
        register
    }

    #[inline(always)]
    unsafe fn add_products(self, sums: &mut Sums<Self>, blocks: &__m128i, powers: *const u8) {
        // SAFETY: `self` is proof of the instructions; the caller promises the rest.
        *sums = unsafe { add_products_128(*sums, blocks, powers) };
    }

    #[inline]
    unsafe fn run(self, call: &Call, items: &[Item], ahead: &mut Ahead<'_>) {
        // SAFETY: `self` is proof of the instructions; the caller promises the rest.
        unsafe { kernel::one_lane::run(self, call, items, ahead) }
    }
}

impl TakesRaw for HaveAesNi {
    #[inline]
    unsafe fn run_fresh(
        self,
        rounds: usize,
        tag_bytes: usize,
        items: &[Item],
        ahead: &mut Ahead<'_>,
    ) {
        // SAFETY: `self` is proof of the instructions; the caller promises the rest.
        unsafe { kernel::fresh_one_lane::run(self, rounds, tag_bytes, items, ahead) }
    }
}

impl Width for HaveVaes256 {
    // A key has powers for no more.
    const TEXT_BLOCKS: usize = POWERS;
    const HAS_FOLDED: bool = false;
    const HAS_CHAINS: bool = true;
    // Of longer ones a chain spares hardly anything.
    const LONGEST_TEXT: usize = 16 << 10;

    proven! {
        fn spread(block: __m128i) -> __m256i => _mm256_broadcastsi128_si256(block);
    }

    #[inline(always)]
    fn lane<const LANE: usize>(self, register: __m256i) -> __m128i {
        // SAFETY: `self` is proof of the instructions.
        unsafe { lane_256::<LANE>(register) }
    }

    #[inline(always)]
    fn with_lane<const LANE: usize>(self, register: __m256i, block: __m128i) -> __m256i {
        // SAFETY: `self` is proof of the instructions.
        unsafe { _mm256_inserti128_si256::<1>(register, block) }
    }

    #[inline(always)]
    unsafe fn add_products(self, sums: &mut Sums<Self>, blocks: &__m256i, powers: *const u8) {
        // SAFETY: `self` is proof of the instructions; the caller promises the rest.
        *sums = unsafe { add_products_256(*sums, blocks, powers) };
    }

    #[inline]
    unsafe fn run(self, call: &Call, items: &[Item], ahead: &mut Ahead<'_>) {
        // SAFETY: `self` is proof of the instructions; the caller promises the rest.
        unsafe { kernel::two_lanes::run(self, call, items, ahead) }
    }

    #[inline]
    unsafe fn chain(self, call: &Call, items: &[Item], ahead: &Ahead<'_>) {
        // SAFETY: the caller keeps the same promise.
        unsafe { chain::run(self, call, items, ahead) }
    }
}

impl TakesRaw for HaveVaes256 {
    #[inline]
    unsafe fn run_fresh(
        self,
        rounds: usize,
        tag_bytes: usize,
        items: &[Item],
        ahead: &mut Ahead<'_>,
    ) {
        // SAFETY: `self` is proof of the instructions; the caller promises the rest.
        unsafe { kernel::fresh_two_lanes::run(self, rounds, tag_bytes, items, ahead) }
    }
}

impl Width for HaveVaes512 {
    // A key has powers for no more.
    const TEXT_BLOCKS: usize = POWERS;
    const HAS_FOLDED: bool = true;

    proven! {
        fn spread(block: __m128i) -> __m512i => _mm512_broadcast_i32x4(block);
    }

    #[inline(always)]
    fn lane<const LANE: usize>(self, register: __m512i) -> __m128i {
        // SAFETY: `self` is proof of the instructions.
        unsafe { lane_512::<LANE>(register) }
    }

    #[inline(always)]
    fn with_lane<const LANE: usize>(self, register: __m512i, block: __m128i) -> __m512i {
        // SAFETY: `self` is proof of the instructions.
        unsafe { with_lane_512::<LANE>(register, block) }
    }

    #[inline(always)]
    unsafe fn add_products(self, sums: &mut Sums<Self>, blocks: &__m512i, powers: *const u8) {
        // SAFETY: `self` is proof of the instructions; the caller promises the rest.
        *sums = unsafe { add_products_512(*sums, blocks, powers) };
    }

    #[inline]
    unsafe fn run(self, call: &Call, items: &[Item], ahead: &mut Ahead<'_>) {
        // SAFETY: `self` is proof of the instructions; the caller promises the rest.
        unsafe { kernel::four_lanes::run(self, call, items, ahead) }
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn lane_256<const LANE: usize>(register: __m256i) -> __m128i {
    match LANE {
        0 => _mm256_castsi256_si128(register),
        _ => _mm256_extracti128_si256::<1>(register),
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn lane_512<const LANE: usize>(register: __m512i) -> __m128i {
    match LANE {
        0 => _mm512_castsi512_si128(register),
        1 => _mm512_extracti64x2_epi64::<1>(register),
        2 => _mm512_extracti64x2_epi64::<2>(register),
        _ => _mm512_extracti64x2_epi64::<3>(register),
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn with_lane_512<const LANE: usize>(register: __m512i, block: __m128i) -> __m512i {
    match LANE {
        0 => _mm512_inserti64x2::<0>(register, block),
        1 => _mm512_inserti64x2::<1>(register, block),
        2 => _mm512_inserti64x2::<2>(register, block),
        _ => _mm512_inserti64x2::<3>(register, block),
    }
}

/// # Safety
/// As for [`Width::add_products`].
#[inline]
#[target_feature(enable = "avx512f,vpclmulqdq")]
unsafe fn add_products_512(
    mut sums: Sums<HaveVaes512>,
    blocks: &__m512i,
    powers: *const u8,
) -> Sums<HaveVaes512> {
    // IMPLEMENTATION NOTE: what is thrown away has a type, because without one the compiler gives the last 16 registers wrong names.
    let (_y, _s, _t, _u, _v): (__m512i, __m512i, __m512i, __m512i, __m512i);
    // SAFETY: the caller promises that both kinds of powers are readable.
    unsafe {
        asm!(
            "vmovdqa64 {y:z}, zmmword ptr [{blocks}]",
            "vmovdqu64 {s:z}, zmmword ptr [{powers} - {folded}]",
            "vmovdqu64 {t:z}, zmmword ptr [{powers}]",
            "vpclmulqdq {u:z}, {y:z}, {s:z}, 0x00",
            "vpclmulqdq {v:z}, {y:z}, {t:z}, 0x01",
            "vpclmulqdq {s:z}, {y:z}, {s:z}, 0x10",
            "vpclmulqdq {t:z}, {y:z}, {t:z}, 0x11",
            "vpternlogq {low:z}, {u:z}, {v:z}, 0x96",
            "vpternlogq {high:z}, {s:z}, {t:z}, 0x96",
            powers = in(reg) powers,
            blocks = in(reg) ptr::from_ref(blocks),
            folded = const Expanded::FOLDED_BEFORE,
            y = out(zmm_reg) _y,
            s = out(zmm_reg) _s,
            t = out(zmm_reg) _t,
            u = out(zmm_reg) _u,
            v = out(zmm_reg) _v,
            low = inout(zmm_reg) sums.low,
            high = inout(zmm_reg) sums.high,
            options(readonly, nostack, preserves_flags),
        );
    }
    sums
}

/// # Safety
/// As for [`Width::add_products`].
#[inline]
#[target_feature(enable = "sse2,pclmulqdq")]
unsafe fn add_products_128(
    mut sums: Sums<HaveAesNi>,
    blocks: &__m128i,
    powers: *const u8,
) -> Sums<HaveAesNi> {
    // SAFETY: the caller promises that powers are readable and aligned.
    unsafe {
        asm!(
            "pshufd {s}, xmmword ptr [{powers}], 0x4e",
            "pshufd {t}, xmmword ptr [{blocks}], 0x4e",
            "pxor {s}, xmmword ptr [{powers}]",
            "pxor {t}, xmmword ptr [{blocks}]",
            "pclmulqdq {t}, {s}, 0x00",
            "movdqa {s}, xmmword ptr [{blocks}]",
            "pxor {middle}, {t}",
            "movdqa {t}, {s}",
            "pclmulqdq {s}, xmmword ptr [{powers}], 0x00",
            "pclmulqdq {t}, xmmword ptr [{powers}], 0x11",
            "pxor {low}, {s}",
            "pxor {high}, {t}",
            powers = in(reg) powers,
            blocks = in(reg) ptr::from_ref(blocks),
            s = out(xmm_reg) _,
            t = out(xmm_reg) _,
            low = inout(xmm_reg) sums.low,
            middle = inout(xmm_reg) sums.middle,
            high = inout(xmm_reg) sums.high,
            options(readonly, nostack, preserves_flags),
        );
    }
    sums
}

/// # Safety
/// As for [`Width::add_products`].
#[inline]
#[target_feature(enable = "avx2,vpclmulqdq")]
unsafe fn add_products_256(
    mut sums: Sums<HaveVaes256>,
    blocks: &__m256i,
    powers: *const u8,
) -> Sums<HaveVaes256> {
    // SAFETY: the caller promises that powers are readable.
    unsafe {
        asm!(
            "vpshufd {s}, ymmword ptr [{powers}], 0x4e",
            "vpshufd {t}, ymmword ptr [{blocks}], 0x4e",
            "vpxor {s}, {s}, ymmword ptr [{powers}]",
            "vpxor {t}, {t}, ymmword ptr [{blocks}]",
            "vpclmulqdq {t}, {t}, {s}, 0x00",
            "vmovdqa {s}, ymmword ptr [{blocks}]",
            "vpxor {middle}, {middle}, {t}",
            "vpclmulqdq {t}, {s}, ymmword ptr [{powers}], 0x00",
            "vpclmulqdq {s}, {s}, ymmword ptr [{powers}], 0x11",
            "vpxor {low}, {low}, {t}",
            "vpxor {high}, {high}, {s}",
            powers = in(reg) powers,
            blocks = in(reg) ptr::from_ref(blocks),
            s = out(ymm_reg) _,
            t = out(ymm_reg) _,
            low = inout(ymm_reg) sums.low,
            middle = inout(ymm_reg) sums.middle,
            high = inout(ymm_reg) sums.high,
            options(readonly, nostack, preserves_flags),
        );
    }
    sums
}
