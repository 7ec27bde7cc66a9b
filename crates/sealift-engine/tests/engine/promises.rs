//! The engine's promises, on a device that finishes when the test says so.

use crate::toy::{self, Toy};
use rustix::event::{PollFd, PollFlags, Timespec};
use sealift_core::{
    Batch, BatchError, Buffer, Clock, Column, Context, Cost, Device, DeviceError, Key, Keys,
    NONCE_BYTES, NonceRule, Op, Ops, Output, Place, Role, Status, SystemClock, TagLength, Tags,
};
use sealift_engine::{
    Because, Engine, EngineError, NonceCheck, Options, Patience, Session, Settings, SubmitError,
    SubmitRefusal,
};
use std::collections::HashSet;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

type Opener = fn(&Context) -> Result<Arc<dyn Device>, EngineError>;

const THREADS: usize = 8;
/// Enough that each thread meets others.
const NONCES: usize = 10_000;
const NOT_LONG: Option<Duration> = Some(Duration::from_millis(5));

fn engine(slots: usize) -> (Engine, Arc<Toy>) {
    let mut toy = None;
    // A machine that pauses makes nobody overdue.
    let patience = Patience { extra: Duration::from_secs(3_600), ..Patience::default() };
    let engine = Engine::with_settings::<EngineError>(
        clock(),
        Settings { patience, ..Settings::default() },
        [|context: &Context| {
            Ok(Arc::clone(toy.insert(Toy::new("toy", Role::Real, slots, context))) as _)
        }],
    );
    (engine.unwrap(), toy.unwrap())
}

fn clock() -> Arc<dyn Clock> {
    Arc::new(SystemClock::new())
}

fn session(engine: &Engine) -> Session {
    engine.session(Key::new(&[0x55; 16]).unwrap()).unwrap()
}

