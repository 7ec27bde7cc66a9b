//! How fast bytes go between a host and its DPUs.

use crate::host::Push;

/// What was published of transfers to and from DPUs: by how many of them take part at once, and by how long a transfer is.
///
/// Between two numbers of DPUs the rate of long transfers goes up evenly on logarithmic scales; with fewer than the least each
/// has its share, and beyond the most it stays. A short transfer has a part of that rate. Between two lengths that were timed,
/// time goes up evenly; none takes less than the shortest of them, and beyond the longest the rate stays.
#[derive(Clone, Debug, PartialEq)]
pub struct Transfers {
    rates: Vec<Rate>,
    parts: Vec<Part>,
}

/// Bytes a second of long transfers with so many DPUs at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// How many.
    pub dpus: u32,
    /// From host memory to all of them.
    pub to_dpus_bytes_per_s: f64,
    /// From all of them to host memory.
    pub from_dpus_bytes_per_s: f64,
}

/// What a transfer of one length took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TransferTime {
    /// Bytes of each DPU.
    pub bytes_each: u32,
    /// From host memory to all DPUs, in seconds.
    pub to_dpus_s: f64,
    /// From all DPUs to host memory, in seconds.
    pub from_dpus_s: f64,
}

/// A length, and what part of the rate of long transfers it has.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Part {
    bytes_each: f64,
    to_dpus: f64,
    from_dpus: f64,
}

impl Rate {
    fn of(&self, push: Push) -> f64 {
        match push {
            Push::ToDpus => self.to_dpus_bytes_per_s,
            Push::FromDpus => self.from_dpus_bytes_per_s,
        }
    }
}

impl Part {
    fn of(&self, push: Push) -> f64 {
        match push {
            Push::ToDpus => self.to_dpus,
            Push::FromDpus => self.from_dpus,
        }
    }
}

impl Default for Transfers {
    /// Published rates: one DPU and a rank of 64 by the PrIM benchmarks (arXiv 2105.03814, section 3.4), 2,048 by
    /// Loremkang/upmem-sdk-light, results/UPMEM_1.txt, whose times are those of short transfers, too.
    fn default() -> Self {
        let rate = |dpus, to_dpus, from_dpus| Rate {
            dpus,
            to_dpus_bytes_per_s: 1e9 * to_dpus,
            from_dpus_bytes_per_s: 1e9 * from_dpus,
        };
        let rates = vec![rate(1, 0.33, 0.12), rate(64, 6.68, 4.74), rate(2048, 24.28, 11.78)];
        let mut found = Self { rates, parts: Vec::new() };
        let timed = TIMED.map(|(bytes_each, to_dpus_s, from_dpus_s)| TransferTime {
            bytes_each,
            to_dpus_s,
            from_dpus_s,
        });
        found.parts = found.parts_of(TIMED_DPUS, &timed);
        found
    }
}

impl Transfers {
    /// Rates by numbers of DPUs that go up, short transfers being as much slower as is published; none, if there are no rates or
    /// they do not go up.
    #[must_use]
    pub fn new(rates: Vec<Rate>) -> Option<Self> {
        let rise = rates.windows(2).all(|pair| pair[0].dpus < pair[1].dpus);
        let valid = |rate: &Rate| {
            let both = [rate.to_dpus_bytes_per_s, rate.from_dpus_bytes_per_s];
            rate.dpus > 0 && both.iter().all(|rate| rate.is_finite() && *rate > 0.0)
        };
        let parts = Self::default().parts;
        (!rates.is_empty() && rise && rates.iter().all(valid)).then_some(Self { rates, parts })
    }

    /// The same with other times of transfers, which so many DPUs took part in; none, if there are none, their lengths do not go
    /// up, or a longer one takes less time.
    #[must_use]
    pub fn with_times(self, dpus: u32, timed: &[TransferTime]) -> Option<Self> {
        let rise = timed.windows(2).all(|pair| pair[0].bytes_each < pair[1].bytes_each);
        let valid = |timed: &TransferTime| {
            let both = [timed.to_dpus_s, timed.from_dpus_s];
            timed.bytes_each > 0 && both.iter().all(|time| time.is_finite() && *time > 0.0)
        };
        let longer = |pair: &[TransferTime]| {
            pair[0].to_dpus_s <= pair[1].to_dpus_s && pair[0].from_dpus_s <= pair[1].from_dpus_s
        };
        let rise = rise && timed.windows(2).all(longer);
        let right = dpus > 0 && !timed.is_empty() && rise && timed.iter().all(valid);
        right.then(|| Self { parts: self.parts_of(dpus, timed), ..self })
    }

    /// The rates of long transfers.
    #[must_use]
    pub fn rates(&self) -> &[Rate] {
        &self.rates
    }

