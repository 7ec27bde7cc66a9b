//! What an engine's handles have in common, and the way of a batch to a device.

use crate::audit::Auditor;
use crate::bell::Bell;
use crate::flight::{Attempt, Flight, Flying};
use crate::leased::JobKeys;
use crate::parts::PartOf;
use crate::record::{End, Record, Records};
use crate::retire::Retirements;
use crate::scheduler::{Decision, Explained, Nobody, Request, Scheduler};
use crate::settings::Patience;
use crate::store::{KeyStore, Lease};
use crate::{
    Call, DeviceId, EngineError, Options, Report, Settings, SubmitError, SubmitRefusal, ffi, route,
};
use sealift_core::{
    Batch, Clock, Device, DeviceError, Job, KeySource, Notify, Output, OwnedOutput, Refusal,
    Refused, SessionId, Shape, Status, Submission, Ticket, Timing, Work,
};
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Submitted batches that may wait to be taken back.
const IN_FLIGHT_MAX: usize = 1_024;

/// What an engine's handles and sessions have in common.
pub(crate) struct Shared {
    pub(crate) store: Arc<KeyStore>,
    pub(crate) devices: Vec<Arc<dyn Device>>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) bell: Arc<Bell>,
    pub(crate) patience: Patience,
    pub(crate) auditor: Option<Auditor>,
    pub(crate) retirements: Retirements,
    dispatch: Mutex<Dispatch>,
    records: Mutex<Records>,
    forks: u32,
}

/// What is in flight, and who gets what is next.
pub(crate) struct Dispatch {
    pub(crate) flight: Flight,
    pub(crate) scheduler: Scheduler,
}

/// What became of a batch that was offered to devices.
pub(crate) enum Offered {
    /// A device has it.
    Taken,
    /// It is to be worked on the calling thread.
    Here(Box<(Flying, Decision, OwnedOutput)>),
    /// Nobody has it now.
    Back(Box<(Flying, Nobody)>),
}

impl Shared {
    pub(crate) fn new(
        devices: Vec<Arc<dyn Device>>,
        clock: Arc<dyn Clock>,
        bell: Arc<Bell>,
        settings: Settings,
    ) -> Result<Self, EngineError> {
        let Settings { policy, patience, tries, audit } = settings;
        let auditor = audit.map(|audit| Auditor::new(audit, &devices)).transpose()?;
        let scheduler = Scheduler::new(&devices, policy, tries.max(1));
        let dispatch = Mutex::new(Dispatch { flight: Flight::default(), scheduler });
        let records = Mutex::new(Records::new(devices.len()));
        let (store, retirements) = Default::default();
        let forks = ffi::forks();
        Ok(Self {
            store,
            devices,
            clock,
            bell,
            patience,
            auditor,
            retirements,
            dispatch,
            records,
            forks,
        })
    }

    /// Threads and held locks don't survive a fork: nothing here may be touched in the child.
    pub(crate) fn check_fork(&self) -> Result<(), EngineError> {
        if ffi::forks() == self.forks { Ok(()) } else { Err(EngineError::Forked) }
    }

    pub(crate) fn run(
        &self,
        batch: &Batch<'_>,
        output: Output<'_>,
        options: &Options,
    ) -> Result<Report, EngineError> {
        self.check_fork()?;
        let arrived_ns = self.clock.now_ns();
        let mut work = Work::new(batch, output, &*self.store)?;
        let mut tried = vec![];
        let mut decision = self.decide_here(&work, options, &tried, arrived_ns)?;
        options.nonces.check(batch)?;
        let lease = self.store.admit(batch)?;
        loop {
            let result = self.devices[decision.device.0].run(&mut work);
            let (error, end) = match result {
                Ok(_) if self.ran_wrong(&mut work, decision.device) => {
                    (self.wrong(decision.device), End::Wrong)
                }
                Ok(timing) => {
                    drop(lease);
                    return Ok(self.ran(&work, decision, timing, arrived_ns, tried.len()));
                }
                Err(error) => (error, End::Failed),
            };
            work.wipe();
            let now_ns = self.clock.now_ns();
            self.failed_here(&work, decision, arrived_ns, tried.len(), end);
            tried.push(decision.device);
            // In place some texts are results already: sealing them twice would give plaintexts back.
            let next = if work.shape().in_place || options.on.is_some() {
                None
            } else {
                self.decide_here(&work, options, &tried, now_ns).ok()
            };
            let Some(next) = next else {
                drop(lease);
                self.sweep();
                return Err(error.into());
            };
            decision = next;
        }
    }

