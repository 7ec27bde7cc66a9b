//! A card as a device: true bytes, reckoned times.

use super::walk::Walk;
use super::{Card, Prediction};
use crate::alarm::Alarm;
use crate::kernels::Kernels;
use crate::workers::Software;
use sealift_core::{
    Capabilities, Clock, Completion, Context, Device, DeviceError, Job, Origin, Refusal, Refused,
    SessionId, Shape, SlotText, Submission, Timing, Work,
};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A device whose jobs take the time of a [`Walk`] and whose bytes are computed when they are polled.
#[derive(Debug)]
pub(super) struct Projected {
    card: Card,
    capabilities: Capabilities,
    kernels: Kernels,
    clock: Arc<dyn Clock>,
    alarm: Alarm,
    state: Mutex<State>,
}

impl Projected {
    pub(super) fn new(
        card: Card,
        capabilities: Capabilities,
        kernels: Kernels,
        context: &Context,
    ) -> Self {
        let (clock, alarm) = (Arc::clone(&context.clock), Alarm::new(context));
        let walk = Walk::new(card.units());
        let state = State { walk, jobs: 0, flying: BTreeMap::new(), predicted: None };
        Self { card, capabilities, kernels, clock, alarm, state: Mutex::new(state) }
    }

    /// When a batch that comes now is worked.
    ///
    /// Batches overlap in the card, so a batch's own time is what makes the waits right that a scheduler
    /// reckons for [`Capabilities::workers`] of them: what it takes on an idle card, and where others are
    /// in the card, the time until one more of each is through if that is longer.
    fn time(&self, state: &mut State, work: &mut Work<'_>) -> Timing {
        let now_ns = self.clock.now_ns();
        let prediction = state.predict(&self.card, work.shape());
        let requests = requests(work, self.card.line().messages_per_request);
        let walked = state.walk.batch(self.card.line(), now_ns as f64, &requests);
        let end_ns = whole_ns(walked.told_ns).max(now_ns);
        let beside = state.among(self.capabilities.workers, now_ns);
        let own_ns = prediction.batch_ns.max(beside as f64 * prediction.interval_ns);
        let took_ns = whole_ns(own_ns).min(end_ns - now_ns);
        let copy_in_ns = whole_ns(walked.host_ns).min(took_ns);
        Timing {
            start_ns: end_ns - took_ns,
            end_ns,
            copy_in_ns,
            compute_ns: took_ns - copy_in_ns,
            copy_out_ns: 0,
            origin: Origin::Projected,
            core_ns: None,
            prepared_ns: 0,
            faults: 0,
            measured_copy_ns: 0,
        }
    }

    /// When a batch is worked for which the caller's thread sleeps, which nothing can interrupt.
    fn time_here(&self, work: &mut Work<'_>) -> Result<Timing, DeviceError> {
        let mut state = self.lock();
        let before = state.walk.clone();
        let timing = self.time(&mut state, work);
        let left_ns = timing.end_ns.saturating_sub(self.clock.now_ns());
        if left_ns <= HERE_NS_MAX {
            return Ok(timing);
        }
        state.walk = before;
        Err(self.failed(format!(
            "it would take {:.1} s, and the calling thread sleeps for {} s at most: submit the batch, \
             or rehearse the card",
            left_ns as f64 / 1e9,
            HERE_NS_MAX / 1_000_000_000,
        )))
    }

    /// When a job is over that comes now; of one that can't be worked, at once.
    fn schedule(&self, state: &mut State, job: &mut Job) -> (u64, Result<Timing, DeviceError>) {
        let work = Work::new(&job.batch, job.output.as_output(), &*job.keys);
        let work = work.map_err(|error| self.failed(error.to_string()));
        let timing = work.and_then(|mut work| {
            self.capabilities.accept(work.shape())?;
            Ok(self.time(state, &mut work))
        });
        let end_ns = timing.as_ref().map_or_else(|_| self.clock.now_ns(), |timing| timing.end_ns);
        (end_ns, timing)
    }

