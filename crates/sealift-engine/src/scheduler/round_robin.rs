use super::policy::{Asked, Choice, NamedPolicy, Policy, Reach};
use super::quote::Because;
use super::without_settings;

pub(super) const ROUND_ROBIN: NamedPolicy = NamedPolicy {
    name: "round-robin",
    summary: "each device in turn",
    make: |spec| without_settings(spec, RoundRobin::default()),
};

/// Each device in turn, whatever it costs.
#[derive(Clone, Debug, Default)]
struct RoundRobin {
    last: Option<usize>,
}

impl Policy for RoundRobin {
    fn name(&self) -> &'static str {
        ROUND_ROBIN.name
    }

    fn reach(&self) -> Reach {
        Reach::From(self.last.map_or(0, |last| last + 1))
    }

    fn choose(&mut self, asked: &Asked<'_>) -> Choice {
        let after = |last| asked.candidates.iter().find(|next| next.device.index() > last);
        let next = self.last.and_then(after).unwrap_or(&asked.candidates[0]);
        self.last = Some(next.device.index());
        Choice { device: next.device, because: Because::Turn }
    }
}
