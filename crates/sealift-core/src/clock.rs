use std::fmt::Debug;
use std::time::Instant;

/// The time of an engine and of every device it opened: of the system, or simulated.
pub trait Clock: Send + Sync + Debug {
    /// Nanoseconds since the clock was made. Never runs backwards.
    fn now_ns(&self) -> u64;
}

/// The machine's monotonic clock.
#[derive(Debug)]
pub struct SystemClock {
    origin: Instant,
}

impl SystemClock {
    /// A clock that starts at zero now.
    #[must_use]
    pub fn new() -> Self {
        Self { origin: Instant::now() }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    fn now_ns(&self) -> u64 {
        u64::try_from(self.origin.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
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
}
