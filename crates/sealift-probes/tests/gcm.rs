//! What an arm promises, on devices whose faults are chosen.

mod toy;

use sealift::Role;
use sealift_probes::{
    Arm, ArmError, ArmSpec, Columns, GcmArm, Planned, Regime, Sample, Shape, Verified,
};
use toy::{Fault, engine};

const MIX: [Planned; 4] = [Planned::Seal, Planned::Open, Planned::Seal, Planned::Bad];

fn spec(messages: usize, batch: usize, regime: Regime) -> ArmSpec {
    let shape = Shape { text_bytes: 40, aad_bytes: 5, ..Shape::default() };
    ArmSpec { columns: Columns::cycle(messages, &MIX, shape), regime, batch, threads: 1, seed: 9 }
}

fn prepared(fault: Fault, spec: &ArmSpec) -> Result<GcmArm, ArmError> {
    let toys = [("library", Role::Real, Fault::None), ("tried", Role::Real, fault)];
    GcmArm::prepare(&engine(&toys), "tried", spec)
}

fn whole_passes(sample: Sample, messages: u64, bytes: u64) {
    assert_eq!(
        sample.operations % messages,
        0,
        "{} messages are no whole passes",
        sample.operations
    );
    assert_eq!(sample.bytes, sample.operations / messages * bytes);
    assert!(sample.operations > 0 && sample.ns > 0);
    assert!((0.0..=1.0).contains(&sample.cpu_share));
}

#[test]
fn samples_count_messages_and_bytes_of_whole_passes() {
    for regime in [Regime::One, Regime::Sessions(7), Regime::Fresh] {
        let mut arm = prepared(Fault::None, &spec(100, 30, regime)).unwrap();
        assert_eq!(arm.device(), "tried");
        assert_eq!(arm.verified(), &Verified::Against(vec!["library".into()]));
        for seconds in [0.001, 0.01, 1e9] {
            let sample = arm.sample(seconds).unwrap();
            whole_passes(sample, 100, 4_000);
            assert!(sample.ns < 2_000_000_000, "{} ns are more than the cap allows", sample.ns);
        }
    }
}

#[test]
fn threads_each_work_all_messages() {
    let mut wide = spec(100, 100, Regime::Sessions(4));
    wide.threads = 3;
    let sample = prepared(Fault::None, &wide).unwrap().sample(0.005).unwrap();
    whole_passes(sample, 300, 12_000);
}

#[test]
fn mixed_lengths_of_keys_nonces_tags_and_texts_are_all_worked() {
    for regime in [Regime::One, Regime::Sessions(50), Regime::Fresh] {
        let mut mixed = spec(60, 16, regime);
        for at in 0..60 {
            mixed.columns.key_bytes[at] = [16, 24, 32][at % 3];
            mixed.columns.nonce_bytes[at] = [1, 12][at % 2];
            mixed.columns.tag_bytes[at] = [4, 8, 12, 13, 14, 15, 16][at % 7];
            mixed.columns.aad_bytes[at] = u32::try_from(at % 5).unwrap();
            mixed.columns.text_bytes[at] = at as u64;
        }
        let sample = prepared(Fault::None, &mixed).unwrap().sample(0.002).unwrap();
        whole_passes(sample, 60, (0..60).sum());
    }
}

#[test]
fn a_device_that_computes_wrong_is_not_measured() {
    for (fault, said) in [
        (Fault::WrongByte, "byte 2 of message 3, of 40 bytes, differs"),
        (Fault::WrongTag, "the tag of message 0 differs"),
        (Fault::OpensAll, "message 3 has status Ok and AuthFailed is right"),
        (Fault::LeavesPlaintext, "byte 0 of message 3, of 40 bytes, differs"),
        (Fault::WritesNothing, "byte 0 of message 0, of 40 bytes, differs"),
    ] {
        let error = prepared(fault, &spec(8, 8, Regime::One)).err();
        let wrong = ArmError::Wrong { device: "tried".into(), what: said.into() };
        assert_eq!(error, Some(wrong), "{fault:?}");
    }
}

