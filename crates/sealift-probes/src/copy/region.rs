//! Memory of a device, named by path, offset and length.

use super::spec::PAGE_BYTES;
use super::taken::mapped;
use crate::ArmError;
use memmap2::MmapRaw;
use std::fmt::{self, Display, Formatter};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// A part of a file that can be mapped: a PCI resource, /dev/dax, /dev/mem, or an ordinary file.
///
/// Whoever makes one has looked that it is there; nothing of it was read or written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Region {
    path: PathBuf,
    offset: u64,
    bytes: usize,
}

impl Region {
    /// Looks for it, and leaves it alone.
    ///
    /// # Errors
    /// Offset or length aren't whole pages, the file isn't there, or is too short.
    pub fn find(path: &Path, offset: u64, bytes: usize) -> Result<Self, ArmError> {
        let region = Self { path: path.to_owned(), offset, bytes };
        region.check_pages("the offset of", offset)?;
        region.check_pages("the length of", bytes as u64)?;
        let end = offset.checked_add(bytes as u64).filter(|_| bytes > 0);
        let Some(end) = end else {
            return Err(region.refused("its length is none that memory has; take whole pages"));
        };
        let found = std::fs::metadata(path).map_err(|error| region.failed(&error))?;
        let kind = found.file_type();
        if !kind.is_file() && !kind.is_char_device() {
            return Err(region.refused("it is neither a file nor a device of characters"));
        }
        // The length of a device is not told; mapping it is refused where it is too short.
        if kind.is_file() && found.len() < end {
            let has = found.len();
            return Err(region.refused(&format!("the file has {has} bytes, and {end} are needed")));
        }
        Ok(region)
    }

    /// Bytes of it.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The part of a thread, mapped.
    pub(super) fn map(&self, thread: usize, bytes: usize) -> Result<MmapRaw, ArmError> {
        let bytes = bytes.next_multiple_of(PAGE_BYTES);
        let at = thread.saturating_mul(bytes);
        if at.saturating_add(bytes) > self.bytes {
            let (threads, needed) = (thread + 1, at.saturating_add(bytes));
            return Err(self.refused(&format!(
                "it has {} bytes, and {threads} threads need {needed}; take fewer or shorter copies, or a longer region",
                self.bytes
            )));
        }
        let file = self.open().map_err(|error| self.failed(&error))?;
        mapped(&file, self.offset + at as u64, bytes).map_err(|error| self.failed(&error))
    }

    fn open(&self) -> io::Result<File> {
        OpenOptions::new().read(true).write(true).open(&self.path)
    }

    fn check_pages(&self, what: &str, value: u64) -> Result<(), ArmError> {
        if value.is_multiple_of(PAGE_BYTES as u64) {
            return Ok(());
        }
        Err(self.refused(&format!("{what} it, {value}, is no multiple of a page of {PAGE_BYTES}")))
    }

    fn failed(&self, error: &io::Error) -> ArmError {
        self.refused(&error.to_string())
    }

    fn refused(&self, reason: &str) -> ArmError {
        ArmError::Absent { what: format!("region {self}"), reason: reason.to_owned() }
    }
}

impl Display for Region {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}:{}", self.path.display(), self.offset, self.bytes)
    }
}
