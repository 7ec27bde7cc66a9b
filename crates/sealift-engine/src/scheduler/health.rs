//! Whether a device can be trusted with the next batch.

/// What the engine thinks of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It gets batches.
    Up,
    /// It failed, or did not answer in time, and gets none for a while; then one, to see.
    Down {
        /// When it is tried again.
        until_ns: u64,
    },
    /// It gave wrong results and gets none until it is reinstated.
    Quarantined,
}

/// Goes down by failures and comes back by results.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Health {
    failures: u32,
    down: Option<Down>,
    quarantined: bool,
}

#[derive(Clone, Copy, Debug)]
struct Down {
    until_ns: u64,
    pause_ns: u64,
    /// Whether it did not answer, or takes no batches.
    is_grave: bool,
}

impl Health {
    pub(super) fn state(&self, now_ns: u64) -> State {
        match self.down {
            _ if self.quarantined => State::Quarantined,
            Some(Down { until_ns, .. }) if until_ns > now_ns => State::Down { until_ns },
            _ => State::Up,
        }
    }

    /// Whether it was down and has not shown yet that it works again: then it gets one batch at a time.
    pub(super) fn is_on_trial(&self) -> bool {
        self.down.is_some()
    }

    /// When it is tried again.
    pub(super) fn due_ns(&self) -> u64 {
        self.down.map_or(0, |down| down.until_ns)
    }

    /// It did not do what it should. After a few times in a row, or when that is `grave`, it is left in
    /// peace for a while, each time twice as long.
    ///
    /// What ends while it is down began before, and is part of the same trouble.
    pub(super) fn fail(&mut self, now_ns: u64, grave: bool) {
        if self.due_ns() > now_ns {
            return;
        }
        self.failures += 1;
        if grave || self.failures >= FAILURES_MAX || self.down.is_some() {
            let pause_ns = self.down.map_or(PAUSE_NS, |down| (2 * down.pause_ns).min(PAUSE_MAX_NS));
            let is_grave = grave || self.down.is_some_and(|down| down.is_grave);
            let until_ns = now_ns.saturating_add(pause_ns);
            self.down = Some(Down { until_ns, pause_ns, is_grave });
        }
    }

    /// It gave results.
    pub(super) fn recover(&mut self) {
        self.failures = 0;
        self.down = None;
    }

    /// It gave results on the calling thread, which say nothing of a queue that hangs.
    pub(super) fn recover_here(&mut self) {
        self.failures = 0;
        self.down = self.down.filter(|down| down.is_grave);
    }

    pub(super) fn quarantine(&mut self) {
        self.quarantined = true;
    }

    pub(super) fn reinstate(&mut self) {
        *self = Self::default();
    }
}

/// Failures in a row that take a device down.
const FAILURES_MAX: u32 = 3;
const PAUSE_NS: u64 = 20_000_000;
const PAUSE_MAX_NS: u64 = 30_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_failures_in_a_row_take_a_device_down_and_a_result_brings_it_back() {
        let mut health = Health::default();
        health.fail(0, false);
        health.fail(0, false);
        assert_eq!(health.state(0), State::Up);
        health.recover();
        (0..3).for_each(|_| health.fail(100, false));
        assert_eq!(health.state(100), State::Down { until_ns: 100 + PAUSE_NS });
        assert_eq!(health.state(100 + PAUSE_NS), State::Up);
        assert!(health.is_on_trial());
        health.recover();
        assert!(!health.is_on_trial());
    }

    #[test]
    fn pauses_double_up_to_half_a_minute() {
        let mut health = Health::default();
        let mut pauses = vec![];
        let mut now_ns = 0;
        for _ in 0..15 {
            health.fail(now_ns, true);
            // While it is down nothing makes it worse.
            health.fail(now_ns, true);
            pauses.push(health.due_ns() - now_ns);
            now_ns = health.due_ns();
        }
        assert_eq!(pauses[..3], [PAUSE_NS, 2 * PAUSE_NS, 4 * PAUSE_NS]);
        assert_eq!(pauses.last(), Some(&PAUSE_MAX_NS));
    }

    #[test]
    fn quarantine_ends_only_by_being_reinstated() {
        let mut health = Health::default();
        health.quarantine();
        health.recover();
        assert_eq!(health.state(u64::MAX), State::Quarantined);
        health.reinstate();
        assert_eq!(health.state(0), State::Up);
    }
}
