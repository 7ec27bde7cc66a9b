//! Memory that is prepared, and kept for all arms that want the same.

use super::allocation::Allocation;
use super::compare;
use super::kind::Kind;
use super::spec::{Content, Function};
use crate::ArmError;
use crate::ffi::resident_pages;
use crate::random::Random;
use crate::smaps::check_huge;
use rustix::fs::{Advice, fadvise};
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// What a buffer is for; two arms that ask for the same share it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BufferSpec {
    pub(super) kind: Kind,
    /// What it holds; nothing for a destination.
    pub(super) content: Option<Content>,
    pub(super) thread: usize,
    pub(super) bytes: usize,
    pub(super) folder: PathBuf,
    /// Whose alone it is; nothing where all arms may share it.
    pub(super) only_for: Option<Function>,
}

/// Memory, from a page's begin on.
pub(super) struct Buffer {
    spec: BufferSpec,
    allocation: Allocation,
}

// SAFETY: only whoever holds the lock of the bench looks at what it points to.
unsafe impl Send for Buffer {}
// SAFETY: whoever shares it takes the lock of the bench before looking at what it points to.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// The cached one, or a new one, filled as specified.
    ///
    /// # Errors
    /// There is no such memory here.
    pub(super) fn get(spec: BufferSpec) -> Result<Arc<Self>, ArmError> {
        let mut cached = CACHE.lock().unwrap_or_else(PoisonError::into_inner);
        cached.retain(|buffer| buffer.strong_count() > 0);
        let same = cached.iter().filter_map(Weak::upgrade).find(|buffer| buffer.spec == spec);
        if let Some(buffer) = same {
            return Ok(buffer);
        }
        let allocation = Allocation::of(&spec)?;
        let buffer = Arc::new(Self { spec, allocation });
        buffer.fill()?;
        buffer.check()?;
        cached.push(Arc::downgrade(&buffer));
        Ok(buffer)
    }

    pub(super) fn start(&self) -> *mut u8 {
        self.allocation.start
    }

    /// The file behind it, or -1.
    pub(super) fn file(&self) -> RawFd {
        self.allocation.file.as_ref().map_or(-1, AsRawFd::as_raw_fd)
    }

    /// Writes its file and takes it out of memory.
    ///
    /// # Errors
    /// It has none, or the file system keeps files there.
    pub(super) fn forget(&self) -> Result<(), ArmError> {
        let failed = ArmError::file("take the file out of memory");
        if let Some(file) = &self.allocation.file {
            file.sync_all().map_err(&failed)?;
            self.unmap_pages()?;
            fadvise(file, 0, None, Advice::DontNeed).map_err(|error| failed(error.into()))?;
        }
        let (pages, there) = self.pages()?;
        if 2 * there > pages {
            let what = self.spec.kind.to_string();
            return Err(ArmError::Absent { what, reason: STAYS.to_owned() });
        }
        Ok(())
    }

    /// Takes the pages of its file out of the page tables; they stay in the file.
    ///
    /// # Errors
    /// The system refuses.
    pub(super) fn unmap_pages(&self) -> Result<(), ArmError> {
        if self.allocation.file.is_none() {
            return Ok(());
        }
        let (start, bytes) = (self.start().cast(), self.spec.bytes);
        // SAFETY: the mapping stands, and its pages are the file's, so that they are read from there again.
        let code = unsafe { libc::madvise(start, bytes, libc::MADV_DONTNEED) };
        if code == 0 {
            return Ok(());
        }
        Err(ArmError::file("take pages out of the page tables")(io::Error::last_os_error()))
    }

    /// How many pages it has, and how many of these are in memory.
    ///
    /// # Errors
    /// The system doesn't tell.
    pub(super) fn pages(&self) -> Result<(u64, u64), ArmError> {
        // SAFETY: the buffer has so many bytes, from a page's begin on.
        let pages = unsafe { resident_pages(self.start(), self.spec.bytes) };
        let (pages, there) = pages.map_err(ArmError::file("ask which pages are in memory"))?;
        Ok((pages as u64, there as u64))
    }

    /// Touches every page, with what it is to hold.
    fn fill(&self) -> Result<(), ArmError> {
        let Some(content) = self.spec.content else {
            // SAFETY: the buffer has so many bytes, and nobody else knows it yet.
            unsafe { self.start().write_bytes(UNTOUCHED, self.spec.bytes) };
            return Ok(());
        };
        if content == Content::Left {
            return Ok(());
        }
        let mut random = Random::new(content.seed(), self.spec.thread as u64);
        let mut line = [0; LINE_BYTES];
        for at in (0..self.spec.bytes).step_by(LINE_BYTES) {
            content.fill(&mut random, at, &mut line);
            let (here, line) =
                (self.start().wrapping_add(at), &line[..LINE_BYTES.min(self.spec.bytes - at)]);
            if matches!(content, Content::Found(_)) {
                compare::same(here, line).map_err(|byte| self.pattern_error(at + byte))?;
            } else {
                // SAFETY: the buffer has the line, and nobody else knows it yet.
                unsafe { std::ptr::copy_nonoverlapping(line.as_ptr(), here, line.len()) };
            }
        }
        Ok(())
    }

    /// What was asked for may be another thing than what was given.
    fn check(&self) -> Result<(), ArmError> {
        if self.spec.kind != Kind::Huge {
            return Ok(());
        }
        let what = format!("memory of the kind {}", self.spec.kind);
        let absent = |reason| ArmError::Absent { what, reason };
        check_huge(self.start(), self.spec.bytes).map_err(absent)
    }

    fn pattern_error(&self, byte: usize) -> ArmError {
        ArmError::Wrong {
            device: self.spec.kind.to_string(),
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
            Self::Left => {}
        }
    }
}

static CACHE: Mutex<Vec<Weak<Buffer>>> = Mutex::new(vec![]);
const LINE_BYTES: usize = 64;
const STAYS: &str =
    "the file stays in memory, as its file system has files there; take a folder on a disk";
/// Not zero: pages of zeros may be shared until they are written.
const UNTOUCHED: u8 = 0xa5;
