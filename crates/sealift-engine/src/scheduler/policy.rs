//! What a policy is asked, and how it answers.

use super::quote::{Because, Candidate};
use crate::DeviceId;
use sealift_core::{SessionId, Shape, Spec};
use std::fmt::Debug;

/// Chooses the device of each batch. One is asked at a time, under the engine's lock: it must be quick,
/// and may keep what it likes between calls.
pub trait Policy: CopyPolicy + Send + Debug {
    /// The name in [`POLICIES`](super::POLICIES).
    fn name(&self) -> &'static str;

    /// Chooses one of the candidates.
    fn choose(&mut self, asked: &Asked<'_>) -> Choice;

    /// Which devices it wants to be asked where there are more than sixteen, and asking all would take
    /// long.
    fn reach(&self) -> Reach {
        Reach::All
    }

    /// The device that a session's batches go to, if any: it is asked whatever the reach is.
    fn bound(&self, session: SessionId) -> Option<DeviceId> {
        let _ = session;
        None
    }

    /// Whether a small batch may be worked on the thread that submits it, when handing it to another
    /// one would take that thread longer.
    fn keeps_small_batches(&self) -> bool {
        false
    }

    /// Whether it goes by costs, so that a device whose costs were not looked at for long has to be tried
    /// now and then.
    fn explores(&self) -> bool {
        false
    }

    /// Whether of devices on the same cores it takes the fastest only, and waits for that one when it is full.
    fn spares_cores(&self) -> bool {
        false
    }

    /// Whether a decision for that reason on a small batch on the calling thread may be used for the next ones of about its
    /// shape, whatever their sessions are: to ask anew would take as long as the work.
    fn allows_cached(&self, _because: Because) -> bool {
        false
    }

    /// Whether it ever cuts a batch.
    fn splits(&self) -> bool {
        false
    }

    /// Into how many messages for each of the candidates a batch is cut, all of them in the end; nothing
    /// keeps it whole. Asked only where it [`splits`](Self::splits).
    fn split(&mut self, asked: &Asked<'_>) -> Option<Vec<(DeviceId, usize)>> {
        let _ = asked;
        None
    }
}

/// Copies a policy as it stands, so that asking the copy uses up no turn. Whatever is `Clone` has it.
pub trait CopyPolicy {
    /// Another one that would answer the same.
    fn copy(&self) -> Box<dyn Policy>;
}

impl<P: Policy + Clone + 'static> CopyPolicy for P {
    fn copy(&self) -> Box<dyn Policy> {
        Box::new(self.clone())
    }
}

/// A batch that needs a device.
#[derive(Debug)]
pub struct Asked<'a> {
    /// What a device has to know of it.
    pub shape: &'a Shape,
    /// The session of its first message, unless keys are raw.
    pub session: Option<SessionId>,
    /// The devices that can take it now, in the engine's order: at least one.
    pub candidates: &'a [Candidate],
    /// Those that are up and would take it, had they a free slot. In a pool of more than sixteen only
    /// those that the policy's [`reach`](Policy::reach) had looked at.
    pub full: &'a [DeviceId],
    /// The first device that would take it, whether it can now or not.
    pub first: DeviceId,
    /// Those that have tried the batch before.
    pub tried: &'a [DeviceId],
    /// The time.
    pub now_ns: u64,
}

impl Asked<'_> {
    /// The candidate of a device.
    #[must_use]
    pub fn of(&self, device: DeviceId) -> Option<&Candidate> {
        self.candidates.iter().find(|candidate| candidate.device == device)
    }

    /// The candidate with the least of something, but none that is outdone.
    pub(super) fn least(&self, of: impl Fn(&Candidate) -> f64) -> &Candidate {
        let kept = self.candidates.iter().filter(|one| !one.is_outdone);
        let least = kept.min_by(|one, other| of(one).total_cmp(&of(other)));
        least.unwrap_or(&self.candidates[0])
    }
}

/// Which devices of a large pool a policy wants to be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// All of them. What a batch costs the scheduler grows with the pool.
    All,
    /// The first ones that have room, in the engine's order from this place on and round again.
    From(usize),
    /// The first ones and the last ones that have room.
    Ends,
    /// A few of those that have room, others each time.
    Few,
}

/// A policy's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Of the candidates.
    pub device: DeviceId,
    /// Why this one.
    pub because: Because,
}

/// A policy that can be named: `earliest-finish`, `size-split:bytes=4096`.
#[derive(Debug)]
pub struct NamedPolicy {
    /// Its name.
    pub name: &'static str,
    /// One line for people: what it does and the settings it takes.
    pub summary: &'static str,
    /// Makes it from a spec of this name; the error says which setting is wrong and what is right.
    pub make: fn(&Spec) -> Result<Box<dyn Policy>, String>,
}
