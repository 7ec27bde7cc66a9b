//! What the scheduler knows of one device.

use super::Given;
use super::asking::Request;
use super::excess::{Excess, HOPE_MAX_NS, SLOW, SLOW_MOST, SLOW_MOST_ON_CORES};
use super::health::{Health, State};
use super::known::Classes;
use super::quote::Candidate;
use super::sampling::Sampling;
use super::trial::Trial;
use crate::DeviceId;
use crate::cores::shares;
use sealift_core::{Capabilities, Cost, Cuts, Resource, Role, Shape, ThreadUsage, Timing};
use std::mem;

/// One device: what it costs, how it does, and what it holds.
#[derive(Debug)]
pub(super) struct Member {
    is_real: bool,
    works_on: Resource,
    cuts: Cuts,
    classes: Classes,
    /// Whether it has worked a batch.
    is_warm: bool,
    /// Share of the working time that the host's processors spend.
    host_share: f64,
    /// From submitting to beginning, where a worker is free.
    hand_over_ns: f64,
    health: Health,
    workers: usize,
    slots: usize,
    /// Abandoned ones included.
    in_flight: usize,
    abandoned: usize,
    /// Predicted work of all batches it holds.
    queued_ns: f64,
    /// When it last got or gave back a batch.
    moved_ns: u64,
    given_ns: Option<u64>,
    /// Work that others got since then.
    missed_ns: f64,
    /// Between its last batch and the next trial; twice as long after each one.
    trial_gap_ns: u64,
    /// Of long batches lately, the share in which the thread never blocked, so that its own clock tells what they took.
    clocked: f64,
    /// Batches to come that are looked at closely, because one before them took surprisingly long.
    watched: u32,
    sampling: Sampling,
    trial: Trial,
    excess: Excess,
}

impl Member {
    pub(super) fn new(capabilities: &Capabilities) -> Self {
        Self {
            is_real: capabilities.role == Role::Real,
            works_on: capabilities.works_on.clone(),
            cuts: if capabilities.workers > 1 { capabilities.cuts } else { Cuts::Nothing },
            classes: Classes::new(capabilities.cost, hoped(capabilities)),
            is_warm: false,
            host_share: if capabilities.works_on.is_cores() { 1.0 } else { 0.0 },
            hand_over_ns: HAND_OVER_NS,
            health: Health::default(),
            workers: capabilities.workers.max(1),
            slots: capabilities.slots,
            in_flight: 0,
            abandoned: 0,
            queued_ns: 0.0,
            moved_ns: 0,
            given_ns: None,
            missed_ns: 0.0,
            trial_gap_ns: TRIAL_GAP_MIN_NS,
            clocked: 0.0,
            watched: 0,
            sampling: Sampling::default(),
            trial: Trial::default(),
            excess: Excess::default(),
        }
    }

    /// Whether results of it were seen.
    pub(super) fn has_worked(&self) -> bool {
        self.is_warm
    }

    /// What a batch would take that is handed over now.
    pub(super) fn quote(&self, device: DeviceId, shape: &Shape, now_ns: u64) -> Candidate {
        let waits_ns = self.waits_ns(now_ns);
        // A device at work needs no waking.
        let hand_over_ns = if waits_ns > 0.0 { 0.0 } else { self.hand_over_ns };
        self.candidate(device, shape, waits_ns + hand_over_ns, None)
    }

    /// What a batch would take that is worked on the calling thread.
    pub(super) fn quote_here(&self, device: DeviceId, request: &Request<'_>) -> Candidate {
        self.candidate(device, request.shape, 0.0, Some(request.threads))
    }

