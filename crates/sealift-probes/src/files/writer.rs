//! A writer of text, timed.

use super::evidence::Counts;
use super::text::lorem_ipsum;
use super::writers::{Blocks, Fwrite, Putc, Writer};
use crate::crew::{Crew, Done, Part};
use crate::system::{kept_waiting_ns, share_left};
use crate::{Arm, ArmError, Sample, Verified};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

/// Bytes that one operation writes.
pub const TEXT_BYTES: usize = 64 << 10;

/// A writer and its file.
#[derive(Clone, Debug)]
pub struct WriteSpec {
    /// A file that is there; what it holds is lost.
    pub path: PathBuf,
    /// One of `putc`, `fwrite`, `write`.
    pub writer: String,
    /// Bytes of each call, up to 1 MiB; 1 for `putc`.
    pub block_bytes: usize,
    /// Whether the writer waits after each 1 MiB until its bytes are on the disk.
    pub fsync: bool,
    /// Of the text.
    pub seed: u64,
}

/// Prepares a writer, and reads back what it writes first.
///
/// Each sample begins with an empty file; after 64 MiB it goes on at the beginning.
///
/// # Errors
/// A writer that there is not, blocks that do not make up the text, a file that can't be written, or one
/// that holds something else than was written.
pub fn write_arm(spec: &WriteSpec) -> Result<Box<dyn Arm>, ArmError> {
    match spec.writer.as_str() {
        "putc" => {
            ArmError::check("bytes of a block of putc", spec.block_bytes, 1, 1)?;
            boxed::<Putc>(spec)
        }
        "fwrite" => boxed::<Fwrite>(spec),
        "write" => boxed::<Blocks>(spec),
        other => Err(ArmError::Spec {
            what: "writer",
            value: other.to_owned(),
            right: "putc, fwrite or write".to_owned(),
        }),
    }
}

fn boxed<W: Writer + 'static>(spec: &WriteSpec) -> Result<Box<dyn Arm>, ArmError> {
    if !spec.block_bytes.is_power_of_two() || spec.block_bytes > LARGE_BYTES {
        let (what, value) = ("bytes of a block", spec.block_bytes.to_string());
        let right = format!("a power of two up to {LARGE_BYTES}");
        return Err(ArmError::Spec { what, value, right });
    }
    let is_large = spec.fsync || spec.block_bytes > TEXT_BYTES;
    let step_bytes = if is_large { LARGE_BYTES } else { TEXT_BYTES };
    let file = OpenOptions::new().read(true).write(true).open(&spec.path);
    let file = file.map_err(ArmError::file("open the file"))?;
    let writing = Writing {
        writer: W::open(&spec.path).map_err(ArmError::file("open the file"))?,
        file,
        name: spec.writer.clone(),
        text: lorem_ipsum(step_bytes, spec.seed),
        block_bytes: spec.block_bytes,
        fsync: spec.fsync,
        end: 0,
        emptied: Ok(()),
        written: 0,
    };
    let mut arm = TextArm {
        writing: [writing],
        crew: Crew::of(1),
        verified: Verified::Against(vec!["the text, read back from the file".to_owned()]),
        detail: format!("{}, {} B a call", spec.writer, spec.block_bytes),
        seen: Counts::default(),
    };
    // The first measure is not counted.
    arm.sample(0.0)?;
    arm.seen = Counts::default();
    Ok(Box::new(arm))
}

struct TextArm<W> {
    writing: [Writing<W>; 1],
    crew: Crew,
    verified: Verified,
    detail: String,
    seen: Counts,
}

impl<W: Writer> Arm for TextArm<W> {
    fn sample(&mut self, seconds: f64) -> Result<Sample, ArmError> {
        let times = self.crew.times_for(seconds);
        let (before, kept_before_ns) = (Counts::now(), kept_waiting_ns());
        let mut sample = self.crew.run(&mut self.writing, times)?;
        let kept_ns = kept_waiting_ns().zip(kept_before_ns).map(|(after, before)| after - before);
        self.seen.add(before, Counts::now());
        if let (true, Some(kept_ns)) = (self.writing[0].fsync, kept_ns) {
            sample.cpu_share = share_left(kept_ns, sample.ns);
        }
        Ok(sample)
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
        vec![
            ("bytes_written", self.writing[0].written),
            ("major_faults", self.seen.major_faults),
            ("minor_faults", self.seen.minor_faults),
            ("voluntary_switches", self.seen.voluntary_switches),
        ]
    }
}

/// A writer at its place in the file.
struct Writing<W> {
    writer: W,
    file: File,
    name: String,
    /// What is written again and again.
    text: Vec<u8>,
    block_bytes: usize,
    fsync: bool,
    /// Where the text is written next.
    end: usize,
    emptied: io::Result<()>,
    written: u64,
}

