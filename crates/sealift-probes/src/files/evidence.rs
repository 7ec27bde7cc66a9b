//! What the system did while a file was read or written.
#![allow(unsafe_code)]

use crate::ffi::resident_pages;
use memmap2::Mmap;
use rustix::fs::{Advice, fadvise};
use std::fs::File;
use std::io::Result;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Counts of this process since it was started.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    /// Pages that had to come from the disk.
    pub(super) major_faults: u64,
    /// Pages that were mapped without it.
    pub(super) minor_faults: u64,
    /// Times a thread slept.
    pub(super) voluntary_switches: u64,
}

impl Counts {
    pub(super) fn now() -> Self {
        let mut usage = MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: the pointer is to a whole rusage, which the call fills.
        let code = unsafe { libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr()) };
        // SAFETY: zeroed is a valid rusage, and the call wrote another one or nothing.
        let usage = unsafe { usage.assume_init() };
        let count = |value| if code == 0 { u64::try_from(value).unwrap_or(0) } else { 0 };
        Self {
            major_faults: count(usage.ru_majflt),
            minor_faults: count(usage.ru_minflt),
            voluntary_switches: count(usage.ru_nvcsw),
        }
    }

    pub(super) fn add(&mut self, before: Self, after: Self) {
        self.major_faults += after.major_faults - before.major_faults;
        self.minor_faults += after.minor_faults - before.minor_faults;
        self.voluntary_switches += after.voluntary_switches - before.voluntary_switches;
    }
}

/// A file's pages in the page cache.
pub(super) struct Pages {
    file: File,
    map: Mmap,
    page_bytes: usize,
}

impl Pages {
    pub(super) fn of(path: &Path) -> Result<Self> {
        let file = File::open(path)?;
        // SAFETY: the mapping is only asked about, and never read.
        let map = unsafe { Mmap::map(&file)? };
        Ok(Self { file, map, page_bytes: rustix::param::page_size() })
    }

    /// Bytes of the file.
    pub(super) fn len(&self) -> usize {
        self.map.len()
    }

    /// Pages in a range of bytes, and how many of them are in memory.
    pub(super) fn resident(&self, range: Range<usize>) -> Result<(usize, usize)> {
        let begin = range.start - range.start % self.page_bytes;
        let len = range.end.min(self.len()) - begin;
        // SAFETY: the range is within the mapping.
        unsafe { resident_pages(self.map[begin..].as_ptr(), len) }
    }

    /// Takes all pages out of memory that nobody has mapped.
    pub(super) fn evict(&self) -> Result<()> {
        Ok(fadvise(&self.file, 0, None, Advice::DontNeed)?)
    }

    /// Brings a range of bytes into memory.
    pub(super) fn load(&self, range: Range<usize>) -> Result<()> {
        let mut block = vec![0; 1 << 20];
        for at in range.clone().step_by(block.len()) {
            let wanted = block.len().min(range.end - at);
            self.file.read_at(&mut block[..wanted], at as u64)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::hint::black_box;
    use std::io::Write;

    #[test]
    fn pages_are_in_memory_after_a_read_and_may_leave_it() {
        let path = std::env::temp_dir().join(format!("sealift-pages-{}", std::process::id()));
        let mut file = File::create(&path).unwrap();
        file.write_all(&vec![7; 1 << 20]).unwrap();
        file.sync_all().unwrap();
        let pages = Pages::of(&path).unwrap();
        fs::remove_file(&path).unwrap();
        pages.load(0..pages.len()).unwrap();
        let (looked, resident) = pages.resident(0..1 << 20).unwrap();
        assert_eq!((looked, resident), (256, 256));
        assert_eq!(pages.resident(5_000..5_001).unwrap(), (1, 1));
        pages.evict().unwrap();
        // A file system in memory keeps its pages, so that there may be none to see leave.
        assert!(pages.resident(0..1 << 20).unwrap().1 <= 256);
    }

    #[test]
    fn counts_grow_with_what_is_touched() {
        let before = Counts::now();
        // Past 32 MiB the C library never gives pages that it had before.
        drop(black_box(vec![1_u8; 40 << 20]));
        let mut sum = Counts::default();
        sum.add(before, Counts::now());
        assert!(sum.minor_faults > 0, "{sum:?}");
    }
}
