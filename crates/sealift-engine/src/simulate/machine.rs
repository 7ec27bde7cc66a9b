use super::Model;
use super::faults::{self, Fate, FaultCounts};
use super::random::{Random, whole_ns};
use sealift_core::{
    Capabilities, Clock, Completion, Device, DeviceError, Job, Notify, Origin, Refusal, Refused,
    SessionId, Shape, SimulatedClock, Submission, Timing, Work,
};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A device of virtual time that computes the true bytes of its cipher.
///
/// A job is given to the first free worker when it is submitted, which decides when it is finished; at
/// that instant the clock rings, and the next poll computes its bytes and hands it out. A blocking run
/// passes the time it costs.
#[derive(Debug)]
pub struct Machine {
    model: Model,
    capabilities: Capabilities,
    clock: Arc<SimulatedClock>,
    notify: Arc<dyn Notify>,
    state: Mutex<State>,
}

impl Machine {
    pub(super) fn new(model: Model, clock: Arc<SimulatedClock>, notify: Arc<dyn Notify>) -> Self {
        let capabilities = model.capabilities();
        let state = Mutex::new(State::new(&model));
        Self { model, capabilities, clock, notify, state }
    }

    /// What went wrong so far.
    pub fn faults(&self) -> FaultCounts {
        self.lock().counts
    }

    /// Jobs taken so far, runs on the calling thread included.
    pub fn jobs(&self) -> u64 {
        self.lock().jobs
    }

    /// Submitted jobs that it holds now, hung ones included.
    pub fn held(&self) -> usize {
        self.lock().held()
    }

    /// Sessions that it was told to forget while a job that it holds named them: bugs of an engine.
    pub fn retired_in_use(&self) -> u64 {
        self.lock().retired_in_use
    }

    fn take(&self, shape: &Shape, start_ns: u64, state: &mut State) -> (Fate, u64) {
        let Model { name, faults, cost, jitter, shared_cores, .. } = &self.model;
        let fate = faults.draw(state.jobs, &mut state.random);
        state.jobs += 1;
        let slowed = faults.slowed(start_ns);
        state.counts.late += u64::from(fate.times > 1.0);
        state.counts.slowed += u64::from(slowed > 1.0);
        let contended = shared_cores.as_ref().map_or(1.0, |cores| cores.slowed(name, start_ns));
        state.counts.contended += u64::from(contended > 1.0);
        let ns = cost.of(shape.messages as u64, shape.bytes()) * jitter.draw(&mut state.random);
        let end_ns = start_ns.saturating_add(whole_ns(ns * fate.times * slowed * contended));
        if let Some(cores) = shared_cores {
            cores.occupy(name, end_ns);
        }
        (fate, end_ns)
    }

    /// Puts a job on the first free worker.
    fn enqueue(&self, job: Box<Job>, shape: &Shape, state: &mut State) {
        let now_ns = self.clock.now_ns();
        let worker = (0..state.free_ns.len()).min_by_key(|&at| state.free_ns[at]).unwrap_or(0);
        let start_ns = state.free_ns[worker].max(now_ns);
        let (fate, end_ns) = self.take(shape, start_ns, state);
        state.free_ns[worker] = end_ns;
        let flying = Flying { job, fate, start_ns, end_ns };
        if end_ns > self.model.faults.die_at_ns() {
            state.doomed.push(flying);
        } else if fate.hangs {
            state.counts.hung += 1;
            state.hung.push(flying);
        } else {
            let order = state.jobs;
            state.flying.insert((end_ns, order), flying);
            self.clock.at(end_ns, Arc::clone(&self.notify));
        }
    }

    /// Why no job is taken now.
    fn refusal(&self, state: &mut State) -> Option<Refusal> {
        let now_ns = self.clock.now_ns();
        let (in_flight, slots) = (state.held(), self.model.slots);
        if now_ns >= self.model.faults.die_at_ns() {
            state.counts.refused_broken += 1;
            return Some(Refusal::Broken(self.died()));
        }
        if let Some(until_ns) = self.model.faults.full_until(now_ns) {
            state.counts.refused_full += 1;
            if state.rings_at_ns != Some(until_ns) {
                state.rings_at_ns = Some(until_ns);
                self.clock.at(until_ns, Arc::clone(&self.notify));
            }
            return Some(Refusal::Full { in_flight, slots });
        }
        (in_flight >= slots).then_some(Refusal::Full { in_flight, slots })
    }

    /// Computes the bytes of a finished job.
    fn complete(&self, flying: Flying) -> Completion {
        let Flying { mut job, fate, start_ns, end_ns } = flying;
        let worked = Work::new(&job.batch, job.output.as_output(), &*job.keys)
            .map_err(|error| self.failed(&error.to_string()))
            .and_then(|mut work| self.compute(&mut work, fate));
        if worked.is_err() {
            job.output.wipe();
        }
        let Job { ticket, attempt, output, keys, .. } = *job;
        drop(keys);
        let outcome = worked.map(|()| (output, timing(start_ns, end_ns)));
        Completion { ticket, attempt, outcome }
    }

