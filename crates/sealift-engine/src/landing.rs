//! What becomes of the batches that devices have: results, failures, and no answer at all.

use crate::flight::{Abandoned, Attempt, Completed, Flying, Landed};
use crate::offer::{Offered, shown};
use crate::record::End;
use crate::scheduler::Nobody;
use crate::shared::{Dispatch, Shared};
use crate::{DeviceId, EngineError, Report};
use sealift_core::{Completion, DeviceError, Notify, SessionId, Ticket, Timing};
use std::time::Duration;

impl Shared {
    /// Collects what devices have finished and takes the wanted batch.
    pub(crate) fn take(&self, wanted: Option<Ticket>) -> Result<Option<Completed>, EngineError> {
        self.bell.clear_descriptor();
        self.collect();
        let flight = &mut self.lock().flight;
        let taken = flight.take(wanted);
        if flight.has_done() {
            self.bell.signal_descriptor();
        }
        taken
    }

    /// The same with all that are finished.
    fn take_all(&self, taken: &mut Vec<Completed>) -> Result<(), EngineError> {
        self.bell.clear_descriptor();
        self.collect();
        let flight = &mut self.lock().flight;
        while let Some(completed) = flight.take(None)? {
            taken.push(completed);
        }
        Ok(())
    }

    pub(crate) fn wait(
        &self,
        ticket: Option<Ticket>,
        timeout: Option<Duration>,
    ) -> Result<Option<Completed>, EngineError> {
        let mut taken = None;
        self.wait_until(timeout, || {
            taken = self.take(ticket)?;
            Ok(usize::from(taken.is_none()))
        })?;
        Ok(taken)
    }

    pub(crate) fn wait_many(
        &self,
        least: usize,
        timeout: Option<Duration>,
    ) -> Result<Vec<Completed>, EngineError> {
        let mut taken = vec![];
        self.wait_until(timeout, || {
            self.take_all(&mut taken)?;
            Ok(least.saturating_sub(taken.len()))
        })?;
        Ok(taken)
    }

    /// Takes, and tells how many are missing, until none is or nothing is in flight or the time is up.
    fn wait_until(
        &self,
        timeout: Option<Duration>,
        mut take: impl FnMut() -> Result<usize, EngineError>,
    ) -> Result<(), EngineError> {
        let begin_ns = self.clock.now_ns();
        let timeout_ns = timeout.map(|left| u64::try_from(left.as_nanos()).unwrap_or(u64::MAX));
        let deadline_ns = timeout_ns.map(|left_ns| begin_ns.saturating_add(left_ns));
        loop {
            let seen = self.bell.rings();
            let missing = take()?;
            let (in_flight, look_ns) = {
                let dispatch = self.lock();
                (dispatch.flight.len(), self.next_look_ns(&dispatch))
            };
            let rings = missing.min(in_flight) as u64;
            if rings == 0 {
                return Ok(());
            }
            let many_ns = (rings > 1).then(|| self.look_for_many_ns(begin_ns));
            let until_ns = [deadline_ns, look_ns, many_ns].into_iter().flatten().min();
            if self.clock.park(until_ns, &mut |left| self.bell.wait_for(seen + rings, left)) {
                continue;
            }
            // Fewer rang. Unless an attempt is overdue now, or one ring told of many, nobody would ever look
            // again.
            let is_over = deadline_ns.is_some_and(|deadline_ns| deadline_ns <= self.clock.now_ns());
            if is_over || look_ns.or(many_ns).is_none() {
                return take().map(|_| ());
            }
        }
    }

    /// When to look whether more is finished than rang: a device may ring once for several batches. Nobody
    /// waits more than twice as long for that.
    fn look_for_many_ns(&self, begin_ns: u64) -> u64 {
        let now_ns = self.clock.now_ns();
        now_ns.saturating_add((now_ns - begin_ns.min(now_ns)).max(LOOK_FOR_MANY_NS))
    }

