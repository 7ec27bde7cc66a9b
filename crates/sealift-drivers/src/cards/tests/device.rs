//! The device: when results are there, and that they are right.

use super::*;
use crate::testing::{Bell, KeyRing, context, session};
use sealift_core::{
    Batch, Clock, Column, Completion, DeviceError, Job, OwnedOutput, Refusal, SimulatedClock,
    Status, Ticket, Timing, Work,
};

/// A card in virtual time.
struct Stage {
    card: Card,
    device: Arc<dyn Device>,
    clock: Arc<SimulatedClock>,
    bell: Arc<Bell>,
}

impl Stage {
    fn of(card: Card) -> Self {
        let (clock, bell) = (Arc::new(SimulatedClock::new()), Arc::new(Bell::default()));
        let context = Context { clock: Arc::clone(&clock) as _, notify: Arc::clone(&bell) as _ };
        let device = open(&card, capabilities(&card, card.spec()), &context).unwrap();
        Self { card, device, clock, bell }
    }

    /// Submits as many as it takes, and the next whenever one comes back; when each came back.
    fn keep_full(&self, jobs: u64, messages: usize, bytes: usize) -> Vec<u64> {
        let (mut next, mut ends_ns) = (0, vec![]);
        loop {
            while next < jobs && self.device.submit(job(next, messages, bytes)).is_ok() {
                next += 1;
            }
            if !self.clock.step() {
                return ends_ns;
            }
            for completion in polled(&*self.device) {
                let (output, timing) = completion.outcome.unwrap();
                assert!(output.status().iter().all(|status| *status == Status::Ok));
                assert_eq!(timing.end_ns, self.clock.now_ns());
                ends_ns.push(timing.end_ns);
            }
        }
    }
}

#[test]
fn a_batch_on_an_idle_card_takes_what_was_predicted() {
    let cards = [card(WHOLE), card(SMALL)].into_iter().chain(bundled());
    for stage in cards.map(Stage::of) {
        for (messages, bytes) in [(1, 16), (1, 16_384), (7, 100), (64, 1_024)] {
            stage.clock.advance_to(stage.clock.now_ns() + 1_000);
            let (from_ns, rings) = (stage.clock.now_ns(), stage.bell.rings());
            stage.device.submit(job(1, messages, bytes)).unwrap();
            assert!(polled(&*stage.device).is_empty(), "nothing is there before its time");
            assert!(stage.clock.step());
            assert_eq!(stage.bell.rings(), rings + 1);
            let timing = polled(&*stage.device).pop().unwrap().outcome.unwrap().1;
            let predicted = stage.card.predict(messages as u64, bytes as u64);
            let found_ns = (stage.clock.now_ns() - from_ns) as f64;
            let share = (found_ns - predicted.batch_ns).abs() / predicted.batch_ns;
            assert!(share < 0.01, "{}: {found_ns} but {predicted:?}", stage.card.name());
            assert_eq!((timing.start_ns, timing.origin), (from_ns, Origin::Projected));
            assert_eq!(timing.copy_in_ns + timing.compute_ns, timing.end_ns - from_ns);
            assert!((timing.copy_in_ns as f64 - predicted.host_ns).abs() <= 1.0);
        }
    }
}

#[test]
fn queued_batches_come_at_the_predicted_interval() {
    for card in [card(WHOLE), card(SMALL)].into_iter().chain(bundled()) {
        for (messages, bytes) in [(1, 64), (1, 2_000), (16, 1_000)] {
            let stage = Stage::of(card.clone());
            let ends_ns = stage.keep_full(300, messages, bytes);
            assert_eq!(ends_ns.len(), 300);
            let found_ns = (ends_ns[299] - ends_ns[99]) as f64 / 200.0;
            let expected_ns = card.predict(messages as u64, bytes as u64).interval_ns;
            let share = (found_ns - expected_ns).abs() / expected_ns;
            assert!(share < 0.02, "{}: {found_ns} but {expected_ns}", card.name());
        }
    }
}

/// What a scheduler learns must not depend on which of the units was through when.
#[test]
fn batches_among_others_take_what_makes_the_waits_right() {
    for (messages, bytes) in [(1, 64), (1, 5_000), (16, 1_000)] {
        let stage = Stage::of(bundled().remove(0));
        (0..20).for_each(|at| stage.device.submit(job(at, messages, bytes)).unwrap());
        stage.clock.advance_to(1_000_000_000);
        let took_ns: Vec<_> = polled(&*stage.device)
            .into_iter()
            .map(|done| {
                let timing = done.outcome.unwrap().1;
                (timing.end_ns - timing.start_ns) as f64
            })
            .collect();
        let predicted = stage.card.predict(messages as u64, bytes as u64);
        let workers = stage.device.capabilities().workers as f64;
        assert!((took_ns[0] - predicted.batch_ns).abs() < 1.0, "the first was alone: {took_ns:?}");
        let each_ns = predicted.batch_ns.max(workers * predicted.interval_ns);
        assert!(took_ns[8..].iter().all(|ns| (ns - each_ns).abs() < 1.0), "{took_ns:?} {each_ns}");
    }
}

