//! Memory of every kind, prepared and kept for all arms that want the same.

use super::compare;
use super::region::Region;
use super::spec::{Content, PAGE_BYTES};
use crate::ArmError;
use crate::random::Random;
use memmap2::{Advice, MmapMut, MmapOptions, MmapRaw};
use std::alloc::{Layout, alloc, dealloc};
use std::fmt::{self, Display, Formatter};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// What kind of memory bytes lie in.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// From the C library's allocator.
    Heap,
    /// Anonymous pages of 4 KiB.
    Small,
    /// Anonymous pages that the kernel was asked to make huge.
    Huge,
    /// A file in memory, without a name.
    Memfd,
    /// A file without a name in /dev/shm.
    Shm,
    /// A file without a name in a folder, mapped.
    File,
    /// Huge pages that were reserved before.
    Hugetlb,
    /// A part of a device's memory, or of a file that stands for it.
    Region(Region),
}

impl Kind {
    /// The kind of a name; a region is none of them, and must be named as one.
    ///
    /// # Errors
    /// There is none; with those there are.
    pub fn parse(name: &str) -> Result<Self, ArmError> {
        let named = NAMES.iter().find(|(known, _)| *known == name);
        named.map(|(_, kind)| kind.clone()).ok_or_else(|| ArmError::Spec {
            what: "memory",
            value: format!("{name:?}"),
            right: NAMES.map(|(name, _)| name).join(", "),
        })
    }

    /// Whether the system's calls for files reach it.
    pub(super) fn is_file(&self) -> bool {
        matches!(self, Self::File | Self::Memfd | Self::Shm)
    }
}

impl Display for Kind {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        if let Self::Region(region) = self {
            return write!(formatter, "region {region}");
        }
        let name = NAMES.iter().find(|(_, kind)| kind == self).map_or("", |(name, _)| name);
        formatter.write_str(name)
    }
}

const NAMES: [(&str, Kind); 7] = [
    ("heap", Kind::Heap),
    ("pages", Kind::Small),
    ("huge-pages", Kind::Huge),
    ("memfd", Kind::Memfd),
    ("shm", Kind::Shm),
    ("file", Kind::File),
    ("hugetlb", Kind::Hugetlb),
];

/// What a place is for; two arms that ask for the same share it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wish {
    pub(super) kind: Kind,
    /// What it holds; nothing for a destination.
    pub(super) content: Option<Content>,
    pub(super) thread: usize,
    pub(super) bytes: usize,
    pub(super) folder: PathBuf,
}

/// Memory, from a page's begin on.
pub(super) struct Place {
    wish: Wish,
    start: *mut u8,
    file: Option<File>,
    _held: Held,
}

// SAFETY: only whoever holds the lock of the bench looks at what it points to.
unsafe impl Send for Place {}
// SAFETY: as above.
unsafe impl Sync for Place {}

/// What gives the memory back when it is dropped.
enum Held {
    Heap { _heap: Heap },
    Private { _map: MmapMut },
    Shared { _map: MmapRaw },
}

impl Place {
    /// The one that stands already, or a new one, filled as wished.
    ///
    /// # Errors
    /// There is no such memory here.
    pub(super) fn get(wish: Wish) -> Result<Arc<Self>, ArmError> {
        let mut standing = STANDING.lock().unwrap_or_else(PoisonError::into_inner);
        standing.retain(|place| place.strong_count() > 0);
        let same = standing.iter().filter_map(Weak::upgrade).find(|place| place.wish == wish);
        if let Some(place) = same {
            return Ok(place);
        }
        let place = Arc::new(Self::new(wish)?);
        place.fill()?;
        standing.push(Arc::downgrade(&place));
        Ok(place)
    }

    pub(super) fn start(&self) -> *mut u8 {
        self.start
    }

    /// The file behind it, or -1.
    pub(super) fn file(&self) -> RawFd {
        self.file.as_ref().map_or(-1, AsRawFd::as_raw_fd)
    }

    fn new(wish: Wish) -> Result<Self, ArmError> {
        let bytes = wish.bytes;
        let (start, held, file) = match &wish.kind {
            Kind::Heap => {
                let heap = Heap::new(bytes)?;
                (heap.start(), Held::Heap { _heap: heap }, None)
            }
            Kind::Small | Kind::Huge | Kind::Hugetlb => {
                let (start, map) = anonymous(&wish.kind, bytes)?;
                (start, Held::Private { _map: map }, None)
            }
            Kind::Memfd | Kind::Shm | Kind::File => {
                let file = nameless(&wish.kind, &wish.folder, bytes)?;
                let map = mapped(&file, 0, bytes).map_err(|error| absent(&wish.kind, &error))?;
                (map.as_mut_ptr(), Held::Shared { _map: map }, Some(file))
            }
            Kind::Region(region) => {
                let map = region.map(wish.thread, bytes)?;
                (map.as_mut_ptr(), Held::Shared { _map: map }, None)
            }
        };
        Ok(Self { wish, start, file, _held: held })
    }

