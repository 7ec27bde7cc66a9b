//! Readers of short reads that Rust programs use.

use super::reader::Reader;
use super::tally::Tally;
use std::fs::File;
use std::io::{Error, Result, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// The crate `needletail`.
pub(super) struct Needletail {
    path: PathBuf,
    reader: Box<dyn needletail::FastxReader>,
}

impl Reader for Needletail {
    fn open(path: &Path) -> Result<Self> {
        let reader = needletail::parse_fastx_file(path).map_err(Error::other)?;
        Ok(Self { path: path.to_owned(), reader })
    }

    fn read(&mut self, sequences: u64) -> Result<Tally> {
        let mut tally = Tally::default();
        while tally.sequences < sequences {
            let Some(record) = self.reader.next() else { break };
            tally.sequence(record.map_err(Error::other)?.raw_seq());
        }
        Ok(tally)
    }

    fn rewind(&mut self) -> Result<()> {
        *self = Self::open(&self.path)?;
        Ok(())
    }
}

/// The crate `seq_io`.
pub(super) struct SeqIo {
    file: File,
    reader: seq_io::fastq::Reader<File>,
}

impl Reader for SeqIo {
    fn open(path: &Path) -> Result<Self> {
        let file = File::open(path)?;
        Ok(Self { reader: seq_io::fastq::Reader::new(file.try_clone()?), file })
    }

    fn read(&mut self, sequences: u64) -> Result<Tally> {
        use seq_io::fastq::Record;
        let mut tally = Tally::default();
        while tally.sequences < sequences {
            let Some(record) = self.reader.next() else { break };
            tally.sequence(record.map_err(Error::other)?.seq());
        }
        Ok(tally)
    }

    fn rewind(&mut self) -> Result<()> {
        self.file.seek(SeekFrom::Start(0))?;
        self.reader = seq_io::fastq::Reader::new(self.file.try_clone()?);
        Ok(())
    }
}
