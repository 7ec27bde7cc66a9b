//! Earliest-finish learns what devices cost and follows when that changes, in virtual time.
#![allow(clippy::cast_precision_loss, reason = "counts and nanoseconds are far under 2^52")]

use sealift_core::{Batch, Clock, Column, Cost, Key, NONCE_BYTES, OwnedOutput, Resource, Role};
use sealift_engine::simulate::{FaultPlan, Jitter, Model, Pool, pool};
use sealift_engine::{Because, DeviceId, Engine, Options, Record, Session};

/// 100 microseconds a batch of one message.
fn model(name: &str) -> Model {
    let cost = Cost::new(100_000.0, 10.0, 0.1).unwrap();
    let jitter = Jitter::Even { share: 0.05 };
    // Each on a core of its own, told by its name.
    let works_on = Resource::Cores(vec![name.bytes().map(usize::from).sum()]);
    Model { role: Role::Real, works_on, jitter, ..Model::new(name, cost) }
}

fn session(engine: &Engine) -> Session {
    engine.session(Key::new(&[7; 16]).unwrap()).unwrap()
}

fn seal(session: &Session, messages: usize) -> Batch<'static> {
    let nonce = Column::fixed(vec![0; messages * NONCE_BYTES], NONCE_BYTES);
    Batch::seal(messages, session.id(), nonce, Column::fixed(vec![0; messages], 1))
}

/// Works so many batches with so many in flight; batches a second of virtual time.
fn per_s(pool: &Pool, in_flight: usize, batches: usize) -> f64 {
    let Pool { engine, clock, .. } = pool;
    let session = session(engine);
    let start_ns = clock.now_ns();
    for sent in 0..batches + in_flight {
        while engine.in_flight().unwrap() >= in_flight.min(batches + in_flight - sent) {
            engine.wait(None, None).unwrap().unwrap().outcome.unwrap();
        }
        if sent < batches {
            engine.submit(seal(&session, 1), &Options::default()).unwrap();
        }
    }
    assert_eq!(engine.in_flight().unwrap(), 0);
    batches as f64 * 1e9 / (clock.now_ns() - start_ns) as f64
}

#[test]
fn two_equal_devices_do_the_work_of_two() {
    let alone = per_s(&pool([model("a")]).unwrap(), 8, 1_000);
    let both = per_s(&pool([model("a"), model("b")]).unwrap(), 8, 1_000);
    assert!(both >= 0.98 * 2.0 * alone, "{both} of {}", 2.0 * alone);
}

#[test]
fn a_device_that_gets_four_times_slower_gets_its_fifth_within_50_batches() {
    let alone = per_s(&pool([model("a")]).unwrap(), 8, 1_000);
    let slow_ns = 50_000_000;
    let faults = FaultPlan::none().slow_from(slow_ns, 4.0);
    let pool = pool([model("a"), Model { faults, ..model("b") }]).unwrap();
    while pool.clock.now_ns() < slow_ns {
        per_s(&pool, 8, 20);
    }
    per_s(&pool, 8, 50);
    let both = per_s(&pool, 8, 1_000);
    let sum = 1.25 * alone;
    assert!(both >= 0.95 * sum, "{both} of {sum}");
}

#[test]
fn priors_that_are_ten_times_wrong_are_unlearnt() {
    for quoted in [Cost::clamped(10_000.0, 1.0, 0.01), Cost::clamped(1e6, 100.0, 1.0)] {
        let wrong = Model { quoted: Some(quoted), ..model("b") };
        let pool = pool([model("a"), wrong]).unwrap();
        let alone = per_s(&pool_of_one(), 8, 500);
        per_s(&pool, 8, 2_000);
        let both = per_s(&pool, 8, 1_000);
        assert!(both >= 0.95 * 2.0 * alone, "{quoted:?}: {both} of {}", 2.0 * alone);
    }
}

fn pool_of_one() -> Pool {
    pool([model("a")]).unwrap()
}

#[test]
fn a_device_that_is_never_the_best_is_tried_now_and_then_and_comes_back_when_it_is() {
    let slow = Model { cost: Cost::clamped(400_000.0, 10.0, 0.1), ..model("b") };
    let lying =
        Model { quoted: Some(slow.cost), cost: Cost::clamped(20_000.0, 10.0, 0.1), ..model("c") };
    let pool = pool([model("a"), slow, lying]).unwrap();
    // One at a time, so that nothing but exploring would ever ask another device.
    per_s(&pool, 1, 3_000);
    let records = pool.engine.records().unwrap();
    let explored =
        records.iter().filter(|record| record.decision.because == Because::Explored).count();
    assert!(explored <= 30, "{explored} of {}", records.len());
    let last = records.last().unwrap().device;
    assert_eq!(last, pool.engine.device("c").unwrap());
}

#[test]
fn a_small_batch_is_worked_at_once_where_handing_it_over_would_take_longer() {
    let here = |name| Model { runs_on_calling_thread: true, ..model(name) };
    let quick = Model { cost: Cost::clamped(200.0, 100.0, 1.0), ..here("a") };
    let pool = pool([quick]).unwrap();
    let session = session(&pool.engine);
    for (messages, stays) in [(1, true), (20, true), (200, false)] {
        pool.engine.submit(seal(&session, messages), &Options::default()).unwrap();
        let done = pool.engine.wait(None, None).unwrap().unwrap();
        assert!(done.outcome.is_ok());
        let record = *pool.engine.records().unwrap().last().unwrap();
        assert_eq!((record.messages, record.decision.here), (messages, stays));
    }
}

