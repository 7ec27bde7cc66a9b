//! Another device with faults on order, by which an engine proves that it loses nothing.

mod flip;
mod plan;
mod state;

use crate::alarm::Alarm;
use flip::{flip, flip_owned};
use plan::{Fate, Plan, SETTINGS};
use sealift_core::{
    Batch, Capabilities, Completion, Context, Cuts, Device, DeviceError, Driver, Job, OpenError,
    OwnedOutput, Probe, Refusal, Refused, Role, SessionId, Spec, SpecError, Submission, Timing,
    Work,
};
use state::State;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The driver `fault`: `fault:fail=7(cpu)` is `cpu`, and each seventh batch fails.
///
/// | setting | fault |
/// |---|---|
/// | `fail=N` | each N-th batch is worked and then failed |
/// | `wrong=N` | in each N-th batch one bit of one message's text or tag is flipped, and the message said to be done; `seed=` decides which bit |
/// | `late=N,late-ms=T` | each N-th batch comes T milliseconds later |
/// | `hang=N` | the N-th submitted job never completes; it is held until the device is released or dropped, then wiped |
/// | `die=N` | after N batches the device is dead: what is in flight never comes back, jobs are refused as broken, runs fail |
/// | `full=N` | each N-th submission is refused as full |
///
/// Settings combine. A batch is a submitted job or a run, numbered from 1 as they begin; `die` counts
/// them as they end. A bell may ring for a completion that was late or died. The device is of the
/// driver that it wraps, for it computes with its code, and one that wraps a null device is a null
/// device too.
#[derive(Debug)]
pub struct Fault;

impl Driver for Fault {
    fn name(&self) -> &'static str {
        "fault"
    }

    fn summary(&self) -> &'static str {
        "another device with faults on order, to test what is over it (fail=, wrong=, seed=, late=, \
         late-ms=, hang=, die=, full=)"
    }

    fn probe(&self) -> Probe {
        // By itself it is no device, so whoever opens all there are passes over it.
        Probe::Absent { reason: NO_DEVICE.to_owned() }
    }

    fn open(&self, spec: &Spec, context: &Context) -> Result<Arc<dyn Device>, OpenError> {
        let wrong = |reason| OpenError::Setting { device: spec.to_string(), reason };
        let inner = spec.wrapped(&SETTINGS).map_err(|error| match error {
            SpecError::WrapsNothing { .. } => {
                OpenError::Absent { device: spec.to_string(), reason: NO_DEVICE.to_owned() }
            }
            error => wrong(error.to_string()),
        })?;
        let plan = Plan::of(spec).map_err(wrong)?;
        let inner = crate::open(inner, context)?;
        Ok(Arc::new(Faulty::new(spec, plan, inner, context)))
    }
}

fn capabilities(spec: &Spec, inner: &Capabilities) -> Capabilities {
    let role = match inner.role {
        // It encrypts nothing, with faults or without: there is nothing to check.
        Role::Null => Role::Null,
        _ => Role::TestOnly,
    };
    let detail = format!("{}, with faults on order", inner.detail);
    // A fault is ordered for a batch, not for a part of one.
    Capabilities { name: spec.to_string(), role, detail, cuts: Cuts::Nothing, ..inner.clone() }
}

#[derive(Debug)]
struct Faulty {
    inner: Arc<dyn Device>,
    capabilities: Capabilities,
    plan: Plan,
    context: Context,
    alarm: Alarm,
    state: Mutex<State>,
}

impl Device for Faulty {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn run(&self, work: &mut Work<'_>) -> Result<Timing, DeviceError> {
        let mut state = self.lock();
        if state.is_dead(&self.plan) {
            return Err(self.died());
        }
        let fate = state.begin(&self.plan);
        drop(state);
        let ran = self.run_to(fate, work);
        if self.lock().end(&self.plan) { ran } else { Err(self.died()) }
    }

    fn submit(&self, job: Box<Job>) -> Submission {
        let mut state = self.lock();
        self.collect(&mut state);
        if state.is_dead(&self.plan) {
            return Err(Refused { job, refusal: Refusal::Broken(self.died()) });
        }
        if let Some(refusal) = state.offer(&self.plan, self.capabilities.slots) {
            return Err(Refused { job, refusal });
        }
        if state.hangs_next(&self.plan) {
            state.hang(*job);
            return Ok(());
        }
        let (name, batch) = ((job.ticket, job.attempt), Arc::clone(&job.batch));
        // Under the lock: its completion can't be looked at before its fate is known.
        self.inner.submit(job)?;
        state.give(&self.plan, name, batch);
        Ok(())
    }

