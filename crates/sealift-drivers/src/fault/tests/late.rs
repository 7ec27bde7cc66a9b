//! Completions that come later.

use super::*;
use sealift_core::SimulatedClock;
use std::time::{Duration, Instant};

#[test]
fn a_late_job_comes_after_its_time_and_rings_then() {
    on_each("late=2,late-ms=40", |device, bell| {
        let begin = Instant::now();
        submit_all(&*device, 2);
        let mut done = vec![];
        for rings in 2..=3 {
            bell.wait(rings);
            done.extend(polled(&*device));
            // After a pause of the machine the late one may be there already.
            assert!(tickets(&done) == [1] || begin.elapsed() >= Duration::from_millis(40));
        }
        assert_eq!((tickets(&done), bytes_of(&done[1])), (vec![1, 2], truth(&*device, 2)));
        let (_, timing) = done[1].outcome.as_ref().unwrap();
        assert!(timing.end_ns - timing.start_ns >= 40_000_000);
        assert_eq!(bell.rings(), 3);
    });
}

#[test]
fn several_late_jobs_ring_though_the_first_was_taken_long_ago() {
    on_each("late=1,late-ms=15", |device, bell| {
        for number in 1..=3 {
            let begin = Instant::now();
            device.submit(job(number)).unwrap();
            let mut found = vec![];
            for rings in [2 * number - 1, 2 * number] {
                bell.wait(usize::try_from(rings).unwrap());
                found.extend(tickets(&polled(&*device)));
                assert!(found.is_empty() || begin.elapsed() >= Duration::from_millis(15));
            }
            assert_eq!(found, [number]);
        }
    });
}

#[test]
fn a_late_run_returns_after_its_time() {
    let device = open("fault:late=1,late-ms=20(null)").unwrap();
    let start = Instant::now();
    let timing = run(&*device, &mut job(0)).unwrap();
    assert!(start.elapsed() >= Duration::from_millis(20));
    assert!(timing.end_ns - timing.start_ns >= 20_000_000);
}

#[test]
fn in_virtual_time_a_late_job_is_an_event_of_the_clock() {
    let (clock, (context, bell)) = (Arc::new(SimulatedClock::new()), context());
    let context = Context { clock: Arc::clone(&clock) as _, ..context };
    let spec = "fault:late=1,late-ms=3600000(null)".parse().unwrap();
    let device = crate::open(&spec, &context).unwrap();
    submit_all(&*device, 1);
    bell.wait(1);
    assert!(polled(&*device).is_empty());
    assert_eq!(clock.next_ns(), Some(3_600_000_000_000));
    assert!(clock.step());
    assert_eq!((bell.rings(), tickets(&polled(&*device))), (2, vec![1]));
}

#[test]
fn a_late_job_ends_with_its_device() {
    let (context, bell) = context();
    let spec = "fault:late=1,late-ms=3600000(null)".parse().unwrap();
    let device = crate::open(&spec, &context).unwrap();
    submit_all(&*device, 1);
    bell.wait(1);
    assert!(polled(&*device).is_empty());
    drop(device);
    assert_eq!(Arc::strong_count(&bell), 2, "no thread holds the bell");
}
