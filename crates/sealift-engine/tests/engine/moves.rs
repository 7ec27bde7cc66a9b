//! Batches that move: from devices that fail, hang, lie or are full, each finishing exactly once.

use crate::toy::{MASK, Toy, by, engine, seal, session};
use sealift_core::{
    Context, Cost, Output, OwnedOutput, Place, Role, SimulatedClock, Status, SystemClock, Ticket,
};
use sealift_engine::{
    Audit, Because, Completed, End, Engine, EngineError, Options, Patience, Session, Settings,
    State, SubmitRefusal, policy,
};
use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

const TEXTS: [&[u8]; 3] = [b"one", b"two", b"three"];
const SHORT: Duration = Duration::from_millis(200);

/// Devices are given up after a short while.
fn impatient(name: &str) -> Settings {
    Settings { patience: Patience { times: 0.0, extra: SHORT }, ..by(name) }
}

fn submit(engine: &Engine, session: &Session) -> Ticket {
    engine.submit(seal(session, &TEXTS), &Options::default()).unwrap()
}

/// Takes a batch and checks that it has the right results.
fn take(engine: &Engine, ticket: Ticket) -> Completed {
    let taken = engine.wait(Some(ticket), Some(Duration::from_secs(20))).unwrap().unwrap();
    let (output, _) = taken.outcome.as_ref().unwrap();
    for (message, text) in TEXTS.iter().enumerate() {
        let right: Vec<_> = text.iter().map(|byte| byte ^ MASK).collect();
        assert_eq!(output.text_of(message), right);
        assert_eq!(output.tag_of(message), [MASK; 16]);
    }
    assert_eq!(output.status(), [Status::Ok; 3]);
    taken
}

fn ends(engine: &Engine, ticket: Ticket) -> Vec<(usize, u32, End)> {
    let records = engine.records().unwrap();
    let own = records.iter().filter(|record| record.ticket == Some(ticket));
    own.map(|record| (record.device.index(), record.attempt, record.end)).collect()
}

#[test]
fn a_batch_that_a_device_fails_finishes_on_another_one_and_the_record_says_so() {
    let (engine, toys) = engine(by("failover"), &[4, 4]);
    let session = session(&engine);
    let ticket = submit(&engine, &session);
    assert!(toys[0].fail_one());
    assert!(engine.poll().unwrap().is_none());
    assert!(toys[1].finish_one());
    let report = take(&engine, ticket).outcome.unwrap().1;
    assert_eq!((report.device.index(), report.moved), (1, 1));
    assert_eq!(ends(&engine, ticket), [(0, 0, End::Failed), (1, 1, End::Done)]);
    assert_eq!(session.sealed().unwrap(), 3);
}

#[test]
fn a_batch_that_every_device_fails_thrice_comes_back_with_the_last_error() {
    let (engine, toys) = engine(by("round-robin"), &[4, 4]);
    let ticket = submit(&engine, &session(&engine));
    for _ in 0..6 {
        assert!(toys.iter().any(|toy| toy.fail_one()));
        drop(engine.in_flight());
        if let Some(completed) = engine.poll().unwrap() {
            assert_eq!(completed.ticket, ticket);
            assert!(completed.outcome.unwrap_err().to_string().contains("told to fail"));
            assert_eq!(ends(&engine, ticket).len(), 6);
            return;
        }
    }
    panic!("it never came back");
}

#[test]
fn a_device_that_hangs_is_given_up_and_its_late_result_is_wiped_and_counted() {
    let (engine, toys) = engine(impatient("failover"), &[4, 4]);
    let session = session(&engine);
    let ticket = submit(&engine, &session);
    assert!(engine.wait(Some(ticket), Some(SHORT + SHORT / 2)).unwrap().is_none());
    assert!(toys[1].finish_one());
    take(&engine, ticket);
    assert_eq!(ends(&engine, ticket), [(0, 0, End::Abandoned), (1, 1, End::Done)]);
    let first = engine.device("toy0").unwrap();
    assert_eq!(engine.counters(first).unwrap().abandoned, 1);

    // Now it answers after all: nobody gets that, and it is used again.
    assert!(toys[0].finish_one());
    assert!(engine.poll().unwrap().is_none());
    let counters = engine.counters(first).unwrap();
    assert_eq!((counters.abandoned, counters.late, counters.batches), (1, 1, 0));
    assert_eq!(engine.state(first).unwrap(), State::Up);
    assert!(matches!(
        engine.wait(Some(ticket), None),
        Err(EngineError::UnknownTicket(again)) if again == ticket
    ));
}

