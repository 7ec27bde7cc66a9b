//! The tool's copies of one length, by the calling thread or through its pool, and memory that nobody touched.

use super::super::allocation::Allocation;
use super::super::buffer::BufferSpec;
use super::super::kind::Kind;
use super::super::movers::Lap;
use super::super::pool::Pool;
use super::super::route::{Course, Route};
use super::super::spec::Content;
use crate::ArmError;
use memmap2::{MmapMut, MmapOptions};
use std::os::fd::{AsRawFd, RawFd};
use std::path::Path;
use std::time::{Duration, Instant};

/// How often each function copies, and who does it.
pub(super) struct Copier {
    runs: usize,
    threads: usize,
    pool: Pool,
}

impl Copier {
    /// Starts the pool.
    ///
    /// # Errors
    /// A number is out of range, or a thread can't be started.
    pub(super) fn of(runs: usize, threads: usize) -> Result<Self, ArmError> {
        ArmError::check("threads", threads, 0, crate::THREADS_MAX)?;
        // A pool's queue moves up by a place for each copy.
        let runs_max = if threads == 0 { RUNS_MAX } else { RUNS_MAX_POOL };
        ArmError::check("runs", runs, 1, runs_max)?;
        Ok(Self { runs, threads, pool: Pool::of(threads)? })
    }

    /// All runs of a length, and what they took. Where they take long the clock stands while it is asked
    /// whether they are wanted.
    ///
    /// # Safety
    /// Both places are valid for `bytes`, don't overlap, and the lap runs on this processor.
    pub(super) unsafe fn run(
        &self,
        lap: Lap,
        (to, from): (*mut u8, *const u8),
        bytes: usize,
        wanted: &mut dyn FnMut() -> bool,
    ) -> Result<Duration, ArmError> {
        let route = Route::new(Course { places: 1, stride: bytes }, bytes, to, from);
        let Self { runs, threads, .. } = *self;
        // A queue is as long as all runs.
        let at_once = if threads == 0 { (BYTES_AT_ONCE / bytes).max(1) } else { runs };
        let mut took = Duration::ZERO;
        for done in (0..runs).step_by(at_once) {
            let times = at_once.min(runs - done);
            let begin = Instant::now();
            if threads == 0 {
                // SAFETY: as the caller promises.
                unsafe { lap(&route, 0, times) };
            } else {
                // SAFETY: as the caller promises; the pool is waited for, even where `wanted` panics.
                unsafe { self.pool.run(lap, &route, times, wanted) };
            }
            took += begin.elapsed();
            if !wanted() {
                return Err(ArmError::Stopped { device: "the published way".to_owned() });
            }
        }
        Ok(took)
    }
}

/// Memory whose pages nobody touched, as the tool has it; of a region what is there.
pub(super) enum FreshMemory {
    Heap(MmapMut),
    Other(Allocation),
}

impl FreshMemory {
    /// Takes it, for a source with its content. What the C library's allocator gives for as many bytes as the tool's is a mapping, too.
    ///
    /// # Errors
    /// There is no such memory here.
    pub(super) fn of(
        kind: &Kind,
        bytes: usize,
        content: Option<Content>,
        folder: &Path,
    ) -> Result<Self, ArmError> {
        if *kind == Kind::Heap {
            let map = MmapOptions::new().len(bytes).map_anon();
            return map.map(Self::Heap).map_err(|_| ArmError::NoMemory { bytes });
        }
        let spec = BufferSpec {
            kind: kind.clone(),
            content,
            thread: 0,
            bytes,
            folder: folder.to_owned(),
            only_for: None,
        };
        Ok(Self::Other(Allocation::of(&spec)?))
    }

    pub(super) fn start(&self) -> *mut u8 {
        match self {
            Self::Heap(map) => map.as_ptr().cast_mut(),
            Self::Other(allocation) => allocation.start,
        }
    }

    /// The file behind it, or -1.
    pub(super) fn file(&self) -> RawFd {
        match self {
            Self::Heap(_) => -1,
            Self::Other(allocation) => allocation.file.as_ref().map_or(-1, AsRawFd::as_raw_fd),
        }
    }
}

const RUNS_MAX: usize = 1_000_000;
const RUNS_MAX_POOL: usize = 10_000;
/// Some milliseconds; seconds where a device's memory is slow.
const BYTES_AT_ONCE: usize = 16 << 20;
