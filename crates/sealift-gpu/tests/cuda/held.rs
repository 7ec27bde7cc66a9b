//! Batches that stay in a device's memory.

use super::load::{KeyRing, gpu, session, worker};
use fake_cuda::Fake;
use sealift_core::{Batch, Column, OwnedOutput, Work};

fn batch() -> Batch<'static> {
    batch_of([100, 3_000, 17].map(|bytes| vec![7; bytes]))
}

fn batch_of(texts: [Vec<u8>; 3]) -> Batch<'static> {
    let texts = texts.map(Into::into);
    let nonces = Column::fixed(vec![1; 12 * 3], 12);
    let sessions = vec![session(0), session(1), session(2)];
    Batch::seal(3, sessions, nonces, Column::Scattered(texts.to_vec().into()))
}

#[test]
fn a_held_batch_crosses_the_link_once_each_way_and_is_wiped() {
    let fake = Fake::new().unwrap();
    let worker = worker(gpu(&fake).unwrap());
    let batch = batch();
    let [mut made, mut right] = [(); 2].map(|()| OwnedOutput::for_batch(&batch).unwrap());
    let mut work = Work::new(&batch, made.as_output(), &KeyRing).unwrap();
    let mut held = worker.hold(&mut work).unwrap();
    fake.plan("");
    for _ in 0..2 {
        held.work().unwrap();
    }
    let copies = ["cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2"];
    assert_eq!(copies.map(|copy| fake.report().of(copy)), [0, 0]);
    held.read().unwrap();
    assert_eq!(fake.report().of(copies[0]), 0);
    drop(held);
    worker.run(&mut Work::new(&batch, right.as_output(), &KeyRing).unwrap()).unwrap();
    for message in 0..3 {
        assert!(made.text_of(message) == right.text_of(message));
        assert_eq!(made.tag_of(message), right.tag_of(message));
    }
    assert_eq!(made.status(), right.status());
    drop(worker);
    let report = fake.report();
    for what in ["dirty_device_bytes", "dirty_pinned_bytes", "device_memories", "streams"] {
        assert_eq!(report.of(what), 0, "{what}");
    }
}

#[test]
fn other_programs_may_leave_texts_in_a_held_batch_and_read_what_is_made_of_them() {
    let fake = Fake::new().unwrap();
    let worker = worker(gpu(&fake).unwrap());
    let texts = [100, 3_000, 17].map(|bytes: usize| {
        (0..bytes).map(|at| at.wrapping_mul(13).to_le_bytes()[0]).collect::<Vec<_>>()
    });
    let whole = batch();
    let right = batch_of(texts.clone());
    let [mut made, mut expected] = [(); 2].map(|()| OwnedOutput::for_batch(&whole).unwrap());
    worker.run(&mut Work::new(&right, expected.as_output(), &KeyRing).unwrap()).unwrap();

    let mut work = Work::new(&whole, made.as_output(), &KeyRing).unwrap();
    let mut held = worker.hold(&mut work).unwrap();
    let places = held.places().unwrap();
    let mut messages: Vec<_> = places.iter().map(|place| (place.message, place.bytes)).collect();
    messages.sort_unstable();
    assert_eq!(messages, [(0, 100), (1, 3_000), (2, 17)]);
    for place in &places {
        assert_eq!(fake.peek(place.input, place.bytes), vec![7; place.bytes]);
        fake.poke(place.input, &texts[place.message]);
    }
    held.work().unwrap();
    for place in &places {
        let found = fake.peek(place.output.unwrap(), place.bytes);
        assert!(found == expected.text_of(place.message), "message {}", place.message);
        let tag = expected.tag_of(place.message);
        assert_eq!(fake.peek(place.result, 20), [tag, &[1, 0, 0, 0]].concat());
    }
    let refused = held.work().unwrap_err().to_string();
    assert!(refused.contains("its nonces have sealed"), "{refused}");
    held.read().unwrap();
    drop(held);
    for message in 0..3 {
        assert_eq!(made.tag_of(message), expected.tag_of(message));
    }
}

#[test]
fn a_batch_that_there_is_no_memory_to_hold_is_told_so_and_the_device_goes_on() {
    let fake = Fake::new().unwrap();
    let worker = worker(gpu(&fake).unwrap());
    fake.plan("memory=10000");
    let batch = batch();
    let mut output = OwnedOutput::for_batch(&batch).unwrap();
    let mut work = Work::new(&batch, output.as_output(), &KeyRing).unwrap();
    let error = worker.hold(&mut work).unwrap_err().to_string();
    assert!(error.contains("split the batch, or give memory back"), "{error}");
    fake.plan("");
    worker.hold(&mut work).unwrap().read().unwrap();
    assert_eq!(worker.broken(), None);
}
