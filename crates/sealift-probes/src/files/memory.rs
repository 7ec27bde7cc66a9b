//! A file that was loaded whole before anything was held, and is iterated in memory.

use super::mapped::by_lines;
use super::reader::Reader;
use super::tally::{Lines, Tally};
use std::fs;
use std::io::Result;
use std::path::Path;

/// How memory is gone through.
pub(super) trait Walk: Send {
    /// The tally of so many sequences at the beginning of some bytes, and how many bytes these are.
    fn walk(bytes: &[u8], sequences: u64) -> (Tally, usize);
}

/// By lines that are searched.
pub(super) struct ByLine;
/// Byte by byte.
pub(super) struct ByByte;

impl Walk for ByLine {
    fn walk(bytes: &[u8], sequences: u64) -> (Tally, usize) {
        by_lines(bytes, sequences)
    }
}

impl Walk for ByByte {
    fn walk(bytes: &[u8], sequences: u64) -> (Tally, usize) {
        let (mut lines, mut begin, mut at) = (Lines::default(), 0, 0);
        while at < bytes.len() && !lines.has(sequences) {
            if bytes[at] == b'\n' {
                lines.line(&bytes[begin..at]);
                begin = at + 1;
            }
            at += 1;
        }
        (lines.tally, begin)
    }
}

pub(super) struct Loaded<W> {
    bytes: Vec<u8>,
    at: usize,
    walk: std::marker::PhantomData<W>,
}

impl<W: Walk> Reader for Loaded<W> {
    fn open(path: &Path) -> Result<Self> {
        Ok(Self { bytes: fs::read(path)?, at: 0, walk: std::marker::PhantomData })
    }

    fn read(&mut self, sequences: u64) -> Result<Tally> {
        let (tally, read) = W::walk(&self.bytes[self.at..], sequences);
        self.at += read;
        Ok(tally)
    }

    fn rewind(&mut self) -> Result<()> {
        self.at = 0;
        Ok(())
    }
}
