//! What a device in trouble may not do to others, to its sessions, and to those who wait.

use crate::toy::{MASK, by, engine, engine_on, seal, session};
use rustix::event::{PollFd, PollFlags, Timespec};
use sealift_core::{
    Batch, Clock, Column, Cost, Output, Place, Role, Stability, Status, SystemClock, Text, Ticket,
};
use sealift_engine::simulate::{FaultPlan, Model, Pool, pool, pool_with};
use sealift_engine::{
    Asked, Audit, Because, Choice, DeviceId, End, Engine, Options, Patience, Policy, Session,
    Settings, State, SubmitRefusal,
};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

const TEXTS: [&[u8]; 3] = [b"one", b"two", b"three"];
const SHORT: Duration = Duration::from_millis(100);
const MINUTE: Duration = Duration::from_secs(60);

fn impatient(name: &str) -> Settings {
    Settings { patience: Patience { times: 0.0, extra: SHORT }, ..by(name) }
}

fn submit(engine: &Engine, session: &Session) -> Ticket {
    engine.submit(seal(session, &TEXTS), &Options::default()).unwrap()
}

fn state(engine: &Engine, device: &str) -> State {
    engine.state(engine.device(device).unwrap()).unwrap()
}

/// Runs a batch on the calling thread; what is left in the buffers.
fn run(engine: &Engine, batch: &Batch<'_>) -> (bool, Vec<u8>, Vec<u8>) {
    let (mut out, mut tags) = (vec![0; 5 * batch.len], vec![0; 16 * batch.len]);
    let mut status = vec![Status::Ok; batch.len];
    let (text, tag) = (Place::fixed(&mut out, 5), Place::fixed(&mut tags, 16));
    let output = Output { text, tags: tag, status: &mut status };
    let ran = engine.run(batch, output, &Options::default());
    (ran.is_ok(), out, tags)
}

/// A device of virtual time that takes so long for a batch.
fn model(name: &str, batch_ns: f64) -> Model {
    Model { role: Role::Real, ..Model::new(name, Cost::clamped(batch_ns, 10.0, 0.1)) }
}

fn work_one(pool: &Pool, session: &Session, messages: usize) -> DeviceId {
    let nonce = Column::fixed(vec![0; 12 * messages], 12);
    let text = Column::fixed(vec![0; messages], 1);
    let batch = Batch::seal(messages, session.id(), nonce, text);
    pool.engine.submit(batch, &Options::default()).unwrap();
    pool.engine.wait(None, None).unwrap().unwrap().outcome.unwrap().1.device
}

fn batches(pool: &Pool, device: &str) -> u64 {
    pool.engine.counters(pool.engine.device(device).unwrap()).unwrap().batches
}

#[test]
fn whoever_comes_seldom_gets_the_quick_device_all_the_same() {
    let pool = pool([model("quick", 1e5), model("slow", 1e7)]).unwrap();
    let session = session(&pool.engine);
    for _ in 0..200 {
        pool.clock.advance_to(pool.clock.now_ns() + 1_100_000_000);
        work_one(&pool, &session, 1);
    }
    assert!(batches(&pool, "slow") <= 1, "{}", batches(&pool, "slow"));
}

#[test]
fn every_policy_that_goes_by_costs_tries_a_device_again_that_was_written_off_wrongly() {
    for name in ["earliest-finish", "split", "size-split"] {
        let lying = Model { quoted: Some(Cost::clamped(2e6, 10.0, 0.1)), ..model("b", 5e4) };
        let pool = pool_with(by(name), [model("a", 1e5), lying]).unwrap();
        let session = session(&pool.engine);
        let last = (0..25_000).map(|_| work_one(&pool, &session, 1)).last().unwrap();
        let costs = pool.engine.cost(pool.engine.device("b").unwrap()).unwrap();
        assert!(costs.of(1, 1) < 1e5, "{name}: {costs:?}");
        assert_eq!(last, pool.engine.device("b").unwrap(), "{name}");
    }
}

#[test]
fn a_device_alone_that_is_far_slower_than_it_says_is_waited_for() {
    let slow = Model { quoted: Some(Cost::clamped(1e6, 10.0, 0.1)), ..model("a", 2e9) };
    let pool = pool([slow]).unwrap();
    let session = session(&pool.engine);
    for _ in 0..3 {
        work_one(&pool, &session, 1);
    }
    assert_eq!(batches(&pool, "a"), 3);
}

