use super::*;
use crate::simulate::Model;

fn member(workers: usize) -> Member {
    let cost = Cost::new(100.0, 0.0, 0.0).unwrap();
    let model = Model { workers, slots: 8, ..Model::new("device", cost) };
    Member::new(&model.capabilities())
}

/// Takes so many batches at once, each of which begins so much later, and tells what waking is then.
fn after(member: &mut Member, batches: usize, waits_ns: u64) -> f64 {
    let shape = Shape::of_seals(1, 16);
    let given: Vec<_> = (0..batches).map(|_| member.take(&shape, 0)).collect();
    for one in given {
        let timing = Timing::in_memory(waits_ns, waits_ns + 100);
        member.finished(&shape, &timing, false, Some(one), waits_ns + 100);
    }
    assert_eq!(member.in_flight, 0);
    member.hand_over_ns
}

#[test]
fn a_lone_batch_tells_what_waking_takes_be_it_more_or_less() {
    let mut device = member(1);
    assert!(after(&mut device, 1, 500_000) > HAND_OVER_NS);
    let before = device.hand_over_ns;
    assert!(after(&mut device, 1, 0) < before);
}

#[test]
fn beside_others_a_free_worker_tells_only_that_waking_takes_less() {
    let mut device = member(4);
    let first = after(&mut device, 1, 500_000);
    // The second to fourth waited for a core, it may be.
    let mut crowded = member(4);
    assert!(after(&mut crowded, 4, 500_000) <= first);
    let before = crowded.hand_over_ns;
    assert!(after(&mut crowded, 4, 0) < before * (15.0_f64 / 16.0).powi(3));
}

#[test]
fn what_waits_for_a_worker_tells_nothing_of_waking() {
    let (mut alone, mut queued) = (member(1), member(1));
    for waits_ns in [0, 500_000] {
        let first = after(&mut alone, 1, waits_ns);
        assert!((after(&mut queued, 6, waits_ns) - first).abs() < 1e-6);
    }
}

#[test]
fn processor_time_counts_only_for_a_device_that_computes_on_this_machine() {
    for (works_on, expected_ns) in [(Resource::Cores(vec![]), 100.0), (Resource::Own, 1_000.0)] {
        let is_host = works_on.is_cores();
        let model = Model { works_on, ..Model::new("device", Cost::new(100.0, 0.0, 0.0).unwrap()) };
        let mut device = Member::new(&model.capabilities());
        let shape = Shape::of_seals(1, 16);
        let timing = Timing { core_ns: Some(100), ..Timing::in_memory(0, 1_000) };
        (0..50).for_each(|_| device.finished(&shape, &timing, false, None, 1_000));
        let found_ns = device.predict_ns(&shape);
        assert!((found_ns / expected_ns - 1.0).abs() < 0.1, "{is_host}: {found_ns}");
        assert_eq!(device.is_timed(1e6), is_host);
    }
}

#[test]
fn one_batch_of_a_trial_says_what_batches_take_now() {
    let mut device = member(1);
    let shape = Shape::of_seals(1, 16);
    let finish = |device: &mut Member, took_ns: u64| {
        device.finished(&shape, &Timing::in_memory(0, took_ns), false, None, took_ns);
    };
    (0..200).for_each(|_| finish(&mut device, 140_000));
    // So little less is no surprise.
    device.explored(&shape, 140_000.0, 10_000_000);
    finish(&mut device, 120_000);
    let found_ns = device.predict_ns(&shape);
    assert!((found_ns / 120_000.0 - 1.0).abs() < 0.02, "{found_ns}");
}

#[test]
fn slow_batches_among_many_by_one_decision_count_as_they_weigh() {
    let shape = Shape::of_seals(1, 16);
    for works_on in [Resource::Own, Resource::Cores(vec![])] {
        let is_host = works_on.is_cores();
        let model = Model { works_on, ..Model::new("device", Cost::new(100.0, 0.0, 0.0).unwrap()) };
        let mut device = Member::new(&model.capabilities());
        for _ in 0..40 {
            device.worked(99, Some((shape, 100)));
            device.surprised(&shape, 100_100);
        }
        let found_ns = device.predict_ns(&shape);
        // On the cores it may have been something else that had the thread's core.
        let expected_ns = if is_host { 100.0 } else { 100.0 + 0.01 * 100_000.0 };
        assert!((found_ns / expected_ns - 1.0).abs() < 0.2, "{is_host}: {found_ns}");
    }
}
