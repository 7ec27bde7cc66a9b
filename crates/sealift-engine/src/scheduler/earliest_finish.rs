use super::policy::{Asked, Choice, NamedPolicy, Policy};
use super::quote::{Because, Candidate};
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

    fn choose(&mut self, asked: &Asked<'_>) -> Choice {
        let weigh = |candidate: &Candidate| match self.objective {
            Objective::Time => candidate.finish_ns,
            Objective::Host => candidate.host_ns,
        };
        let best = asked.least(weigh);
        if let Some(other) = explored(asked, best, weigh) {
            return Choice { device: other.device, because: Because::Explored };
        }
        let because = match self.objective {
            Objective::Time => Because::EarliestFinish,
            Objective::Host => Because::LeastHost,
        };
        Choice { device: best.device, because }
    }

    fn keeps_small_batches(&self) -> bool {
        true
    }
}

/// A device that has not been tried for so long that trying it costs a hundredth of that time at most:
/// one that was written off wrongly comes back, and exploring never costs more than 1 %.
#[expect(clippy::cast_precision_loss, reason = "nanoseconds of a process are under 2^52")]
fn explored<'a>(
    asked: &'a Asked<'_>,
    best: &Candidate,
    weigh: impl Fn(&Candidate) -> f64,
) -> Option<&'a Candidate> {
    asked.candidates.iter().filter(|other| other.device != best.device).find(|other| {
        let untried_ns = asked.now_ns.saturating_sub(other.idle_since_ns) as f64;
        let dearer_ns = weigh(other) - weigh(best);
        other.in_flight == 0 && untried_ns >= UNTRIED_MIN_NS && dearer_ns <= untried_ns / 100.0
    })
}

/// So long a device's costs are taken to stand.
const UNTRIED_MIN_NS: f64 = 100e6;
