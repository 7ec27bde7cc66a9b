//! A copy in the manner of Apex memmove, the published tool's third function, written anew from its public
//! description: 16-byte registers, a jump by size for short copies, and for long ones a prefetch and stores past
//! the caches.

use super::asm::words;
use super::{Mover, Route};
use core::arch::asm;

pub(super) struct Apex;

impl Mover for Apex {
    #[inline(always)]
    unsafe fn go(route: &Route, skip: usize) -> u64 {
        let (to, from) = (route.to.wrapping_add(skip), route.from.wrapping_add(skip));
        // SAFETY: the caller vouches for the route.
        unsafe { apex(to, from, route.len) };
        0
    }
}

/// A function of its own, as there: the tool calls it through a pointer.
///
/// # Safety
/// Both are valid for `len` bytes and don't overlap.
#[inline(never)]
unsafe fn apex(to: *mut u8, from: *const u8, len: usize) {
    match len.div_ceil(16) {
        // SAFETY: as the caller promises.
        0 | 1 => unsafe { under_17(to, from, len) },
        // SAFETY: as the caller promises; 17 bytes at least.
        2 => unsafe { registers_2(to, from, len) },
        // SAFETY: as the caller promises; 33 bytes at least.
        3 => unsafe { registers_3(to, from, len) },
        // SAFETY: as the caller promises; 49 bytes at least.
        4 => unsafe { registers_4(to, from, len) },
        // SAFETY: as the caller promises; 65 bytes at least.
        5 => unsafe { registers_5(to, from, len) },
        // SAFETY: as the caller promises; 81 bytes at least.
        6 => unsafe { registers_6(to, from, len) },
        // SAFETY: as the caller promises; 97 bytes at least.
        7 => unsafe { registers_7(to, from, len) },
        // SAFETY: as the caller promises; 113 bytes at least.
        8 => unsafe { registers_8(to, from, len) },
        // SAFETY: as the caller promises; 129 bytes at least.
        _ if len < PAST_CACHES_BYTES => unsafe { through_caches(to, from, len) },
        // SAFETY: as the caller promises, of many prefetched bytes.
        _ => unsafe { past_caches(to, from, len) },
    }
}

/// # Safety
/// Both are valid for `len` bytes, 16 at most, and don't overlap.
#[inline(always)]
unsafe fn under_17(to: *mut u8, from: *const u8, len: usize) {
    match len {
        // SAFETY: as the caller promises; two pieces of 8 bytes cover 8 to 16.
        8.. => unsafe { ends_8(to, from, len) },
        // SAFETY: as the caller promises; two pieces of 4 bytes cover 4 to 7.
        4.. => unsafe { ends_4(to, from, len) },
        // SAFETY: as the caller promises; two pieces of 2 bytes cover 2 and 3.
        2.. => unsafe { ends_2(to, from, len) },
        // SAFETY: as the caller promises.
        _ => unsafe { words(to, from, len) },
    }
}

/// Writes a copy by a first and a last piece of some bytes, which may overlap.
macro_rules! ends {
    ($name:ident, $bytes:literal, $size:literal) => {
        /// # Safety
        /// Both are valid for `len` bytes, one to two pieces, and don't overlap.
        #[inline(always)]
        unsafe fn $name(to: *mut u8, from: *const u8, len: usize) {
            // SAFETY: the first piece begins with the copy and the last one ends with it, and neither is longer.
            unsafe {
                asm!(
                    concat!("mov {first:", $size, "}, [{from}]"),
                    concat!("mov {last:", $size, "}, [{from} + {len} - ", $bytes, "]"),
                    concat!("mov [{to}], {first:", $size, "}"),
                    concat!("mov [{to} + {len} - ", $bytes, "], {last:", $size, "}"),
                    to = in(reg) to,
                    from = in(reg) from,
                    len = in(reg) len,
                    first = out(reg) _,
                    last = out(reg) _,
                    options(nostack, preserves_flags),
                );
            }
        }
    };
}

ends!(ends_2, "2", "x");
ends!(ends_4, "4", "e");
ends!(ends_8, "8", "r");

/// Writes a copy by registers from the first byte on and one up to the last byte: all are loaded before any is
/// stored.
macro_rules! registers {
    ($name:ident: $($register:tt $at:literal),*) => {
        /// # Safety
        /// Both are valid for `len` bytes, 16 at least and one more than the last piece begins at, and don't overlap.
        #[inline(always)]
        unsafe fn $name(to: *mut u8, from: *const u8, len: usize) {
            // SAFETY: each piece from the front ends within `len`, and the last one ends with it.
            unsafe {
                asm!(
                    $(concat!("movdqu ", $register, ", [{from} + ", $at, "]"),)*
                    "movdqu xmm7, [{from} + {len} - 16]",
                    $(concat!("movdqu [{to} + ", $at, "], ", $register),)*
                    "movdqu [{to} + {len} - 16], xmm7",
                    to = in(reg) to,
                    from = in(reg) from,
                    len = in(reg) len,
                    $(out($register) _,)*
                    out("xmm7") _,
                    options(nostack, preserves_flags),
                );
            }
        }
    };
}

