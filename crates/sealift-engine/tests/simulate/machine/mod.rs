//! A simulated device by itself: its times, its bytes and everything that can go wrong with it.

mod bench;
mod faults;

use bench::{Bench, KEY, NONCE, Rings, model, seal};
use sealift_core::{
    Batch, Clock, Column, Cost, Device, DeviceError, Keys, Notify, Op, Ops, Origin, Refusal, Role,
    SimulatedClock, Status, Tags, Text,
};
use sealift_engine::simulate::{FaultCounts, FaultPlan, Jitter, Model, SharedCores, toy};
use std::sync::Arc;
use std::sync::atomic::Ordering;

#[test]
fn jobs_finish_one_after_the_other_when_the_clock_says_so() {
    let bench = Bench::new(model());
    bench.submit_seals(0..3);
    assert_eq!(
        bench.finished(&[0, 99, 100, 250, 300]),
        [vec![], vec![], vec![0], vec![1], vec![2]]
    );
    assert_eq!(bench.rings.0.load(Ordering::Relaxed), 3);
    bench.submit_seals(3..4);
    bench.clock.step();
    let (output, timing) = bench.poll().remove(0).outcome.unwrap();
    assert_eq!((timing.start_ns, timing.end_ns, timing.compute_ns), (300, 400, 100));
    assert_eq!(timing.origin, Origin::Simulated);
    let (sealed, tag) = toy::seal(&KEY, &NONCE, b"aad", b"some text");
    assert_eq!((output.text_of(0), output.tag_of(0)), (&sealed[..], &tag[..]));
    assert_eq!((bench.machine.jobs(), bench.machine.held()), (4, 0));
}

#[test]
fn workers_take_jobs_at_the_same_time_and_costs_count_messages_and_bytes() {
    let cost = Cost::new(100.0, 10.0, 1.0).unwrap();
    let bench = Bench::new(Model { workers: 2, cost, ..model() });
    // One message, three bytes of aad, nine of text.
    bench.submit_seals(0..3);
    assert_eq!(bench.finished(&[121, 122, 243, 244]), [vec![], vec![0, 1], vec![], vec![2]]);
}

#[test]
fn machines_on_the_same_cores_slow_each_other() {
    let cores = Arc::new(SharedCores::default());
    let bench = |name: &str, clock: &Arc<SimulatedClock>| {
        let (name, shared_cores) = (name.to_owned(), Some(Arc::clone(&cores)));
        Bench::with_clock(Model { name, shared_cores, ..model() }, Arc::clone(clock))
    };
    let clock = Arc::new(SimulatedClock::new());
    let (one, other) = (bench("one", &clock), bench("other", &clock));
    one.submit_seals(0..1);
    other.submit_seals(0..1);
    assert_eq!(one.finished(&[99, 100]), [vec![], vec![0]]);
    assert_eq!(other.finished(&[199, 200]), [vec![], vec![0]]);
    one.submit_seals(1..2);
    assert_eq!(one.finished(&[299, 300]), [vec![], vec![1]]);
    assert_eq!([one.machine.faults().contended, other.machine.faults().contended], [0, 1]);
}

#[test]
fn a_full_device_hands_the_job_back() {
    let bench = Bench::new(model());
    bench.submit_seals(0..4);
    assert_eq!(bench.submit(4, seal()), Err(Refusal::Full { in_flight: 4, slots: 4 }));
    bench.clock.step();
    assert_eq!(bench.submit(4, seal()), Err(Refusal::Full { in_flight: 4, slots: 4 }), "no poll");
    bench.poll();
    bench.submit(4, seal()).unwrap();
    assert_eq!(bench.machine.faults(), FaultCounts::default(), "its slots are no fault");
}

#[test]
fn opens_verifies_and_raw_keys_work_and_a_wrong_tag_gives_zeros() {
    let bench = Bench::new(model());
    let (sealed, tag) = toy::seal(&KEY, &NONCE, b"", b"some text");
    let wrong = [tag[..15].to_vec(), vec![tag[15] ^ 1]].concat();
    let tags = [&tag[..], &wrong, &tag, &wrong].concat();
    let ops = [Op::Open, Op::Open, Op::Verify, Op::Verify].to_vec();
    let keys = Keys::Raw(Column::Same(KEY.to_vec().into()));
    let nonces = Column::Same(NONCE.to_vec().into());
    let text = Text::Apart(Column::Same(sealed.into()));
    let batch = Batch {
        ops: Ops::Each(ops.into()),
        ..Batch::open(4, keys, nonces, text, Tags::Apart(Column::fixed(tags, 16)))
    };
    bench.submit(0, batch).unwrap();
    bench.clock.step();
    let (output, _) = bench.poll().remove(0).outcome.unwrap();
    let expected = [Status::Ok, Status::AuthFailed, Status::Ok, Status::AuthFailed];
    assert_eq!(output.status(), expected);
    assert_eq!((output.text_of(0), output.text_of(1)), (&b"some text"[..], &[0; 9][..]));
}

#[test]
fn a_run_on_the_calling_thread_passes_its_time() {
    let bench = Bench::new(Model { runs_on_calling_thread: true, ..model() });
    bench.submit_seals(0..1);
    assert_eq!(bench.run().unwrap().end_ns, 100);
    assert_eq!(bench.run().unwrap().start_ns, 100);
    assert_eq!((bench.clock.now_ns(), bench.rings.0.load(Ordering::Relaxed)), (200, 1));
    let refused = Bench::new(model()).run().unwrap_err();
    assert_eq!(refused, DeviceError::NotOnCallingThread { device: "m".into() });
}

#[test]
fn jitter_keeps_the_mean_and_the_seed_decides() {
    let ends = |jitter, seed| {
        let bench = Bench::new(Model { jitter, seed, slots: 10_000, ..model() });
        bench.submit_seals(0..10_000);
        while bench.clock.step() {}
        assert_eq!(bench.poll().len(), 10_000);
        bench.clock.now_ns()
    };
    assert_eq!(ends(Jitter::None, 1), 1_000_000);
    for jitter in [Jitter::Even { share: 0.5 }, Jitter::Exponential] {
        let all_ns = ends(jitter, 1);
        assert!((970_000..1_030_000).contains(&all_ns), "{jitter:?}: {all_ns}");
        assert_eq!(all_ns, ends(jitter, 1));
        assert_ne!(all_ns, ends(jitter, 2));
    }
}

#[test]
fn a_model_says_what_it_is_and_refuses_what_it_cannot_be() {
    let quoted = Cost::new(1.0, 2.0, 3.0).unwrap();
    let bench = Bench::new(Model { role: Role::Real, quoted: Some(quoted), ..model() });
    let capabilities = bench.machine.capabilities();
    assert_eq!((capabilities.role, capabilities.origin), (Role::Real, Origin::Simulated));
    assert_eq!((capabilities.cost, capabilities.slots), (quoted, 4));
    let refused = |model: Model| {
        let notify: Arc<dyn Notify> = Arc::new(Rings::default());
        model.open(&Arc::new(SimulatedClock::new()), &notify).unwrap_err().to_string()
    };
    assert!(refused(Model { workers: 0, ..model() }).contains("workers"));
    assert!(refused(Model { slots: 0, ..model() }).contains("slots"));
    let jitter = Jitter::Even { share: 1.5 };
    assert!(refused(Model { jitter, ..model() }).contains("1.5"));
    let plan = FaultPlan::none().slow_from(0, 0.5);
    assert!(refused(Model { faults: plan, ..model() }).contains("0.5"));
}
