//! Copies by a plain loop over registers.
#![allow(unsafe_code)]

use core::arch::{asm, x86_64::*};
use std::fs;
use std::path::Path;
use std::sync::OnceLock;

/// What the loops need: twice what the widest of them copies at once.
const BYTES_MIN: usize = 512;

/// Copies between slices of the same length, 65 to 512 bytes, in the fewest registers.
#[inline(always)]
pub(crate) fn copy_short(destination: &mut [u8], source: &[u8]) {
    let len = destination.len();
    assert!((65..=512).contains(&len) && len == source.len(), "checked by the caller");
    let (to, from) = (destination.as_mut_ptr(), source.as_ptr());
    if !std::arch::is_x86_feature_detected!("avx512f") {
        destination.copy_from_slice(source);
    } else if len <= 128 {
        // SAFETY: the processor has the instructions, and both slices have `len` bytes, more than one register.
        unsafe { ends_2(to, from, len) }
    } else if len <= 256 {
        // SAFETY: as above, more than two registers.
        unsafe { ends_4(to, from, len) }
    } else {
        // SAFETY: as above, more than four registers.
        unsafe { ends_8(to, from, len) }
    }
}

/// Writes a copy by half of the registers from the first byte on and half of them up to the last. Registers from 16 on have
/// no part that older instructions know, so that nothing has to be cleared behind them.
macro_rules! ends {
    ($name:ident: $($first:tt $last:tt $at:literal $back:literal),*) => {
        /// # Safety
        /// The processor has AVX-512, and both are valid for `len` bytes, at least half of those of the registers, and don't overlap.
        #[inline(always)]
        unsafe fn $name(to: *mut u8, from: *const u8, len: usize) {
            // SAFETY: the first registers end before `len`, and the last begin behind the first byte.
            unsafe {
                asm!(
                    $(concat!("vmovdqu64 ", $first, ", [{from} + ", $at, "]"),)*
                    $(concat!("vmovdqu64 ", $last, ", [{from} + {len} - ", $back, "]"),)*
                    $(concat!("vmovdqu64 [{to} + ", $at, "], ", $first),)*
                    $(concat!("vmovdqu64 [{to} + {len} - ", $back, "], ", $last),)*
                    from = in(reg) from,
                    to = in(reg) to,
                    len = in(reg) len,
                    $(out($first) _, out($last) _,)*
                    options(nostack, preserves_flags),
                );
            }
        }
    };
}

ends!(ends_2: "zmm16" "zmm17" 0 64);
ends!(ends_4: "zmm16" "zmm18" 0 128, "zmm17" "zmm19" 64 64);
ends!(ends_8: "zmm16" "zmm20" 0 256, "zmm17" "zmm21" 64 192, "zmm18" "zmm22" 128 128, "zmm19" "zmm23" 192 64);

/// Copies between slices of the same length, at least [`BYTES_MIN`].
#[inline(always)]
pub(crate) fn copy(destination: &mut [u8], source: &[u8]) {
    let len = destination.len();
    assert!(len >= BYTES_MIN && len == source.len(), "checked by the caller");
    let (to, from) = (destination.as_mut_ptr(), source.as_ptr());
    if std::arch::is_x86_feature_detected!("avx512f") {
        // SAFETY: the processor has the instructions, and both slices have `len` bytes.
        unsafe { copy_512(to, from, len) }
    } else if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has the instructions, and both slices have `len` bytes.
        unsafe { copy_256(to, from, len) }
    } else {
        // SAFETY: every x86-64 processor has SSE2, and both slices have `len` bytes.
        unsafe { copy_128(to, from, len) }
    }
}

/// From how many bytes on a copy goes past the caches: where it would fill a good part of the largest, and with so many that those
/// of one core don't hold them.
pub(crate) fn bytes_past_caches() -> usize {
    past_caches_of(cache_bytes())
}

fn past_caches_of(cache_bytes: usize) -> usize {
    (cache_bytes / 8).clamp(BYTES_MIN, 4 << 20)
}

/// Copies between slices of the same length, at least [`BYTES_MIN`], with stores past the caches.
pub(crate) fn copy_past_caches(destination: &mut [u8], source: &[u8]) {
    let len = destination.len();
    assert!(len >= BYTES_MIN && len == source.len(), "checked by the caller");
    let (to, from) = (destination.as_mut_ptr(), source.as_ptr());
    if std::arch::is_x86_feature_detected!("avx512f") {
        // SAFETY: the processor has the instructions, and both slices have `len` bytes.
        unsafe { stream_512(to, from, len) }
    } else if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has the instructions, and both slices have `len` bytes.
        unsafe { stream_256(to, from, len) }
    } else {
        // SAFETY: every x86-64 processor has SSE2, and both slices have `len` bytes.
        unsafe { stream_128(to, from, len) }
    }
    fence();
}

/// Other threads see stores past the caches before those that follow.
#[inline(always)]
pub(crate) fn fence() {
    // SAFETY: it touches no memory. The compiler is to think that it does, and to move nothing across.
    unsafe { asm!("sfence", options(nostack, preserves_flags)) };
}

/// Bytes of the largest cache, as the system tells; where it doesn't, more than any cache has.
pub(crate) fn cache_bytes() -> usize {
    static BYTES: OnceLock<usize> = OnceLock::new();
    *BYTES.get_or_init(|| largest_below(Path::new(CACHES)))
}

fn largest_below(caches: &Path) -> usize {
    let sizes = (0..CACHES_MAX)
        .map_while(|cache| fs::read_to_string(caches.join(format!("index{cache}/size"))).ok());
    sizes.filter_map(|size| kib(&size)).max().map_or(usize::MAX, |kib| kib << 10)
}

