//! What a device with faults remembers of its jobs.

use super::plan::{Fate, Plan, hits};
use sealift_core::{Batch, Completion, Job, Refusal, Ticket};
use std::collections::HashMap;
use std::sync::Arc;

/// Counts batches and jobs, and keeps what isn't back yet.
#[derive(Debug, Default)]
pub(super) struct State {
    /// Jobs and runs that were begun.
    pub(super) batches: u64,
    /// Jobs that were taken.
    jobs: u64,
    /// Jobs that were offered.
    offers: u64,
    /// Jobs and runs that ended.
    ended: u64,
    /// Jobs that were taken and not polled; those that never come back too.
    pub(super) in_flight: usize,
    /// What the wrapped device is working, if it has a fate.
    fates: HashMap<(Ticket, u32), (Fate, Arc<Batch<'static>>)>,
    hung: Vec<Job>,
    /// Completions and when they are due.
    late: Vec<(u64, Completion)>,
    done: Vec<Completion>,
}

impl State {
    /// Counts a batch that begins.
    pub(super) fn begin(&mut self, plan: &Plan) -> Fate {
        self.batches += 1;
        plan.fate(self.batches)
    }

    /// Counts a batch that ends; false when the device died before.
    pub(super) fn end(&mut self, plan: &Plan) -> bool {
        let alive = !self.is_dead(plan);
        self.ended += u64::from(alive);
        alive
    }

    pub(super) fn is_dead(&self, plan: &Plan) -> bool {
        plan.die.is_some_and(|die| self.ended >= die)
    }

    /// Counts a job that is offered; why it isn't even tried.
    pub(super) fn offer(&mut self, plan: &Plan, slots: usize) -> Option<Refusal> {
        self.offers += 1;
        let full = self.in_flight >= slots || hits(plan.full, self.offers);
        full.then_some(Refusal::Full { in_flight: self.in_flight, slots })
    }

    /// Whether the job that is taken next never completes.
    pub(super) fn hangs_next(&self, plan: &Plan) -> bool {
        plan.hang == Some(self.jobs + 1)
    }

    /// Keeps a job for good.
    pub(super) fn hang(&mut self, job: Job) {
        self.batches += 1;
        self.take();
        self.hung.push(job);
    }

    /// Writes down the fate of a job that the wrapped device took.
    pub(super) fn give(&mut self, plan: &Plan, job: (Ticket, u32), batch: Arc<Batch<'static>>) {
        let fate = self.begin(plan);
        self.take();
        if fate != Fate::default() {
            self.fates.insert(job, (fate, batch));
        }
    }

    fn take(&mut self) {
        self.jobs += 1;
        self.in_flight += 1;
    }

    /// The fate of a completion of the wrapped device, and its batch if it has one.
    pub(super) fn fate_of(
        &mut self,
        completion: &Completion,
    ) -> (Fate, Option<Arc<Batch<'static>>>) {
        match self.fates.remove(&(completion.ticket, completion.attempt)) {
            Some((fate, batch)) => (fate, Some(batch)),
            None => Default::default(),
        }
    }

    pub(super) fn delay(&mut self, due_ns: u64, completion: Completion) {
        self.late.push((due_ns, completion));
    }

    /// Ends a job, unless the device died before: then nothing is left of it.
    pub(super) fn finish(&mut self, plan: &Plan, mut completion: Completion) {
        if self.end(plan) {
            self.done.push(completion);
        } else {
            wipe(&mut completion);
        }
    }

    /// Ends the late jobs that are due, the earliest first.
    pub(super) fn finish_due(&mut self, plan: &Plan, now_ns: u64) {
        let mut due: Vec<_> = self.late.extract_if(.., |(due_ns, _)| *due_ns <= now_ns).collect();
        due.sort_by_key(|(due_ns, _)| *due_ns);
        due.into_iter().for_each(|(_, completion)| self.finish(plan, completion));
    }

    /// Moves what ended into `done`.
    pub(super) fn move_done(&mut self, done: &mut Vec<Completion>) {
        self.in_flight -= self.done.len();
        done.append(&mut self.done);
    }

    /// Takes the jobs out that hang, wiped, and frees their slots.
    pub(super) fn let_hung_go(&mut self) -> Vec<Job> {
        self.in_flight -= self.hung.len();
        self.hung.iter_mut().for_each(|job| job.output.wipe());
        std::mem::take(&mut self.hung)
    }
}

/// Nobody polls any more.
impl Drop for State {
    fn drop(&mut self) {
        self.let_hung_go();
        self.done.iter_mut().for_each(wipe);
        self.late.iter_mut().for_each(|(_, completion)| wipe(completion));
    }
}

pub(super) fn wipe(completion: &mut Completion) {
    completion.outcome.iter_mut().for_each(|(output, _)| output.wipe());
}
