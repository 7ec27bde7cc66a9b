//! Reads memory as fast as it goes: the ceiling of everything that works in memory.

mod sum;

use crate::crew::{Crew, Done, Part};
use crate::random::Random;
use crate::{Arm, ArmError, Sample, Verified};
use sum::Sum;

/// Bytes that one operation reads.
pub const READ_BYTES: usize = 65_536;

/// A loop that sums a buffer from end to end, again and again; each thread has a buffer of its own.
///
/// It measures memory when all buffers together are larger than the last cache. Every sum is compared with
/// the one that was found when the buffer was filled.
pub struct ReadArm {
    readers: Vec<Reader>,
    crew: Crew,
    verified: Verified,
    sum: Sum,
}

impl ReadArm {
    /// Fills the buffers, asking before every few megabytes whether that is still wanted.
    ///
    /// `buffer_bytes` are shared out over the threads, in whole [`READ_BYTES`].
    ///
    /// # Errors
    /// No threads, or less than [`READ_BYTES`] for each; no memory; [`ArmError::Stopped`].
    pub fn prepare_while(
        buffer_bytes: usize,
        threads: usize,
        wanted: &mut dyn FnMut() -> bool,
    ) -> Result<Self, ArmError> {
        ArmError::check("threads", threads, 1, crate::THREADS_MAX)?;
        ArmError::check("bytes of a buffer", buffer_bytes, READ_BYTES * threads, usize::MAX)?;
        let (sum, chunks) = (Sum::widest(), buffer_bytes / threads / READ_BYTES);
        let mut crew = Crew::of(threads);
        let mut fillers = (0..threads)
            .map(|thread| Filler::new(sum, chunks, thread))
            .collect::<Result<Vec<_>, _>>()?;
        for filled in (0..chunks).step_by(CHUNKS_A_LOOK) {
            if !wanted() {
                return Err(ArmError::Stopped { device: "a buffer to read".to_owned() });
            }
            crew.run(&mut fillers, CHUNKS_A_LOOK.min(chunks - filled))?;
        }
        let readers = fillers.into_iter().map(|filler| filler.reader).collect();
        let verified = Verified::Against(vec!["sums taken when the buffer was filled".to_owned()]);
        let mut arm = Self { readers, crew, verified, sum };
        // The first look at a buffer takes its pages into the translation caches, and gives the pace.
        arm.crew.run(&mut arm.readers, chunks.min(WARM_UP_CHUNKS))?;
        Ok(arm)
    }
}

impl Arm for ReadArm {
    fn sample(&mut self, seconds: f64) -> Result<Sample, ArmError> {
        let times = self.crew.times_for(seconds);
        self.crew.run(&mut self.readers, times)
    }

    fn verified(&self) -> &Verified {
        &self.verified
    }

    fn detail(&self) -> &str {
        self.sum.detail
    }

    fn cores(&self) -> &[usize] {
        self.crew.cores()
    }

    fn counts(&self) -> Vec<(&'static str, u64)> {
        vec![("sums_checked", self.readers.iter().map(|reader| reader.read).sum())]
    }
}

/// The buffer of a thread.
pub(crate) struct Reader {
    sum: Sum,
    words: Vec<u64>,
    sums: Vec<u64>,
    next: usize,
    read: u64,
}

impl Reader {
    /// One of so many [`READ_BYTES`], filled by the calling thread.
    pub(crate) fn filled(chunks: usize, thread: usize) -> Result<Self, ArmError> {
        let mut filler = Filler::new(Sum::widest(), chunks, thread)?;
        filler.work(chunks)?;
        Ok(filler.reader)
    }
}

/// Fills the buffer of a thread on that thread: memory lies near the core that touches it first.
struct Filler {
    reader: Reader,
    random: Random,
}

impl Filler {
    fn new(sum: Sum, chunks: usize, thread: usize) -> Result<Self, ArmError> {
        let mut words = vec![];
        let bytes = chunks * READ_BYTES;
        words.try_reserve_exact(chunks * WORDS).map_err(|_| ArmError::NoMemory { bytes })?;
        let reader = Reader { sum, words, sums: vec![], next: 0, read: 0 };
        Ok(Self { reader, random: Random::new(READ_BYTES as u64, thread as u64) })
    }
}

impl Part for Filler {
    fn work(&mut self, times: usize) -> Result<Done, ArmError> {
        let Self { reader, random } = self;
        for _ in 0..times {
            let filled = reader.words.len();
            reader.words.extend((0..WORDS).map(|_| random.next_u64()));
            reader.sums.push(reader.sum.of(&reader.words[filled..]));
        }
        Ok(Done { operations: times as u64, bytes: (times * READ_BYTES) as u64 })
    }
}

impl Part for Reader {
    fn work(&mut self, times: usize) -> Result<Done, ArmError> {
        for _ in 0..times {
            let chunk = self.next;
            if self.sum.of(&self.words[chunk * WORDS..][..WORDS]) != self.sums[chunk] {
                let what = format!("chunk {chunk} of {READ_BYTES} bytes had another sum before");
                return Err(ArmError::Wrong { device: "reading memory".to_owned(), what });
            }
            self.next = if chunk + 1 == self.sums.len() { 0 } else { chunk + 1 };
        }
        self.read += times as u64;
        Ok(Done { operations: times as u64, bytes: (times * READ_BYTES) as u64 })
    }
}

const WORDS: usize = READ_BYTES / size_of::<u64>();
const CHUNKS_A_LOOK: usize = 256;
const WARM_UP_CHUNKS: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    fn prepare(buffer_bytes: usize, threads: usize) -> Result<ReadArm, ArmError> {
        ReadArm::prepare_while(buffer_bytes, threads, &mut || true)
    }

    #[test]
    fn a_sample_counts_the_bytes_that_all_threads_read() {
        for threads in [1, 3] {
            let mut arm = prepare(10 * READ_BYTES + 1, threads).unwrap();
            let sample = arm.sample(0.005).unwrap();
            assert_eq!(sample.bytes, sample.operations * READ_BYTES as u64);
            assert_eq!(sample.operations % threads as u64, 0);
            assert!(sample.operations >= threads as u64);
        }
    }

    #[test]
    fn a_word_that_changed_is_noticed() {
        let mut arm = prepare(4 * READ_BYTES, 2).unwrap();
        arm.readers[1].words[WORDS] ^= 1;
        let error = (0..10).find_map(|_| arm.sample(0.001).err()).unwrap();
        assert!(error.to_string().contains("chunk 1 of 65536 bytes"), "{error}");
    }

    #[test]
    fn a_buffer_that_can_not_be_is_refused() {
        let error = |bytes, threads| prepare(bytes, threads).err().unwrap().to_string();
        assert!(error(READ_BYTES, 2).contains("right would be 131072 or more"));
        assert!(error(READ_BYTES, 0).starts_with("threads of 0"));
        assert!(error(usize::MAX, 1).contains("no memory"));
        let stopped = ReadArm::prepare_while(READ_BYTES, 1, &mut || false);
        assert!(matches!(stopped.err(), Some(ArmError::Stopped { .. })));
    }
}
