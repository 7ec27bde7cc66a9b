//! Devices that are late, or never ready, or asked by many.

use super::load::{gpu, impatient, raw_keys, seal_and_open, sessions, worker};
use fake_cuda::Fake;
use sealift_gpu::gpu::{Room, Slab};
use std::thread;
use std::time::Duration;

const MOMENT: Duration = Duration::from_millis(20);

#[test]
fn a_device_that_is_late_is_waited_for() {
    let fake = Fake::new().unwrap();
    fake.plan("late=3");
    let worker = worker(gpu(&fake).unwrap());
    seal_and_open(&worker, &raw_keys()).unwrap();
    let report = fake.report();
    assert!(report.of("cuEventQuery") >= 4 * 12, "{report:?}");
}

#[test]
fn a_device_that_is_never_ready_is_given_up_and_nobody_hangs() {
    let fake = Fake::new().unwrap();
    let worker = impatient(gpu(&fake).unwrap(), MOMENT);
    seal_and_open(&worker, &sessions()).unwrap();
    fake.plan("never");
    let error = seal_and_open(&worker, &sessions()).unwrap_err();
    assert!(error.to_string().contains("did not answer for 0 s and is taken as lost"), "{error}");
    assert_eq!(worker.broken(), Some(error.clone()));
    assert_eq!(seal_and_open(&worker, &raw_keys()).unwrap_err(), error);
    drop(worker);
    let report = fake.report();
    assert_eq!((report.of("hangs"), report.of("current")), (0, 0));
    assert_eq!(report.of("held_bytes"), 0, "pinned memory that CUDA keeps was wiped");
    assert!(report.of("pinned_memories") > 0, "the device may still write there");
}

#[test]
fn nobody_is_lent_memory_that_a_device_may_write() {
    let fake = Fake::new().unwrap();
    let gpu = gpu(&fake).unwrap();
    let mut lane = gpu.lane().unwrap();
    lane.reserve(&Room::default().with(Slab::Output, 100)).unwrap();
    fake.plan("never");
    lane.read(Slab::Output, 100).unwrap();
    assert!(lane.host().output.is_empty());
    assert!(lane.wait(MOMENT).unwrap_err().is_loss());
    assert!(lane.host().output.is_empty());
}

#[test]
fn threads_share_a_device() {
    let fake = Fake::new().unwrap();
    let worker = worker(gpu(&fake).unwrap());
    thread::scope(|scope| {
        for number in 0..4 {
            let worker = &worker;
            scope.spawn(move || {
                for round in 0..5 {
                    let keys = if (number + round) % 2 == 0 { raw_keys() } else { sessions() };
                    seal_and_open(worker, &keys).unwrap();
                }
            });
        }
    });
    drop(worker);
    let report = fake.report();
    for what in ["device_memories", "pinned_memories", "streams", "contexts", "wrong_calls"] {
        assert_eq!(report.of(what), 0, "{what}");
    }
    assert_eq!((report.of("dirty_device_bytes"), report.of("dirty_pinned_bytes")), (0, 0));
}
