//! The published tool whole: its memory, its pool, and its experiments, each from its first copy to its last.

use super::super::{alone, compare};
use super::copier::{Copier, Fresh};
use super::{BYTES_MAX, TOOLS, check_copied, laps};
use crate::ArmError;
use crate::copy::{Content, Kind};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The memory of its application and its workers, which stay for all of its experiments.
pub struct PublishedTool {
    application: Fresh,
    copier: Copier,
}

// SAFETY: what it points to is its own, and is touched by whoever has it alone.
unsafe impl Send for PublishedTool {}

/// Whether its application writes to shared memory or reads from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The application's memory is the source, and is filled.
    Writes,
    /// The shared memory is the source, and is filled.
    Reads,
    /// The shared memory is the source, as it is.
    ReadsWhatIsThere,
}

/// One of its experiments.
#[derive(Clone, Debug)]
pub struct ToolSpec {
    /// What is called shared memory: the heap, host memory or a region.
    pub memory: Kind,
    /// Bytes of it.
    pub bytes: usize,
    /// Which way is copied.
    pub direction: Direction,
    /// Byte `i` of a source that is filled is `i` plus this, modulo 256.
    pub value: u8,
    /// Lengths of copies, in order; the first that is longer than the memory ends it.
    pub lengths: Vec<usize>,
    /// Where files are made that have no name.
    pub folder: PathBuf,
}

/// What an experiment gave.
#[derive(Clone, Debug)]
pub struct Figures {
    /// Where the shared memory lay.
    pub address: usize,
    /// The file behind it, or -1.
    pub file: i32,
    /// The last word of the source, the one before it, and the third, second and first.
    pub source: [u64; WORDS],
    /// Those of the destination, of the last length.
    pub target: [u64; WORDS],
    /// By length, and within that by function: what all runs took.
    pub took: Vec<[Duration; TOOLS]>,
}

impl PublishedTool {
    /// Takes the application's memory and starts the workers.
    ///
    /// # Errors
    /// A number is out of range, there is no memory, or a thread can't be started.
    pub fn new(runs: usize, threads: usize) -> Result<Self, ArmError> {
        let copier = Copier::of(runs, threads)?;
        Ok(Self { application: Fresh::of(&Kind::Heap, BYTES_MAX, None, Path::new(""))?, copier })
    }

    /// Where the application's memory lies.
    #[must_use]
    pub fn address(&self) -> usize {
        self.application.start().addr()
    }

    /// Copies every length by each of the tool's functions, as it does, without a warm-up.
    ///
    /// # Errors
    /// A number is out of range, there is no such memory, something was copied wrong, or it is no longer wanted.
    pub fn experiment(
        &mut self,
        spec: &ToolSpec,
        wanted: &mut dyn FnMut() -> bool,
    ) -> Result<Figures, ArmError> {
        ArmError::check("bytes of the memory", spec.bytes, WORDS * 8, BYTES_MAX)?;
        for bytes in &spec.lengths {
            ArmError::check("bytes of a copy", *bytes, 1, BYTES_MAX)?;
        }
        let laps = laps(TOOLS - 1)?;
        let _alone = alone();
        let content = (spec.direction == Direction::ReadsWhatIsThere).then_some(Content::Left);
        let shared = Fresh::of(&spec.memory, spec.bytes, content, &spec.folder)?;
        let is_write = spec.direction == Direction::Writes;
        let (from, to) = if is_write {
            (self.application.start(), shared.start())
        } else {
            (shared.start(), self.application.start())
        };
        if spec.direction != Direction::ReadsWhatIsThere {
            // SAFETY: the source has so many bytes, and nobody else looks at it now.
            unsafe { fill(from, spec.bytes, spec.value) };
        }
        let from = from.cast_const();
        let (mut took, mut last) = (vec![], WORDS * 8);
        for bytes in spec.lengths.iter().take_while(|bytes| **bytes <= spec.bytes) {
            let mut times = [Duration::ZERO; TOOLS];
            for (time, lap) in times.iter_mut().zip(&laps) {
                // SAFETY: both have so many bytes, and the function was found to run here.
                *time = unsafe { self.copier.run(*lap, (to, from), *bytes, wanted) }?;
            }
            check_copied("the published way", (to, from), *bytes)?;
            took.push(times);
            last = *bytes;
        }
        Ok(Figures {
            address: shared.start().addr(),
            file: shared.file(),
            source: words(from, spec.bytes, spec.bytes),
            target: words(to, last, spec.bytes),
            took,
        })
    }
}

