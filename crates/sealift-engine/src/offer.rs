//! The way of a submitted batch to a device.

use crate::flight::{Attempt, Flying};
use crate::leased::JobKeys;
use crate::parts::PartOf;
use crate::record::End;
use crate::scheduler::{Decision, Nobody, Request};
use crate::settings::Patience;
use crate::shared::{Dispatch, Shared, failures, first_session};
use crate::store::{KeyStore, Lease};
use crate::{DeviceId, EngineError, Options, Report, SubmitError, SubmitRefusal, route};
use sealift_core::{
    Batch, Device, DeviceError, Job, KeySource, Notify, OwnedOutput, Refusal, Refused, Shape,
    Submission, Ticket, Timing,
};
use std::sync::Arc;

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
        let request = Request { session, named, ..Request::of(&shape) };
        if self.check_room(&request).is_err() {
            // What is finished makes room, even before anyone takes it.
            self.collect();
            self.check_room(&request)?;
        }
        options.nonces.check(batch).map_err(EngineError::from)?;
        let output = OwnedOutput::in_pool(&self.outputs, batch).map_err(EngineError::from)?;
        let lease = Arc::new(KeyStore::admit(Arc::clone(&self.store), batch)?);
        Ok(Prepared { named, shape, arrived_ns, output, lease })
    }

    /// Whether engine and devices have a free slot.
    fn check_room(&self, request: &Request<'_>) -> Result<(), SubmitRefusal> {
        let mut dispatch = self.lock();
        self.check_own_room(&dispatch)?;
        let checked = dispatch.scheduler.check(&self.devices, request, self.clock.now_ns());
        checked.map_err(|nobody| refusal(&self.devices, nobody, None))
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
        // Those that wait already come first.
        let mut news = self.hand_out(&mut dispatch);
        let (due_ns, waiting) = (dispatch.flight.next_due_ns(), dispatch.flight.count_waiting());
        let ticket = dispatch.flight.next_ticket();
        let offered = match self.cut(&mut dispatch, &flying) {
            Some(parts) => {
                let before = dispatch.flight.count_done();
                self.launch_parts(&mut dispatch, ticket, flying, output, &parts);
                news |= dispatch.flight.count_done() > before;
                Offered::Taken
            }
            None => self.offer(&mut dispatch, ticket, flying, Some(output), true),
        };
        // Who waits for results has to look again earlier than it meant to.
        news |= due_ns.is_some() && dispatch.flight.next_due_ns() < due_ns;
        news |= dispatch.flight.count_waiting() > waiting;
        drop(dispatch);
        if news {
            self.bell.ring();
        }
        match offered {
            Offered::Taken => Ok(ticket),
            Offered::Here(here) => {
                let (flying, decision, output) = *here;
                self.work_here(ticket, flying, decision, output);
                Ok(ticket)
            }
            Offered::Back(back) => {
                let (mut flying, nobody) = *back;
                let reason = refusal(&self.devices, nobody, flying.error.take());
                Err(self.hand_back(flying, reason))
            }
        }
    }

    fn check_own_room(&self, dispatch: &Dispatch) -> Result<(), SubmitRefusal> {
        let (in_flight, slots) = (dispatch.flight.len(), self.in_flight_max);
        if in_flight < slots {
            return Ok(());
        }
        Err(SubmitRefusal::Full { device: "the engine".to_owned(), in_flight, slots })
    }

    /// Into what the policy cuts a batch, if it does.
    fn cut(&self, dispatch: &mut Dispatch, flying: &Flying) -> Option<Vec<(DeviceId, usize)>> {
        if flying.named.is_some() {
            return None;
        }
        dispatch.scheduler.split(&self.devices, &flying.request(&[]), self.clock.now_ns())
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
            dispatch.scheduler.chose(&flying.shape, &decision, None, now_ns);
            let anew = || OwnedOutput::in_pool(&self.outputs, &flying.batch);
            let made = output.take().map_or_else(anew, Ok);
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
                    // Under the lock that `land` takes, so the completion can't come before this.
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
        let given = dispatch.scheduler.gave(&decision, &flying.shape, now_ns);
        flying.attempts += 1;
        let before = flying.tried.iter().filter(|tried| **tried == decision.device).count();
        let due_ns = now_ns.saturating_add(self.patience.ns(decision.predicted_ns, before));
        flying.current = Some(Attempt { number, decision, given, due_ns, extended: 0, keys });
        Ok(())
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
        self.record(
            Some(shown(ticket, part_of)),
            arrived_ns,
            &shape,
            End::Done,
            &report,
            &decision,
        );
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
}

impl Flying {
    /// What it needs a device for; `full` are those that have just said that they are.
    pub(crate) fn request<'r>(&'r self, full: &'r [DeviceId]) -> Request<'r> {
        Request {
            session: first_session(&self.batch),
            named: self.named,
            preferred: self.preferred,
            tried: &self.tried,
            full,
            ..Request::of(&self.shape)
        }
    }
}

impl Patience {
    /// How long an attempt may take that is predicted to take so long: twice as long for each one on the
    /// same device that was given up or failed before.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a prediction is not negative, and too large a float becomes the largest integer"
    )]
    pub(crate) fn ns(&self, predicted_ns: f64, before: usize) -> u64 {
        let extra_ns = u64::try_from(self.extra.as_nanos()).unwrap_or(u64::MAX);
        let once_ns = ((self.times * predicted_ns) as u64).saturating_add(extra_ns);
        once_ns.saturating_mul(1 << before.min(16))
    }
}

/// Why nobody took a batch, for its owner.
pub(crate) fn refusal(
    devices: &[Arc<dyn Device>],
    nobody: Nobody,
    error: Option<DeviceError>,
) -> SubmitRefusal {
    let name = |device: DeviceId| devices[device.0].capabilities().name.clone();
    match (nobody, error) {
        (Nobody::Full { device, in_flight, slots, for_good: false }, _) => {
            SubmitRefusal::Full { device: name(device), in_flight, slots }
        }
        (Nobody::Full { device, in_flight, .. }, _) => {
            let reason = format!(
                "it does not answer for {in_flight} batches and has no slot left; use another device, or \
                 make a new engine"
            );
            EngineError::from(DeviceError::Failed { device: name(device), reason }).into()
        }
        (Nobody::Tried, Some(error)) => EngineError::from(error).into(),
        (Nobody::Tried, None) => route::none_is_real(devices).into(),
        (Nobody::Never(error), _) => error.into(),
    }
}

/// The ticket that the owner of a batch knows.
pub(crate) fn shown(ticket: Ticket, part_of: Option<PartOf>) -> Ticket {
    part_of.map_or(ticket, |part_of| part_of.whole)
}

/// A batch that may go to a device.
struct Prepared {
    named: Option<DeviceId>,
    shape: Shape,
    arrived_ns: u64,
    output: OwnedOutput,
    lease: Arc<Lease>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn each_further_attempt_on_a_device_may_take_twice_as_long() {
        let patience = Patience { times: 2.0, extra: Duration::from_nanos(50) };
        assert_eq!([0, 1, 2].map(|before| patience.ns(100.0, before)), [250, 500, 1_000]);
    }
}
