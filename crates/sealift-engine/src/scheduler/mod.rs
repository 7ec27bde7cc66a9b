//! Which device gets a batch.
//!
//! The scheduler keeps what is known of each device (costs, health, what it holds), asks those that
//! can take a batch now, and lets a [`Policy`] choose. It knows no time but what it is told, so the
//! same code runs under the system's clock and under a simulated one.

mod asking;
mod beside;
mod decision_cache;
mod earliest_finish;
mod excess;
mod failover;
mod found;
mod health;
mod known;
mod least_sessions;
mod member;
mod policy;
mod quote;
mod round_robin;
mod sampling;
mod seats;
mod size_split;
mod split;
mod trial;

pub use health::State;
pub use policy::{Asked, Choice, CopyPolicy, NamedPolicy, Policy, Reach};
pub use quote::{Because, Candidate, Decision, Explained};

pub(crate) use asking::{Nobody, Request};
pub(crate) use beside::Beside;
pub(crate) use decision_cache::{DecisionCache, Standing, Worked};
pub(crate) use excess::SLOW;

use crate::{DeviceId, EngineError};
use decision_cache::{CACHED_MAX_NS, CachedDecision, TRIAL_BATCHES};
use found::Found;
use member::Member;
use sealift_core::{Cost, Device, Shape, Spec, SpecError, Timing};
use seats::Seats;
use std::mem;
use std::rc::Rc;
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

/// That a batch was handed over to a device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Given {
    pub(crate) at_ns: u64,
    /// Whether a worker was free for it.
    at_once: bool,
    /// Whether the device had no other one.
    alone: bool,
}

/// Chooses devices and keeps what there is to know of them.
#[derive(Debug)]
pub(crate) struct Scheduler {
    policy: Box<dyn Policy>,
    members: Vec<Member>,
    seats: Seats,
    /// The device that was given a batch last.
    last_given: Option<DeviceId>,
    /// Made once: a decision allocates nothing.
    found: Found,
    candidates: Vec<Candidate>,
    full: Vec<DeviceId>,
    tries: u32,
    decisions: Arc<DecisionCache>,
}

