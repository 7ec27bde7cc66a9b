//! What the default policy loses, in virtual time, to devices that are not what they are thought to be.
#![allow(clippy::cast_precision_loss, reason = "counts and nanoseconds are far under 2^52")]

use sealift_core::{Batch, Clock, Column, Cost, Key, NONCE_BYTES, OwnedOutput, Resource, Role};
use sealift_engine::Options;
use sealift_engine::simulate::{FaultPlan, Jitter, JobFault, Model, pool};

const BATCHES: u32 = 100_000;
const BEST_NS: f64 = 200_000.0;

fn model(name: &str, batch_ns: f64) -> Model {
    Model {
        role: Role::Real,
        works_on: Resource::Cores(vec![]),
        runs_on_calling_thread: true,
        jitter: Jitter::Even { share: 0.05 },
        ..Model::new(name, Cost::new(batch_ns, 0.0, 0.0).unwrap())
    }
}

/// How many times as long batches take, one after the other, as on a device of [`BEST_NS`] alone.
fn times_the_best(models: [Model; 2]) -> f64 {
    let pool = pool(models).unwrap();
    let session = pool.engine.session(Key::new(&[7; 16]).unwrap()).unwrap();
    let nonce = Column::fixed(vec![0; NONCE_BYTES], NONCE_BYTES);
    let batch = Batch::seal(1, session.id(), nonce, Column::fixed(vec![0], 1));
    let mut output = OwnedOutput::for_batch(&batch).unwrap();
    for _ in 0..BATCHES {
        pool.engine.run(&batch, output.as_output(), &Options::default()).unwrap();
    }
    pool.clock.now_ns() as f64 / (BEST_NS * f64::from(BATCHES))
}

#[test]
fn a_quote_that_is_wrong_costs_a_tenth_at_most() {
    for times in [2.0, 10.0, 100.0, 1_000.0] {
        for quoted in [0.5, 1.1] {
            let quoted = Some(Cost::new(quoted * BEST_NS, 0.0, 0.0).unwrap());
            let wrong = || Model { quoted, ..model("wrong", times * BEST_NS) };
            let right = || model("right", BEST_NS);
            for models in [[right(), wrong()], [wrong(), right()]] {
                let found = times_the_best(models);
                assert!(found < 1.1, "{quoted:?}, truly {times} times: {found}");
            }
        }
    }
}

#[test]
fn a_best_device_is_found_whatever_it_quotes_up_to_ten_milliseconds() {
    for times in [0.001, 0.1, 10.0, 45.0] {
        let quoted = Some(Cost::new(times * BEST_NS, 0.0, 0.0).unwrap());
        let right = || Model { quoted, ..model("best", BEST_NS) };
        let slower = || model("slower", 3.0 * BEST_NS);
        for models in [[right(), slower()], [slower(), right()]] {
            let found = times_the_best(models);
            assert!(found < 1.1, "quoted at {times} times: {found}");
        }
    }
}

#[test]
fn a_device_that_becomes_a_thousand_times_slower_costs_a_tenth_at_most() {
    for times in [10.0, 1_000.0] {
        let faults = FaultPlan::none().slow_from(200_000_000, times);
        let found = times_the_best([
            model("steady", BEST_NS),
            Model { faults, ..model("slowed", 0.99 * BEST_NS) },
        ]);
        assert!(found < 1.1, "{times} times: {found}");
    }
}

#[test]
fn rare_slow_batches_count_as_they_weigh() {
    let tail = |share, times| FaultPlan::none().on_share(share, JobFault::Late { times });
    for (share, times) in [(0.01, 1_000.0), (0.05, 100.0)] {
        let found = times_the_best([
            model("steady", BEST_NS),
            Model { faults: tail(share, times), ..model("rarely slow", 0.9 * BEST_NS) },
        ]);
        assert!(found < 1.1, "{share} of {times} times: {found}");
    }
    // The usual time of the first is less; its mean is six times that.
    let found = times_the_best([
        Model { faults: tail(0.05, 100.0), ..model("rarely slow", BEST_NS / 3.0) },
        model("steady", BEST_NS),
    ]);
    assert!(found < 1.1, "{found}");
}
