//! What is reckoned, against the walk of each request and against what was published.

use super::super::line::{Affine, Host, Interrupts, Line, Link};
use super::super::walk::Walk;
use super::*;
use crate::copying::CopyCost;
use proptest::prelude::*;

proptest! {
    #[test]
    fn an_idle_card_takes_as_long_as_walking_each_request_through_it(
        line in any_line(), requests in 1..200usize, rest in 0..4u64, bytes in 0..20_000u64,
    ) {
        let full = line.messages_per_request as u64;
        let rest = rest % full;
        let mut each = vec![(full * bytes) as f64; requests];
        each.extend((rest > 0).then_some((rest * bytes) as f64));
        let predicted_ns = line.predict(requests as u64 * full + rest, bytes).batch_ns;
        let walked_ns = Walk::new(line.units).batch(&line, 0.0, &each).told_ns;
        prop_assert!(agrees(predicted_ns, walked_ns, 1e-9), "{predicted_ns} but {walked_ns}");
    }

    #[test]
    fn queued_batches_come_at_the_interval_and_never_faster_than_a_stage_allows(
        line in any_line(), requests in 1..20usize, bytes in 1..20_000u64,
    ) {
        // Fewer requests than that do not spread evenly over the units.
        let slots = line.slots.max((3 * line.units).div_ceil(requests));
        let line = Line { slots, ..line };
        let messages = (requests * line.messages_per_request) as u64;
        let prediction = line.predict(messages, bytes);
        let ends_ns = queued(&line, requests, messages * bytes);
        let half = ends_ns.len() / 2;
        let found_ns = (ends_ns[2 * half - 1] - ends_ns[half - 1]) / half as f64;
        let expected_ns = prediction.interval_ns;
        prop_assert!(agrees(found_ns, expected_ns, 0.02), "{found_ns} but {expected_ns}");
        let stages = line.stages(bytes as f64 * line.messages_per_request as f64);
        let fastest_ns = [
            line.host.of(bytes as f64 * line.messages_per_request as f64),
            stages.unit_ns / line.units as f64,
            stages.link_ns,
        ];
        // The stage is free again a little after the last result.
        let all = (ends_ns.len() * requests - 1) as f64;
        for least_ns in fastest_ns {
            prop_assert!(ends_ns[ends_ns.len() - 1] >= all * least_ns * (1.0 - 1e-9), "{least_ns}");
        }
    }

    #[test]
    fn a_batch_takes_as_long_as_each_stage_is_busy_with_it(
        line in any_line(), requests in 1..200usize, bytes in 0..20_000u64,
    ) {
        let messages = (requests * line.messages_per_request) as u64;
        let found = line.predict(messages, bytes);
        let request_bytes = bytes as f64 * line.messages_per_request as f64;
        let stages = line.stages(request_bytes);
        let host_ns = line.host.of(request_bytes);
        for stage_ns in [stages.link_ns, host_ns, stages.unit_ns / line.units as f64] {
            let least_ns = requests as f64 * stage_ns * (1.0 - 1e-9);
            prop_assert!(found.batch_ns >= least_ns, "{found:?} {stages:?}");
            prop_assert!(found.interval_ns >= least_ns, "{found:?} {stages:?}");
        }
        // An idle card is through no sooner than a full one that holds one batch behind another.
        prop_assert!(found.interval_ns <= found.batch_ns * (1.0 + 1e-9), "{found:?}");
    }

    #[test]
    fn longer_and_more_messages_never_take_less(
        line in any_line(), messages in 1..500u64, bytes in 0..20_000u64,
    ) {
        // One that waits for others to share an interrupt may be through earlier when they come.
        let line = Line { interrupts: Interrupts { merged_max: 1, ..line.interrupts }, ..line };
        let here = line.predict(messages, bytes);
        for more in [line.predict(messages, bytes + 100), line.predict(messages + 1, bytes)] {
            prop_assert!(more.interval_ns >= here.interval_ns * (1.0 - 1e-9), "{here:?} {more:?}");
            prop_assert!(more.host_ns >= here.host_ns * (1.0 - 1e-9), "{here:?} {more:?}");
        }
        prop_assert!(here.host_ns <= here.batch_ns && here.interval_ns > 0.0);
    }
}

/// Document 002, table 2, 16 bytes: one thread, and 32.
#[test]
fn the_four_cards_meet_the_two_figures_that_they_are_derived_from() {
    let found = bundled()[1].predict(1, 16);
    assert!(agrees(128_000.0 / found.batch_ns, 5.42, 1e-3), "{found:?}");
    assert!(agrees(128_000.0 / found.interval_ns, 9.91, 1e-3), "{found:?}");
}