#[test]
fn a_late_result_is_wiped_before_another_batch_gets_its_memory() {
    let (engine, toys) = engine(impatient("failover"), &[4, 4]);
    let session = session(&engine);
    // Long enough that its memory is used again.
    let texts = vec![&[0; 1_000][..]; 100];
    let submit = || engine.submit(seal(&session, &texts), &Options::default()).unwrap();
    let ticket = submit();
    assert!(engine.wait(Some(ticket), Some(SHORT + SHORT / 2)).unwrap().is_none());
    assert!(toys[1].finish_one());
    let taken = engine.wait(Some(ticket), None).unwrap();
    assert!(toys[0].finish_one());
    assert!(engine.poll().unwrap().is_none(), "it is too late");
    submit();
    assert_eq!(toys[0].queued_output(), [0; 100_000]);
    drop(taken);
}

#[test]
fn a_device_that_does_not_ring_is_asked_before_it_is_given_up() {
    let (engine, toys) = engine(impatient("failover"), &[4, 4]);
    let ticket = submit(&engine, &session(&engine));
    assert!(toys[0].finish_one_silently());
    assert!(engine.poll().unwrap().is_none(), "nobody knows");
    take(&engine, ticket);
    assert_eq!(ends(&engine, ticket), [(0, 0, End::Done)]);
}

#[test]
fn small_runs_leave_a_device_that_hangs() {
    let patience = Patience { times: 0.0, extra: SHORT / 20 };
    let (engine, _toys) = engine(Settings { patience, ..by("earliest-finish") }, &[4, 4]);
    let [first, second] = ["toy0", "toy1"].map(|name| engine.device(name).unwrap());
    engine.set_cost(first, Cost::clamped(1_000.0, 0.0, 0.0)).unwrap();
    engine.set_cost(second, Cost::clamped(4_000.0, 0.0, 0.0)).unwrap();
    let session = session(&engine);
    let run = || {
        let small = seal(&session, &TEXTS);
        let mut output = OwnedOutput::for_batch(&small).unwrap();
        engine.run(&small, output.as_output(), &Options::default()).unwrap().device
    };
    assert_eq!(run(), first);
    let on = Options { on: Some(first), ..Options::default() };
    engine.submit(seal(&session, &TEXTS), &on).unwrap();
    let given_up = engine.wait(None, Some(20 * SHORT)).unwrap().unwrap();
    assert!(given_up.outcome.is_err());
    assert!(matches!(engine.state(first).unwrap(), State::Down { .. }));
    assert_eq!(run(), second, "the first decision stands no more");
}

#[test]
fn sessions_are_wiped_while_a_device_hangs_and_it_is_told_when_it_is_back() {
    let (engine, toys) = engine(impatient("failover"), &[4, 4]);
    let (own, other) = (session(&engine), session(&engine));
    let both = [own.id(), other.id()];
    let ticket = submit(&engine, &own);
    assert!(engine.wait(Some(ticket), Some(SHORT + SHORT / 2)).unwrap().is_none());
    toys[1].finish_one();
    take(&engine, ticket);
    drop((own, other));
    // A device is told of a session once its key is wiped: neither waits for the one that hangs.
    assert_eq!(toys[1].retired(), both);
    assert!(toys[0].retired().is_empty());
    // The attempt still has its own key.
    assert!(toys[0].finish_one());
    assert!(engine.poll().unwrap().is_none());
    assert_eq!(toys[0].retired(), both);
    assert_eq!(toys[1].retired(), both);
}