    /// `threads` work it at the same time, if it is worked on the calling one.
    fn candidate(
        &self,
        device: DeviceId,
        shape: &Shape,
        before_ns: f64,
        threads: Option<usize>,
    ) -> Candidate {
        let (work_ns, here) = (self.predict_ns(shape), threads.is_some());
        let elapsed_ns = self.elapsed_ns(work_ns, shape, threads.unwrap_or(1));
        let known = self.classes.of(shape);
        let usual_ns = known.usual.of(shape.messages as u64, shape.bytes());
        // A trial that is hoped to be cheap may be dear all the same.
        let hopes = if usual_ns > 0.0 { usual_ns } else { work_ns } <= HOPE_MAX_NS;
        let slower_ns = (known.usually_ns(shape) - usual_ns).max(0.0);
        let may_be_tried = !self.excess.is_owing();
        Candidate {
            device,
            finish_ns: before_ns + elapsed_ns,
            work_ns,
            saved_ns: if hopes { slower_ns * elapsed_ns / work_ns.max(1.0) } else { 0.0 },
            host_ns: if here { work_ns } else { HAND_OVER_HOST_NS + work_ns * self.host_share },
            cost: known.estimator.cost(),
            in_flight: self.in_flight,
            here,
            idle_since_ns: self.given_ns.unwrap_or(u64::MAX),
            missed_ns: self.missed_ns,
            trial_gap_ns: if may_be_tried { self.trial_gap_ns } else { u64::MAX },
            on_trial: may_be_tried && self.trial.goes_on(work_ns),
            is_outdone: false,
            is_measured: self.is_warm,
        }
    }

    /// How long work of one core takes where so many threads may share it. Nothing but the shape decides whether they do: by
    /// the time, a slow device would be halved and a quick one not.
    #[expect(clippy::cast_precision_loss, reason = "threads are few")]
    fn elapsed_ns(&self, work_ns: f64, shape: &Shape, threads: usize) -> f64 {
        work_ns / shares(self.cuts, shape, threads) as f64
    }

    /// Until a worker is free.
    #[expect(clippy::cast_precision_loss, reason = "durations are far under 2^52 ns")]
    fn waits_ns(&self, now_ns: u64) -> f64 {
        if self.in_flight < self.workers {
            return 0.0;
        }
        let worked_ns = now_ns.saturating_sub(self.moved_ns) as f64 * self.workers as f64;
        let batch_ns = self.queued_ns / self.in_flight as f64;
        // What is at work is not over before its completion, however late it is.
        let left_ns = self.queued_ns - worked_ns.min(batch_ns * self.workers as f64);
        left_ns.max(0.0) / self.workers as f64
    }

    /// Whether it works a batch faster than another device on the same cores; as fast is enough where it
    /// comes first.
    pub(super) fn outdoes(&self, other: &Self, request: &Request<'_>, is_first: bool) -> bool {
        let Request { shape, threads, .. } = *request;
        let elapsed_ns = |one: &Self| one.elapsed_ns(one.predict_ns(shape), shape, threads);
        let (own_ns, others_ns) = (elapsed_ns(self), elapsed_ns(other));
        let is_faster = own_ns < others_ns || is_first && own_ns <= others_ns;
        is_faster && self.works_on.is_shared_with(&other.works_on)
    }

    /// It was asked. From the first time on it counts as not tried.
    pub(super) fn asked(&mut self, now_ns: u64) {
        self.given_ns.get_or_insert(now_ns);
    }

    /// Whether what such batches cost was learnt here.
    pub(super) fn has_learnt(&self, shape: &Shape) -> bool {
        self.classes.of(shape).is_learnt
    }

    /// Whether its work is time of this machine's cores.
    pub(super) fn is_on_cores(&self) -> bool {
        self.works_on.is_cores()
    }

    /// It is chosen for a batch as the best one.
    pub(super) fn chosen(&mut self, now_ns: u64) {
        self.given_ns = Some(now_ns);
        self.missed_ns = 0.0;
        self.trial_gap_ns = TRIAL_GAP_MIN_NS;
        self.trial = Trial::default();
    }

    /// It is chosen to see how fast it is now, for a batch that is predicted to take so long.
    pub(super) fn explored(&mut self, shape: &Shape, work_ns: f64, now_ns: u64) {
        self.given_ns = Some(now_ns);
        self.missed_ns = 0.0;
        if self.trial.give(work_ns) {
            self.trial_gap_ns = (2 * self.trial_gap_ns).min(TRIAL_GAP_MAX_NS);
            self.classes.ask_anew(shape);
        }
    }

    /// Whether the next batch is timed by the thread's own clock, too: one after another that surprised, a very long one, and
    /// of those that are as long as is worth it a sample.
    pub(super) fn is_timed(&mut self, work_ns: f64) -> bool {
        if !self.works_on.is_cores() {
            return false;
        }
        let is_long = work_ns >= ThreadUsage::WORTH_READING_NS as f64;
        self.watched > 0 || work_ns >= ALWAYS_TIMED_NS || is_long && self.sampling.takes_next()
    }