#[test]
fn a_device_that_goes_wrong_later_ends_the_arm() {
    for (fault, said) in [
        (&Fault::OpensAll, "0 of 8 messages did not open and 2 were planned to"),
        (
            &Fault::WrongByte,
            "byte 2 of message 3, of 40 bytes, differs, and did not before it was timed",
        ),
        (&Fault::WrongTag, "the tag of message 0 differs, and did not before it was timed"),
    ] {
        let mut arm = prepared(Fault::After(50, fault), &spec(8, 8, Regime::One)).unwrap();
        let wrong = ArmError::Wrong { device: "tried".into(), what: said.into() };
        assert_eq!(first_error(&mut arm, 100), Some(wrong), "{fault:?}");
    }
}

#[test]
fn a_device_that_stops_working_is_noticed_although_its_old_results_are_right() {
    for (messages, batch, threads) in [(8, 8, 1), (400, 40, 1), (400, 40, 2), (2_000, 1, 1)] {
        let mut sealing = spec(messages, batch, Regime::One);
        sealing.columns.planned.fill(Planned::Seal);
        sealing.threads = threads;
        let fault = Fault::After(20_000, &Fault::WritesNothing);
        let mut arm = prepared(fault, &sealing).unwrap();
        let mut worked = 0;
        let error = loop {
            match arm.sample(0.001) {
                Ok(sample) => worked += sample.operations,
                Err(error) => break error.to_string(),
            }
            // Were it not noticed, it would go on for ever.
            assert!(worked < 20_000_000, "{batch} of {messages}, {threads} threads");
        };
        // The first byte of one message in 256 is right by chance.
        assert!(error.starts_with("tried gave a wrong result: byte "), "{error}");
        assert!(worked > 0, "{error}");
    }
}

#[test]
fn one_wrong_batch_of_many_is_found_when_its_turn_comes() {
    // A batch has one tag length, and only the last one has a message 3 to be wrong in. Together they are
    // more than is compared after one sample.
    let mut sealing = spec(26, 8, Regime::One);
    sealing.columns.planned.fill(Planned::Seal);
    sealing.columns.text_bytes.fill(10_000);
    for (at, tag_bytes) in sealing.columns.tag_bytes.iter_mut().enumerate() {
        *tag_bytes = [4, 8, 12, 13, 14, 15].get(at / 3).copied().unwrap_or(16);
    }
    let mut arm = prepared(Fault::After(50, &Fault::WrongByte), &sealing).unwrap();
    let error = first_error(&mut arm, 100).unwrap().to_string();
    assert!(error.contains("byte 2 of message 21, of 10000 bytes, differs"), "{error}");
}

#[test]
fn what_is_compared_after_each_sample_is_counted() {
    for (messages, batch, compared) in [(8, 8, 8), (400, 40, 240), (400, 1, 256), (400, 400, 400)] {
        let mut arm = prepared(Fault::None, &spec(messages, batch, Regime::One)).unwrap();
        let checked = |arm: &GcmArm| count(arm, "messages_checked_while_timed");
        let mut whole = 0;
        // A machine that paused the warm-up is taken for a slow one, whose samples work a part of all messages.
        for _ in 0..100 {
            let before = checked(&arm);
            let sample = arm.sample(0.05).unwrap();
            if sample.operations >= messages as u64 {
                assert_eq!(checked(&arm) - before, compared);
                whole += 1;
            }
            if whole == 5 {
                break;
            }
        }
        assert_eq!(whole, 5, "no sample worked all of {messages} messages in batches of {batch}");
    }
}

fn first_error(arm: &mut GcmArm, samples: usize) -> Option<ArmError> {
    (0..samples).find_map(|_| arm.sample(0.0001).err())
}

