//! A line or a block a call.
#![allow(unsafe_code)]

use super::reader::Reader;
use super::stdio::Stream;
use super::tally::{Lines, Tally};
use memchr::memchr;
use std::fs::File;
use std::io::{Read, Result, Seek, SeekFrom};
use std::path::Path;
use std::ptr;

/// `fgets` into a buffer of its own.
pub(super) struct Fgets {
    stream: Stream,
    line: Box<[u8; LINE_BYTES as usize]>,
}

impl Reader for Fgets {
    fn open(path: &Path) -> Result<Self> {
        Ok(Self { stream: Stream::open(path, c"r")?, line: Box::new([0; LINE_BYTES as usize]) })
    }

    fn read(&mut self, sequences: u64) -> Result<Tally> {
        let mut lines = Lines::default();
        while !lines.has(sequences) {
            let (line, size) = (self.line.as_mut_ptr().cast(), LINE_BYTES);
            // SAFETY: the line has room for as many bytes as are named, and the stream is open.
            let got = unsafe { libc::fgets(line, size, self.stream.as_ptr()) };
            let Some(end) = (!got.is_null()).then(|| memchr(b'\n', &*self.line)).flatten() else {
                self.stream.end()?;
                break;
            };
            lines.line(&self.line[..end]);
        }
        Ok(lines.tally)
    }

    fn rewind(&mut self) -> Result<()> {
        self.stream.rewind()
    }
}

/// `getline`, whose buffer grows as it needs.
pub(super) struct Getline {
    stream: Stream,
    line: *mut libc::c_char,
    room: libc::size_t,
}

// SAFETY: the buffer has one owner, who is moved as a whole.
unsafe impl Send for Getline {}

impl Reader for Getline {
    fn open(path: &Path) -> Result<Self> {
        Ok(Self { stream: Stream::open(path, c"r")?, line: ptr::null_mut(), room: 0 })
    }

    fn read(&mut self, sequences: u64) -> Result<Tally> {
        let mut lines = Lines::default();
        while !lines.has(sequences) {
            let (line, room) = (&raw mut self.line, &raw mut self.room);
            // SAFETY: the buffer is none or the call's own of before, and the stream is open.
            let got = unsafe { libc::getline(line, room, self.stream.as_ptr()) };
            let Ok(len @ 1..) = usize::try_from(got) else {
                self.stream.end()?;
                break;
            };
            // SAFETY: so many bytes were written there, and the last is the line's end.
            let line = unsafe { std::slice::from_raw_parts(self.line.cast::<u8>(), len - 1) };
            lines.line(line);
        }
        Ok(lines.tally)
    }

    fn rewind(&mut self) -> Result<()> {
        self.stream.rewind()
    }
}

impl Drop for Getline {
    fn drop(&mut self) {
        // SAFETY: `getline` allocated it, or it is none.
        unsafe { libc::free(self.line.cast()) };
    }
}

/// `read` of 64 KiB, and a search for the ends of lines.
pub(super) struct Blocks {
    file: File,
    block: Vec<u8>,
    begin: usize,
    end: usize,
}

impl Blocks {
    /// Moves what is left to the front and reads behind it; whether there was something.
    fn fill(&mut self) -> Result<bool> {
        self.block.copy_within(self.begin..self.end, 0);
        (self.begin, self.end) = (0, self.end - self.begin);
        let read = self.file.read(&mut self.block[self.end..])?;
        self.end += read;
        Ok(read > 0)
    }
}

impl Reader for Blocks {
    fn open(path: &Path) -> Result<Self> {
        Ok(Self { file: File::open(path)?, block: vec![0; READ_BYTES], begin: 0, end: 0 })
    }

    fn read(&mut self, sequences: u64) -> Result<Tally> {
        let mut lines = Lines::default();
        while !lines.has(sequences) {
            let rest = &self.block[self.begin..self.end];
            if let Some(len) = memchr(b'\n', rest) {
                lines.line(&rest[..len]);
                self.begin += len + 1;
            } else if !self.fill()? {
                break;
            }
        }
        Ok(lines.tally)
    }

    fn rewind(&mut self) -> Result<()> {
        (self.begin, self.end) = (0, 0);
        self.file.seek(SeekFrom::Start(0)).map(drop)
    }
}

const LINE_BYTES: libc::c_int = 4_096;
const READ_BYTES: usize = 65_536;