#[test]
fn late_results_teach_what_a_device_costs_now() {
    let faults = FaultPlan::none().slow_from(50_000_000, 20_000.0);
    let pool = pool([model("a", 4e5), Model { faults, ..model("b", 1e5) }]).unwrap();
    let session = session(&pool.engine);
    while pool.clock.now_ns() < 60_000_000_000 {
        work_one(&pool, &session, 1);
    }
    let slow = pool.engine.device("b").unwrap();
    let counters = pool.engine.counters(slow).unwrap();
    assert!(counters.abandoned <= 10, "{counters:?}");
    assert!(pool.engine.cost(slow).unwrap().of(1, 1) > 1e8);
}

#[test]
fn a_device_that_hangs_with_all_its_slots_costs_others_no_tries() {
    let (engine, toys) = engine(impatient("failover"), &[1, 4]);
    let session = session(&engine);
    let first = submit(&engine, &session);
    assert!(engine.wait(Some(first), Some(SHORT + SHORT / 2)).unwrap().is_none());
    assert!(toys[1].finish_one());
    assert!(engine.wait(Some(first), None).unwrap().unwrap().outcome.is_ok());
    let second = submit(&engine, &session);
    for _ in 0..2 {
        assert!(toys[1].fail_one());
        assert!(engine.poll().unwrap().is_none(), "it has a third try");
    }
    assert!(toys[1].finish_one());
    assert!(engine.wait(Some(second), None).unwrap().unwrap().outcome.is_ok());
}

#[test]
fn when_every_slot_hangs_submit_says_that_nobody_answers() {
    let (engine, _) = engine(impatient("failover"), &[1, 1]);
    let session = session(&engine);
    let ticket = submit(&engine, &session);
    let ended = engine.wait(Some(ticket), Some(Duration::from_secs(20))).unwrap().unwrap();
    assert!(ended.outcome.unwrap_err().to_string().contains("no answer"));
    let refused = engine.submit(seal(&session, &TEXTS), &Options::default()).unwrap_err().reason;
    assert!(!matches!(refused, SubmitRefusal::Full { .. }), "{refused}");
    assert!(refused.to_string().contains("does not answer"), "{refused}");
}

#[test]
fn work_on_the_calling_thread_says_nothing_about_a_queue_that_hangs() {
    let (engine, toys) = engine(impatient("failover"), &[4, 4]);
    let session = session(&engine);
    let ticket = submit(&engine, &session);
    assert!(engine.wait(Some(ticket), Some(SHORT + SHORT / 2)).unwrap().is_none());
    let named = Options { on: engine.device("toy0").ok(), ..Options::default() };
    let (mut out, mut tags, mut status) = (vec![0; 15], vec![0; 48], vec![Status::Ok; 3]);
    let (text, tag) = (Place::fixed(&mut out, 5), Place::fixed(&mut tags, 16));
    let output = Output { text, tags: tag, status: &mut status };
    engine.run(&seal(&session, &TEXTS), output, &named).unwrap();
    // It is tried with one batch, and with no second one before that came back.
    submit(&engine, &session);
    submit(&engine, &session);
    assert!(toys[0].held() <= 2, "{} of which one hangs", toys[0].held());
}

#[test]
fn a_first_device_that_breaks_down_after_many_batches_is_left_at_once() {
    let (engine, toys) = engine(by("failover"), &[4, 4]);
    let session = session(&engine);
    let run = || {
        let (mut out, mut tags, mut status) = (vec![0; 15], vec![0; 48], vec![Status::Ok; 3]);
        let (text, tags) = (Place::fixed(&mut out, 5), Place::fixed(&mut tags, 16));
        let output = Output { text, tags, status: &mut status };
        engine.run(&seal(&session, &TEXTS), output, &Options::default()).unwrap().device.index()
    };
    assert!((0..100).all(|_| run() == 0));
    toys[0].break_down();
    // Which is found out when it is given a job.
    submit(&engine, &session);
    assert!(toys[1].finish_one());
    assert!((0..100).all(|_| run() == 1));
}

#[test]
fn what_a_device_has_in_flight_when_it_is_found_out_counts_for_nothing() {
    let audit = Some(Audit { share: 0.5, seed: 1 });
    let (engine, toys) = engine(Settings { audit, ..by("failover") }, &[4, 4]);
    let session = session(&engine);
    let one = || engine.submit(seal(&session, &TEXTS[..1]), &Options::default()).unwrap();
    // Of these one is drawn, and the others have not been handed out by then.
    let tickets = [one(), one(), one()];
    (0..3).for_each(|_| assert!(toys[0].lie_one()));
    assert!(engine.poll().unwrap().is_none());
    assert_eq!(state(&engine, "toy0"), State::Quarantined);
    (0..3).for_each(|_| assert!(toys[1].finish_one()));
    for ticket in tickets {
        let (output, report) = engine.wait(Some(ticket), None).unwrap().unwrap().outcome.unwrap();
        assert_eq!((report.device.index(), output.text_of(0)[0]), (1, b'o' ^ MASK));
    }
}