registers!(registers_1:);
registers!(registers_2: "xmm0" 0);
registers!(registers_3: "xmm0" 0, "xmm1" 16);
registers!(registers_4: "xmm0" 0, "xmm1" 16, "xmm2" 32);
registers!(registers_5: "xmm0" 0, "xmm1" 16, "xmm2" 32, "xmm3" 48);
registers!(registers_6: "xmm0" 0, "xmm1" 16, "xmm2" 32, "xmm3" 48, "xmm4" 64);
registers!(registers_7: "xmm0" 0, "xmm1" 16, "xmm2" 32, "xmm3" 48, "xmm4" 64, "xmm5" 80);
registers!(registers_8: "xmm0" 0, "xmm1" 16, "xmm2" 32, "xmm3" 48, "xmm4" 64, "xmm5" 80, "xmm6" 96);

/// Four registers at a time, wherever they lie; the last four end with the copy.
///
/// # Safety
/// Both are valid for `len` bytes, more than 64, and don't overlap.
#[inline(always)]
unsafe fn through_caches(to: *mut u8, from: *const u8, len: usize) {
    // SAFETY: a turn takes 64 of more than 64 bytes, and the last 64 bytes begin within the copy.
    unsafe {
        asm!(
            ".p2align 4",
            "2:",
            "movdqu xmm0, [{from}]",
            "movdqu xmm1, [{from} + 16]",
            "movdqu xmm2, [{from} + 32]",
            "movdqu xmm3, [{from} + 48]",
            "movdqu [{to}], xmm0",
            "movdqu [{to} + 16], xmm1",
            "movdqu [{to} + 32], xmm2",
            "movdqu [{to} + 48], xmm3",
            "add {from}, 64",
            "add {to}, 64",
            "sub {len}, 64",
            "cmp {len}, 64",
            "ja 2b",
            "movdqu xmm0, [{from} + {len} - 64]",
            "movdqu xmm1, [{from} + {len} - 48]",
            "movdqu xmm2, [{from} + {len} - 32]",
            "movdqu xmm3, [{from} + {len} - 16]",
            "movdqu [{to} + {len} - 64], xmm0",
            "movdqu [{to} + {len} - 48], xmm1",
            "movdqu [{to} + {len} - 32], xmm2",
            "movdqu [{to} + {len} - 16], xmm3",
            to = inout(reg) to => _,
            from = inout(reg) from => _,
            len = inout(reg) len => _,
            out("xmm0") _,
            out("xmm1") _,
            out("xmm2") _,
            out("xmm3") _,
            options(nostack),
        );
    }
}

/// Up to the first multiple of 16 bytes of the destination, what lies behind past the caches, and waits until that
/// is seen.
///
/// # Safety
/// Both are valid for `len` bytes, twice [`AHEAD_BYTES`] at least, and don't overlap.
#[inline(always)]
unsafe fn past_caches(to: *mut u8, from: *const u8, len: usize) {
    // SAFETY: as the caller promises, of 16 bytes.
    unsafe { registers_1(to, from, 16) };
    let head = 16 - to.addr() % 16;
    let (to, from) = (to.wrapping_add(head), from.wrapping_add(head));
    // SAFETY: as the caller promises; `head` is 16 at most, and the destination begins at a multiple of 16 now.
    unsafe { stream(to, from, len - head) };
    // SAFETY: the instruction touches no memory of its own.
    unsafe { asm!("sfence", options(nostack, preserves_flags)) };
}

