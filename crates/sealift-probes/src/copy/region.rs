//! Memory of a device, named by path, offset and length.

use super::spec::PAGE_BYTES;
use crate::ArmError;
use memmap2::{MmapOptions, MmapRaw};
use rustix::fs::{major, minor};
use rustix::param::page_size;
use std::fmt::{self, Display, Formatter};
use std::fs::{self, File, Metadata, OpenOptions};
use std::hash::{Hash, Hasher};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// A part of a file that can be mapped: a PCI resource, /dev/dax, /dev/mem, or an ordinary file.
///
/// Whoever makes one has looked that it is there; nothing of it was read or written. It stays the file that
/// was found: one that took its place is refused.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Region {
    spec: RegionSpec,
    identity: FileIdentity,
}

/// What a region is mapped for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
}

impl Region {
    /// Looks for it, and leaves it alone.
    ///
    /// A device is held to the size and the alignment that it tells in /sys. One that tells no size, as
    /// /dev/mem, is taken at its user's word: touching what is not there ends the process.
    ///
    /// # Errors
    /// Offset or length aren't whole pages, the file isn't there, or is too short.
    pub fn find(path: &Path, offset: u64, bytes: usize) -> Result<Self, ArmError> {
        Self::find_by(Path::new(SYSTEM), path, offset, bytes)
    }

    /// The same, by what a folder like /sys tells of devices.
    fn find_by(system: &Path, path: &Path, offset: u64, bytes: usize) -> Result<Self, ArmError> {
        let spec = RegionSpec { path: path.to_owned(), offset, bytes };
        let (identity, found) =
            FileIdentity::find(path).map_err(|error| spec.missing_error(&error))?;
        spec.check(system, &found)?;
        Ok(Self { spec, identity })
    }

    /// Where the part of a thread begins.
    ///
    /// All parts lie in one mapping of the whole region: devices refuse to map less than their alignment.
    ///
    /// # Errors
    /// The region is too short for so many threads, can't be mapped, or another file is in its place.
    pub(super) fn part(
        &self,
        thread: usize,
        bytes: usize,
        access: Access,
    ) -> Result<(*mut u8, Arc<MmapRaw>), ArmError> {
        let bytes = bytes.next_multiple_of(PAGE_BYTES);
        let at = thread.saturating_mul(bytes);
        if at.saturating_add(bytes) > self.spec.bytes {
            let (threads, needed) = (thread + 1, at.saturating_add(bytes));
            return Err(self.spec.error(&format!(
                "it has {} bytes, and {threads} threads need {needed}; take fewer or shorter copies, or a longer region",
                self.spec.bytes
            )));
        }
        let map = self.mapping(access)?;
        Ok((map.as_mut_ptr().wrapping_add(at), map))
    }

    /// The mapping of the whole that stands already, or a new one.
    fn mapping(&self, access: Access) -> Result<Arc<MmapRaw>, ArmError> {
        let mut mappings = MAPPINGS.lock().unwrap_or_else(PoisonError::into_inner);
        mappings.retain(|(_, _, map)| map.strong_count() > 0);
        // What is compared is to be copied to and from one file.
        let is_other =
            |other: &Self| other.spec.path == self.spec.path && other.identity != self.identity;
        if mappings.iter().any(|(other, _, _)| is_other(other)) {
            return Err(self.spec.replaced_error());
        }
        let same = mappings.iter().find(|(region, known, _)| region == self && *known == access);
        if let Some(map) = same.and_then(|(_, _, map)| map.upgrade()) {
            return Ok(map);
        }
        let map = Arc::new(self.map(access)?);
        mappings.push((self.clone(), access, Arc::downgrade(&map)));
        Ok(map)
    }

    fn map(&self, access: Access) -> Result<MmapRaw, ArmError> {
        let spec = &self.spec;
        let writes = access == Access::Write;
        // As the published tool does: the kernel maps /dev/mem past the caches then, and all else as ever.
        let file =
            OpenOptions::new().read(true).write(writes).custom_flags(libc::O_SYNC).open(&spec.path);
        let file = file.map_err(|error| spec.open_error(access, &error))?;
        let found = file.metadata().map_err(|error| spec.missing_error(&error))?;
        if FileIdentity::number(&found) != self.identity.number {
            return Err(spec.replaced_error());
        }
        // It may have become shorter, and touching what is not there would end the process.
        spec.check(Path::new(SYSTEM), &found)?;
        let mut options = MmapOptions::new();
        options.offset(spec.offset).len(spec.bytes);
        let map = if writes { options.map_raw(&file) } else { options.map_raw_read_only(&file) };
        map.map_err(|error| spec.mapping_error(&error))
    }
}

impl Display for Region {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        self.spec.fmt(formatter)
    }
}

