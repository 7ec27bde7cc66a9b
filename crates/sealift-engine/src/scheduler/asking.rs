//! Who is asked for a batch.
//!
//! A small pool is asked as a whole. Of a large one sixteen are, or as many as twice its logarithm, spread
//! evenly over those that have room: the best of them is nearly the best of all, and asking all would take
//! longer than the work.

use super::found::{Found, NoneFound};
use super::policy::Reach;
use super::{HERE_MAX_NS, Scheduler};
use crate::{DeviceId, EngineError, route};
use sealift_core::{Device, Role, SessionId, Shape};
use std::sync::Arc;

/// What a batch needs a device for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request<'r> {
    pub(crate) shape: &'r Shape,
    pub(crate) session: Option<SessionId>,
    pub(crate) named: Option<DeviceId>,
    /// The device that gets it if it can take it now.
    pub(crate) preferred: Option<DeviceId>,
    /// Worked on the calling thread, not handed over.
    pub(crate) here: bool,
    /// As many may work it at the same time.
    pub(crate) threads: usize,
    /// Whether it may be worked on the calling thread all the same, if it is small.
    pub(crate) may_stay: bool,
    /// Attempts so far, one device each.
    pub(crate) tried: &'r [DeviceId],
    /// Devices that have just said that they are full.
    pub(crate) full: &'r [DeviceId],
}

impl Request<'_> {
    /// How often a device tried this batch.
    pub(super) fn tries(&self, device: DeviceId) -> u32 {
        self.tried.iter().map(|tried| u32::from(*tried == device)).sum()
    }

    /// Whether a device takes a batch of this shape: a real one, or the named one.
    fn is_for(&self, devices: &[Arc<dyn Device>], device: DeviceId) -> bool {
        let capabilities = devices[device.0].capabilities();
        let is_asked = self.named.map_or(capabilities.role == Role::Real, |named| named == device);
        is_asked && route::accept(capabilities, self.shape, self.here).is_ok()
    }
}

/// Why nobody takes a batch now.
#[derive(Debug)]
pub(crate) enum Nobody {
    /// Nobody ever will.
    Never(EngineError),
    /// There is no room; later there will be some, unless all that they hold is given up.
    Full { device: DeviceId, in_flight: usize, slots: usize, for_good: bool },
    /// Everyone who could has tried often enough.
    Tried,
}

impl Nobody {
    /// Whether there will be room later.
    pub(crate) fn passes(&self) -> bool {
        matches!(self, Self::Full { for_good: false, .. })
    }
}

impl Scheduler {
    /// Finds the candidates, and the first device that would take the batch. True when all of them are
    /// down and one is asked as a last resort.
    pub(super) fn ask(
        &mut self,
        devices: &[Arc<dyn Device>],
        request: &Request<'_>,
        now_ns: u64,
    ) -> Result<(DeviceId, bool), Nobody> {
        self.candidates.clear();
        self.full.clear();
        let is_large = devices.len() > ASKED_ALL && request.named.is_none();
        if is_large && let Some(full) = self.all_full(devices, request, now_ns) {
            return Err(full);
        }
        if !is_large || !self.look_at_few(devices, request, now_ns) {
            self.look_at_all(devices, request, now_ns);
        }
        let mut found = std::mem::take(&mut self.found);
        let asked = self.ask_found(devices, &mut found, request, now_ns);
        self.found = found;
        asked
    }

    /// Whether another device than this one could take the batch, now or when it has room.
    pub(crate) fn has_other(
        &self,
        devices: &[Arc<dyn Device>],
        request: &Request<'_>,
        device: DeviceId,
        now_ns: u64,
    ) -> bool {
        takers(devices, request).any(|other| {
            let member = &self.members[other.0];
            let is_left = request.tries(other) < self.tries;
            let is_able = !member.is_quarantined() && !member.is_stuck() && member.is_up(now_ns);
            other != device && is_left && is_able
        })
    }

    /// Whether results of a device were seen.
    pub(crate) fn has_worked(&self, device: DeviceId) -> bool {
        self.members[device.0].has_worked()
    }