    /// Touches every page, with what it is to hold.
    fn fill(&self) -> Result<(), ArmError> {
        let Some(content) = self.wish.content else {
            // SAFETY: the place has so many bytes, and nobody else knows it yet.
            unsafe { self.start.write_bytes(UNTOUCHED, self.wish.bytes) };
            return Ok(());
        };
        let mut random = Random::new(content.seed(), self.wish.thread as u64);
        let mut line = [0; LINE_BYTES];
        for at in (0..self.wish.bytes).step_by(LINE_BYTES) {
            content.fill(&mut random, at, &mut line);
            let (here, line) =
                (self.start.wrapping_add(at), &line[..LINE_BYTES.min(self.wish.bytes - at)]);
            if matches!(content, Content::Found(_)) {
                compare::same(here, line).map_err(|byte| self.unlike(at + byte))?;
            } else {
                // SAFETY: the place has the line, and nobody else knows it yet.
                unsafe { std::ptr::copy_nonoverlapping(line.as_ptr(), here, line.len()) };
            }
        }
        Ok(())
    }

    fn unlike(&self, byte: usize) -> ArmError {
        ArmError::Wrong {
            device: self.wish.kind.to_string(),
            what: format!(
                "byte {byte} is not what the writer's pattern has there; write it first, with the same value for -o"
            ),
        }
    }
}

impl Content {
    fn seed(self) -> u64 {
        if let Self::Seeded(seed) = self { seed } else { 0 }
    }

    fn fill(self, random: &mut Random, at: usize, line: &mut [u8; LINE_BYTES]) {
        match self {
            Self::Seeded(_) => {
                for word in line.chunks_exact_mut(8) {
                    word.copy_from_slice(&random.next_u64().to_le_bytes());
                }
            }
            Self::Counting(value) | Self::Found(value) => {
                for (byte, number) in line.iter_mut().zip(at..) {
                    *byte = number.to_le_bytes()[0].wrapping_add(value);
                }
            }
        }
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
        let mut map = options.map_anon().map_err(|_| unreserved(whole))?;
        return Ok((map.as_mut_ptr(), map));
    }
    let map = options.len(whole + HUGE_PAGE_BYTES).map_anon();
    let mut map = map.map_err(|_| ArmError::NoMemory { bytes })?;
    let at = map.as_ptr().align_offset(HUGE_PAGE_BYTES);
    let advice = if *kind == Kind::Huge { Advice::HugePage } else { Advice::NoHugePage };
    match map.advise_range(advice, at, whole) {
        Err(error) if *kind == Kind::Huge => Err(absent(kind, &error)),
        // A kernel without huge pages gives none.
        _ => Ok((map.as_mut_ptr().wrapping_add(at), map)),
    }
}

fn unreserved(bytes: usize) -> ArmError {
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
fn nameless(kind: &Kind, folder: &Path, bytes: usize) -> Result<File, ArmError> {
    let file = match kind {
        Kind::Memfd => {
            let flags = rustix::fs::MemfdFlags::CLOEXEC;
            rustix::fs::memfd_create("sealift-probe", flags)
                .map(File::from)
                .map_err(io::Error::from)
        }
        Kind::Shm => nameless_in(Path::new("/dev/shm")),
        _ => nameless_in(folder),
    };
    let file = file.map_err(|error| absent(kind, &error))?;
    // Room is taken now, for a full file system would end the process at the first touch.
    rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, bytes as u64)
        .map_err(|error| absent(kind, &error.into()))?;
    Ok(file)
}

fn nameless_in(folder: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    options.custom_flags(libc::O_TMPFILE).mode(0o600).open(folder)
}

pub(super) fn mapped(file: &File, offset: u64, bytes: usize) -> io::Result<MmapRaw> {
    MmapOptions::new().offset(offset).len(bytes).map_raw(file)
}

fn absent(kind: &Kind, error: &io::Error) -> ArmError {
    ArmError::Absent { what: format!("memory of the kind {kind}"), reason: error.to_string() }
}

static STANDING: Mutex<Vec<Weak<Place>>> = Mutex::new(vec![]);
const LINE_BYTES: usize = 64;
const HUGE_PAGE_BITS: u8 = 21;
const HUGE_PAGE_BYTES: usize = 1 << HUGE_PAGE_BITS;
/// Not zero: pages of zeros may be shared until they are written.
const UNTOUCHED: u8 = 0xa5;
