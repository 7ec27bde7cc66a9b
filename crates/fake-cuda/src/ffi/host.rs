//! Memory of the host that both sides write.

use std::ptr;

/// Pinned memory: whoever it was given to reads and writes it by its address.
pub(crate) struct Pinned {
    words: *mut [u64],
    bytes: usize,
}

impl Pinned {
    /// Memory full of one byte.
    pub(crate) fn new(bytes: usize, byte: u8) -> Self {
        let words = vec![u64::from_ne_bytes([byte; 8]); bytes.div_ceil(8)];
        Self { words: Box::into_raw(words.into_boxed_slice()), bytes }
    }

    /// Where it begins.
    pub(crate) fn address(&self) -> usize {
        self.words.cast::<u8>().expose_provenance()
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes
    }

    /// Copies so many bytes from a place on.
    pub(crate) fn read(&self, at: usize, bytes: usize) -> Vec<u8> {
        let mut copied = vec![0; bytes];
        let from = self.place(at, bytes);
        // SAFETY: there are so many bytes, and the copy is somewhere else.
        unsafe { ptr::copy_nonoverlapping(from, copied.as_mut_ptr(), bytes) };
        copied
    }

    /// Writes bytes from a place on.
    pub(crate) fn write(&self, at: usize, bytes: &[u8]) {
        let to = self.place(at, bytes.len());
        // SAFETY: there is room for them, and they are somewhere else.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
    }

    fn place(&self, at: usize, bytes: usize) -> *mut u8 {
        assert!(at <= self.bytes && bytes <= self.bytes - at, "{bytes} bytes at {at}");
        self.words.cast::<u8>().wrapping_add(at)
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // SAFETY: it was a box before, and is one once.
        drop(unsafe { Box::from_raw(self.words) });
    }
}

// SAFETY: memory belongs to no thread.
unsafe impl Send for Pinned {}
