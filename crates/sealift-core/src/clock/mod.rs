//! Time, and who is told that something happened.

mod simulated;

pub use simulated::SimulatedClock;

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use rustix::time::{ClockId, Timespec, clock_gettime};

/// The time of an engine and of every device it opened: of the system, or simulated.
pub trait Clock: Send + Sync + Debug {
    /// Nanoseconds since the clock was made. Never runs backwards.
    fn now_ns(&self) -> u64;

    /// Waits until `sleep` says that it was woken, or until `deadline_ns`: then false.
    ///
    /// `sleep` waits for at most so long, for ever without an argument, and returns whether it was
    /// woken. A simulated clock calls it with nothing left to wait and jumps to its next event instead.
    fn park(
        &self,
        deadline_ns: Option<u64>,
        sleep: &mut dyn FnMut(Option<Duration>) -> bool,
    ) -> bool;

    /// What the calling thread has used of the machine so far; none where nobody counts that. Reading it
    /// is a call of the system.
    fn thread_usage(&self) -> Option<ThreadUsage> {
        None
    }

    /// Rings `notify` when `at_ns` comes, if that is an event of this clock. False where time passes by
    /// itself: who wants to be woken there waits on a thread.
    fn ring_at(&self, _at_ns: u64, _notify: &Arc<dyn Notify>) -> bool {
        false
    }
}

/// What a thread has used of the machine since it began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadUsage {
    /// Nanoseconds on a processor.
    pub processor_ns: u64,
    /// How often it blocked: it slept, or waited for a lock or a file. One that yields while it polls does not.
    pub blocked: u64,
    /// Pages that it touched first, so that the system had to clear them, or that were not in memory.
    pub faults: u64,
}

impl ThreadUsage {
    /// Work that takes so long is worth reading this before and after it now and then: each takes 0.7 us, on a virtual machine
    /// 1.3 us. Shorter work that other threads interrupt is conspicuous by its time alone, since they have the core for
    /// milliseconds.
    pub const WORTH_READING_NS: u64 = 50_000;

    /// Processor time between an earlier reading and this one. None if the thread blocked in between:
    /// then the time it waited belongs to the work.
    #[must_use]
    pub fn processor_ns_since(&self, earlier: &Self) -> Option<u64> {
        let never_blocked = self.blocked == earlier.blocked;
        never_blocked.then(|| self.processor_ns.saturating_sub(earlier.processor_ns))
    }
}

/// The machine's monotonic clock.
#[derive(Debug)]
pub struct SystemClock {
    origin_ns: u64,
}

impl SystemClock {
    /// A clock that starts at zero now.
    #[must_use]
    pub fn new() -> Self {
        Self { origin_ns: ns_of(clock_gettime(ClockId::Monotonic)) }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    fn now_ns(&self) -> u64 {
        ns_of(clock_gettime(ClockId::Monotonic)).saturating_sub(self.origin_ns)
    }

    #[cfg(target_os = "linux")]
    fn thread_usage(&self) -> Option<ThreadUsage> {
        use nix::sys::resource::{UsageWho, getrusage};
        use rustix::time::{DynamicClockId, clock_gettime_dynamic};
        let used = getrusage(UsageWho::RUSAGE_THREAD).ok()?;
        let processor = DynamicClockId::Known(ClockId::ThreadCPUTime);
        let processor = clock_gettime_dynamic(processor).ok()?;
        Some(ThreadUsage {
            processor_ns: ns_of(processor),
            blocked: u64::try_from(used.voluntary_context_switches()).ok()?,
            faults: u64::try_from(used.minor_page_faults() + used.major_page_faults()).ok()?,
        })
    }

    fn park(
        &self,
        deadline_ns: Option<u64>,
        sleep: &mut dyn FnMut(Option<Duration>) -> bool,
    ) -> bool {
        loop {
            let left_ns = deadline_ns.map(|deadline| deadline.saturating_sub(self.now_ns()));
            if sleep(left_ns.map(Duration::from_nanos)) {
                return true;
            }
            if left_ns == Some(0) {
                return false;
            }
        }
    }
}

// IMPLEMENTATION NOTE: by itself, since each batch reads the clock twice and an `Instant` takes 12 ns more (Zen 3).
fn ns_of(time: Timespec) -> u64 {
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}

/// What a device rings when a completion can be polled. Cheap, never blocks, callable from any thread.
pub trait Notify: Send + Sync + Debug {
    /// Wakes whoever waits; rings before anyone waits are kept.
    fn ring(&self);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_clock_never_runs_backwards() {
        let clock = SystemClock::new();
        let times: Vec<_> = (0..1_000).map(|_| clock.now_ns()).collect();
        assert!(times.is_sorted());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_threads_usage_counts_its_work_and_its_sleeps() {
        let clock = SystemClock::new();
        let first = clock.thread_usage().unwrap();
        while clock.thread_usage().unwrap().processor_ns < first.processor_ns + 1_000_000 {}
        std::thread::sleep(Duration::from_millis(1));
        let last = clock.thread_usage().unwrap();
        assert!(last.blocked > first.blocked);
        assert_eq!(last.processor_ns_since(&first), None);
        let same = ThreadUsage { blocked: first.blocked, ..last };
        assert!(same.processor_ns_since(&first).unwrap() >= 1_000_000);
    }

    #[test]
    fn parking_ends_when_woken_or_at_the_deadline() {
        let clock = SystemClock::new();
        let mut naps = 0;
        let woken = clock.park(None, &mut |left| {
            assert_eq!(left, None);
            naps += 1;
            naps == 3
        });
        assert!(woken);
        let deadline = clock.now_ns() + 2_000_000;
        assert!(!clock.park(Some(deadline), &mut |left| {
            std::thread::sleep(left.unwrap());
            false
        }));
        assert!(clock.now_ns() >= deadline);
    }
    #[test]
    fn a_simulated_clock_rings_by_itself_and_the_systems_does_not() {
        let bell: Arc<dyn Notify> = Arc::new(Silent);
        let clock = SimulatedClock::new();
        assert!(clock.ring_at(7, &bell));
        assert_eq!(clock.next_ns(), Some(7));
        assert!(!SystemClock::new().ring_at(7, &bell));
    }

    #[derive(Debug)]
    struct Silent;

    impl Notify for Silent {
        fn ring(&self) {}
    }
}
