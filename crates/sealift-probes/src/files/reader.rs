//! A reader on a file of short reads, timed.

use super::bytewise::{Bytewise, Locked, Unlocked};
use super::evidence::{Counts, Pages, kept_waiting_ns};
use super::linewise::{Blocks, Fgets, Getline};
use super::mapped::Mapped;
use super::memory::{ByByte, ByLine, Loaded};
use super::parsers::{Needletail, SeqIo};
use super::reads::{SEQUENCES, expected};
use super::stream::Ifstream;
use super::tally::Tally;
use crate::crew::{Crew, Done, Part};
use crate::{Arm, ArmError, Sample, Verified};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where the file is when a sample begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cache {
    /// In the page cache.
    Warm,
    /// On the disk: what is read next is taken out of the page cache before the clock starts.
    Cold,
}

/// A reader and its file.
#[derive(Clone, Debug)]
pub struct ReadSpec {
    /// A file of [`write_reads`](super::write_reads).
    pub path: PathBuf,
    /// What that gave.
    pub sums: Vec<u64>,
    /// One of `getc`, `getc_unlocked`, `fgets`, `getline`, `ifstream`, `read+memchr`, `mmap+memchr`, `needletail`,
    /// `seq_io`, `memory byte by byte`, `memory by lines`.
    pub reader: String,
    /// The library of `ifstream`, built of [`STREAM_SOURCE`](super::STREAM_SOURCE).
    pub library: Option<PathBuf>,
    /// Threads that each read the whole file.
    pub threads: usize,
    /// Where the file is.
    pub cache: Cache,
}

/// Prepares a reader, and holds what it reads first to what was written.
///
/// # Errors
/// A reader that there is not, a file that does not fit the sums or can't be read, something read wrong.
pub fn read_arm(spec: &ReadSpec) -> Result<Box<dyn Arm>, ArmError> {
    match spec.reader.as_str() {
        "getc" => boxed::<Bytewise<Locked>>(spec),
        "getc_unlocked" => boxed::<Bytewise<Unlocked>>(spec),
        "fgets" => boxed::<Fgets>(spec),
        "getline" => boxed::<Getline>(spec),
        "ifstream" => made(spec, |path| match &spec.library {
            Some(library) => Ifstream::open(path, library),
            None => Err(io::Error::other("no library of it was built")),
        }),
        "read+memchr" => boxed::<Blocks>(spec),
        "mmap+memchr" => boxed::<Mapped>(spec),
        "needletail" => boxed::<Needletail>(spec),
        "seq_io" => boxed::<SeqIo>(spec),
        "memory byte by byte" => boxed::<Loaded<ByByte>>(spec),
        "memory by lines" => boxed::<Loaded<ByLine>>(spec),
        other => Err(ArmError::Spec {
            what: "reader",
            value: other.to_owned(),
            right: READERS.join(", "),
        }),
    }
}

/// Goes through a file from its beginning to its end, in whole sequences.
pub(super) trait Reader: Send {
    fn open(path: &Path) -> io::Result<Self>
    where
        Self: Sized;

    /// Reads the next so many sequences; fewer only where the file ends.
    fn read(&mut self, sequences: u64) -> io::Result<Tally>;

    /// Goes back to the beginning.
    fn rewind(&mut self) -> io::Result<()>;

    /// Lets go of pages of the file, which otherwise stay in memory.
    fn forget(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Reader for Ifstream {
    fn open(_: &Path) -> io::Result<Self> {
        Err(io::Error::other("it is opened with its library"))
    }

    fn read(&mut self, sequences: u64) -> io::Result<Tally> {
        Self::read(self, sequences)
    }

    fn rewind(&mut self) -> io::Result<()> {
        Self::rewind(self)
    }
}

fn boxed<R: Reader + 'static>(spec: &ReadSpec) -> Result<Box<dyn Arm>, ArmError> {
    made(spec, R::open)
}

fn made<R: Reader + 'static>(
    spec: &ReadSpec,
    open: impl Fn(&Path) -> io::Result<R>,
) -> Result<Box<dyn Arm>, ArmError> {
    ArmError::check("threads", spec.threads, 1, crate::THREADS_MAX)?;
    if spec.cache == Cache::Cold {
        ArmError::check("threads that read a cold file", spec.threads, 1, 1)?;
    }
    let pages = Pages::of(&spec.path).map_err(|error| failed("open the file", &error))?;
    let parts = spec.sums.len();
    if parts == 0 || !pages.len().is_multiple_of(parts) {
        let (what, value) = ("bytes of the file", pages.len().to_string());
        return Err(ArmError::Spec { what, value, right: format!("a multiple of {parts} parts") });
    }
    let sums: Arc<[u64]> = spec.sums.as_slice().into();
    let part_bytes = pages.len() / parts;
    let readers = (0..spec.threads)
        .map(|_| {
            let reader = open(&spec.path).map_err(|error| failed("open the file", &error))?;
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
        self.ready(times).map_err(|error| failed("prepare the page cache", &error))?;
        let (before, kept_before_ns) = (Counts::now(), kept_waiting_ns());
        let mut sample = self.crew.run(&mut self.readers, times)?;
        let kept_ns = kept_waiting_ns().zip(kept_before_ns).map(|(after, before)| after - before);
        self.seen.counts.add(before, Counts::now());
        self.forget().map_err(|error| failed("let go of the file", &error))?;
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

/// Share of a time that nothing else took from a thread.
#[expect(clippy::cast_precision_loss, reason = "a sample is far under 2^52 ns")]
pub(super) fn share_left(kept_ns: u64, ns: u64) -> f64 {
    (1.0 - kept_ns as f64 / ns as f64).clamp(0.0, 1.0)
}

pub(super) fn failed(doing: &'static str, error: &io::Error) -> ArmError {
    ArmError::File { doing, reason: error.to_string() }
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
                self.reader.rewind().map_err(|error| failed("begin the file again", &error))?;
                self.next = 0;
            }
            let read = self.reader.read(SEQUENCES as u64);
            let tally = read.map_err(|error| failed("read the file", &error))?;
            tally.check(expected(self.sums[self.next]), &self.name, self.next)?;
            self.next += 1;
        }
        self.read += times as u64;
        Ok(Done { operations: times as u64, bytes: (times * self.part_bytes) as u64 })
    }
}

