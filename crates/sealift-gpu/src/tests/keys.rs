//! Keys of sessions on a GPU of the tests.

use super::{KeyRing, Load, session, worker};
use crate::fake::Fake;
use crate::gpu::{KEY_BYTES, KEY_SLOTS};
use crate::resident::Resident;
use crate::{GpuError, Worker};
use sealift_core::{KeySource, Keys, SessionId};

/// What lies in a slot.
fn key_at(fake: &Fake, slot: usize) -> Vec<u8> {
    fake.seen.lock().unwrap().keys[KEY_BYTES * slot..][..KEY_BYTES].to_vec()
}

fn has_no_key(fake: &Fake) -> bool {
    fake.seen.lock().unwrap().keys.iter().all(|byte| *byte == 0)
}

/// Another session with the place of session 9.
fn other(generation: u32) -> SessionId {
    session(9 + u32::try_from(KEY_SLOTS).unwrap(), generation)
}

#[test]
fn keys_of_sessions_stay_until_they_are_retired_released_or_evicted() {
    let fake = Fake::new();
    let worker = worker(&fake, 2);
    let key_at = |slot| key_at(&fake, slot);
    for _ in 0..2 {
        Load::seal(session(9, 2), &[100]).check(&worker);
    }
    assert_eq!(fake.calls("write_keys"), 1);
    assert_eq!(key_at(9), KeyRing.key(session(9, 2)).unwrap().as_bytes());
    worker.retire(session(9, 1));
    assert_ne!(key_at(9), [0; KEY_BYTES], "it is another session's");
    worker.retire(session(9, 2));
    assert_eq!(key_at(9), [0; KEY_BYTES]);
    Load::seal(session(9, 2), &[100]).check(&worker);
    Load::seal(other(3), &[100]).check(&worker);
    assert_eq!(key_at(9)[..16], KeyRing.key(other(3)).unwrap().as_bytes()[..16]);
    assert_eq!(key_at(9)[16..], [0; 16], "the evicted key was longer");
    worker.release();
    assert_eq!(key_at(9), [0; KEY_BYTES]);
    Load::seal(session(4, 2), &[100]).check(&worker);
    drop(worker);
    assert!(has_no_key(&fake));
}

#[test]
fn sessions_that_share_a_place_are_worked_with_keys_of_the_batch() {
    let fake = Fake::new();
    let worker = worker(&fake, 2);
    let both = [session(9, 1), other(2), session(9, 1), session(6, 3)];
    Load::seal(Keys::Sessions(both[..].into()), &[100, 3_000, 20, 16]).check(&worker);
    assert_eq!(fake.calls("write_keys"), 0);
    Load::seal(session(6, 3), &[100]).check(&worker);
    assert_eq!(fake.calls("write_keys"), 1, "its place is free again");
}

fn call_fails() -> GpuError {
    GpuError::Call { device: "fake".to_owned(), code: "it is busy".to_owned() }
}

#[test]
fn a_key_that_could_not_be_overwritten_is_tried_again_by_whatever_comes_next() {
    type Next = fn(&Worker);
    let next: [(&str, Next); 4] = [
        ("another batch", |worker| Load::seal(session(1, 1), &[100]).check(worker)),
        ("another session's end", |worker| worker.retire(session(1, 1))),
        ("giving back", Worker::release),
        ("nothing", |_| ()),
    ];
    for (what, next) in next {
        let fake = Fake::new();
        let worker = worker(&fake, 2);
        Load::seal(session(9, 2), &[100]).check(&worker);
        fake.fail("write_keys", call_fails());
        worker.retire(session(9, 2));
        assert_ne!(key_at(&fake, 9), [0; KEY_BYTES]);
        let failed = Load::seal(session(1, 1), &[100]).run(&worker).unwrap_err().to_string();
        assert!(failed.contains("it is busy"), "{failed}");
        assert_eq!(worker.broken(), None);
        fake.repair();
        next(&worker);
        if what != "nothing" {
            assert_eq!(key_at(&fake, 9), [0; KEY_BYTES], "{what}");
        }
        drop(worker);
        assert!(has_no_key(&fake), "{what}");
    }
}

#[test]
fn keys_that_could_not_be_brought_or_forgotten_are_overwritten_later() {
    let fake = Fake::new();
    let worker = worker(&fake, 2);
    Load::seal(session(9, 2), &[100]).check(&worker);
    fake.fail("write_keys", call_fails());
    // It was evicted for one that did not come.
    Load::seal(other(3), &[100]).run(&worker).unwrap_err();
    worker.release();
    assert_ne!(key_at(&fake, 9), [0; KEY_BYTES]);
    fake.repair();
    worker.release();
    assert!(has_no_key(&fake));
}

#[test]
fn a_key_that_was_evicted_for_a_batch_with_keys_of_its_own_is_overwritten() {
    let fake = Fake::new();
    let worker = worker(&fake, 2);
    Load::seal(session(9, 1), &[100]).check(&worker);
    let both = [other(1), session(9, 2)];
    Load::seal(Keys::Sessions(both[..].into()), &[100, 20]).check(&worker);
    worker.retire(session(9, 1));
    assert!(has_no_key(&fake));
}

#[test]
fn a_device_that_is_lost_while_a_key_is_overwritten_works_no_more() {
    let forget: [fn(&Worker); 2] = [|worker| worker.retire(session(9, 2)), Worker::release];
    for forget in forget {
        let fake = Fake::new();
        let worker = worker(&fake, 2);
        Load::seal(session(9, 2), &[100]).check(&worker);
        let code = "it fell off".to_owned();
        fake.fail("write_keys", GpuError::Lost { device: "fake".to_owned(), code });
        forget(&worker);
        fake.repair();
        let broken = worker.broken().unwrap();
        assert!(broken.to_string().contains("it fell off"), "{broken}");
        assert_eq!(Load::seal(session(1, 1), &[100]).run(&worker).unwrap_err(), broken);
    }
}

#[test]
fn a_key_that_is_retired_while_it_is_used_stays_until_it_is_not() {
    let fake = Fake::new();
    let resident = Resident::default();
    let lend = |number| {
        let key = |id| KeyRing.key(id).ok_or_else(call_fails);
        resident.lend(&[session(number, 2)], &fake, key).unwrap().unwrap()
    };
    let lease = lend(9);
    resident.retire(session(9, 2), &fake).unwrap();
    assert_eq!(key_at(&fake, 9), KeyRing.key(session(9, 2)).unwrap().as_bytes());
    drop(lease);
    drop(lend(10));
    assert_eq!(key_at(&fake, 9), [0; KEY_BYTES]);
    assert_ne!(key_at(&fake, 10), [0; KEY_BYTES]);
}