fn seal(session: &Session, texts: &[&'static [u8]]) -> Batch<'static> {
    let nonces: Vec<u8> = (0..texts.len() * 12).map(|n| u8::try_from(n / 12).unwrap()).collect();
    let texts = texts.iter().map(|text| Buffer::Shared((*text).into())).collect();
    Batch::seal(
        nonces.len() / 12,
        session.id(),
        Column::fixed(nonces, 12),
        Column::Scattered(texts),
    )
}

fn is_readable(engine: &Engine) -> bool {
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    let descriptor = engine.event_fd().unwrap();
    let mut poll = [PollFd::new(&descriptor, PollFlags::IN)];
    rustix::event::poll(&mut poll, Some(&now)).unwrap() == 1
}

fn run(engine: &Engine, batch: &Batch<'_>, options: &Options) -> Result<usize, EngineError> {
    let (mut out, mut tags) = (vec![0; 100 * batch.len], vec![0; 16 * batch.len]);
    let mut status = vec![Status::Ok; batch.len];
    let (text, tags) = (Place::fixed(&mut out, 100), Place::fixed(&mut tags, 16));
    let output = Output { text, tags, status: &mut status };
    engine.run(batch, output, options).map(|report| report.auth_failed)
}

#[test]
fn a_batch_runs_on_the_calling_thread_and_leaves_a_record() {
    let (engine, _) = engine(4);
    let session = session(&engine);
    let options = Options::default();
    assert_eq!(run(&engine, &seal(&session, &[b"one", b"three"]), &options), Ok(0));
    let tags = Column::fixed([0x55; 32].to_vec(), 16);
    let open =
        Batch { ops: Ops::All(Op::Open), tags: Tags::Apart(tags), ..seal(&session, &[b"a", b"b"]) };
    assert_eq!(run(&engine, &open, &options), Ok(0));
    let wrong = Batch { tags: Tags::Apart(Column::Same(vec![1; 16].into())), ..open };
    assert_eq!(run(&engine, &wrong, &options), Ok(2));

    let records = engine.records().unwrap();
    assert_eq!(records.iter().map(|record| record.text_bytes).collect::<Vec<_>>(), [8, 2, 2]);
    assert!(records.iter().all(|record| record.timing.start_ns >= record.arrived_ns));
    let counters = engine.counters(engine.device("toy").unwrap()).unwrap();
    assert_eq!((counters.batches, counters.messages, counters.auth_failed), (3, 6, 2));
}

#[test]
fn submitted_batches_come_back_with_their_results_in_any_order() {
    let (engine, toy) = engine(4);
    let session = session(&engine);
    let first = engine.submit(seal(&session, &[b"first"]), &Options::default()).unwrap();
    let second = engine.submit(seal(&session, &[b"second"]), &Options::default()).unwrap();
    assert!(engine.poll().unwrap().is_none());
    assert!(engine.wait(Some(first), NOT_LONG).unwrap().is_none(), "it is not finished");

    assert!(toy.finish_one() && toy.finish_one());
    let taken = engine.wait(Some(second), None).unwrap().unwrap();
    let (output, report) = taken.outcome.unwrap();
    assert_eq!(output.text_of(0), b"second".map(|byte| byte ^ 0x55));
    assert_eq!((output.tag_of(0), output.status()), (&[0x55; 16][..], &[Status::Ok][..]));
    assert_eq!(report.device, engine.device("toy").unwrap());
    assert_eq!(engine.poll().unwrap().unwrap().ticket, first);
    assert_eq!(engine.wait(None, None).unwrap().map(|taken| taken.ticket), None, "nothing is left");
    let error = engine.wait(Some(first), None).unwrap_err();
    assert_eq!(error, EngineError::UnknownTicket(first));
}

#[test]
fn a_full_device_hands_the_batch_back_and_counts_nothing() {
    let (engine, toy) = engine(2);
    let session = session(&engine);
    let submit = || engine.submit(seal(&session, &[b"text"]), &Options::default());
    let tickets = [submit().unwrap(), submit().unwrap()];
    let SubmitError { batch, reason } = submit().unwrap_err();
    assert_eq!((batch.len, batch.text_of(0)), (1, &b"text"[..]));
    assert_eq!(reason, SubmitRefusal::Full { device: "toy".into(), in_flight: 2, slots: 2 });
    assert_eq!(session.sealed(), Ok(2));

    toy.finish_one();
    let again = engine.submit(*batch, &Options::default()).unwrap();
    toy.finish_one();
    toy.finish_one();
    for ticket in [again, tickets[0], tickets[1]] {
        assert!(engine.wait(Some(ticket), None).unwrap().is_some());
    }
}

#[test]
fn a_batch_that_a_broken_device_hands_back_counts_nothing() {
    let (engine, toy) = engine(2);
    let session = session(&engine);
    toy.break_down();
    engine.submit(seal(&session, &[b"text"]), &Options::default()).unwrap_err();
    assert_eq!(session.sealed(), Ok(0));
}

#[test]
fn an_engine_holds_as_many_batches_as_it_may_though_its_devices_have_room() {
    let settings = Settings { in_flight_max: 2, ..Settings::default() };
    let (engine, _) = toy::engine(settings, &[4]);
    let session = session(&engine);
    let submit = || engine.submit(seal(&session, &[b"text"]), &Options::default());
    assert!(submit().is_ok() && submit().is_ok());
    let full = SubmitRefusal::Full { device: "the engine".into(), in_flight: 2, slots: 2 };
    assert_eq!(submit().unwrap_err().reason, full);
}

#[test]
fn a_session_dropped_with_work_in_flight_is_wiped_when_the_work_is_done() {
    let (engine, toy) = engine(4);
    let session = session(&engine);
    let id = session.id();
    let ticket = engine.submit(seal(&session, &[b"text"]), &Options::default()).unwrap();
    drop(session);
    assert!(toy.retired().is_empty(), "the key is still needed");
    toy.finish_one();
    let taken = engine.wait(Some(ticket), None).unwrap().unwrap();
    assert!(taken.outcome.is_ok());
    assert_eq!(toy.retired(), [id]);
}

#[test]
fn a_session_dropped_while_another_thread_runs_is_wiped_when_the_run_ends() {
    let (engine, toy) = engine(4);
    let (one, other) = (session(&engine), session(&engine));
    let (dropped, text) = (other.id(), vec![0; 1_000].leak());
    let batch = seal(&one, &vec![&*text; 100]);
    thread::scope(|scope| {
        scope.spawn(|| drop(other));
        while !toy.retired().contains(&dropped) {
            let _ = run(&engine, &batch, &Options::default());
        }
    });
}

#[test]
fn a_device_that_fails_a_run_leaves_zeros_and_no_status() {
    let (engine, _) = engine(4);
    let session = session(&engine);
    let batch = seal(&session, &[b"first", b"break", b"last"]);
    let (mut out, mut tags, mut status) = ([1; 15], [0; 48], [Status::Ok; 3]);
    let (text, tags) = (Place::fixed(&mut out, 5), Place::fixed(&mut tags, 16));
    let output = Output { text, tags, status: &mut status };
    let error = engine.run(&batch, output, &Options::default()).unwrap_err();
    assert!(matches!(error, EngineError::Device(DeviceError::Failed { .. })));
    assert_eq!((out, status), ([0; 15], [Status::NotProcessed; 3]));
}

#[test]
fn what_is_wrong_is_said_before_anything_is_sealed() {
    let (engine, toy) = engine(4);
    let (own, other) = (session(&engine), session(&self::engine(1).0));
    let options = Options::default();
    let error = run(&engine, &seal(&other, &[b"text"]), &options).unwrap_err();
    assert_eq!(error, EngineError::UnknownSession { message: 0, session: other.id() });
    assert!(error.to_string().contains("dropped or belongs to another engine"));

    let long: &'static [u8] = vec![0; 1_001].leak();
    let error = run(&engine, &seal(&own, &[long]), &options).unwrap_err();
    assert!(matches!(error, EngineError::Batch(BatchError::NoRoom { .. })), "{error}");
    let submitted = engine.submit(seal(&own, &[long]), &options).unwrap_err();
    assert!(submitted.to_string().contains("at most 1000 bytes and one has 1001"), "{submitted}");
    let short_tags = Batch { tag_length: TagLength::new(4).unwrap(), ..seal(&own, &[b"text"]) };
    let error = run(&engine, &short_tags, &options).unwrap_err().to_string();
    assert!(error.contains("does not take tags of 4 bytes"), "{error}");

    assert_eq!(own.sealed(), Ok(0));
    assert!(!toy.finish_one());
    assert!(engine.device("tor").unwrap_err().to_string().contains("there are toy"));
}

#[test]
fn a_nonce_twice_in_a_batch_is_found_before_anything_is_sealed_when_the_check_is_on() {
    let (engine, toy) = engine(4);
    let own = session(&engine);
    let same_nonce =
        || Batch { nonce: Column::Same(vec![1; 12].into()), ..seal(&own, &[b"a", b"b"]) };
    let checked = Options { nonces: NonceCheck::WithinBatch, ..Options::default() };
    let error = run(&engine, &same_nonce(), &checked).unwrap_err();
    assert!(error.to_string().contains("messages 0 and 1"), "{error}");
    let refused = engine.submit(same_nonce(), &checked).unwrap_err();
    assert!(refused.to_string().contains("messages 0 and 1"), "{refused}");
    assert_eq!((own.sealed(), toy.finish_one()), (Ok(0), false));
    assert!(run(&engine, &same_nonce(), &Options::default()).is_ok(), "the caller is sure");
}

#[test]
fn a_session_stops_at_its_limit() {
    let (engine, _) = engine(4);
    let session = engine.session_with_limit(Key::Aes128([1; 16]), 2).unwrap();
    assert!(run(&engine, &seal(&session, &[b"a", b"b"]), &Options::default()).is_ok());
    let error = run(&engine, &seal(&session, &[b"c"]), &Options::default()).unwrap_err();
    assert!(error.to_string().contains("sealed 2 messages"), "{error}");
    for key in [Key::Aes128([1; 16]), Key::Siv128([1; 16])] {
        assert!(engine.session_with_limit(key, (1 << 32) + 1).is_err());
    }
    assert!(engine.session_with_limit(Key::Xaes256([1; 32]), (1 << 32) + 1).is_ok());
}

#[test]
fn nonces_follow_each_other_and_differ_between_sessions() {
    let (engine, _) = engine(1);
    let (one, other) = (session(&engine), session(&engine));
    let number = |session: &Session| {
        let bytes = *session.next_nonce().unwrap().as_bytes();
        bytes.iter().fold(0u128, |number, byte| number << 8 | u128::from(*byte))
    };
    let first = number(&one);
    for next in 1..100 {
        assert_eq!(number(&one), (first + next) % (1 << 96));
    }
    assert_ne!(number(&other), number(&one));
}

#[test]
fn counted_nonces_of_a_batch_are_the_next_ones_of_its_sessions() {
    let (engine, _) = engine(1);
    let (one, other) = (session(&engine), session(&engine));
    let first = [one.next_nonce().unwrap(), other.next_nonce().unwrap()];
    let last = |nonce: &[u8]| nonce[NONCE_BYTES - 1];
    let keys = [one.id(), other.id(), one.id()];
    let nonces = engine.next_nonces(&Keys::from(&keys[..]), 3).unwrap();
    let steps: Vec<u8> = nonces
        .chunks(NONCE_BYTES)
        .zip([0, 1, 0])
        .map(|(nonce, of)| last(nonce).wrapping_sub(last(first[of].as_bytes())))
        .collect();
    assert_eq!(steps, [1, 1, 2]);
    let more = engine.next_nonces(&one.id().into(), 2).unwrap();
    let by_hand: Vec<u8> =
        one.next_nonces(2).unwrap().flat_map(|nonce| *nonce.as_bytes()).collect();
    assert_eq!(last(&by_hand), last(&more).wrapping_add(2));
    let batch = Batch {
        nonce: Column::fixed(nonces, NONCE_BYTES),
        nonce_rule: NonceRule::Counted,
        ..Batch::seal(3, &keys[..], Column::Empty, Column::fixed(vec![7; 15], 5))
    };
    run(&engine, &batch, &Options::default()).unwrap();
    let refused = run(&engine, &seal(&one, &[b"hello"]), &Options::default()).unwrap_err();
    assert_eq!(refused, EngineError::NoncesCounted { session: one.id() });
    let raw = Keys::Raw(Column::fixed(vec![7; 16], 16));
    assert_eq!(engine.next_nonces(&raw, 1), Err(EngineError::RawKeysDontCount));
    let gone = other.id();
    drop(other);
    let unknown = engine.next_nonces(&Keys::from(&[one.id(), gone][..]), 2).unwrap_err();
    assert_eq!(unknown, EngineError::UnknownSession { message: 1, session: gone });
}

#[test]
fn threads_that_share_a_session_get_no_nonce_twice() {
    let (engine, _) = engine(1);
    let session = session(&engine);
    let next = || (0..NONCES).map(|_| session.next_nonce().unwrap()).collect::<Vec<_>>();
    let nonces: HashSet<_> = thread::scope(|scope| {
        let threads = [(); THREADS].map(|()| scope.spawn(next));
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(nonces.len(), THREADS * NONCES);
}

#[test]
fn a_device_that_fails_a_job_is_a_result_and_the_next_job_works() {
    let (engine, toy) = engine(4);
    let session = session(&engine);
    let named = Options { on: engine.device("toy").ok(), ..Options::default() };
    let broken = engine.submit(seal(&session, &[b"break"]), &named).unwrap();
    let fine = engine.submit(seal(&session, &[b"fine"]), &Options::default()).unwrap();
    assert!(toy.finish_one() && toy.finish_one());
    let outcome = engine.wait(Some(broken), None).unwrap().unwrap().outcome;
    assert!(matches!(outcome, Err(DeviceError::Failed { .. })));
    assert!(engine.wait(Some(fine), None).unwrap().unwrap().outcome.is_ok());
    assert_eq!(engine.counters(engine.device("toy").unwrap()).unwrap().failed, 1);
}

#[test]
fn threads_that_wait_for_different_batches_all_get_theirs() {
    let (engine, toy) = engine(64);
    let session = session(&engine);
    thread::scope(|scope| {
        for _ in 0..8 {
            let ticket = engine.submit(seal(&session, &[b"text"]), &Options::default()).unwrap();
            let engine = engine.clone();
            scope.spawn(move || {
                let taken = engine.wait(Some(ticket), Some(Duration::from_secs(30))).unwrap();
                assert_eq!(taken.unwrap().ticket, ticket);
            });
        }
        thread::sleep(Duration::from_millis(20));
        while toy.finish_one() {}
    });
    assert_eq!(engine.in_flight(), Ok(0));
}

#[test]
fn who_waits_for_many_gets_as_many_or_what_there_is() {
    let (engine, toy) = engine(8);
    let session = session(&engine);
    let submit = || engine.submit(seal(&session, &[b"text"]), &Options::default()).unwrap();
    let tickets: Vec<_> = (0..5).map(|_| submit()).collect();
    assert!(toy.finish_one() && toy.finish_one());
    let two = engine.wait_many(3, NOT_LONG).unwrap();
    assert_eq!(two.iter().map(|taken| taken.ticket).collect::<Vec<_>>(), tickets[..2]);
    let many = thread::scope(|scope| {
        let waiter = scope.spawn(|| engine.wait_many(2, Some(Duration::from_secs(30))).unwrap());
        thread::sleep(Duration::from_millis(5));
        assert!(toy.finish_one() && toy.finish_one());
        waiter.join().unwrap()
    });
    assert_eq!(many.len(), 2);
    assert!(toy.finish_one());
    assert_eq!(engine.wait_many(7, None).unwrap().len(), 1, "no more are in flight");
    assert_eq!(engine.wait_many(1, None).unwrap().len(), 0);
}

#[test]
fn who_waits_for_many_does_not_need_a_ring_for_each() {
    let (engine, toy) = engine(8);
    let session = session(&engine);
    let submit = || engine.submit(seal(&session, &[b"text"]), &Options::default()).unwrap();
    (0..4).for_each(|_| _ = submit());
    thread::scope(|scope| {
        let waiter = scope.spawn(|| engine.wait_many(4, None).unwrap().len());
        thread::sleep(Duration::from_millis(5));
        assert!((0..3).all(|_| toy.finish_one_silently()) && toy.finish_one());
        assert_eq!(waiter.join().unwrap(), 4);
    });
}

#[test]
fn the_event_descriptor_tells_epoll_of_finished_batches() {
    let (engine, toy) = engine(4);
    let session = session(&engine);
    let readable = || is_readable(&engine);
    assert!(readable(), "a first look is never missed");
    assert!(engine.poll().unwrap().is_none());
    assert!(!readable());
    let [first, second] =
        [(); 2].map(|()| engine.submit(seal(&session, &[b"x"]), &Options::default()).unwrap());
    assert!(!readable());
    assert!(toy.finish_one() && toy.finish_one());
    assert!(readable());
    assert!(engine.wait(Some(second), None).unwrap().is_some());
    assert!(readable(), "the first is still there");
    assert_eq!(engine.poll().unwrap().map(|taken| taken.ticket), Some(first));
    assert!(!readable());
}

#[test]
fn the_event_descriptor_stays_readable_while_finished_batches_are_left() {
    let (engine, toy) = engine(4);
    let session = session(&engine);
    assert!(is_readable(&engine));
    let tickets =
        [(); 3].map(|()| engine.submit(seal(&session, &[b"x"]), &Options::default()).unwrap());
    tickets.iter().for_each(|_| assert!(toy.finish_one()));
    // The first is taken together with the news of all three, the second one without any.
    for ticket in &tickets[..2] {
        assert!(engine.wait(Some(*ticket), None).unwrap().is_some());
        assert!(is_readable(&engine), "after {ticket:?}");
    }
}

#[test]
fn only_real_devices_are_chosen_unless_named() {
    let open = [("oracle", Role::Oracle), ("real", Role::Real)]
        .map(|(name, role)| move |context: &Context| Ok(Toy::new(name, role, 1, context) as _));
    let engine = Engine::over::<EngineError>(clock(), open).unwrap();
    let session = session(&engine);
    let batch = seal(&session, &[b"text"]);
    run(&engine, &batch, &Options::default()).unwrap();
    let on = Some(engine.device("oracle").unwrap());
    run(&engine, &batch, &Options { on, ..Options::default() }).unwrap();
    let devices: Vec<_> =
        engine.records().unwrap().iter().map(|record| record.device.index()).collect();
    assert_eq!(devices, [1, 0]);
    let none = Engine::over(clock(), [].map(|open: Opener| open));
    assert!(matches!(none, Err(EngineError::NoDevice { .. })));
}

#[test]
fn where_no_device_is_real_the_error_says_how_to_name_one_and_its_driver_is_enough() {
    let engine = |names: &[&'static str]| {
        let open = names
            .iter()
            .map(|name| move |context: &Context| Ok(Toy::new(name, Role::Oracle, 1, context) as _));
        Engine::over::<EngineError>(clock(), open).unwrap()
    };
    let one = engine(&["toy:slots=1"]);
    let session = session(&one);
    let batch = seal(&session, &[b"text"]);
    let unnamed = run(&one, &batch, &Options::default()).unwrap_err().to_string();
    assert!(unnamed.ends_with("name the one it wants: device=\"toy:slots=1\""), "{unnamed}");
    assert_eq!(one.device("toy").unwrap(), one.device("toy:slots=1").unwrap());
    run(&one, &batch, &Options { on: Some(one.device("toy").unwrap()), ..Options::default() })
        .unwrap();
    let two = engine(&["toy:slots=1", "toy:slots=2"]);
    assert!(matches!(two.device("toy"), Err(EngineError::UnknownDevice { .. })));
    assert_eq!(engine(&["toy:slots=1", "toy"]).device("toy").unwrap().index(), 1);
}

#[test]
fn a_device_that_only_takes_submitted_batches_says_so() {
    let open = |context: &Context| Ok(Toy::queued("queued", context) as _);
    let engine = Engine::over::<EngineError>(clock(), [open]).unwrap();
    let session = session(&engine);
    let on = Some(engine.device("queued").unwrap());
    for options in [Options::default(), Options { on, ..Options::default() }] {
        let error = run(&engine, &seal(&session, &[b"text"]), &options).unwrap_err();
        assert!(error.to_string().contains("submit the batch"), "{error}");
    }
    assert_eq!(session.sealed(), Ok(0));
    assert!(engine.submit(seal(&session, &[b"text"]), &Options::default()).is_ok());
}

#[test]
fn what_is_decided_for_a_named_device_holds_for_batches_that_name_it() {
    let open = |name| move |context: &Context| Ok(Toy::new(name, Role::Real, 4, context) as _);
    let engine = Engine::over::<EngineError>(clock(), ["one", "other"].map(open)).unwrap();
    // Of batches under 5 us the decision is kept.
    for (device, _) in engine.devices() {
        engine.set_cost(device, Cost::clamped(1_000.0, 0.0, 0.0)).unwrap();
    }
    let session = session(&engine);
    let worked_by = |name: Option<&str>| {
        let on = name.map(|name| engine.device(name).unwrap());
        let options = Options { on, ..Options::default() };
        run(&engine, &seal(&session, &[b"hello"]), &options).unwrap();
        let device = engine.records().unwrap().last().unwrap().device;
        engine.devices().nth(device.index()).unwrap().1.name.clone()
    };
    for name in ["one", "other", "one"] {
        for _ in 0..3 {
            assert_eq!(worked_by(Some(name)), name);
        }
        let because = |engine: &Engine| engine.records().unwrap().last().unwrap().decision.because;
        assert_eq!(because(&engine), Because::Named);
        worked_by(None);
        assert_ne!(because(&engine), Because::Named);
    }
}

#[test]
fn a_kept_decision_is_of_its_engine() {
    let open = |name| move |context: &Context| Ok(Toy::new(name, Role::Real, 4, context) as _);
    let engine = |cheap: usize| {
        let engine = Engine::over::<EngineError>(clock(), ["one", "other"].map(open)).unwrap();
        for (device, _) in engine.devices() {
            let ns = if device.index() == cheap { 400.0 } else { 4_500.0 };
            engine.set_cost(device, Cost::clamped(ns, 0.0, 0.0)).unwrap();
        }
        let session = session(&engine);
        (engine, session)
    };
    // A device's first batch caches nothing, so each engine gets some before the other has its turn.
    for _ in 0..20 {
        let engines = [engine(0), engine(1)];
        for (cheap, (engine, session)) in engines.iter().enumerate().cycle().take(6) {
            for _ in 0..4 {
                run(engine, &seal(session, &[b"hello"]), &Options::default()).unwrap();
                let last = *engine.records().unwrap().last().unwrap();
                let is_trial = last.decision.because == Because::Explored;
                assert!(is_trial || last.device.index() == cheap, "{last:?}");
            }
        }
    }
}
