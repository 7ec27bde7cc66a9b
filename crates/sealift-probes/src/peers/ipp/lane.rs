//! Numbers for threads, so that each finds what it worked with before.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// The number of the calling thread: the least that no living thread had when it first asked.
pub(super) fn lane() -> usize {
    thread_local!(static OWN: Lane = Lane::take());
    OWN.with(|lane| lane.0)
}

struct Lane(usize);

impl Lane {
    fn take() -> Self {
        let mut taken = lock();
        let free = taken.iter().position(|is_taken| !is_taken).unwrap_or(taken.len());
        if free == taken.len() {
            taken.push(true);
        }
        taken[free] = true;
        Self(free)
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        lock()[self.0] = false;
    }
}

fn lock() -> MutexGuard<'static, Vec<bool>> {
    static TAKEN: Mutex<Vec<bool>> = Mutex::new(vec![]);
    TAKEN.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn living_threads_have_different_numbers_and_ended_ones_give_theirs_back() {
        let own = lane();
        for _ in 0..50 {
            let other = thread::spawn(lane).join().unwrap();
            assert_ne!(other, own);
            assert!(other < 50, "{other}: no number came back");
        }
        assert_eq!(lane(), own);
    }
}
