//! Running many DPUs on the host's threads.

use super::{DpuSet, HostError};
use crate::exec::{Dpu, Fault, Outcome};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;

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
    worker: JoinHandle<(Vec<Dpu>, Vec<Outcome>)>,
    ended: Arc<AtomicUsize>,
    cancelled: Arc<AtomicBool>,
}

/// Instructions between two looks at whether the launch was cancelled.
const SLICE: u64 = 1 << 20;

impl DpuSet {
    /// Starts tasklet 0 of all DPUs at their first instruction.
    ///
    /// # Errors
    /// No program is loaded, they are running already, or, if synchronous, what `sync` says.
    pub fn launch(&mut self, launch: Launch) -> Result<(), HostError> {
        self.idle()?;
        if !self.loaded {
            return Err(HostError::NotLoaded);
        }
        let (ended, cancelled) = (Arc::default(), Arc::default());
        let (seen, stop) = (Arc::clone(&ended), Arc::clone(&cancelled));
        let (most, threads) = (self.instructions_max, self.threads);
        let mut dpus = std::mem::take(&mut self.dpus);
        let worker = std::thread::spawn(move || {
            let outcomes = run_all(&mut dpus, most, threads, &seen, &stop);
            (dpus, outcomes)
        });
        self.running = Some(Running { worker, ended, cancelled });
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
        let Some(running) = self.running.take() else { return Ok(()) };
        let cancelled = Arc::clone(&running.cancelled);
        let (dpus, outcomes) = running.worker.join().map_err(|_| HostError::Thread)?;
        self.dpus = dpus;
        let mut faults = Vec::new();
        let mut endless = None;
        for (dpu, outcome) in outcomes.into_iter().enumerate() {
            match outcome {
                Outcome::Done => {}
                Outcome::Fault(fault) => faults.push((dpu, *fault)),
                Outcome::Limit => endless = endless.or(Some(dpu)),
            }
        }
        let first = faults.first().cloned();
        self.status = Status { done: true, faults };
        if let Some((dpu, fault)) = first {
            return Err(HostError::Fault { dpu, fault: Box::new(fault) });
        }
        match endless {
            None => Ok(()),
            Some(_) if cancelled.load(Ordering::Relaxed) => Err(HostError::Cancelled),
            Some(dpu) => Err(HostError::Endless { dpu, instructions: self.instructions_max }),
        }
    }

    /// How the DPUs stand now.
    #[must_use]
    pub fn status(&self) -> Status {
        match &self.running {
            Some(running) if !running.worker.is_finished() => Status::default(),
            Some(_) => Status { done: true, faults: Vec::new() },
            None => self.status.clone(),
        }
    }

    /// How many DPUs have ended of the launch under way, or of the last one.
    #[must_use]
    pub fn ended(&self) -> usize {
        match &self.running {
            Some(running) => running.ended.load(Ordering::Relaxed),
            None => self.dpus(),
        }
    }

    /// Asks the launch under way to end soon; `sync` then says that it was cancelled.
    pub fn cancel(&self) {
        if let Some(running) = &self.running {
            running.cancelled.store(true, Ordering::Relaxed);
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
fn run_all(
    dpus: &mut [Dpu],
    most: u64,
    threads: usize,
    ended: &AtomicUsize,
    cancelled: &AtomicBool,
) -> Vec<Outcome> {
    let mut outcomes = vec![Outcome::Done; dpus.len()];
    let work = std::sync::Mutex::new(dpus.iter_mut().zip(&mut outcomes));
    let run = || {
        loop {
            let next = work.lock().map_or(None, |mut work| work.next());
            let Some((dpu, outcome)) = next else { return };
            *outcome = run_one(dpu, most, cancelled);
            ended.fetch_add(1, Ordering::Relaxed);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(run);
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
