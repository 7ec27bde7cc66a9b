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
use std::time::Instant;

/// What a [`PublishedArm`] does.
#[derive(Clone, Debug)]
pub struct PublishedSpec {
    /// 0 for the C library's copy, 1 for the loop of words as a compiler makes it, 2 for the widest
    /// registers, which stand for the tool's third copy. Those before it go first, as there.
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
        ArmError::check(
            "bytes before",
            spec.before.iter().copied().max().unwrap_or(0),
            0,
            spec.bytes,
        )?;
        ArmError::check("threads", spec.threads, 0, crate::THREADS_MAX)?;
        ArmError::check("runs", spec.runs, 1, runs_max(spec))?;
        let widest = [Function::Avx512, Function::Avx2, Function::Sse2];
        let widest = widest.into_iter().find(|each| lap_of(Operation::Copy, *each).is_ok());
        let functions = [Function::Glibc, Function::Sse2, widest.unwrap_or(Function::Sse2)];
        let laps = functions.map(|each| lap_of(Operation::Copy, each));
        let laps = laps.into_iter().collect::<Result<Vec<_>, _>>()?;
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
                "as published: {}, {} runs, no warm-up, order glibc, words, widest registers, {}",
                functions[spec.function],
                spec.runs,
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
    fn session(&self) -> Result<u64, ArmError> {
        let bytes = self.spec.bytes;
        let mut target =
            MmapOptions::new().len(bytes).map_anon().map_err(|_| ArmError::NoMemory { bytes })?;
        for before in &self.spec.before {
            for lap in &self.laps {
                self.copies(*lap, &mut target, *before);
            }
        }
        let mut ns = 0;
        for lap in &self.laps[..=self.spec.function] {
            let begin = Instant::now();
            self.copies(*lap, &mut target, bytes);
            ns = u64::try_from(begin.elapsed().as_nanos()).unwrap_or(u64::MAX);
        }
        let copied = compare::alike(target.as_ptr(), self.source.start(), bytes);
        copied.map_err(|byte| {
            let what = format!("byte {byte} of a copy is not its source's");
            ArmError::Wrong { device: self.detail.clone(), what }
        })?;
        Ok(ns)
    }

    fn copies(&self, lap: Lap, target: &mut MmapMut, bytes: usize) {
        let course = Course { places: 1, stride: bytes };
        let route = Route::new(course, bytes, target.as_mut_ptr(), self.source.start());
        if self.spec.threads == 0 {
            // SAFETY: source and target have so many bytes, and the function was found to run here.
            unsafe { lap(&route, 0, self.spec.runs) };
        } else {
            // SAFETY: as above; the pool is waited for.
            unsafe { self.pool.run(lap, &route, self.spec.runs) };
        }
    }
}

impl Arm for PublishedArm {
    fn sample(&mut self, seconds: f64) -> Result<Sample, ArmError> {
        let _alone = alone();
        let (begin, usage, stolen) = (Instant::now(), Usage::now(), steal_ns());
        let (mut ns, mut sessions) = (0, 0);
        while sessions == 0 || begin.elapsed().as_secs_f64() < seconds {
            ns += self.session()?;
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

/// How many runs a session, which nothing interrupts, has time for.
fn runs_max(spec: &PublishedSpec) -> usize {
    let bytes = spec.before.iter().sum::<usize>().saturating_add(spec.bytes);
    let most = if spec.threads == 0 { RUNS_MAX } else { RUNS_MAX_POOL };
    most.min(SESSION_BYTES_MAX / (FUNCTIONS * bytes.max(1)))
}

const BYTES_MAX: usize = 256 << 20;
const RUNS_MAX: usize = 1_000_000;
/// Its queue moves up by a place for each copy.
const RUNS_MAX_POOL: usize = 10_000;
const SESSION_BYTES_MAX: usize = 128 << 30;
const FUNCTIONS: usize = 3;
