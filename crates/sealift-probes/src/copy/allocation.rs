//! Memory of each kind, as the system gives it.

use super::buffer::BufferSpec;
use super::kind::Kind;
use super::region::Access;
use super::spec::{Content, PAGE_BYTES};
use crate::ArmError;
use memmap2::{Advice, MmapMut, MmapOptions, MmapRaw};
use std::alloc::{Layout, alloc, dealloc};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;

/// Memory from a page's begin on, which is given back when this is dropped.
pub(super) struct Allocation {
    pub(super) start: *mut u8,
    /// What it is a mapping of, where the system's calls for files reach it.
    pub(super) file: Option<File>,
    _owner: Owner,
}

enum Owner {
    Heap { _heap: Heap },
    Private { _map: MmapMut },
    Shared { _map: MmapRaw },
    Region { _map: Arc<MmapRaw> },
}

impl Allocation {
    /// Takes it as specified.
    ///
    /// # Errors
    /// There is no such memory here.
    pub(super) fn of(spec: &BufferSpec) -> Result<Self, ArmError> {
        let bytes = spec.bytes;
        let (start, file, owner) = match &spec.kind {
            Kind::Heap => {
                let heap = Heap::new(bytes)?;
                (heap.start(), None, Owner::Heap { _heap: heap })
            }
            Kind::Small | Kind::Huge | Kind::Hugetlb => {
                let (start, map) = anonymous(&spec.kind, bytes)?;
                (start, None, Owner::Private { _map: map })
            }
            Kind::Memfd | Kind::Shm | Kind::File => {
                let file = unnamed_file(&spec.kind, &spec.folder, bytes)?;
                let map = MmapOptions::new().len(bytes).map_raw(&file);
                let map = map.map_err(|error| absent_error(&spec.kind, &error))?;
                (map.as_mut_ptr(), Some(file), Owner::Shared { _map: map })
            }
            Kind::Region(region) => {
                let is_found = matches!(spec.content, Some(Content::Found(_) | Content::Left));
                let access = if is_found { Access::Read } else { Access::Write };
                let (start, map) = region.part(spec.thread, bytes, access)?;
                (start, None, Owner::Region { _map: map })
            }
        };
        Ok(Self { start, file, _owner: owner })
    }
}

/// Memory of the C library's allocator, from a page's begin on.
struct Heap {
    all: *mut u8,
    layout: Layout,
}

impl Heap {
    fn new(bytes: usize) -> Result<Self, ArmError> {
        let no_memory = ArmError::NoMemory { bytes };
        let layout = Layout::from_size_align(bytes + PAGE_BYTES, 16);
        let layout = layout.map_err(|_| no_memory.clone())?;
        // SAFETY: the layout is not empty.
        let all = unsafe { alloc(layout) };
        if all.is_null() { Err(no_memory) } else { Ok(Self { all, layout }) }
    }

    fn start(&self) -> *mut u8 {
        self.all.wrapping_add(self.all.align_offset(PAGE_BYTES))
    }
}

impl Drop for Heap {
    fn drop(&mut self) {
        // SAFETY: it was allocated so, and is given back once.
        unsafe { dealloc(self.all, self.layout) };
    }
}

fn anonymous(kind: &Kind, bytes: usize) -> Result<(*mut u8, MmapMut), ArmError> {
    let whole = bytes.next_multiple_of(HUGE_PAGE_BYTES);
    let mut options = MmapOptions::new();
    if *kind == Kind::Hugetlb {
        options.len(whole).huge(Some(HUGE_PAGE_BITS));
        let mut map = options.map_anon().map_err(|_| hugetlb_error(whole))?;
        return Ok((map.as_mut_ptr(), map));
    }
    let map = options.len(whole + HUGE_PAGE_BYTES).map_anon();
    let mut map = map.map_err(|_| ArmError::NoMemory { bytes })?;
    let at = map.as_ptr().align_offset(HUGE_PAGE_BYTES);
    let advice = if *kind == Kind::Huge { Advice::HugePage } else { Advice::NoHugePage };
    match map.advise_range(advice, at, whole) {
        Err(error) if *kind == Kind::Huge => Err(absent_error(kind, &error)),
        // A kernel without huge pages gives none.
        _ => Ok((map.as_mut_ptr().wrapping_add(at), map)),
    }
}

fn hugetlb_error(bytes: usize) -> ArmError {
    let pages = bytes / HUGE_PAGE_BYTES;
    ArmError::Absent {
        what: Kind::Hugetlb.to_string(),
        reason: format!(
            "{pages} huge pages of 2 MiB are not reserved; root reserves some by `sysctl \
             vm.nr_hugepages=N`, N being what is in use and {pages} more for each such buffer"
        ),
    }
}

/// A file that is gone when it is closed, however this process ends.
fn unnamed_file(kind: &Kind, folder: &Path, bytes: usize) -> Result<File, ArmError> {
    let file = match kind {
        Kind::Memfd => {
            let flags = rustix::fs::MemfdFlags::CLOEXEC;
            rustix::fs::memfd_create("sealift-probe", flags)
                .map(File::from)
                .map_err(io::Error::from)
        }
        Kind::Shm => unnamed_file_in(Path::new("/dev/shm")),
        _ => unnamed_file_in(folder),
    };
    let file = file.map_err(|error| absent_error(kind, &error))?;
    // Room is taken now, for a full file system would end the process at the first touch.
    rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, bytes as u64)
        .map_err(|error| absent_error(kind, &error.into()))?;
    Ok(file)
}

fn unnamed_file_in(folder: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    options.custom_flags(libc::O_TMPFILE).mode(0o600).open(folder)
}

fn absent_error(kind: &Kind, error: &io::Error) -> ArmError {
    ArmError::Absent { what: format!("memory of the kind {kind}"), reason: error.to_string() }
}

const HUGE_PAGE_BITS: u8 = 21;
const HUGE_PAGE_BYTES: usize = 1 << HUGE_PAGE_BITS;