/// As a user names it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct RegionSpec {
    path: PathBuf,
    offset: u64,
    bytes: usize,
}

impl RegionSpec {
    /// Holds it to a file.
    fn check(&self, system: &Path, found: &Metadata) -> Result<(), ArmError> {
        let extent = self.extent(system, found)?;
        self.check_pages("the offset of", self.offset, extent.page_bytes)?;
        self.check_pages("the length of", self.bytes as u64, extent.page_bytes)?;
        let end = self.offset.checked_add(self.bytes as u64).filter(|_| self.bytes > 0);
        let Some(end) = end else {
            return Err(self.error("its length is none that memory has; take whole pages"));
        };
        match extent.bytes {
            Some(has) if has < end => {
                let what = extent.what;
                Err(self.error(&format!("the {what} has {has} bytes, and {end} are needed")))
            }
            _ => Ok(()),
        }
    }

    fn extent(&self, system: &Path, found: &Metadata) -> Result<Extent, ArmError> {
        let page_bytes = page_size() as u64;
        let kind = found.file_type();
        if kind.is_file() {
            return Ok(Extent { what: "file", bytes: Some(found.len()), page_bytes });
        }
        if !kind.is_char_device() {
            return Err(self.error("it is neither a file nor a device of characters"));
        }
        let device =
            system.join(format!("dev/char/{}:{}", major(found.rdev()), minor(found.rdev())));
        let read = |name: &str| -> Option<u64> {
            fs::read_to_string(device.join(name)).ok()?.trim().parse().ok()
        };
        let align = ALIGNS.into_iter().find_map(read).unwrap_or(0);
        Ok(Extent { what: "device", bytes: read("size"), page_bytes: page_bytes.max(align) })
    }

    fn check_pages(&self, what: &str, value: u64, page_bytes: u64) -> Result<(), ArmError> {
        if value.is_multiple_of(page_bytes) {
            return Ok(());
        }
        Err(self.error(&format!("{what} it, {value}, is no multiple of a page of {page_bytes}")))
    }

    fn missing_error(&self, error: &io::Error) -> ArmError {
        self.error(&format!(
            "{error}; name a file or a device that is there and in folders that this user may enter"
        ))
    }

    fn open_error(&self, access: Access, error: &io::Error) -> ArmError {
        let wanted = match access {
            Access::Read => "read",
            Access::Write => "read and write",
        };
        self.error(&format!(
            "it can't be opened: {error}; name a file or a device that this user may {wanted}"
        ))
    }

    fn mapping_error(&self, error: &io::Error) -> ArmError {
        let Self { offset, bytes, .. } = self;
        self.error(&format!(
            "its {bytes} bytes from byte {offset} on can't be mapped: {error}; take whole pages within a device \
             that can be mapped, as a PCI resource, /dev/dax or /dev/mem, or within an ordinary file"
        ))
    }

    fn replaced_error(&self) -> ArmError {
        self.error(
            "another file has taken its place since it was looked at; leave it there while it is measured",
        )
    }

    fn error(&self, reason: &str) -> ArmError {
        ArmError::Absent { what: format!("region {self}"), reason: reason.to_owned() }
    }
}

impl Display for RegionSpec {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}:{}", self.path.display(), self.offset, self.bytes)
    }
}

/// The file that was found, whatever has its name now.
#[derive(Clone, Debug)]
struct FileIdentity {
    number: (u64, u64),
    /// Held without being opened: no other file gets its number as long as that lasts.
    _held: Arc<File>,
}

impl FileIdentity {
    fn find(path: &Path) -> io::Result<(Self, Metadata)> {
        let held = OpenOptions::new().read(true).custom_flags(libc::O_PATH).open(path)?;
        let found = held.metadata()?;
        Ok((Self { number: Self::number(&found), _held: Arc::new(held) }, found))
    }

    /// Of its file system, and within that.
    fn number(found: &Metadata) -> (u64, u64) {
        (found.dev(), found.ino())
    }
}

impl PartialEq for FileIdentity {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl Eq for FileIdentity {}

impl Hash for FileIdentity {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.number.hash(state);
    }
}

/// How much there is.
struct Extent {
    what: &'static str,
    /// None where nobody tells.
    bytes: Option<u64>,
    /// What offsets and lengths of mappings are multiples of.
    page_bytes: u64,
}

/// Of regions that are in use.
static MAPPINGS: Mutex<Vec<(Region, Access, Weak<MmapRaw>)>> = Mutex::new(vec![]);
const SYSTEM: &str = "/sys";
/// Where drivers of memory tell their alignment, beside a device's size.
const ALIGNS: [&str; 3] = ["align", "device/align", "device/dax_region/align"];

#[cfg(test)]
mod tests;
