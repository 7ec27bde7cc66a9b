//! How long single round trips took.

use std::time::Duration;

/// Counts of round trips by duration, in steps of at most 3 %.
pub(super) struct Trips {
    counts: Vec<u64>,
    timed: u64,
}

impl Default for Trips {
    fn default() -> Self {
        Self { counts: vec![0; place(u64::MAX) + 1], timed: 0 }
    }
}

impl Trips {
    pub(super) fn add(&mut self, took: Duration) {
        let ns = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.counts[place(ns)] += 1;
        self.timed += 1;
    }

    pub(super) fn timed(&self) -> u64 {
        self.timed
    }

    /// The duration in nanoseconds that so many of a thousand round trips took at most.
    pub(super) fn quantile_ns(&self, per_mille: u64) -> u64 {
        let wanted = (self.timed * per_mille).div_ceil(1_000).max(1);
        let mut sum = 0;
        let reached = self.counts.iter().position(|count| {
            sum += count;
            sum >= wanted
        });
        reached.map_or(0, most_ns)
    }

    /// For people: `p50 6.1, p90 6.4, p99 9.0, p99.9 40.2 µs of 10,000 round trips`; empty without any.
    pub(super) fn told(&self) -> String {
        if self.timed == 0 {
            return String::new();
        }
        let us = |per_mille| Duration::from_nanos(self.quantile_ns(per_mille)).as_secs_f64() * 1e6;
        let shown = [("p50", 500), ("p90", 900), ("p99", 990), ("p99.9", 999)]
            .map(|(name, per_mille)| format!("{name} {:.2}", us(per_mille)));
        format!("{} µs of {} round trips", shown.join(", "), self.timed)
    }
}

/// Exact up to 64 ns, then 32 steps for each doubling.
fn place(ns: u64) -> usize {
    let doublings = (u64::BITS - ns.leading_zeros()).saturating_sub(STEP_BITS + 1);
    #[expect(clippy::cast_possible_truncation, reason = "under 64")]
    let step = (ns >> doublings) as usize;
    ((doublings as usize) << STEP_BITS) + step
}

/// The longest duration of a place.
fn most_ns(place: usize) -> u64 {
    let doublings = (place >> STEP_BITS).saturating_sub(1);
    let step = (place - (doublings << STEP_BITS)) as u64;
    ((u128::from(step) + 1) << doublings).saturating_sub(1).try_into().unwrap_or(u64::MAX)
}

const STEP_BITS: u32 = 5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_rise_with_durations_and_are_narrow() {
        let mut before = 0;
        for ns in (0..10_000).chain([1 << 20, (1 << 20) + 40_000, 1 << 40, u64::MAX]) {
            let at = place(ns);
            assert!(at >= before && most_ns(at) >= ns, "{ns} at {at}");
            assert!(most_ns(at) - ns <= ns / 31, "{ns} at {at}: {}", most_ns(at));
            before = at;
        }
    }

    #[test]
    fn quantiles_are_those_of_what_was_added() {
        let mut trips = Trips::default();
        assert_eq!(trips.told(), "");
        (1..=1_000).for_each(|us| trips.add(Duration::from_micros(us)));
        for (per_mille, us) in [(500, 500), (900, 900), (990, 990), (999, 999), (1_000, 1_000)] {
            let found = trips.quantile_ns(per_mille);
            assert!((us * 1_000..=us * 1_033).contains(&found), "{found} ns of {us} µs");
        }
        assert!(trips.told().ends_with("µs of 1000 round trips"), "{}", trips.told());
    }
}
