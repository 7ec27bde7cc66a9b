//! Copies whose machine code is what it says: the compiler can turn none of them into another.

use super::{Mover, Route};
use core::arch::asm;

pub(super) struct Words;
pub(super) struct Sse2;
pub(super) struct RepMovsb;
pub(super) struct Avx512;
pub(super) struct NonTemporal;

/// Passes the two ends on to a copy between addresses.
macro_rules! mover {
    ($($name:ident: $copy:ident),*) => {$(
        impl Mover for $name {
            #[inline(always)]
            unsafe fn go(route: &Route, skip: usize) -> u64 {
                let (to, from) = (route.to.wrapping_add(skip), route.from.wrapping_add(skip));
                // SAFETY: the caller vouches for the route.
                unsafe { $copy(to, from, route.len) };
                0
            }
        }
    )*};
}

mover!(Words: words, Sse2: sse2, RepMovsb: rep_movsb, Avx512: avx512,
    NonTemporal: non_temporal);

/// Copies in words of 8 bytes, one after the other, and the rest in bytes.
///
/// # Safety
/// Both are valid for `len` bytes and don't overlap.
#[inline(always)]
pub(in super::super) unsafe fn words(to: *mut u8, from: *const u8, len: usize) {
    // SAFETY: no byte beyond `len` is touched, as the counters say.
    unsafe {
        asm!(
            "sub {len}, 8",
            "jb 3f",
            ".p2align 4",
            "2:",
            "mov {word}, [{from}]",
            "mov [{to}], {word}",
            "add {from}, 8",
            "add {to}, 8",
            "sub {len}, 8",
            "jae 2b",
            "3:",
            "add {len}, 8",
            "jz 5f",
            "4:",
            "mov {word:l}, [{from}]",
            "mov [{to}], {word:l}",
            "inc {from}",
            "inc {to}",
            "dec {len}",
            "jnz 4b",
            "5:",
            to = inout(reg) to => _,
            from = inout(reg) from => _,
            len = inout(reg) len => _,
            word = out(reg_abcd) _,
            options(nostack),
        );
    }
}

/// Copies by the string instruction.
///
/// # Safety
/// As for [`words`].
#[inline(always)]
unsafe fn rep_movsb(to: *mut u8, from: *const u8, len: usize) {
    // SAFETY: it touches `len` bytes from both addresses on; the direction flag is clear in Rust.
    unsafe {
        asm!(
            "rep movsb",
            inout("rdi") to => _,
            inout("rsi") from => _,
            inout("rcx") len => _,
            options(nostack, preserves_flags),
        );
    }
}

/// Writes a copy by four registers of a kind, then by one, then by what `$tail` says.
macro_rules! by_registers {
    ($name:ident, $bytes:literal, $four:literal, [$($move:literal),*], [$($one:literal),*],
     [$($tail:literal),*], [$($clobbered:tt),*]) => {
        /// # Safety
        /// As for [`words`], and the processor has the instructions.
        #[inline(always)]
        unsafe fn $name(to: *mut u8, from: *const u8, len: usize) {
            // SAFETY: no byte beyond `len` is touched, as the counters say.
            unsafe {
                asm!(
                    concat!("sub {len}, ", $four),
                    "jb 3f",
                    ".p2align 4",
                    "2:",
                    $($move,)*
                    concat!("add {from}, ", $four),
                    concat!("add {to}, ", $four),
                    concat!("sub {len}, ", $four),
                    "jae 2b",
                    "3:",
                    concat!("add {len}, ", $four, " - ", $bytes),
                    "js 5f",
                    "4:",
                    $($one,)*
                    concat!("add {from}, ", $bytes),
                    concat!("add {to}, ", $bytes),
                    concat!("sub {len}, ", $bytes),
                    "jns 4b",
                    "5:",
                    concat!("add {len}, ", $bytes),
                    "jz 9f",
                    $($tail,)*
                    "9:",
                    to = inout(reg) to => _,
                    from = inout(reg) from => _,
                    len = inout(reg) len => _,
                    word = out(reg_abcd) _,
                    $(out($clobbered) _,)*
                    options(nostack),
                );
            }
        }
    };
}

