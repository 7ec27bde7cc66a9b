//! What the system did to a thread and to the machine.

use crate::ffi::{self, Whose};
use std::fs;
use std::time::Instant;

/// A thread's counters at one moment.
pub(crate) struct Usage {
    at: Instant,
    cpu_ns: u64,
    switches: u64,
}

impl Usage {
    pub(crate) fn now() -> Self {
        let (at, cpu_ns) = (Instant::now(), ffi::thread_cpu_ns());
        Self { at, cpu_ns, switches: ffi::counted(Whose::Thread).preempted }
    }

    /// Involuntary switches since then, and CPU time over wall time.
    pub(crate) fn since(&self) -> (u64, f64) {
        let switches = ffi::counted(Whose::Thread).preempted.saturating_sub(self.switches);
        let cpu_ns = ffi::thread_cpu_ns().saturating_sub(self.cpu_ns);
        let wall_ns = self.at.elapsed().as_nanos().max(1);
        #[expect(clippy::cast_precision_loss, reason = "a sample is far under 2^52 ns")]
        let share = cpu_ns as f64 / wall_ns as f64;
        (switches, share.min(1.0))
    }
}

/// Time the hypervisor took from all cores since boot, or nothing where the kernel doesn't tell.
pub(crate) fn steal_ns() -> Option<u64> {
    let stat = fs::read_to_string("/proc/stat").ok()?;
    let ticks = steal_ticks(&stat)?;
    Some(ticks * (1_000_000_000 / ffi::ticks_per_s()))
}

fn steal_ticks(stat: &str) -> Option<u64> {
    let mut fields = stat.lines().next()?.split_whitespace();
    if fields.next()? != "cpu" {
        return None;
    }
    fields.nth(7)?.parse().ok()
}

/// Nanoseconds that the calling thread stood ready and was not run, since it was started; nothing where
/// the kernel doesn't tell.
///
/// What waits for a disk has little CPU time over wall time on the quietest machine: of such a sample only
/// this is time that something else took.
pub(crate) fn kept_waiting_ns() -> Option<u64> {
    let stat = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    stat.split_whitespace().nth(1)?.parse().ok()
}

/// Share of a time that nothing else took from a thread.
#[expect(clippy::cast_precision_loss, reason = "a sample is far under 2^52 ns")]
pub(crate) fn share_left(kept_ns: u64, ns: u64) -> f64 {
    (1.0 - kept_ns as f64 / ns as f64).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steal_is_the_eighth_figure_of_the_first_line() {
        assert_eq!(steal_ticks("cpu  1 2 3 4 5 6 7 88 9 10\ncpu0 0 0 0 0 0 0 0 44 0 0"), Some(88));
        assert_eq!(steal_ticks("cpu  1 2 3 4"), None);
        assert_eq!(steal_ticks("intr 1 2 3 4 5 6 7 8"), None);
        assert_eq!(steal_ticks(""), None);
    }
}
