//! Where the bytes of an arm lie: alike for all arms, so that placement is no part of a comparison.

use memmap2::{Advice, MmapMut, MmapOptions};
use std::ops::{Deref, DerefMut};

/// Zeroed bytes. From a page on they begin with a page, and from half a huge page on with a huge one,
/// which the kernel is asked to give.
///
/// IMPLEMENTATION NOTE: from an allocator the buffers of the arm prepared first come from fresh pages,
/// those of the second from a heap, at another distance between input and output. Of two arms of the
/// same code on 1,024 messages of 16 KiB the second then looked 3 to 5 % faster or slower, each time
/// the same (AMD EPYC).
pub struct Memory(Place);

enum Place {
    Heap(Vec<u8>),
    Pages { map: MmapMut, start: usize, len: usize },
}

impl Memory {
    /// So many zeros.
    #[must_use]
    pub fn zeroed(len: usize) -> Self {
        Self(Place::pages(len).unwrap_or_else(|| Place::Heap(vec![0; len])))
    }

    /// A copy of bytes.
    #[must_use]
    pub fn holding(bytes: &[u8]) -> Self {
        let mut memory = Self::zeroed(bytes.len());
        memory.copy_from_slice(bytes);
        memory
    }
}

impl Place {
    /// Nothing for few bytes, and where the system has no more pages to map: an allocator ends the
    /// process then, or has some left.
    fn pages(len: usize) -> Option<Self> {
        if len < PAGE_BYTES {
            return None;
        }
        let huge = len >= HUGE_PAGE_BYTES / 2;
        let whole = if huge { len.checked_next_multiple_of(HUGE_PAGE_BYTES)? } else { len };
        let spare = if huge { HUGE_PAGE_BYTES } else { 0 };
        let map = MmapOptions::new().len(whole.checked_add(spare)?).map_anon().ok()?;
        let start = if huge { map.as_ptr().align_offset(HUGE_PAGE_BYTES) } else { 0 };
        if huge {
            // A kernel without huge pages refuses, and small ones do, too.
            drop(map.advise_range(Advice::HugePage, start, whole));
        }
        Some(Self::Pages { map, start, len })
    }
}

impl Deref for Memory {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.0 {
            Place::Heap(bytes) => bytes,
            Place::Pages { map, start, len } => &map[*start..][..*len],
        }
    }
}

impl DerefMut for Memory {
    fn deref_mut(&mut self) -> &mut [u8] {
        match &mut self.0 {
            Place::Heap(bytes) => bytes,
            Place::Pages { map, start, len } => &mut map[*start..][..*len],
        }
    }
}

impl AsRef<[u8]> for Memory {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

const PAGE_BYTES: usize = 4 << 10;
const HUGE_PAGE_BYTES: usize = 2 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_begins_with_a_page_and_large_memory_with_a_huge_one() {
        for (len, align) in [(0, 1), (1, 1), (4_096, 4_096), (100_001, 4_096)] {
            let memory = Memory::zeroed(len);
            assert_eq!(memory.as_ptr().align_offset(align), 0, "{len} bytes");
            assert_eq!(*memory, vec![0; len]);
        }
        for len in [1 << 20, (2 << 20) + 1, 5 << 20] {
            let mut memory = Memory::zeroed(len);
            assert_eq!(memory.as_ptr().align_offset(HUGE_PAGE_BYTES), 0, "{len} bytes");
            memory.fill(7);
            assert_eq!(*memory, vec![7; len]);
        }
        assert_eq!(*Memory::holding(&[1, 2, 3]), [1, 2, 3]);
    }
}