#[test]
fn a_device_that_is_tried_again_gets_eight_small_batches_and_learns_from_seven() {
    let (pool, lying) = pool_that_lies();
    let session = session(&pool.engine);
    let small = seal(&session, 1);
    let mut cost = pool.engine.cost(lying).unwrap();
    let mut learnt = vec![];
    for run in 0..5_000 {
        let record = run_once(&pool.engine, &small);
        let now = pool.engine.cost(lying).unwrap();
        if record.decision.because == Because::Explored {
            learnt.push((run, now != cost));
        }
        cost = now;
        if learnt.len() == 8 {
            break;
        }
    }
    let first = learnt[0].0;
    let expected: Vec<_> = (0..8).map(|at| (first + at, at > 0)).collect();
    assert_eq!(learnt, expected);
    assert!((190.0..260.0).contains(&cost.of(1, 100)), "{cost:?}");
    assert!(first > 500, "trying costs a hundredth at most, and it was tried after {first}");
}

#[test]
fn a_trial_goes_on_between_batches_of_another_shape() {
    let (pool, lying) = pool_that_lies();
    let session = session(&pool.engine);
    let batches = [seal(&session, 1), seal(&session, 2)];
    for run in 0..20_000 {
        run_once(&pool.engine, &batches[run % 2]);
    }
    let counters = pool.engine.counters(lying).unwrap();
    assert!(counters.batches > 5_000, "{counters:?}, {:?}", pool.engine.cost(lying));
}

#[test]
fn short_messages_do_not_go_by_a_decision_on_long_ones() {
    let here = |name, setup_ns, byte_ns| Model {
        runs_on_calling_thread: true,
        cost: Cost::clamped(setup_ns, 0.0, byte_ns),
        jitter: Jitter::None,
        ..model(name)
    };
    let pool = pool([here("short", 100.0, 1.0), here("long", 1_000.0, 0.01)]).unwrap();
    let session = session(&pool.engine);
    let of = |bytes: usize| {
        let text = Column::fixed(vec![0; bytes], bytes);
        Batch::seal(1, session.id(), Column::fixed(vec![0; NONCE_BYTES], NONCE_BYTES), text)
    };
    let (short, long) = (of(16), of(4_096));
    for _ in 0..500 {
        let devices = [&short, &long].map(|batch| run_once(&pool.engine, batch).device.index());
        assert_eq!(devices, [0, 1]);
    }
}

#[test]
fn a_device_that_becomes_slow_loses_its_standing_at_once() {
    let here = |name, faults| Model {
        runs_on_calling_thread: true,
        cost: Cost::clamped(1_000.0, 10.0, 0.0),
        faults,
        ..model(name)
    };
    let slows = FaultPlan::none().slow_from(100_000, 1_000.0);
    let other = Model { cost: Cost::clamped(1_500.0, 10.0, 0.0), ..here("b", FaultPlan::none()) };
    let pool = pool([here("a", slows), other]).unwrap();
    let session = session(&pool.engine);
    let small = seal(&session, 1);
    (0..300).for_each(|_| _ = run_once(&pool.engine, &small));
    assert!(pool.clock.now_ns() < 20_000_000, "{} ns", pool.clock.now_ns());
}

/// A device that is known, and one that is quicker and says that it is slower.
fn pool_that_lies() -> (Pool, DeviceId) {
    let here = |name| Model { runs_on_calling_thread: true, ..model(name) };
    let known = Model { cost: Cost::clamped(900.0, 10.0, 0.0), ..here("known") };
    let lying = Model {
        quoted: Some(Cost::clamped(2_000.0, 10.0, 0.0)),
        cost: Cost::clamped(200.0, 10.0, 0.0),
        ..here("lying")
    };
    let pool = pool([known, lying]).unwrap();
    let lying = pool.engine.device("lying").unwrap();
    (pool, lying)
}

fn run_once(engine: &Engine, batch: &Batch<'_>) -> Record {
    let mut output = OwnedOutput::for_batch(batch).unwrap();
    engine.run(batch, output.as_output(), &Options::default()).unwrap();
    *engine.records().unwrap().last().unwrap()
}

#[test]
fn of_devices_on_the_same_cores_only_the_faster_one_is_given_work() {
    let shared = |name: &str, setup_ns| Model {
        works_on: Resource::Cores(vec![]),
        cost: Cost::new(setup_ns, 10.0, 0.1).unwrap(),
        slots: 4,
        ..model(name)
    };
    // In either order, and the faster one full.
    for (models, faster) in [
        ([shared("fast", 100_000.0), shared("slow", 300_000.0)], 0),
        ([shared("slow", 300_000.0), shared("fast", 100_000.0)], 1),
    ] {
        let pool = pool(models).unwrap();
        per_s(&pool, 4, 2_000);
        let given: Vec<_> = pool
            .engine
            .devices()
            .map(|(id, _)| pool.engine.counters(id).unwrap().batches)
            .collect();
        assert!(given[1 - faster] <= 40, "{given:?}");
        let session = session(&pool.engine);
        let fill = || pool.engine.submit(seal(&session, 1), &Options::default());
        assert!((0..4).all(|_| fill().is_ok()));
        let full = fill().unwrap_err().to_string();
        assert!(full.contains("fast has no free slot: 4 of 4"), "{full}");
    }
}
