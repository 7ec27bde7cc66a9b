//! Which device gets a batch.
//!
//! The scheduler keeps what is known of each device (costs, health, what it holds), asks those that
//! can take a batch now, and lets a [`Policy`] choose. It knows no time but what it is told, so the
//! same code runs under the system's clock and under a simulated one.

mod earliest_finish;
mod failover;
mod health;
mod least_sessions;
mod member;
mod policy;
mod quote;
mod round_robin;
mod size_split;
mod split;

pub use health::State;
pub use policy::{Asked, Choice, CopyPolicy, NamedPolicy, Policy};
pub use quote::{Because, Candidate, Decision, Explained};

use crate::{DeviceId, EngineError, route};
use member::Member;
use sealift_core::{Cost, Device, Role, SessionId, Shape, Spec, SpecError, Timing};
use std::mem;
use std::sync::Arc;

/// Every policy, the default first.
#[rustfmt::skip] // One line each, so that a new policy is one new line.
pub static POLICIES: &[&NamedPolicy] = &[
    &earliest_finish::EARLIEST_FINISH,
    &split::SPLIT,
    &size_split::SIZE_SPLIT,
    &failover::FAILOVER,
    &least_sessions::LEAST_SESSIONS,
    &round_robin::ROUND_ROBIN,
];

/// The policy that a spec names: `earliest-finish:objective=host`.
///
/// # Errors
/// There is none of that name, or a setting is wrong; the text says what is right.
pub fn policy(spec: &str) -> Result<Box<dyn Policy>, EngineError> {
    let wrong = |reason| EngineError::Policy { policy: spec.to_owned(), reason };
    let known = || POLICIES.iter().map(|policy| policy.name).collect::<Vec<_>>().join(", ");
    let unreadable = |_: SpecError| {
        wrong(format!(
            "write a name, with settings as in size-split:bytes=4096; there are {}",
            known()
        ))
    };
    let read: Spec = spec.parse().map_err(unreadable)?;
    let named = POLICIES.iter().find(|policy| policy.name == read.driver());
    let named = named.ok_or_else(|| wrong(format!("there are {}", known())))?;
    (named.make)(&read).map_err(wrong)
}

/// The policy that engines have unless they are given another one.
pub(crate) fn default_policy() -> Box<dyn Policy> {
    earliest_finish::default()
}

/// Chooses devices and keeps what there is to know of them.
#[derive(Debug)]
pub(crate) struct Scheduler {
    policy: Box<dyn Policy>,
    members: Vec<Member>,
    /// Made once: a decision allocates nothing.
    candidates: Vec<Candidate>,
    full: Vec<DeviceId>,
    tries: u32,
    /// The last decision on a small batch, which stands for the next ones like it.
    standing: Option<Standing>,
}

/// A decision that stands for a while: asking anew would take as long as the work.
#[derive(Clone, Copy, Debug)]
struct Standing {
    shape: Shape,
    decision: Decision,
    left: u32,
}