    fn decide_here(
        &self,
        work: &Work<'_>,
        options: &Options,
        tried: &[DeviceId],
        now_ns: u64,
    ) -> Result<Decision, EngineError> {
        let request = Request {
            shape: work.shape(),
            session: first_session(work.batch()),
            named: options.on,
            preferred: None,
            here: true,
            may_stay: false,
            tried,
            full: &[],
        };
        let decided = self.lock().scheduler.decide(&self.devices, &request, now_ns);
        decided.map_err(|nobody| match nobody {
            Nobody::Never(error) => error,
            Nobody::Full { .. } | Nobody::Tried => route::none_is_real(&self.devices),
        })
    }

    fn ran(
        &self,
        work: &Work<'_>,
        decision: Decision,
        timing: Timing,
        arrived_ns: u64,
        moved: usize,
    ) -> Report {
        let (device, shape) = (decision.device, work.shape());
        self.lock().scheduler.finished(device, shape, &timing, None, timing.end_ns);
        let moved = u32::try_from(moved).unwrap_or(u32::MAX);
        let report = Report { device, timing, auth_failed: failures(work.statuses()), moved };
        self.record(None, arrived_ns, shape, End::Done, report, decision);
        self.sweep();
        report
    }

    /// Whether what was worked on the calling thread does not open elsewhere.
    fn ran_wrong(&self, work: &mut Work<'_>, device: DeviceId) -> bool {
        let Some(auditor) = &self.auditor else { return false };
        let sealed = auditor.draw_from_work(work);
        self.is_wrong(device, work.batch(), &sealed, &*self.store)
    }

    pub(crate) fn wrong(&self, device: DeviceId) -> DeviceError {
        self.failure(device, "its results do not open elsewhere".to_owned())
    }

    fn failed_here(
        &self,
        work: &Work<'_>,
        decision: Decision,
        arrived_ns: u64,
        moved: usize,
        end: End,
    ) {
        let (device, now_ns) = (decision.device, self.clock.now_ns());
        self.lock().scheduler.failed(device, None, now_ns);
        let timing = Timing::in_memory(arrived_ns, now_ns);
        let moved = u32::try_from(moved).unwrap_or(u32::MAX);
        let report = Report { device, timing, auth_failed: 0, moved };
        self.record(None, arrived_ns, work.shape(), end, report, decision);
    }

    pub(crate) fn submit(
        &self,
        batch: Batch<'static>,
        options: &Options,
    ) -> Result<Ticket, SubmitError> {
        match self.prepare(&batch, options) {
            Ok(prepared) => self.launch(batch, prepared),
            Err(reason) => Err(SubmitError { batch: Box::new(batch), reason }),
        }
    }

    /// Everything that can refuse a batch without a device, the dearest last.
    fn prepare(&self, batch: &Batch<'_>, options: &Options) -> Result<Prepared, SubmitRefusal> {
        self.check_fork()?;
        let arrived_ns = self.clock.now_ns();
        let shape = batch.shape().map_err(EngineError::from)?;
        let (named, session) = (options.on, first_session(batch));
        let request = Request {
            shape: &shape,
            session,
            named,
            preferred: None,
            here: false,
            may_stay: false,
            tried: &[],
            full: &[],
        };
        if self.check_room(&request).is_err() {
            // What is finished makes room, even before anyone takes it.
            self.collect();
            self.check_room(&request)?;
        }
        options.nonces.check(batch).map_err(EngineError::from)?;
        let output = OwnedOutput::for_batch(batch).map_err(EngineError::from)?;
        let lease = Arc::new(self.store.admit(batch)?);
        Ok(Prepared { named, shape, arrived_ns, output, lease })
    }

