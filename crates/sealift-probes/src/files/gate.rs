//! Where threads that a process holds wait for their turn.

use crate::ArmError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Turn {
    #[default]
    Asleep,
    Awake,
    Over,
}

/// Where threads sleep until it is their turn.
#[derive(Default)]
pub(super) struct Gate {
    turn: Mutex<Turn>,
    changed: Condvar,
    pub(super) awake: AtomicBool,
    /// Threads that wait or work here.
    pub(super) there: Mutex<usize>,
    came: Condvar,
}

impl Gate {
    pub(super) fn set(&self, turn: Turn) {
        *self.lock() = turn;
        self.awake.store(turn == Turn::Awake, Ordering::Relaxed);
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Turn> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enter(&self) {
        *self.there.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.came.notify_all();
    }

    /// Sleeps until so many threads are there.
    pub(super) fn wait_for(&self, threads: usize) {
        let there = self.there.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.came.wait_while(there, |there| *there < threads));
    }

    /// Sleeps until there is one of these turns, and says which.
    fn wait(&self, turns: &[Turn]) -> Turn {
        let until = |turn: &mut Turn| !turns.contains(turn);
        *self.changed.wait_while(self.lock(), until).unwrap_or_else(PoisonError::into_inner)
    }

    fn idle(&self) {
        self.wait(&[Turn::Over]);
    }

    pub(super) fn busy(&self, step: fn()) {
        while self.wait(&[Turn::Awake, Turn::Over]) == Turn::Awake {
            while self.awake.load(Ordering::Relaxed) {
                step();
            }
        }
    }
}

/// Threads that sleep until it is over.
pub(super) fn asleep(threads: usize, gate: &Arc<Gate>) -> Result<Vec<JoinHandle<()>>, ArmError> {
    all_or_none(threads, gate, || spawned(gate, Gate::idle))
}

/// So many threads at a gate; where one of them can't be started those before it end.
fn all_or_none(
    threads: usize,
    gate: &Gate,
    mut start: impl FnMut() -> Result<JoinHandle<()>, ArmError>,
) -> Result<Vec<JoinHandle<()>>, ArmError> {
    let mut started = vec![];
    for _ in 0..threads {
        match start() {
            Ok(thread) => started.push(thread),
            Err(error) => {
                gate.set(Turn::Over);
                started.into_iter().for_each(|thread| drop(thread.join()));
                return Err(error);
            }
        }
    }
    Ok(started)
}

/// A thread at a gate.
pub(super) fn spawned(
    gate: &Arc<Gate>,
    body: impl FnOnce(&Gate) + Send + 'static,
) -> Result<JoinHandle<()>, ArmError> {
    let gate = Arc::clone(gate);
    let named = thread::Builder::new().name("sealift-held".to_owned());
    let body = move || {
        gate.enter();
        body(&gate);
    };
    named.spawn(body).map_err(ArmError::file("start a thread to hold"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_one_thread_can_not_be_started_none_stays() {
        let gate = Arc::new(Gate::default());
        let mut left = 2;
        let start = || {
            if left == 0 {
                return Err(ArmError::file("start a thread to hold")("no more"));
            }
            left -= 1;
            spawned(&gate, Gate::idle)
        };
        let error = all_or_none(5, &gate, start).unwrap_err().to_string();
        assert_eq!(error, "could not start a thread to hold: no more");
        assert_eq!(
            (left, Arc::strong_count(&gate)),
            (0, 1),
            "threads hold the gate until they end"
        );
    }
}