    /// When something is to be done although no device says anything.
    fn next_look_ns(&self, dispatch: &Dispatch) -> Option<u64> {
        let due_ns = dispatch.flight.next_due_ns();
        if !dispatch.flight.has_waiting() {
            return due_ns;
        }
        let soon_ns = self.clock.now_ns().saturating_add(LOOK_AGAIN_NS);
        Some(due_ns.map_or(soon_ns, |due_ns| due_ns.min(soon_ns)))
    }

    /// Fetches what devices have finished, gives up what is overdue, hands out what waits for a device,
    /// and tells those who wait for results.
    pub(crate) fn collect(&self) {
        let mut finished = vec![];
        for device in self.to_poll() {
            self.devices[device.0].poll(&mut finished);
        }
        let audited: Vec<_> =
            finished.into_iter().map(|completion| self.audited(completion)).collect();
        let mut dispatch = self.lock();
        let mut news = false;
        for (completion, is_wrong) in audited {
            news |= self.land(&mut dispatch, completion, is_wrong);
        }
        let now_ns = self.clock.now_ns();
        while let Some((ticket, flying, attempt)) = dispatch.flight.overdue(now_ns) {
            self.give_up(&mut dispatch, ticket, flying, attempt, now_ns);
            news = true;
        }
        news |= self.hand_out(&mut dispatch);
        drop(dispatch);
        if news {
            self.bell.ring();
        }
        self.sweep();
    }

    /// The devices that rang, and those that should have by now.
    fn to_poll(&self) -> Vec<DeviceId> {
        let mut devices = self.bell.take_rung();
        let now_ns = self.clock.now_ns();
        devices.extend(self.lock().flight.overdue_on(now_ns));
        devices
    }

    /// A completion, and whether its results are wrong.
    fn audited(&self, completion: Completion) -> (Completion, bool) {
        let Some(auditor) = &self.auditor else { return (completion, false) };
        let Ok((output, _)) = &completion.outcome else { return (completion, false) };
        let found = self.lock().flight.current(&completion);
        let is_wrong = found.is_some_and(|(batch, lease, device)| {
            let sealed = auditor.draw_from(&batch, output);
            self.is_wrong(device, &batch, &sealed, &*lease)
        });
        (completion, is_wrong)
    }

    /// True when a batch is finished by it.
    fn land(&self, dispatch: &mut Dispatch, mut completion: Completion, is_wrong: bool) -> bool {
        let (ticket, now_ns) = (completion.ticket, self.clock.now_ns());
        let landed = dispatch.flight.land(&completion);
        // Since it was found out nothing that a device says counts.
        let is_wrong = match &landed {
            Landed::Current(_, attempt) => {
                is_wrong || dispatch.scheduler.is_quarantined(attempt.decision.device)
            }
            Landed::Abandoned(_) | Landed::Unknown => true,
        };
        if let Ok((output, _)) = &mut completion.outcome
            && is_wrong
        {
            output.wipe();
        }
        let (flying, attempt) = match landed {
            Landed::Current(flying, attempt) => (*flying, attempt),
            Landed::Abandoned(Abandoned { device, shape }) => {
                let timing = completion.outcome.as_ref().ok().map(|(_, timing)| timing);
                dispatch.scheduler.ended_late(device, &shape, timing, now_ns);
                if timing.is_some() {
                    self.records.count_late(device);
                }
                if !dispatch.flight.hangs(device) {
                    self.retirements.came_back(device);
                }
                return false;
            }
            Landed::Unknown => return false,
        };
        let device = attempt.decision.device;
        match completion.outcome {
            Ok((output, timing)) if !is_wrong => {
                let given = Some(attempt.given);
                // Workers read their clock around each long batch but the first.
                dispatch.scheduler.finished(device, &flying.shape, &timing, true, given, now_ns);
                self.complete(dispatch, ticket, flying, output, timing, attempt.decision);
            }
            Ok(_) => {
                dispatch.scheduler.failed(device, true, &flying.tried, now_ns);
                let error = self.wrong(device);
                self.move_on(dispatch, ticket, flying, &attempt, End::Wrong, error);
            }
            Err(error) => {
                dispatch.scheduler.failed(device, true, &flying.tried, now_ns);
                self.move_on(dispatch, ticket, flying, &attempt, End::Failed, error);
            }
        }
        true
    }