by_registers!(
    sse2,
    "16",
    "64",
    [
        "movdqu xmm0, [{from}]",
        "movdqu xmm1, [{from} + 16]",
        "movdqu xmm2, [{from} + 32]",
        "movdqu xmm3, [{from} + 48]",
        "movdqu [{to}], xmm0",
        "movdqu [{to} + 16], xmm1",
        "movdqu [{to} + 32], xmm2",
        "movdqu [{to} + 48], xmm3"
    ],
    ["movdqu xmm0, [{from}]", "movdqu [{to}], xmm0"],
    [
        "6:",
        "mov {word:l}, [{from}]",
        "mov [{to}], {word:l}",
        "inc {from}",
        "inc {to}",
        "dec {len}",
        "jnz 6b"
    ],
    ["xmm0", "xmm1", "xmm2", "xmm3"]
);

// The upper sixteen registers leave no state behind that slows SSE down.
by_registers!(
    avx512,
    "64",
    "256",
    [
        "vmovdqu64 zmm16, [{from}]",
        "vmovdqu64 zmm17, [{from} + 64]",
        "vmovdqu64 zmm18, [{from} + 128]",
        "vmovdqu64 zmm19, [{from} + 192]",
        "vmovdqu64 [{to}], zmm16",
        "vmovdqu64 [{to} + 64], zmm17",
        "vmovdqu64 [{to} + 128], zmm18",
        "vmovdqu64 [{to} + 192], zmm19"
    ],
    ["vmovdqu64 zmm16, [{from}]", "vmovdqu64 [{to}], zmm16"],
    [
        "mov {word}, -1",
        "bzhi {word}, {word}, {len}",
        "kmovq k1, {word}",
        "vmovdqu8 zmm16 {{k1}} {{z}}, [{from}]",
        "vmovdqu8 [{to}] {{k1}}, zmm16"
    ],
    ["zmm16", "zmm17", "zmm18", "zmm19", "k1"]
);

// Up to the first whole line of the destination, the lines past the caches, and the rest.
by_registers!(
    non_temporal_lines,
    "64",
    "256",
    [
        "vmovdqu64 zmm16, [{from}]",
        "vmovdqu64 zmm17, [{from} + 64]",
        "vmovdqu64 zmm18, [{from} + 128]",
        "vmovdqu64 zmm19, [{from} + 192]",
        "vmovntdq [{to}], zmm16",
        "vmovntdq [{to} + 64], zmm17",
        "vmovntdq [{to} + 128], zmm18",
        "vmovntdq [{to} + 192], zmm19"
    ],
    ["vmovdqu64 zmm16, [{from}]", "vmovntdq [{to}], zmm16"],
    [
        "mov {word}, -1",
        "bzhi {word}, {word}, {len}",
        "kmovq k1, {word}",
        "vmovdqu8 zmm16 {{k1}} {{z}}, [{from}]",
        "vmovdqu8 [{to}] {{k1}}, zmm16"
    ],
    ["zmm16", "zmm17", "zmm18", "zmm19", "k1"]
);

/// Copies past the caches, and waits until it is seen.
///
/// # Safety
/// As for [`words`], and the processor has AVX-512.
#[inline(always)]
unsafe fn non_temporal(to: *mut u8, from: *const u8, len: usize) {
    let head = to.addr().wrapping_neg() % 64;
    let head = head.min(len);
    // SAFETY: as the caller promises, and `head` is no more than `len`.
    unsafe { avx512(to, from, head) };
    let (to, from) = (to.wrapping_add(head), from.wrapping_add(head));
    // SAFETY: as the caller promises; the lines begin where lines do.
    unsafe { non_temporal_lines(to, from, len - head) };
    // SAFETY: the instruction touches no memory of its own.
    unsafe { asm!("sfence", options(nostack, preserves_flags)) };
}
