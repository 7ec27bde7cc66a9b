//! Batches that stay in the memory of a GPU of the tests.

use super::{Load, lengths, session, worker};
use crate::GpuError;
use crate::fake::Fake;
use sealift_core::{Column, Keys, Status};

#[test]
fn a_held_batch_is_brought_once_and_worked_where_it_is() {
    let sessions: Vec<_> = (1..=61).map(|number| session(number % 7, 1 + number % 7)).collect();
    let raw = Column::Same([7; 24].to_vec().into());
    for keys in [session(3, 5).into(), Keys::Sessions(sessions.into()), Keys::Raw(raw)] {
        let fake = Fake::new();
        let worker = worker(&fake, 1);
        let load = Load::seal(keys, &lengths());
        let made = load.run_by(|work| {
            let mut held = worker.hold(work)?;
            let writes = fake.calls("write");
            for _ in 0..2 {
                held.work()?;
            }
            assert_eq!((fake.calls("write"), fake.calls("read")), (writes, 0));
            for _ in 0..2 {
                held.read()?;
            }
            assert_eq!(fake.calls("write"), writes);
            // The only lane that is shared is free.
            Load::seal(session(1, 1), &[100]).check(&worker);
            Ok(())
        });
        let (texts, tags) = load.sealed();
        assert!(made.unwrap() == (texts, tags, vec![Status::Ok; 61]));
    }
}

#[test]
fn a_held_batch_keeps_its_keys_and_is_worked_when_it_is_read() {
    let fake = Fake::new();
    let worker = worker(&fake, 1);
    let load = Load::seal(session(3, 5), &[100, 3_000]);
    let made = load.run_by(|work| {
        let mut held = worker.hold(work)?;
        worker.retire(session(3, 5));
        held.read().map(drop)
    });
    let (texts, tags) = load.sealed();
    assert!(made.unwrap() == (texts, tags, vec![Status::Ok; 2]));
    assert_eq!(fake.calls("write_keys"), 0);
    assert!(
        Load::seal(session(1, 1), &[]).run_by(|work| worker.hold(work)?.read().map(drop)).is_ok()
    );
}

#[test]
fn a_held_batch_whose_places_nobody_is_told_is_sealed_again() {
    let fake = Fake::new();
    let worker = worker(&fake, 1);
    let made = Load::seal(session(3, 5), &[100]).run_by(|work| {
        let mut held = worker.hold(work)?;
        assert_eq!(held.places(), None, "this device tells no addresses");
        held.work()?;
        held.work().map(drop)
    });
    assert!(made.is_ok(), "{made:?}");
}

#[test]
fn a_held_batch_fails_with_its_device() {
    for (call, brings) in
        [("lane", true), ("reserve", true), ("write", true), ("many", false), ("wait", false)]
    {
        let fake = Fake::new();
        let worker = worker(&fake, 1);
        let load = Load::seal(session(3, 5), &[100]);
        let failed = load.run_by(|work| {
            let lost =
                || GpuError::Lost { device: "fake".to_owned(), code: "it fell off".to_owned() };
            if brings {
                fake.fail(call, lost());
                return worker.hold(work).map(drop);
            }
            let mut held = worker.hold(work)?;
            fake.fail(call, lost());
            let failed = held.work().unwrap_err();
            assert_eq!(held.read().unwrap_err(), failed);
            Err(failed)
        });
        let failed = failed.unwrap_err();
        assert!(failed.to_string().contains("it fell off"), "{call}: {failed}");
        assert_eq!(worker.broken(), Some(failed));
    }
}
