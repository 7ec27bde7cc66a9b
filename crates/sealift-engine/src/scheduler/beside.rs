//! A batch on the cores and on another device at the same time.

use super::Scheduler;
use super::asking::Request;
use super::quote::{Because, Candidate, Decision};

/// Two devices that work a batch together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Beside {
    /// The one on the cores.
    pub(crate) on_cores: Decision,
    /// The one that is none of this machine's cores.
    pub(crate) other: Decision,
    /// How much of the work is the other's, from 0 to 1.
    pub(crate) share: f64,
}

impl Scheduler {
    /// Whether a batch of a calling thread, of which `decision` was just made, ends earlier on two devices. The costs of both
    /// were learnt: a wrong quote would cost more than is to be gained.
    pub(crate) fn beside(&self, request: &Request<'_>, decision: &Decision) -> Option<Beside> {
        let is_by_time = decision.because == Because::EarliestFinish;
        let is_long = decision.predicted_ns >= TOGETHER_MIN_NS;
        if !is_by_time || !is_long || request.shape.messages < 2 {
            return None;
        }
        let best = |on_cores: bool| {
            let is_such = |one: &&Candidate| {
                let member = &self.members[one.device.0];
                member.has_learnt(request.shape)
                    && !one.is_outdone
                    && member.is_on_cores() == on_cores
            };
            let candidates = self.candidates.iter().filter(is_such);
            candidates.min_by(|one, other| one.finish_ns.total_cmp(&other.finish_ns))
        };
        let (on_cores, other) = (best(true)?, best(false)?);
        let setup_ns = other.cost.setup_ns().min(other.finish_ns);
        // Both end together: the cores with what is left, the other with its share and what it always takes.
        let share =
            (on_cores.finish_ns - setup_ns) / (on_cores.finish_ns + other.finish_ns - setup_ns);
        let together_ns = on_cores.finish_ns * (1.0 - share);
        if share <= 0.0 || together_ns > WORTH_IT * decision.predicted_ns {
            return None;
        }
        let part = |one: &Candidate| Decision::new(one, Because::Part, &self.candidates);
        Some(Beside { on_cores: part(on_cores), other: part(other), share })
    }

    /// Both devices have begun with their shares of a batch.
    pub(crate) fn chose_both(&mut self, beside: &Beside, now_ns: u64) {
        for part in [beside.on_cores, beside.other] {
            self.members[part.device.0].chosen(now_ns);
        }
    }
}

/// Starting another thread for the other device and waiting for it takes some 0.2 ms.
const TOGETHER_MIN_NS: f64 = 3e6;
/// Parts cost more than a whole batch does, so a prediction has to be this much better.
const WORTH_IT: f64 = 0.85;