    /// Gives up an attempt that should be over, unless only this device could work its batch: then it gets
    /// more time, twice. Otherwise its batch goes elsewhere, and what the device still has of
    /// it are its own keys and its own output.
    fn give_up(
        &self,
        dispatch: &mut Dispatch,
        ticket: Ticket,
        mut flying: Flying,
        mut attempt: Attempt,
        now_ns: u64,
    ) {
        let device = attempt.decision.device;
        let is_alone = || {
            let request = flying.request(&[]);
            !dispatch.scheduler.has_other(&self.devices, &request, device, now_ns)
        };
        if attempt.extended < EXTENSIONS_MAX && is_alone() {
            attempt.extended += 1;
            let patience_ns = self.patience.ns(attempt.decision.predicted_ns, attempt.extended);
            let more_ns = patience_ns.saturating_add(self.preparing_ns(dispatch, device));
            attempt.due_ns = now_ns.saturating_add(more_ns);
            flying.current = Some(attempt);
            return dispatch.flight.take_off(ticket, flying);
        }
        attempt.keys.narrow(&flying.batch);
        let abandoned = Abandoned { device, shape: flying.shape };
        dispatch.flight.abandon(ticket, attempt.number, abandoned);
        dispatch.scheduler.overdue(device, now_ns);
        let waited_ms = now_ns.saturating_sub(attempt.given.at_ns) / 1_000_000;
        let error = self.failure(device, format!("it gave no answer in {waited_ms} ms"));
        self.move_on(dispatch, ticket, flying, &attempt, End::Abandoned, error);
    }

    /// How long a device that has worked nothing yet may take to get ready.
    fn preparing_ns(&self, dispatch: &Dispatch, device: DeviceId) -> u64 {
        let prepares = self.devices[device.0].capabilities().prepares;
        let ns = u64::try_from(prepares.as_nanos()).unwrap_or(u64::MAX);
        if dispatch.scheduler.has_worked(device) { 0 } else { ns }
    }

    /// Records an attempt without results and makes the next one.
    fn move_on(
        &self,
        dispatch: &mut Dispatch,
        ticket: Ticket,
        mut flying: Flying,
        attempt: &Attempt,
        end: End,
        error: DeviceError,
    ) {
        let decision = attempt.decision;
        let timing = Timing::in_memory(attempt.given.at_ns, self.clock.now_ns());
        let moved = attempt.number;
        let report = Report { device: decision.device, timing, auth_failed: 0, moved };
        let known = Some(shown(ticket, flying.part_of));
        self.record(known, flying.arrived_ns, &flying.shape, end, &report, &decision);
        flying.tried.push(decision.device);
        flying.error = Some(error);
        self.retry(dispatch, ticket, flying);
    }

    /// Gives a batch to another device. Where there is none, its error is its outcome; where all are full,
    /// it waits.
    pub(crate) fn retry(&self, dispatch: &mut Dispatch, ticket: Ticket, flying: Flying) {
        if flying.named.is_some() {
            return self.fail(dispatch, ticket, flying);
        }
        if let Some(flying) = self.offer_again(dispatch, ticket, flying) {
            dispatch.flight.take_off(ticket, flying);
        }
    }

