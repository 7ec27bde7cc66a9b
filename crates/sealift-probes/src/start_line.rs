use std::hint::spin_loop;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::yield_now;

/// Where measuring threads wait for each other, so that all start within a microsecond.
///
/// They spin: being woken from sleep costs tens of microseconds, one thread after the other.
pub(crate) struct StartLine {
    arrived: AtomicUsize,
    threads: usize,
}

impl StartLine {
    pub(crate) fn new(threads: usize) -> Self {
        Self { arrived: AtomicUsize::new(0), threads }
    }

    /// Waits until all threads are here.
    pub(crate) fn wait(&self) {
        self.arrived.fetch_add(1, Ordering::AcqRel);
        let mut spins = 0u32;
        while self.arrived.load(Ordering::Acquire) < self.threads {
            spins = spins.saturating_add(1);
            // More threads than cores: those that wait must let the others come.
            if spins.is_multiple_of(1_000) { yield_now() } else { spin_loop() }
        }
    }

    /// Lets everyone go who waits: a thread will not come.
    pub(crate) fn give_up(&self) {
        self.arrived.fetch_add(self.threads, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_starts_before_all_are_there_and_giving_up_frees_them() {
        let line = StartLine::new(3);
        let started = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    line.wait();
                    started.fetch_add(1, Ordering::AcqRel);
                });
            }
            while line.arrived.load(Ordering::Acquire) < 2 {
                yield_now();
            }
            assert_eq!(started.load(Ordering::Acquire), 0);
            line.give_up();
        });
        assert_eq!(started.load(Ordering::Acquire), 2);
    }
}