#[test]
fn a_device_that_lies_is_found_out_and_quarantined_and_the_batch_is_worked_elsewhere() {
    let audit = Some(Audit { share: 1.0, seed: 1 });
    let (engine, toys) = engine(Settings { audit, ..by("failover") }, &[4, 4]);
    let session = session(&engine);
    let ticket = submit(&engine, &session);
    assert!(toys[0].lie_one());
    assert!(engine.poll().unwrap().is_none());
    assert!(toys[1].finish_one());
    take(&engine, ticket);
    assert_eq!(ends(&engine, ticket), [(0, 0, End::Wrong), (1, 1, End::Done)]);
    let first = engine.device("toy0").unwrap();
    assert_eq!(engine.state(first).unwrap(), State::Quarantined);
    let next = submit(&engine, &session);
    assert_eq!((toys[0].held(), toys[1].held()), (0, 1));
    toys[1].finish_one();
    take(&engine, next);
    engine.reinstate(first).unwrap();
    submit(&engine, &session);
    assert_eq!(toys[0].held(), 1);
}

#[test]
fn what_was_sealed_on_the_calling_thread_is_audited_too() {
    let audit = Some(Audit { share: 1.0, seed: 1 });
    let (engine, toys) = engine(Settings { audit, ..by("failover") }, &[4, 4]);
    let session = session(&engine);
    toys[0].lie_always();
    let (mut out, mut tags, mut status) = (vec![0; 15], vec![0; 48], vec![Status::Ok; 3]);
    let output = Output {
        text: Place::fixed(&mut out, 5),
        tags: Place::fixed(&mut tags, 16),
        status: &mut status,
    };
    let report = engine.run(&seal(&session, &TEXTS), output, &Options::default()).unwrap();
    assert_eq!((report.device.index(), report.moved), (1, 1));
    assert_eq!(out[..3], [b'o' ^ MASK, b'n' ^ MASK, b'e' ^ MASK]);
    assert_eq!(engine.state(engine.device("toy0").unwrap()).unwrap(), State::Quarantined);
    let ends: Vec<_> = engine.records().unwrap().iter().map(|record| record.end).collect();
    assert_eq!(ends, [End::Wrong, End::Done]);
}

#[test]
fn a_checker_that_lies_is_quarantined_and_not_the_device_it_accuses() {
    let audit = Some(Audit { share: 1.0, seed: 1 });
    let (engine, toys) = engine(Settings { audit, ..by("failover") }, &[4, 4, 4]);
    let session = session(&engine);
    toys[1].lie_always();
    let ticket = submit(&engine, &session);
    assert!(toys[0].finish_one());
    take(&engine, ticket);
    let states =
        [0, 1, 2].map(|at| engine.state(engine.device(&format!("toy{at}")).unwrap()).unwrap());
    assert_eq!(states, [State::Up, State::Quarantined, State::Up]);
}

#[test]
fn a_device_that_says_of_a_seal_that_it_failed_is_found_out() {
    let audit = Some(Audit { share: 1.0, seed: 1 });
    let (engine, toys) = engine(Settings { audit, ..by("failover") }, &[4, 4]);
    let ticket = submit(&engine, &session(&engine));
    assert!(toys[0].misreport_one());
    assert!(engine.poll().unwrap().is_none());
    assert!(toys[1].finish_one());
    take(&engine, ticket);
}

#[test]
fn devices_in_quarantine_judge_no_other() {
    let audit = Some(Audit { share: 1.0, seed: 1 });
    let (engine, toys) = engine(Settings { audit, ..by("failover") }, &[4, 4, 4]);
    let session = session(&engine);
    let ticket = submit(&engine, &session);
    for toy in &toys[..2] {
        assert!(toy.lie_one());
        assert!(engine.poll().unwrap().is_none());
        toy.lie_always();
    }
    assert!(toys[2].finish_one());
    take(&engine, ticket);
}

#[test]
fn an_audit_that_nobody_could_do_is_refused() {
    let try_share = |share| {
        let settings = Settings { audit: Some(Audit { share, seed: 1 }), ..Settings::default() };
        let open = |context: &Context| Ok(Toy::new("alone", Role::Real, 1, context) as _);
        Engine::with_settings::<EngineError>(Arc::new(SystemClock::new()), settings, [open])
    };
    for (share, right) in
        [(0.0, "above 0"), (1.5, "at most 1"), (f64::NAN, "above 0"), (0.5, "second")]
    {
        let error = try_share(share).unwrap_err().to_string();
        assert!(error.contains(right), "{error}");
    }
}