    /// Another one is chosen for a batch that would take so long there.
    pub(super) fn missed(&mut self, work_ns: f64) {
        self.missed_ns += work_ns;
        self.excess.pay(work_ns);
    }

    pub(super) fn take(&mut self, shape: &Shape, now_ns: u64) -> Given {
        let at_once = self.in_flight < self.workers;
        let given = Given { at_ns: now_ns, at_once, alone: self.in_flight == 0 };
        self.in_flight += 1;
        self.queued_ns += self.predict_ns(shape);
        if self.in_flight == 1 {
            self.moved_ns = now_ns;
        }
        given
    }

    /// It gave results of a batch, which was given to it if it was handed over.
    #[expect(clippy::cast_precision_loss, reason = "durations are far under 2^52 ns")]
    pub(super) fn finished(
        &mut self,
        shape: &Shape,
        timing: &Timing,
        is_timed: bool,
        given: Option<Given>,
        now_ns: u64,
    ) {
        if let Some(given) = given {
            if given.at_once {
                let waited_ns = timing.start_ns.saturating_sub(given.at_ns) as f64;
                self.learn_waking(waited_ns.min(HAND_OVER_MAX_NS), given.alone);
            }
            self.give_up(now_ns);
            self.health.recover();
        } else {
            self.health.recover_here();
        }
        self.learn_one(shape, timing, is_timed);
    }

    /// So many batches went by one decision, none of them slow; the mean of them took so many nanoseconds.
    pub(super) fn worked(&mut self, batches: u32, mean: Option<(Shape, u64)>) {
        if batches > 0 {
            self.excess.add_usual(f64::from(batches));
        }
        if let Some((shape, took_ns)) = mean {
            self.health.recover_here();
            self.learn(&shape, &Timing::in_memory(0, took_ns), false);
        }
    }

    /// One of them took far longer than was predicted.
    #[expect(clippy::cast_precision_loss, reason = "durations are far under 2^52 ns")]
    pub(super) fn surprised(&mut self, shape: &Shape, took_ns: u64) {
        let usual_ns = self.usually_ns(shape);
        // On the cores it may have been interrupted, and nobody looked.
        self.excess.add(usual_ns, took_ns as f64 / usual_ns, !self.works_on.is_cores());
    }

    /// Takes in what a free worker took to begin. Beside other batches that may be time in which they had
    /// its core, so that there only less than is known tells of waking.
    fn learn_waking(&mut self, waited_ns: f64, alone: bool) {
        if alone || waited_ns < self.hand_over_ns {
            self.hand_over_ns += (waited_ns - self.hand_over_ns) / 16.0;
        }
    }

    /// Takes in what one batch took, which the thread's own clock was asked for if it `is_timed`.
    #[expect(clippy::cast_precision_loss, reason = "durations are far under 2^52 ns")]
    fn learn_one(&mut self, shape: &Shape, timing: &Timing, is_timed: bool) {
        // Where another machine part computes, waiting for it is its time, whatever the thread did.
        let core_ns = timing.core_ns.filter(|_| self.works_on.is_cores());
        let timing = &Timing { core_ns, ..*timing };
        let took_ns = timing.cost_ns() as f64;
        self.trial.done(took_ns / self.usually_ns(shape));
        let is_learnt = self.learn(shape, timing, is_timed);
        if is_learnt && self.host_share < 1.0 && took_ns > 0.0 {
            let host_ns = (timing.copy_in_ns + timing.copy_out_ns) as f64;
            self.host_share += ((host_ns / took_ns).min(1.0) - self.host_share) / 16.0;
        }
    }