    fn compute(&self, work: &mut Work<'_>, fate: Fate) -> Result<(), DeviceError> {
        if fate.fails {
            self.lock().counts.failed += 1;
            return Err(self.failed("its plan of faults says so"));
        }
        self.model.cipher.work(work, &self.model.name)?;
        if fate.wrong && !work.is_empty() {
            let mut state = self.lock();
            state.counts.wrong += 1;
            let bits = [state.random.bits(), state.random.bits()];
            drop(state);
            faults::spoil(work, bits);
        }
        Ok(())
    }

    fn failed(&self, reason: &str) -> DeviceError {
        let device = self.model.name.clone();
        DeviceError::Failed { device, reason: reason.into() }
    }

    fn died(&self) -> DeviceError {
        self.failed(&format!("it died at {} ns", self.model.faults.die_at_ns()))
    }

    /// The state, without what died meanwhile.
    fn lock(&self) -> MutexGuard<'_, State> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if !state.doomed.is_empty() && self.clock.now_ns() >= self.model.faults.die_at_ns() {
            state.counts.lost += state.doomed.len() as u64;
            state.doomed.clear();
        }
        state
    }
}

impl Device for Machine {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn run(&self, work: &mut Work<'_>) -> Result<Timing, DeviceError> {
        if !self.model.runs_on_calling_thread {
            return Err(DeviceError::NotOnCallingThread { device: self.model.name.clone() });
        }
        let (start_ns, die_at_ns) = (self.clock.now_ns(), self.model.faults.die_at_ns());
        if start_ns >= die_at_ns {
            self.lock().counts.refused_broken += 1;
            return Err(self.died());
        }
        let (fate, end_ns) = self.take(work.shape(), start_ns, &mut self.lock());
        self.clock.advance_to(end_ns.min(die_at_ns));
        if end_ns > die_at_ns {
            self.lock().counts.lost += 1;
            return Err(self.died());
        }
        if fate.hangs {
            self.lock().counts.hung += 1;
            return Err(self.failed("it hung on the calling thread"));
        }
        self.compute(work, fate)?;
        Ok(timing(start_ns, end_ns))
    }

    fn submit(&self, job: Box<Job>) -> Submission {
        let mut state = self.lock();
        if let Some(refusal) = self.refusal(&mut state) {
            return Err(Refused { job, refusal });
        }
        match job.batch.shape() {
            Ok(shape) => {
                self.enqueue(job, &shape, &mut state);
                Ok(())
            }
            Err(error) => {
                let refusal = Refusal::Broken(self.failed(&error.to_string()));
                Err(Refused { job, refusal })
            }
        }
    }

    fn poll(&self, done: &mut Vec<Completion>) {
        let finished = self.lock().finished(self.clock.now_ns());
        done.extend(finished.into_iter().map(|flying| self.complete(flying)));
    }

    fn retire(&self, session: SessionId) {
        self.model.cipher.retire(session);
        let mut state = self.lock();
        let in_use = state.all().any(|flying| flying.names(session));
        state.retired_in_use += u64::from(in_use);
    }
}

#[derive(Debug)]
struct State {
    random: Random,
    jobs: u64,
    /// When each worker is free.
    free_ns: Vec<u64>,
    /// What will be finished, by when and in which order it came.
    flying: BTreeMap<(u64, u64), Flying>,
    hung: Vec<Flying>,
    /// What will be in flight when the machine dies.
    doomed: Vec<Flying>,
    /// The end of pretended fullness that is registered with the clock.
    rings_at_ns: Option<u64>,
    counts: FaultCounts,
    retired_in_use: u64,
}

impl State {
    fn new(model: &Model) -> Self {
        Self {
            random: Random::new(model.seed),
            jobs: 0,
            free_ns: vec![0; model.workers],
            flying: BTreeMap::new(),
            hung: vec![],
            doomed: vec![],
            rings_at_ns: None,
            counts: FaultCounts::default(),
            retired_in_use: 0,
        }
    }

    fn held(&self) -> usize {
        self.flying.len() + self.hung.len() + self.doomed.len()
    }

    fn all(&self) -> impl Iterator<Item = &Flying> {
        self.flying.values().chain(&self.hung).chain(&self.doomed)
    }

    fn finished(&mut self, now_ns: u64) -> Vec<Flying> {
        let mut finished = vec![];
        while let Some(first) = self.flying.first_entry().filter(|first| first.key().0 <= now_ns) {
            finished.push(first.remove());
        }
        finished
    }
}

#[derive(Debug)]
struct Flying {
    job: Box<Job>,
    fate: Fate,
    start_ns: u64,
    end_ns: u64,
}

impl Flying {
    fn names(&self, session: SessionId) -> bool {
        let batch = &self.job.batch;
        (0..batch.len).any(|message| batch.session_of(message) == Some(session))
    }
}

fn timing(start_ns: u64, end_ns: u64) -> Timing {
    Timing { origin: Origin::Simulated, ..Timing::in_memory(start_ns, end_ns) }
}
