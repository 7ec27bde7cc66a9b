//! Simulated clients at an engine: what they report, also of devices that misbehave.

use sealift_core::{Batch, Clock, Column, Cost, DeviceError, Key, Work};
use sealift_engine::simulate::{
    Cipher, Clients, Draw, FaultKind, FaultPlan, Jitter, JobFault, Load, LoadReport, Model,
    Placement, Pool, Random, Shapes, SimulationError, ToyCipher, pool,
};
use sealift_engine::{DeviceId, Options};
use std::sync::Arc;

/// 100 ns a batch, 10 a message, a tenth a byte.
fn model(name: &str) -> Model {
    Model::new(name, Cost::new(100.0, 10.0, 0.1).unwrap())
}

fn ids(pool: &Pool) -> Vec<DeviceId> {
    pool.engine.devices().map(|(id, _)| id).collect()
}

fn on_all(pool: &Pool) -> Placement {
    Placement::PerBatch(ids(pool))
}

fn closed(clients: u32, batches: u64) -> Load {
    Load::closed(clients, Draw::Exponential { mean: 300.0 }, Shapes::mixed(8.0, 200.0), batches)
}

fn drive(models: Vec<Model>, load: Load) -> (Pool, LoadReport) {
    let pool = pool(models).unwrap();
    let load = Load { placement: on_all(&pool), ..load };
    let report = load.drive(&pool.engine, &pool.clock).unwrap();
    (pool, report)
}

fn all_went_well(report: &LoadReport) {
    let bad = (report.wrong, report.failed, report.lost, report.doubled);
    assert_eq!((bad, report.batches), ((0, 0, 0, 0), report.sent), "{report:?}");
}

#[test]
fn a_client_alone_is_timed_as_by_hand() {
    // Ten times: 100 ns of thought, then 100 + 10 + 90 ns of service.
    let shapes = Shapes::seals(Draw::Exactly(1.0), Draw::Exactly(900.0));
    let (pool, report) = drive(vec![model("a")], Load::closed(1, Draw::Exactly(100.0), shapes, 10));
    all_went_well(&report);
    assert_eq!((report.span_ns, pool.clock.now_ns()), (3_000, 3_000));
    assert_eq!((report.response_ns_mean, report.response_ns_p99), (200.0, 200));
    assert_eq!((report.messages, report.text_bytes), (10, 9_000));
    assert!((report.batches_per_s - 1e10 / 3e3).abs() < 1e-3);
    assert!((report.devices[0].utilisation - 2.0 / 3.0).abs() < 1e-9);
    assert_eq!((report.devices[0].name.as_str(), report.devices[0].batches), ("a", 10));
}

#[test]
fn mixed_work_of_closed_and_open_clients_comes_back_right() {
    for load in [closed(6, 400), Load::open(3e6, Shapes::mixed(8.0, 200.0), 400)] {
        let models = ["a", "b"].map(|name| Model { jitter: Jitter::Exponential, ..model(name) });
        let (pool, report) = drive(models.into(), load);
        all_went_well(&report);
        assert_eq!(report.devices.iter().map(|device| device.batches).sum::<u64>(), 400);
        assert!(report.response_ns_p99 as f64 > report.response_ns_mean);
        let auth_failed: u64 = ids(&pool)
            .iter()
            .map(|device| pool.engine.counters(*device).unwrap().auth_failed)
            .sum();
        let share = auth_failed as f64 / report.messages as f64;
        assert!((0.08..0.17).contains(&share), "an eighth was tampered with, not {share}");
    }
}

#[test]
fn a_seed_replays_a_run_exactly_and_another_one_does_not() {
    let run = |seed| {
        let late = JobFault::Late { times: 9.0 };
        let faults = FaultPlan::none().on_share(0.2, late).slow_from(50_000, 2.0);
        let models = ["a", "b"].map(|name| {
            let (faults, jitter) = (faults.clone(), Jitter::Even { share: 0.5 });
            Model { slots: 2, jitter, faults, seed, ..model(name) }
        });
        drive(models.into(), Load { seed, ..closed(9, 300) }).1
    };
    let first = run(1);
    all_went_well(&first);
    assert_eq!(first, run(1));
    let other = run(2);
    assert_ne!((first.digest, first.span_ns), (other.digest, other.span_ns));
}

