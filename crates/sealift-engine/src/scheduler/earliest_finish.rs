use super::policy::{Asked, Choice, NamedPolicy, Policy, Reach};
use super::quote::Because;
use sealift_core::Spec;

pub(super) const EARLIEST_FINISH: NamedPolicy = NamedPolicy {
    name: "earliest-finish",
    summary: "the device that is predicted to finish first (objective=time, or host for host CPU)",
    make,
};

/// Goes by measured costs: waiting, handing over and working.
#[derive(Clone, Debug)]
struct EarliestFinish {
    objective: Objective,
}

#[derive(Clone, Copy, Debug)]
enum Objective {
    Time,
    Host,
}

pub(super) fn default() -> Box<dyn Policy> {
    Box::new(EarliestFinish { objective: Objective::Time })
}

fn make(spec: &Spec) -> Result<Box<dyn Policy>, String> {
    spec.only(&["objective"]).map_err(|error| error.to_string())?;
    let objective = match spec.setting("objective") {
        None | Some("time") => Objective::Time,
        Some("host") => Objective::Host,
        Some(other) => {
            return Err(format!("objective={other}: there are time and host (host CPU)"));
        }
    };
    Ok(Box::new(EarliestFinish { objective }))
}

impl Policy for EarliestFinish {
    fn name(&self) -> &'static str {
        EARLIEST_FINISH.name
    }

    fn reach(&self) -> Reach {
        Reach::Few
    }

    fn choose(&mut self, asked: &Asked<'_>) -> Choice {
        let (best, because) = match self.objective {
            Objective::Time => (asked.least(|one| one.finish_ns), Because::EarliestFinish),
            Objective::Host => (asked.least(|one| one.host_ns), Because::LeastHost),
        };
        Choice { device: best.device, because }
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
}