    /// Whether engine and devices have a free slot.
    fn check_room(&self, request: &Request<'_>) -> Result<(), SubmitRefusal> {
        let mut dispatch = self.lock();
        self.check_own_room(&dispatch)?;
        let checked = dispatch.scheduler.check(&self.devices, request, self.clock.now_ns());
        checked.map_err(|nobody| self.refusal(nobody, None))
    }

    fn check_own_room(&self, dispatch: &Dispatch) -> Result<(), SubmitRefusal> {
        let in_flight = dispatch.flight.len();
        if in_flight < IN_FLIGHT_MAX {
            return Ok(());
        }
        Err(SubmitRefusal::Full {
            device: "the engine".to_owned(),
            in_flight,
            slots: IN_FLIGHT_MAX,
        })
    }

    fn launch(&self, batch: Batch<'static>, prepared: Prepared) -> Result<Ticket, SubmitError> {
        let Prepared { named, shape, arrived_ns, output, lease } = prepared;
        let flying = Flying {
            batch: Arc::new(batch),
            shape,
            arrived_ns,
            named,
            preferred: None,
            part_of: None,
            lease,
            tried: vec![],
            attempts: 0,
            current: None,
            error: None,
        };
        let mut dispatch = self.lock();
        // Another thread may have been quicker.
        if let Err(reason) = self.check_own_room(&dispatch) {
            drop(dispatch);
            return Err(self.hand_back(flying, reason));
        }
        let ticket = dispatch.flight.next_ticket();
        let offered = match self.cut(&mut dispatch, &flying) {
            Some(parts) => self.launch_parts(&mut dispatch, ticket, flying, output, &parts),
            None => self.offer(&mut dispatch, ticket, flying, Some(output), true),
        };
        match offered {
            // Under the lock that `land` takes, so the completion can't come before this.
            Offered::Taken => Ok(ticket),
            Offered::Here(here) => {
                drop(dispatch);
                let (flying, decision, output) = *here;
                self.work_here(ticket, flying, decision, output);
                Ok(ticket)
            }
            Offered::Back(back) => {
                drop(dispatch);
                let (mut flying, nobody) = *back;
                let reason = self.refusal(nobody, flying.error.take());
                Err(self.hand_back(flying, reason))
            }
        }
    }

    /// Into what the policy cuts a batch, if it does.
    fn cut(&self, dispatch: &mut Dispatch, flying: &Flying) -> Option<Vec<(DeviceId, usize)>> {
        let request = Request { may_stay: false, ..flying.request(&[]) };
        if flying.named.is_some() {
            return None;
        }
        dispatch.scheduler.split(&self.devices, &request, self.clock.now_ns())
    }

    /// Gives a batch to the device that the scheduler chooses, and to another one when that is full or
    /// broken.
    pub(crate) fn offer(
        &self,
        dispatch: &mut Dispatch,
        ticket: Ticket,
        mut flying: Flying,
        mut output: Option<OwnedOutput>,
        may_stay: bool,
    ) -> Offered {
        let mut full = vec![];
        loop {
            let now_ns = self.clock.now_ns();
            let may_stay = may_stay && flying.named.is_none();
            let request = Request { may_stay, ..flying.request(&full) };
            let decision = match dispatch.scheduler.decide(&self.devices, &request, now_ns) {
                Ok(decision) => decision,
                Err(nobody) => return Offered::Back(Box::new((flying, nobody))),
            };
            let made = output.take().map_or_else(|| OwnedOutput::for_batch(&flying.batch), Ok);
            let made = match made {
                Ok(output) => output,
                Err(error) => {
                    return Offered::Back(Box::new((flying, Nobody::Never(error.into()))));
                }
            };
            if decision.here {
                return Offered::Here(Box::new((flying, decision, made)));
            }
            let device = decision.device;
            match self.hand_over(dispatch, ticket, &mut flying, made, decision, now_ns) {
                Ok(()) => {
                    dispatch.flight.take_off(ticket, flying);
                    return Offered::Taken;
                }
                Err(Refused { job, refusal }) => {
                    output = Some(job.output);
                    match refusal {
                        Refusal::Full { .. } => full.push(device),
                        Refusal::Broken(error) => {
                            dispatch.scheduler.broken(device, now_ns);
                            flying.tried.push(device);
                            flying.error = Some(error);
                        }
                    }
                }
            }
        }
    }