    fn look_at_all(&mut self, devices: &[Arc<dyn Device>], request: &Request<'_>, now_ns: u64) {
        self.found.begin(self.limit(request));
        for device in takers(devices, request) {
            self.found.add(device, &self.members[device.0], request, now_ns);
        }
    }

    /// Looks at devices until enough are up, have room and have not tried the batch. False when the
    /// policy wants all, or none was found.
    fn look_at_few(
        &mut self,
        devices: &[Arc<dyn Device>],
        request: &Request<'_>,
        now_ns: u64,
    ) -> bool {
        let reach = self.policy.reach();
        if reach == Reach::All {
            return false;
        }
        let Self { policy, members, found, seats, tries, .. } = self;
        found.begin_few(*tries, takers(devices, request).next());
        let asked_max = asked_max(devices.len());
        let mut is_enough = |device: DeviceId| {
            if request.is_for(devices, device) {
                found.add(device, &members[device.0], request, now_ns);
            }
            found.fresh() >= asked_max
        };
        let bound = request.session.and_then(|session| policy.bound(session));
        for device in [bound, request.preferred].into_iter().flatten() {
            is_enough(device);
        }
        let (begin, ends) = match reach {
            Reach::From(at) => (at, false),
            Reach::All | Reach::Ends | Reach::Few => (0, reach == Reach::Ends),
        };
        // Room is for what is handed over.
        match (reach, request.here) {
            (Reach::Few, true) => (0..DRAWS_MAX).any(|draw| is_enough(seats.place(draw))),
            (Reach::Few, false) => {
                (0..DRAWS_MAX).map_while(|draw| seats.drawn(draw)).any(is_enough)
            }
            (_, true) => seats.all(begin, ends).any(is_enough),
            (_, false) => seats.open(begin, ends).any(is_enough),
        };
        found.fresh() > 0
    }

    /// Asks those that were found.
    fn ask_found(
        &mut self,
        devices: &[Arc<dyn Device>],
        found: &mut Found,
        request: &Request<'_>,
        now_ns: u64,
    ) -> Result<(DeviceId, bool), Nobody> {
        let (first, is_up) = match found.outcome() {
            Ok(outcome) => outcome,
            Err(nobody) => return Err(self.nobody(devices, request, nobody)),
        };
        let mut due: Option<DeviceId> = None;
        for &device in found.in_order() {
            let member = &self.members[device.0];
            if !request.here && (!member.has_room() || request.full.contains(&device)) {
                self.full.push(device);
            } else if is_up || request.named.is_some() {
                let may_stay = devices[device.0].capabilities().runs_on_calling_thread;
                self.quote(device, request, may_stay, now_ns);
            } else if due.is_none_or(|due| member.is_due_before(&self.members[due.0])) {
                due = Some(device);
            }
        }
        if let Some(device) = due {
            self.quote(device, request, false, now_ns);
        }
        let waits_for = self.mark_outdone(found, request);
        if let Some(device) = waits_for.filter(|_| due.is_none()) {
            return Err(self.full_at(device, false));
        }
        if !self.candidates.is_empty() {
            return Ok((first, due.is_some()));
        }
        let device = self.full.first().copied().unwrap_or(first);
        Err(self.full_at(device, self.full.is_empty()))
    }

    /// Marks the candidates that others on the same cores outdo. Where that leaves none, because the others
    /// are full, one of these: the batch waits for it.
    fn mark_outdone(&mut self, found: &mut Found, request: &Request<'_>) -> Option<DeviceId> {
        if !self.policy.spares_cores() || request.named.is_some() {
            return None;
        }
        let Self { members, candidates, .. } = self;
        let mut waits_for = None;
        for candidate in candidates.iter_mut() {
            let own = &members[candidate.device.0];
            let outdoes = |other: &&DeviceId| {
                let is_first = **other < candidate.device;
                members[other.0].outdoes(own, request, is_first)
            };
            let faster = found.in_order().iter().find(outdoes);
            candidate.is_outdone = faster.is_some();
            waits_for = faster.copied();
        }
        waits_for.filter(|_| candidates.iter().all(|candidate| candidate.is_outdone))
    }

