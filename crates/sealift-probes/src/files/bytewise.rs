//! A byte a call: what costs a lock a byte once a process has had a second thread.
#![allow(unsafe_code)]

use super::reader::Reader;
use super::stdio::{Stream, getc, getc_unlocked};
use super::tally::{Lines, Tally};
use std::io::Result;
use std::marker::PhantomData;
use std::path::Path;

/// A call of the C library that gives the next byte.
pub(super) trait Get: Send {
    /// The next byte; below 0 at the end or after an error.
    fn get(stream: &mut Stream) -> libc::c_int;
}

pub(super) struct Locked;
pub(super) struct Unlocked;

impl Get for Locked {
    #[inline]
    fn get(stream: &mut Stream) -> libc::c_int {
        // SAFETY: the stream is open as long as it is borrowed.
        unsafe { getc(stream.as_ptr()) }
    }
}

impl Get for Unlocked {
    #[inline]
    fn get(stream: &mut Stream) -> libc::c_int {
        // SAFETY: the stream is open as long as it is borrowed, and borrowed by nobody else.
        unsafe { getc_unlocked(stream.as_ptr()) }
    }
}

pub(super) struct Bytewise<G> {
    stream: Stream,
    line: Box<[u8; LINE_BYTES]>,
    get: PhantomData<G>,
}

impl<G: Get> Reader for Bytewise<G> {
    fn open(path: &Path) -> Result<Self> {
        let line = Box::new([0; LINE_BYTES]);
        Ok(Self { stream: Stream::open(path, c"r")?, line, get: PhantomData })
    }

    fn read(&mut self, sequences: u64) -> Result<Tally> {
        let (mut lines, mut len) = (Lines::default(), 0);
        while !lines.has(sequences) {
            match u8::try_from(G::get(&mut self.stream)) {
                Err(_) => {
                    self.stream.end()?;
                    break;
                }
                Ok(b'\n') => {
                    lines.line(&self.line[..len]);
                    len = 0;
                }
                Ok(byte) => {
                    self.line[len % LINE_BYTES] = byte;
                    len += 1;
                }
            }
        }
        Ok(lines.tally)
    }

    fn rewind(&mut self) -> Result<()> {
        self.stream.rewind()
    }
}

const LINE_BYTES: usize = 4_096;
