//! Memory of which one byte changes at the moment another is read for the first time.
//!
//! The page that begins with the other byte is inaccessible. Reading it is a fault whose handler changes the byte,
//! through a second mapping of the same pages, and makes the page readable.

use super::{install_handler, map_inaccessible, page_bytes, protect};
use std::io::Error;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes in pages that are mapped twice: readable for a device, writable for its tester.
pub(crate) struct Wired {
    device: NonNull<u8>,
    tester: NonNull<u8>,
    map_len: usize,
    start: usize,
    len: usize,
    wire: usize,
}

// SAFETY: it owns its mappings alone, like a Vec.
unsafe impl Send for Wired {}
// SAFETY: shared references read; what changes a byte is volatile and expected by readers.
unsafe impl Sync for Wired {}

impl Wired {
    /// Holds bytes, of which number `wire` begins a page.
    pub(crate) fn holding(bytes: &[u8], wire: usize) -> Self {
        assert!(wire < bytes.len(), "byte {wire} of {}", bytes.len());
        let page = page_bytes();
        let start = wire.next_multiple_of(page) - wire;
        let map_len = (start + bytes.len()).next_multiple_of(page);
        let (device, tester) = map_twice(map_len);
        // SAFETY: `start` and as many bytes behind it are inside the mapping.
        let first = unsafe { tester.add(start) };
        // SAFETY: the pages are writable here, new, and nobody else's.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), first.as_ptr(), bytes.len()) };
        Self { device, tester, map_len, start, len: bytes.len(), wire }
    }

    /// From now on reading the wire flips bits of another byte, once.
    pub(crate) fn arm(&self, changes: usize, mask: u8) -> Armed<'_> {
        assert!(changes < self.len, "byte {changes} of {}", self.len);
        install_handler();
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let page = self.page();
        // SAFETY: inside the mapping.
        let target = unsafe { self.tester.add(self.start + changes) };
        TARGET.store(target.as_ptr(), Ordering::SeqCst);
        MASK.store(mask, Ordering::SeqCst);
        SPRUNG.store(false, Ordering::SeqCst);
        PAGE_BYTES.store(page_bytes(), Ordering::SeqCst);
        PAGE.store(page.as_ptr() as usize, Ordering::SeqCst);
        protect(page, page_bytes(), libc::PROT_NONE);
        Armed { memory: self, _alone: alone }
    }

    /// The page that begins with the wire.
    fn page(&self) -> NonNull<u8> {
        // SAFETY: inside the mapping.
        unsafe { self.device.add(self.start + self.wire) }
    }
}

impl AsRef<[u8]> for Wired {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: inside the mapping.
        let first = unsafe { self.device.add(self.start) };
        // SAFETY: the mapping lives as long as `self`; readers are told that its bytes may change.
        unsafe { std::slice::from_raw_parts(first.as_ptr(), self.len) }
    }
}

impl Drop for Wired {
    fn drop(&mut self) {
        for map in [self.device, self.tester] {
            // SAFETY: this mapping was made with this length and is used by nobody any more.
            let failed = unsafe { libc::munmap(map.as_ptr().cast(), self.map_len) };
            debug_assert_eq!(failed, 0, "{}", Error::last_os_error());
        }
    }
}

/// While it lives, the wire is armed. There is one at a time.
pub(crate) struct Armed<'a> {
    memory: &'a Wired,
    _alone: MutexGuard<'static, ()>,
}

impl Armed<'_> {
    /// Whether the wire was read.
    pub(crate) fn is_sprung(&self) -> bool {
        SPRUNG.load(Ordering::SeqCst)
    }
}

impl Drop for Armed<'_> {
    fn drop(&mut self) {
        protect(self.memory.page(), page_bytes(), libc::PROT_READ);
        PAGE.store(0, Ordering::SeqCst);
    }
}

/// The armed page; 0 for none.
static PAGE: AtomicUsize = AtomicUsize::new(0);
static PAGE_BYTES: AtomicUsize = AtomicUsize::new(0);
static TARGET: AtomicPtr<u8> = AtomicPtr::new(ptr::null_mut());
static MASK: AtomicU8 = AtomicU8::new(0);
static SPRUNG: AtomicBool = AtomicBool::new(false);
static ALONE: Mutex<()> = Mutex::new(());

/// Whether a fault at this address was the wire. Then the byte has changed and the page is readable. Called by the
/// handler: no lock, no allocation.
pub(super) fn spring(address: usize) -> bool {
    let (page, page_bytes) = (PAGE.load(Ordering::SeqCst), PAGE_BYTES.load(Ordering::SeqCst));
    if page == 0 || !(page..page + page_bytes).contains(&address) {
        return false;
    }
    // Of several threads that read it one changes the byte.
    if !SPRUNG.swap(true, Ordering::SeqCst) {
        let (target, mask) = (TARGET.load(Ordering::SeqCst), MASK.load(Ordering::SeqCst));
        // SAFETY: armed memory is mapped.
        let before = unsafe { ptr::read_volatile(target) };
        // SAFETY: armed memory is mapped, and writable through this mapping.
        unsafe { ptr::write_volatile(target, before ^ mask) };
    }
    // SAFETY: the page is of armed memory, and this call is safe in a handler.
    let failed = unsafe { libc::mprotect(page as *mut libc::c_void, page_bytes, libc::PROT_READ) };
    failed == 0
}

/// The same new pages, for reading and for writing.
fn map_twice(len: usize) -> (NonNull<u8>, NonNull<u8>) {
    // SAFETY: a name of static life.
    let file = unsafe { libc::memfd_create(c"sealift-wired".as_ptr(), libc::MFD_CLOEXEC) };
    assert!(file >= 0, "memfd_create: {}", Error::last_os_error());
    let bytes = libc::off_t::try_from(len).expect("a few pages");
    // SAFETY: the descriptor is this function's own.
    let failed = unsafe { libc::ftruncate(file, bytes) };
    assert_eq!(failed, 0, "ftruncate to {len}: {}", Error::last_os_error());
    let maps = [libc::PROT_READ, libc::PROT_READ | libc::PROT_WRITE].map(|protection| {
        let map = map_inaccessible(len);
        let (flags, at) = (libc::MAP_SHARED | libc::MAP_FIXED, map.as_ptr().cast());
        // SAFETY: replaces the mapping that was made for this.
        let mapped = unsafe { libc::mmap(at, len, protection, flags, file, 0) };
        assert_ne!(mapped, libc::MAP_FAILED, "mmap of {len} bytes: {}", Error::last_os_error());
        map
    });
    // SAFETY: the mappings stay; the descriptor is not used again.
    unsafe { libc::close(file) };
    (maps[0], maps[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_changes_when_the_wire_is_read_and_not_before() {
        for wire in [1, 3, 4_999] {
            let memory = Wired::holding(&[7; 5_000], wire);
            let read = |at: usize| {
                let byte = &raw const memory.as_ref()[at];
                // SAFETY: a byte of a slice.
                unsafe { ptr::read_volatile(byte) }
            };
            for _ in 0..2 {
                let before = read(0);
                let armed = memory.arm(0, 4);
                assert_eq!((read(0), armed.is_sprung()), (before, false));
                assert_eq!((read(wire), armed.is_sprung()), (7, true));
                assert_eq!((read(0), read(wire)), (before ^ 4, 7));
            }
        }
    }
}
