//! What an engine says it would do is what it does, and saying it changes nothing.

use sealift_core::{
    Batch, Column, Context, Cost, Device, Key, OwnedOutput, Role, Shape, SimulatedClock,
};
use sealift_engine::simulate::{Model, SimulationError};
use sealift_engine::{Because, Call, DeviceId, Engine, Options, POLICIES, Settings};
use std::sync::Arc;

#[test]
fn every_policy_does_next_what_it_was_explained_to_do() {
    for policy in POLICIES {
        let engine = engine(policy.name);
        for round in 0..6 {
            let said = engine.explain(&Shape::of_seals(8, 100), Call::Run).unwrap();
            let again = engine.explain(&Shape::of_seals(8, 100), Call::Run).unwrap();
            assert_eq!(said.decision, again.decision, "{} in round {round}", policy.name);
            let done = run(&engine);
            let expected = (said.decision.device, said.decision.because);
            assert_eq!(done, expected, "{} in round {round}", policy.name);
        }
        assert_eq!(engine.records().unwrap().len(), 6, "explaining works nothing");
    }
}

#[test]
fn whoever_submits_may_be_told_of_both_ways_to_work_a_small_batch() {
    let engine = engine("earliest-finish");
    let asked = |call| engine.explain(&Shape::of_seals(1, 16), call).unwrap().candidates;
    assert_eq!(asked(Call::Run).iter().map(|one| one.here).collect::<Vec<_>>(), [true, true]);
    let submitted = asked(Call::Submit);
    assert_eq!(submitted.iter().filter(|one| one.here).count(), 2);
    assert_eq!(submitted.len(), 4);
    let [handed_over, here] = submitted[..2] else { panic!("{submitted:?}") };
    assert!(handed_over.finish_ns > here.finish_ns, "handing over takes time");
}

#[test]
fn a_large_submitted_batch_is_explained_in_the_parts_that_it_would_be_cut_into() {
    let engine = engine("split");
    let explain =
        |messages, call| engine.explain(&Shape::of_seals(messages, 100), call).unwrap().parts;
    assert_eq!(explain(10_000, Call::Run), None);
    assert_eq!(explain(20, Call::Submit), None);
    let parts = explain(10_000, Call::Submit).unwrap();
    assert_eq!(parts.iter().map(|(_, messages)| messages).sum::<usize>(), 10_000);
    assert_eq!(parts.len(), 2, "{parts:?}");
}

fn engine(policy: &str) -> Engine {
    let clock = Arc::new(SimulatedClock::new());
    let settings = Settings::with_policy(policy).unwrap();
    let open = [("slow", 2_000.0), ("quick", 500.0)].map(|(name, setup_ns)| {
        let clock = Arc::clone(&clock);
        move |context: &Context| {
            let model = Model {
                role: Role::Real,
                runs_on_calling_thread: true,
                ..Model::new(name, Cost::clamped(setup_ns, 10.0, 0.1))
            };
            Ok::<_, SimulationError>(model.open(&clock, &context.notify)? as Arc<dyn Device>)
        }
    });
    Engine::with_settings(clock as _, settings, open).unwrap()
}

fn run(engine: &Engine) -> (DeviceId, Because) {
    let session = engine.session(Key::new(&[7; 16]).unwrap()).unwrap();
    let nonces: Vec<u8> = (0..8).flat_map(|number| [number; 12]).collect();
    let texts = vec![0; 800];
    let (nonces, texts) = (Column::fixed(&nonces, 12), Column::fixed(&texts, 100));
    let batch = Batch::seal(8, session.id(), nonces, texts);
    let mut output = OwnedOutput::for_batch(&batch).unwrap();
    engine.run(&batch, output.as_output(), &Options::default()).unwrap();
    let record = *engine.records().unwrap().last().unwrap();
    (record.device, record.decision.because)
}
