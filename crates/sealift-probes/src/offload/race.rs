//! What clients share: the batches that are left, and what the system did meanwhile.

use crate::ffi::{Counted, Whose, counted};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// One round of all clients after the other, of each of which the batches are shared out as they are worked:
/// so all end within one batch of each other.
#[derive(Debug)]
pub(super) struct Race {
    clients: usize,
    left: AtomicUsize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    running: usize,
    before: Counted,
    totals: Totals,
}

/// Of all rounds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Totals {
    pub(super) batches: u64,
    /// Of the whole process, in which nothing else works: clients and devices.
    pub(super) all: Counted,
    /// Of clients alone.
    pub(super) clients: Counted,
}

impl Race {
    pub(super) fn of(clients: usize) -> Self {
        Self { clients, left: AtomicUsize::new(0), state: Mutex::default() }
    }

    /// Every client says so before a round; all say the same.
    pub(super) fn ready(&self, times: usize) {
        self.left.store(times.saturating_mul(self.clients), Ordering::Release);
    }

    /// A client begins a round; gives what to end it with.
    pub(super) fn begin(&self) -> Counted {
        let mut state = self.lock();
        if state.running == 0 {
            state.before = counted(Whose::Process);
        }
        state.running += 1;
        drop(state);
        counted(Whose::Thread)
    }

    /// Whether there is one more batch, which the client then has to work.
    pub(super) fn take(&self) -> bool {
        let less = |left: usize| left.checked_sub(1);
        self.left.fetch_update(Ordering::AcqRel, Ordering::Acquire, less).is_ok()
    }

    pub(super) fn end(&self, began: Counted, batches: u64) {
        let own = counted(Whose::Thread);
        let mut state = self.lock();
        state.running -= 1;
        state.totals.batches += batches;
        add(&mut state.totals.clients, began, own);
        if state.running == 0 {
            let before = state.before;
            add(&mut state.totals.all, before, counted(Whose::Process));
        }
    }

    pub(super) fn totals(&self) -> Totals {
        self.lock().totals
    }

    pub(super) fn forget(&self) {
        self.lock().totals = Totals::default();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn add(sum: &mut Counted, before: Counted, after: Counted) {
    sum.user_ns += after.user_ns.saturating_sub(before.user_ns);
    sum.kernel_ns += after.kernel_ns.saturating_sub(before.kernel_ns);
    sum.sleeps += after.sleeps.saturating_sub(before.sleeps);
    sum.preempted += after.preempted.saturating_sub(before.preempted);
}
