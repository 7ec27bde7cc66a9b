//! The published tool's way of measuring: a figure of it as an arm, and its experiments whole.

mod copier;
mod tool;

pub use tool::{CopyReport, Direction, ExperimentMemory, PublishedTool, ToolSpec};

use super::buffer::{Buffer, BufferSpec};
use super::kind::Kind;
use super::movers::{Lap, lap_of};
use super::spec::{Content, Function, Operation};
use super::{compare, lock_bench};
use crate::system::{Usage, steal_ns};
use crate::{Arm, ArmError, Sample, Verified};
use copier::{Copier, FreshMemory};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What a [`PublishedArm`] does.
#[derive(Clone, Debug)]
pub struct PublishedSpec {
    /// 0 for the C library's copy, 1 for the loop of words as a compiler makes it, 2 for the copy in the manner of
    /// Apex, and behind these three 3 for registers of 64 bytes. Those before it go first, as there.
    pub function: usize,
    /// Length of a copy in bytes.
    pub bytes: usize,
    /// Shorter lengths that are copied before, as there, in order.
    pub before: Vec<usize>,
    /// How often each function copies.
    pub runs: usize,
    /// Workers of the pool; 0 for none.
    pub threads: usize,
    /// Where the source lies.
    pub source: Kind,
    /// Where the destination lies: fresh memory for each session, but for a region.
    pub target: Kind,
    /// What the source holds.
    pub content: Content,
    /// Where files are made that have no name.
    pub folder: PathBuf,
}

/// Two looks at the clock around some copies, without a warm-up, into pages that nobody touched before.
///
/// Its time is the sum of what the tool would have taken down; all else a sample does is not in it.
pub struct PublishedArm {
    spec: PublishedSpec,
    laps: Vec<Lap>,
    source: Arc<Buffer>,
    copier: Copier,
    sessions: u64,
    verified: Verified,
    detail: String,
}

impl PublishedArm {
    /// Starts the pool.
    ///
    /// # Errors
    /// A number is out of range, the functions aren't here, a thread can't be started.
    pub fn prepare(spec: &PublishedSpec) -> Result<Self, ArmError> {
        ArmError::check("function", spec.function, 0, ORDER.len() - 1)?;
        ArmError::check("bytes of a copy", spec.bytes, 1, BYTES_MAX)?;
        for before in &spec.before {
            ArmError::check("bytes before", *before, 1, spec.bytes)?;
        }
        if let (Kind::Region(_), Kind::Region(_)) = (&spec.source, &spec.target) {
            let right = "memory beside the region, since both sides may not overlap".to_owned();
            return Err(ArmError::Spec { what: "target", value: spec.target.to_string(), right });
        }
        let laps = laps(spec.function)?;
        let _alone = lock_bench();
        let source = Buffer::get(BufferSpec {
            kind: spec.source.clone(),
            content: Some(spec.content),
            thread: 0,
            bytes: spec.bytes.next_power_of_two(),
            folder: spec.folder.clone(),
            only_for: None,
        })?;
        Ok(Self {
            laps,
            source,
            copier: Copier::of(spec.runs, spec.threads)?,
            sessions: 0,
            verified: Verified::Against(vec!["the source, after all copies".to_owned()]),
            detail: format!(
                "as published: {}, {} to {}, {} runs, no warm-up, order {}, {}",
                ORDER[spec.function],
                spec.source,
                spec.target,
                spec.runs,
                order(spec.function).iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
                if spec.threads == 0 {
                    "no pool"
                } else {
                    "a pool under one lock, polled every 10 µs"
                },
            ),
            spec: spec.clone(),
        })
    }

    /// All that the tool does up to this figure; gives what it takes down for it.
    fn session(&self, wanted: &mut dyn FnMut() -> bool) -> Result<u64, ArmError> {
        let PublishedSpec { bytes, target, folder, function, before, .. } = &self.spec;
        let fresh = FreshMemory::of(target, *bytes, None, folder)?;
        if matches!(target, Kind::Region(_)) {
            // It holds what the last session copied.
            // SAFETY: it has so many bytes, and nobody else looks at it now.
            unsafe { fresh.start().write_bytes(SPOILT, *bytes) };
        }
        let (to, from) = (fresh.start(), self.source.start().cast_const());
        for before in before {
            for lap in &self.laps {
                // SAFETY: source and target have so many bytes, and the function was found to run here.
                unsafe { self.copier.run(*lap, (to, from), *before, wanted) }?;
            }
        }
        let mut took = Duration::ZERO;
        for lap in &self.laps[..=*function] {
            // SAFETY: source and target have so many bytes, and the function was found to run here.
            took = unsafe { self.copier.run(*lap, (to, from), *bytes, wanted) }?;
        }
        check_copied(&self.detail, (to, from), *bytes)?;
        Ok(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX))
    }
}

/// Whether a copy is its source.
fn check_copied(
    what: &str,
    (to, from): (*mut u8, *const u8),
    bytes: usize,
) -> Result<(), ArmError> {
    compare::alike(to, from, bytes).map_err(|byte| ArmError::Wrong {
        device: what.to_owned(),
        what: format!("byte {byte} of a copy is not its source's"),
    })
}

impl Arm for PublishedArm {
    fn sample(&mut self, seconds: f64) -> Result<Sample, ArmError> {
        self.sample_while(seconds, &mut || true)
    }