#[test]
fn every_wrong_bit_is_found() {
    let faults = FaultPlan::none().on_share(0.5, JobFault::Wrong);
    let (pool, report) = drive(vec![Model { faults, ..model("a") }], closed(4, 300));
    assert!((100..200).contains(&report.wrong), "{report:?}");
    assert_eq!(report.wrong, pool.machines[0].faults().wrong);
}

#[test]
fn a_full_engine_gets_its_batches_again_when_something_came_back() {
    let (_, report) = drive(vec![Model { slots: 2, ..model("a") }], closed(8, 200));
    all_went_well(&report);
    assert!(report.refused > 100 && report.refused < 1_000, "{report:?}");
    let pretended = FaultPlan::none().full(500..80_000);
    let (pool, report) = drive(vec![Model { faults: pretended, ..model("a") }], closed(8, 200));
    all_went_well(&report);
    let refused = pool.machines[0].faults().refused_full;
    assert!((1..100).contains(&refused) && report.span_ns > 80_000, "{refused} and {report:?}");
}

#[test]
fn a_batch_that_is_handed_back_again_and_again_is_refused_once() {
    let report = drive(vec![Model { slots: 1, ..model("a") }], closed(8, 200)).1;
    all_went_well(&report);
    assert!((190..200).contains(&report.refused), "{report:?}");
}

#[test]
fn a_load_that_comes_all_at_once_can_be_stopped_before_it_is_sent() {
    let pool = pool(vec![model("a")]).unwrap();
    let load = Load::open(1e15, Shapes::mixed(2.0, 20.0), 100_000);
    let mut asked = 0;
    let stopped = load.drive_while(&pool.engine, &pool.clock, &mut || {
        asked += 1;
        asked < 3
    });
    assert_eq!(stopped.unwrap_err().to_string(), "the simulation was stopped");
    assert_eq!(pool.clock.now_ns(), 0, "nothing was worked");
}

#[test]
fn waiting_outside_a_full_device_takes_as_long_as_waiting_inside() {
    let run = |slots| {
        let load = Load::open(4.5e6, Shapes::mixed(8.0, 200.0), 300);
        let report = drive(vec![Model { slots, ..model("a") }], load).1;
        all_went_well(&report);
        report
    };
    let (outside, inside) = (run(2), run(300));
    assert!(outside.refused > 100 && inside.refused == 0, "{outside:?}");
    assert_eq!(LoadReport { refused: 0, ..outside }, inside, "first come is first served");
}

#[test]
fn failed_hung_and_dead_devices_end_a_run_and_leave_no_message_unaccounted() {
    let count = |plan: FaultPlan| {
        let (pool, report) = drive(vec![Model { faults: plan, ..model("a") }], closed(4, 100));
        assert_eq!((report.wrong, report.doubled), (0, 0));
        // Who waits for a dead device's word has not seen it die yet.
        pool.clock.advance_to(5_000);
        (pool.machines[0].faults(), report)
    };
    let (faults, report) = count(FaultPlan::none().on_job(7, JobFault::Fail));
    assert_eq!((faults.failed, report.lost, report.sent), (1, 0, 100));
    let (faults, report) = count(FaultPlan::none().on_job(7, JobFault::Hang));
    assert_eq!(faults.hung, 1);
    assert!(report.batches >= 99 && report.sent == 100, "three clients go on: {report:?}");
    assert_eq!(report.batches == 99, report.lost + report.failed > 0);
    let (faults, report) = count(FaultPlan::none().die_at(5_000));
    assert!(faults.lost > 0 && report.batches < 100, "{report:?}");
    assert!(report.lost + report.failed > 0);
}

#[test]
fn drawn_faults_of_every_kind_occur_and_of_no_other() {
    for kind in FaultKind::ALL {
        let mut occurred = 0;
        for seed in 0..20 {
            let faults = kind.draw(20_000, &mut Random::new(seed));
            let (pool, report) = drive(vec![Model { faults, seed, ..model("a") }], closed(4, 100));
            let counts = pool.machines[0].faults();
            occurred += u64::from(kind.occurred(&counts) > 0);
            assert_eq!(kind.occurred(&counts), counts.all(), "{kind:?} with {seed}: {counts:?}");
            assert_eq!(report.wrong, counts.wrong);
        }
        assert!(occurred >= 10, "{kind:?} occurred in {occurred} of 20 runs");
    }
}

/// The toy with all tags turned round.
#[derive(Debug)]
struct Turned;

