//! The readers of short reads: which there are, and what each has to do.

use super::bytewise::{Bytewise, Locked, Unlocked};
use super::linewise::{Blocks, Fgets, Getline};
use super::mapped::Mapped;
use super::memory::{ByByte, ByLine, Loaded};
use super::parsers::{Needletail, SeqIo};
use super::reading::made;
use super::stream::Ifstream;
use super::tally::Tally;
use crate::{Arm, ArmError};
use std::io;
use std::path::{Path, PathBuf};

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
    use super::super::evidence::Pages;
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
