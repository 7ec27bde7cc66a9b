//! Batches that a slower device gets to see how fast it is now.

use super::decision_cache::TRIAL_BATCHES;
use super::excess::SLOW;

/// The batches of a device's trial, one after the other.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Trial {
    left: u32,
    /// Whether one is being worked, so that nothing is known of it yet.
    is_out: bool,
    /// What the first one was predicted to take.
    work_ns: f64,
}

impl Trial {
    /// Whether it goes on with a batch that would take so long: one that is not much larger than the one
    /// that it was priced by, after the one before.
    pub(super) fn goes_on(&self, work_ns: f64) -> bool {
        self.left > 0 && !self.is_out && work_ns <= LARGER_MOST * self.work_ns
    }

    /// Gives it a batch. True for the first one.
    pub(super) fn give(&mut self, work_ns: f64) -> bool {
        let begins = !self.goes_on(work_ns);
        if begins {
            *self = Self { left: TRIAL_BATCHES, is_out: false, work_ns };
        }
        self.left -= 1;
        self.is_out = true;
        begins
    }

    /// A batch of the device is done, which took so many times what was predicted. Two that are no faster end a trial that goes
    /// on with the next decision, and one that is far slower.
    pub(super) fn done(&mut self, times: f64) {
        self.is_out = false;
        if times > SLOW {
            self.left = 0;
        } else if times > NO_FASTER {
            self.left = self.left.saturating_sub(TRIAL_BATCHES / 2);
        }
    }
}

/// A batch that takes more than this share of what was predicted is no faster.
const NO_FASTER: f64 = 0.97;
/// So many times as long as the first batch others of a trial may take.
const LARGER_MOST: f64 = 2.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_goes_on_one_batch_at_a_time_with_batches_that_are_not_much_larger() {
        let mut trial = Trial::default();
        assert!(!trial.goes_on(1.0));
        assert!(trial.give(100.0));
        assert!(!trial.goes_on(100.0), "one is out");
        trial.done(0.9);
        assert!(trial.goes_on(200.0));
        assert!(!trial.goes_on(201.0));
        assert!(!trial.give(100.0));
    }

    #[test]
    fn two_batches_that_are_no_faster_end_it_and_one_that_is_far_slower() {
        for (times, batches) in [(1.0, 2), (5.0, 1)] {
            let mut trial = Trial::default();
            for batch in 0..batches {
                assert!(batch == 0 || trial.goes_on(1.0), "{times}");
                trial.give(1.0);
                trial.done(times);
            }
            assert!(!trial.goes_on(1.0), "{times}");
        }
    }
}
