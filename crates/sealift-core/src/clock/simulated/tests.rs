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
    register(&clock, &log, &[(60, "later than the deadline")]);
    assert!(!clock.park(Some(50), &mut |_| false));
    assert_eq!(log.heard()[1..], [("later than the deadline", 100)]);
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