impl Standing {
    /// Whether it stands for a batch of this shape, too.
    fn is_for(&self, devices: &[Arc<dyn Device>], shape: &Shape) -> bool {
        let takes_it = || {
            let device = devices[self.decision.device.0].capabilities();
            route::accept(device, shape, true).is_ok()
        };
        let is_like = || {
            let is_as_large = shape.bytes() / 2 <= self.shape.bytes();
            shape.messages == self.shape.messages && is_as_large && takes_it()
        };
        self.left > 0 && (*shape == self.shape || is_like())
    }
}

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
    /// Whether it may be worked on the calling thread all the same, if it is small.
    pub(crate) may_stay: bool,
    /// Attempts so far, one device each.
    pub(crate) tried: &'r [DeviceId],
    /// Devices that have just said that they are full.
    pub(crate) full: &'r [DeviceId],
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
    pub(crate) fn new(devices: &[Arc<dyn Device>], policy: Box<dyn Policy>, tries: u32) -> Self {
        let members = devices.iter().map(|device| Member::new(device.capabilities())).collect();
        Self { policy, members, candidates: vec![], full: vec![], tries, standing: None }
    }

    /// Chooses a device for a batch.
    pub(crate) fn decide(
        &mut self,
        devices: &[Arc<dyn Device>],
        request: &Request<'_>,
        now_ns: u64,
    ) -> Result<Decision, Nobody> {
        let (first, last_resort) = self.ask(devices, request, now_ns)?;
        let Self { policy, candidates, full, .. } = self;
        let preferred = request.preferred.filter(|device| {
            !last_resort && candidates.iter().any(|candidate| candidate.device == *device)
        });
        let (device, because) = match (preferred, request.named) {
            (Some(device), _) => (device, Because::Part),
            (None, Some(device)) => (device, Because::Named),
            (None, None) if last_resort => (candidates[0].device, Because::LastResort),
            (None, None) => {
                let Request { shape, session, tried, .. } = *request;
                let asked = Asked { shape, session, candidates, full, first, tried, now_ns };
                let Choice { device, because } = policy.choose(&asked);
                let explored = policy.explores().then(|| explored(&asked, device)).flatten();
                let alone = candidates.iter().all(|one| one.device == candidates[0].device);
                match explored {
                    Some(device) => (device, Because::Explored),
                    None if alone => (device, Because::OnlyOne),
                    None => (device, because),
                }
            }
        };
        let mut of_device = candidates.iter().filter(|candidate| candidate.device == device);
        // Of two ways to work a batch on one device the quicker one.
        let quicker =
            |one: &&Candidate, other: &&Candidate| one.finish_ns.total_cmp(&other.finish_ns);
        let winner = of_device.clone().min_by(quicker).or_else(|| of_device.next());
        let winner = *winner.unwrap_or(&candidates[0]);
        Ok(Decision::new(&winner, because, candidates))
    }

    /// The decision that stands for a small batch on the calling thread.
    pub(crate) fn standing(
        &mut self,
        devices: &[Arc<dyn Device>],
        shape: &Shape,
    ) -> Option<Decision> {
        let standing = self.standing.as_mut()?;
        if !standing.is_for(devices, shape) {
            self.standing = None;
            return None;
        }
        standing.left -= 1;
        Some(standing.decision)
    }

    /// Lets a decision on a small batch stand for the next ones.
    pub(crate) fn let_stand(&mut self, shape: &Shape, decision: &Decision) {
        let is_small = decision.predicted_ns <= HERE_MAX_NS && self.policy.explores();
        let is_usual = !matches!(decision.because, Because::Explored | Because::LastResort);
        let left = STANDS_FOR;
        self.standing =
            (is_small && is_usual).then_some(Standing { shape: *shape, decision: *decision, left });
    }

    /// Takes note of a decision that is carried out: the others go without.
    pub(crate) fn chose(&mut self, decision: &Decision, now_ns: u64) {
        let winner = |one: &&Candidate| one.device == decision.device && one.here == decision.here;
        let work_ns = self.candidates.iter().find(winner).map_or(0.0, |one| one.work_ns);
        for candidate in &self.candidates {
            let member = &mut self.members[candidate.device.0];
            if candidate.device == decision.device {
                member.chosen(decision.because == Because::Explored, now_ns);
            } else {
                member.missed(work_ns);
            }
        }
    }

    /// Which device would be chosen, and who is asked. The policy's turn stays as it is.
    pub(crate) fn explain(
        &mut self,
        devices: &[Arc<dyn Device>],
        request: &Request<'_>,
        now_ns: u64,
    ) -> Result<Explained, Nobody> {
        let copy = self.policy.copy();
        let policy = mem::replace(&mut self.policy, copy);
        let decided = self.decide(devices, request, now_ns);
        self.policy = policy;
        let stands = || self.standing.filter(|standing| standing.is_for(devices, request.shape));
        if let Some(standing) = request.here.then(stands).flatten() {
            let candidates = self.candidates.clone();
            return Ok(Explained { decision: standing.decision, candidates });
        }
        Ok(Explained { decision: decided?, candidates: self.candidates.clone() })
    }

    /// Into what a policy cuts a batch: devices with numbers of messages, in the order of the batch.
    pub(crate) fn split(
        &mut self,
        devices: &[Arc<dyn Device>],
        request: &Request<'_>,
        now_ns: u64,
    ) -> Option<Vec<(DeviceId, usize)>> {
        if !self.policy.splits() {
            return None;
        }
        let (first, last_resort) = self.ask(devices, request, now_ns).ok()?;
        let Self { policy, candidates, full, .. } = self;
        candidates.retain(|candidate| !candidate.here);
        if last_resort || candidates.len() < 2 {
            return None;
        }
        let Request { shape, session, tried, .. } = *request;
        let parts =
            policy.split(&Asked { shape, session, candidates, full, first, tried, now_ns })?;
        let known = |device: &DeviceId| candidates.iter().any(|one| one.device == *device);
        let sound = parts.iter().all(|(device, part)| *part > 0 && known(device));
        let sum = parts.iter().fold(0usize, |sum, (_, part)| sum.saturating_add(*part));
        // A policy may be anyone's: what doesn't add up is not followed.
        (sound && sum == shape.messages).then_some(parts)
    }

    /// Finds the candidates, and the first device that would take the batch. True when all of them are
    /// down and one is asked as a last resort.
    fn ask(
        &mut self,
        devices: &[Arc<dyn Device>],
        request: &Request<'_>,
        now_ns: u64,
    ) -> Result<(DeviceId, bool), Nobody> {
        self.candidates.clear();
        self.full.clear();
        let (first, fewest) = self.look(devices, request, now_ns)?;
        let mut due: Option<DeviceId> = None;
        for device in takers(devices, request) {
            let member = &mut self.members[device.0];
            let is_asked = request.here || !member.is_stuck();
            if !is_asked || member.is_quarantined() || tried(request, device) != fewest.tries {
                continue;
            }
            if fewest.up != member.is_up(now_ns) {
                continue;
            }
            let is_full = !member.has_room() || request.full.contains(&device);
            if !request.here && is_full {
                self.full.push(device);
            } else if fewest.up || request.named.is_some() {
                let may_stay = devices[device.0].capabilities().runs_on_calling_thread;
                self.quote(device, request, may_stay, now_ns);
            } else if due
                .is_none_or(|due| self.members[device.0].is_due_before(&self.members[due.0]))
            {
                due = Some(device);
            }
        }
        if let Some(device) = due {
            self.quote(device, request, false, now_ns);
        }
        if !self.candidates.is_empty() {
            return Ok((first, due.is_some()));
        }
        let device = self.full.first().copied().unwrap_or(first);
        let (in_flight, slots) = self.members[device.0].room();
        Err(Nobody::Full { device, in_flight, slots, for_good: self.full.is_empty() })
    }

    /// The first device that would take a batch, and who of them is asked: those that are up before those
    /// that are down, and among them those that tried it least often.
    fn look(
        &mut self,
        devices: &[Arc<dyn Device>],
        request: &Request<'_>,
        now_ns: u64,
    ) -> Result<(DeviceId, Fewest), Nobody> {
        let (mut first, mut all_quarantined) = (None, true);
        let (mut up, mut down, mut stuck) = (u32::MAX, u32::MAX, None);
        for device in takers(devices, request) {
            first = first.or(Some(device));
            let member = &mut self.members[device.0];
            if member.is_quarantined() {
                continue;
            }
            all_quarantined = false;
            if !request.here && member.is_stuck() {
                stuck = Some(device);
                continue;
            }
            let tries = tried(request, device);
            let least = if member.is_up(now_ns) { &mut up } else { &mut down };
            *least = tries.min(*least);
        }
        let Some(first) = first else { return Err(Nobody::Never(nobody_takes(devices, request))) };
        if all_quarantined {
            return Err(Nobody::Never(route::all_quarantined()));
        }
        if let Some(device) = stuck.filter(|_| up == u32::MAX && down == u32::MAX) {
            let (in_flight, slots) = self.members[device.0].room();
            return Err(Nobody::Full { device, in_flight, slots, for_good: true });
        }
        let limit = if request.named.is_some() { 1 } else { self.tries };
        let fewest = if up < limit {
            Fewest { up: true, tries: up }
        } else {
            Fewest { up: false, tries: down }
        };
        if fewest.tries >= limit { Err(Nobody::Tried) } else { Ok((first, fewest)) }
    }

    /// Asks a device for both ways in which it may work a batch.
    fn quote(&mut self, device: DeviceId, request: &Request<'_>, may_stay: bool, now_ns: u64) {
        let member = &mut self.members[device.0];
        member.asked(now_ns);
        let here = member.quote_here(device, request.shape);
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

    /// A device was given an attempt.
    pub(crate) fn gave(&mut self, decision: &Decision, shape: &Shape, now_ns: u64) {
        self.members[decision.device.0].take(shape, now_ns);
    }

    /// A device is broken and takes nothing.
    pub(crate) fn broken(&mut self, device: DeviceId, now_ns: u64) {
        self.members[device.0].failed(now_ns, true);
    }

    /// An attempt came back with results.
    pub(crate) fn finished(
        &mut self,
        device: DeviceId,
        shape: &Shape,
        timing: &Timing,
        given_ns: Option<u64>,
        now_ns: u64,
    ) {
        self.members[device.0].finished(shape, timing, given_ns, now_ns);
    }

    /// An attempt came back without results; `queued` when it had a slot. A batch that others failed
    /// before says more about itself than about the device, and is not held against it.
    pub(crate) fn failed(
        &mut self,
        device: DeviceId,
        queued: bool,
        tried: &[DeviceId],
        now_ns: u64,
    ) {
        self.standing = None;
        let member = &mut self.members[device.0];
        if queued {
            member.give_up(now_ns);
        }
        if tried.iter().all(|other| *other == device) {
            member.failed(now_ns, false);
        }
    }

    /// An attempt did not come back in time. It holds its slot until it does.
    pub(crate) fn overdue(&mut self, device: DeviceId, now_ns: u64) {
        let member = &mut self.members[device.0];
        member.abandoned(now_ns);
    }

    /// An abandoned attempt ended after all, with results or without.
    pub(crate) fn ended_late(
        &mut self,
        device: DeviceId,
        shape: &Shape,
        timing: Option<&Timing>,
        now_ns: u64,
    ) {
        self.members[device.0].ended_late(shape, timing, now_ns);
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
            let is_left = tried(request, other) < self.tries;
            let is_able = !member.is_quarantined() && !member.is_stuck() && member.is_up(now_ns);
            other != device && is_left && is_able
        })
    }

    /// Whether a device gave wrong results.
    pub(crate) fn is_quarantined(&self, device: DeviceId) -> bool {
        self.members[device.0].is_quarantined()
    }

    /// A device gave wrong results, and is not used any more.
    pub(crate) fn quarantine(&mut self, device: DeviceId) {
        self.standing = None;
        self.members[device.0].quarantine();
    }

    /// The devices that have not given wrong results.
    pub(crate) fn trusted(&self) -> Vec<DeviceId> {
        let places = self.members.iter().enumerate();
        places.filter(|(_, member)| !member.is_quarantined()).map(|(at, _)| DeviceId(at)).collect()
    }

    /// Uses a device again after it was down or in quarantine.
    pub(crate) fn reinstate(&mut self, device: DeviceId) {
        self.standing = None;
        self.members[device.0].reinstate();
    }

    /// Whether a batch finds a device now, without choosing one.
    pub(crate) fn check(
        &mut self,
        devices: &[Arc<dyn Device>],
        request: &Request<'_>,
        now_ns: u64,
    ) -> Result<(), Nobody> {
        self.ask(devices, request, now_ns).map(|_| ())
    }

    pub(crate) fn cost(&self, device: DeviceId) -> Cost {
        self.members[device.0].cost()
    }

    pub(crate) fn set_cost(&mut self, device: DeviceId, cost: Cost) {
        self.standing = None;
        self.members[device.0].set_cost(cost);
    }

    pub(crate) fn state(&mut self, device: DeviceId, now_ns: u64) -> State {
        self.members[device.0].state(now_ns)
    }

    pub(crate) fn policy_name(&self) -> &'static str {
        self.policy.name()
    }
}

