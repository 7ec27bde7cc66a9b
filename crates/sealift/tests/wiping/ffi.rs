//! An allocator that looks at what it is given back.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The key to look for. A key's first round key is the key itself, so expanded ones are found too.
pub(crate) const PATTERN: [u8; 16] = *b"\xa7\x3c\x91\xe5key to spyon";

/// Blocks that were freed with the key in them.
pub(crate) fn keys_freed() -> usize {
    FREED.load(Ordering::SeqCst)
}

static FREED: AtomicUsize = AtomicUsize::new(0);

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
        if bytes.windows(PATTERN.len()).any(|window| window == PATTERN) {
            FREED.fetch_add(1, Ordering::SeqCst);
        }
        // SAFETY: the caller keeps the same promise.
        unsafe { System.dealloc(block, layout) }
    }
}
