//! Readers that are timed, each at its place in the file.

use super::evidence::{Counts, Pages};
use super::reader::{Cache, ReadSpec, Reader};
use super::reads::{SEQUENCES, expected};
use crate::crew::{Crew, Done, Part};
use crate::system::{kept_waiting_ns, share_left};
use crate::{Arm, ArmError, Sample, Verified};
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// Prepares a reader on each thread, and holds what it reads first to what was written.
///
/// # Errors
/// As [`read_arm`](super::read_arm).
pub(super) fn made<R: Reader + 'static>(
    spec: &ReadSpec,
    open: impl Fn(&Path) -> io::Result<R>,
) -> Result<Box<dyn Arm>, ArmError> {
    ArmError::check("threads", spec.threads, 1, crate::THREADS_MAX)?;
    if spec.cache == Cache::Cold {
        ArmError::check("threads that read a cold file", spec.threads, 1, 1)?;
    }
    let pages = Pages::of(&spec.path).map_err(ArmError::file("open the file"))?;
    let parts = spec.sums.len();
    if parts == 0 || !pages.len().is_multiple_of(parts) {
        let (what, value) = ("bytes of the file", pages.len().to_string());
        return Err(ArmError::Spec { what, value, right: format!("a multiple of {parts} parts") });
    }
    let sums: Arc<[u64]> = spec.sums.as_slice().into();
    let part_bytes = pages.len() / parts;
    let readers = (0..spec.threads)
        .map(|_| {
            let reader = open(&spec.path).map_err(ArmError::file("open the file"))?;
            let (name, sums) = (spec.reader.clone(), Arc::clone(&sums));
            Ok(Reading { reader, name, sums, next: 0, part_bytes, read: 0 })
        })
        .collect::<Result<_, ArmError>>()?;
    let mut arm = FileArm {
        readers,
        crew: Crew::of(spec.threads),
        pages,
        cache: spec.cache,
        verified: Verified::Against(vec!["what the file's maker wrote".to_owned()]),
        detail: spec.reader.clone(),
        seen: Seen::default(),
        is_first: true,
    };
    // The first measure is not counted.
    arm.sample(0.0)?;
    (arm.seen, arm.is_first) = (Seen::default(), false);
    Ok(Box::new(arm))
}

/// A reader on each thread.
struct FileArm<R> {
    readers: Vec<Reading<R>>,
    crew: Crew,
    pages: Pages,
    cache: Cache,
    verified: Verified,
    detail: String,
    seen: Seen,
    is_first: bool,
}

/// What the system did, in all samples.
#[derive(Default)]
struct Seen {
    counts: Counts,
    pages: u64,
    resident: u64,
}

impl<R: Reader> FileArm<R> {
    fn ready(&mut self, times: usize) -> io::Result<()> {
        let ranges: Vec<_> = self.readers.iter().flat_map(|each| each.ahead(times)).collect();
        if self.cache == Cache::Cold {
            self.pages.evict()?;
        }
        for range in ranges {
            let (mut pages, mut resident) = self.pages.resident(range.clone())?;
            if self.cache == Cache::Warm && resident < pages {
                self.pages.load(range.clone())?;
                (pages, resident) = self.pages.resident(range)?;
            }
            // Later a few may stay, which is counted: they were being read ahead.
            if self.cache == Cache::Cold && self.is_first && 2 * resident > pages {
                return Err(io::Error::other(STAYS));
            }
            self.seen.pages += pages as u64;
            self.seen.resident += resident as u64;
        }
        Ok(())
    }

    fn forget(&mut self) -> io::Result<()> {
        if self.cache == Cache::Cold {
            self.readers.iter_mut().try_for_each(|each| each.reader.forget())?;
        }
        Ok(())
    }
}

impl<R: Reader> Arm for FileArm<R> {
    fn sample(&mut self, seconds: f64) -> Result<Sample, ArmError> {
        let parts = self.readers.first().map_or(1, |reader| reader.sums.len());
        let times = self.crew.times_for(seconds).min(parts);
        self.ready(times).map_err(ArmError::file("prepare the page cache"))?;
        let (before, kept_before_ns) = (Counts::now(), kept_waiting_ns());
        let mut sample = self.crew.run(&mut self.readers, times)?;
        let kept_ns = kept_waiting_ns().zip(kept_before_ns).map(|(after, before)| after - before);
        self.seen.counts.add(before, Counts::now());
        self.forget().map_err(ArmError::file("let go of the file"))?;
        if let (Cache::Cold, Some(kept_ns)) = (self.cache, kept_ns) {
            sample.cpu_share = share_left(kept_ns, sample.ns);
        }
        Ok(sample)
    }

    fn goes_on(&self) -> bool {
        false
    }

    fn verified(&self) -> &Verified {
        &self.verified
    }

    fn detail(&self) -> &str {
        &self.detail
    }

    fn cores(&self) -> &[usize] {
        self.crew.cores()
    }

    fn counts(&self) -> Vec<(&'static str, u64)> {
        let read: u64 = self.readers.iter().map(|reader| reader.read).sum();
        vec![
            ("sequences_checked", read * SEQUENCES as u64),
            ("major_faults", self.seen.counts.major_faults),
            ("minor_faults", self.seen.counts.minor_faults),
            ("voluntary_switches", self.seen.counts.voluntary_switches),
            ("pages_looked_at", self.seen.pages),
            ("pages_in_memory", self.seen.resident),
        ]
    }
}

/// A reader at its place in the file.
struct Reading<R> {
    reader: R,
    name: String,
    sums: Arc<[u64]>,
    next: usize,
    part_bytes: usize,
    read: u64,
}

impl<R: Reader> Reading<R> {
    /// The bytes of the next so many parts, which may go on at the beginning.
    fn ahead(&self, parts: usize) -> [Range<usize>; 2] {
        let end = (self.next + parts).min(self.sums.len());
        let rest = (parts - (end - self.next)).min(self.sums.len());
        let bytes =
            |parts: Range<usize>| parts.start * self.part_bytes..parts.end * self.part_bytes;
        [bytes(self.next..end), bytes(0..rest)]
    }
}

impl<R: Reader> Part for Reading<R> {
    fn work(&mut self, times: usize) -> Result<Done, ArmError> {
        for _ in 0..times {
            if self.next == self.sums.len() {
                self.reader.rewind().map_err(ArmError::file("begin the file again"))?;
                self.next = 0;
            }
            let read = self.reader.read(SEQUENCES as u64);
            let tally = read.map_err(ArmError::file("read the file"))?;
            tally.check(expected(self.sums[self.next]), &self.name, self.next)?;
            self.next += 1;
        }
        self.read += times as u64;
        Ok(Done { operations: times as u64, bytes: (times * self.part_bytes) as u64 })
    }
}

const STAYS: &str = "the file stays in memory, as its file system has files there, or another process \
    maps it; take a folder on a disk";