impl Cipher for Turned {
    fn seal(&self, key: &Key, nonce: &[u8], aad: &[u8], text: &mut [u8]) -> [u8; 16] {
        ToyCipher.seal(key, nonce, aad, text).map(|byte| !byte)
    }

    fn work(&self, work: &mut Work<'_>, device: &str) -> Result<(), DeviceError> {
        ToyCipher.work(work, device)?;
        for message in 0..work.len() {
            if let sealift_core::SlotTag::Write(tag) = work.slot(message).tag {
                tag.iter_mut().for_each(|byte| *byte = !*byte);
            }
        }
        Ok(())
    }
}

#[test]
fn a_load_over_devices_of_another_cipher_finds_every_message_wrong() {
    let seals = Shapes::seals(Draw::Exactly(3.0), Draw::Exactly(40.0));
    let load = Load::closed(2, Draw::Exactly(100.0), seals, 20);
    let turned = || Arc::new(Turned) as Arc<dyn Cipher>;
    let device = Model { cipher: turned(), ..model("a") };
    let (_, report) = drive(vec![device.clone()], Load { cipher: turned(), ..load.clone() });
    all_went_well(&report);
    let (_, report) = drive(vec![device], load);
    assert_eq!((report.batches, report.wrong), (20, 60));
}

#[test]
fn a_load_that_nobody_wants_any_longer_stops() {
    let pool = pool([model("a")]).unwrap();
    let load = Load { placement: on_all(&pool), ..closed(2, 1_000_000) };
    let mut left = 100;
    let stopped = load.drive_while(&pool.engine, &pool.clock, &mut || {
        left -= 1;
        left > 0
    });
    assert_eq!(stopped.unwrap_err(), SimulationError::Stopped);
    assert!(pool.machines[0].jobs() < 100);
}

#[test]
fn what_nobody_sent_counts_as_doubled() {
    let pool = pool([model("a")]).unwrap();
    let session = pool.engine.session(Key::new(&[1; 16]).unwrap()).unwrap();
    let (nonces, texts) = (Column::fixed(vec![7; 24], 12), Column::fixed(vec![0; 8], 4));
    let stray = Batch::seal(2, session.id(), nonces, texts);
    let on = Options { on: Some(ids(&pool)[0]), ..Options::default() };
    pool.engine.submit(stray, &on).unwrap();
    let load = Load { placement: on_all(&pool), ..closed(2, 20) };
    let report = load.drive(&pool.engine, &pool.clock).unwrap();
    assert_eq!((report.batches, report.doubled, report.wrong), (20, 2, 0));
}

#[test]
fn a_load_that_cannot_be_is_refused_by_name() {
    let pool = pool([model("a")]).unwrap();
    let refused = |load: &Load| load.drive(&pool.engine, &pool.clock).unwrap_err().to_string();
    let shapes = || Shapes::mixed(8.0, 200.0);
    assert!(refused(&closed(0, 1)).contains("clients"));
    assert!(refused(&Load { sessions: 0, ..closed(1, 1) }).contains("sessions"));
    assert!(
        refused(&Load { placement: Placement::PerBatch(vec![]), ..closed(1, 1) }).contains("dev")
    );
    assert!(refused(&Load::open(0.0, shapes(), 1)).contains("batches_per_s"));
    let think_ns = Draw::Exactly(f64::NAN);
    let clients = Clients::Closed { count: 1, think_ns };
    assert!(refused(&Load { clients, ..closed(1, 1) }).contains("think_ns"));
    for (shapes, name) in [
        (Shapes { opened: 1.5, ..shapes() }, "opened"),
        (Shapes { verified: 0.7, ..shapes() }, "opened and verified"),
        (Shapes { tampered: -0.1, ..shapes() }, "tampered"),
        (Shapes { messages: Draw::Exactly(-1.0), ..shapes() }, "messages"),
    ] {
        assert!(refused(&Load { shapes, ..closed(1, 1) }).contains(name));
    }
    let large = Shapes::seals(Draw::Exactly(1.0), Draw::Exactly(2e6));
    let small = Model { text_bytes_max: 1_000_000, ..model("small") };
    let pool = sealift_engine::simulate::pool([small]).unwrap();
    let load = Load { shapes: large, placement: on_all(&pool), ..closed(1, 1) };
    let refused = load.drive(&pool.engine, &pool.clock).unwrap_err().to_string();
    assert!(refused.contains("2000000"), "{refused}");
}
