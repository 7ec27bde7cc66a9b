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
    const PAGE_BYTES: usize = 4_096;

    /// Copies by `apex` and looks at what is around; both places begin at so many bytes.
    fn check(from: &[u8], to: &mut [u8], len: usize, (begin_from, begin_to): (usize, usize)) {
        let (end_from, end_to) = (begin_from + len, begin_to + len);
        let around = begin_to - AROUND..to.len().min(end_to + AROUND);
        to[around.clone()].fill(CANARY);
        assert!(end_from <= from.len() && end_to <= to.len());
        // SAFETY: both have so many bytes, as was looked at.
        unsafe { apex(to[begin_to..].as_mut_ptr(), from[begin_from..].as_ptr(), len) };
        let case = format!("{len} bytes, {begin_from} to {begin_to}");
        assert!(to[begin_to..end_to] == from[begin_from..end_from], "{case}");
        assert!(to[around.start..begin_to].iter().all(|byte| *byte == CANARY), "before: {case}");
        assert!(to[end_to..around.end].iter().all(|byte| *byte == CANARY), "behind: {case}");
    }

    #[test]
    fn every_length_is_copied_wherever_it_lies_and_nothing_around_it() {
        let [from, to] = guarded(2 * PAGE_BYTES);
        for len in 0..=4_096 {
            for (skip_from, skip_to) in [(0, 0), (1, 0), (0, 1), (7, 9), (15, 63)] {
                check(from, to, len, (skip_from, AROUND + skip_to));
            }
        }
    }

    #[test]
    fn copies_end_at_pages_that_may_not_be_touched() {
        let [from, to] = guarded(3 * PAGE_BYTES);
        let most = from.len();
        for len in 0..=8_192 {
            check(from, to, len, (most - len, most - len));
        }
    }

    /// Past the caches: source or destination end there, the other one up to a register before.
    #[test]
    fn long_copies_end_at_pages_that_may_not_be_touched_wherever_they_begin() {
        let [from, to] = guarded((3 << 20) + PAGE_BYTES);
        let most = from.len();
        let edges = [-1, 0, 1, 15, 16, 17, 63, 64, 65, 127, 128, 129, 4_095, 4_096, 4_097];
        for (bytes, edges) in
            [(PAST_CACHES_BYTES, &edges[..]), (1 << 20, &[-1, 0, 17][..]), (3 << 20, &[-64, 1][..])]
        {
            for len in edges.iter().map(|more| bytes.checked_add_signed(*more).unwrap()) {
                for skip in 0..16 {
                    check(from, to, len, (most - len, most - len - skip));
                    check(from, to, len, (most - len - skip, most - len));
                }
            }
        }
    }

    /// A source of a pattern and a destination, whole pages before one that ends the process when it is touched.
    fn guarded(bytes: usize) -> [&'static mut [u8]; 2] {
        [(); 2].map(|()| {
            let mut map = MmapMut::map_anon(bytes + PAGE_BYTES).unwrap();
            let start = map.as_mut_ptr();
            let guard = start.wrapping_add(bytes);
            // SAFETY: the page is the mapping's last one, and nobody holds a reference into it.
            assert_eq!(unsafe { libc::mprotect(guard.cast(), PAGE_BYTES, libc::PROT_NONE) }, 0);
            std::mem::forget(map);
            // SAFETY: the mapping stays for ever, has so many bytes before the guard, and is given away once.
            let memory = unsafe { std::slice::from_raw_parts_mut(start, bytes) };
            for (at, byte) in memory.iter_mut().enumerate() {
                *byte = (at % 251).to_le_bytes()[0];
            }
            memory
        })
    }
}
