//! What only the lab has: how it is named, and that nobody is given it by accident.

#![allow(clippy::unwrap_used, reason = "a test's helpers may panic")]

use sealift::{
    Batch, Column, Driver, Engine, EngineError, Key, OpenError, Options, Output, Place, Probe,
    Report, Role, Status,
};
use sealift_probes::peers::{PEERS, open};
use sealift_probes::{Arm, ArmSpec, Columns, GcmArm, Planned, Regime, Shape, Verified};
use std::num::NonZeroUsize;

#[test]
fn peers_are_no_drivers_for_users_and_no_engine_chooses_one() {
    for peer in PEERS {
        assert!(sealift::driver(peer.name()).is_err(), "{}", peer.name());
        if let Probe::Present { role, .. } = peer.probe() {
            assert_eq!(role, Role::TestOnly, "{}", peer.name());
        }
    }
    let engine = Engine::with_drivers(&["table", "slowed:percent=5(table)", "library"], PEERS);
    let engine = engine.unwrap();
    assert_eq!(seal(&engine, None).device, engine.device("library").unwrap());
}

#[test]
fn a_device_is_opened_with_those_that_tell_what_is_right() {
    let names = |device: &str| {
        let engine = open(device).unwrap();
        engine.devices().map(|(_, found)| found.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(names("table"), ["table", "library", "reference"]);
    assert_eq!(names("library"), ["library", "reference"]);
    assert_eq!(
        names("slowed:percent=50(table)"),
        ["slowed:percent=50(table)", "library", "reference"]
    );
}

#[test]
fn an_unknown_device_is_told_the_peers_too() {
    let error = open("tabel").unwrap_err().to_string();
    assert!(error.contains("\"tabel\"") && error.contains("table, ipp, slowed, cpu"), "{error}");
}

#[test]
fn a_library_that_is_not_there_is_absent_and_says_what_brings_it() {
    let error = open("ipp:lib=/nowhere/libippcp.so.13").unwrap_err();
    let EngineError::Open(OpenError::Absent { reason, .. }) = error else { panic!("{error}") };
    assert!(reason.contains("/nowhere/libippcp.so.13"), "{reason}");
    assert!(reason.ends_with("`pip install ipp-crypto` brings it"), "{reason}");
}

#[test]
fn a_file_that_is_another_library_is_refused() {
    let error = open("ipp:lib=libc.so.6").unwrap_err().to_string();
    assert!(error.contains("ippcpInit") && error.contains("pip install"), "{error}");
}

#[test]
fn a_slowed_device_says_what_it_wraps_and_takes_a_sane_share() {
    for (spec, said) in [
        ("slowed(library)", "write slowed:percent=5(library)"),
        ("slowed:percent=5", "wraps another device"),
        ("slowed:percent=0(library)", "percent=0: give 0.1 to 1000"),
        ("slowed:percent=NaN(library)", "percent=NaN"),
        ("slowed:percent=x(library)", "percent=x"),
        ("slowed:percent=5,more=1(library)", "no setting \"more\""),
        ("slowed:percent=5(librarie)", "no driver is called \"librarie\""),
    ] {
        let error = open(spec).unwrap_err().to_string();
        assert!(error.contains(said), "{spec}: {error}");
    }
    let engine = open("slowed:percent=5(library)").unwrap();
    let (_, found) = engine.devices().next().unwrap();
    assert!(found.detail.ends_with("slower by 5 %"), "{}", found.detail);
    // Its results are the wrapped driver's, so that one is not asked whether they are right.
    assert_eq!((found.driver, found.role), ("library", Role::TestOnly));
}

#[test]
fn a_slowed_null_device_is_a_null_device_and_is_not_checked() {
    let engine = open("slowed:percent=5(null)").unwrap();
    assert_eq!(engine.devices().next().unwrap().1.role, Role::Null);
    let columns = Columns::cycle(8, &[Planned::Seal, Planned::Bad], Shape::default());
    let spec = ArmSpec { columns, regime: Regime::One, batch: 8, threads: 1, seed: 1 };
    let mut arm = GcmArm::prepare(&engine, "slowed:percent=5(null)", &spec).unwrap();
    assert_eq!(arm.verified(), &Verified::NothingToCheck);
    assert!(arm.sample(0.001).unwrap().operations > 0);
}

#[test]
fn messages_that_are_only_verified_are_mixed_with_others_and_write_no_text() {
    let planned = [Planned::Seal, Planned::Verify, Planned::Open, Planned::Bad];
    let columns = Columns::cycle(64, &planned, Shape { text_bytes: 128, ..Shape::default() });
    let spec = ArmSpec { columns, regime: Regime::Fresh, batch: 32, threads: 1, seed: 1 };
    for device in ["table", "library", "cpu"] {
        // There may be no kernels for this processor.
        let Ok(engine) = open(device) else { continue };
        let mut arm = GcmArm::prepare(&engine, device, &spec).unwrap();
        assert!(arm.sample(0.01).unwrap().operations >= 64, "{device}");
        let planned = arm.counts().into_iter().find(|(name, _)| *name == "failures_planned");
        assert!(planned.unwrap().1 > 0, "{device}");
    }
}

#[test]
fn a_slowed_device_is_slower_by_its_share() {
    let engine = Engine::with_drivers(&["table", "slowed:percent=1000(table)"], PEERS).unwrap();
    let best = |device| {
        let ns = (0..20).map(|_| {
            let timing = seal(&engine, Some(device)).timing;
            timing.end_ns - timing.start_ns
        });
        ns.min().unwrap()
    };
    // Eleven times: no neighbour makes three of that.
    assert!(best("slowed:percent=1000(table)") > 3 * best("table"));
}

/// Seals some messages on one thread.
fn seal(engine: &Engine, on: Option<&str>) -> Report {
    let session = engine.session(Key::new(&[7; 16]).unwrap()).unwrap();
    let (nonces, texts) = (vec![1; 100 * 12], vec![2; 100 * 1_000]);
    let batch =
        Batch::seal(100, session.id(), Column::fixed(&nonces, 12), Column::fixed(&texts, 1_000));
    let (mut sealed, mut tags) = (vec![0; texts.len()], vec![0; 1_600]);
    let mut status = vec![Status::NotProcessed; 100];
    let output = Output {
        text: Place::fixed(&mut sealed, 1_000),
        tags: Place::fixed(&mut tags, 16),
        status: &mut status,
    };
    let on = on.map(|name| engine.device(name).unwrap());
    let options = Options { on, threads: NonZeroUsize::new(1), ..Options::default() };
    let report = engine.run(&batch, output, &options).unwrap();
    assert_eq!(status, [Status::Ok; 100]);
    report
}

/// Each peer's summary says what it is in a line.
#[test]
fn a_peer_tells_what_it_is_in_a_line() {
    let summary = |driver: &&dyn Driver| driver.summary();
    assert!(PEERS.iter().map(summary).all(|line| (20..100).contains(&line.len())));
}