#[test]
fn a_broken_device_is_passed_over_and_a_full_one_hands_back_what_nobody_else_takes() {
    let (engine, toys) = engine(by("failover"), &[2, 1]);
    let session = session(&engine);
    toys[0].break_down();
    let ticket = submit(&engine, &session);
    assert_eq!((toys[0].held(), toys[1].held()), (0, 1));
    let sealed = session.sealed().unwrap();
    let refused = engine.submit(seal(&session, &TEXTS), &Options::default()).unwrap_err();
    assert!(matches!(refused.reason, SubmitRefusal::Full { .. }), "{}", refused.reason);
    assert_eq!(refused.batch.len, 3);
    assert_eq!(session.sealed().unwrap(), sealed);
    toys[1].finish_one();
    take(&engine, ticket);
}

#[test]
fn a_failed_batch_waits_while_all_others_are_full_and_goes_before_new_ones() {
    let (engine, toys) = engine(by("round-robin"), &[1, 1]);
    let session = session(&engine);
    let (first, second) = (submit(&engine, &session), submit(&engine, &session));
    assert!(toys[0].fail_one());
    assert!(engine.poll().unwrap().is_none());
    assert_eq!(engine.in_flight().unwrap(), 2);
    // It failed on the first toy, so it waits for the second one.
    assert_eq!((toys[0].held(), toys[1].held()), (0, 1));
    assert!(toys[1].finish_one());
    take(&engine, second);
    assert_eq!((toys[0].held(), toys[1].held()), (0, 1));
    assert!(toys[1].finish_one());
    take(&engine, first);
}

#[test]
fn a_session_moves_when_its_device_goes_down_and_its_queued_work_finishes_where_it_is() {
    let (engine, toys) = engine(by("least-sessions"), &[8, 8]);
    let (one, other) = (session(&engine), session(&engine));
    let (first, second) = (submit(&engine, &one), submit(&engine, &other));
    assert_eq!((toys[0].held(), toys[1].held()), (1, 1));
    let queued = submit(&engine, &one);
    assert_eq!(toys[0].held(), 2);
    toys[0].break_down();
    let moved = submit(&engine, &one);
    assert_eq!((toys[0].held(), toys[1].held()), (2, 2));
    (0..2).for_each(|_| assert!(toys[0].finish_one() && toys[1].finish_one()));
    for ticket in [first, second, queued, moved] {
        take(&engine, ticket);
    }
    let counts = [0, 1]
        .map(|at| engine.counters(engine.device(&format!("toy{at}")).unwrap()).unwrap().batches);
    assert_eq!(counts, [2, 2]);
}

fn long() -> Vec<&'static [u8]> {
    (0..100).map(|at| TEXTS[at % 3]).collect()
}

/// An engine whose devices differ: the first is three times as fast as the second one.
fn splitting(slots: &[usize]) -> (Engine, Vec<Arc<Toy>>) {
    let (engine, toys) = engine(by("split"), slots);
    for (name, per_message_ns) in [("toy0", 1e6), ("toy1", 3e6)] {
        let device = engine.device(name).unwrap();
        engine.set_cost(device, Cost::clamped(0.0, per_message_ns, 0.0)).unwrap();
    }
    (engine, toys)
}

#[test]
fn a_split_batch_is_cut_so_that_its_parts_end_together_and_comes_back_whole() {
    let (engine, toys) = splitting(&[4, 4]);
    let session = session(&engine);
    let texts = long();
    let ticket = engine.submit(seal(&session, &texts), &Options::default()).unwrap();
    assert_eq!((toys[0].queued_messages(), toys[1].queued_messages()), (75, 25));
    assert_eq!(engine.in_flight().unwrap(), 1);
    assert!(toys[1].finish_one());
    assert!(engine.poll().unwrap().is_none());
    assert!(toys[0].finish_one());
    let taken = engine.wait(None, None).unwrap().unwrap();
    assert_eq!(taken.ticket, ticket);
    let (output, _) = taken.outcome.unwrap();
    for (message, text) in texts.iter().enumerate() {
        let right: Vec<_> = text.iter().map(|byte| byte ^ MASK).collect();
        assert_eq!(output.text_of(message), right, "message {message}");
    }
    let records = engine.records().unwrap();
    assert!(records.iter().all(|record| record.decision.because == Because::Part));
    assert!(records.iter().all(|record| record.ticket == Some(ticket)));
    assert_eq!((engine.in_flight().unwrap(), session.sealed().unwrap()), (0, 100));
}

