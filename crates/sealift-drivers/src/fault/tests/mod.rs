mod driver;
mod late;
mod lost;

use super::*;
use crate::testing::{Bell, KeyRing, context, job, session};
use sealift_core::{Column, Op, Ops, Output, Place, Status, Tags};

/// A device over each of the two that tests can do without hardware.
fn on_each(settings: &str, check: impl Fn(Arc<dyn Device>, &Bell)) {
    for inner in ["reference:workers=1", "null:workers=2"] {
        let (context, bell) = context();
        let spec = format!("fault:{settings}({inner})");
        check(crate::open(&spec.parse().unwrap(), &context).unwrap(), &bell);
    }
}

fn open(spec: &str) -> Result<Arc<dyn Device>, OpenError> {
    crate::open(&spec.parse().unwrap(), &context().0)
}

fn submit_all(device: &dyn Device, jobs: u64) {
    (1..=jobs).for_each(|number| device.submit(job(number)).unwrap());
}

/// What can be polled, in the order of tickets.
fn polled(device: &dyn Device) -> Vec<Completion> {
    let mut done = vec![];
    device.poll(&mut done);
    done.sort_by_key(|completion| completion.ticket);
    done
}

fn tickets(done: &[Completion]) -> Vec<u64> {
    done.iter().map(|completion| completion.ticket.0).collect()
}

/// Text and tags of a job's results, which must be there and all right.
fn bytes_of(completion: &Completion) -> Vec<u8> {
    let (output, _) = completion.outcome.as_ref().unwrap();
    assert_eq!(output.status(), [Status::Ok; 2]);
    [output.text().0, output.tags()].concat()
}

/// What the wrapped device makes of a job.
fn truth(device: &dyn Device, number: u64) -> Vec<u8> {
    let inner = device.capabilities().name.split_once('(').unwrap().1.trim_end_matches(')');
    let mut job = job(number);
    run(&*open(inner).unwrap(), &mut job).unwrap();
    [job.output.text().0, job.output.tags()].concat()
}

fn run(device: &dyn Device, job: &mut Job) -> Result<Timing, DeviceError> {
    let keys = Arc::clone(&job.keys);
    device.run(&mut Work::new(&job.batch, job.output.as_output(), &*keys).unwrap())
}

fn flipped_bits(one: &[u8], other: &[u8]) -> u32 {
    assert_eq!(one.len(), other.len());
    one.iter().zip(other).map(|(a, b)| (a ^ b).count_ones()).sum()
}

#[test]
fn before_its_first_fault_it_is_the_wrapped_device() {
    on_each(
        "fail=1000,wrong=1000,late=1000,late-ms=1,hang=1000,die=1000,full=1000",
        |device, bell| {
            submit_all(&*device, 3);
            bell.wait(3);
            for completion in polled(&*device) {
                assert_eq!(bytes_of(&completion), truth(&*device, completion.ticket.0));
            }
            assert_eq!(bell.rings(), 3);
        },
    );
}

#[test]
fn each_so_many_th_job_fails_and_rings_and_the_others_are_right() {
    on_each("fail=3", |device, bell| {
        submit_all(&*device, 7);
        bell.wait(7);
        let done = polled(&*device);
        assert_eq!(tickets(&done), [1, 2, 3, 4, 5, 6, 7]);
        for completion in &done {
            let number = completion.ticket.0;
            if number.is_multiple_of(3) {
                let error = completion.outcome.as_ref().unwrap_err().to_string();
                let name = &device.capabilities().name;
                assert_eq!(error, format!("{name} failed: as ordered"));
            } else {
                assert_eq!(bytes_of(completion), truth(&*device, number));
            }
        }
        assert!(run(&*device, &mut job(8)).is_ok());
        assert!(run(&*device, &mut job(9)).is_err(), "runs are counted too");
    });
}

