use super::policy::{Asked, Choice, NamedPolicy, Policy, Reach};
use super::quote::{Because, Candidate};
use super::without_settings;
use crate::DeviceId;

pub(super) const SPLIT: NamedPolicy = NamedPolicy {
    name: "split",
    summary: "cuts a large submitted batch so that devices end together; others as earliest-finish",
    make: |spec| without_settings(spec, Split),
};

/// Parts of one batch on several devices.
#[derive(Clone, Debug)]
struct Split;

impl Policy for Split {
    fn name(&self) -> &'static str {
        SPLIT.name
    }

    fn reach(&self) -> Reach {
        Reach::Few
    }

    fn choose(&mut self, asked: &Asked<'_>) -> Choice {
        let best = asked.least(|candidate| candidate.finish_ns);
        Choice { device: best.device, because: Because::EarliestFinish }
    }

    fn keeps_small_batches(&self) -> bool {
        true
    }

    fn explores(&self) -> bool {
        true
    }

    fn spares_cores(&self) -> bool {
        true
    }

    fn allows_cached(&self, _: Because) -> bool {
        true
    }

    fn splits(&self) -> bool {
        true
    }

    fn split(&mut self, asked: &Asked<'_>) -> Option<Vec<(DeviceId, usize)>> {
        let shares = shares(asked)?;
        let whole_ns = asked.least(|candidate| candidate.finish_ns).finish_ns;
        let together_ns = shares.end_ns;
        let parts = whole(&shares.messages, asked.shape.messages);
        let worth_it = parts.len() > 1 && together_ns < WORTH_IT * whole_ns;
        worth_it.then_some(parts)
    }
}

/// How many messages each device works until a moment, and which moment that is.
struct Shares {
    end_ns: f64,
    messages: Vec<(DeviceId, f64)>,
}

/// The moment at which all devices end that take part.
///
/// Until `t` a device works `(t - begin) / rate` messages. Devices join in the order in which they can
/// begin, as long as that is before those so far would end.
#[expect(clippy::cast_precision_loss, reason = "messages and bytes of a batch are under 2^52")]
fn shares(asked: &Asked<'_>) -> Option<Shares> {
    let messages = asked.shape.messages as f64;
    if asked.candidates.len() < 2 || asked.shape.messages < 2 * PART_MIN {
        return None;
    }
    let mean_bytes = asked.shape.bytes() as f64 / messages;
    let mut devices: Vec<_> =
        asked.candidates.iter().map(|one| (begin_ns(one), rate_ns(one, mean_bytes), one)).collect();
    devices.sort_by(|(one, ..), (other, ..)| one.total_cmp(other));
    let (mut speed, mut lost, mut end_ns, mut joined) = (0.0, 0.0, f64::INFINITY, 0);
    for (begin_ns, rate_ns, _) in &devices {
        if *begin_ns >= end_ns {
            break;
        }
        speed += 1.0 / rate_ns;
        lost += begin_ns / rate_ns;
        end_ns = (messages + lost) / speed;
        joined += 1;
    }
    let share = |(begin_ns, rate_ns, one): &(f64, f64, &Candidate)| {
        (one.device, (end_ns - begin_ns) / rate_ns)
    };
    Some(Shares { end_ns, messages: devices[..joined].iter().map(share).collect() })
}

/// When a device could begin with its first message.
fn begin_ns(candidate: &Candidate) -> f64 {
    candidate.finish_ns - candidate.work_ns + candidate.cost.setup_ns()
}

fn rate_ns(candidate: &Candidate, mean_bytes: f64) -> f64 {
    let cost = candidate.cost;
    (cost.per_message_ns() + cost.per_byte_ns() * mean_bytes).max(RATE_MIN_NS)
}

/// The shares as whole messages that add up; too small ones go to the largest.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "shares lie between 0 and the number of messages"
)]
fn whole(shares: &[(DeviceId, f64)], messages: usize) -> Vec<(DeviceId, usize)> {
    let mut parts: Vec<_> =
        shares.iter().map(|(device, share)| (*device, share.max(0.0) as usize)).collect();
    parts.retain(|(_, part)| *part >= PART_MIN);
    let given: usize = parts.iter().map(|(_, part)| part).sum();
    if let Some((_, largest)) = parts.iter_mut().max_by_key(|(_, part)| *part) {
        *largest += messages.saturating_sub(given);
    }
    parts
}

/// Messages in a part, at least.
const PART_MIN: usize = 16;
/// Parts cost more than a whole batch does, so a prediction has to be this much better.
const WORTH_IT: f64 = 0.8;
const RATE_MIN_NS: f64 = 1e-3;
