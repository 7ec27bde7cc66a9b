//! Copies by a plain loop over registers.
#![allow(unsafe_code)]

use core::arch::{asm, x86_64::*};
use std::fs;
use std::sync::OnceLock;

/// What the loops need: twice what the widest of them copies at once.
const BYTES_MIN: usize = 512;

/// Copies between slices of the same length, 128 to 256 bytes, in the fewest registers.
pub(crate) fn copy_short(destination: &mut [u8], source: &[u8]) {
    let len = destination.len();
    assert!((128..=256).contains(&len) && len == source.len(), "checked by the caller");
    let (to, from) = (destination.as_mut_ptr(), source.as_ptr());
    if std::arch::is_x86_feature_detected!("avx512f") {
        // SAFETY: the processor has the instructions, and both slices have `len` bytes.
        unsafe { short_512(to, from, len) }
    } else if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has the instructions, and both slices have `len` bytes.
        unsafe { short_256(to, from, len) }
    } else {
        destination.copy_from_slice(source);
    }
}

/// Writes a copy by its first 128 bytes and its last 128 bytes, the registers of each by number.
macro_rules! short {
    ($name:ident, $feature:literal, $register:ty, $load:ident, $store:ident, $($at:literal),*) => {
        /// # Safety
        /// Both are valid for `len` bytes, at least 128, and don't overlap.
        #[target_feature(enable = $feature)]
        unsafe fn $name(to: *mut u8, from: *const u8, len: usize) {
            const BYTES: usize = size_of::<$register>();
            let copy = |at: usize| {
                // SAFETY: `at` is at least a register away from the end.
                let register = unsafe { $load(from.wrapping_add(at).cast()) };
                // SAFETY: as above, and where it was loaded from in the other one.
                unsafe { $store(to.wrapping_add(at).cast(), register) };
            };
            $(copy($at * BYTES);)*
            $(copy(len - 128 + $at * BYTES);)*
        }
    };
}

short!(short_512, "avx512f", __m512i, _mm512_loadu_si512, _mm512_storeu_si512, 0, 1);
short!(short_256, "avx2", __m256i, _mm256_loadu_si256, _mm256_storeu_si256, 0, 1, 2, 3);

/// Copies between slices of the same length, at least [`BYTES_MIN`].
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

/// The same, with stores past the caches where the copy would fill a good part of them.
pub(crate) fn copy_long(destination: &mut [u8], source: &[u8]) {
    if destination.len() < cache_bytes() / 8 {
        copy(destination, source);
    } else {
        copy_past_caches(destination, source);
    }
}

fn copy_past_caches(destination: &mut [u8], source: &[u8]) {
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
    // SAFETY: it touches no memory; behind it other threads see those stores in their order, too.
    unsafe { asm!("sfence", options(nostack, preserves_flags)) };
}

/// Bytes of the largest cache, as the system tells; where it doesn't, no copy is as long.
fn cache_bytes() -> usize {
    static BYTES: OnceLock<usize> = OnceLock::new();
    *BYTES.get_or_init(|| {
        let caches = (0..CACHES_MAX).map_while(|cache| {
            fs::read_to_string(format!("/sys/devices/system/cpu/cpu0/cache/index{cache}/size")).ok()
        });
        caches.filter_map(|size| kib(&size)).max().map_or(usize::MAX, |kib| kib << 10)
    })
}

/// As in `307200K`.
fn kib(size: &str) -> Option<usize> {
    size.trim_end().strip_suffix('K')?.parse().ok()
}

const CACHES_MAX: usize = 8;