#[test]
fn a_refused_part_is_worked_elsewhere_and_exactly_that_part() {
    let (engine, toys) = splitting(&[4, 4]);
    let session = session(&engine);
    let texts = long();
    toys[1].break_down();
    engine.submit(seal(&session, &texts), &Options::default()).unwrap();
    assert_eq!((toys[0].held(), toys[0].queued_messages(), toys[1].held()), (2, 100, 0));
    assert!(toys[0].finish_one() && toys[0].finish_one());
    let taken = engine.wait(None, None).unwrap().unwrap();
    let (output, _) = taken.outcome.unwrap();
    assert_eq!(output.status(), [Status::Ok; 100]);
    for (message, text) in texts.iter().enumerate() {
        let right: Vec<_> = text.iter().map(|byte| byte ^ MASK).collect();
        assert_eq!(output.text_of(message), right, "message {message}");
    }
    assert!(engine.poll().unwrap().is_none());
    assert_eq!(engine.in_flight().unwrap(), 0);
}

#[test]
fn a_part_that_fails_everywhere_fails_the_whole_batch_once() {
    let (engine, toys) = splitting(&[4, 4]);
    engine.submit(seal(&session(&engine), &long()), &Options::default()).unwrap();
    assert!(toys[0].finish_one());
    for _ in 0..20 {
        for toy in &toys {
            toy.fail_one();
        }
        if let Some(completed) = engine.poll().unwrap() {
            assert!(completed.outcome.is_err());
            assert_eq!(engine.in_flight().unwrap(), 0);
            return;
        }
    }
    panic!("it never came back");
}

#[test]
fn a_part_of_a_batch_that_failed_is_wiped_before_another_batch_gets_its_memory() {
    let (engine, toys) = splitting(&[4, 4]);
    let session = session(&engine);
    let submit = |messages, on| {
        let batch = seal(&session, &vec![&[0; 1_000][..]; messages]);
        engine.submit(batch, &Options { on, ..Options::default() }).unwrap();
    };
    submit(100, None);
    assert!(toys[0].finish_one());
    while engine.poll().unwrap().is_none() {
        assert!(toys.iter().any(|toy| toy.fail_one()));
    }
    submit(75, engine.device("toy0").ok());
    assert_eq!(toys[0].queued_output(), [0; 75_000]);
}

#[test]
fn unknown_policies_and_settings_are_named_with_those_there_are() {
    for (spec, right) in [
        ("fastest", "earliest-finish, split, size-split, failover, least-sessions, round-robin"),
        ("size-split:bytes=many", "size-split:bytes=4096"),
        ("failover:x=1", "x"),
        ("earliest-finish:objective=joy", "time and host"),
    ] {
        let error = policy(spec).unwrap_err().to_string();
        assert!(error.contains(right) && error.contains(spec), "{error}");
    }
}

#[test]
fn a_device_alone_has_the_time_that_it_says_to_get_ready_with_its_first_batch() {
    let toy = RefCell::new(None);
    let open = |context: &Context| {
        let made = Toy::preparing("alone", 100 * SHORT, context);
        toy.replace(Some(Arc::clone(&made)));
        Ok(made as _)
    };
    let clock = Arc::new(SimulatedClock::new());
    let engine = Engine::with_settings::<EngineError>(clock, impatient("failover"), [open]);
    let (engine, toy) = (engine.unwrap(), toy.take().unwrap());
    let session = session(&engine);
    let first = submit(&engine, &session);
    assert!(engine.wait(Some(first), Some(90 * SHORT)).unwrap().is_none());
    assert!(toy.finish_one());
    take(&engine, first);
    let second = submit(&engine, &session);
    let ended = engine.wait(Some(second), Some(90 * SHORT)).unwrap().unwrap();
    assert!(ended.outcome.unwrap_err().to_string().contains("no answer"));
}