#[test]
fn a_card_is_as_many_workers_as_it_works_batches_of_one_request_at_once() {
    let workers = |card: &Card| capabilities(card, card.spec()).workers;
    // 1 + 5 µs, one each 2.5 µs.
    assert_eq!(workers(&card(SMALL)), 2);
    assert_eq!(workers(&bundled()[0]), 5, "four units, and one request at the host");
    let host = SMALL.replace("request_us = 1", "request_us = 100");
    assert_eq!(workers(&card(&host)), 1);
    assert_eq!(workers(&card(&SMALL.replace("slots = 4", "slots = 1"))), 1);
}

#[test]
fn associated_data_takes_as_long_as_text() {
    let took_ns = |text: usize, aad: usize| {
        let stage = Stage::of(card(SMALL));
        let mut job = job(1, 2, text);
        let aad = Column::fixed(vec![1; 2 * aad], aad);
        job.batch = Arc::new(Batch { aad, ..(*job.batch).clone() });
        stage.device.submit(job).unwrap();
        assert!(stage.clock.step());
        stage.clock.now_ns()
    };
    assert_eq!(took_ns(400, 600), took_ns(1_000, 0));
}

#[test]
fn a_short_batch_overtakes_a_long_one_on_another_unit() {
    let stage = Stage::of(card(SMALL));
    stage.device.submit(job(1, 1, 9_000)).unwrap();
    stage.device.submit(job(2, 1, 10)).unwrap();
    stage.clock.advance_to(1_000_000);
    let tickets: Vec<_> = polled(&*stage.device).iter().map(|done| done.ticket.0).collect();
    assert_eq!(tickets, [2, 1]);
}

#[test]
fn a_full_card_hands_a_job_back_until_one_was_taken() {
    let stage = Stage::of(card(SMALL));
    (1..=4).for_each(|number| stage.device.submit(job(number, 1, 16)).unwrap());
    let refused = stage.device.submit(job(5, 1, 16)).unwrap_err();
    assert_eq!(refused.refusal, Refusal::Full { in_flight: 4, slots: 4 });
    assert_eq!(refused.job.ticket, Ticket(5));
    assert!(stage.clock.step());
    assert!(stage.device.submit(refused.job).is_err(), "it is there and nobody has taken it");
    assert_eq!(polled(&*stage.device).len(), 1);
    stage.device.submit(job(5, 1, 16)).unwrap();
}

#[test]
fn its_bytes_are_true() {
    let stage = Stage::of(card(WHOLE));
    let (context, _) = context();
    let reference = crate::open(&"reference".parse().unwrap(), &context).unwrap();
    stage.device.submit(job(3, 5, 77)).unwrap();
    stage.clock.advance_to(1_000_000);
    let (found, _) = polled(&*stage.device).pop().unwrap().outcome.unwrap();
    let mut other = job(3, 5, 77);
    run(&*reference, &mut other).unwrap();
    let bytes = |output: &OwnedOutput| [output.text().0, output.tags()].concat();
    assert_eq!(bytes(&found), bytes(&other.output));
    let mut here = job(3, 5, 77);
    run(&*stage.device, &mut here).unwrap();
    assert_eq!(bytes(&found), bytes(&here.output));
}

#[test]
fn working_on_the_calling_thread_passes_the_time_that_it_takes() {
    let stage = Stage::of(card(SMALL));
    stage.device.submit(job(1, 1, 1_000)).unwrap();
    let timing = run(&*stage.device, &mut job(2, 1, 1_000)).unwrap();
    // A microsecond behind the first one at the host, on the other unit.
    assert_eq!((timing.end_ns, stage.clock.now_ns()), (7_000, 7_000));
    assert_eq!(timing.start_ns, 1_000, "it takes 6 µs once the host has handed over the first one");
    assert_eq!(polled(&*stage.device).len(), 1);
}

