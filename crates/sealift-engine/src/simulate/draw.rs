use super::SimulationError;
use super::random::{Random, whole_ns};

/// What a time or a size is drawn from.
#[derive(Clone, Debug, PartialEq)]
pub enum Draw {
    /// Always this.
    Exactly(f64),
    /// Anything between the two alike.
    Even {
        /// The least.
        least: f64,
        /// The most.
        most: f64,
    },
    /// Anything between the two, each power of two alike often: sizes in the wild.
    LogEven {
        /// The least, over 0.
        least: f64,
        /// The most.
        most: f64,
    },
    /// Exponentially distributed.
    Exponential {
        /// Its mean.
        mean: f64,
    },
    /// One of these, each alike often; none gives 0.
    OneOf(Vec<f64>),
}

impl Draw {
    /// The next one.
    pub fn next(&self, random: &mut Random) -> f64 {
        match self {
            Self::Exactly(value) => *value,
            Self::Even { least, most } => least + (most - least) * random.unit(),
            Self::LogEven { least, most } => least * (most / least).powf(random.unit()),
            Self::Exponential { mean } => random.exponential(*mean),
            Self::OneOf(values) => {
                let at = usize::try_from(random.below(values.len() as u64)).unwrap_or(0);
                values.get(at).copied().unwrap_or(0.0)
            }
        }
    }

    /// The next one as a whole number, at least `least`.
    pub(super) fn whole(&self, least: usize, random: &mut Random) -> usize {
        usize::try_from(whole_ns(self.next(random))).unwrap_or(usize::MAX).max(least)
    }

    pub(super) fn check(&self, what: &'static str) -> Result<(), SimulationError> {
        let inside = |value: f64| SimulationError::range(what, value, 0.0, f64::MAX);
        match self {
            Self::Exactly(value) | Self::Exponential { mean: value } => inside(*value),
            Self::OneOf(values) => values.iter().try_for_each(|&value| inside(value)),
            Self::Even { least, most } => {
                inside(*least)?;
                SimulationError::range(what, *most, *least, f64::MAX)
            }
            Self::LogEven { least, most } => {
                SimulationError::range(what, *least, f64::MIN_POSITIVE, f64::MAX)?;
                SimulationError::range(what, *most, *least, f64::MAX)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_keep_their_ranges_and_means() {
        let mut random = Random::new(3);
        let mut draws = |draw: Draw| -> Vec<f64> {
            draw.check("value").unwrap();
            (0..20_000).map(|_| draw.next(&mut random)).collect()
        };
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        assert!(draws(Draw::Exactly(7.0)).iter().all(|&value| value == 7.0));
        let even = draws(Draw::Even { least: 10.0, most: 20.0 });
        assert!(even.iter().all(|value| (10.0..20.0).contains(value)));
        assert!((mean(&even) - 15.0).abs() < 0.1);
        let log = draws(Draw::LogEven { least: 16.0, most: 4_096.0 });
        assert!(log.iter().all(|value| (16.0..4_096.1).contains(value)));
        let small = log.iter().filter(|&&value| value < 256.0).count();
        assert!((9_600..10_400).contains(&small), "half lie under the geometric mean: {small}");
        assert!((mean(&draws(Draw::OneOf(vec![1.0, 2.0, 6.0]))) - 3.0).abs() < 0.1);
        assert!((mean(&draws(Draw::Exponential { mean: 9.0 })) - 9.0).abs() < 0.3);
        assert_eq!(Draw::Exactly(0.4).whole(1, &mut random), 1);
    }

    #[test]
    fn ranges_that_cannot_be_are_refused() {
        for draw in [
            Draw::Exactly(-1.0),
            Draw::Exponential { mean: f64::NAN },
            Draw::OneOf(vec![1.0, f64::INFINITY]),
            Draw::Even { least: 2.0, most: 1.0 },
            Draw::LogEven { least: 0.0, most: 1.0 },
        ] {
            let error = draw.check("text_bytes").unwrap_err();
            assert!(error.to_string().contains("text_bytes"), "{draw:?}: {error}");
        }
    }
}