    /// Makes an attempt on a device.
    fn hand_over(
        &self,
        dispatch: &mut Dispatch,
        ticket: Ticket,
        flying: &mut Flying,
        output: OwnedOutput,
        decision: Decision,
        now_ns: u64,
    ) -> Submission {
        let number = flying.attempts;
        let keys = Arc::new(JobKeys::leased(Arc::clone(&flying.lease)));
        let source = Arc::clone(&keys) as Arc<dyn KeySource>;
        let batch = Arc::clone(&flying.batch);
        let job = Job { ticket, attempt: number, batch, output, keys: source };
        self.devices[decision.device.0].submit(Box::new(job))?;
        dispatch.scheduler.gave(&decision, &flying.shape, now_ns);
        flying.attempts += 1;
        let due_ns = now_ns.saturating_add(self.patience.ns(decision.predicted_ns));
        flying.current = Some(Attempt { number, decision, given_ns: now_ns, due_ns, keys });
        Ok(())
    }

    /// Works a small batch on the thread that submits it.
    fn work_here(
        &self,
        ticket: Ticket,
        mut flying: Flying,
        decision: Decision,
        mut output: OwnedOutput,
    ) {
        let device = decision.device;
        let mut end = End::Failed;
        let result = Work::new(&flying.batch, output.as_output(), &*self.store)
            .map_err(|error| self.failure(device, error.to_string()))
            .and_then(|mut work| {
                let timing = self.devices[device.0].run(&mut work)?;
                if self.ran_wrong(&mut work, device) {
                    end = End::Wrong;
                    return Err(self.wrong(device));
                }
                Ok(timing)
            });
        let now_ns = self.clock.now_ns();
        let mut dispatch = self.lock();
        match result {
            Ok(timing) => {
                dispatch.scheduler.finished(device, &flying.shape, &timing, None, now_ns);
                self.complete(&mut dispatch, ticket, flying, output, timing, decision);
            }
            Err(error) => {
                output.wipe();
                let timing = Timing::in_memory(flying.arrived_ns, now_ns);
                dispatch.scheduler.failed(device, None, now_ns);
                let report = Report { device, timing, auth_failed: 0, moved: flying.attempts };
                let (arrived_ns, shape) = (flying.arrived_ns, flying.shape);
                self.record(Some(ticket), arrived_ns, &shape, end, report, decision);
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

    /// A batch has results.
    pub(crate) fn complete(
        &self,
        dispatch: &mut Dispatch,
        ticket: Ticket,
        flying: Flying,
        output: OwnedOutput,
        timing: Timing,
        decision: Decision,
    ) {
        let Flying { batch, shape, arrived_ns, tried, part_of, .. } = flying;
        let moved = u32::try_from(tried.len()).unwrap_or(u32::MAX);
        let auth_failed = failures(output.status());
        let report = Report { device: decision.device, timing, auth_failed, moved };
        self.record(Some(shown(ticket, part_of)), arrived_ns, &shape, End::Done, report, decision);
        self.over(dispatch, ticket, part_of, batch, Ok((output, report)));
    }

    /// A batch that nobody took, with what was counted for it taken back.
    fn hand_back(&self, flying: Flying, reason: SubmitRefusal) -> SubmitError {
        let Flying { batch, lease, .. } = flying;
        drop(lease);
        self.store.uncount(&batch);
        self.sweep();
        let batch = Arc::try_unwrap(batch).unwrap_or_else(|shared| (*shared).clone());
        SubmitError { batch: Box::new(batch), reason }
    }

    /// Why nobody took a batch, for its owner.
    fn refusal(&self, nobody: Nobody, error: Option<DeviceError>) -> SubmitRefusal {
        match (nobody, error) {
            (Nobody::Full { device, in_flight, slots, .. }, _) => {
                let device = self.devices[device.0].capabilities().name.clone();
                SubmitRefusal::Full { device, in_flight, slots }
            }
            (Nobody::Tried, Some(error)) => EngineError::from(error).into(),
            (Nobody::Tried, None) => route::none_is_real(&self.devices).into(),
            (Nobody::Never(error), _) => error.into(),
        }
    }

    pub(crate) fn explain(&self, shape: &Shape, call: Call) -> Result<Explained, EngineError> {
        let request = Request {
            shape,
            session: None,
            named: None,
            preferred: None,
            here: call == Call::Run,
            may_stay: true,
            tried: &[],
            full: &[],
        };
        let now_ns = self.clock.now_ns();
        let decided = self.lock().scheduler.explain(&self.devices, &request, now_ns);
        decided.map_err(|nobody| match self.refusal(nobody, None) {
            SubmitRefusal::Engine(error) => error,
            full @ SubmitRefusal::Full { .. } => EngineError::NoDevice { reason: full.to_string() },
        })
    }

    pub(crate) fn record(
        &self,
        ticket: Option<Ticket>,
        arrived_ns: u64,
        shape: &Shape,
        end: End,
        report: Report,
        decision: Decision,
    ) {
        let Report { device, timing, auth_failed, moved: attempt } = report;
        let (messages, text_bytes) = (shape.messages, shape.text_bytes);
        self.lock_records().push(Record {
            ticket,
            device,
            attempt,
            end,
            messages,
            text_bytes,
            auth_failed,
            arrived_ns,
            timing,
            decision,
        });
    }

    pub(crate) fn failure(&self, device: DeviceId, reason: String) -> DeviceError {
        DeviceError::Failed { device: self.devices[device.0].capabilities().name.clone(), reason }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Dispatch> {
        self.dispatch.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn lock_records(&self) -> MutexGuard<'_, Records> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if self.check_fork().is_err() {
            // Their threads did not come along: joining them would wait for ever.
            mem::forget(mem::take(&mut self.devices));
        }
    }
}

/// A batch that may go to a device.
struct Prepared {
    named: Option<DeviceId>,
    shape: Shape,
    arrived_ns: u64,
    output: OwnedOutput,
    lease: Arc<Lease>,
}

impl Patience {
    /// How long an attempt may take that is predicted to take so long.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a prediction is not negative, and too large a float becomes the largest integer"
    )]
    fn ns(&self, predicted_ns: f64) -> u64 {
        let extra_ns = u64::try_from(self.extra.as_nanos()).unwrap_or(u64::MAX);
        ((self.times * predicted_ns) as u64).saturating_add(extra_ns)
    }
}

impl Flying {
    /// What it needs a device for; `full` are those that have just said that they are.
    pub(crate) fn request<'r>(&'r self, full: &'r [DeviceId]) -> Request<'r> {
        Request {
            shape: &self.shape,
            session: first_session(&self.batch),
            named: self.named,
            preferred: self.preferred,
            here: false,
            may_stay: false,
            tried: &self.tried,
            full,
        }
    }
}

/// The ticket that the owner of a batch knows.
pub(crate) fn shown(ticket: Ticket, part_of: Option<PartOf>) -> Ticket {
    part_of.map_or(ticket, |part_of| part_of.whole)
}

fn first_session(batch: &Batch<'_>) -> Option<SessionId> {
    if batch.len == 0 { None } else { batch.session_of(0) }
}

pub(crate) fn failures(statuses: &[Status]) -> usize {
    statuses.iter().filter(|&&status| status == Status::AuthFailed).count()
}