    /// Takes in what a batch cost, if that says something of the next ones. True if it does.
    #[expect(clippy::cast_precision_loss, reason = "durations are far under 2^52 ns")]
    fn learn(&mut self, shape: &Shape, timing: &Timing, is_timed: bool) -> bool {
        let (core_ns, took_ns) = (timing.core_ns, timing.cost_ns());
        let usual_ns = self.usually_ns(shape);
        let times = took_ns as f64 / usual_ns;
        // The first batch finds cold caches and no expanded keys: slow, it says little of those to come.
        if !mem::replace(&mut self.is_warm, true) && times > 1.0 {
            return false;
        }
        let is_fresh = 8 * FAULT_NS * timing.faults > took_ns;
        if self.works_on.is_cores() && usual_ns >= ThreadUsage::WORTH_READING_NS as f64 {
            let elapsed_ns = timing.elapsed_ns();
            match core_ns {
                // What several cores took together says nothing of interruptions.
                Some(ns) if ns > elapsed_ns / 4 * 5 => {}
                None if !is_timed => {
                    if times > SCATTER {
                        // Perhaps others had the core: the next ones will tell.
                        self.sampling.unsettle(times > SLOW);
                        return false;
                    }
                }
                own_ns => {
                    let had_the_core = own_ns.is_some_and(|ns| ns >= elapsed_ns / 10 * 9);
                    self.sampling.note(had_the_core && !is_fresh);
                }
            }
            if (is_timed || core_ns.is_some()) && self.waited_for_others(times, core_ns.is_some()) {
                return false;
            }
        }
        // A shorter batch may have been interrupted, and nobody looked.
        let is_looked_at = core_ns.is_some() || usual_ns >= ThreadUsage::WORTH_READING_NS as f64;
        self.excess.add(usual_ns, times, is_looked_at || !self.works_on.is_cores());
        if self.is_odd(shape, times, core_ns.is_some() && !is_fresh) {
            return false;
        }
        let known = self.classes.of_mut(shape);
        known.is_learnt = true;
        known.estimator.learn(shape.messages as u64, shape.bytes(), took_ns);
        true
    }

    /// Whether a long batch on the cores took more than usual because its thread blocked, which threads there hardly ever do: it
    /// waited for another one that works with this device, and how long says nothing of the work. Where they block in most
    /// batches, sleeping is how the device works.
    fn waited_for_others(&mut self, times: f64, is_clocked: bool) -> bool {
        let seldom_blocks = self.clocked > 0.5;
        self.clocked += (f64::from(u8::from(is_clocked)) - self.clocked) / 8.0;
        seldom_blocks && !is_clocked && times > 1.0
    }

    /// Counts a batch that took so many times what was predicted, and says whether to learn nothing from it.
    ///
    /// That is so for one that took far longer, unless the last one of about its size did too, or the thread's own clock was
    /// read and its memory was not fresh: then most likely the machine did something else in the middle of it.
    fn is_odd(&mut self, shape: &Shape, times: f64, is_timed: bool) -> bool {
        let (is_slow, is_fast) = (times > SURPRISING, times < 1.0 / SURPRISING);
        let known = self.classes.of_mut(shape);
        known.calm = if is_slow || is_fast { 0 } else { known.calm.saturating_add(1) };
        if known.calm >= CALM_BATCHES {
            known.usual = known.estimator.cost();
        }
        self.watched = if is_slow { WATCHED_BATCHES } else { self.watched.saturating_sub(1) };
        let size = (shape.messages as u64, shape.bytes());
        let is_like = |odd: (u64, u64)| is_near(odd.0, size.0) && is_near(odd.1, size.1);
        let is_repeated = known.odd.is_some_and(is_like);
        if is_slow && !is_timed {
            known.odd = Some(size);
            return !is_repeated;
        }
        known.odd = known.odd.filter(|_| !is_repeated);
        false
    }

    /// It holds a batch less.
    #[expect(clippy::cast_precision_loss, reason = "few are in flight")]
    pub(super) fn give_up(&mut self, now_ns: u64) {
        let batch_ns = self.queued_ns / self.in_flight.max(1) as f64;
        self.in_flight = self.in_flight.saturating_sub(1);
        self.queued_ns = if self.in_flight == 0 { 0.0 } else { self.queued_ns - batch_ns };
        self.moved_ns = now_ns;
    }

    pub(super) fn failed(&mut self, now_ns: u64, grave: bool) {
        self.health.fail(now_ns, grave);
    }

    /// An attempt is overdue and was given up; it holds its slot until it ends.
    pub(super) fn abandoned(&mut self, now_ns: u64) {
        self.abandoned += 1;
        self.health.fail(now_ns, true);
    }

