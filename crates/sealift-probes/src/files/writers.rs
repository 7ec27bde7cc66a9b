//! Ways to write.
#![allow(unsafe_code)]

use super::stdio::{Stream, putc};
use std::fs::{File, OpenOptions};
use std::io::{Error, Result, Seek, SeekFrom, Write};
use std::path::Path;

/// Writes bytes one after the other, from the beginning of a file on.
pub(super) trait Writer: Send {
    /// Opens a file that is there.
    fn open(path: &Path) -> Result<Self>
    where
        Self: Sized;

    /// Hands all of a text to the system, a block a call.
    fn write(&mut self, text: &[u8], block_bytes: usize) -> Result<()>;

    /// Waits until what was written is on the disk.
    fn sync(&mut self) -> Result<()>;

    /// Goes back to the beginning.
    fn rewind(&mut self) -> Result<()>;
}

/// `putc`, a byte a call.
pub(super) struct Putc(Stream);
/// `fwrite`.
pub(super) struct Fwrite(Stream);
/// `write`.
pub(super) struct Blocks(File);

impl Writer for Putc {
    fn open(path: &Path) -> Result<Self> {
        Stream::open(path, c"r+").map(Self)
    }

    fn write(&mut self, text: &[u8], _: usize) -> Result<()> {
        for byte in text {
            // SAFETY: the stream is open as long as this is borrowed.
            let wrote = unsafe { putc(libc::c_int::from(*byte), self.0.as_ptr()) };
            if wrote < 0 {
                return Err(Error::last_os_error());
            }
        }
        self.0.flush()
    }

    fn sync(&mut self) -> Result<()> {
        Ok(rustix::fs::fsync(self.0.file())?)
    }

    fn rewind(&mut self) -> Result<()> {
        self.0.rewind()
    }
}

impl Writer for Fwrite {
    fn open(path: &Path) -> Result<Self> {
        Stream::open(path, c"r+").map(Self)
    }

    fn write(&mut self, text: &[u8], block_bytes: usize) -> Result<()> {
        for block in text.chunks(block_bytes) {
            let (start, len) = (block.as_ptr().cast(), block.len());
            // SAFETY: so many bytes are there, and the stream is open as long as this is borrowed.
            let wrote = unsafe { libc::fwrite(start, 1, len, self.0.as_ptr()) };
            if wrote != len {
                return Err(Error::last_os_error());
            }
        }
        self.0.flush()
    }

    fn sync(&mut self) -> Result<()> {
        Ok(rustix::fs::fsync(self.0.file())?)
    }

    fn rewind(&mut self) -> Result<()> {
        self.0.rewind()
    }
}

impl Writer for Blocks {
    fn open(path: &Path) -> Result<Self> {
        OpenOptions::new().write(true).open(path).map(Self)
    }

    fn write(&mut self, text: &[u8], block_bytes: usize) -> Result<()> {
        text.chunks(block_bytes).try_for_each(|block| self.0.write_all(block))
    }

    fn sync(&mut self) -> Result<()> {
        self.0.sync_all()
    }

    fn rewind(&mut self) -> Result<()> {
        self.0.seek(SeekFrom::Start(0)).map(drop)
    }
}
