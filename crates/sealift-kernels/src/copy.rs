//! Payload copies.

#[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
use crate::x86_64;

/// Copies `source` to `destination`, which must be as long.
///
/// The C library's `memcpy` is many times as slow on some processors when the destination lies 1 to
/// 15 bytes behind the source modulo 4,096, for copies of 4 KiB to 1 MiB: it uses `rep movsb` there.
/// A 12-byte nonce in front of a payload hits exactly that; the lab's experiment `copy-offsets` says
/// whether this processor is one of them. This copy is a plain loop over the widest registers
/// there, and for all copies of 513 bytes to 64 KiB, which stay in the caches. From 4 MiB on, or an eighth of
/// the largest cache where that is less, its stores go past the caches. Short copies are done on the spot; the
/// rest is the C library's, whose `rep movsb` spares memory the lines that are written whole.
///
/// # Panics
/// When the lengths differ.
#[inline(always)]
pub fn copy(destination: &mut [u8], source: &[u8]) {
    let (to, from) = (destination.len(), source.len());
    assert!(to == from, "a copy of {from} bytes to {to} bytes");
    match to {
        8..=16 => ends::<8>(destination, source),
        17..=32 => ends::<16>(destination, source),
        33..=64 => ends::<32>(destination, source),
        #[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
        65..=512 => x86_64::copy::copy_short(destination, source),
        #[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
        513..CACHED_BYTES => x86_64::copy::copy(destination, source),
        #[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
        CACHED_BYTES.. => long(destination, source),
        _ => destination.copy_from_slice(source),
    }
}

/// Copies one to two times `N` bytes, by the first so many and the last so many.
#[inline(always)]
fn ends<const N: usize>(destination: &mut [u8], source: &[u8]) {
    if let (Some(to), Some(from)) = (destination.first_chunk_mut::<N>(), source.first_chunk()) {
        *to = *from;
    }
    if let (Some(to), Some(from)) = (destination.last_chunk_mut::<N>(), source.last_chunk()) {
        *to = *from;
    }
}

/// Copies by a loop over registers where that is the better copy, or the only good one.
#[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
fn long(destination: &mut [u8], source: &[u8]) {
    let behind = destination.as_ptr().addr().wrapping_sub(source.as_ptr().addr()) % 4_096;
    if destination.len() >= x86_64::copy::bytes_past_caches() {
        x86_64::copy::copy_past_caches(destination, source);
    } else if (1..64).contains(&behind) {
        x86_64::copy::copy(destination, source);
    } else {
        destination.copy_from_slice(source);
    }
}

#[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
const CACHED_BYTES: usize = 64 << 10;