    /// Hands out the batches that wait for a device, the oldest first. True when one is finished.
    pub(crate) fn hand_out(&self, dispatch: &mut Dispatch) -> bool {
        let before = dispatch.flight.count_done();
        let mut kept = vec![];
        // One that can't be placed keeps no other from a device that takes it.
        for _ in 0..dispatch.flight.count_waiting().min(HAND_OUT_MAX) {
            let Some((ticket, flying)) = dispatch.flight.next_waiting() else { break };
            if let Some(flying) = self.offer_again(dispatch, ticket, flying) {
                kept.push((ticket, flying));
            }
        }
        dispatch.flight.keep_waiting(kept);
        dispatch.flight.count_done() > before
    }

    /// Offers a batch; it comes back when it has to wait.
    fn offer_again(
        &self,
        dispatch: &mut Dispatch,
        ticket: Ticket,
        flying: Flying,
    ) -> Option<Flying> {
        let Offered::Back(back) = self.offer(dispatch, ticket, flying, None, false) else {
            return None;
        };
        let (flying, nobody) = *back;
        if nobody.passes() {
            return Some(flying);
        }
        self.fail(dispatch, ticket, flying);
        None
    }

    /// A batch that nobody took at first: it waits for a device, or is over.
    pub(crate) fn wait_or_fail(
        &self,
        dispatch: &mut Dispatch,
        ticket: Ticket,
        flying: Flying,
        nobody: &Nobody,
    ) {
        if nobody.passes() {
            dispatch.flight.take_off(ticket, flying);
        } else {
            self.fail(dispatch, ticket, flying);
        }
    }

    /// A batch that no device could work.
    fn fail(&self, dispatch: &mut Dispatch, ticket: Ticket, flying: Flying) {
        let Flying { batch, error, tried, part_of, .. } = flying;
        let device = tried
            .last()
            .map_or("the engine", |device| self.devices[device.0].capabilities().name.as_str());
        let error = error.unwrap_or_else(|| DeviceError::Failed {
            device: device.to_owned(),
            reason: "no other device takes the batch".to_owned(),
        });
        self.over(dispatch, ticket, part_of, batch, Err(error));
    }

    /// Takes a session out of use, and wipes its key when nothing in flight needs it.
    pub(crate) fn retire(&self, session: SessionId) {
        if self.check_fork().is_ok() {
            self.store.retire(session);
            self.sweep();
        }
    }

    /// Wipes what retired sessions left in the store and in the devices. A device that holds an attempt
    /// that was given up is told when that has ended.
    pub(crate) fn sweep(&self) {
        if !self.store.has_wipeable() && !self.retirements.are_due() {
            return;
        }
        let wiped = self.store.wipe_retired();
        let (hanging, due) = {
            let dispatch = self.lock();
            let hangs = |device: &DeviceId| dispatch.flight.hangs(*device);
            let devices = (0..self.devices.len()).map(DeviceId);
            let hanging: Vec<_> = devices.filter(hangs).collect();
            hanging.iter().for_each(|device| self.retirements.put_off(*device, &wiped));
            (hanging, self.retirements.take_due(|device| !dispatch.flight.hangs(device)))
        };
        let devices = (0..self.devices.len()).map(DeviceId);
        for device in devices.filter(|device| !hanging.contains(device)) {
            wiped.iter().for_each(|session| self.devices[device.0].retire(*session));
        }
        let mut reusable: Vec<_> =
            wiped.into_iter().filter(|session| self.retirements.is_forgotten(*session)).collect();
        for (device, sessions) in due {
            sessions.iter().for_each(|session| self.devices[device.0].retire(*session));
            reusable
                .extend(sessions.into_iter().filter(|session| self.retirements.forgot(*session)));
        }
        self.store.reuse(&reusable);
    }
}

/// How often an attempt gets more time when only its device could work the batch.
const EXTENSIONS_MAX: usize = 2;
/// So many waiting batches are offered at a time.
const HAND_OUT_MAX: usize = 16;
/// How long batches wait at most that no device has room for, before devices are looked at again.
const LOOK_AGAIN_NS: u64 = 2_000_000;
/// How long who waits for many batches sleeps at least, unless as many rang.
const LOOK_FOR_MANY_NS: u64 = 200_000;