    /// Asks a device for both ways in which it may work a batch.
    fn quote(&mut self, device: DeviceId, request: &Request<'_>, may_stay: bool, now_ns: u64) {
        let member = &mut self.members[device.0];
        member.asked(now_ns);
        let here = member.quote_here(device, request);
        if request.here {
            self.candidates.push(here);
            return;
        }
        self.candidates.push(member.quote(device, request.shape, now_ns));
        let keeps_small = request.may_stay && self.policy.keeps_small_batches();
        if keeps_small && may_stay && here.work_ns <= HERE_MAX_NS {
            self.candidates.push(here);
        }
    }

    /// The answer while no device has room, which in a large pool is not to be found by looking at all.
    fn all_full(
        &self,
        devices: &[Arc<dyn Device>],
        request: &Request<'_>,
        now_ns: u64,
    ) -> Option<Nobody> {
        let device = self.last_given?;
        let member = &self.members[device.0];
        let is_full = !request.here && request.tried.is_empty() && !self.seats.has_open();
        let will_do = || member.is_up(now_ns) && !member.is_stuck();
        (is_full && will_do() && request.is_for(devices, device))
            .then(|| self.full_at(device, false))
    }

    fn nobody(
        &self,
        devices: &[Arc<dyn Device>],
        request: &Request<'_>,
        nobody: NoneFound,
    ) -> Nobody {
        match nobody {
            NoneFound::Takes => Nobody::Never(nobody_takes(devices, request)),
            NoneFound::Trusted => Nobody::Never(route::all_quarantined()),
            NoneFound::Answers(device) => self.full_at(device, true),
            NoneFound::Untried => Nobody::Tried,
        }
    }

    fn full_at(&self, device: DeviceId, for_good: bool) -> Nobody {
        let (in_flight, slots) = self.members[device.0].room();
        Nobody::Full { device, in_flight, slots, for_good }
    }

    /// Lets others be asked for the next batch.
    pub(super) fn pass_draws(&mut self) {
        self.seats.pass(asked_max(self.members.len()) as u64);
    }

    /// How often a device may try a batch.
    fn limit(&self, request: &Request<'_>) -> u32 {
        if request.named.is_some() { 1 } else { self.tries }
    }
}

/// The devices that take a batch of this shape, in order: real ones, or the named one.
fn takers<'a>(
    devices: &'a [Arc<dyn Device>],
    request: &'a Request<'_>,
) -> impl Iterator<Item = DeviceId> + 'a {
    let named = request.named.map(|DeviceId(at)| at);
    let places = named.map_or(0..devices.len(), |at| at..at.saturating_add(1).min(devices.len()));
    places.map(DeviceId).filter(move |device| request.is_for(devices, *device))
}

/// Why no device takes a batch of this shape.
fn nobody_takes(devices: &[Arc<dyn Device>], request: &Request<'_>) -> EngineError {
    if let Some(named) = request.named.filter(|DeviceId(at)| *at >= devices.len()) {
        return route::unknown(named, devices);
    }
    let asked = devices.iter().map(|device| device.capabilities()).enumerate();
    let limits: Vec<_> = asked
        .filter(|(at, capabilities)| match request.named {
            Some(named) => named.0 == *at,
            None => capabilities.role == Role::Real,
        })
        .filter_map(|(_, each)| route::accept(each, request.shape, request.here).err())
        .collect();
    if limits.is_empty() { route::none_is_real(devices) } else { EngineError::Limits(limits) }
}

/// How many devices of a large pool are asked.
fn asked_max(devices: usize) -> usize {
    ASKED_ALL.max(2 * devices.max(1).ilog2() as usize)
}

/// Pools of so many devices are asked as a whole.
const ASKED_ALL: usize = 16;
/// So often is drawn for one batch. Where few devices have room, most draws give the same ones.
const DRAWS_MAX: u64 = 64;