const STAYS: &str = "the file stays in memory, as its file system has files there, or another process \
    maps it; take a folder on a disk";
const READERS: [&str; 11] = [
    "getc",
    "getc_unlocked",
    "fgets",
    "getline",
    "ifstream",
    "read+memchr",
    "mmap+memchr",
    "needletail",
    "seq_io",
    "memory byte by byte",
    "memory by lines",
];

#[cfg(test)]
mod tests {
    use super::super::write_reads;
    use super::*;
    use std::fs::{self, File};

    /// A file that is gone with this.
    struct Made(PathBuf, Vec<u64>);

    impl Made {
        fn reads(name: &str) -> Self {
            let name = format!("sealift-reads-{name}-{}", std::process::id());
            let path = std::env::temp_dir().join(name);
            let file = File::create(&path).unwrap();
            let sums = write_reads(&file, 3_000, 1, &mut || true).unwrap();
            file.sync_all().unwrap();
            Self(path, sums)
        }

        fn spec(&self, reader: &str) -> ReadSpec {
            let (path, sums, reader) = (self.0.clone(), self.1.clone(), reader.to_owned());
            ReadSpec { path, sums, reader, library: None, threads: 1, cache: Cache::Warm }
        }
    }

    impl Drop for Made {
        fn drop(&mut self) {
            drop(fs::remove_file(&self.0));
        }
    }

    fn count(arm: &dyn Arm, name: &str) -> u64 {
        arm.counts().into_iter().find(|(each, _)| *each == name).unwrap().1
    }

    #[test]
    fn every_reader_reads_what_was_written_again_and_again() {
        let made = Made::reads("every");
        for reader in READERS.into_iter().filter(|each| *each != "ifstream") {
            for threads in [1, 2] {
                let spec = ReadSpec { threads, ..made.spec(reader) };
                let mut arm = read_arm(&spec).unwrap();
                for _ in 0..5 {
                    let sample = arm.sample(0.0).unwrap();
                    let parts = sample.operations / threads as u64;
                    assert!(parts >= 1 && sample.operations == parts * threads as u64, "{reader}");
                    assert_eq!(sample.bytes % sample.operations, 0, "{reader}");
                }
                assert!(count(&*arm, "sequences_checked") >= 5_000 * threads as u64, "{reader}");
                assert_eq!(count(&*arm, "pages_looked_at"), count(&*arm, "pages_in_memory"));
            }
        }
    }

    #[test]
    fn a_base_that_changed_in_the_file_is_noticed_by_every_reader() {
        let made = Made::reads("changed");
        let mut bytes = fs::read(&made.0).unwrap();
        // The last base of the last sequence.
        let at = bytes.len() - 155;
        assert!(b"ACGT".contains(&bytes[at]));
        bytes[at] = if bytes[at] == b'A' { b'C' } else { b'A' };
        fs::write(&made.0, bytes).unwrap();
        for reader in READERS.into_iter().filter(|each| *each != "ifstream") {
            let mut arm = read_arm(&made.spec(reader)).unwrap();
            let error = (0..3).find_map(|_| arm.sample(0.0).err()).unwrap().to_string();
            assert!(error.starts_with(&format!("{reader} gave a wrong result: part 2")), "{error}");
        }
    }

    #[test]
    fn a_cold_file_is_not_in_memory_when_the_clock_starts() {
        let made = Made::reads("cold");
        for reader in ["read+memchr", "mmap+memchr"] {
            let spec = ReadSpec { cache: Cache::Cold, ..made.spec(reader) };
            let mut arm = read_arm(&spec).unwrap();
            let sample = arm.sample(0.0).unwrap();
            assert!((0.0..=1.0).contains(&sample.cpu_share));
            assert!(count(&*arm, "pages_looked_at") > 0);
            let pages = Pages::of(&made.0).unwrap();
            pages.evict().unwrap();
            // A file system in memory keeps its pages.
            if pages.resident(0..pages.len()).unwrap().1 == 0 {
                assert_eq!(count(&*arm, "pages_in_memory"), 0, "{reader}");
            }
        }
    }

    #[test]
    fn what_can_not_be_read_is_refused() {
        let made = Made::reads("refused");
        let error = |spec: &ReadSpec| read_arm(spec).err().unwrap().to_string();
        assert!(error(&made.spec("getch")).starts_with("reader of getch: right would be getc, "));
        assert!(error(&made.spec("ifstream")).contains("no library"));
        assert!(
            error(&ReadSpec { sums: vec![], ..made.spec("getc") }).contains("bytes of the file")
        );
        assert!(error(&ReadSpec { threads: 0, ..made.spec("getc") }).starts_with("threads of 0"));
        let cold = ReadSpec { threads: 2, cache: Cache::Cold, ..made.spec("getc") };
        assert!(error(&cold).contains("right would be 1"));
        let absent = ReadSpec { path: "/nowhere".into(), ..made.spec("getc") };
        assert!(error(&absent).starts_with("could not open the file: No such file"));
    }
}
