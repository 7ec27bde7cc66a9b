//! How fast bytes go between a host and its DPUs.

use crate::host::Push;

/// What was published of transfers to and from DPUs, by how many of them take part at once.
///
/// Between two numbers of DPUs the rate goes up evenly on logarithmic scales; with fewer than the least each has its share,
/// and beyond the most it stays. The published rates are of long transfers; short ones are slower.
#[derive(Clone, Debug, PartialEq)]
pub struct Transfers {
    rates: Vec<Rate>,
}

/// Bytes a second with so many DPUs at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// How many.
    pub dpus: u32,
    /// From host memory to all of them.
    pub to_dpus_bytes_per_s: f64,
    /// From all of them to host memory.
    pub from_dpus_bytes_per_s: f64,
}

impl Rate {
    fn of(&self, push: Push) -> f64 {
        match push {
            Push::ToDpus => self.to_dpus_bytes_per_s,
            Push::FromDpus => self.from_dpus_bytes_per_s,
        }
    }
}

impl Default for Transfers {
    /// Published rates: one DPU and a rank of 64 by the PrIM benchmarks (arXiv 2105.03814, section 3.4), 2,048 by
    /// Loremkang/upmem-sdk-light, results/UPMEM_1.txt.
    fn default() -> Self {
        let rate = |dpus, to_dpus, from_dpus| Rate {
            dpus,
            to_dpus_bytes_per_s: 1e9 * to_dpus,
            from_dpus_bytes_per_s: 1e9 * from_dpus,
        };
        Self { rates: vec![rate(1, 0.33, 0.12), rate(64, 6.68, 4.74), rate(2048, 24.28, 11.78)] }
    }
}

impl Transfers {
    /// Rates by numbers of DPUs that go up; none, if there are none or they do not.
    #[must_use]
    pub fn new(rates: Vec<Rate>) -> Option<Self> {
        let rise = rates.windows(2).all(|pair| pair[0].dpus < pair[1].dpus);
        let valid = |rate: &Rate| {
            let both = [rate.to_dpus_bytes_per_s, rate.from_dpus_bytes_per_s];
            rate.dpus > 0 && both.iter().all(|rate| rate.is_finite() && *rate > 0.0)
        };
        (!rates.is_empty() && rise && rates.iter().all(valid)).then_some(Self { rates })
    }

    /// What is known.
    #[must_use]
    pub fn rates(&self) -> &[Rate] {
        &self.rates
    }

    /// Bytes a second of so many DPUs together.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "there are a few thousand DPUs")]
    pub fn bytes_per_s(&self, push: Push, dpus: usize) -> f64 {
        let above = self.rates.iter().position(|rate| rate.dpus as usize >= dpus.max(1));
        let (below, above) = match above {
            None => return self.rates[self.rates.len() - 1].of(push),
            Some(0) => {
                let first = &self.rates[0];
                return first.of(push) * dpus.max(1) as f64 / f64::from(first.dpus);
            }
            Some(above) => (&self.rates[above - 1], &self.rates[above]),
        };
        let (least, most) = (f64::from(below.dpus).ln(), f64::from(above.dpus).ln());
        let share = ((dpus as f64).ln() - least) / (most - least);
        below.of(push) * (above.of(push) / below.of(push)).powf(share)
    }

    /// What so many bytes, those of all DPUs that take part, take.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "2^53 bytes are more than any machine has")]
    pub fn seconds(&self, push: Push, dpus: usize, bytes: u64) -> f64 {
        bytes as f64 / self.bytes_per_s(push, dpus)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_the_published_ones_and_go_up_evenly_between_them() {
        let known = Transfers::default();
        for (dpus, to_dpus, from_dpus) in
            [(1, 0.33, 0.12), (64, 6.68, 4.74), (2048, 24.28, 11.78), (2560, 24.28, 11.78)]
        {
            for (push, rate) in [(Push::ToDpus, to_dpus), (Push::FromDpus, from_dpus)] {
                assert!((known.bytes_per_s(push, dpus) / (1e9 * rate) - 1.0).abs() < 1e-9);
            }
        }
        let rate = |dpus| known.bytes_per_s(Push::ToDpus, dpus);
        assert!((rate(8) / (rate(1) * rate(64)).sqrt() - 1.0).abs() < 1e-9);
        assert!((1..2560).all(|dpus| rate(dpus) <= rate(dpus + 1)));
        assert!((known.seconds(Push::FromDpus, 64, 4_740_000) - 1e-3).abs() < 1e-12);
        let whole = Transfers::new(vec![Rate { dpus: 128, ..known.rates()[1] }]).unwrap();
        assert!((whole.bytes_per_s(Push::ToDpus, 32) / 1.67e9 - 1.0).abs() < 1e-9);
        assert!((whole.bytes_per_s(Push::ToDpus, 0) * 128.0 / 6.68e9 - 1.0).abs() < 1e-9);
    }

    #[test]
    fn rates_that_can_not_be_are_refused() {
        let rate = Transfers::default().rates()[1];
        assert_eq!(Transfers::new(vec![]), None);
        assert_eq!(Transfers::new(vec![rate, rate]), None);
        assert_eq!(Transfers::new(vec![Rate { dpus: 0, ..rate }]), None);
        assert_eq!(Transfers::new(vec![Rate { to_dpus_bytes_per_s: 0.0, ..rate }]), None);
    }
}