    /// Such an attempt ended after all; with results it says what such a batch takes.
    pub(super) fn ended_late(&mut self, shape: &Shape, timing: Option<&Timing>, now_ns: u64) {
        self.abandoned = self.abandoned.saturating_sub(1);
        self.give_up(now_ns);
        match timing {
            Some(timing) => {
                self.learn_one(shape, timing, true);
                self.health.recover();
            }
            None => self.health.fail(now_ns, true),
        }
    }

    /// Whether every slot holds a batch that was given up.
    pub(super) fn is_stuck(&self) -> bool {
        self.abandoned > 0 && self.abandoned >= self.slots
    }

    pub(super) fn quarantine(&mut self) {
        self.health.quarantine();
    }

    pub(super) fn reinstate(&mut self) {
        self.health.reinstate();
    }

    pub(super) fn state(&self, now_ns: u64) -> State {
        self.health.state(now_ns)
    }

    pub(super) fn is_up(&self, now_ns: u64) -> bool {
        self.health.state(now_ns) == State::Up
    }

    pub(super) fn is_quarantined(&self) -> bool {
        self.health.state(0) == State::Quarantined
    }

    pub(super) fn is_due_before(&self, other: &Self) -> bool {
        self.health.due_ns() < other.health.due_ns()
    }

    pub(super) fn has_room(&self) -> bool {
        let on_trial = self.health.is_on_trial();
        self.in_flight < self.slots && !(on_trial && self.in_flight > self.abandoned)
    }

    /// Whether it has room for batches that name no device.
    pub(super) fn is_open(&self) -> bool {
        self.is_real && self.has_room() && !self.is_quarantined()
    }

    /// Whether something was wrong with it of late.
    pub(super) fn is_in_doubt(&self) -> bool {
        self.health.is_on_trial() || self.is_quarantined()
    }

    /// Batches it holds, and how many it can hold.
    pub(super) fn room(&self) -> (usize, usize) {
        (self.in_flight, self.slots)
    }

    pub(super) fn cost(&self) -> Cost {
        self.classes.first().estimator.cost()
    }

    /// Of seals under sessions; what is known of others is forgotten.
    pub(super) fn set_cost(&mut self, cost: Cost) {
        self.classes = Classes::new(cost, cost);
    }

    /// What a batch takes on average.
    fn predict_ns(&self, shape: &Shape) -> f64 {
        let slow_most = if self.works_on.is_cores() { SLOW_MOST_ON_CORES } else { SLOW_MOST };
        self.usually_ns(shape) * self.excess.factor(slow_most)
    }

    /// What it takes when nothing is in its way.
    fn usually_ns(&self, shape: &Shape) -> f64 {
        self.classes.of(shape).usually_ns(shape)
    }
}

/// What a device may cost of which nothing was measured: any, so that it is tried soon, unless getting ready takes time.
fn hoped(capabilities: &Capabilities) -> Cost {
    let is_ready = capabilities.works_on.is_cores() && capabilities.prepares.is_zero();
    if is_ready { Cost::clamped(0.0, 0.0, 0.0) } else { capabilities.cost }
}

/// Whether one number is at most twice the other.
fn is_near(one: u64, other: u64) -> bool {
    one / 2 <= other && other / 2 <= one
}

/// What it takes at least to be given a page that was never touched.
const FAULT_NS: u64 = 250;
/// Trials of a device are so far apart at first and at most.
const TRIAL_GAP_MIN_NS: u64 = 2_000_000;
const TRIAL_GAP_MAX_NS: u64 = 50_000_000;
/// So many times what was predicted is no scatter.
const SURPRISING: f64 = 1.5;
/// So many times may be other work in shared caches, or on the core's other half. Other threads have the core for longer.
const SCATTER: f64 = 2.0;
/// From here on reading the thread's own clock costs nothing to speak of.
const ALWAYS_TIMED_NS: f64 = 1e6;
/// So many batches are looked at closely after one that surprised.
const WATCHED_BATCHES: u32 = 8;
/// So many in a row without a surprise make what is known the usual cost.
const CALM_BATCHES: u32 = 16;
/// Before anything was measured: waking a thread and switching to it.
const HAND_OVER_NS: f64 = 20_000.0;
/// A worker that was not scheduled for longer says something about the machine, not about the device.
const HAND_OVER_MAX_NS: f64 = 1_000_000.0;
/// Time of the host that handing over takes.
const HAND_OVER_HOST_NS: f64 = 5_000.0;

#[cfg(test)]
mod tests;