    fn poll(&self, done: &mut Vec<Completion>) {
        let mut state = self.lock();
        self.collect(&mut state);
        state.move_done(done);
    }

    fn retire(&self, session: SessionId) {
        self.inner.retire(session);
    }

    /// Lets go of the job that hangs, too.
    fn release(&self) {
        let hung = self.lock().let_hung_go();
        // Not under the lock: an engine's key store may hang on them.
        drop(hung);
        self.inner.release();
    }
}

impl Faulty {
    fn new(spec: &Spec, plan: Plan, inner: Arc<dyn Device>, context: &Context) -> Self {
        let capabilities = capabilities(spec, inner.capabilities());
        let (alarm, state) = (Alarm::new(context), Mutex::default());
        Self { inner, capabilities, plan, context: context.clone(), alarm, state }
    }

    fn run_to(&self, fate: Fate, work: &mut Work<'_>) -> Result<Timing, DeviceError> {
        let timing = self.inner.run(work)?;
        if fate.fails {
            return Err(self.failed(ON_ORDER));
        }
        if let Some(draw) = fate.flips {
            flip(work, draw);
        }
        let Some(late_ns) = fate.late_ns else { return Ok(timing) };
        let due_ns = timing.end_ns.saturating_add(late_ns);
        self.context.clock.park(Some(due_ns), &mut |left| {
            std::thread::sleep(left.unwrap_or_default());
            false
        });
        Ok(Timing { end_ns: due_ns, core_ns: None, ..timing })
    }

    /// Takes what the wrapped device completed, and what is late and due.
    fn collect(&self, state: &mut State) {
        let mut arrived = vec![];
        self.inner.poll(&mut arrived);
        for mut completion in arrived {
            let (fate, batch) = state.fate_of(&completion);
            let given = completion.outcome.map(|given| (given, batch));
            completion.outcome = given.and_then(|(given, batch)| self.spoil(fate, given, batch));
            match (&completion.outcome, fate.late_ns) {
                (Ok((_, timing)), Some(_)) => {
                    let due_ns = timing.end_ns;
                    self.delay(state, due_ns, completion);
                }
                _ => state.finish(&self.plan, completion),
            }
        }
        state.finish_due(&self.plan, self.context.clock.now_ns());
    }

    /// Makes of a job's results what its fate is.
    fn spoil(
        &self,
        fate: Fate,
        (mut output, timing): (OwnedOutput, Timing),
        batch: Option<Arc<Batch<'static>>>,
    ) -> Result<(OwnedOutput, Timing), DeviceError> {
        if fate.fails {
            output.wipe();
            return Err(self.failed(ON_ORDER));
        }
        if let (Some(draw), Some(batch)) = (fate.flips, batch) {
            flip_owned(&batch, &mut output, draw)
                .map_err(|error| self.failed(&error.to_string()))?;
        }
        let end_ns = timing.end_ns.saturating_add(fate.late_ns.unwrap_or_default());
        let core_ns = timing.core_ns.filter(|_| fate.late_ns.is_none());
        Ok((output, Timing { end_ns, core_ns, ..timing }))
    }

    fn delay(&self, state: &mut State, due_ns: u64, mut completion: Completion) {
        match self.alarm.set(due_ns) {
            Ok(()) => state.delay(due_ns, completion),
            Err(error) => {
                state::wipe(&mut completion);
                let reason = format!("no thread to be late on: {error}");
                completion.outcome = Err(self.failed(&reason));
                state.finish(&self.plan, completion);
            }
        }
    }

    fn died(&self) -> DeviceError {
        let batches = self.plan.die.unwrap_or_default();
        self.failed(&format!("it is dead since batch {batches} ended, {ON_ORDER}"))
    }

    fn failed(&self, reason: &str) -> DeviceError {
        DeviceError::Failed { device: self.capabilities.name.clone(), reason: reason.to_owned() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const ON_ORDER: &str = "as ordered";
const NO_DEVICE: &str = "it wraps another device, write fault:fail=7(cpu)";

#[cfg(test)]
mod tests;
