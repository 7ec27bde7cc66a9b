/// Numbers that look random and are the same for the same seed (splitmix64). For simulations only: who
/// knows one of them knows all.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// The numbers of a seed.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Numbers of their own for one part of a simulation, so that parts don't disturb each other.
    pub fn stream(seed: u64, part: u64) -> Self {
        Self { state: mix(seed ^ mix(part.wrapping_add(1))) }
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.state)
    }

    /// At least 0 and under 1.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Under `end`; 0 when that is 0.
    pub fn below(&mut self, end: u64) -> u64 {
        // The bias is end / 2^64: nothing that a simulation sees.
        let product = u128::from(self.bits()) * u128::from(end);
        u64::try_from(product >> 64).unwrap_or(0)
    }

    /// Exponentially distributed with this mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.unit()).ln()
    }

    /// Whether something with this probability happens.
    pub fn happens(&mut self, share: f64) -> bool {
        self.unit() < share
    }
}

/// Nanoseconds as a whole number, rounded; what doesn't fit is the next that does.
pub(super) fn whole_ns(ns: f64) -> u64 {
    #[allow(clippy::cast_possible_truncation, reason = "saturating is what is wanted")]
    let whole = ns.round() as u64;
    whole
}

pub(super) fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_published_numbers_of_splitmix64() {
        let mut random = Random::new(1_234_567);
        let found = [0; 3].map(|_| random.bits());
        let published =
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!(found, published);
    }

    #[test]
    fn draws_have_their_means_and_keep_their_ranges() {
        let mut random = Random::stream(7, 1);
        let draws = 100_000;
        let mean = |draw: &mut dyn FnMut() -> f64| {
            (0..draws).map(|_| draw()).sum::<f64>() / f64::from(draws)
        };
        assert!((mean(&mut || random.exponential(50.0)) - 50.0).abs() < 0.5);
        assert!((mean(&mut || random.unit()) - 0.5).abs() < 0.005);
        assert!((mean(&mut || f64::from(u8::from(random.happens(0.2)))) - 0.2).abs() < 0.005);
        assert!((0..1_000).all(|_| random.below(3) < 3) && random.below(0) == 0);
        assert_ne!(Random::stream(7, 1).bits(), Random::stream(7, 2).bits());
    }

    #[test]
    fn times_are_rounded_and_saturate() {
        assert_eq!([0.4, 0.5, 2.0, -3.0, f64::NAN].map(whole_ns), [0, 1, 2, 0, 0]);
        assert_eq!(whole_ns(1e300), u64::MAX);
    }
}
