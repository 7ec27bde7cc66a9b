//! Batches that took far longer than is usual for their device.

/// What rare slow batches add to the others on average, and what they have cost so far.
#[derive(Debug, Default)]
pub(super) struct Excess {
    batches: f64,
    /// How many of them were slow by themselves.
    slow: f64,
    /// By how many times the usual time, all of them together.
    times: f64,
    /// What slow batches took too long, less a share of what other devices worked since.
    owed_ns: f64,
    /// What the last slow batch took.
    slow_ns: f64,
    was_slow: bool,
}

impl Excess {
    /// Counts a batch that took so many times as long as is usual, `usual_ns`; `is_own` where the device took that time and
    /// not another program on its core.
    ///
    /// Of slow batches in a row the first counts: the others say that what is usual has changed, which is learnt otherwise.
    pub(super) fn add(&mut self, usual_ns: f64, times: f64, is_own: bool) {
        self.count(1.0);
        let is_slow = times > SLOW;
        if is_slow && (is_own || self.was_slow) {
            self.owed_ns += (times - 1.0) * usual_ns;
            self.slow_ns = times * usual_ns;
        }
        if is_slow && is_own && !self.was_slow {
            self.slow += 1.0;
            self.times += times - 1.0;
        }
        self.was_slow = is_slow;
    }

    /// Counts so many batches that took as long as is usual.
    pub(super) fn add_usual(&mut self, batches: f64) {
        self.count(batches);
        self.was_slow = false;
    }

    fn count(&mut self, batches: f64) {
        self.batches += batches;
        if self.batches > REMEMBERED {
            (self.batches, self.slow, self.times) =
                (self.batches / 2.0, self.slow / 2.0, self.times / 2.0);
        }
    }

    /// How many times the usual time a batch takes on average, where more than so many slow batches are remembered.
    pub(super) fn factor(&self, slow_most: f64) -> f64 {
        // Some slow ones among the very first say little of how many there are.
        let batches = self.batches.max(REMEMBERED / 4.0);
        if self.slow > slow_most { 1.0 + self.times / batches } else { 1.0 }
    }

    /// Other devices worked so long: a hundredth of that is for trials.
    pub(super) fn pay(&mut self, worked_ns: f64) {
        self.owed_ns = (self.owed_ns - worked_ns / 100.0).max(0.0);
    }

    /// Whether a trial has to wait, because slow batches took more time than trials may, and another one would take
    /// over 10 ms. A cheaper trial finds out soon that a device is quick again.
    pub(super) fn is_owing(&self) -> bool {
        self.owed_ns > 0.0 && self.slow_ns > HOPE_MAX_NS
    }
}

/// One slow batch alone says nothing.
pub(super) const SLOW_MOST: f64 = 1.0;
/// The same where a batch is slow now and then because the machine did something else meanwhile. A virtual machine's
/// processor clock goes on while its host does that.
pub(super) const SLOW_MOST_ON_CORES: f64 = 4.0;
/// A device is hoped to be fast where a batch takes at most so long then.
pub(super) const HOPE_MAX_NS: f64 = 10_000_000.0;
/// So many times the usual time is slow.
pub(crate) const SLOW: f64 = 4.0;
/// Between half as many and so many batches are remembered.
const REMEMBERED: f64 = 1_024.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64) -> bool {
        (found / expected - 1.0).abs() < 0.1
    }

    #[test]
    fn one_slow_batch_moves_nothing_and_one_in_a_hundred_counts_as_it_weighs() {
        let mut excess = Excess::default();
        let hundred = |excess: &mut Excess| {
            (0..99).for_each(|_| excess.add(10.0, 1.0, true));
            excess.add(10.0, 1_001.0, true);
        };
        hundred(&mut excess);
        assert_eq!(excess.factor(SLOW_MOST).to_bits(), 1f64.to_bits());
        (0..20).for_each(|_| hundred(&mut excess));
        assert!(near(excess.factor(SLOW_MOST), 11.0), "{excess:?}");
        (0..20_000).for_each(|_| excess.add(10.0, 1.0, true));
        assert_eq!(excess.factor(SLOW_MOST).to_bits(), 1f64.to_bits());
    }

    #[test]
    fn slow_ones_among_the_first_are_not_thought_to_be_as_many_later() {
        let mut excess = Excess::default();
        for _ in 0..6 {
            excess.add(10.0, 11.0, true);
            excess.add(10.0, 1.0, true);
        }
        assert!(excess.factor(SLOW_MOST_ON_CORES) < 1.3, "{excess:?}");
    }

    #[test]
    fn a_change_is_no_tail() {
        let mut excess = Excess::default();
        (0..100).for_each(|_| excess.add(10.0, 50.0, true));
        assert_eq!(excess.factor(SLOW_MOST).to_bits(), 1f64.to_bits());
    }

    #[test]
    fn what_another_program_may_have_done_counts_only_when_it_is_repeated() {
        let mut excess = Excess::default();
        excess.add(1e6, 100.0, false);
        assert!(!excess.is_owing());
        excess.add(1e6, 100.0, false);
        assert!(excess.is_owing());
        assert_eq!(excess.factor(SLOW_MOST).to_bits(), 1f64.to_bits());
    }

    #[test]
    fn a_trial_waits_until_others_have_worked_a_hundred_times_as_long() {
        let mut excess = Excess::default();
        excess.add(1e6, 101.0, true);
        excess.pay(99e8);
        assert!(excess.is_owing());
        excess.pay(1e8);
        assert!(!excess.is_owing());
    }

    #[test]
    fn a_trial_that_is_cheap_at_worst_never_waits() {
        let mut excess = Excess::default();
        (0..100).for_each(|_| excess.add(1e3, 5_000.0, true));
        assert!(!excess.is_owing());
    }
}