/// A device that others have been preferred to for so long that trying it costs a hundredth of the work
/// they did since at most: one that was written off wrongly comes back, and exploring never costs more
/// than 1 %.
fn explored(asked: &Asked<'_>, chosen: DeviceId) -> Option<DeviceId> {
    let chosen = asked.of(chosen)?;
    let is_due = |other: &&Candidate| {
        let untried_ns = asked.now_ns.saturating_sub(other.idle_since_ns);
        let dearer_ns = (other.finish_ns - chosen.finish_ns).max(other.host_ns - chosen.host_ns);
        other.in_flight == 0
            && untried_ns >= other.stands_ns
            && dearer_ns <= other.missed_ns / 100.0
    };
    let others = asked.candidates.iter().filter(|other| other.device != chosen.device);
    others.filter(|other| other.missed_ns > 0.0).find(is_due).map(|other| other.device)
}

/// Who is asked: whether those that are up, and those that tried the batch so often.
#[derive(Clone, Copy, Debug)]
struct Fewest {
    up: bool,
    tries: u32,
}

/// How often a device tried this batch.
fn tried(request: &Request<'_>, device: DeviceId) -> u32 {
    request.tried.iter().map(|tried| u32::from(*tried == device)).sum()
}

/// The devices that take a batch of this shape, in order: real ones, or the named one.
fn takers<'a>(
    devices: &'a [Arc<dyn Device>],
    request: &'a Request<'_>,
) -> impl Iterator<Item = DeviceId> + 'a {
    let named = request.named.map(|DeviceId(at)| at);
    let places = named.map_or(0..devices.len(), |at| at..at.saturating_add(1).min(devices.len()));
    places.map(DeviceId).filter(move |device| {
        let capabilities = devices[device.0].capabilities();
        let is_asked = named.is_some() || capabilities.role == Role::Real;
        is_asked && route::accept(capabilities, request.shape, request.here).is_ok()
    })
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

/// Makes a policy that takes no settings.
fn without_settings(spec: &Spec, policy: impl Policy + 'static) -> Result<Box<dyn Policy>, String> {
    spec.only(&[]).map_err(|error| error.to_string())?;
    Ok(Box::new(policy))
}

/// So many small batches follow a decision.
const STANDS_FOR: u32 = 31;
/// What handing a batch to a sleeping worker costs the thread that does it: up to here it is quicker to
/// do the work at once.
const HERE_MAX_NS: f64 = 5_000.0;