impl<W: Writer> Writing<W> {
    fn empty(&mut self) -> io::Result<()> {
        self.file.set_len(0)?;
        self.end = 0;
        self.writer.rewind()
    }

    fn once(&mut self) -> io::Result<()> {
        if self.end == FILE_BYTES {
            self.writer.rewind()?;
            self.end = 0;
        }
        self.writer.write(&self.text, self.block_bytes)?;
        self.end += self.text.len();
        if self.fsync { self.writer.sync() } else { Ok(()) }
    }
}

impl<W: Writer> Part for Writing<W> {
    fn ready(&mut self, _: usize) {
        self.emptied = self.empty();
    }

    fn work(&mut self, times: usize) -> Result<Done, ArmError> {
        let emptied = std::mem::replace(&mut self.emptied, Ok(()));
        emptied.map_err(ArmError::file("empty the file"))?;
        for _ in 0..times {
            self.once().map_err(ArmError::file("write the file"))?;
        }
        let bytes = times * self.text.len();
        self.written += bytes as u64;
        Ok(Done { operations: (bytes / TEXT_BYTES) as u64, bytes: bytes as u64 })
    }

    fn check(&mut self) -> Result<(), ArmError> {
        let mut found = vec![0; self.text.len()];
        let begin = self.end - found.len();
        let read = self.file.read_exact_at(&mut found, begin as u64);
        if read.is_err() || found != self.text {
            let what = format!("{} bytes from {begin} on are not what was written", found.len());
            return Err(ArmError::Wrong { device: self.name.clone(), what });
        }
        self.empty().map_err(ArmError::file("empty the file"))
    }
}

const FILE_BYTES: usize = 64 << 20;
const LARGE_BYTES: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    struct Made(PathBuf);

    impl Made {
        fn empty(name: &str) -> Self {
            let name = format!("sealift-text-{name}-{}", std::process::id());
            let path = std::env::temp_dir().join(name);
            File::create(&path).unwrap();
            Self(path)
        }

        fn spec(&self, writer: &str, block_bytes: usize, fsync: bool) -> WriteSpec {
            let (path, writer) = (self.0.clone(), writer.to_owned());
            WriteSpec { path, writer, block_bytes, fsync, seed: 1 }
        }
    }

    impl Drop for Made {
        fn drop(&mut self) {
            drop(fs::remove_file(&self.0));
        }
    }

    #[test]
    fn every_writer_writes_the_text_and_leaves_an_empty_file() {
        let made = Made::empty("every");
        for (writer, block_bytes) in [("putc", 1), ("fwrite", 4_096), ("write", LARGE_BYTES)] {
            for fsync in [false, true] {
                let mut arm = write_arm(&made.spec(writer, block_bytes, fsync)).unwrap();
                let sample = arm.sample(0.0).unwrap();
                assert_eq!(sample.bytes, sample.operations * TEXT_BYTES as u64);
                assert_eq!(fs::metadata(&made.0).unwrap().len(), 0, "{writer}");
                let first =
                    if fsync || block_bytes > TEXT_BYTES { LARGE_BYTES } else { TEXT_BYTES };
                assert_eq!(arm.counts()[0].1, first as u64 + sample.bytes);
            }
        }
    }

    #[test]
    fn text_that_is_not_what_was_written_is_noticed() {
        struct Forgets(File);
        impl Writer for Forgets {
            fn open(path: &std::path::Path) -> io::Result<Self> {
                OpenOptions::new().write(true).open(path).map(Self)
            }
            fn write(&mut self, text: &[u8], _: usize) -> io::Result<()> {
                self.0.write_all_at(&text[..text.len() - 1], 0)
            }
            fn sync(&mut self) -> io::Result<()> {
                Ok(())
            }
            fn rewind(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let made = Made::empty("forgets");
        let error = boxed::<Forgets>(&made.spec("write", 4_096, false)).err().unwrap();
        assert!(matches!(error, ArmError::Wrong { .. }), "{error}");
    }

    #[test]
    fn what_can_not_be_written_is_refused() {
        let made = Made::empty("refused");
        let error = |spec: &WriteSpec| write_arm(spec).err().unwrap().to_string();
        assert!(
            error(&made.spec("puts", 1, false)).contains("right would be putc, fwrite or write")
        );
        assert!(error(&made.spec("putc", 2, false)).contains("right would be 1"));
        assert!(error(&made.spec("write", 1_000, false)).contains("a power of two up to 1048576"));
        assert!(error(&made.spec("write", 0, false)).contains("bytes of a block of 0"));
        let absent = WriteSpec { path: "/nowhere".into(), ..made.spec("write", 4_096, false) };
        assert!(error(&absent).starts_with("could not open the file"));
    }
}
