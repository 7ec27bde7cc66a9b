use super::bench::{Bench, KEY, NONCE, SESSION, model, seal};
use sealift_core::{
    Batch, Clock, Column, Device, DeviceError, KeySource, Op, Ops, Refusal, SessionId, Status,
    Tags, Ticket,
};
use sealift_engine::simulate::{FaultCounts, FaultPlan, JobFault, Model, toy};
use std::sync::{Arc, Weak};

#[test]
fn the_nth_job_fails_and_the_others_go_on() {
    let bench = Bench::with(FaultPlan::none().on_job(1, JobFault::Fail));
    bench.submit_seals(0..3);
    bench.clock.advance_to(200);
    let done = bench.poll();
    assert!(done[0].outcome.is_ok() && done[1].ticket == Ticket(1));
    assert!(matches!(done[1].outcome, Err(DeviceError::Failed { .. })));
    assert_eq!(bench.finished(&[300]), [vec![2]]);
    assert_eq!(bench.machine.faults(), faults(|counts| counts.failed = 1));
}

#[test]
fn a_hung_job_keeps_its_slot_and_its_keys_and_never_comes_back() {
    let bench = Bench::with(FaultPlan::none().on_job(0, JobFault::Hang));
    bench.submit_seals(0..2);
    assert_eq!(bench.finished(&[100, 200, 1 << 40]), [vec![], vec![1], vec![]]);
    assert_eq!((bench.machine.held(), bench.clock.next_ns()), (1, None));
    assert_eq!(bench.machine.faults(), faults(|counts| counts.hung = 1));
    let Bench { machine, keys, .. } = bench;
    let leased: Weak<dyn KeySource> = Arc::downgrade(&keys);
    drop(keys);
    machine.retire(SessionId { slot: 4, ..SESSION });
    assert_eq!((leased.strong_count(), machine.retired_in_use()), (1, 0));
    machine.retire(SESSION);
    assert_eq!(machine.retired_in_use(), 1, "an engine must not do that");
    drop(machine);
    assert_eq!(leased.strong_count(), 0);
}

#[test]
fn a_late_job_comes_after_its_time_and_holds_up_those_behind() {
    let bench = Bench::with(FaultPlan::none().on_job(0, JobFault::Late { times: 5.0 }));
    bench.submit_seals(0..2);
    assert_eq!(bench.finished(&[499, 500, 600]), [vec![], vec![0], vec![1]]);
    assert_eq!(bench.machine.faults(), faults(|counts| counts.late = 1));
}

#[test]
fn a_wrong_job_differs_in_one_bit_and_says_nothing() {
    let (sealed, tag) = toy::seal(&KEY, &NONCE, b"aad", b"some text");
    let (mut texts, mut tags) = (0, 0);
    for seed in 0..40 {
        let faults_of_it = FaultPlan::none().on_job(0, JobFault::Wrong);
        let bench = Bench::new(Model { faults: faults_of_it, seed, ..model() });
        bench.submit_seals(0..1);
        bench.clock.step();
        let (output, _) = bench.poll().remove(0).outcome.unwrap();
        let bits = |a: &[u8], b: &[u8]| -> u32 {
            a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones()).sum()
        };
        let (in_text, in_tag) = (bits(output.text_of(0), &sealed), bits(output.tag_of(0), &tag));
        assert_eq!((in_text + in_tag, output.status()[0]), (1, Status::Ok));
        (texts, tags) = (texts + in_text, tags + in_tag);
        assert_eq!(bench.machine.faults(), faults(|counts| counts.wrong = 1));
    }
    assert!(texts > 5 && tags > 5, "{texts} in texts and {tags} in tags");
}

