//! How long a process waits for the other.

use super::rules::Side;
use rustix::event::Timespec;
use std::time::Duration;

/// What is left of a wait, counted while this process runs: while it is stopped, by Ctrl-Z, a debugger or a
/// pause of the machine, nobody is silent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience(Option<Duration>);

impl Patience {
    /// The process that measures ends one that is stuck. The other waits for as long as their socket is open.
    pub(super) fn of(side: Side) -> Self {
        match side {
            Side::Near => Self::at_most(SILENCE_MAX),
            Side::Far => Self(None),
        }
    }

    pub(super) const fn at_most(wait: Duration) -> Self {
        Self(Some(wait))
    }

    /// How long to wait before time is counted again; nothing for a wait without an end.
    pub(super) fn next(self) -> Option<Timespec> {
        self.0.and_then(|left| left.min(LOOK_AGAIN).try_into().ok())
    }

    /// Counts a wait that ended soon after [`next`](Self::next), unless the process was stopped; says whether
    /// to go on.
    pub(super) fn lasts(&mut self, waited: Duration) -> bool {
        let Some(left) = &mut self.0 else { return true };
        *left = left.saturating_sub(waited.min(2 * LOOK_AGAIN));
        !left.is_zero()
    }
}

/// A process that is alive and does nothing for so long is taken for stuck.
pub(super) const SILENCE_MAX: Duration = Duration::from_secs(10);
/// How long the other process is left unwatched.
pub(super) const LOOK_AGAIN: Duration = Duration::from_millis(50);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_in_which_this_process_was_stopped_is_no_silence() {
        let mut patience = Patience::of(Side::Near);
        for _ in 0..10 {
            assert!(patience.lasts(Duration::from_secs(3_600)), "an hour under a debugger");
        }
        let looks =
            std::iter::repeat_with(|| patience.lasts(LOOK_AGAIN)).take_while(|lasts| *lasts);
        assert_eq!(looks.count(), 179, "nine seconds, 50 ms at a time");
        assert!(!Patience::at_most(Duration::ZERO).lasts(Duration::ZERO));
    }

    #[test]
    fn the_process_that_was_started_waits_without_an_end() {
        let mut patience = Patience::of(Side::Far);
        assert!((0..1_000).all(|_| patience.lasts(SILENCE_MAX)) && patience.next().is_none());
    }
}
