//! Copies between memory of every kind, one function each.
#![allow(unsafe_code)]

mod allocation;
mod buffer;
mod checks;
mod compare;
mod evict;
mod kind;
mod lane;
mod movers;
mod neighbour;
mod out_of_core;
mod pool;
mod published;
mod region;
mod route;
mod spec;

pub use kind::Kind;
pub use published::{
    CopyReport, Direction, ExperimentMemory, PublishedArm, PublishedSpec, PublishedTool, ToolSpec,
};
pub use region::Region;
pub use spec::{Beside, Buffers, Content, CopySpec, Function, Operation, State};

use crate::cores::Cores;
use crate::crew::{Crew, Done, Part};
use crate::limit::Limit;
use crate::{Arm, ArmError, Sample, Verified};
use buffer::{Buffer, BufferSpec};
use evict::CAN_EVICT;
use lane::{Lane, Turn};
use movers::{Lap, NOTHING, lap_of};
use neighbour::Neighbour;
use out_of_core::OutOfCoreFile;
use route::{Course, Route};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// A function that copies, reads or writes, timed in a loop of its own.
///
/// Arms that ask for the same memory share it, so that many of them fit, and lie alike. After each sample
/// up to a mebibyte of every destination, each time another one, is compared with its source.
pub struct CopyArm {
    hands: Vec<Hand>,
    crew: Crew,
    busy: Arc<AtomicUsize>,
    times_max: usize,
    verified: Verified,
    detail: String,
    out_of_core: Option<OutOfCoreFile>,
}

/// What a thread of the crew does.
enum Hand {
    Lane(Box<Lane>),
    Neighbour(Neighbour),
}

impl CopyArm {
    /// Takes the memory, fills it, and runs once, asking before whether that is still wanted.
    ///
    /// # Errors
    /// The spec is wrong; the function or the memory isn't here; [`ArmError::Stopped`].
    pub fn prepare_while(
        spec: &CopySpec,
        wanted: &mut dyn FnMut() -> bool,
    ) -> Result<Self, ArmError> {
        spec.check()?;
        let lap = lap_of(spec.operation, spec.function)?;
        if spec.state == State::Cold && !CAN_EVICT {
            let reason = "only x86-64 has an instruction that takes lines out of the caches";
            return Err(ArmError::Absent { what: "cold memory".into(), reason: reason.into() });
        }
        let limit = match spec.state {
            State::Beyond => Some(Limit::of(route::COLD_BYTES / out_of_core::SHARE)?),
            State::Hot | State::Cold => None,
        };
        let _alone = lock_bench();
        let cores = Cores::of(spec.threads + usize::from(spec.beside != Beside::Nothing));
        let mut builders =
            (0..spec.threads).map(|thread| Builder::new(spec, thread)).collect::<Vec<_>>();
        for builder in &mut builders {
            if !wanted() {
                return Err(ArmError::Stopped { device: "memory to copy".to_owned() });
            }
            builder.take(&cores)?;
        }
        let busy = Arc::new(AtomicUsize::new(0));
        let file = builders.iter().flat_map(|each| &each.buffers).find(|buffer| buffer.file() >= 0);
        let out_of_core =
            limit.zip(file.cloned()).map(|(limit, file)| OutOfCoreFile::new(file, limit));
        let out_of_core = out_of_core.transpose()?;
        let mut lanes = vec![];
        for builder in builders {
            lanes.push(builder.lane(spec, lap, &busy)?);
        }
        Self::with(spec, lanes, busy, out_of_core)
    }

    fn with(
        spec: &CopySpec,
        lanes: Vec<Lane>,
        busy: Arc<AtomicUsize>,
        out_of_core: Option<OutOfCoreFile>,
    ) -> Result<Self, ArmError> {
        let times_max = match spec.state {
            State::Hot => usize::MAX,
            State::Cold | State::Beyond => lanes.first().map_or(1, |lane| lane.route.places()),
        };
        let overhead = lanes.first().map_or(0.0, overhead_ns);
        let mapped = mapped_of(&lanes);
        let mut hands: Vec<_> = lanes.into_iter().map(|lane| Hand::Lane(Box::new(lane))).collect();
        if spec.beside != Beside::Nothing {
            hands.push(Hand::Neighbour(Neighbour::new(spec.beside, mapped, Arc::clone(&busy))?));
        }
        let against = match spec.operation {
            Operation::Copy => "the source, after each sample",
            Operation::Read => "the sum of the words that were put there",
            Operation::Write | Operation::Fill => "what was to be written, after each sample",
        };
        let mut arm = Self {
            crew: Crew::of(hands.len()),
            hands,
            busy,
            times_max,
            verified: Verified::Against(vec![against.to_owned()]),
            detail: format!("{}; its loop alone takes {overhead:.2} ns", describe(spec)),
            out_of_core,
        };
        arm.run(1)?;
        Ok(arm)
    }

    fn run(&mut self, times: usize) -> Result<Sample, ArmError> {
        let lanes = self.hands.iter().filter(|hand| matches!(hand, Hand::Lane(_))).count();
        self.busy.store(lanes, Ordering::Release);
        let times = times.min(self.times_max);
        let Self { crew, hands, out_of_core, .. } = self;
        let mut run = || crew.run(hands, times);
        match out_of_core {
            Some(out_of_core) => out_of_core.sample(run),
            None => run(),
        }
    }
}

impl Arm for CopyArm {
    fn sample(&mut self, seconds: f64) -> Result<Sample, ArmError> {
        let _alone = lock_bench();
        self.run(self.crew.times_for(seconds))
    }

