//! Which long batches are timed by the thread's own clock, and learnt from.

/// Reading that clock around a batch takes some 3 us, a fiftieth of sealing a mebibyte. Of a device whose batches take what was
/// predicted only one in a few is timed.
#[derive(Debug)]
pub(super) struct Sampling {
    /// So many timed batches in a row took what was predicted.
    as_predicted: u32,
    /// So many settle it.
    settled: u32,
    /// So many were not timed since.
    untimed: u32,
}

impl Default for Sampling {
    fn default() -> Self {
        Self { as_predicted: 0, settled: SETTLED_BATCHES, untimed: 0 }
    }
}

impl Sampling {
    /// Whether the next batch is timed.
    pub(super) fn takes_next(&mut self) -> bool {
        let is_timed = self.as_predicted < self.settled || self.untimed + 1 >= SAMPLED;
        self.untimed = if is_timed { 0 } else { self.untimed + 1 };
        is_timed
    }

    /// A timed batch took so many times what was predicted.
    pub(super) fn note(&mut self, times: f64) {
        self.as_predicted =
            if is_as_predicted(times) { self.as_predicted.saturating_add(1) } else { 0 };
    }

    /// One that was not timed did not take what was predicted. Where that happens again and again it is never settled.
    pub(super) fn unsettle(&mut self) {
        self.as_predicted = 0;
        self.settled = (2 * self.settled).min(SETTLED_BATCHES_MAX);
    }
}

/// Whether so many times what was predicted is as predicted.
pub(crate) fn is_as_predicted(times: f64) -> bool {
    (1.0 / SCATTER..SCATTER).contains(&times)
}

/// So many times what was predicted is no scatter.
const SCATTER: f64 = 1.25;
/// So many batches as predicted settle it at first and at most.
const SETTLED_BATCHES: u32 = 16;
const SETTLED_BATCHES_MAX: u32 = 1_024;
/// One in so many is timed then.
const SAMPLED: u32 = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_in_eight_is_timed_once_all_take_what_was_predicted_until_one_does_not() {
        let mut sampling = Sampling::default();
        for _ in 0..SETTLED_BATCHES {
            assert!(sampling.takes_next());
            sampling.note(1.2);
        }
        let timed = (0..80).filter(|_| sampling.takes_next()).count();
        assert_eq!(timed, 10);
        for times in [1.3, 0.7, f64::NAN, f64::INFINITY] {
            (0..SETTLED_BATCHES).for_each(|_| sampling.note(1.0));
            assert!(!(0..8).all(|_| sampling.takes_next()));
            sampling.note(times);
            assert!((0..8).all(|_| sampling.takes_next()), "{times}");
        }
    }

    #[test]
    fn all_are_timed_where_now_and_then_one_that_is_not_surprises() {
        let mut sampling = Sampling::default();
        let mut untimed = 0;
        for batch in 1..100_000 {
            let is_timed = sampling.takes_next();
            untimed += u32::from(!is_timed);
            match (is_timed, batch % 100) {
                (true, 0) => sampling.note(1_000.0),
                (true, _) => sampling.note(1.0),
                (false, 0) => sampling.unsettle(),
                (false, _) => {}
            }
        }
        assert!(untimed < 1_000, "{untimed}");
    }
}