    fn failed(&self, reason: String) -> DeviceError {
        DeviceError::Failed { device: self.capabilities.name.clone(), reason }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Device for Projected {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn run(&self, work: &mut Work<'_>) -> Result<Timing, DeviceError> {
        if !self.capabilities.runs_on_calling_thread {
            return Err(DeviceError::NotOnCallingThread { device: self.capabilities.name.clone() });
        }
        self.capabilities.accept(work.shape())?;
        let timing = self.time_here(work)?;
        self.clock.park(Some(timing.end_ns), &mut |left| {
            std::thread::sleep(left.unwrap_or_default());
            false
        });
        self.kernels.run(work)?;
        Ok(timing)
    }

    fn submit(&self, mut job: Box<Job>) -> Submission {
        let mut state = self.lock();
        let (in_flight, slots) = (state.flying.len(), self.capabilities.slots);
        if in_flight >= slots {
            return Err(Refused { job, refusal: Refusal::Full { in_flight, slots } });
        }
        let (end_ns, timing) = self.schedule(&mut state, &mut job);
        if let Err(error) = self.alarm.set(end_ns) {
            let refusal = Refusal::Broken(self.failed(format!("no thread to wait on: {error}")));
            return Err(Refused { job, refusal });
        }
        state.jobs += 1;
        let order = state.jobs;
        state.flying.insert((end_ns, order), Flying { job, timing });
        Ok(())
    }

    fn poll(&self, done: &mut Vec<Completion>) {
        let over = self.lock().take_over(self.clock.now_ns());
        let name = &self.capabilities.name;
        let complete = |Flying { job, timing }| complete(&self.kernels, name, *job, timing);
        done.extend(over.into_iter().map(complete));
    }

    fn retire(&self, session: SessionId) {
        self.kernels.retire(session);
    }
}

/// Computes the bytes of a job that is over.
pub(super) fn complete<S: Software + ?Sized>(
    software: &S,
    device: &str,
    job: Job,
    timing: Result<Timing, DeviceError>,
) -> Completion {
    let Job { ticket, attempt, batch, mut output, keys } = job;
    let worked = timing.and_then(|timing| {
        let failed = |reason: String| DeviceError::Failed { device: device.to_owned(), reason };
        let mut work = Work::new(&batch, output.as_output(), &*keys)
            .map_err(|error| failed(error.to_string()))?;
        software.run(&mut work)?;
        Ok(timing)
    });
    // Before anyone sees the completion: they are an engine's, and whatever hangs on them.
    drop((batch, keys));
    let worked = worked.inspect_err(|_| output.wipe());
    Completion { ticket, attempt, outcome: worked.map(|timing| (output, timing)) }
}

#[derive(Debug)]
struct State {
    walk: Walk,
    jobs: u64,
    /// By when they are over, and in the order in which they came.
    flying: BTreeMap<(u64, u64), Flying>,
    /// For the messages and bytes of the batch before.
    predicted: Option<((usize, u64), Prediction)>,
}

impl State {
    /// What an idle card and a full one would take for a batch of that shape, were its messages equal.
    fn predict(&mut self, card: &Card, shape: &Shape) -> Prediction {
        let key = (shape.messages, shape.bytes());
        match self.predicted {
            Some((known, prediction)) if known == key => prediction,
            _ => {
                let prediction = card.line().predict_batch(key.0 as u64, key.1 as f64);
                self.predicted.insert((key, prediction)).1
            }
        }
    }

    /// How many batches a new one is among, itself counted, or `most` if there are more. Those that are
    /// over and wait to be taken are none.
    fn among(&self, most: usize, now_ns: u64) -> usize {
        let working = self.flying.range((now_ns.saturating_add(1), 0)..);
        working.take(most.saturating_sub(1)).count() + 1
    }

    fn take_over(&mut self, now_ns: u64) -> Vec<Flying> {
        let mut over = vec![];
        while let Some(first) = self.flying.first_entry().filter(|first| first.key().0 <= now_ns) {
            over.push(first.remove());
        }
        over
    }
}

#[derive(Debug)]
struct Flying {
    job: Box<Job>,
    /// When it is worked, or why it isn't.
    timing: Result<Timing, DeviceError>,
}

/// The bytes of each request of a batch.
fn requests(work: &mut Work<'_>, messages_per_request: usize) -> Vec<f64> {
    let mut requests = Vec::with_capacity(work.len().div_ceil(messages_per_request));
    for start in (0..work.len()).step_by(messages_per_request) {
        let end = work.len().min(start.saturating_add(messages_per_request));
        requests.push((start..end).map(|message| bytes(work, message) as f64).sum());
    }
    requests
}

/// The text and aad of a message, in bytes.
fn bytes(work: &mut Work<'_>, message: usize) -> usize {
    let slot = work.slot(message);
    let text = match slot.text {
        SlotText::Apart { input, .. } | SlotText::Read(input) => input,
        SlotText::InPlace(text) => text,
    };
    text.len() + slot.aad.len()
}

/// Nanoseconds as a whole number; what doesn't fit is the next that does.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturating is wanted")]
pub(super) fn whole_ns(ns: f64) -> u64 {
    ns.round() as u64
}

/// What people wait for, and press no key.
const HERE_NS_MAX: u64 = 10_000_000_000;
