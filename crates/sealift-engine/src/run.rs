//! Batches that are worked on the calling thread.

use crate::cores::{RunError, Stop};
use crate::flight::Flying;
use crate::record::End;
use crate::scheduler::{Because, Beside, Decision, Nobody, Request, SLOW, Standing};
use crate::shared::{Shared, failures, first_session};
use crate::store::KeyStore;
use crate::{DeviceId, EngineError, Options, Report, route};
use sealift_core::{
    Batch, DeviceError, Notify, Op, Output, OwnedOutput, Shape, Stability, Ticket, Timing, Work,
};
use std::num::NonZeroUsize;
use std::rc::Rc;

impl Shared {
    pub(crate) fn run<'w>(
        &'w self,
        batch: &'w Batch<'w>,
        mut output: Output<'w>,
        options: &Options,
        stop: Option<Stop<'_>>,
    ) -> Result<Report, EngineError> {
        self.check_fork()?;
        let mut report = Report::OF_NOTHING;
        Work::with(batch, &mut output, &*self.store, |work| {
            self.run_work(work, options, stop, &mut report)
        })??;
        Ok(report)
    }

    /// The same for a batch that is checked. A report or a timing counts only where the work is done.
    // IMPLEMENTATION NOTE: they are written where they stay. By value they were copied a dozen times just after they had been
    // written in other pieces, and the processor waits for that: a sixth of a call with one message of 128 bytes (Zen 3).
    fn run_work(
        &self,
        work: &mut Work<'_>,
        options: &Options,
        mut stop: Option<Stop<'_>>,
        report: &mut Report,
    ) -> Result<(), EngineError> {
        let decided = self.decide_here(work, options)?;
        options.nonces.check(work.batch())?;
        let lease = KeyStore::admit(&*self.store, work.batch())?;
        let at = Arrival { arrived_ns: decided.at_ns, tried: &[] };
        let again = stop.as_mut().map(|stop| &mut **stop as Stop<'_>);
        let ran = match self.run_decided(work, &decided, options.threads, again, at, report) {
            Ok(()) => Ok(()),
            Err(failure) => self.run_elsewhere(work, options, stop, at.arrived_ns, failure, report),
        };
        drop(lease);
        self.sweep();
        ran
    }

    /// Gives a batch that a device failed to others, one after the other.
    #[cold]
    #[inline(never)]
    fn run_elsewhere(
        &self,
        work: &mut Work<'_>,
        options: &Options,
        mut stop: Option<Stop<'_>>,
        arrived_ns: Option<u64>,
        mut failure: Failure,
        report: &mut Report,
    ) -> Result<(), EngineError> {
        let mut tried = vec![];
        loop {
            let Failure { device, error } = failure;
            let RunError::Device(error) = error else { return Err(EngineError::Stopped) };
            work.wipe();
            tried.push(device);
            if !may_run_again(work, options) {
                return Err(error.into());
            }
            let Ok(decided) = self.decide_anew(work, options, &tried) else {
                return Err(error.into());
            };
            let at = Arrival { arrived_ns, tried: &tried };
            let again = stop.as_mut().map(|stop| &mut **stop as Stop<'_>);
            match self.run_decided(work, &decided, options.threads, again, at, report) {
                Ok(()) => return Ok(()),
                Err(next) => failure = next,
            }
        }
    }

    /// Works a batch where it was decided: on one device, or on two at the same time.
    fn run_decided(
        &self,
        work: &mut Work<'_>,
        decided: &DecidedHere,
        threads: Option<NonZeroUsize>,
        mut stop: Option<Stop<'_>>,
        at: Arrival<'_>,
        report: &mut Report,
    ) -> Result<(), Failure> {
        if let Some(beside) = &decided.beside {
            let stop = stop.as_mut().map(|stop| &mut **stop as Stop<'_>);
            if let Some(ran) = self.run_beside(work, beside, threads, stop, at) {
                *report = ran?;
                return Ok(());
            }
        }
        self.run_learnt(work, decided, threads, stop, at, report)?;
        self.record_worked(&decided.decision, work.shape(), report, at);
        Ok(())
    }

    /// Works a batch, or a part of one, on one device, and learns from it. A failure is recorded, and its output is the
    /// caller's to wipe.
    pub(crate) fn run_learnt(
        &self,
        work: &mut Work<'_>,
        decided: &DecidedHere,
        threads: Option<NonZeroUsize>,
        stop: Option<Stop<'_>>,
        at: Arrival<'_>,
        report: &mut Report,
    ) -> Result<(), Failure> {
        let decision = &decided.decision;
        let (is_timed, timing) = (decided.lesson.is_timed(), &mut report.timing);
        match self.run_checked(work, decision, is_timed, threads, stop, timing) {
            Ok(()) => {
                self.learn_here(decided, work.shape(), timing);
                report.device = decision.device;
                report.auth_failed = failures(work.statuses());
                report.moved = at.moved();
                Ok(())
            }
            Err((error, end)) => {
                if !matches!(error, RunError::Stopped) {
                    self.record_failed(decision, work.shape(), end, at);
                }
                Err(Failure { device: decision.device, error })
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn record_failed(&self, decision: &Standing, shape: &Shape, end: End, at: Arrival<'_>) {
        let failed_ns = self.clock.now_ns();
        let timing = Timing::in_memory(at.arrived_ns.unwrap_or(failed_ns), failed_ns);
        let (device, moved) = (decision.device, at.moved());
        let before = decision.take_worked(shape);
        let mut dispatch = self.lock();
        dispatch.scheduler.learn_worked(&before);
        dispatch.scheduler.failed(device, false, at.tried, failed_ns);
        drop(dispatch);
        let report = Report { device, timing, auth_failed: 0, moved };
        self.record(None, timing.start_ns, shape, end, &report, decision);
    }

    /// Records what was worked, with a whole batch's results.
    pub(crate) fn record_worked(
        &self,
        decision: &Decision,
        shape: &Shape,
        report: &Report,
        at: Arrival<'_>,
    ) {
        let arrived_ns = at.arrived_ns.unwrap_or(report.timing.start_ns);
        self.record(None, arrived_ns, shape, End::Done, report, decision);
    }

    /// Works a small batch on the thread that submits it.
    pub(crate) fn work_here(
        &self,
        ticket: Ticket,
        mut flying: Flying,
        decision: Decision,
        mut output: OwnedOutput,
    ) {
        let device = decision.device;
        let result = match Work::new(&flying.batch, output.as_output(), &*self.store) {
            Ok(mut work) => {
                let (one, mut timing) = (Some(NonZeroUsize::MIN), Timing::NONE);
                self.run_checked(&mut work, &decision, false, one, None, &mut timing)
                    .map(|()| timing)
            }
            Err(error) => Err((self.failure(device, error.to_string()).into(), End::Failed)),
        };
        let result = result.map_err(|(error, end)| (self.error_of(device, error), end));
        if result.is_err() {
            output.wipe();
        }
        let now_ns = self.clock.now_ns();
        let mut dispatch = self.lock();
        match result {
            Ok(timing) => {
                dispatch.scheduler.finished(device, &flying.shape, &timing, false, None, now_ns);
                self.complete(&mut dispatch, ticket, flying, output, timing, decision);
            }
            Err((error, end)) => {
                dispatch.scheduler.failed(device, false, &flying.tried, now_ns);
                let timing = Timing::in_memory(flying.arrived_ns, now_ns);
                let report = Report { device, timing, auth_failed: 0, moved: flying.attempts };
                let (arrived_ns, shape) = (flying.arrived_ns, flying.shape);
                self.record(Some(ticket), arrived_ns, &shape, end, &report, &decision);
                flying.attempts += 1;
                flying.tried.push(device);
                flying.error = Some(error);
                self.retry(&mut dispatch, ticket, flying);
            }
        }
        drop(dispatch);
        self.bell.ring();
        self.sweep();
    }

    /// Works a batch, on several cores where that pays, and audits it.
    fn run_checked(
        &self,
        work: &mut Work<'_>,
        &Decision { device, work_ns, .. }: &Decision,
        is_timed: bool,
        threads: Option<NonZeroUsize>,
        stop: Option<Stop<'_>>,
        timing: &mut Timing,
    ) -> Result<(), (RunError, End)> {
        let threads = threads.unwrap_or(self.threads).get();
        let inside = self.callers.enter(work_ns, || {
            // Whoever waits for another machine part has no core.
            self.devices[device.0].capabilities().works_on.is_cores()
        });
        let cut = self.cut_of(device, work.shape(), work_ns, threads, stop.is_some());
        if let Some(cut) = cut {
            let ran = self.run_in_parts(device, work, cut, stop.unwrap_or(&mut || false));
            *timing = ran.map_err(|error| (error, End::Failed))?;
        } else {
            let ran = self.run_whole(device, work, is_timed, timing);
            ran.map_err(|error| (error.into(), End::Failed))?;
        }
        drop(inside);
        self.note_end(work_ns, timing);
        let Some(auditor) = &self.auditor else { return Ok(()) };
        let sealed = auditor.draw_from_work(work);
        if self.is_wrong(device, work.batch(), &sealed, &*self.store) {
            return Err((self.wrong(device).into(), End::Wrong));
        }
        Ok(())
    }

    fn error_of(&self, device: DeviceId, error: RunError) -> DeviceError {
        match error {
            RunError::Device(error) => error,
            RunError::Stopped => self.failure(device, "it was stopped".to_owned()),
        }
    }

    /// Works a batch on the calling thread, whose own clock is read around it when it `is_timed`.
    fn run_whole(
        &self,
        device: DeviceId,
        work: &mut Work<'_>,
        is_timed: bool,
        timing: &mut Timing,
    ) -> Result<(), DeviceError> {
        if !is_timed {
            return self.run_on(device, work, timing);
        }
        let before = self.clock.thread_usage();
        self.run_on(device, work, timing)?;
        *timing = timing.with_usage(before, self.clock.thread_usage());
        Ok(())
    }

    /// Who works a batch.
    fn decide_here(&self, work: &Work<'_>, options: &Options) -> Result<DecidedHere, EngineError> {
        match self.decisions.use_once(&self.devices, work.shape(), options.on) {
            Some(decision) if decision.because == Because::Explored => {
                let is_timed = self.lock().scheduler.is_timed(&decision);
                let lesson = Lesson::Whole { is_timed };
                Ok(DecidedHere { decision, at_ns: None, lesson, beside: None })
            }
            Some(decision) => {
                Ok(DecidedHere { decision, at_ns: None, lesson: Lesson::Together, beside: None })
            }
            None => self.decide_anew(work, options, &[]),
        }
    }

    /// The same without looking at what was decided before. What of this is rare is no part of its callers, whose stack it
    /// would make larger for each message.
    #[inline(never)]
    fn decide_anew(
        &self,
        work: &Work<'_>,
        options: &Options,
        tried: &[DeviceId],
    ) -> Result<DecidedHere, EngineError> {
        let is_cacheable = tried.is_empty();
        let mut dispatch = self.lock();
        let scheduler = &mut dispatch.scheduler;
        let request = Request {
            session: first_session(work.batch()),
            named: options.on,
            here: true,
            threads: self.free_threads(options.threads.unwrap_or(self.threads).get(), work.shape()),
            tried,
            ..Request::of(work.shape())
        };
        let now_ns = self.clock.now_ns();
        let worked = self.decisions.take_worked();
        if let Some(worked) = worked.as_ref().filter(|worked| worked.are_enough()) {
            scheduler.learn_worked(worked);
        }
        let decided = scheduler.decide(&self.devices, &request, now_ns);
        let decision = decided.map_err(|nobody| match nobody {
            Nobody::Never(error) => error,
            Nobody::Full { .. } | Nobody::Tried => route::none_is_real(&self.devices),
        })?;
        let decision = Standing::new(decision);
        scheduler.chose(work.shape(), &decision, worked.as_ref(), now_ns);
        let beside = is_cacheable.then(|| scheduler.beside(&request, &decision)).flatten();
        let beside = beside.filter(|_| may_run_again(work, options));
        let is_cached = is_cacheable && scheduler.cache_decision(work.shape(), &decision);
        let goes_on = worked.filter(|worked| worked.are_like(decision.device, work.shape()));
        let lesson = match (decision.because, goes_on) {
            (Because::Explored, _) if is_cached => Lesson::Cold,
            (_, Some(worked)) if is_cached => {
                if !worked.are_enough() {
                    decision.go_on(&worked);
                }
                Lesson::Together
            }
            _ => Lesson::Whole { is_timed: scheduler.is_timed(&decision) },
        };
        let beside = beside.map(Box::new);
        Ok(DecidedHere { decision, at_ns: Some(now_ns), lesson, beside })
    }

    /// Takes in what a batch took. When that was far longer than was thought, the next one is asked for anew; by itself it
    /// teaches where no batches before it went by the same decision. The first one of a trial may take as long as cold caches
    /// make it.
    #[expect(clippy::cast_precision_loss, reason = "durations are far under 2^52 ns")]
    fn learn_here(&self, decided: &DecidedHere, shape: &Shape, timing: &Timing) {
        let worked_ns = timing.elapsed_ns().saturating_sub(timing.prepared_ns);
        let took_ns = timing.cost_ns().max(worked_ns) as f64;
        let DecidedHere { decision, lesson, .. } = decided;
        let is_surprise = took_ns > SLOW * decision.work_ns;
        match lesson {
            Lesson::Cold if took_ns <= COLD_MAX_NS => {}
            Lesson::Together if !is_surprise => decision.note(shape, timing.cost_ns()),
            Lesson::Together if decision.has_enough() => {
                let before = decision.take_worked(shape);
                self.lock().scheduler.surprised(&before, shape, timing.cost_ns());
                self.decisions.end_usual();
            }
            Lesson::Together | Lesson::Cold | Lesson::Whole { .. } => {
                let scheduler = &mut self.lock().scheduler;
                let (device, end_ns) = (decision.device, timing.end_ns);
                scheduler.finished(device, shape, timing, lesson.is_timed(), None, end_ns);
                if is_surprise {
                    scheduler.invalidate_decisions();
                }
            }
        }
    }
}

/// Cold caches make no short batch take longer.
const COLD_MAX_NS: f64 = 200_000.0;

/// Who works a batch on the calling thread.
pub(crate) struct DecidedHere {
    pub(crate) decision: Rc<Standing>,
    /// When that was decided; none for a cached decision, because the clock is not read for it.
    pub(crate) at_ns: Option<u64>,
    pub(crate) lesson: Lesson,
    /// The two devices that would work it sooner together.
    pub(crate) beside: Option<Box<Beside>>,
}

/// What the time of a batch tells of such batches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lesson {
    /// Something together with others that go by one decision.
    Together,
    /// Nothing: it is the first of a trial, which finds cold caches.
    Cold,
    /// What they take. The thread's own clock is read around it, too, if it `is_timed`.
    Whole { is_timed: bool },
}

impl Lesson {
    fn is_timed(self) -> bool {
        matches!(self, Self::Whole { is_timed: true })
    }
}

/// When a batch came, and who had failed it before.
#[derive(Clone, Copy)]
pub(crate) struct Arrival<'t> {
    /// None where the clock was not read.
    pub(crate) arrived_ns: Option<u64>,
    pub(crate) tried: &'t [DeviceId],
}

impl Arrival<'_> {
    fn moved(&self) -> u32 {
        u32::try_from(self.tried.len()).unwrap_or(u32::MAX)
    }
}

/// Why a batch has no results, and whose fault that is.
pub(crate) struct Failure {
    pub(crate) device: DeviceId,
    pub(crate) error: RunError,
}

/// Whether a batch that a device failed may be given to another one.
///
/// In place some texts are results already: sealing them twice would give plaintexts back. Texts that
/// somebody may change could be others by now: sealing them again, into a buffer that others may read,
/// would be two texts under one nonce.
fn may_run_again(work: &Work<'_>, options: &Options) -> bool {
    let batch = work.batch();
    let seals = || (0..batch.len).any(|message| batch.ops.get(message) == Op::Seal);
    let may_change = batch.stability == Stability::Shared && seals();
    options.on.is_none() && !work.shape().in_place && !may_change
}
