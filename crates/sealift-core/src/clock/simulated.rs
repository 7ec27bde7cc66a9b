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
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// Writes down who rang and when.
    #[derive(Debug, Default)]
    struct Log(Mutex<Vec<(&'static str, u64)>>);

    impl Log {
        fn heard(&self) -> Vec<(&'static str, u64)> {
            self.0.lock().unwrap().clone()
        }
    }

    #[derive(Debug)]
    struct Named {
        name: &'static str,
        clock: Arc<SimulatedClock>,
        log: Arc<Log>,
    }

    impl Notify for Named {
        fn ring(&self) {
            self.log.0.lock().unwrap().push((self.name, self.clock.now_ns()));
        }
    }

    /// Registers itself again so many times, `step_ns` later each, and counts.
    #[derive(Clone, Debug)]
    struct Again {
        clock: Arc<SimulatedClock>,
        left: u64,
        step_ns: u64,
        rings: Arc<AtomicU64>,
    }

    impl Again {
        fn start(clock: &Arc<SimulatedClock>, left: u64, step_ns: u64) -> Arc<AtomicU64> {
            let (clock, rings) = (Arc::clone(clock), Arc::default());
            Self { clock, left, step_ns, rings: Arc::clone(&rings) }.register();
            rings
        }

        fn register(&self) {
            self.clock.at(self.clock.now_ns() + self.step_ns, Arc::new(self.clone()));
        }
    }

    impl Notify for Again {
        fn ring(&self) {
            self.rings.fetch_add(1, Ordering::Relaxed);
            if self.left > 1 {
                Self { left: self.left - 1, ..self.clone() }.register();
            }
        }
    }

    fn clock_with(events: &[(u64, &'static str)]) -> (Arc<SimulatedClock>, Arc<Log>) {
        let (clock, log) = <(Arc<SimulatedClock>, Arc<Log>)>::default();
        register(&clock, &log, events);
        (clock, log)
    }

    fn register(clock: &Arc<SimulatedClock>, log: &Arc<Log>, events: &[(u64, &'static str)]) {
        for &(at_ns, name) in events {
            let (clock, log) = (Arc::clone(clock), Arc::clone(log));
            Arc::clone(&clock).at(at_ns, Arc::new(Named { name, clock, log }));
        }
    }

    #[test]
    fn events_ring_at_their_instants_and_within_one_in_the_order_of_calls() {
        let (clock, log) = clock_with(&[(30, "d"), (10, "a"), (20, "b"), (20, "c")]);
        assert_eq!((clock.now_ns(), clock.next_ns()), (0, Some(10)));
        assert!(clock.step());
        assert_eq!(log.heard(), [("a", 10)]);
        assert!(clock.step() && clock.step());
        assert_eq!(log.heard(), [("a", 10), ("b", 20), ("c", 20), ("d", 30)]);
        assert!(!clock.step());
        assert_eq!((clock.now_ns(), clock.next_ns()), (30, None));
    }

    #[test]
    fn an_event_in_the_past_rings_at_the_next_step_and_time_does_not_go_back() {
        let (clock, log) = clock_with(&[]);
        clock.advance_to(100);
        register(&clock, &log, &[(40, "late"), (150, "next")]);
        assert_eq!(clock.next_ns(), Some(40));
        assert!(clock.step());
        assert_eq!(log.heard(), [("late", 100)]);
        clock.advance_to(50);
        assert_eq!(clock.now_ns(), 100);
    }

    #[test]
    fn passing_time_rings_what_lies_on_the_way_and_nothing_behind() {
        let (clock, log) = clock_with(&[(10, "on the way"), (25, "at the end"), (26, "behind")]);
        clock.advance_to(25);
        assert_eq!(log.heard(), [("on the way", 10), ("at the end", 25)]);
        assert_eq!((clock.now_ns(), clock.next_ns()), (25, Some(26)));
    }

    #[test]
    fn who_is_rung_may_register_further_events() {
        let clock = Arc::new(SimulatedClock::new());
        Again::start(&clock, 5, 10);
        clock.advance_to(1_000);
        assert_eq!((clock.now_ns(), clock.next_ns()), (1_000, None));
        let rings = Again::start(&clock, 3, 0);
        assert!(clock.step() && clock.step() && clock.step() && !clock.step());
        assert_eq!((clock.now_ns(), rings.load(Ordering::Relaxed)), (1_000, 3));
    }

    #[test]
    fn parking_asks_first_and_then_after_every_event() {
        let (clock, log) = clock_with(&[(10, "a"), (20, "b"), (30, "c")]);
        let mut nap = |left| {
            assert_eq!(left, Some(Duration::ZERO), "virtual time never sleeps");
            log.heard().len() == 2
        };
        assert!(clock.park(None, &mut nap));
        assert_eq!(clock.now_ns(), 20);
        assert!(clock.park(None, &mut nap), "it is woken before time passes");
        assert_eq!(clock.now_ns(), 20);
    }

    #[test]
    fn parking_ends_at_the_deadline_and_leaves_later_events_alone() {
        let (clock, log) = clock_with(&[(10, "a"), (20, "at the deadline"), (21, "later")]);
        assert!(!clock.park(Some(20), &mut |_| false));
        assert_eq!((clock.now_ns(), clock.next_ns()), (20, Some(21)));
        assert_eq!(log.heard(), [("a", 10), ("at the deadline", 20)]);
        assert!(!clock.park(Some(5), &mut |_| false), "a deadline in the past");
        assert_eq!(clock.now_ns(), 20);
    }

    #[test]
    fn parking_for_ever_without_events_ends_at_once() {
        let clock = SimulatedClock::new();
        assert!(!clock.park(None, &mut |_| false));
        assert_eq!(clock.now_ns(), 0);
    }

    #[test]
    fn threads_that_share_a_clock_lose_no_event_and_see_time_grow() {
        let clock = Arc::new(SimulatedClock::new());
        let rings: Vec<_> = (1..=4).map(|step_ns| Again::start(&clock, 1_000, step_ns)).collect();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let mut before_ns = 0;
                    while clock.step() {
                        let now_ns = clock.now_ns();
                        assert!(now_ns >= before_ns);
                        before_ns = now_ns;
                    }
                });
            }
        });
        while clock.step() {}
        assert!(rings.iter().all(|rings| rings.load(Ordering::Relaxed) == 1_000));
        assert!(clock.now_ns() >= 4_000, "{clock:?}");
    }
}