#[test]
fn where_nothing_is_written_a_wrong_job_turns_the_verdict_round() {
    let (sealed, mut tag) = toy::seal(&KEY, &NONCE, b"", b"some text");
    tag[0] ^= 1;
    for op in [Op::Verify, Op::Open] {
        let bench = Bench::with(FaultPlan::none().on_job(0, JobFault::Wrong));
        let text = Column::Same(sealed.clone().into());
        let tags = Tags::Apart(Column::Same(tag.to_vec().into()));
        let nonces = Column::Same(NONCE.to_vec().into());
        let batch = Batch::open(1, SESSION, nonces, text, tags);
        bench.submit(0, Batch { ops: Ops::All(op), ..batch }).unwrap();
        bench.clock.step();
        let (output, _) = bench.poll().remove(0).outcome.unwrap();
        assert_eq!(output.status(), [Status::Ok], "a tag that is wrong passes a {op:?}");
        assert!(output.text_of(0).iter().all(|&byte| byte == 0));
    }
}

#[test]
fn a_dead_device_gives_back_what_was_finished_and_nothing_else() {
    let bench = Bench::with(FaultPlan::none().die_at(250));
    bench.submit_seals(0..4);
    assert_eq!(bench.finished(&[249]), [vec![0, 1]]);
    assert_eq!(bench.machine.held(), 2);
    assert_eq!(bench.finished(&[250, 1_000]), [vec![], vec![]]);
    assert_eq!((bench.machine.held(), bench.clock.next_ns()), (0, None));
    let refusal = bench.submit(4, seal()).unwrap_err();
    assert!(matches!(refusal, Refusal::Broken(DeviceError::Failed { .. })), "{refusal:?}");
    let expected = faults(|counts| (counts.lost, counts.refused_broken) = (2, 1));
    assert_eq!(bench.machine.faults(), expected);
}

#[test]
fn pretended_fullness_ends_with_a_ring() {
    let bench = Bench::with(FaultPlan::none().full(50..400));
    bench.submit_seals(0..1);
    bench.clock.advance_to(100);
    for _ in 0..3 {
        assert_eq!(bench.submit(1, seal()), Err(Refusal::Full { in_flight: 1, slots: 4 }));
    }
    assert_eq!((bench.poll().len(), bench.clock.next_ns()), (1, Some(400)));
    assert!(bench.clock.step() && bench.clock.next_ns().is_none());
    bench.submit_seals(1..2);
    assert_eq!(bench.machine.faults(), faults(|counts| counts.refused_full = 3));
}

#[test]
fn a_slowed_device_takes_longer_for_what_starts_later() {
    let bench = Bench::with(FaultPlan::none().slow_from(150, 4.0));
    bench.submit_seals(0..4);
    assert_eq!(bench.finished(&[100, 200, 599, 600, 1_000]).concat(), [0, 1, 2, 3]);
    assert_eq!(bench.clock.now_ns(), 1_000);
    assert_eq!(bench.machine.faults(), faults(|counts| counts.slowed = 2));
}

#[test]
fn faults_come_together() {
    let late = JobFault::Late { times: 2.0 };
    let plan = FaultPlan::none().on_job(0, JobFault::Fail).on_job(0, late).slow_from(0, 3.0);
    let bench = Bench::with(plan.full(700..800).on_share(1.0, JobFault::Wrong));
    bench.submit_seals(0..2);
    assert_eq!(bench.finished(&[599, 600, 900]), [vec![], vec![], vec![1]]);
    let counts = bench.machine.faults();
    assert_eq!((counts.failed, counts.late, counts.slowed, counts.wrong), (1, 1, 2, 1));
    assert_eq!(counts.all(), 5);
}

#[test]
fn on_the_calling_thread_faults_are_errors_after_their_time() {
    let plan = FaultPlan::none().on_job(0, JobFault::Fail).on_job(1, JobFault::Hang).die_at(350);
    let model = Model { runs_on_calling_thread: true, faults: plan, ..model() };
    let bench = Bench::new(model);
    let run = || (bench.run().is_ok(), bench.clock.now_ns());
    let expected = [(false, 100), (false, 200), (true, 300), (false, 350), (false, 350)];
    assert_eq!([run(), run(), run(), run(), run()], expected);
    let counts = bench.machine.faults();
    assert_eq!((counts.failed, counts.hung, counts.lost, counts.refused_broken), (1, 1, 1, 1));
}

fn faults(change: impl FnOnce(&mut FaultCounts)) -> FaultCounts {
    let mut counts = FaultCounts::default();
    change(&mut counts);
    counts
}
