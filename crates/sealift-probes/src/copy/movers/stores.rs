//! Reads and writes alone: what memory gives when nothing is copied.

use super::{Mover, Route};
use core::arch::asm;

pub(super) struct ReadWords;
pub(super) struct ReadAvx512;
pub(super) struct WriteAvx512;
pub(super) struct WriteNonTemporal;

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

/// Writes a writer of 64-byte registers that repeats the 8 bytes at the route's source; whole words.
macro_rules! writer {
    ($name:ident, $store:literal, [$($after:literal),*]) => {
        impl Mover for $name {
            #[inline(always)]
            unsafe fn go(route: &Route, skip: usize) -> u64 {
                // SAFETY: 64 bytes are read at the source, and whole words within the length are
                // written, as the caller vouches for.
                unsafe {
                    asm!(
                        "mov {word}, [{from}]",
                        "vmovdqu64 zmm16, [{from}]",
                        "sub {len}, 64",
                        "jb 3f",
                        ".p2align 4",
                        "2:",
                        $store,
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
                        out("zmm16") _,
                        options(nostack),
                    );
                }
                0
            }
        }
    };
}

writer!(WriteAvx512, "vmovdqu64 [{to}], zmm16", []);
// Aligned to a line, as the places of a way are.
writer!(WriteNonTemporal, "vmovntdq [{to}], zmm16", ["sfence"]);