/// As in `307200K`.
fn kib(size: &str) -> Option<usize> {
    size.trim_end().strip_suffix('K')?.parse().ok()
}

const CACHES: &str = "/sys/devices/system/cpu/cpu0/cache";
const CACHES_MAX: usize = 8;

/// Writes the loop for one kind of register: the first register, four at a time to aligned places by
/// `$stream`, and the last four, which may overlap what is already there.
macro_rules! copier {
    ($name:ident, $feature:literal, $class:ident, $register:ty, $load:ident, $store:ident, $stream:ident) => {
        /// # Safety
        /// Both are valid for `len` bytes, at least 4 registers, and don't overlap.
        #[target_feature(enable = $feature)]
        unsafe fn $name(to: *mut u8, from: *const u8, len: usize) {
            const BYTES: usize = size_of::<$register>();
            let load = |at: usize| {
                // SAFETY: `at` is at least a register away from the end.
                let mut register = unsafe { $load(from.wrapping_add(at).cast()) };
                // SAFETY: no instruction is emitted; it hides from the compiler that this loop is
                // a copy, which it would otherwise turn into a call of `memcpy`.
                unsafe {
                    asm!("/* {0} */", inout($class) register, options(nomem, nostack, preserves_flags));
                }
                register
            };
            let store = |at: usize, register: $register| {
                // SAFETY: `at` is at least a register away from the end.
                unsafe { $store(to.wrapping_add(at).cast(), register) }
            };
            let stream = |at: usize, register: $register| {
                // SAFETY: `at` is at least a register away from the end, and its place is aligned.
                unsafe { $stream(to.wrapping_add(at).cast(), register) }
            };
            store(0, load(0));
            let mut at = BYTES - to.addr() % BYTES;
            while at + 4 * BYTES < len {
                let [a, b, c, d] = [0, 1, 2, 3].map(|i| at + i * BYTES);
                let registers = (load(a), load(b), load(c), load(d));
                stream(a, registers.0);
                stream(b, registers.1);
                stream(c, registers.2);
                stream(d, registers.3);
                at += 4 * BYTES;
            }
            let [a, b, c, d] = [4, 3, 2, 1].map(|i| len - i * BYTES);
            let registers = (load(a), load(b), load(c), load(d));
            store(a, registers.0);
            store(b, registers.1);
            store(c, registers.2);
            store(d, registers.3);
        }
    };
}

copier!(copy_128, "sse2", xmm_reg, __m128i, _mm_loadu_si128, _mm_storeu_si128, _mm_store_si128);
copier!(stream_128, "sse2", xmm_reg, __m128i, _mm_loadu_si128, _mm_storeu_si128, _mm_stream_si128);
copier!(
    copy_256,
    "avx2",
    ymm_reg,
    __m256i,
    _mm256_loadu_si256,
    _mm256_storeu_si256,
    _mm256_store_si256
);
copier!(
    stream_256,
    "avx2",
    ymm_reg,
    __m256i,
    _mm256_loadu_si256,
    _mm256_storeu_si256,
    _mm256_stream_si256
);
/// Writes the loop for registers of 64 bytes, by hand as the compiler's would use those that have to be cleared.
macro_rules! copier_512 {
    ($name:ident, $stream:literal) => {
        /// # Safety
        /// The processor has AVX-512, and both are valid for `len` bytes, at least 320, and don't overlap.
        #[inline(always)]
        unsafe fn $name(to: *mut u8, from: *const u8, len: usize) {
            // SAFETY: the first turn reaches byte 320 at most, each other one begins 256 bytes before `len` at least, and the
            // rest are the first and the last bytes.
            unsafe {
                asm!(
                    "vmovdqu64 zmm16, [{from}]",
                    "vmovdqu64 zmm20, [{from} + {end}]",
                    "vmovdqu64 zmm21, [{from} + {end} + 64]",
                    "vmovdqu64 zmm22, [{from} + {end} + 128]",
                    "vmovdqu64 zmm23, [{from} + {end} + 192]",
                    "vmovdqu64 [{to}], zmm16",
                    ".p2align 4",
                    "2:",
                    "vmovdqu64 zmm16, [{from} + {at}]",
                    "vmovdqu64 zmm17, [{from} + {at} + 64]",
                    "vmovdqu64 zmm18, [{from} + {at} + 128]",
                    "vmovdqu64 zmm19, [{from} + {at} + 192]",
                    concat!($stream, " [{to} + {at}], zmm16"),
                    concat!($stream, " [{to} + {at} + 64], zmm17"),
                    concat!($stream, " [{to} + {at} + 128], zmm18"),
                    concat!($stream, " [{to} + {at} + 192], zmm19"),
                    "add {at}, 256",
                    "cmp {at}, {end}",
                    "jb 2b",
                    "vmovdqu64 [{to} + {end}], zmm20",
                    "vmovdqu64 [{to} + {end} + 64], zmm21",
                    "vmovdqu64 [{to} + {end} + 128], zmm22",
                    "vmovdqu64 [{to} + {end} + 192], zmm23",
                    from = in(reg) from,
                    to = in(reg) to,
                    end = in(reg) len - 256,
                    at = inout(reg) 64 - to.addr() % 64 => _,
                    out("zmm16") _, out("zmm17") _, out("zmm18") _, out("zmm19") _,
                    out("zmm20") _, out("zmm21") _, out("zmm22") _, out("zmm23") _,
                    options(nostack),
                );
            }
        }
    };
}

copier_512!(copy_512, "vmovdqa64");
copier_512!(stream_512, "vmovntdq");

#[cfg(test)]
mod tests;