#[test]
fn a_split_batch_that_nobody_takes_is_over_and_the_descriptor_says_so() {
    let (engine, toys) = engine(by("split"), &[4, 4]);
    let session = session(&engine);
    for name in ["toy0", "toy1"] {
        let device = engine.device(name).unwrap();
        engine.set_cost(device, Cost::clamped(0.0, 1e6, 0.0)).unwrap();
    }
    let descriptor = engine.event_fd().unwrap();
    while engine.poll().unwrap().is_some() {}
    toys.iter().for_each(|toy| toy.break_down());
    let texts: Vec<_> = (0..100).map(|at| TEXTS[at % 3]).collect();
    engine.submit(seal(&session, &texts), &Options::default()).unwrap();
    let mut found = [PollFd::new(&descriptor, PollFlags::IN)];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    assert_eq!(rustix::event::poll(&mut found, Some(&now)).unwrap(), 1);
    assert!(engine.poll().unwrap().unwrap().outcome.is_err());
}

#[test]
fn a_failed_run_leaves_neither_texts_nor_tags() {
    let (engine, _) = engine(by("failover"), &[1]);
    let (ran, out, tags) = run(&engine, &seal(&session(&engine), &[b"one", b"break"]));
    assert!(!ran);
    assert_eq!((out, tags), (vec![0; 10], vec![0; 32]));
}

#[test]
fn a_small_batch_that_failed_is_wiped_before_another_one_gets_its_memory() {
    let (engine, toys) = engine(by("earliest-finish"), &[2]);
    let session = session(&engine);
    let on = engine.device("toy0").unwrap();
    // Small by its cost, so that it is worked at once; long enough that its memory is used again.
    engine.set_cost(on, Cost::clamped(1_000.0, 0.0, 0.0)).unwrap();
    let mut texts = vec![&[0; 1_000][..]; 99];
    texts.push(b"break");
    for on in [None, Some(on)] {
        engine.submit(seal(&session, &texts), &Options { on, ..Options::default() }).unwrap();
    }
    assert_eq!(toys[0].queued_output(), [0; 99_005]);
}

#[test]
fn a_device_that_panics_has_failed() {
    let (engine, _) = engine(by("failover"), &[1, 1]);
    let session = session(&engine);
    let (ran, out, _) = run(&engine, &seal(&session, &[b"one", b"panic"]));
    assert!(!ran && out == [0; 10]);
    let ends: Vec<_> = engine.records().unwrap().iter().map(|record| record.end).collect();
    assert_eq!(ends, [End::Failed; 6]);
    assert!(run(&engine, &seal(&session, &TEXTS)).0);
}

#[test]
fn failures_with_results_between_them_take_no_device_down() {
    let (engine, _) = engine(by("failover"), &[1]);
    let session = session(&engine);
    let (works, breaks) = (seal(&session, &TEXTS), seal(&session, &[b"one", b"break"]));
    for _ in 0..10 {
        assert!(!run(&engine, &breaks).0);
        assert!((0..200).all(|_| run(&engine, &works).0));
        assert_eq!(state(&engine, "toy0"), State::Up);
    }
}

#[test]
fn results_before_failures_take_none_of_them_back() {
    for good in [1, 7, 8, 9, 20, 200] {
        let (engine, _) = engine(by("failover"), &[1, 1]);
        let (session, device) = (session(&engine), engine.device("toy0").unwrap());
        // So short that one decision stands for many.
        engine.set_cost(device, Cost::clamped(1_000.0, 0.0, 0.0)).unwrap();
        let (works, breaks) =
            (seal(&session, &[b"one", b"works"]), seal(&session, &[b"one", b"break"]));
        assert!((0..good).all(|_| run(&engine, &works).0));
        let mut runs = 0;
        while state(&engine, "toy0") == State::Up {
            assert!(!run(&engine, &breaks).0);
            runs += 1;
        }
        assert_eq!(runs, 3, "after {good} good batches");
    }
}

#[test]
fn seals_of_texts_that_may_change_are_not_run_twice() {
    let (engine, _) = engine(by("failover"), &[1, 1]);
    let session = session(&engine);
    let batch = seal(&session, &[b"one", b"break"]);
    assert!(!run(&engine, &Batch { stability: Stability::Shared, ..batch }).0);
    assert_eq!(engine.records().unwrap().len(), 1);
}

#[test]
fn seals_in_place_are_not_run_twice() {
    let (engine, _) = engine(by("failover"), &[1, 1]);
    let session = session(&engine);
    let batch = Batch { text: Text::InPlace, ..seal(&session, &[b"first", b"break"]) };
    let (mut place, mut tags, mut status) = (*b"firstbreak", [0; 32], [Status::Ok; 2]);
    let (text, tag) = (Place::fixed(&mut place, 5), Place::fixed(&mut tags, 16));
    let output = Output { text, tags: tag, status: &mut status };
    engine.run(&batch, output, &Options::default()).unwrap_err();
    // Sealed again, it would be the plaintext.
    assert_eq!(place, b"firstbreak".map(|byte| byte ^ MASK));
}