fn count(arm: &GcmArm, name: &str) -> u64 {
    arm.counts().into_iter().find(|(known, _)| *known == name).expect(name).1
}

#[test]
fn a_wish_to_stop_ends_the_preparing_before_the_next_batch() {
    let toys = [("library", Role::Real, Fault::None), ("tried", Role::Real, Fault::None)];
    // Before the keys, before each of four batches, before the keys that are measured, and before the
    // first warm-up.
    for patience in 0..7 {
        let mut asked = 0;
        let mut wanted = || {
            asked += 1;
            asked <= patience
        };
        let arm =
            GcmArm::prepare_while(&engine(&toys), "tried", &spec(8, 2, Regime::One), &mut wanted);
        assert_eq!(arm.err(), Some(ArmError::Stopped { device: "tried".into() }));
        assert_eq!(asked, patience + 1);
    }
}

#[test]
fn a_wish_to_stop_ends_the_installing_of_many_keys() {
    let toys = [("library", Role::Real, Fault::None), ("tried", Role::Real, Fault::None)];
    let mut left = 3;
    let mut wanted = || {
        left -= 1;
        left > 0
    };
    let many = spec(100_000, 1_000, Regime::Sessions(100_000));
    let arm = GcmArm::prepare_while(&engine(&toys), "tried", &many, &mut wanted);
    assert_eq!(arm.err(), Some(ArmError::Stopped { device: "tried".into() }));
    assert_eq!(left, 0);
}

#[test]
fn a_device_that_nobody_can_check_is_not_measured() {
    let alone =
        engine(&[("tried", Role::Real, Fault::None), ("fault", Role::TestOnly, Fault::None)]);
    let error = GcmArm::prepare(&alone, "tried", &spec(8, 8, Regime::One)).err().unwrap();
    assert!(matches!(error, ArmError::NoChecker { .. }), "{error}");
    assert!(error.to_string().starts_with("no other device checks tried: none is open"), "{error}");
}

#[test]
fn the_library_is_checked_by_another() {
    let both =
        engine(&[("library", Role::Real, Fault::None), ("oracle", Role::Oracle, Fault::None)]);
    let arm = GcmArm::prepare(&both, "library", &spec(8, 8, Regime::One)).unwrap();
    assert_eq!(arm.verified(), &Verified::Against(vec!["oracle".into()]));
}

#[test]
fn a_null_device_is_measured_unchecked_and_says_so() {
    let toys = [("library", Role::Real, Fault::None), ("null", Role::Null, Fault::WritesNothing)];
    let mut arm = GcmArm::prepare(&engine(&toys), "null", &spec(8, 8, Regime::One)).unwrap();
    assert_eq!(arm.verified(), &Verified::NothingToCheck);
    whole_passes(arm.sample(0.001).unwrap(), 8, 320);
    assert_eq!(count(&arm, "messages_checked_while_timed"), 0);
}

#[test]
fn modelled_seconds_are_not_measured() {
    let toys = [("library", Role::Real, Fault::None), ("model", Role::Simulated, Fault::None)];
    let error = GcmArm::prepare(&engine(&toys), "model", &spec(8, 8, Regime::One)).err().unwrap();
    assert_eq!(error, ArmError::Simulated { device: "model".into() });
}

#[test]
fn what_a_device_refuses_is_said_with_its_limit() {
    let mut long = spec(8, 8, Regime::One);
    long.columns.text_bytes[0] = 10_001;
    let error = prepared(Fault::None, &long).err().unwrap();
    assert!(matches!(error, ArmError::NoChecker { .. }), "{error}");
    let unknown = engine(&[("library", Role::Real, Fault::None)]);
    let error = GcmArm::prepare(&unknown, "cpu", &spec(8, 8, Regime::One)).err().unwrap();
    assert_eq!(error.to_string(), "no open device is called \"cpu\": there are library");
}