/// The model that was fitted to table 1 of document 002: one thread waits for each result, and 32 keep
/// the board full.
#[test]
fn the_quad_board_has_the_throughput_of_the_model_that_was_fitted_to_it() {
    let card = &bundled()[0];
    let sizes = [16, 64, 256, 1024, 8192, 16_384];
    let alone = [3.10, 11.06, 31.00, 56.41, 74.14, 75.85];
    let full = [6.81, 26.77, 100.36, 273.78, 323.40, 327.65];
    for ((bytes, alone), full) in sizes.into_iter().zip(alone).zip(full) {
        let found = card.predict(1, bytes);
        let mbit_per_s = |ns: f64| bytes as f64 * 8_000.0 / ns;
        assert!(agrees(mbit_per_s(found.batch_ns), alone, 2e-3), "{bytes} B: {found:?}");
        assert!(agrees(mbit_per_s(found.interval_ns), full, 2e-3), "{bytes} B: {found:?}");
    }
    assert_eq!(card.predict(1, 64).bound_by, Bound::Host);
    assert_eq!(card.predict(1, 8192).bound_by, Bound::Card);
}

#[test]
fn a_small_card_is_reckoned_as_by_hand() {
    let small = card(SMALL);
    // A request of 1,000 bytes: 1 µs at the host, 5 µs at a unit.
    assert_eq!(small.predict(1, 1_000).batch_ns, 6_000.0);
    // The third waits for the first unit until 6 µs.
    assert_eq!(small.predict(2, 1_000).batch_ns, 7_000.0);
    assert_eq!(small.predict(3, 1_000).batch_ns, 11_000.0);
    let ten = small.predict(10, 1_000);
    assert_eq!((ten.host_ns, ten.interval_ns, ten.bound_by), (10_000.0, 25_000.0, Bound::Card));
    assert_eq!(small.predict(10, 0).bound_by, Bound::Card);
    assert_eq!(small.predict(0, 1_000).batch_ns, 0.0);
}

#[test]
fn a_last_request_that_is_not_full_takes_what_it_has() {
    let pairs = card(&SMALL.replace("messages_per_request = 1", "messages_per_request = 2"));
    // Two messages of 1,000 bytes take 1 + 6 µs. A third one comes a microsecond later, and takes
    // one less on the other unit.
    assert_eq!(pairs.predict(1, 1_000).batch_ns, 6_000.0);
    assert_eq!(pairs.predict(2, 1_000).batch_ns, 7_000.0);
    assert_eq!(pairs.predict(3, 1_000).batch_ns, 7_000.0);
    assert_eq!(pairs.predict(4, 1_000).batch_ns, 8_000.0);
    // 4 + 2 and 4 + 1 µs on two units.
    assert_eq!(pairs.predict(3, 1_000).interval_ns, 5_500.0);
}

#[test]
fn what_limits_a_card_is_named() {
    let link = "[link]\ngbit_per_s = 1\nduplex = false\nlatency_us = 10\n";
    let linked = card(&format!("{SMALL}{link}"));
    // 8 µs each way, 10 µs of latency each way.
    assert_eq!(linked.predict(1, 1_000).batch_ns, 1e3 + 2.0 * 18e3 + 5e3);
    let prediction = linked.predict(100, 1_000);
    assert_eq!((prediction.interval_ns, prediction.bound_by), (1.6e6, Bound::Link));
    let duplex = card(&format!("{SMALL}{link}").replace("false", "true"));
    assert_eq!(duplex.predict(100, 1_000).interval_ns, 0.8e6);
    let streams = card(&format!("{SMALL}{link}streams = true\n"));
    // A unit is busy for as long as its bytes come, and go on the same link.
    assert_eq!(streams.predict(1, 1_000).batch_ns, 1e3 + 2.0 * 10e3 + 16e3);
    let both = card(&format!("{SMALL}{link}streams = true\n").replace("false", "true"));
    assert_eq!(both.predict(1, 1_000).batch_ns, 1e3 + 2.0 * 10e3 + 8e3);
    assert_eq!(streams.predict(100, 1_000).interval_ns, 1.6e6);
    let host = card(&SMALL.replace("request_us = 1", "request_us = 9"));
    assert_eq!(host.predict(1, 1_000).bound_by, Bound::Host);
    // One batch at a time: the next one starts when its results are back.
    let alone = card(&SMALL.replace("slots = 4", "slots = 1"));
    let prediction = alone.predict(1, 1_000);
    assert_eq!((prediction.interval_ns, prediction.bound_by), (6_000.0, Bound::Card));
}

