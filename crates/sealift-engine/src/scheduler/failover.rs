use super::policy::{Asked, Choice, NamedPolicy, Policy, Reach};
use super::quote::Because;
use super::without_settings;

pub(super) const FAILOVER: NamedPolicy = NamedPolicy {
    name: "failover",
    summary: "the first device in order, and the next one while it is down or full",
    make: |spec| without_settings(spec, Failover),
};

/// The first device in order that can take a batch.
#[derive(Clone, Debug)]
struct Failover;

impl Policy for Failover {
    fn name(&self) -> &'static str {
        FAILOVER.name
    }

    fn reach(&self) -> Reach {
        Reach::From(0)
    }

    /// One that stands in for the first is asked for anew each time.
    fn allows_cached(&self, because: Because) -> bool {
        because == Because::First
    }

    fn choose(&mut self, asked: &Asked<'_>) -> Choice {
        let device = asked.candidates[0].device;
        let because = if device == asked.first { Because::First } else { Because::Next };
        Choice { device, because }
    }
}
