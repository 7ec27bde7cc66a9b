use super::*;
use crate::{Arm, Verified};
use sealift_kernels::Path;

fn spec(cipher: Cipher, way: Way) -> OffloadSpec {
    OffloadSpec { cipher, way, threads: 3, devices: 1, message_bytes: 48, batch: 5, seed: 7 }
}

fn count(arm: &OffloadArm, name: &str) -> u64 {
    arm.counts().into_iter().find(|(known, _)| *known == name).unwrap().1
}

#[test]
fn every_client_gets_its_own_messages_back_by_every_way() {
    for (_, cipher) in Cipher::ALL {
        for (_, way) in Way::ALL {
            let prepared = OffloadArm::prepare_while(&spec(cipher, way), &mut || true);
            if cipher == Cipher::AesGcm && Path::best().unwrap().is_none() {
                let error = prepared.err().unwrap().to_string();
                assert!(error.contains("cpu"), "{error}");
                continue;
            }
            let mut arm = prepared.unwrap();
            let checked = count(&arm, "messages_checked");
            let mut operations = 0;
            for _ in 0..3 {
                let sample = arm.sample(0.002).unwrap();
                assert_eq!(sample.bytes, 48 * sample.operations);
                assert_eq!(sample.operations % (3 * 5), 0, "whole rounds of all clients");
                operations += sample.operations;
            }
            assert_eq!(count(&arm, "messages_worked"), operations, "{cipher:?} {way:?}");
            assert_eq!(count(&arm, "batches_worked"), operations / 5);
            assert!(count(&arm, "messages_checked") > checked, "{cipher:?} {way:?}");
            assert!(arm.detail().contains(cipher.driver()), "{}", arm.detail());
            assert!(matches!(arm.verified(), Verified::Against(names) if names.len() == 1));
        }
    }
}

#[test]
fn who_sleeps_is_woken_and_who_works_itself_hands_nothing_over() {
    let counts = |way| {
        let spec = OffloadSpec { threads: 1, ..spec(Cipher::TripleDes, way) };
        let mut arm = OffloadArm::prepare_while(&spec, &mut || true).unwrap();
        arm.sample(0.01).unwrap();
        ["batches_worked", "sleeps_of_clients", "sleeps_of_devices"].map(|name| count(&arm, name))
    };
    let [batches, clients, devices] = counts(Way::Sleeping);
    assert!(batches > 0 && clients + devices > 0, "{batches} {clients} {devices}");
    // What devices do is counted with all that this process does, other tests too.
    let [batches, clients, _] = counts(Way::CallingThread);
    assert!(batches > 0 && clients < batches.max(10), "{batches} {clients}");
}

#[test]
fn what_can_not_be_is_refused_with_what_would_be_right() {
    let refused = |spec: OffloadSpec| {
        OffloadArm::prepare_while(&spec, &mut || true).err().unwrap().to_string()
    };
    let usual = || spec(Cipher::TripleDes, Way::Polling);
    for (wrong, said) in [
        (OffloadSpec { threads: 0, ..usual() }, "threads of 0: right would be 1 to 256"),
        (OffloadSpec { batch: 0, ..usual() }, "messages at once of 0: right would be 1 to 4096"),
        (OffloadSpec { devices: 1_000, ..usual() }, "take fewer devices"),
        (OffloadSpec { message_bytes: 20, ..usual() }, "right would be a multiple of 8"),
        (OffloadSpec { message_bytes: 0, ..usual() }, "right would be 8 to 1048576"),
    ] {
        let error = refused(wrong);
        assert!(error.contains(said), "{error}");
    }
    assert!(Cipher::parse("des").unwrap_err().to_string().contains("3des-cbc, aes-128-gcm"));
    assert!(Way::parse("dozing").unwrap_err().to_string().contains("calling thread, sleeping"));
    let stopped = OffloadArm::prepare_while(&usual(), &mut || false).err();
    assert!(matches!(stopped, Some(ArmError::Stopped { .. })));
}
