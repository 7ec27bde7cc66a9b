//! The published tool whole: its memory, its pool, and its experiments, length by length.

use super::super::{compare, lock_bench};
use super::copier::{Copier, FreshMemory};
use super::{BYTES_MAX, TOOLS, check_copied, laps};
use crate::ArmError;
use crate::copy::{Content, Kind};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The memory of its application and its workers, which stay for all of its experiments.
pub struct PublishedTool {
    application: FreshMemory,
    copier: Copier,
    current: Option<CurrentExperiment>,
}

/// The experiment under way.
struct CurrentExperiment {
    shared: FreshMemory,
    bytes: usize,
    direction: Direction,
}

// SAFETY: it has its memory alone, but for a region, which others map too: who touches one holds `lock_bench()`.
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
    /// Where files are made that have no name.
    pub folder: PathBuf,
}

/// An experiment that has its memory.
#[derive(Clone, Debug)]
pub struct ExperimentMemory {
    /// Where the shared memory lies.
    pub address: usize,
    /// The file behind it, or -1.
    pub file: i32,
    /// The last word of the source, the one before it, and the third, second and first.
    pub source: [u64; WORDS],
}

/// The copies of one length.
#[derive(Clone, Debug)]
pub struct CopyReport {
    /// By function: what all runs took.
    pub times: [Duration; TOOLS],
    /// The last word of the destination, the one before it, and the third, second and first.
    pub target: [u64; WORDS],
}

impl PublishedTool {
    /// Takes the application's memory and starts the workers.
    ///
    /// # Errors
    /// A number is out of range, there is no memory, or a thread can't be started.
    pub fn new(runs: usize, threads: usize) -> Result<Self, ArmError> {
        let copier = Copier::of(runs, threads)?;
        let application = FreshMemory::of(&Kind::Heap, BYTES_MAX, None, Path::new(""))?;
        Ok(Self { application, copier, current: None })
    }

    /// Where the application's memory lies.
    #[must_use]
    pub fn address(&self) -> usize {
        self.application.start().addr()
    }

    /// Gives back the memory of the last experiment, takes this one's, and fills its source.
    ///
    /// # Errors
    /// A number is out of range, or there is no such memory.
    pub fn begin(&mut self, spec: &ToolSpec) -> Result<ExperimentMemory, ArmError> {
        ArmError::check("bytes of the memory", spec.bytes, WORDS * 8, BYTES_MAX)?;
        self.current = None;
        let _alone = lock_bench();
        let content = (spec.direction == Direction::ReadsWhatIsThere).then_some(Content::Left);
        let shared = FreshMemory::of(&spec.memory, spec.bytes, content, &spec.folder)?;
        let (address, file) = (shared.start().addr(), shared.file());
        let current = CurrentExperiment { shared, bytes: spec.bytes, direction: spec.direction };
        let (_, from) = current.ends(&self.application);
        if spec.direction != Direction::ReadsWhatIsThere {
            // SAFETY: the source has so many bytes, and nobody else looks at it now.
            unsafe { fill(from, spec.bytes, spec.value) };
        }
        self.current = Some(current);
        Ok(ExperimentMemory { address, file, source: words(from, spec.bytes, spec.bytes) })
    }

    /// Copies a length by each of the tool's functions, as it does, without a warm-up.
    ///
    /// # Errors
    /// No experiment has begun, its memory is shorter, something was copied wrong, or it is no longer wanted.
    pub fn copy(
        &mut self,
        bytes: usize,
        wanted: &mut dyn FnMut() -> bool,
    ) -> Result<CopyReport, ArmError> {
        let current = self.current.as_ref().ok_or_else(|| ArmError::Spec {
            what: "experiment",
            value: "none".to_owned(),
            right: "one that has begun".to_owned(),
        })?;
        ArmError::check("bytes of a copy", bytes, 1, current.bytes)?;
        let laps = laps(TOOLS - 1)?;
        let _alone = lock_bench();
        let (to, from) = current.ends(&self.application);
        let from = from.cast_const();
        let mut times = [Duration::ZERO; TOOLS];
        for (time, lap) in times.iter_mut().zip(&laps) {
            // SAFETY: both have so many bytes, and the function was found to run here.
            *time = unsafe { self.copier.run(*lap, (to, from), bytes, wanted) }?;
        }
        check_copied("the published way", (to, from), bytes)?;
        Ok(CopyReport { times, target: words(to, bytes, current.bytes) })
    }
}

impl CurrentExperiment {
    /// Destination and source.
    fn ends(&self, application: &FreshMemory) -> (*mut u8, *mut u8) {
        match self.direction {
            Direction::Writes => (self.shared.start(), application.start()),
            Direction::Reads | Direction::ReadsWhatIsThere => {
                (application.start(), self.shared.start())
            }
        }
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
        ToolSpec { memory, bytes: 8_192, direction, value: 3, folder: std::env::temp_dir() }
    }

    #[test]
    fn an_experiment_stays_within_its_memory_and_tells_what_it_copied() {
        for (memory, threads) in [(Kind::Heap, 0), (Kind::Shm, 2)] {
            let mut tool = PublishedTool::new(5, threads).unwrap();
            assert!(tool.copy(16, &mut || true).is_err(), "nothing has begun");
            for direction in [Direction::Writes, Direction::Reads] {
                let ExperimentMemory { source, .. } =
                    tool.begin(&spec(memory.clone(), direction)).unwrap();
                assert_eq!((source[4], source[0]), (0x0a09_0807_0605_0403, 0x0201_00ff_fefd_fcfb));
                tool.copy(16, &mut || true).unwrap();
                let CopyReport { target, .. } = tool.copy(4_096, &mut || true).unwrap();
                assert_eq!(target, source);
                let long = tool.copy(8_193, &mut || true).unwrap_err();
                assert!(long.to_string().contains("right would be 1 to 8192"), "{long}");
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
        tool.begin(&left).unwrap();
        assert_eq!(tool.copy(4_096, &mut || true).unwrap().target, [0x0707_0707_0707_0707; 5]);
        assert_eq!(std::fs::read(&stand.0).unwrap(), held);
        tool.begin(&ToolSpec { direction: Direction::Writes, ..left }).unwrap();
        tool.copy(4_096, &mut || true).unwrap();
        assert_eq!(std::fs::read(&stand.0).unwrap()[..3], [3, 4, 5]);
    }

    #[test]
    fn copies_end_when_they_are_no_longer_wanted_and_others_can_follow() {
        let mut tool = PublishedTool::new(5, 0).unwrap();
        tool.begin(&spec(Kind::Heap, Direction::Writes)).unwrap();
        assert!(matches!(tool.copy(64, &mut || false), Err(ArmError::Stopped { .. })));
        tool.copy(64, &mut || true).unwrap();
    }
}