/// Writes the loop for one kind of register: the first register, four at a time to aligned places by
/// `$stream`, and at the end single ones that may overlap what is already there.
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
            while at + 4 * BYTES <= len {
                let [a, b, c, d] = [0, 1, 2, 3].map(|i| at + i * BYTES);
                let registers = (load(a), load(b), load(c), load(d));
                stream(a, registers.0);
                stream(b, registers.1);
                stream(c, registers.2);
                stream(d, registers.3);
                at += 4 * BYTES;
            }
            while at + BYTES <= len {
                store(at, load(at));
                at += BYTES;
            }
            store(len - BYTES, load(len - BYTES));
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
copier!(
    copy_512,
    "avx512f",
    zmm_reg,
    __m512i,
    _mm512_loadu_si512,
    _mm512_storeu_si512,
    _mm512_store_si512
);
copier!(
    stream_512,
    "avx512f",
    zmm_reg,
    __m512i,
    _mm512_loadu_si512,
    _mm512_storeu_si512,
    _mm512_stream_si512
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_width_copies_every_length_at_every_offset() {
        let source: Vec<u8> =
            (0..6_000_u32).map(|i| i.wrapping_mul(2_654_435_761).to_be_bytes()[0]).collect();
        for (name, copier) in copiers() {
            for len in (BYTES_MIN..1_200).chain(4_080..4_200) {
                for (to, from) in [(0, 0), (1, 0), (0, 1), (63, 12), (12, 64), (17, 5)] {
                    let mut destination = vec![0xee; len + 200];
                    copier(&mut destination[to..to + len], &source[from..from + len]);
                    let (before, rest) = destination.split_at(to);
                    let (copied, after) = rest.split_at(len);
                    assert!(copied == &source[from..from + len], "{name} {len} {to} {from}");
                    assert!(before.iter().chain(after).all(|byte| *byte == 0xee), "{name} {len}");
                }
            }
        }
    }

    #[test]
    fn the_largest_cache_is_one_that_processors_have() {
        assert_eq!(
            [kib("307200K\n"), kib("48K"), kib("K"), kib("5M")],
            [Some(307_200), Some(48), None, None]
        );
        let bytes = cache_bytes();
        assert!(bytes == usize::MAX || (16 << 10..16 << 30).contains(&bytes), "{bytes}");
    }

    #[test]
    fn every_width_copies_every_short_length_at_once() {
        let source: Vec<u8> = (0..=255).rev().chain(0..=255).collect();
        let mut shorts: Vec<(&str, Copier)> = vec![("any", copy_short)];
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: just detected, and the slices have the same length.
            shorts.push(("avx2", |to, from| unsafe {
                short_256(to.as_mut_ptr(), from.as_ptr(), to.len());
            }));
        }
        if std::arch::is_x86_feature_detected!("avx512f") {
            // SAFETY: just detected, and the slices have the same length.
            shorts.push(("avx512f", |to, from| unsafe {
                short_512(to.as_mut_ptr(), from.as_ptr(), to.len());
            }));
        }
        for (name, copier) in shorts {
            for (len, at) in (128..=256).flat_map(|len| [(len, 0), (len, 13), (len, 63)]) {
                let mut destination = vec![0xee; 400];
                copier(&mut destination[at..at + len], &source[5..5 + len]);
                assert!(destination[at..at + len] == source[5..5 + len], "{name} {len} {at}");
                let beside = destination[..at].iter().chain(&destination[at + len..]);
                assert!(beside.into_iter().all(|byte| *byte == 0xee), "{name} {len} {at}");
            }
        }
    }

    type Copier = fn(&mut [u8], &[u8]);

    /// The copiers this processor can run; says which are left out.
    fn copiers() -> Vec<(&'static str, Copier)> {
        let mut copiers: Vec<(&'static str, Copier)> = vec![
            ("sse2", |to, from| {
                // SAFETY: every x86-64 processor has SSE2, and the slices have the same length.
                unsafe { copy_128(to.as_mut_ptr(), from.as_ptr(), to.len()) }
            }),
            ("sse2 past the caches", |to, from| {
                // SAFETY: as above.
                unsafe { stream_128(to.as_mut_ptr(), from.as_ptr(), to.len()) }
            }),
            ("any", copy),
            ("any past the caches", copy_past_caches),
        ];
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: just detected, and the slices have the same length.
            copiers.push(("avx2", |to, from| unsafe {
                copy_256(to.as_mut_ptr(), from.as_ptr(), to.len());
            }));
            // SAFETY: as above.
            copiers.push(("avx2 past the caches", |to, from| unsafe {
                stream_256(to.as_mut_ptr(), from.as_ptr(), to.len());
            }));
        } else {
            eprintln!("avx2 copies are not tested: this processor lacks avx2");
        }
        if std::arch::is_x86_feature_detected!("avx512f") {
            // SAFETY: just detected, and the slices have the same length.
            copiers.push(("avx512f", |to, from| unsafe {
                copy_512(to.as_mut_ptr(), from.as_ptr(), to.len());
            }));
        } else {
            eprintln!("avx512f copies are not tested: this processor lacks avx512f");
        }
        copiers
    }
}
