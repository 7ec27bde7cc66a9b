//! Memory of a device, named by path, offset and length.

use super::spec::PAGE_BYTES;
use crate::ArmError;
use memmap2::{MmapOptions, MmapRaw};
use rustix::fs::{major, minor};
use rustix::param::page_size;
use std::fmt::{self, Display, Formatter};
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// A part of a file that can be mapped: a PCI resource, /dev/dax, /dev/mem, or an ordinary file.
///
/// Whoever makes one has looked that it is there; nothing of it was read or written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Region {
    path: PathBuf,
    offset: u64,
    bytes: usize,
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
        Self::find_by(Path::new("/sys"), path, offset, bytes)
    }

    /// The same, by what a folder like /sys tells of devices.
    fn find_by(system: &Path, path: &Path, offset: u64, bytes: usize) -> Result<Self, ArmError> {
        let region = Self { path: path.to_owned(), offset, bytes };
        let extent = region.extent(system)?;
        region.check_pages("the offset of", offset, extent.page_bytes)?;
        region.check_pages("the length of", bytes as u64, extent.page_bytes)?;
        let end = offset.checked_add(bytes as u64).filter(|_| bytes > 0);
        let Some(end) = end else {
            return Err(region.refused("its length is none that memory has; take whole pages"));
        };
        match extent.bytes {
            Some(has) if has < end => {
                let what = extent.what;
                Err(region.refused(&format!("the {what} has {has} bytes, and {end} are needed")))
            }
            _ => Ok(region),
        }
    }

    fn extent(&self, system: &Path) -> Result<Extent, ArmError> {
        let found = fs::metadata(&self.path).map_err(|error| self.failed(&error))?;
        let page_bytes = page_size() as u64;
        let kind = found.file_type();
        if kind.is_file() {
            return Ok(Extent { what: "file", bytes: Some(found.len()), page_bytes });
        }
        if !kind.is_char_device() {
            return Err(self.refused("it is neither a file nor a device of characters"));
        }
        let device =
            system.join(format!("dev/char/{}:{}", major(found.rdev()), minor(found.rdev())));
        let told = |name: &str| -> Option<u64> {
            fs::read_to_string(device.join(name)).ok()?.trim().parse().ok()
        };
        let align = ALIGNS.into_iter().find_map(told).unwrap_or(0);
        Ok(Extent { what: "device", bytes: told("size"), page_bytes: page_bytes.max(align) })
    }

    /// Where the part of a thread begins.
    ///
    /// All parts lie in one mapping of the whole region: devices refuse to map less than their alignment.
    ///
    /// # Errors
    /// The region is too short for so many threads, or can't be mapped.
    pub(super) fn part(
        &self,
        thread: usize,
        bytes: usize,
        access: Access,
    ) -> Result<(*mut u8, Arc<MmapRaw>), ArmError> {
        let bytes = bytes.next_multiple_of(PAGE_BYTES);
        let at = thread.saturating_mul(bytes);
        if at.saturating_add(bytes) > self.bytes {
            let (threads, needed) = (thread + 1, at.saturating_add(bytes));
            return Err(self.refused(&format!(
                "it has {} bytes, and {threads} threads need {needed}; take fewer or shorter copies, or a longer region",
                self.bytes
            )));
        }
        let map = self.mapped(access).map_err(|error| self.failed(&error))?;
        Ok((map.as_mut_ptr().wrapping_add(at), map))
    }

    /// The mapping of the whole that stands already, or a new one.
    fn mapped(&self, access: Access) -> io::Result<Arc<MmapRaw>> {
        let mut mapped = MAPPED.lock().unwrap_or_else(PoisonError::into_inner);
        mapped.retain(|(_, _, map)| map.strong_count() > 0);
        let same = mapped.iter().find(|(region, known, _)| region == self && *known == access);
        if let Some(map) = same.and_then(|(_, _, map)| map.upgrade()) {
            return Ok(map);
        }
        let writes = access == Access::Write;
        let file = OpenOptions::new().read(true).write(writes).open(&self.path)?;
        let mut options = MmapOptions::new();
        options.offset(self.offset).len(self.bytes);
        let map = if writes { options.map_raw(&file) } else { options.map_raw_read_only(&file) };
        let map = Arc::new(map?);
        mapped.push((self.clone(), access, Arc::downgrade(&map)));
        Ok(map)
    }

    fn check_pages(&self, what: &str, value: u64, page_bytes: u64) -> Result<(), ArmError> {
        if value.is_multiple_of(page_bytes) {
            return Ok(());
        }
        Err(self.refused(&format!("{what} it, {value}, is no multiple of a page of {page_bytes}")))
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

/// How much there is.
struct Extent {
    what: &'static str,
    /// None where nobody tells.
    bytes: Option<u64>,
    /// What offsets and lengths of mappings are multiples of.
    page_bytes: u64,
}

/// Of regions that are in use.
static MAPPED: Mutex<Vec<(Region, Access, Weak<MmapRaw>)>> = Mutex::new(vec![]);
/// Where drivers of memory tell their alignment, beside a device's size.
const ALIGNS: [&str; 3] = ["align", "device/align", "device/dax_region/align"];

#[cfg(test)]
mod tests {
    use super::super::tests::Stand;
    use super::*;

    #[test]
    fn a_region_that_can_not_be_is_refused_before_it_is_touched() {
        let stand = Stand::of("refused", &[7; 8_192]);
        let error = |offset, bytes| Region::find(&stand.0, offset, bytes).unwrap_err().to_string();
        assert!(error(0, 3 * 4_096).contains("the file has 8192 bytes, and 12288 are needed"));
        assert!(error(1, 4_096).contains("multiple of a page"));
        assert!(error(0, 100).contains("multiple of a page"));
        assert!(error(0, 0).contains("length"));
        assert!(error(u64::MAX - 4_095, 8_192).contains("length"));
        let gone = Region::find(&stand.0.with_extension("gone"), 0, 4_096).unwrap_err();
        assert!(gone.to_string().contains("No such file"));
        let folder = Region::find(&std::env::temp_dir(), 0, 4_096).unwrap_err();
        assert!(folder.to_string().contains("neither a file"));
        assert_eq!(fs::read(&stand.0).unwrap(), [7; 8_192]);
    }

    /// A folder that tells of the device /dev/zero what /sys would tell of memory; gone when it is dropped.
    struct System(PathBuf);

    impl System {
        fn telling(name: &str, told: &[(&str, &str)]) -> Self {
            let name = format!("sealift-system-{}-{name}", std::process::id());
            let system = Self(std::env::temp_dir().join(name));
            let device = system.0.join("dev/char/1:5");
            for (file, text) in told {
                let file = device.join(file);
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                fs::write(file, text).unwrap();
            }
            system
        }

        fn find(&self, offset: u64, bytes: usize) -> Result<(), String> {
            let found = Region::find_by(&self.0, Path::new("/dev/zero"), offset, bytes);
            found.map(drop).map_err(|error| error.to_string())
        }
    }

    impl Drop for System {
        fn drop(&mut self) {
            fs::remove_dir_all(&self.0).unwrap();
        }
    }

    #[test]
    fn a_device_is_held_to_what_it_tells_of_itself() {
        const MIB: usize = 1 << 20;
        for align in ALIGNS {
            let told = [("size", "4194304\n"), (align, "2097152\n")];
            let system = System::telling("tells", &told);
            assert_eq!(system.find(0, 4 * MIB), Ok(()));
            let longer = system.find(2 << 20, 4 * MIB).unwrap_err();
            assert!(longer.contains("the device has 4194304 bytes, and 6291456 are"), "{longer}");
            let begin = system.find(4_096, 2 * MIB).unwrap_err();
            assert!(
                begin.contains("offset of it, 4096, is no multiple of a page of 2097152"),
                "{begin}"
            );
            let len = system.find(0, MIB).unwrap_err();
            assert!(len.contains("length of it, 1048576, is no multiple"), "{len}");
        }
        let silent = System::telling("silent", &[("dev", "1:5\n")]);
        assert_eq!(silent.find(1 << 40, MIB), Ok(()), "a device that tells nothing");
        assert!(silent.find(1, MIB).is_err());
    }

    #[test]
    fn parts_of_all_threads_lie_in_one_mapping_of_the_whole_region() {
        let stand = Stand::of("whole", &[0; 8 * 4_096]);
        let region = Region::find(&stand.0, 2 * 4_096, 4 * 4_096).unwrap();
        let part = |thread, access| region.part(thread, 16, access).unwrap();
        let ((first, whole), (second, same)) = (part(0, Access::Write), part(1, Access::Write));
        assert!(second == first.wrapping_add(4_096) && Arc::ptr_eq(&whole, &same));
        let (found, read) = part(3, Access::Read);
        assert_eq!(found, read.as_mut_ptr().wrapping_add(3 * 4_096));
        for (start, access) in [(first, "rw-s"), (read.as_mut_ptr(), "r--s")] {
            let (start, end) = (start.addr(), start.addr() + 4 * 4_096);
            let line = format!("{start:x}-{end:x} {access} 00002000 ");
            let maps = fs::read_to_string("/proc/self/maps").unwrap();
            assert!(maps.lines().any(|each| each.starts_with(&line)), "{line}: {maps}");
        }
        let error = region.part(4, 16, Access::Write).unwrap_err().to_string();
        assert!(error.contains("it has 16384 bytes, and 5 threads need 20480"), "{error}");
    }
}
