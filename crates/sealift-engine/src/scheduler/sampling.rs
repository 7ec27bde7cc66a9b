//! Which long batches are timed by the thread's own clock.

/// Reading that clock around a batch takes 3 to 6 us, 2 to 4 % of sealing a mebibyte. While it says nothing that the clock on the
/// wall doesn't, only one batch in a few is timed by it.
#[derive(Debug)]
pub(super) struct Sampling {
    /// For so many timed batches in a row it was needless.
    needless: u32,
    /// So many settle it.
    settled: u32,
    /// So many were not timed since.
    untimed: u32,
}

impl Default for Sampling {
    fn default() -> Self {
        Self { needless: 0, settled: SETTLED_BATCHES, untimed: 0 }
    }
}

impl Sampling {
    /// Whether the next batch is timed.
    pub(super) fn takes_next(&mut self) -> bool {
        let is_timed = self.needless < self.settled || self.untimed + 1 >= SAMPLED;
        self.untimed = if is_timed { 0 } else { self.untimed + 1 };
        is_timed
    }

    /// A batch was timed: both clocks said the same, or not.
    pub(super) fn note(&mut self, is_needless: bool) {
        self.needless = if is_needless { self.needless.saturating_add(1) } else { 0 };
        if self.needless >= SETTLED_BATCHES_MAX {
            self.settled = SETTLED_BATCHES;
        }
    }

    /// One that was not timed took longer than predicted, perhaps so long that it `counts` by itself: where that happens again
    /// and again most are timed.
    pub(super) fn unsettle(&mut self, counts: bool) {
        // Threads that were interrupted at the same time count once.
        if counts && self.needless >= self.settled {
            self.settled = (2 * self.settled).min(SETTLED_BATCHES_MAX);
        }
        self.needless = 0;
    }
}

/// So many batches for which the thread's own clock is needless settle it at first and at most. After the most it is as at first.
const SETTLED_BATCHES: u32 = 16;
const SETTLED_BATCHES_MAX: u32 = 1_024;
/// One in so many is timed then.
const SAMPLED: u32 = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_in_eight_is_timed_while_that_is_needless() {
        let mut sampling = Sampling::default();
        for is_needless in [false, true, true, false] {
            for _ in 0..SETTLED_BATCHES {
                assert!(sampling.takes_next());
                sampling.note(is_needless);
            }
            let timed = (0..80).filter(|_| sampling.takes_next()).count();
            assert_eq!(timed, if is_needless { 10 } else { 80 });
            sampling.note(false);
        }
    }

    #[test]
    fn most_are_timed_where_now_and_then_one_that_is_not_surprises() {
        let mut sampling = Sampling::default();
        let mut untimed = 0;
        for batch in 1..100_000 {
            let is_timed = sampling.takes_next();
            untimed += u32::from(!is_timed);
            match (is_timed, batch % 100 == 0) {
                (true, _) => sampling.note(true),
                (false, true) => sampling.unsettle(true),
                (false, false) => {}
            }
        }
        assert!(untimed < 40_000, "{untimed}");
    }
}
