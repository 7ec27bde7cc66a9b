//! What the scheduler quotes for a card, against what its batches take.

#![allow(clippy::unwrap_used, reason = "a test's helpers may panic")]

use sealift::cards::{self, Card};
use sealift::{Context, EngineError, Settings, SimulatedClock};
use sealift_engine::Engine;
use sealift_engine::simulate::{Draw, Load, Shapes};
use std::sync::Arc;

#[test]
fn quotes_are_right_for_a_card_at_little_at_most_and_at_too_much_load() {
    for card in cards::bundled() {
        for (messages, bytes) in [(1, 64), (1, 1_024), (1, 16_384), (16, 1_024)] {
            for load in [0.1, 0.8, 3.0] {
                let median = median_of_actual_over_predicted(&card, messages, bytes, load);
                let what = format!("{} {messages} x {bytes} at {load}", card.name());
                assert!((0.5..=2.0).contains(&median), "{what}: {median}");
            }
        }
    }
}

/// Batches arrive at random at so many times the rate at which the card works them.
fn median_of_actual_over_predicted(card: &Card, messages: u64, bytes: u64, load: f64) -> f64 {
    let clock = Arc::new(SimulatedClock::new());
    let open =
        |context: &Context| Ok::<_, EngineError>(card.rehearse(card.name().to_owned(), context)?);
    let engine =
        Engine::with_settings(Arc::clone(&clock) as _, Settings::default(), [open]).unwrap();
    let shapes = Shapes::seals(Draw::Exactly(messages as f64), Draw::Exactly(bytes as f64));
    let rate = load * 1e9 / card.predict(messages, bytes).interval_ns;
    // It compares bytes with another cipher's, which is nothing to this test.
    let report = Load::open(rate, shapes, 1_000).drive(&engine, &clock).unwrap();
    assert_eq!((report.batches, report.lost), (1_000, 0));
    let records = engine.records().unwrap();
    // By then the estimator has seen some.
    let mut ratios: Vec<_> = records[100..]
        .iter()
        .map(|record| {
            (record.timing.end_ns - record.arrived_ns) as f64 / record.decision.predicted_ns
        })
        .collect();
    ratios.sort_by(f64::total_cmp);
    ratios[ratios.len() / 2]
}