/// # Safety
/// The memory has so many bytes, and nobody else looks at it.
unsafe fn fill(memory: *mut u8, bytes: usize, value: u8) {
    let mut line = [0_u8; LINE_BYTES];
    for (byte, number) in line.iter_mut().zip(0_u8..=u8::MAX) {
        *byte = number.wrapping_add(value);
    }
    for at in (0..bytes).step_by(LINE_BYTES) {
        let len = LINE_BYTES.min(bytes - at);
        // SAFETY: as the caller promises.
        unsafe { std::ptr::copy_nonoverlapping(line.as_ptr(), memory.wrapping_add(at), len) };
    }
}

/// The last two and the first three words of a copy, where the memory has them.
fn words(memory: *const u8, len: usize, bytes: usize) -> [u64; WORDS] {
    let last = (len / 8).max(2);
    [last - 1, last - 2, 2, 1, 0].map(|word| {
        if (word + 1) * 8 > bytes { 0 } else { compare::fold(memory.wrapping_add(word * 8), 8) }
    })
}

const WORDS: usize = 5;
/// A period of what a source holds.
const LINE_BYTES: usize = 256;

#[cfg(all(test, target_arch = "x86_64", not(sealift_portable)))]
mod tests {
    use super::*;
    use crate::copy::Region;
    use crate::copy::tests::Stand;

    fn spec(memory: Kind, direction: Direction) -> ToolSpec {
        let folder = std::env::temp_dir();
        let lengths = vec![16, 4_096, 8_193];
        ToolSpec { memory, bytes: 8_192, direction, value: 3, lengths, folder }
    }

    #[test]
    fn an_experiment_stays_within_its_memory_and_tells_what_it_copied() {
        for (memory, threads) in [(Kind::Heap, 0), (Kind::Shm, 2)] {
            let mut tool = PublishedTool::new(5, threads).unwrap();
            for direction in [Direction::Writes, Direction::Reads] {
                let figures = tool.experiment(&spec(memory.clone(), direction), &mut || true);
                let Figures { source, target, took, .. } = figures.unwrap();
                assert_eq!(took.len(), 2, "the third length is longer than the memory");
                assert_eq!(source[4], 0x0a09_0807_0605_0403);
                assert_eq!((source[0], target[0]), (0x0201_00ff_fefd_fcfb, 0x0201_00ff_fefd_fcfb));
            }
        }
    }

    #[test]
    fn what_another_process_wrote_is_read_as_it_is() {
        let held = vec![7_u8; 2 * 4_096];
        let stand = Stand::of("left", &held);
        let region = Kind::Region(Region::find(&stand.0, 0, 8_192).unwrap());
        let mut tool = PublishedTool::new(1, 0).unwrap();
        let left = spec(region, Direction::ReadsWhatIsThere);
        let figures = tool.experiment(&left, &mut || true).unwrap();
        assert_eq!(figures.target, [0x0707_0707_0707_0707; 5]);
        assert_eq!(std::fs::read(&stand.0).unwrap(), held);
        let write = ToolSpec { direction: Direction::Writes, ..left };
        tool.experiment(&write, &mut || true).unwrap();
        assert_eq!(std::fs::read(&stand.0).unwrap()[..3], [3, 4, 5]);
    }

    #[test]
    fn an_experiment_ends_when_it_is_no_longer_wanted() {
        let mut tool = PublishedTool::new(5, 0).unwrap();
        let stopped = tool.experiment(&spec(Kind::Heap, Direction::Writes), &mut || false);
        assert!(matches!(stopped, Err(ArmError::Stopped { .. })));
    }
}
