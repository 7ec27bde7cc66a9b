use super::{Clock, Notify};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Virtual time: it stands still while anything runs, and jumps from event to event.
///
/// Events are whatever somebody registered with [`at`](Self::at): a simulated device's finish, a
/// client's next arrival. Nothing sleeps, so an hour passes in as long as its events take to work, and
/// with one thread a run is the same every time. Threads may share the clock, but which of two that
/// park jumps first is the system's choice.
///
/// ```
/// use sealift_core::{Clock, Notify, SimulatedClock};
/// use std::sync::Arc;
/// # #[derive(Debug)] struct Bell;
/// # impl Notify for Bell { fn ring(&self) {} }
/// let clock = SimulatedClock::new();
/// clock.at(1_000, Arc::new(Bell));
/// assert!(clock.step());
/// assert_eq!(clock.now_ns(), 1_000);
/// assert!(!clock.step(), "nothing else will happen");
/// ```
#[derive(Default)]
pub struct SimulatedClock {
    state: Mutex<State>,
}

impl SimulatedClock {
    /// A clock that stands at zero, without events.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Rings `notify` when `at_ns` is reached; at the next step when that is past already.
    ///
    /// Events of one instant ring in the order of these calls. `notify` may register further ones.
    pub fn at(&self, at_ns: u64, notify: Arc<dyn Notify>) {
        let mut state = self.lock();
        state.registered += 1;
        let order = state.registered;
        state.events.insert((at_ns, order), notify);
    }

    /// When the next event is; before [`now_ns`](Clock::now_ns) for one that is overdue.
    #[must_use]
    pub fn next_ns(&self) -> Option<u64> {
        self.lock().next_ns()
    }

    /// Jumps to the next event and rings all of that instant; false when there is none.
    pub fn step(&self) -> bool {
        self.step_to(u64::MAX)
    }

    /// Passes time up to `at_ns`, ringing each event on the way at its own instant. Does not go back.
    pub fn advance_to(&self, at_ns: u64) {
        while self.step_to(at_ns) {}
        let mut state = self.lock();
        state.now_ns = state.now_ns.max(at_ns);
    }

    /// Jumps to the next event if it is overdue or not after `last_ns`.
    fn step_to(&self, last_ns: u64) -> bool {
        let due = self.lock().jump(last_ns);
        // Without the lock, so that who is rung may look at the clock.
        due.iter().for_each(|notify| notify.ring());
        !due.is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for SimulatedClock {
    fn now_ns(&self) -> u64 {
        self.lock().now_ns
    }

    /// Jumps to one event after the other until `sleep`, which is never given any time, says that it
    /// was woken; to the deadline where no event is left before it.
    ///
    /// With neither deadline nor event it returns false at once: nothing will ever come, unless
    /// another thread brings it.
    fn park(
        &self,
        deadline_ns: Option<u64>,
        sleep: &mut dyn FnMut(Option<Duration>) -> bool,
    ) -> bool {
        while !sleep(Some(Duration::ZERO)) {
            if !self.step_to(deadline_ns.unwrap_or(u64::MAX)) {
                let Some(deadline_ns) = deadline_ns else { return false };
                self.advance_to(deadline_ns);
                return sleep(Some(Duration::ZERO));
            }
        }
        true
    }

    fn ring_at(&self, at_ns: u64, notify: &Arc<dyn Notify>) -> bool {
        self.at(at_ns, Arc::clone(notify));
        true
    }
}

impl fmt::Debug for SimulatedClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.lock();
        let (now_ns, events) = (state.now_ns, state.events.len());
        write!(f, "SimulatedClock({now_ns} ns, {events} events)")
    }
}

#[derive(Default)]
struct State {
    now_ns: u64,
    registered: u64,
    /// By instant, and within one by the order of registration.
    events: BTreeMap<(u64, u64), Arc<dyn Notify>>,
}

impl State {
    fn next_ns(&self) -> Option<u64> {
        self.events.first_key_value().map(|(&(at_ns, _), _)| at_ns)
    }

    /// Moves on to the next event, unless that is in the future and after `last_ns`, and takes out
    /// everything that is due then.
    fn jump(&mut self, last_ns: u64) -> Vec<Arc<dyn Notify>> {
        let Some(next_ns) = self.next_ns().filter(|&next| next <= last_ns.max(self.now_ns)) else {
            return vec![];
        };
        self.now_ns = self.now_ns.max(next_ns);
        let mut due = vec![];
        while let Some(event) = self.events.first_entry().filter(|e| e.key().0 <= self.now_ns) {
            due.push(event.remove());
        }
        due
    }
}

#[cfg(test)]
mod tests;
