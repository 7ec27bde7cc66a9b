use super::random::{Random, whole_ns};
use super::{FaultCounts, FaultPlan, JobFault};

/// The kinds of faults, for tests that draw some of each and count what occurred.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FaultKind {
    /// Jobs end with an error.
    Fail,
    /// Jobs never complete.
    Hang,
    /// Jobs take much longer than others.
    Late,
    /// One job in a hundred takes a thousand times as long.
    Tail,
    /// Results are wrong and say nothing of it.
    Wrong,
    /// Jobs are refused although there is a slot.
    Full,
    /// The machine gets slower, up to a thousand times.
    Slow,
    /// The machine dies.
    Die,
}

impl FaultKind {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Fail,
        Self::Hang,
        Self::Late,
        Self::Tail,
        Self::Wrong,
        Self::Full,
        Self::Slow,
        Self::Die,
    ];

    /// A plan of this kind for a run that lasts about `span_ns`: 1 to 20 of 100 jobs (1 for a tail), or a moment in it.
    pub fn draw(self, span_ns: u64, random: &mut Random) -> FaultPlan {
        let plan = FaultPlan::none();
        let (share, at_ns) = (0.01 + 0.19 * random.unit(), random.below(span_ns));
        let scale = random.unit();
        let times = |most: f64| 2.0 * (most / 2.0).powf(scale);
        match self {
            Self::Fail => plan.on_share(share, JobFault::Fail),
            Self::Hang => plan.on_share(share, JobFault::Hang),
            Self::Late => plan.on_share(share, JobFault::Late { times: times(64.0) }),
            Self::Tail => plan.on_share(0.01, JobFault::Late { times: 1_000.0 }),
            Self::Wrong => plan.on_share(share, JobFault::Wrong),
            Self::Full => {
                let for_ns = 1 + whole_ns(span_ns as f64 * (0.1 + 0.4 * random.unit()));
                plan.full(at_ns..at_ns.saturating_add(for_ns))
            }
            Self::Slow => plan.slow_from(at_ns, times(1_000.0)),
            Self::Die => plan.die_at(at_ns),
        }
    }

    /// How often this happened: for a death, whether anyone noticed.
    pub fn occurred(self, counts: &FaultCounts) -> u64 {
        match self {
            Self::Fail => counts.failed,
            Self::Hang => counts.hung,
            Self::Late | Self::Tail => counts.late,
            Self::Wrong => counts.wrong,
            Self::Full => counts.refused_full,
            Self::Slow => counts.slowed,
            Self::Die => counts.lost + counts.refused_broken,
        }
    }
}
