//! The file as memory.
#![allow(unsafe_code)]

use super::reader::Reader;
use super::tally::{Lines, Tally};
use memchr::memchr;
use memmap2::{Mmap, UncheckedAdvice};
use std::fs::File;
use std::io::Result;
use std::path::Path;

/// A mapping, and a search for the ends of lines.
pub(super) struct Mapped {
    map: Mmap,
    at: usize,
}

impl Reader for Mapped {
    fn open(path: &Path) -> Result<Self> {
        let file = File::open(path)?;
        // SAFETY: the file has no name and is written by nobody once it was made.
        let map = unsafe { Mmap::map(&file)? };
        Ok(Self { map, at: 0 })
    }

    fn read(&mut self, sequences: u64) -> Result<Tally> {
        let (tally, read) = by_lines(&self.map[self.at..], sequences);
        self.at += read;
        Ok(tally)
    }

    fn rewind(&mut self) -> Result<()> {
        self.at = 0;
        Ok(())
    }

    fn forget(&mut self) -> Result<()> {
        // SAFETY: the pages are the file's, so that they are read from there again.
        unsafe { self.map.unchecked_advise(UncheckedAdvice::DontNeed) }
    }
}

/// The tally of so many sequences at the beginning of some bytes, and how many bytes these are.
pub(super) fn by_lines(bytes: &[u8], sequences: u64) -> (Tally, usize) {
    let (mut lines, mut at) = (Lines::default(), 0);
    while !lines.has(sequences) {
        let Some(len) = memchr(b'\n', &bytes[at..]) else { break };
        lines.line(&bytes[at..][..len]);
        at += len + 1;
    }
    (lines.tally, at)
}
