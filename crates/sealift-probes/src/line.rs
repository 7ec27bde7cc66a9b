use std::hint::spin_loop;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::yield_now;

/// Where measuring threads wait for each other, so that all go on within a microsecond.
///
/// They spin: being woken from sleep costs tens of microseconds, one thread after the other.
pub(crate) struct Line {
    arrived: AtomicUsize,
    threads: usize,
}

/// A thread's word that it will come to the line. Broken, by an error or a panic on the way, it counts
/// as if the thread had come.
pub(crate) struct Promise<'l> {
    line: &'l Line,
    is_kept: bool,
}

impl Line {
    pub(crate) fn new(threads: usize) -> Self {
        Self { arrived: AtomicUsize::new(0), threads }
    }

    /// Every thread gives one.
    pub(crate) fn promise(&self) -> Promise<'_> {
        Promise { line: self, is_kept: false }
    }

    /// Lets everyone go who waits: a thread will not come.
    pub(crate) fn give_up(&self) {
        self.arrived.fetch_add(self.threads, Ordering::AcqRel);
    }

    fn arrive(&self) {
        self.arrived.fetch_add(1, Ordering::AcqRel);
    }
}

impl Promise<'_> {
    /// Comes to the line and waits until all threads are there.
    pub(crate) fn wait(mut self) {
        self.is_kept = true;
        self.line.arrive();
        let mut spins = 0u32;
        while self.line.arrived.load(Ordering::Acquire) < self.line.threads {
            spins = spins.saturating_add(1);
            // More threads than cores: those that wait must let the others come.
            if spins.is_multiple_of(1_000) { yield_now() } else { spin_loop() }
        }
    }
}

impl Drop for Promise<'_> {
    fn drop(&mut self) {
        if !self.is_kept {
            self.line.arrive();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_goes_on_before_all_are_there_and_giving_up_frees_them() {
        let line = Line::new(3);
        let gone = two_wait(&line, || line.give_up());
        assert_eq!(gone.load(Ordering::Acquire), 2);
    }

    #[test]
    fn a_broken_promise_frees_those_who_wait() {
        let line = Line::new(3);
        let gone = two_wait(&line, || drop(line.promise()));
        assert_eq!(gone.load(Ordering::Acquire), 2);
    }

    /// Two threads come, stay until the end, and are counted when they go on.
    fn two_wait(line: &Line, end: impl FnOnce()) -> AtomicUsize {
        let gone = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    line.promise().wait();
                    gone.fetch_add(1, Ordering::AcqRel);
                });
            }
            while line.arrived.load(Ordering::Acquire) < 2 {
                yield_now();
            }
            assert_eq!(gone.load(Ordering::Acquire), 0);
            end();
        });
        gone
    }
}
