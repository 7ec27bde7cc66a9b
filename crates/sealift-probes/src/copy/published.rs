//! The published tool's way of measuring, as an arm of its own.

use super::compare;
use super::movers::{Lap, lap_of};
use super::place::{Place, Wish};
use super::pool::Pool;
use super::route::{Course, Route};
use super::spec::{Content, Function, Operation};
use super::{Kind, alone};
use crate::system::{Usage, steal_ns};
use crate::{Arm, ArmError, Sample, Verified};
use memmap2::{MmapMut, MmapOptions};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What a [`PublishedArm`] does.
#[derive(Clone, Debug)]
pub struct PublishedSpec {
    /// 0 for the C library's copy, 1 for the loop of words as a compiler makes it, 2 for registers of 64
    /// bytes, which stand for the tool's third copy. Those before it go first, as there.
    pub function: usize,
    /// Length of a copy in bytes.
    pub bytes: usize,
    /// Shorter lengths that are copied before, as there, in order.
    pub before: Vec<usize>,
    /// How often each function copies.
    pub runs: usize,
    /// Workers of the pool; 0 for none.
    pub threads: usize,
    /// Of the source.
    pub seed: u64,
}

/// Two looks at the clock around some copies, without a warm-up, into pages that nobody touched before.
///
/// Its time is the sum of what the tool would have taken down; all else a sample does is not in it.
pub struct PublishedArm {
    spec: PublishedSpec,
    laps: Vec<Lap>,
    source: Arc<Place>,
    pool: Pool,
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
        ArmError::check("function", spec.function, 0, 2)?;
        ArmError::check("bytes of a copy", spec.bytes, 1, BYTES_MAX)?;
        for before in &spec.before {
            ArmError::check("bytes before", *before, 1, spec.bytes)?;
        }
        ArmError::check("threads", spec.threads, 0, crate::THREADS_MAX)?;
        // A pool's queue moves up by a place for each copy.
        let runs_max = if spec.threads == 0 { RUNS_MAX } else { RUNS_MAX_POOL };
        ArmError::check("runs", spec.runs, 1, runs_max)?;
        let lap = |function| lap_of(Operation::Copy, function);
        let functions = functions(spec.function, |each| lap(each).map(drop))?;
        let laps = functions.into_iter().map(lap).collect::<Result<Vec<_>, _>>()?;
        let _alone = alone();
        let source = Place::get(Wish {
            kind: Kind::Heap,
            content: Some(Content::Seeded(spec.seed)),
            thread: 0,
            bytes: spec.bytes.next_power_of_two(),
            folder: PathBuf::new(),
            only_for: None,
        })?;
        Ok(Self {
            laps,
            source,
            pool: Pool::of(spec.threads)?,
            sessions: 0,
            verified: Verified::Against(vec!["the source, after all copies".to_owned()]),
            detail: format!(
                "as published: {}, {} runs, no warm-up, order {}, {}",
                functions[spec.function],
                spec.runs,
                functions.map(|each| each.to_string()).join(", "),
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
        let bytes = self.spec.bytes;
        let mut target =
            MmapOptions::new().len(bytes).map_anon().map_err(|_| ArmError::NoMemory { bytes })?;
        for before in &self.spec.before {
            for lap in &self.laps {
                self.copies(*lap, &mut target, *before, wanted)?;
            }
        }
        let mut took = Duration::ZERO;
        for lap in &self.laps[..=self.spec.function] {
            took = self.copies(*lap, &mut target, bytes, wanted)?;
        }
        let copied = compare::alike(target.as_ptr(), self.source.start(), bytes);
        copied.map_err(|byte| {
            let what = format!("byte {byte} of a copy is not its source's");
            ArmError::Wrong { device: self.detail.clone(), what }
        })?;
        Ok(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX))
    }

    /// All runs of a length, and what they took. Where they take long the clock stands while it is asked
    /// whether they are wanted.
    fn copies(
        &self,
        lap: Lap,
        target: &mut MmapMut,
        bytes: usize,
        wanted: &mut dyn FnMut() -> bool,
    ) -> Result<Duration, ArmError> {
        let course = Course { places: 1, stride: bytes };
        let route = Route::new(course, bytes, target.as_mut_ptr(), self.source.start());
        let PublishedSpec { runs, threads, .. } = self.spec;
        // A queue is as long as all runs.
        let at_once = if threads == 0 { (BYTES_AT_ONCE / bytes).max(1) } else { runs };
        let mut took = Duration::ZERO;
        for done in (0..runs).step_by(at_once) {
            let times = at_once.min(runs - done);
            let begin = Instant::now();
            if threads == 0 {
                // SAFETY: source and target have so many bytes, and the function was found to run here.
                unsafe { lap(&route, 0, times) };
            } else {
                // SAFETY: as above; the pool is waited for, even where `wanted` panics.
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

impl Arm for PublishedArm {
    fn sample(&mut self, seconds: f64) -> Result<Sample, ArmError> {
        self.sample_while(seconds, &mut || true)
    }

    fn sample_while(
        &mut self,
        seconds: f64,
        wanted: &mut dyn FnMut() -> bool,
    ) -> Result<Sample, ArmError> {
        let _alone = alone();
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

/// The three in the tool's order. Before others narrower registers may stand for its third, but what is asked for by
/// name is that or nothing.
fn functions(
    asked: usize,
    is_here: impl Fn(Function) -> Result<(), ArmError>,
) -> Result<[Function; 3], ArmError> {
    if asked == 2 {
        is_here(Function::Avx512)?;
    }
    let widest = [Function::Avx512, Function::Avx2, Function::Sse2];
    let third = widest.into_iter().find(|each| is_here(*each).is_ok());
    Ok([Function::Glibc, Function::Sse2, third.unwrap_or(Function::Sse2)])
}

const BYTES_MAX: usize = 256 << 20;
const RUNS_MAX: usize = 1_000_000;
const RUNS_MAX_POOL: usize = 10_000;
/// Some hundredths of a second.
const BYTES_AT_ONCE: usize = 256 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_way_is_timed_with_and_without_its_pool() {
        for (function, threads) in [(0, 0), (1, 2), (2, 3)] {
            let spec = PublishedSpec {
                function,
                bytes: 65_536,
                before: vec![16, 4_096],
                runs: 5,
                threads,
                seed: 1,
            };
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
        let none =
            PublishedSpec { function: 3, bytes: 1, before: vec![], runs: 5, threads: 0, seed: 1 };
        assert!(PublishedArm::prepare(&none).is_err());
    }

    #[test]
    fn what_is_asked_for_by_name_is_that_or_nothing() {
        let without = |function| match function {
            Function::Avx512 => {
                Err(ArmError::Absent { what: "avx512".into(), reason: "none".into() })
            }
            _ => Ok(()),
        };
        assert!(matches!(functions(2, without), Err(ArmError::Absent { .. })));
        assert_eq!(functions(1, without), Ok([Function::Glibc, Function::Sse2, Function::Avx2]));
        let all = [Function::Glibc, Function::Sse2, Function::Avx512];
        assert_eq!(functions(2, |_| Ok(())), Ok(all));
    }

    #[test]
    fn a_session_ends_when_it_is_no_longer_wanted_and_another_can_follow() {
        for threads in [0, 2] {
            let spec = PublishedSpec {
                function: 0,
                bytes: 4_096,
                before: vec![16],
                runs: 1_000,
                threads,
                seed: 1,
            };
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