    /// Bytes a second of long transfers of so many DPUs together.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "there are a few thousand DPUs")]
    pub fn long_bytes_per_s(&self, push: Push, dpus: usize) -> f64 {
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

    /// What so many bytes, those of all DPUs that take part, take; no bytes take nothing.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "2^53 bytes are more than any machine has")]
    pub fn seconds(&self, push: Push, dpus: usize, bytes: u64) -> f64 {
        if bytes == 0 {
            return 0.0;
        }
        let part = self.part(push, bytes as f64 / dpus.max(1) as f64);
        bytes as f64 / (part * self.long_bytes_per_s(push, dpus))
    }

    /// What part of the rate of long transfers one has with so many bytes of each DPU.
    fn part(&self, push: Push, bytes_each: f64) -> f64 {
        let above = self.parts.iter().position(|part| part.bytes_each > bytes_each);
        // Bytes over their part are time, in what a byte of a long transfer takes.
        let time = |part: &Part| part.bytes_each / part.of(push);
        match above {
            None => self.parts.last().map_or(1.0, |last| last.of(push)),
            Some(0) => bytes_each / time(&self.parts[0]),
            Some(above) => {
                let (below, above) = (&self.parts[above - 1], &self.parts[above]);
                let share = (bytes_each - below.bytes_each) / (above.bytes_each - below.bytes_each);
                bytes_each / (time(below) + share * (time(above) - time(below)))
            }
        }
    }

    fn parts_of(&self, dpus: u32, timed: &[TransferTime]) -> Vec<Part> {
        let long = |push| self.long_bytes_per_s(push, dpus as usize);
        let (to_dpus, from_dpus) = (long(Push::ToDpus), long(Push::FromDpus));
        let part = |timed: &TransferTime| {
            let bytes = f64::from(dpus) * f64::from(timed.bytes_each);
            Part {
                bytes_each: f64::from(timed.bytes_each),
                to_dpus: bytes / timed.to_dpus_s / to_dpus,
                from_dpus: bytes / timed.from_dpus_s / from_dpus,
            }
        };
        timed.iter().map(part).collect()
    }
}

/// How many DPUs took part in the published times.
const TIMED_DPUS: u32 = 2048;
/// Bytes of each, seconds to all of them and back.
const TIMED: [(u32, f64, f64); 11] = [
    (1 << 10, 0.000_563_79, 0.001_059_33),
    (1 << 11, 0.000_779_85, 0.001_404_29),
    (1 << 12, 0.001_245_02, 0.002_278_53),
    (1 << 13, 0.001_859_02, 0.003_779_91),
    (1 << 14, 0.002_694_43, 0.006_018_71),
    (1 << 15, 0.004_546_3, 0.010_607_3),
    (1 << 16, 0.008_776_97, 0.015_263_9),
    (1 << 17, 0.014_027_4, 0.024_403_4),
    (1 << 18, 0.024_114_9, 0.045_104_2),
    (1 << 19, 0.044_221_5, 0.091_176_3),
    (1 << 20, 0.098_829_2, 0.203_84),
];

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
                assert!((known.long_bytes_per_s(push, dpus) / (1e9 * rate) - 1.0).abs() < 1e-9);
            }
        }
        let rate = |dpus| known.long_bytes_per_s(Push::ToDpus, dpus);
        assert!((rate(8) / (rate(1) * rate(64)).sqrt() - 1.0).abs() < 1e-9);
        assert!((1..2560).all(|dpus| rate(dpus) <= rate(dpus + 1)));
        let whole = Transfers::new(vec![Rate { dpus: 128, ..known.rates()[1] }]).unwrap();
        assert!((whole.long_bytes_per_s(Push::ToDpus, 32) / 1.67e9 - 1.0).abs() < 1e-9);
        assert!((whole.long_bytes_per_s(Push::ToDpus, 0) * 128.0 / 6.68e9 - 1.0).abs() < 1e-9);
    }

    #[test]
    fn short_transfers_take_the_published_times_and_go_up_evenly_between_them() {
        let known = Transfers::default();
        let near = |found: f64, wanted: f64| (found / wanted - 1.0).abs() < 1e-9;
        for (bytes, to_dpus_s, from_dpus_s) in TIMED {
            let all = 2048 * u64::from(bytes);
            assert!(near(known.seconds(Push::ToDpus, 2048, all), to_dpus_s));
            assert!(near(known.seconds(Push::FromDpus, 2048, all), from_dpus_s));
        }
        let each = |bytes: u64| known.seconds(Push::ToDpus, 2048, 2048 * bytes);
        assert!(near(each(8), each(1024)) && near(each(4 << 20), 4.0 * each(1 << 20)));
        assert!(near(each(1536), (each(1024) + each(2048)) / 2.0));
        let long = known.long_bytes_per_s(Push::ToDpus, 64) / 24.28e9;
        assert!(near(known.seconds(Push::ToDpus, 64, 64 * 1024) * 32.0 * long, each(1024)));
        assert!(each(0) < f64::MIN_POSITIVE && known.seconds(Push::ToDpus, 0, 8) > 0.0);
    }

    #[test]
    fn rates_and_times_that_can_not_be_are_refused() {
        let rate = Transfers::default().rates()[1];
        assert_eq!(Transfers::new(vec![]), None);
        assert_eq!(Transfers::new(vec![rate, rate]), None);
        assert_eq!(Transfers::new(vec![Rate { dpus: 0, ..rate }]), None);
        assert_eq!(Transfers::new(vec![Rate { to_dpus_bytes_per_s: 0.0, ..rate }]), None);
        let timed = TransferTime { bytes_each: 8, to_dpus_s: 1.0, from_dpus_s: 2.0 };
        let times = |timed: &[TransferTime]| Transfers::default().with_times(1, timed);
        let own = times(&[timed]).unwrap();
        assert!((own.seconds(Push::FromDpus, 1, 80) - 20.0).abs() < 1e-9);
        assert_eq!(Transfers::default().with_times(0, &[timed]), None);
        assert_eq!(times(&[]), None);
        assert_eq!(times(&[timed, timed]), None);
        let longer = TransferTime { bytes_each: 16, ..timed };
        assert!(times(&[timed, longer]).is_some());
        assert_eq!(times(&[timed, TransferTime { to_dpus_s: 0.9, ..longer }]), None);
        assert_eq!(times(&[timed, TransferTime { from_dpus_s: 1.9, ..longer }]), None);
        assert_eq!(times(&[TransferTime { to_dpus_s: 0.0, ..timed }]), None);
        assert_eq!(times(&[TransferTime { bytes_each: 0, ..timed }]), None);
    }
}