    fn sample_while(
        &mut self,
        seconds: f64,
        wanted: &mut dyn FnMut() -> bool,
    ) -> Result<Sample, ArmError> {
        let _alone = lock_bench();
        let (begin, usage, stolen) = (Instant::now(), Usage::now(), steal_ns());
        let (mut ns, mut sessions) = (0, 0);
        while sessions == 0 || begin.elapsed().as_secs_f64() < seconds {
            ns += self.session(wanted)?;
            sessions += 1;
        }
        self.sessions += sessions;
        let (involuntary_switches, cpu_share) = usage.since();
        let operations = sessions * self.spec.runs as u64;
        let stolen =
            steal_ns().zip(stolen).map_or(0, |(after, before)| after.saturating_sub(before));
        Ok(Sample {
            ns: ns.max(1),
            operations,
            bytes: operations * self.spec.bytes as u64,
            involuntary_switches,
            // The caller of a pool sleeps by design.
            cpu_share: if self.spec.threads == 0 { cpu_share } else { 1.0 },
            steal_ns: stolen,
            clock_ghz: crate::clock::clock_ghz_now(),
        })
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
        &[]
    }

    fn counts(&self) -> Vec<(&'static str, u64)> {
        vec![("sessions_compared", self.sessions)]
    }
}

/// The loops of the tool's three functions, and of those behind them up to one.
fn laps(function: usize) -> Result<Vec<Lap>, ArmError> {
    order(function).iter().map(|each| lap_of(Operation::Copy, *each)).collect()
}

fn order(function: usize) -> &'static [Function] {
    &ORDER[..TOOLS.max(function + 1)]
}

/// The tool's three, in its order, and ours.
const ORDER: [Function; 4] = [Function::Glibc, Function::Sse2, Function::Apex, Function::Avx512];
const TOOLS: usize = 3;
const BYTES_MAX: usize = 256 << 20;
const SPOILT: u8 = 0x5a;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::copy::Region;

    #[test]
    fn the_published_way_is_timed_with_and_without_its_pool() {
        for (function, threads) in [(0, 0), (1, 2), (2, 3), (3, 0)] {
            let spec = PublishedSpec { function, threads, ..spec(65_536, vec![16, 4_096], 5) };
            let mut arm = match PublishedArm::prepare(&spec) {
                Err(error @ ArmError::Absent { .. }) => {
                    return eprintln!("not tested here: {error}");
                }
                made => made.unwrap(),
            };
            let sample = arm.sample(0.000_1).unwrap();
            assert_eq!(sample.bytes, sample.operations * 65_536);
            assert!(sample.operations.is_multiple_of(5) && sample.operations > 0);
        }
        assert!(
            PublishedArm::prepare(&PublishedSpec { function: 4, ..spec(1, vec![], 5) }).is_err()
        );
    }

    #[test]
    fn a_region_is_not_copied_onto_itself() {
        let path = std::env::temp_dir().join(format!("sealift-region-{}", std::process::id()));
        std::fs::write(&path, vec![0; 8_192]).unwrap();
        let region = Kind::Region(Region::find(&path, 0, 8_192).unwrap());
        let twice = PublishedSpec { source: region.clone(), target: region, ..spec(16, vec![], 5) };
        let refused = PublishedArm::prepare(&twice).err().unwrap().to_string();
        std::fs::remove_file(&path).unwrap();
        assert!(refused.contains("both sides may not overlap"), "{refused}");
    }

    fn spec(bytes: usize, before: Vec<usize>, runs: usize) -> PublishedSpec {
        PublishedSpec {
            function: 0,
            bytes,
            before,
            runs,
            threads: 0,
            source: Kind::Heap,
            target: Kind::Heap,
            content: Content::Seeded(1),
            folder: std::env::temp_dir(),
        }
    }

    #[test]
    fn mapped_memory_is_read_and_written_with_and_without_the_pool() {
        let mapped = |source, target| PublishedSpec { source, target, ..spec(4_096, vec![16], 5) };
        for threads in [0, 2] {
            for spec in [mapped(Kind::Heap, Kind::Shm), mapped(Kind::Shm, Kind::Heap)] {
                let mut arm = match PublishedArm::prepare(&PublishedSpec { threads, ..spec }) {
                    Err(error @ ArmError::Absent { .. }) => {
                        return eprintln!("not tested here: {error}");
                    }
                    made => made.unwrap(),
                };
                assert!(arm.sample(0.0).unwrap().operations > 0);
            }
        }
    }

    #[test]
    fn a_session_ends_when_it_is_no_longer_wanted_and_another_can_follow() {
        for threads in [0, 2] {
            let spec = PublishedSpec { threads, ..spec(4_096, vec![16], 1_000) };
            let mut arm = match PublishedArm::prepare(&spec) {
                Err(error @ ArmError::Absent { .. }) => {
                    return eprintln!("not tested here: {error}");
                }
                made => made.unwrap(),
            };
            let mut asked = 0;
            let stopped = arm.sample_while(0.0, &mut || {
                asked += 1;
                asked < 3
            });
            assert!(matches!(stopped, Err(ArmError::Stopped { .. })), "{threads}: {stopped:?}");
            assert_eq!(arm.sample(0.0).unwrap().operations, 1_000);
        }
    }
}
