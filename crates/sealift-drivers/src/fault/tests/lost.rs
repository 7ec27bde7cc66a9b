//! Jobs that never come back, and those that must.

use super::*;
use crate::testing::KeyRing;
use sealift_core::{Key, KeySource};
use std::thread;

#[test]
fn the_job_that_hangs_is_held_with_its_keys_until_release_or_drop() {
    for ends_by_release in [true, false] {
        on_each("hang=2", |device, bell| {
            let mut jobs: Vec<_> = (1..=3).map(job).collect();
            let keys: Arc<dyn KeySource> = Arc::new(KeyRing::of(1));
            jobs[1].keys = Arc::clone(&keys);
            let batch = Arc::clone(&jobs[1].batch);
            jobs.into_iter().for_each(|job| device.submit(job).unwrap());
            bell.wait(2);
            assert_eq!(tickets(&polled(&*device)), [1, 3]);
            assert_eq!((Arc::strong_count(&batch), Arc::strong_count(&keys)), (2, 2));
            if ends_by_release {
                device.release();
                assert!(polled(&*device).is_empty(), "it never completes");
            } else {
                drop(device);
            }
            assert_eq!((Arc::strong_count(&batch), Arc::strong_count(&keys)), (1, 1));
            assert_eq!(bell.rings(), 2);
        });
    }
}

#[test]
fn a_job_that_hangs_keeps_its_slot() {
    let device = open("fault:hang=1(null:workers=1)").unwrap();
    let slots = device.capabilities().slots;
    submit_all(&*device, slots as u64);
    let refused = device.submit(job(99)).unwrap_err();
    assert_eq!(refused.refusal, Refusal::Full { in_flight: slots, slots });
    device.release();
    device.submit(refused.job).unwrap();
}

#[test]
fn a_dead_device_gives_nothing_back_and_takes_nothing() {
    on_each("die=2", |device, bell| {
        let gate = Arc::new(Mutex::new(()));
        let closed = gate.lock().unwrap();
        for number in 1..=5 {
            let keys = Arc::new(Gated { keys: KeyRing::of(1), gate: Arc::clone(&gate) });
            device.submit(Box::new(Job { keys, ..*job(number) })).unwrap();
        }
        drop(closed);
        bell.wait(5);
        let done = polled(&*device);
        assert_eq!(done.len(), 2);
        for completion in &done {
            assert_eq!(bytes_of(completion), truth(&*device, completion.ticket.0));
        }
        let given = job(6);
        let address = &raw const *given;
        let refused = device.submit(given).unwrap_err();
        assert_eq!(&raw const *refused.job, address);
        let Refusal::Broken(error) = refused.refusal else { panic!("{:?}", refused.refusal) };
        assert!(
            error.to_string().ends_with("it is dead since batch 2 ended, as ordered"),
            "{error}"
        );
        assert_eq!(run(&*device, &mut job(7)), Err(error));
        device.release();
        assert!(polled(&*device).is_empty());
    });
}

#[test]
fn runs_bring_death_and_a_run_that_it_meets_fails() {
    on_each("die=2", |device, _| {
        assert!(run(&*device, &mut job(1)).is_ok());
        assert!(run(&*device, &mut job(2)).is_ok());
        assert!(run(&*device, &mut job(3)).is_err());
        assert!(matches!(device.submit(job(4)).unwrap_err().refusal, Refusal::Broken(_)));
    });
    let spec = "fault(reference)".parse().unwrap();
    let plan = Plan { die: Some(1), ..Plan::default() };
    let device = Faulty::new(&spec, plan, open("reference").unwrap(), &context().0);
    let gate = Arc::new(Mutex::new(()));
    let closed = gate.lock().unwrap();
    thread::scope(|scope| {
        let keys = Arc::new(Gated { keys: KeyRing::of(1), gate: Arc::clone(&gate) });
        let met = scope.spawn(|| run(&device, &mut Job { keys, ..*job(1) }));
        while device.lock().batches == 0 {
            thread::yield_now();
        }
        assert!(run(&device, &mut job(2)).is_ok());
        drop(closed);
        let error = met.join().unwrap().unwrap_err().to_string();
        assert!(error.ends_with("it is dead since batch 1 ended, as ordered"), "{error}");
    });
}

/// Keys that nobody gets or can let go of, and so ends no batch, before a gate opens.
struct Gated {
    keys: KeyRing,
    gate: Arc<Mutex<()>>,
}

impl KeySource for Gated {
    fn key(&self, session: SessionId) -> Option<Arc<Key>> {
        drop(self.gate.lock());
        self.keys.key(session)
    }
}

impl Drop for Gated {
    fn drop(&mut self) {
        drop(self.gate.lock());
    }
}

#[test]
fn no_job_is_lost_between_threads() {
    on_each("fail=3,wrong=4,late=5,late-ms=1,full=7", |device, _| {
        let mut back = vec![];
        thread::scope(|scope| {
            for thread in 0..4 {
                let device = &*device;
                scope.spawn(move || (0..50).for_each(|n| insist(device, job(thread * 50 + n))));
            }
            while back.len() < 200 {
                back.extend(tickets(&polled(&*device)));
                thread::yield_now();
            }
        });
        back.sort_unstable();
        assert_eq!(back, (0..200).collect::<Vec<_>>());
    });
}

fn insist(device: &dyn Device, mut job: Box<Job>) {
    while let Err(refused) = device.submit(job) {
        job = refused.job;
        thread::yield_now();
    }
}