impl Scheduler {
    pub(crate) fn new(devices: &[Arc<dyn Device>], policy: Box<dyn Policy>, tries: u32) -> Self {
        let members: Vec<_> =
            devices.iter().map(|device| Member::new(device.capabilities())).collect();
        let mut scheduler = Self {
            policy,
            seats: Seats::of(members.len()),
            members,
            last_given: None,
            found: Found::default(),
            candidates: vec![],
            full: vec![],
            tries,
            decisions: Arc::new(DecisionCache::new()),
        };
        // One may have no slot at all.
        (0..devices.len()).for_each(|at| scheduler.change(DeviceId(at), |_| ()));
        scheduler
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

    /// Whether the next batch on the calling thread, that of this decision, is timed by the thread's own clock, too.
    pub(crate) fn is_timed(&mut self, decision: &Decision) -> bool {
        self.members[decision.device.0].is_timed(decision.work_ns)
    }

    /// The decisions that threads use again.
    pub(crate) fn decisions(&self) -> &Arc<DecisionCache> {
        &self.decisions
    }

    /// Keeps a decision on a small batch for the next ones, if it may be. True when it does.
    pub(crate) fn cache_decision(&mut self, shape: &Shape, decision: &Rc<Standing>) -> bool {
        let cached = CachedDecision::new(shape, decision);
        let may_be =
            decision.because == Because::Named || self.policy.allows_cached(decision.because);
        // The first batch on a device finds cold caches and teaches nothing, so that the next one has to: in a trial each does.
        let teaches_next = decision.because == Because::Explored;
        let may_be = may_be && (teaches_next || self.members[decision.device.0].has_worked());
        let Some(cached) = cached.filter(|_| may_be) else { return false };
        self.decisions.put(cached);
        true
    }

    /// No decision is used again: the device that took a batch took far longer than was thought.
    pub(crate) fn invalidate_decisions(&mut self) {
        self.decisions.invalidate();
    }

    /// One batch of many that go by one decision took far longer: those before it are learnt from, and it counts as a slow one.
    pub(crate) fn surprised(&mut self, before: &Worked, shape: &Shape, took_ns: u64) {
        self.learn_worked(before);
        self.members[before.device.0].surprised(shape, took_ns);
    }

    /// Takes note of a decision that is carried out: the others go without, and went without those before it that were worked by
    /// a cached one.
    pub(crate) fn chose(
        &mut self,
        shape: &Shape,
        decision: &Decision,
        worked: Option<&Worked>,
        now_ns: u64,
    ) {
        let batches = 1.0 + worked.map_or(0.0, |worked| f64::from(worked.batches()));
        let winner = |one: &&Candidate| one.device == decision.device && one.here == decision.here;
        // As long as the batch has a caller wait: what a trial costs is reckoned so, too.
        let elapsed = |one: &Candidate| if one.here { one.finish_ns } else { one.work_ns };
        let work_ns = self.candidates.iter().find(winner).map_or(0.0, elapsed);
        for candidate in &self.candidates {
            let member = &mut self.members[candidate.device.0];
            if candidate.device == decision.device {
                match decision.because {
                    Because::Explored => member.explored(shape, work_ns, now_ns),
                    _ => member.chosen(now_ns),
                }
            } else {
                member.missed(batches * work_ns);
            }
        }
        self.pass_draws();
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
        let candidates = self.candidates.clone();
        let parts = if request.here { None } else { self.split(devices, request, now_ns) };
        self.policy = policy;
        let cached = || self.decisions.peek(devices, request.shape, request.named);
        let decision = match request.here.then(cached).flatten() {
            Some(cached) => cached.as_quoted(&candidates),
            None => decided?,
        };
        Ok(Explained { decision, candidates, parts })
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
        candidates.retain(|candidate| !candidate.here && !candidate.is_outdone);
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

    /// A device was given an attempt.
    pub(crate) fn gave(&mut self, decision: &Decision, shape: &Shape, now_ns: u64) -> Given {
        self.last_given = Some(decision.device);
        self.change(decision.device, |member| member.take(shape, now_ns))
    }

    /// Learns from batches that a thread worked by one decision.
    pub(crate) fn learn_worked(&mut self, worked: &Worked) {
        let mean = worked.mean();
        self.change(worked.device, |member| member.worked(worked.batches(), mean));
    }

    /// A device is broken and takes nothing.
    pub(crate) fn broken(&mut self, device: DeviceId, now_ns: u64) {
        self.change(device, |member| member.failed(now_ns, true));
    }

    /// An attempt came back with results.
    pub(crate) fn finished(
        &mut self,
        device: DeviceId,
        shape: &Shape,
        timing: &Timing,
        is_timed: bool,
        given: Option<Given>,
        now_ns: u64,
    ) {
        self.change(device, |member| member.finished(shape, timing, is_timed, given, now_ns));
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
        self.change(device, |member| {
            if queued {
                member.give_up(now_ns);
            }
            if tried.iter().all(|other| *other == device) {
                member.failed(now_ns, false);
            }
        });
    }

    /// An attempt did not come back in time. It holds its slot until it does.
    pub(crate) fn overdue(&mut self, device: DeviceId, now_ns: u64) {
        self.change(device, |member| member.abandoned(now_ns));
    }

    /// An abandoned attempt ended after all, with results or without.
    pub(crate) fn ended_late(
        &mut self,
        device: DeviceId,
        shape: &Shape,
        timing: Option<&Timing>,
        now_ns: u64,
    ) {
        self.change(device, |member| member.ended_late(shape, timing, now_ns));
    }

    /// Whether a device gave wrong results.
    pub(crate) fn is_quarantined(&self, device: DeviceId) -> bool {
        self.members[device.0].is_quarantined()
    }

    /// A device gave wrong results, and is not used any more.
    pub(crate) fn quarantine(&mut self, device: DeviceId) {
        self.change(device, Member::quarantine);
    }

    /// The devices that have not given wrong results.
    pub(crate) fn trusted(&self) -> Vec<DeviceId> {
        let places = self.members.iter().enumerate();
        places.filter(|(_, member)| !member.is_quarantined()).map(|(at, _)| DeviceId(at)).collect()
    }

    /// Uses a device again after it was down or in quarantine.
    pub(crate) fn reinstate(&mut self, device: DeviceId) {
        self.invalidate_decisions();
        self.change(device, Member::reinstate);
    }

    pub(crate) fn cost(&self, device: DeviceId) -> Cost {
        self.members[device.0].cost()
    }

    pub(crate) fn set_cost(&mut self, device: DeviceId, cost: Cost) {
        self.invalidate_decisions();
        self.members[device.0].set_cost(cost);
    }

    pub(crate) fn state(&mut self, device: DeviceId, now_ns: u64) -> State {
        self.members[device.0].state(now_ns)
    }

    pub(crate) fn policy_name(&self) -> &'static str {
        self.policy.name()
    }

    /// Changes what is known of a device, and so whether it has room and may go on unasked.
    fn change<T>(&mut self, device: DeviceId, how: impl FnOnce(&mut Member) -> T) -> T {
        let member = &mut self.members[device.0];
        let result = how(member);
        self.seats.set(device, member.is_open());
        if member.is_in_doubt() {
            self.decisions.invalidate();
        }
        result
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
}

/// A device that others have been preferred to for so long that trying it costs half a hundredth of the
/// work they did since at most, or a tenth where nothing of it was ever measured: one that was written off wrongly comes back. One that was never measured or that
/// became slower is priced once as fast as it may be, so that its first trial may cost more.
fn explored(asked: &Asked<'_>, chosen: DeviceId) -> Option<DeviceId> {
    let chosen = asked.of(chosen)?;
    let is_due = |other: &&Candidate| {
        let untried_ns = asked.now_ns.saturating_sub(other.idle_since_ns);
        let dearer_ns = (other.finish_ns - chosen.finish_ns).max(other.host_ns - chosen.host_ns);
        // Where predictions are right, a trial of others than small batches ends after the second one.
        let is_small = other.here && other.work_ns <= CACHED_MAX_NS;
        let (batches, share) = match other.is_measured {
            false => (1, FIRST_TRIAL_SHARE),
            true if is_small => (TRIAL_BATCHES, TRIALS_SHARE),
            true => (2, TRIALS_SHARE),
        };
        let hoped_ns = f64::from(batches) * (dearer_ns - other.saved_ns);
        let is_cheap = hoped_ns <= other.missed_ns / share;
        // One with small batches goes on by the decision that its thread keeps.
        let goes_on = other.on_trial && !is_small;
        other.in_flight == 0 && (goes_on || untried_ns >= other.trial_gap_ns && is_cheap)
    };
    let others = asked.candidates.iter().filter(|other| other.device != chosen.device);
    others.filter(|other| other.missed_ns > 0.0).find(is_due).map(|other| other.device)
}

/// Makes a policy that takes no settings.
fn without_settings(spec: &Spec, policy: impl Policy + 'static) -> Result<Box<dyn Policy>, String> {
    spec.only(&[]).map_err(|error| error.to_string())?;
    Ok(Box::new(policy))
}

/// Of what others worked, one part in so many is for trials of a device.
const TRIALS_SHARE: f64 = 200.0;
/// The same for the first batch of one that was never measured: what it says of itself may be wrong.
const FIRST_TRIAL_SHARE: f64 = 10.0;

/// What handing a batch to a sleeping worker costs the thread that does it: up to here it is quicker to
/// do the work at once.
const HERE_MAX_NS: f64 = 5_000.0;