#[derive(Clone, Debug)]
struct LosesOne;

impl Policy for LosesOne {
    fn name(&self) -> &'static str {
        "loses-one"
    }

    fn choose(&mut self, asked: &Asked<'_>) -> Choice {
        Choice { device: asked.candidates[0].device, because: Because::Turn }
    }

    fn splits(&self) -> bool {
        true
    }

    fn split(&mut self, asked: &Asked<'_>) -> Option<Vec<(DeviceId, usize)>> {
        let half = asked.shape.messages / 2;
        Some(asked.candidates.iter().map(|one| (one.device, half)).collect())
    }
}

#[test]
fn a_cut_that_does_not_add_up_is_not_made() {
    let settings = Settings { policy: Box::new(LosesOne), ..Settings::default() };
    let (engine, toys) = engine(settings, &[4, 4]);
    engine.submit(seal(&session(&engine), &TEXTS), &Options::default()).unwrap();
    assert_eq!((toys[0].queued_messages(), toys[1].queued_messages()), (3, 0));
}

#[test]
fn a_batch_that_can_go_nowhere_keeps_none_behind_it_from_a_free_device() {
    let (engine, toys) = engine(by("round-robin"), &[1, 1, 1]);
    let session = session(&engine);
    let (_held, first, second) =
        (submit(&engine, &session), submit(&engine, &session), submit(&engine, &session));
    // The first failed on toy1 and waits for toy0 or toy2, the second one on toy2.
    assert!(toys[1].fail_one());
    assert!(engine.poll().unwrap().is_none());
    let third = submit(&engine, &session);
    assert!(toys[2].fail_one());
    assert!(engine.poll().unwrap().is_none());
    assert_eq!(toys.iter().map(|toy| toy.held()).collect::<Vec<_>>(), [1, 1, 1]);
    assert!(toys[1].finish_one());
    assert_eq!(engine.wait(Some(third), None).unwrap().unwrap().ticket, third);
    assert_eq!(toys[1].held(), 1, "the second one");
    assert!(toys[1].finish_one() && toys[2].finish_one());
    for ticket in [first, second] {
        assert!(engine.wait(Some(ticket), None).unwrap().unwrap().outcome.is_ok());
    }
}

#[test]
fn who_waits_already_notices_a_device_that_hangs_with_a_later_batch() {
    let patience = Patience { times: 1.0, extra: SHORT };
    // By the machine's clock: in virtual time who waits is through before the second batch comes.
    let settings = Settings { patience, ..by("failover") };
    let (engine, _toys) = engine_on(Arc::new(SystemClock::new()), settings, &[1, 1]);
    for (name, batch_ns) in [("toy0", 300e9), ("toy1", 10.0)] {
        let device = engine.device(name).unwrap();
        engine.set_cost(device, Cost::clamped(batch_ns, 0.0, 0.0)).unwrap();
    }
    let session = session(&engine);
    submit(&engine, &session);
    let waiting = engine.clone();
    thread::spawn(move || waiting.wait(None, Some(2 * MINUTE)));
    thread::sleep(SHORT / 2);
    submit(&engine, &session);
    let second = engine.device("toy1").unwrap();
    let begin = Instant::now();
    while engine.counters(second).unwrap().abandoned == 0 {
        assert!(begin.elapsed() < MINUTE, "nobody noticed");
        thread::sleep(SHORT / 4);
    }
}

#[test]
fn a_batch_that_every_device_fails_takes_none_of_them_down_but_the_first() {
    let (engine, toys) = engine(by("failover"), &[4, 4, 4]);
    let session = session(&engine);
    engine.submit(seal(&session, &[b"break"]), &Options::default()).unwrap();
    while engine.poll().unwrap().is_none() {
        for toy in &toys {
            toy.finish_one();
        }
    }
    assert_eq!((state(&engine, "toy1"), state(&engine, "toy2")), (State::Up, State::Up));
}

#[test]
fn a_session_stays_bound_to_a_device_that_failed_it_once() {
    let (engine, toys) = engine(by("least-sessions"), &[4, 4, 4]);
    let session = session(&engine);
    submit(&engine, &session);
    assert!(toys[0].fail_one());
    assert!(engine.poll().unwrap().is_none());
    assert!(toys.iter().any(|toy| toy.finish_one()));
    assert!(engine.poll().unwrap().is_some());
    submit(&engine, &session);
    assert_eq!(toys[0].held(), 1);
}
