//! Reads and writes alone: what memory gives when nothing is copied.

use super::{Mover, Route};
use core::arch::asm;

pub(super) struct ReadWords;
pub(super) struct ReadAvx2;
pub(super) struct ReadAvx512;
pub(super) struct WriteWords;
pub(super) struct WriteAvx2;
pub(super) struct WriteAvx512;
pub(super) struct WriteNonTemporal;
pub(super) struct RepStosb;

/// Writes a reader that folds all words into one by exclusive or; whole 64 bytes only.
macro_rules! reader {
    ($name:ident, [$($clear:literal),*], [$($read:literal),*], [$($fold:literal),*],
     [$($clobbered:tt),*]) => {
        impl Mover for $name {
            #[inline(always)]
            unsafe fn go(route: &Route, skip: usize) -> u64 {
                let (sum, rest): (u64, u64);
                // SAFETY: whole 64 bytes within the length are read, as the caller vouches for.
                unsafe {
                    asm!(
                        "xor {sum:e}, {sum:e}",
                        $($clear,)*
                        "sub {len}, 64",
                        "jb 3f",
                        ".p2align 4",
                        "2:",
                        $($read,)*
                        "add {from}, 64",
                        "sub {len}, 64",
                        "jae 2b",
                        "3:",
                        $($fold,)*
                        // What is less than 64 bytes: words, for lengths are whole ones.
                        "add {len}, 64",
                        "jz 5f",
                        "4:",
                        "xor {sum}, [{from}]",
                        "add {from}, 8",
                        "sub {len}, 8",
                        "ja 4b",
                        "5:",
                        from = inout(reg) route.from.wrapping_add(skip) => _,
                        len = inout(reg) route.len => _,
                        sum = out(reg) sum,
                        word = out(reg) rest,
                        $(out($clobbered) _,)*
                        options(nostack, readonly),
                    );
                }
                let _ = rest;
                sum
            }
        }
    };
}

reader!(
    ReadWords,
    [],
    [
        "xor {sum}, [{from}]",
        "xor {sum}, [{from} + 8]",
        "xor {sum}, [{from} + 16]",
        "xor {sum}, [{from} + 24]",
        "xor {sum}, [{from} + 32]",
        "xor {sum}, [{from} + 40]",
        "xor {sum}, [{from} + 48]",
        "xor {sum}, [{from} + 56]"
    ],
    ["xor {word:e}, {word:e}"],
    []
);
reader!(
    ReadAvx2,
    ["vpxor xmm0, xmm0, xmm0", "vpxor xmm1, xmm1, xmm1"],
    ["vpxor ymm0, ymm0, [{from}]", "vpxor ymm1, ymm1, [{from} + 32]"],
    [
        "vpxor ymm0, ymm0, ymm1",
        "vextracti128 xmm1, ymm0, 1",
        "vpxor xmm0, xmm0, xmm1",
        "vzeroupper",
        "movq {word}, xmm0",
        "xor {sum}, {word}",
        "psrldq xmm0, 8",
        "movq {word}, xmm0",
        "xor {sum}, {word}"
    ],
    ["xmm0", "xmm1"]
);
reader!(
    ReadAvx512,
    ["vpxorq zmm16, zmm16, zmm16"],
    ["vpxorq zmm16, zmm16, [{from}]"],
    [
        "vextracti64x4 ymm17, zmm16, 1",
        "vpxorq ymm16, ymm16, ymm17",
        "vextracti64x2 xmm17, ymm16, 1",
        "vpxorq xmm16, xmm16, xmm17",
        "vmovq {word}, xmm16",
        "xor {sum}, {word}",
        "vpsrldq xmm16, xmm16, 8",
        "vmovq {word}, xmm16",
        "xor {sum}, {word}"
    ],
    ["zmm16", "zmm17"]
);

/// Writes a writer that repeats the 8 bytes at the route's source; whole words.
macro_rules! writer {
    ($name:ident, [$($load:literal),*], [$($store:literal),*], [$($after:literal),*],
     [$($clobbered:tt),*]) => {
        impl Mover for $name {
            #[inline(always)]
            unsafe fn go(route: &Route, skip: usize) -> u64 {
                // SAFETY: 64 bytes are read at the source, and whole words within the length are
                // written, as the caller vouches for.
                unsafe {
                    asm!(
                        "mov {word}, [{from}]",
                        $($load,)*
                        "sub {len}, 64",
                        "jb 3f",
                        ".p2align 4",
                        "2:",
                        $($store,)*
                        "add {to}, 64",
                        "sub {len}, 64",
                        "jae 2b",
                        "3:",
                        "add {len}, 64",
                        "jz 5f",
                        "4:",
                        "mov [{to}], {word}",
                        "add {to}, 8",
                        "sub {len}, 8",
                        "ja 4b",
                        "5:",
                        $($after,)*
                        to = inout(reg) route.to.wrapping_add(skip) => _,
                        from = in(reg) route.from,
                        len = inout(reg) route.len => _,
                        word = out(reg) _,
                        $(out($clobbered) _,)*
                        options(nostack),
                    );
                }
                0
            }
        }
    };
}

writer!(
    WriteWords,
    [],
    [
        "mov [{to}], {word}",
        "mov [{to} + 8], {word}",
        "mov [{to} + 16], {word}",
        "mov [{to} + 24], {word}",
        "mov [{to} + 32], {word}",
        "mov [{to} + 40], {word}",
        "mov [{to} + 48], {word}",
        "mov [{to} + 56], {word}"
    ],
    [],
    []
);
writer!(
    WriteAvx2,
    ["vmovdqu ymm0, [{from}]"],
    ["vmovdqu [{to}], ymm0", "vmovdqu [{to} + 32], ymm0"],
    ["vzeroupper"],
    ["xmm0"]
);
writer!(WriteAvx512, ["vmovdqu64 zmm16, [{from}]"], ["vmovdqu64 [{to}], zmm16"], [], ["zmm16"]);
// Aligned to a line, as the places of a way are.
writer!(
    WriteNonTemporal,
    ["vmovdqu64 zmm16, [{from}]"],
    ["vmovntdq [{to}], zmm16"],
    ["sfence"],
    ["zmm16"]
);

impl Mover for RepStosb {
    #[inline(always)]
    unsafe fn go(route: &Route, skip: usize) -> u64 {
        // SAFETY: the caller vouches for the source.
        let byte = unsafe { *route.from };
        // SAFETY: it writes `len` bytes; the direction flag is clear in Rust.
        unsafe {
            asm!(
                "rep stosb",
                inout("rdi") route.to.wrapping_add(skip) => _,
                inout("rcx") route.len => _,
                in("al") byte,
                options(nostack, preserves_flags),
            );
        }
        0
    }
}