#[test]
fn interrupts_merge_while_the_first_is_held_back() {
    let with = |interrupts: &str| card(&format!("{SMALL}[interrupts]\n{interrupts}"));
    // Two units of 5 µs: results are there at 6, 7, 11, 12 µs, later by the interrupts' time.
    let each = with("merge_requests = 1\nmerge_us = 0\ninterrupt_us = 0.5\n");
    assert_eq!(each.predict(2, 1_000).host_ns, 3_000.0);
    let merged = with("merge_requests = 4\nmerge_us = 1000\ninterrupt_us = 0.4\n");
    let four = merged.predict(4, 1_000);
    // The first one's host does it, so that all are 0.4 µs later.
    assert_eq!((four.host_ns, four.batch_ns), (4_400.0, 12_400.0));
    // A fifth waits alone for more that do not come.
    assert!(merged.predict(5, 1_000).batch_ns > 1e6);
    // The second one is there within 2 µs of the first; the third one isn't, and waits for the fourth.
    let hasty = with("merge_requests = 4\nmerge_us = 2\ninterrupt_us = 0.4\n").predict(4, 1_000);
    assert_eq!((hasty.host_ns, hasty.batch_ns), (4_800.0, 13_400.0));
}

#[test]
fn a_line_through_the_predictions_meets_them_where_they_are_one() {
    // One unit and nothing beside it: a set-up for each message and a time for each byte.
    let line = card(&SMALL.replace("units = 2", "units = 1")).cost();
    assert!(agrees(line.per_message_ns(), 4_000.0, 0.1), "{line:?}");
    assert!(agrees(line.per_byte_ns(), 1.0, 0.02), "{line:?}");
    for card in bundled() {
        let cost = card.cost();
        for (messages, bytes) in [(1, 16), (64, 64), (64, 1024), (1024, 16_384)] {
            let (found_ns, expected_ns) =
                (cost.of(messages, messages * bytes), card.predict(messages, bytes).batch_ns);
            assert!(agrees(found_ns, expected_ns, 0.4), "{found_ns} but {expected_ns}");
        }
    }
}

/// When each of many batches ends that are handed over as soon as there is a slot.
fn queued(line: &Line, requests: usize, batch_bytes: u64) -> Vec<f64> {
    let (mut walk, mut ends_ns) = (Walk::new(line.units), vec![]);
    let batch = vec![batch_bytes as f64 / requests as f64; requests];
    for at in 0..(40 * line.slots).max(400) {
        let now_ns = at.checked_sub(line.slots).map_or(0.0, |before| ends_ns[before]);
        ends_ns.push(walk.batch(line, now_ns, &batch).told_ns);
    }
    ends_ns
}

fn agrees(found: f64, expected: f64, share: f64) -> bool {
    (found - expected).abs() <= share * expected.abs()
}

fn any_line() -> impl Strategy<Value = Line> {
    let affine = (0.0..30_000.0f64, 0.0..20.0f64);
    let affine = affine.prop_map(|(request_ns, byte_ns)| Affine { request_ns, byte_ns });
    let host = (0.0..30_000.0f64, prop::sample::select(vec![1.0, 3.0]), any_copy());
    let host = host.prop_map(|(request_ns, copies, copy)| Host { request_ns, copies, copy });
    let link = (0.0..20.0f64, any::<bool>(), any::<bool>(), 0.0..5_000.0f64).prop_map(
        |(byte_ns, duplex, streams, latency_ns)| Link { byte_ns, duplex, streams, latency_ns },
    );
    let interrupts = (1..9usize, 0.0..50_000.0f64, 0.0..9_000.0f64)
        .prop_map(|(merged_max, hold_ns, host_ns)| Interrupts { merged_max, hold_ns, host_ns });
    let alone = Just(Interrupts { merged_max: 1, hold_ns: 0.0, host_ns: 0.0 });
    (
        1..5usize,
        host,
        prop::option::of(link),
        1..9usize,
        affine,
        1..40usize,
        prop_oneof![alone, interrupts],
    )
        .prop_map(|(messages_per_request, host, link, units, unit, slots, interrupts)| {
            let unit = Affine { request_ns: unit.request_ns + 1.0, ..unit };
            Line { messages_per_request, host, link, units, unit, interrupts, slots }
        })
}

/// At one rate, or by length.
fn any_copy() -> impl Strategy<Value = CopyCost> {
    let byte_ns = || 0.01..20.0f64;
    let measured = (byte_ns(), byte_ns(), byte_ns()).prop_map(|(short, middling, long)| {
        let times =
            vec![(16, 16.0 * short), (1_000, 1_000.0 * middling), (30_000, 30_000.0 * long)];
        CopyCost::new(times).unwrap()
    });
    prop_oneof![byte_ns().prop_map(CopyCost::even), measured]
}
