//! A thousand devices: few are asked for a batch, and the answers are those of asking all.

use sealift_core::{Batch, Column, Cost, Key, OwnedOutput, Role};
use sealift_engine::simulate::{Draw, Load, Model, Pool, Shapes, pool_with};
use sealift_engine::{Because, Call, Options, Session, Settings, SubmitRefusal};

const DEVICES: usize = 1_000;

#[test]
fn a_batch_goes_to_the_first_device_with_room_by_order_and_to_the_last_by_size() {
    let pool = pool("failover", 1);
    let session = session(&pool);
    assert_eq!((0..3).map(|_| submit(&pool, &session)).collect::<Vec<_>>(), [0, 1, 2]);
    let records = |pool: &Pool| pool.engine.records().unwrap().into_iter();
    while pool.engine.wait(None, None).unwrap().is_some() {}
    let mut why: Vec<_> = records(&pool).map(|one| (one.device, one.decision.because)).collect();
    why.sort_unstable_by_key(|(device, _)| *device);
    let why: Vec<_> = why.into_iter().map(|(_, because)| because).collect();
    assert_eq!(why, [Because::First, Because::Next, Because::Next]);
    let pool = self::pool("size-split:bytes=8", 1);
    let session = self::session(&pool);
    assert_eq!((0..2).map(|_| submit(&pool, &session)).collect::<Vec<_>>(), [999, 998]);
    let mut output = OwnedOutput::for_batch(&batch(&session)).unwrap();
    pool.engine.run(&batch(&session), output.as_output(), &Options::default()).unwrap();
    assert_eq!(records(&pool).last().unwrap().device.index(), 999, "on the calling thread");
}

#[test]
fn the_better_half_is_found_wherever_it_stands() {
    let slow_ns = |at: usize| if at < DEVICES / 2 { 200_000.0 } else { 10_000.0 };
    let model = |at: usize| {
        let cost = Cost::new(slow_ns(at), 0.0, 0.0).unwrap();
        Model { role: Role::Real, slots: 4, ..Model::new(format!("device{at}"), cost) }
    };
    let pool = pool_with(Settings::default(), (0..DEVICES).map(model)).unwrap();
    let shapes = Shapes::seals(Draw::Exactly(1.0), Draw::Exactly(16.0));
    let load = Load::closed(200, Draw::Exactly(0.0), shapes, 10_000);
    let report = load.drive(&pool.engine, &pool.clock).unwrap();
    let slow: u64 = report.devices[..DEVICES / 2].iter().map(|device| device.batches).sum();
    assert!(slow < 100, "{slow} of 10,000 batches on devices that are 20 times slower");
}

#[test]
fn what_is_explained_is_done_next() {
    let pool = pool("earliest-finish", 4);
    let session = session(&pool);
    for _ in 0..50 {
        let shape = batch(&session).shape().unwrap();
        let said = pool.engine.explain(&shape, Call::Submit).unwrap().decision.device;
        assert_eq!(submit(&pool, &session), said.index());
    }
}

#[test]
fn each_device_has_its_turn() {
    let pool = pool("round-robin", 2);
    let session = session(&pool);
    let given: Vec<_> = (0..DEVICES + 2).map(|_| submit(&pool, &session)).collect();
    assert!(given[..DEVICES].iter().copied().eq(0..DEVICES));
    assert_eq!(given[DEVICES..], [0, 1]);
}

#[test]
fn a_session_stays_on_its_device() {
    let pool = pool("least-sessions", 4);
    let sessions: Vec<_> = (0..50).map(|_| session(&pool)).collect();
    let homes: Vec<_> = sessions.iter().map(|session| submit(&pool, session)).collect();
    let again: Vec<_> = sessions.iter().map(|session| submit(&pool, session)).collect();
    assert_eq!(homes, again);
    let mut apart = homes.clone();
    apart.sort_unstable();
    apart.dedup();
    assert_eq!(apart.len(), homes.len(), "no device has two of so few sessions");
}

#[test]
fn a_full_pool_says_so_and_takes_one_more_when_one_device_is_done() {
    for policy in ["earliest-finish", "failover", "least-sessions", "round-robin"] {
        let pool = pool(policy, 1);
        let session = session(&pool);
        let mut given: Vec<_> = (0..DEVICES).map(|_| submit(&pool, &session)).collect();
        given.sort_unstable();
        assert!(given.iter().copied().eq(0..DEVICES), "{policy}: each has one");
        let refused = pool.engine.submit(batch(&session), &Options::default()).unwrap_err();
        assert!(matches!(refused.reason, SubmitRefusal::Full { .. }), "{policy}: {refused}");
        pool.clock.step();
        let done = pool.engine.poll().unwrap().unwrap().outcome.unwrap().1.device;
        assert_eq!(submit(&pool, &session), done.index(), "{policy}: the only one with room");
    }
}

#[test]
fn few_are_asked_and_all_are_used_by_what_they_can_do() {
    let pool = pool("earliest-finish", 4);
    let shapes = Shapes::seals(Draw::Exactly(1.0), Draw::Exactly(16.0));
    let crowd = 3 * u32::try_from(DEVICES).unwrap();
    let load = Load::closed(crowd, Draw::Exactly(0.0), shapes, 20_000);
    let report = load.drive(&pool.engine, &pool.clock).unwrap();
    assert_eq!((report.batches, report.lost, report.wrong), (20_000, 0, 0));
    let least = report.devices.iter().map(|device| device.utilisation).fold(1.0, f64::min);
    // The slowest work a dozen batches, and the last one ends alone.
    assert!(least > 0.7, "{least}");
    for record in pool.engine.records().unwrap() {
        assert!(record.decision.asked <= 18, "{:?}", record.decision);
        assert_ne!(record.decision.because, Because::LastResort);
    }
}

/// Devices of one worker and so many slots; two in three are slower, and no two end together.
fn pool(policy: &str, slots: usize) -> Pool {
    let settings =
        Settings { in_flight_max: 4 * DEVICES, ..Settings::with_policy(policy).unwrap() };
    let model = |at: usize| {
        let cost = Cost::new(10_000.0 * (1.0 + (at % 3) as f64) + at as f64, 0.0, 0.0).unwrap();
        Model {
            role: Role::Real,
            slots,
            runs_on_calling_thread: true,
            ..Model::new(format!("device{at}"), cost)
        }
    };
    pool_with(settings, (0..DEVICES).map(model)).unwrap()
}

fn session(pool: &Pool) -> Session {
    pool.engine.session(Key::new(&[7; 16]).unwrap()).unwrap()
}

fn batch(session: &Session) -> Batch<'static> {
    Batch::seal(1, session.id(), Column::fixed(vec![0; 12], 12), Column::fixed(vec![0; 16], 16))
}

/// Submits a batch; which device has one more since.
fn submit(pool: &Pool, session: &Session) -> usize {
    let held = || pool.machines.iter().map(|machine| machine.held()).collect::<Vec<_>>();
    let before = held();
    pool.engine.submit(batch(session), &Options::default()).unwrap();
    held().iter().zip(&before).position(|(after, before)| after > before).unwrap()
}
