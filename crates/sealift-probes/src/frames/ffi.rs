//! What needs `unsafe`: memory that two processes have, another process's memory, wide registers.
#![allow(unsafe_code)]

use rustix::io::Errno;
use std::ops::Range;
use std::sync::atomic::AtomicU32;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes of a mapping.
///
/// # Panics
/// The range lies outside.
pub(super) fn bytes(map: &memmap2::MmapRaw, range: Range<usize>) -> &[u8] {
    let start = start(map, &range);
    // SAFETY: the range lies in the mapping, which outlives the slice. The process that writes this region
    // hands a slot over and takes it back by counters, and doesn't touch it in between. Where even that is
    // not to be trusted, as with sealed frames, the batch is marked as shared.
    unsafe { std::slice::from_raw_parts(start, range.len()) }
}

/// Bytes of a mapping, to write to.
///
/// # Panics
/// The range lies outside.
pub(super) fn bytes_mut(map: &mut memmap2::MmapRaw, range: Range<usize>) -> &mut [u8] {
    let start = start(map, &range);
    // SAFETY: the range lies in the mapping, of which this process has one handle, borrowed here; the other
    // process only reads, and only what it was handed.
    unsafe { std::slice::from_raw_parts_mut(start, range.len()) }
}

/// A counter in a mapping; only its writer may store.
///
/// # Panics
/// It lies outside or is not aligned.
pub(super) fn word(map: &memmap2::MmapRaw, at: usize) -> &AtomicU32 {
    let start = start(map, &(at..at + size_of::<AtomicU32>()));
    assert!(at.is_multiple_of(align_of::<AtomicU32>()), "a counter at byte {at}");
    // SAFETY: it lies in the mapping, which begins with a page, and is aligned; both processes take it for
    // an atomic and nothing else.
    unsafe { AtomicU32::from_ptr(start.cast()) }
}

fn start(map: &memmap2::MmapRaw, range: &Range<usize>) -> *mut u8 {
    let inside = range.start <= range.end && range.end <= map.len();
    assert!(inside, "bytes {range:?} of a region of {} bytes", map.len());
    map.as_mut_ptr().wrapping_add(range.start)
}

/// Copies bytes out of another process.
///
/// # Errors
/// The system refuses, or there is nothing at that address.
pub(super) fn read_process(pid: i32, address: usize, to: &mut [u8]) -> Result<(), Errno> {
    let local = libc::iovec { iov_base: to.as_mut_ptr().cast(), iov_len: to.len() };
    let remote =
        libc::iovec { iov_base: std::ptr::without_provenance_mut(address), iov_len: to.len() };
    // SAFETY: the local bytes are borrowed for writing; the others are an address of another process,
    // which the kernel checks.
    let read = unsafe { libc::process_vm_readv(pid, &raw const local, 1, &raw const remote, 1, 0) };
    match usize::try_from(read) {
        Ok(read) if read == to.len() => Ok(()),
        Ok(_) => Err(Errno::FAULT),
        Err(_) => Err(errno()),
    }
}

/// A process that may read this one's memory where the system lets only ancestors do so. Dropping it takes
/// that back: its number can become somebody else's.
pub(super) struct Reader(i32);

impl Reader {
    /// One that may not read yet.
    pub(super) fn of(pid: i32) -> Self {
        Self(pid)
    }

    /// Lets it read, and nobody else any more: the system knows one such process.
    pub(super) fn admit(&self) {
        set_reader(&mut admitted(), self.0);
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let mut admitted = admitted();
        if *admitted == self.0 {
            set_reader(&mut admitted, NOBODY);
        }
    }
}

/// Held while the system is told, so that it and this say the same.
fn admitted() -> MutexGuard<'static, i32> {
    static ADMITTED: Mutex<i32> = Mutex::new(NOBODY);
    ADMITTED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn set_reader(admitted: &mut i32, pid: i32) {
    *admitted = pid;
    // SAFETY: the call takes numbers only. Where there is no such restriction it fails, and nothing is
    // missing.
    unsafe { libc::prctl(libc::PR_SET_PTRACER, i64::from(pid), 0, 0, 0) };
}

const NOBODY: i32 = 0;

fn errno() -> Errno {
    let code = std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO);
    Errno::from_raw_os_error(code)
}

#[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
pub(super) use x86_64::{WideLanes, wide_lanes};

#[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
mod x86_64 {
    use super::super::content;

    pub(in super::super) type WideLanes =
        (fn(&mut [u8], &[u8], [u8; 8]), fn(&[u8], &[u8], [u8; 8]) -> bool);

    /// The loops on 512 bits, or on 256, or none.
    pub(in super::super) fn wide_lanes() -> Option<WideLanes> {
        if is_x86_feature_detected!("avx512f") {
            return Some((
                // SAFETY: the processor was asked for AVX-512F just above.
                |frame, pattern, word| unsafe { fill_512(frame, pattern, word) },
                // SAFETY: the processor was asked for AVX-512F just above.
                |frame, pattern, word| unsafe { is_same_512(frame, pattern, word) },
            ));
        }
        if is_x86_feature_detected!("avx2") {
            return Some((
                // SAFETY: the processor was asked for AVX2 just above.
                |frame, pattern, word| unsafe { fill_256(frame, pattern, word) },
                // SAFETY: the processor was asked for AVX2 just above.
                |frame, pattern, word| unsafe { is_same_256(frame, pattern, word) },
            ));
        }
        None
    }

    #[target_feature(enable = "avx512f")]
    fn fill_512(frame: &mut [u8], pattern: &[u8], word: [u8; 8]) {
        content::fill(frame, pattern, word);
    }

    #[target_feature(enable = "avx512f")]
    fn is_same_512(frame: &[u8], pattern: &[u8], word: [u8; 8]) -> bool {
        content::is_same(frame, pattern, word)
    }

    #[target_feature(enable = "avx2")]
    fn fill_256(frame: &mut [u8], pattern: &[u8], word: [u8; 8]) {
        content::fill(frame, pattern, word);
    }

    #[target_feature(enable = "avx2")]
    fn is_same_256(frame: &[u8], pattern: &[u8], word: [u8; 8]) -> bool {
        content::is_same(frame, pattern, word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_may_read_may_no_longer_when_its_process_is_given_up() {
        // None of them is a process: the system refuses, or takes the number for later.
        let (first, second) = (Reader::of(i32::MAX), Reader::of(i32::MAX - 1));
        first.admit();
        second.admit();
        drop(first);
        assert_eq!(*admitted(), i32::MAX - 1, "it is another one that may");
        let unadmitted = Reader::of(i32::MAX);
        drop(unadmitted);
        assert_eq!(*admitted(), i32::MAX - 1);
        drop(second);
        assert_eq!(*admitted(), NOBODY);
    }
}