/// Lines are asked for [`AHEAD_BYTES`] before they are copied, as long as there are some.
///
/// # Safety
/// Both are valid for `len` bytes, more than [`AHEAD_BYTES`] and 64, don't overlap, and `to` is a multiple of 16.
#[inline(always)]
unsafe fn stream(to: *mut u8, from: *const u8, len: usize) {
    // SAFETY: a turn takes 64 of more than 64 bytes, stores past the caches go to multiples of 16, and what is asked
    // for lies within the source.
    unsafe {
        asm!(
            "xor {ahead:e}, {ahead:e}",
            "2:",
            "prefetchnta [{from} + {ahead}]",
            "add {ahead}, 64",
            "cmp {ahead}, {most}",
            "jb 2b",
            ".p2align 4",
            "3:",
            "prefetchnta [{from} + {most}]",
            "4:",
            "movdqu xmm0, [{from}]",
            "movdqu xmm1, [{from} + 16]",
            "movdqu xmm2, [{from} + 32]",
            "movdqu xmm3, [{from} + 48]",
            "movntdq [{to}], xmm0",
            "movntdq [{to} + 16], xmm1",
            "movntdq [{to} + 32], xmm2",
            "movntdq [{to} + 48], xmm3",
            "add {from}, 64",
            "add {to}, 64",
            "sub {len}, 64",
            "cmp {len}, {most}",
            "ja 3b",
            "cmp {len}, 64",
            "ja 4b",
            "movdqu xmm0, [{from} + {len} - 64]",
            "movdqu xmm1, [{from} + {len} - 48]",
            "movdqu xmm2, [{from} + {len} - 32]",
            "movdqu xmm3, [{from} + {len} - 16]",
            "movdqu [{to} + {len} - 64], xmm0",
            "movdqu [{to} + {len} - 48], xmm1",
            "movdqu [{to} + {len} - 32], xmm2",
            "movdqu [{to} + {len} - 16], xmm3",
            most = const AHEAD_BYTES,
            ahead = out(reg) _,
            to = inout(reg) to => _,
            from = inout(reg) from => _,
            len = inout(reg) len => _,
            out("xmm0") _,
            out("xmm1") _,
            out("xmm2") _,
            out("xmm3") _,
            options(nostack),
        );
    }
}

/// From here on past the caches, as Apex memmove does whatever they hold.
const PAST_CACHES_BYTES: usize = 256 << 10;
const AHEAD_BYTES: usize = 4_096;

#[cfg(test)]
mod tests {
    use super::*;
    use memmap2::MmapMut;

    const AROUND: usize = 64;
    const CANARY: u8 = 0xc5;

    fn source(bytes: usize) -> Vec<u8> {
        (0..bytes).map(|at| (at % 251).to_le_bytes()[0]).collect()
    }

    /// Copies by `apex` from and to places so many bytes behind a multiple of 64, and looks at what is around.
    fn check(from: &[u8], to: &mut [u8], len: usize, (skip_from, skip_to): (usize, usize)) {
        let begin = AROUND + to[AROUND..].as_ptr().align_offset(64) + skip_to;
        to.fill(CANARY);
        let at = from.as_ptr().align_offset(64) + skip_from;
        assert!(at + len <= from.len() && begin + len + AROUND <= to.len());
        // SAFETY: both have so many bytes, as was looked at.
        unsafe { apex(to[begin..].as_mut_ptr(), from[at..].as_ptr(), len) };
        let told = || format!("{len} bytes, {skip_from} to {skip_to}");
        assert!(to[begin..begin + len] == from[at..at + len], "{}", told());
        assert!(to[..begin].iter().all(|byte| *byte == CANARY), "before: {}", told());
        assert!(to[begin + len..].iter().all(|byte| *byte == CANARY), "behind: {}", told());
    }

    #[test]
    fn every_length_is_copied_wherever_it_lies_and_nothing_around_it() {
        let (from, mut to) = (source(4_500), vec![0; 4_500]);
        for len in 0..=4_096 {
            for skips in [(0, 0), (1, 0), (0, 1), (7, 9), (15, 63)] {
                check(&from, &mut to, len, skips);
            }
        }
    }

    #[test]
    fn lengths_around_the_threshold_are_copied_to_every_place_of_a_register() {
        let most = PAST_CACHES_BYTES + AHEAD_BYTES + 1;
        let (from, mut to) = (source(most + 300), vec![0; most + 300]);
        let near = [-1, 0, 1, 15, 16, 17, 63, 64, 65, 4_095, 4_096, 4_097];
        for len in near.map(|more| PAST_CACHES_BYTES.checked_add_signed(more).unwrap()) {
            for skip_to in 0..16 {
                for skip_from in [0, 1, 15] {
                    check(&from, &mut to, len, (skip_from, skip_to));
                }
            }
        }
    }

    #[test]
    fn nothing_behind_source_and_destination_is_touched() {
        let [mut from, mut to] = [(); 2].map(|()| guarded());
        let (from, to) = (from.as_mut_ptr(), to.as_mut_ptr());
        for len in 0..=PAGES_BYTES {
            let skip = PAGES_BYTES - len;
            // SAFETY: both have so many bytes before the page that may not be touched.
            unsafe { apex(to.wrapping_add(skip), from.wrapping_add(skip), len) };
        }
    }

    /// Two pages, and one that ends the process when it is touched.
    fn guarded() -> MmapMut {
        let mut map = MmapMut::map_anon(PAGES_BYTES + 4_096).unwrap();
        let guard = map.as_mut_ptr().wrapping_add(PAGES_BYTES);
        // SAFETY: the page is the mapping's last one, and nobody holds a reference into it.
        assert_eq!(unsafe { libc::mprotect(guard.cast(), 4_096, libc::PROT_NONE) }, 0);
        map
    }

    const PAGES_BYTES: usize = 8_192;
}
