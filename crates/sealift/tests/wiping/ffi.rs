//! An allocator that looks at what it is given back.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A key's first round key is the key itself, so expanded ones are found too.
pub(crate) static KEY: Secret = Secret::new(*b"\xa7\x3c\x91\xe5key to spyon");
/// A plaintext that an engine has fetched from its device.
pub(crate) static FETCHED_TEXT: Secret = Secret::new(*b"\xb1\x5d\x82\xc6text fetched");
/// A plaintext that a device holds.
pub(crate) static QUEUED_TEXT: Secret = Secret::new(*b"\xc4\x6e\x93\xd7text unpolld");
/// A plaintext that another device opens to see whether it was sealed right.
pub(crate) static AUDITED_TEXT: Secret = Secret::new(*b"\xd2\x7f\xa4\xe8text audited");

/// Bytes to look for. Each test has its own, because others run beside it.
pub(crate) struct Secret {
    bytes: [u8; 16],
    freed: AtomicUsize,
}

impl Secret {
    const fn new(bytes: [u8; 16]) -> Self {
        Self { bytes, freed: AtomicUsize::new(0) }
    }

    pub(crate) fn bytes(&'static self) -> &'static [u8; 16] {
        &self.bytes
    }

    /// Blocks that were freed with it in them.
    pub(crate) fn freed_blocks(&self) -> usize {
        self.freed.load(Ordering::SeqCst)
    }

    fn count_in(&self, block: &[u8]) {
        if block.windows(self.bytes.len()).any(|window| window == self.bytes) {
            self.freed.fetch_add(1, Ordering::SeqCst);
        }
    }
}

struct Spy;

#[global_allocator]
static SPY: Spy = Spy;

// SAFETY: everything is passed on to the system's allocator, with zeroed memory, so that every byte of
// a block may be read.
unsafe impl GlobalAlloc for Spy {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the same promise.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller owns the block, which was made with zeros.
        let bytes = unsafe { std::slice::from_raw_parts(block, layout.size()) };
        [&KEY, &FETCHED_TEXT, &QUEUED_TEXT, &AUDITED_TEXT]
            .iter()
            .for_each(|secret| secret.count_in(bytes));
        // SAFETY: the caller keeps the same promise.
        unsafe { System.dealloc(block, layout) }
    }
}