    fn goes_on(&self) -> bool {
        self.times_max == usize::MAX
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
        let (mut compared, mut beside) = (0, None);
        for hand in &self.hands {
            match hand {
                Hand::Lane(lane) => compared += lane.turn.compared,
                Hand::Neighbour(neighbour) => beside = Some(neighbour.times),
            }
        }
        let beside = beside.map(|times| ("times_beside", times));
        let pages = self.out_of_core.iter().flat_map(OutOfCoreFile::counts);
        std::iter::once(("samples_compared", compared)).chain(beside).chain(pages).collect()
    }
}

impl Part for Hand {
    fn ready(&mut self, times: usize) {
        if let Self::Lane(lane) = self {
            lane.ready(times);
        }
    }

    fn work(&mut self, times: usize) -> Result<Done, ArmError> {
        match self {
            Self::Lane(lane) => lane.work(times),
            Self::Neighbour(neighbour) => neighbour.work(times),
        }
    }

    fn check(&mut self) -> Result<(), ArmError> {
        if let Self::Lane(lane) = self { lane.check() } else { Ok(()) }
    }
}

/// Takes a thread's memory.
struct Builder {
    specs: [BufferSpec; 2],
    buffers: Vec<Arc<Buffer>>,
    thread: usize,
}

impl Builder {
    fn new(spec: &CopySpec, thread: usize) -> Self {
        let own = if spec.buffers == Buffers::Shared { 0 } else { thread };
        let buffer = |kind: &Kind, content, offset| BufferSpec {
            kind: kind.clone(),
            content,
            thread: own,
            bytes: bytes_of(spec, kind, offset),
            folder: spec.folder.clone(),
            only_for: spec.needs_own_memory().then_some(spec.function),
        };
        let specs =
            [buffer(&spec.source, Some(spec.content), 0), buffer(&spec.target, None, spec.offset)];
        Self { specs, buffers: vec![], thread }
    }

    /// Memory lies near the core that touches it first: on the one that the thread will keep to.
    fn take(&mut self, cores: &Cores) -> Result<(), ArmError> {
        let _kept = cores.keep(self.thread)?;
        self.buffers = self.specs.iter().cloned().map(Buffer::get).collect::<Result<_, _>>()?;
        Ok(())
    }

    fn lane(self, spec: &CopySpec, lap: Lap, busy: &Arc<AtomicUsize>) -> Result<Lane, ArmError> {
        let buffers: [Arc<Buffer>; 2] =
            self.buffers.try_into().map_err(|_| ArmError::NoMemory { bytes: spec.bytes })?;
        let [source, target] = &buffers;
        let to = target.start().wrapping_add(spec.offset);
        let mut route = Route::new(Course::of(spec), spec.bytes, to, source.start());
        let writes = matches!(spec.function, Function::Pwrite | Function::MapWrite);
        let behind = if writes { target } else { source };
        (route.file, route.mapped) = (behind.file(), behind.start().addr());
        let mut lane = Lane {
            route,
            lap,
            operation: spec.operation,
            state: spec.state,
            name: describe(spec),
            is_owner: spec.buffers == Buffers::Private || self.thread == 0,
            buffers,
            busy: Arc::clone(busy),
            turn: Turn::default(),
        };
        lane.learn();
        Ok(lane)
    }
}

/// Of a region no byte more than is asked for; of other memory so many that arms of many lengths share it.
fn bytes_of(spec: &CopySpec, kind: &Kind, offset: usize) -> usize {
    let course = Course::of(spec);
    let last = course.span() - course.stride + spec.bytes;
    match kind {
        Kind::Region(_) => last + offset,
        _ => last.next_power_of_two() + 2 * spec::PAGE_BYTES,
    }
}

/// The buffers in files, each once: threads have one each, or share one.
fn mapped_of(lanes: &[Lane]) -> Vec<Arc<Buffer>> {
    let mut mapped: Vec<Arc<Buffer>> = vec![];
    for buffer in lanes.iter().flat_map(|lane| &lane.buffers) {
        if buffer.file() >= 0 && !mapped.iter().any(|each| Arc::ptr_eq(each, buffer)) {
            mapped.push(Arc::clone(buffer));
        }
    }
    mapped
}

/// What a turn of the loop costs without the function in it: the best of some tries.
fn overhead_ns(lane: &Lane) -> f64 {
    let once = || {
        let begin = Instant::now();
        // SAFETY: it touches nothing of the route.
        unsafe { NOTHING(&lane.route, 0, OVERHEAD_TURNS) };
        begin.elapsed().as_secs_f64() * 1e9 / f64::from(u32::try_from(OVERHEAD_TURNS).unwrap_or(1))
    };
    (0..OVERHEAD_TRIES).map(|_| once()).fold(f64::INFINITY, f64::min)
}

fn describe(spec: &CopySpec) -> String {
    let CopySpec { operation, function, source, target, .. } = spec;
    match operation {
        Operation::Copy => format!("{function}, {source} to {target}"),
        Operation::Read => format!("{operation} by {function}, {source}"),
        Operation::Write | Operation::Fill => format!("{operation} by {function}, {target}"),
    }
}

/// Arms share memory: one at a time is prepared or runs.
fn lock_bench() -> std::sync::MutexGuard<'static, ()> {
    static BENCH: Mutex<()> = Mutex::new(());
    BENCH.lock().unwrap_or_else(PoisonError::into_inner)
}

const OVERHEAD_TURNS: usize = 20_000;
const OVERHEAD_TRIES: usize = 5;

#[cfg(test)]
mod tests;