#[test]
fn each_so_many_th_batch_has_one_wrong_bit_that_is_said_to_be_right() {
    on_each("wrong=2,seed=7", |device, bell| {
        submit_all(&*device, 4);
        bell.wait(4);
        for completion in polled(&*device) {
            let number = completion.ticket.0;
            let flipped = flipped_bits(&bytes_of(&completion), &truth(&*device, number));
            assert_eq!(flipped, u32::from(number.is_multiple_of(2)), "job {number}");
        }
        let mut runs = [job(5), job(6)];
        runs.iter_mut().for_each(|job| assert!(run(&*device, job).is_ok()));
        for (job, number, wrong) in [(&runs[0], 5, 0), (&runs[1], 6, 1)] {
            let made = [job.output.text().0, job.output.tags()].concat();
            assert_eq!(flipped_bits(&made, &truth(&*device, number)), wrong);
        }
    });
}

#[test]
fn the_seed_decides_which_bit_is_wrong() {
    let made = |seed: u64| {
        let mut job = job(1);
        let device = open(&format!("fault:wrong=1,seed={seed}(null)")).unwrap();
        run(&*device, &mut job).unwrap();
        [job.output.text().0, job.output.tags()].concat()
    };
    let all: Vec<_> = (0..400).map(made).collect();
    assert!(all.iter().all(|made| flipped_bits(made, &[0; 42]) == 1));
    let bytes_hit = (0..42).filter(|&at| all.iter().any(|made| made[at] != 0)).count();
    assert_eq!(bytes_hit, 42, "texts and tags of both messages");
    assert_eq!(made(3), all[3]);
}

#[test]
fn what_did_not_open_is_said_to_be_right_and_what_is_only_verified_is_left_alone() {
    let (keys, nonce) = (KeyRing::of(1), [1; 12]);
    let made = |op| {
        let batch = Batch {
            ops: Ops::All(op),
            tags: Tags::Apart(Column::fixed(&[9; 16], 16)),
            ..Batch::seal(1, session(0), Column::fixed(&nonce, 12), Column::fixed(b"forged", 6))
        };
        let (mut text, mut status) = ([7; 6], [Status::NotProcessed]);
        let place = if op == Op::Open { Place::fixed(&mut text, 6) } else { Place::Empty };
        let output = Output { text: place, tags: Place::Empty, status: &mut status };
        let mut work = Work::new(&batch, output, &keys).unwrap();
        open("fault:wrong=1(reference)").unwrap().run(&mut work).unwrap();
        (text, status)
    };
    let (text, status) = made(Op::Open);
    assert_eq!((flipped_bits(&text, &[0; 6]), status), (1, [Status::Ok]));
    assert_eq!(made(Op::Verify), ([7; 6], [Status::AuthFailed]));
}

#[test]
fn each_so_many_th_submission_is_refused_as_full_and_given_back() {
    on_each("full=2", |device, bell| {
        device.submit(job(1)).unwrap();
        let given = job(2);
        let address = &raw const *given;
        let refused = device.submit(given).unwrap_err();
        let slots = device.capabilities().slots;
        assert_eq!(refused.refusal, Refusal::Full { in_flight: 1, slots });
        assert_eq!(&raw const *refused.job, address);
        device.submit(refused.job).unwrap();
        bell.wait(2);
        assert_eq!(tickets(&polled(&*device)), [1, 2]);
    });
}

#[test]
fn faults_combine_and_wrap_each_other() {
    on_each("fail=2,hang=3,full=5,die=4", |device, bell| {
        submit_all(&*device, 4);
        let refused = device.submit(job(5)).unwrap_err();
        assert!(matches!(refused.refusal, Refusal::Full { .. }));
        device.submit(refused.job).unwrap();
        bell.wait(4);
        let done = polled(&*device);
        assert_eq!(tickets(&done), [1, 2, 4, 5]);
        let failed = done.iter().map(|completion| completion.outcome.is_err());
        assert_eq!(failed.collect::<Vec<_>>(), [false, true, true, false]);
        assert!(matches!(device.submit(job(6)).unwrap_err().refusal, Refusal::Broken(_)));
    });
    let device = open("fault:fail=2(fault:fail=3(reference))").unwrap();
    let runs: Vec<_> = (1..=6).map(|n| run(&*device, &mut job(n)).is_ok()).collect();
    assert_eq!(runs, [true, false, false, false, true, false]);
}