#[test]
fn the_calling_thread_sleeps_for_ten_seconds_at_most() {
    let slow = SMALL.replace("setup_us = 4", "setup_us = 6000000");
    let stage = Stage::of(card(&slow));
    let refused = run(&*stage.device, &mut job(1, 4, 16)).unwrap_err().to_string();
    assert!(refused.contains("it would take 12.0 s"), "{refused}");
    assert!(refused.contains("sleeps for 10 s at most"), "{refused}");
    assert_eq!(stage.clock.now_ns(), 0);
    let timing = run(&*stage.device, &mut job(2, 2, 16)).unwrap();
    assert_eq!(timing.start_ns, 0, "the one that was refused left nothing behind");
    assert_eq!(stage.clock.now_ns(), 6_000_002_000 + 16);
}

#[test]
fn under_the_systems_clock_results_come_when_their_time_has_passed() {
    let (context, bell) = context();
    let slow = card(&SMALL.replace("setup_us = 4", "setup_us = 20000"));
    let device = open(&slow, capabilities(&slow, slow.spec()), &context).unwrap();
    let begin = std::time::Instant::now();
    (1..=2).for_each(|number| device.submit(job(number, 1, 16)).unwrap());
    let mut found = polled(&*device);
    for ring in 1.. {
        assert!(found.is_empty() || begin.elapsed().as_millis() >= 20);
        if found.len() == 2 {
            break;
        }
        bell.wait(ring);
        found.extend(polled(&*device));
    }
    assert!(found.iter().all(|completion| completion.outcome.is_ok()));
}

#[test]
fn a_job_without_its_key_fails_alone() {
    let stage = Stage::of(card(SMALL));
    let mut gone = job(1, 2, 32);
    gone.keys = Arc::new(KeyRing::default());
    stage.device.submit(gone).unwrap();
    stage.device.submit(job(2, 2, 32)).unwrap();
    stage.clock.advance_to(1_000_000);
    let mut done = polled(&*stage.device);
    assert!(done.remove(1).outcome.is_ok(), "the one behind it goes on");
    assert!(matches!(done.remove(0).outcome, Err(DeviceError::KeyGone { .. })));
    stage.device.retire(session(0));
    let mut here = job(3, 2, 32);
    here.keys = Arc::new(KeyRing::default());
    assert!(matches!(run(&*stage.device, &mut here), Err(DeviceError::KeyGone { .. })));
}

#[test]
fn a_retired_key_is_forgotten() {
    let stage = Stage::of(card(SMALL));
    run(&*stage.device, &mut job(1, 1, 16)).unwrap();
    let again = |keys| {
        let mut again = job(2, 1, 16);
        again.keys = keys;
        run(&*stage.device, &mut again)
    };
    assert!(again(Arc::new(KeyRing::default())).is_ok(), "it keeps keys");
    stage.device.retire(session(0));
    assert!(again(Arc::new(KeyRing::default())).is_err());
}

#[test]
fn a_batch_of_nothing_is_over_at_once() {
    let stage = Stage::of(card(WHOLE));
    stage.device.submit(job(1, 0, 0)).unwrap();
    assert!(stage.clock.step());
    assert_eq!((stage.clock.now_ns(), polled(&*stage.device).len()), (0, 1));
}

#[test]
fn in_a_rehearsal_it_is_there_for_everybody_and_takes_submitted_batches_only() {
    let (context, _) = context();
    let device = bundled()[0].rehearse("quad".to_owned(), &context).unwrap();
    let found = device.capabilities();
    assert_eq!((found.name.as_str(), found.role), ("quad", Role::Real));
    let refused = run(&*device, &mut job(1, 1, 16));
    assert!(matches!(refused, Err(DeviceError::NotOnCallingThread { .. })));
}

/// A job of equal messages under session 0.
fn job(number: u64, messages: usize, bytes: usize) -> Box<Job> {
    let fill = number.to_le_bytes()[0];
    let nonces: Vec<u8> = (0..12 * messages).map(|at| at.to_le_bytes()[0] ^ fill).collect();
    let texts = Column::fixed(vec![fill; messages * bytes], bytes);
    let batch = Batch::seal(messages, session(0), Column::fixed(nonces, 12), texts);
    let output = OwnedOutput::for_batch(&batch).unwrap();
    let (batch, keys) = (Arc::new(batch), Arc::new(KeyRing::of(1)));
    Box::new(Job { ticket: Ticket(number), attempt: 0, batch, output, keys })
}

fn polled(device: &dyn Device) -> Vec<Completion> {
    let mut done = vec![];
    device.poll(&mut done);
    done
}

fn run(device: &dyn Device, job: &mut Job) -> Result<Timing, DeviceError> {
    let keys = Arc::clone(&job.keys);
    device.run(&mut Work::new(&job.batch, job.output.as_output(), &*keys).unwrap())
}
