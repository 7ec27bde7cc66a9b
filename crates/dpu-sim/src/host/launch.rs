//! Running many DPUs on the host's threads.

use super::{DpuSet, HostError};
use crate::exec::{Dpu, Fault, Outcome};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{SendError, channel};
use std::sync::{Arc, Mutex};
use std::thread::{Builder, JoinHandle};

/// When `launch` comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Launch {
    /// When all DPUs have ended.
    Synchronous,
    /// At once; `sync` waits for them.
    Asynchronous,
}

/// How DPUs stand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// None runs.
    pub done: bool,
    /// Those that faulted in the last launch, by number.
    pub faults: Vec<(usize, Fault)>,
}

/// A launch under way.
pub(super) struct Running {
    worker: JoinHandle<Vec<Dpu>>,
    shared: Arc<Shared>,
    /// Cycles of each DPU before.
    before: Vec<u64>,
}

/// What a launch tells those who started it.
#[derive(Default)]
struct Shared {
    ended: AtomicUsize,
    cancelled: AtomicBool,
    /// How each DPU ended, once all have.
    outcomes: Mutex<Option<Vec<Outcome>>>,
}

impl Shared {
    fn outcomes(&self) -> Option<Vec<Outcome>> {
        self.outcomes.lock().ok()?.clone()
    }
}

/// The faults among outcomes, by number.
fn faults(outcomes: &[Outcome]) -> Vec<(usize, Fault)> {
    let fault = |(dpu, outcome): (usize, &Outcome)| match outcome {
        Outcome::Fault(fault) => Some((dpu, (**fault).clone())),
        _ => None,
    };
    outcomes.iter().enumerate().filter_map(fault).collect()
}

/// Instructions between two looks at whether the launch was cancelled.
const SLICE: u64 = 1 << 20;
const THREAD: &str = "dpu-sim";

impl DpuSet {
    /// Starts tasklet 0 of all DPUs at their first instruction.
    ///
    /// # Errors
    /// No program is loaded, they are running already, there is no thread for them, or, if synchronous, what
    /// `sync` says.
    pub fn launch(&mut self, launch: Launch) -> Result<(), HostError> {
        self.idle()?;
        if !self.loaded {
            return Err(HostError::NotLoaded);
        }
        let shared = Arc::<Shared>::default();
        let told = Arc::clone(&shared);
        let (most, threads) = (self.instructions_max, self.threads.min(self.dpus.len()));
        let before = self.dpus.iter().map(Dpu::cycles).collect();
        let (hand_over, taken) = channel();
        let work = move || {
            let mut dpus: Vec<Dpu> = taken.recv().unwrap_or_default();
            let outcomes = run_all(&mut dpus, most, threads, &told);
            if let Ok(mut place) = told.outcomes.lock() {
                *place = Some(outcomes);
            }
            dpus
        };
        let worker = Builder::new().name(THREAD.to_owned()).spawn(work);
        let worker = worker.map_err(|error| HostError::NoThread { reason: error.to_string() })?;
        if let Err(SendError(dpus)) = hand_over.send(std::mem::take(&mut self.dpus)) {
            self.dpus = dpus;
            return Err(HostError::Thread);
        }
        self.running = Some(Running { worker, shared, before });
        match launch {
            Launch::Synchronous => self.sync(),
            Launch::Asynchronous => Ok(()),
        }
    }

    /// Waits for a launch.
    ///
    /// # Errors
    /// The first DPU that faulted, or did not end.
    pub fn sync(&mut self) -> Result<(), HostError> {
        let Some(Running { worker, shared, before }) = self.running.take() else { return Ok(()) };
        self.dpus = worker.join().map_err(|_| HostError::Thread)?;
        let outcomes = shared.outcomes().ok_or(HostError::Thread)?;
        let took = self.dpus.iter().zip(before).map(|(dpu, before)| dpu.cycles() - before);
        self.cycles += took.max().unwrap_or(0);
        let faults = faults(&outcomes);
        let first = faults.first().cloned();
        self.status = Status { done: true, faults };
        if let Some((dpu, fault)) = first {
            return Err(HostError::Fault { dpu, fault: Box::new(fault) });
        }
        match outcomes.iter().position(|outcome| *outcome == Outcome::Limit) {
            None => Ok(()),
            Some(_) if shared.cancelled.load(Ordering::Relaxed) => Err(HostError::Cancelled),
            Some(dpu) => Err(HostError::Endless { dpu, instructions: self.instructions_max }),
        }
    }

    /// How the DPUs stand now.
    #[must_use]
    pub fn status(&self) -> Status {
        match &self.running {
            Some(running) => running.shared.outcomes().map_or_else(Status::default, |outcomes| {
                Status { done: true, faults: faults(&outcomes) }
            }),
            None => self.status.clone(),
        }
    }

    /// How many DPUs have ended of the launch under way, or of the last one.
    #[must_use]
    pub fn ended(&self) -> usize {
        match &self.running {
            Some(running) => running.shared.ended.load(Ordering::Relaxed),
            None => self.dpus(),
        }
    }

    /// Asks the launch under way to end soon; `sync` then says that it was cancelled.
    pub fn cancel(&self) {
        if let Some(running) = &self.running {
            running.shared.cancelled.store(true, Ordering::Relaxed);
        }
    }
}

impl Drop for DpuSet {
    fn drop(&mut self) {
        self.cancel();
        // A thread that panicked has nothing to give back.
        let _ = self.sync();
    }
}

/// Runs each DPU to its end; threads take the next one when they are done with theirs.
fn run_all(dpus: &mut [Dpu], most: u64, threads: usize, shared: &Shared) -> Vec<Outcome> {
    let mut outcomes = vec![Outcome::Done; dpus.len()];
    let work = Mutex::new(dpus.iter_mut().zip(&mut outcomes));
    let run = || {
        loop {
            let next = work.lock().map_or(None, |mut work| work.next());
            let Some((dpu, outcome)) = next else { return };
            *outcome = run_one(dpu, most, &shared.cancelled);
            shared.ended.fetch_add(1, Ordering::Relaxed);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            // The others do the work of one that the system doesn't give.
            if Builder::new().name(THREAD.to_owned()).spawn_scoped(scope, run).is_err() {
                break;
            }
        }
        run();
    });
    outcomes
}

fn run_one(dpu: &mut Dpu, most: u64, cancelled: &AtomicBool) -> Outcome {
    dpu.boot();
    let mut left = most;
    while left > 0 && !cancelled.load(Ordering::Relaxed) {
        let slice = left.min(SLICE);
        match dpu.run(slice) {
            Outcome::Limit => left -= slice,
            ended => return ended,
        }
    }
    Outcome::Limit
}
