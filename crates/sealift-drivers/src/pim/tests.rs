use super::*;
use crate::testing::{KeyRing, context, job, session};
use sealift_core::{Batch, Column, NonceRule, Op, Ops, Output, Place, Status, TagLength, Tags};

fn opened(spec: &str) -> Result<Arc<dyn Device>, OpenError> {
    crate::open(&spec.parse().unwrap(), &context().0)
}

#[test]
fn simulated_dpus_are_a_device_only_when_they_are_asked_for() {
    let Probe::Absent { reason } = Pim.probe() else { panic!("it is a device by itself") };
    assert!(reason.ends_with("write pim:dpus=64"));
    assert_eq!(opened("pim").unwrap_err().to_string(), format!("pim is absent: {reason}"));
    for (spec, detail) in [
        ("pim:dpus=3", "3 of 640 DPUs at 266 MHz, 16 tasklets each; simulated"),
        (
            "pim:preset=upmem-2560-350,hazard=on,tasklets=24",
            "64 of 2560 DPUs at 350 MHz, 24 tasklets each, with the register hazard; simulated",
        ),
    ] {
        let device = opened(spec).unwrap();
        let found = device.capabilities();
        assert_eq!((found.name.as_str(), found.driver), (spec, "pim"));
        assert_eq!((found.role, found.origin), (Role::Simulated, Origin::Simulated));
        assert_eq!((found.detail.as_str(), found.workers), (detail, 1));
    }
}

#[test]
fn a_setting_that_cannot_be_is_refused_with_what_would_be_right() {
    for (spec, right) in [
        ("pim:dpus=0", "dpus=0: give a whole number from 1 to 640"),
        ("pim:dpus=641", "1 to 640"),
        ("pim:dpus=four", "1 to 640"),
        ("pim:tasklets=25", "tasklets=25: give a whole number from 1 to 24"),
        ("pim:hazard=yes", "hazard=yes: write on or off"),
        ("pim:preset=hifn", "upmem-2560-350"),
        ("pim:ranks=2", "it takes dpus, preset, tasklets, hazard"),
    ] {
        let error = opened(spec).unwrap_err().to_string();
        assert!(error.starts_with(spec) && error.contains(right), "{error}");
    }
}

/// Seals texts of these lengths, each with an aad, on a device; opens them again; gives the sealed texts and tags.
fn round_trip(device: &dyn Device, lengths: &[usize], nonce_bytes: usize) -> (Vec<u8>, Vec<u8>) {
    let count = lengths.len();
    let ends = std::iter::once(0).chain(lengths.iter().scan(0, |end, length| {
        *end += length;
        Some(u64::try_from(*end).unwrap())
    }));
    let ends: Vec<u64> = ends.collect();
    let text: Vec<u8> = (0..lengths.iter().sum()).map(|at: usize| at.to_le_bytes()[0]).collect();
    let nonces: Vec<u8> = (0..count * nonce_bytes).map(|at| at.to_le_bytes()[0]).collect();
    let sessions: Vec<_> = (0..count).map(|n| session(u32::try_from(n % 3).unwrap())).collect();
    let keys = KeyRing::of(3);
    let run = |op: Op, text: &[u8], tags: Tags<'_>| {
        let batch = Batch {
            ops: Ops::All(op),
            aad: Column::fixed(&nonces, nonce_bytes),
            tags,
            nonce_rule: NonceRule::HazmatAnyLength,
            ..Batch::seal(
                count,
                sessions.clone(),
                Column::fixed(&nonces, nonce_bytes),
                Column::offsets64(text, ends.clone()),
            )
        };
        let (mut made, mut made_tags) = (vec![0xee; text.len()], vec![0xee; 16 * count]);
        let mut status = vec![Status::NotProcessed; count];
        let mut places = vec![];
        let mut rest = &mut made[..];
        for length in lengths {
            let (place, behind) = rest.split_at_mut(*length);
            places.push(place);
            rest = behind;
        }
        let output = Output {
            text: Place::Scattered(places),
            tags: Place::fixed(&mut made_tags, 16),
            status: &mut status,
        };
        let timing = device.run(&mut Work::new(&batch, output, &keys).unwrap()).unwrap();
        let parts_ns = timing.copy_in_ns + timing.compute_ns + timing.copy_out_ns;
        assert_eq!(timing.end_ns - timing.start_ns, parts_ns);
        (made, made_tags, status, timing)
    };
    let (sealed, tags, status, _) = run(Op::Seal, &text, Tags::Apart(Column::Empty));
    assert_eq!(status, vec![Status::Ok; count]);
    let (back, _, status, timing) =
        run(Op::Open, &sealed, Tags::Apart(Column::fixed(&tags, TagLength::FULL.bytes())));
    assert_eq!((&back, status), (&text, vec![Status::Ok; count]));
    assert!(device.capabilities().origin == timing.origin && timing.compute_ns > 0);
    assert_eq!(timing.measured_copy_ns > 0, timing.origin == Origin::Simulated);
    (sealed, tags)
}

#[test]
fn long_messages_that_all_dpus_share_are_as_the_reference_has_them() {
    let reference = opened("reference").unwrap();
    for (spec, lengths) in [
        ("pim:dpus=3", &[40_000, 32_768][..]),
        ("pim:dpus=2,tasklets=24,hazard=on", &[65_537]),
        ("pim:dpus=1", &[50_000, 33_000]),
        ("pim:dpus=64,tasklets=1", &[33_001, 5, 0]),
    ] {
        let device = opened(spec).unwrap();
        for nonce_bytes in [12, 16] {
            let expected = round_trip(&*reference, lengths, nonce_bytes);
            assert!(round_trip(&*device, lengths, nonce_bytes) == expected, "{spec} {nonce_bytes}");
        }
    }
}

#[test]
fn planned_failures_of_simulated_dpus_leave_nothing_and_the_next_batch_is_right() {
    let device = opened("fault:fail=2(pim:dpus=2)").unwrap();
    for number in 1..=3 {
        let mut job = job(number);
        let keys = Arc::clone(&job.keys);
        let ran = device.run(&mut Work::new(&job.batch, job.output.as_output(), &*keys).unwrap());
        assert_eq!(ran.is_err(), number == 2);
    }
    assert_eq!(device.capabilities().role, Role::TestOnly);
}

#[test]
fn simulated_and_measured_seconds_are_told_apart_and_nothing_is_left_behind() {
    let (device, watch) = open(&"pim:dpus=2".parse().unwrap(), &context().0).unwrap();
    assert_eq!(watch.tally(), Tally::default());
    round_trip(&*device, &[100; 9], 12);
    let tally = watch.tally();
    assert_eq!(tally.launches, 2);
    assert!(tally.instructions > 2 * 9 * 8 * 500);
    for seconds in [
        tally.bus_in_seconds,
        tally.compute_seconds,
        tally.bus_out_seconds,
        tally.copy_seconds,
        tally.simulating_seconds,
    ] {
        assert!(seconds > 0.0, "{tally:?}");
    }
    let bank = watch.0.lock();
    let mut memory = vec![1; 1 << 20];
    for dpu in 0..2 {
        bank.as_ref().unwrap().read_mram(dpu, &mut memory);
        assert!(memory.iter().all(|byte| *byte == 0), "DPU {dpu}");
    }
    drop(bank);
    device.release();
    assert_eq!(watch.tally(), Tally::default());
    round_trip(&*device, &[1, 2, 3], 12);
}
