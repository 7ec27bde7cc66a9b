//! The estimator against devices whose true cost is known, with noise of 3 % either way.

use proptest::prelude::*;
use sealift_core::Cost;
use sealift_engine::Estimator;

const SEEDS: u64 = 300;
const SHAPES: [Shape; 6] =
    [(1, 16), (1, 16_384), (16, 2_048), (64, 65_536), (4_096, 65_536), (4_096, 67_108_864)];

#[test]
fn priors_ten_times_off_are_unlearnt_within_thirty_mixed_batches() {
    for (name, truth) in truths() {
        for wrong in [0.1, 10.0] {
            for seed in 0..SEEDS {
                let off = off_after_thirty(times(&truth, wrong), &truth, seed);
                assert!(off < 1.1, "{name}, prior x{wrong}, seed {seed}: off by {off}");
            }
        }
    }
}

#[test]
fn priors_ten_times_off_are_unlearnt_within_thirty_equal_batches() {
    for (name, truth) in truths() {
        for (wrong, shape) in pairs(&[0.1, 10.0], &SHAPES) {
            let mut draw = Draw(3);
            let mut estimator = Estimator::new(times(&truth, wrong));
            for _ in 0..30 {
                learn(&mut estimator, &truth, shape, draw.noise());
            }
            let off = worst(&estimator, &truth, &[shape]);
            assert!(off < 1.1, "{name}, prior x{wrong}, {shape:?}: off by {off}");
            assert_eq!(estimator.samples(), 30);
            assert!(estimator.error() < 0.2, "{name}, {shape:?}: {}", estimator.error());
        }
    }
}

#[test]
fn a_million_equal_batches_leave_other_shapes_within_a_factor_of_two() {
    for (name, truth) in truths() {
        for (wrong, shape) in [(1.0, SHAPES[0]), (0.1, SHAPES[5]), (10.0, SHAPES[3])] {
            let mut draw = Draw(5);
            let mut estimator = Estimator::new(times(&truth, wrong));
            for _ in 0..1_000_000 {
                learn(&mut estimator, &truth, shape, draw.noise());
            }
            let off = worst(&estimator, &truth, &SHAPES);
            assert!(off < 2.0, "{name}, prior x{wrong}, {shape:?}: others off by {off}");
        }
    }
}

#[test]
fn batches_that_are_almost_equal_wind_nothing_up() {
    for (name, truth) in truths() {
        let mut draw = Draw(6);
        let mut estimator = Estimator::new(truth);
        for _ in 0..100_000 {
            let shape = (64 + draw.below(2), 65_536 + draw.below(600));
            learn(&mut estimator, &truth, shape, draw.noise());
        }
        let off = worst(&estimator, &truth, &SHAPES);
        assert!(off < 2.0, "{name}: others off by {off}");
    }
}

#[test]
fn a_device_that_becomes_four_times_slower_or_faster_is_followed_within_fifteen_batches() {
    for (name, truth) in truths() {
        for (change, seed) in pairs(&[4.0, 0.25], &(0..SEEDS).collect::<Vec<_>>()) {
            let (mut draw, mut estimator) = (Draw(seed), Estimator::new(truth));
            learn_mixed(&mut estimator, &truth, &mut draw, 200);
            let changed = times(&truth, change);
            learn_mixed(&mut estimator, &changed, &mut draw, 15);
            let asked: Vec<Shape> = (0..100).map(|_| draw.shape()).collect();
            let off = worst(&estimator, &changed, &asked);
            assert!(off < 1.25, "{name}, x{change}, seed {seed}: off by {off}");
        }
    }
}

#[test]
fn a_device_that_slows_down_little_by_little_is_followed() {
    let (mut draw, truth) = (Draw(8), cost(200.0, 40.0, 0.3));
    let mut estimator = Estimator::new(truth);
    for batch in 0..1_000 {
        let slower = times(&truth, 1.002f64.powi(batch));
        let off = worst(&estimator, &slower, &[SHAPES[3]]);
        assert!(off < 1.08, "batch {batch}: off by {off}");
        learn(&mut estimator, &slower, SHAPES[3], draw.noise());
    }
}

#[test]
fn one_batch_that_takes_a_hundred_times_as_long_moves_no_prediction_by_a_fifth() {
    for (name, truth) in truths() {
        for (seed, place) in pairs(&(0..50).collect::<Vec<_>>(), &(5..30).collect::<Vec<_>>()) {
            let (mut draw, mut estimator) = (Draw(seed), Estimator::new(truth));
            let mut seen = learn_mixed(&mut estimator, &truth, &mut draw, place);
            let before = estimator.cost();
            seen.push(draw.shape());
            learn(&mut estimator, &truth, seen[place], 100.0);
            let moved = worst(&estimator, &before, &seen);
            assert!(moved < 1.2, "{name}, seed {seed}, place {place}: moved by {moved}");
        }
    }
}

#[test]
fn a_first_batch_that_takes_a_hundred_times_as_long_is_forgotten_after_thirty() {
    for (name, truth) in truths() {
        for seed in 0..SEEDS {
            let (mut draw, mut estimator) = (Draw(seed), Estimator::new(truth));
            learn(&mut estimator, &truth, draw.shape(), 100.0);
            let seen = learn_mixed(&mut estimator, &truth, &mut draw, 29);
            let off = worst(&estimator, &truth, &seen);
            assert!(off < 1.1, "{name}, seed {seed}: off by {off}");
        }
    }
}

#[test]
fn the_prior_of_another_kind_of_device_is_unlearnt_nine_times_in_ten() {
    let mut offs = Vec::new();
    for ((_, truth), (_, prior)) in pairs(&truths(), &truths()) {
        offs.extend((0..20).map(|seed| off_after_thirty(prior, &truth, seed)));
    }
    let failed = offs.iter().filter(|off| **off > 1.1).count();
    assert!(failed * 10 < offs.len(), "{failed} of {} are off by more than 10 %", offs.len());
}

#[test]
fn a_prior_without_a_cost_for_bytes_is_unlearnt() {
    let (prior, truth) = (cost(30_000.0, 2.0, 0.0), cost(30_000.0, 2.0, 0.05));
    for seed in 0..SEEDS {
        let off = off_after_thirty(prior, &truth, seed);
        assert!(off < 1.1, "seed {seed}: off by {off}");
    }
}

#[test]
fn a_prior_of_nothing_is_unlearnt() {
    let truth = cost(200.0, 40.0, 0.3);
    let mut estimator = Estimator::new(cost(0.0, 0.0, 0.0));
    for _ in 0..30 {
        learn(&mut estimator, &truth, SHAPES[3], 1.0);
    }
    let off = worst(&estimator, &truth, &[SHAPES[3]]);
    assert!(off < 1.1, "off by {off}");
}

#[test]
fn surprises_scale_to_the_side_of_the_last_ones() {
    let mut estimator = Estimator::new(cost(200.0, 130.0, 0.0));
    for ns in [1_000_000, 1_000_000, 40_000, 40_000, 40_000, 40_000, 40_000, 40_000] {
        let before = estimator.predict_ns(1_024, 0);
        estimator.learn(1_024, 0, ns);
        let after = estimator.predict_ns(1_024, 0);
        let is_nearer = (after - ns as f64).abs() <= (before - ns as f64).abs() + 1e-9;
        assert!(is_nearer, "{before} ns predicted, {ns} ns taken, then {after} ns predicted");
    }
    assert!(estimator.predict_ns(1_024, 0) < 60_000.0);
}

#[test]
fn what_is_no_batch_teaches_nothing() {
    let mut estimator = Estimator::new(cost(200.0, 40.0, 0.3));
    estimator.learn(0, 0, 1_000);
    estimator.learn(16, 4_096, 0);
    estimator.learn(16, 4_096, 3_600_000_000_001);
    estimator.learn((1 << 32) + 1, 4_096, 1_000);
    estimator.learn(16, (1 << 48) + 1, 1_000);
    assert_eq!((estimator.samples(), estimator.error()), (0, 1.0));
    assert_eq!(estimator.cost(), cost(200.0, 40.0, 0.3));
    assert_eq!(estimator.predict_ns(2, 100), 310.0);
}

proptest! {
    #[test]
    fn whatever_comes_in_predictions_are_finite_and_not_negative(
        prior in [any_term(), any_term(), any_term()],
        batches in prop::collection::vec((any_count(), any_count(), any_count()), 0..200),
        asked in (any_count(), any_count()),
    ) {
        let mut estimator = Estimator::new(cost(prior[0], prior[1], prior[2]));
        for (messages, bytes, ns) in batches {
            estimator.learn(messages, bytes, ns);
            let predicted_ns = estimator.predict_ns(asked.0, asked.1);
            prop_assert!(predicted_ns.is_finite() && predicted_ns >= 0.0, "{estimator:?}");
            prop_assert!((0.0..=1.0).contains(&estimator.error()), "{estimator:?}");
            let learnt = estimator.cost();
            let terms = [learnt.setup_ns(), learnt.per_message_ns(), learnt.per_byte_ns()];
            prop_assert!(terms.iter().all(|term| (0.0..=3.6e12).contains(term)), "{estimator:?}");
        }
    }

    #[test]
    fn after_whatever_came_in_equal_batches_are_learnt(
        garbage in prop::collection::vec((any_count(), any_count(), any_count()), 0..50),
        shape in prop::sample::select(SHAPES.to_vec()),
    ) {
        let truth = cost(200.0, 40.0, 0.3);
        let mut estimator = Estimator::new(truth);
        for (messages, bytes, ns) in garbage {
            estimator.learn(messages, bytes, ns);
        }
        for _ in 0..200 {
            learn(&mut estimator, &truth, shape, 1.0);
        }
        let off = worst(&estimator, &truth, &[shape]);
        prop_assert!(off < 1.25, "off by {off}: {estimator:?}");
    }
}

/// Messages and bytes of a batch.
type Shape = (u64, u64);

fn truths() -> [(&'static str, Cost); 6] {
    [
        ("cpu", cost(200.0, 40.0, 0.3)),
        ("gpu", cost(30_000.0, 2.0, 0.05)),
        ("card", cost(60_000.0, 500.0, 8.0)),
        ("no set-up", cost(0.0, 100.0, 0.3)),
        ("nothing a message", cost(5_000.0, 0.0, 0.2)),
        ("nothing a byte", cost(5_000.0, 100.0, 0.0)),
    ]
}

fn cost(setup_ns: f64, per_message_ns: f64, per_byte_ns: f64) -> Cost {
    Cost::new(setup_ns, per_message_ns, per_byte_ns).expect("terms are finite and not negative")
}

fn times(truth: &Cost, factor: f64) -> Cost {
    cost(truth.setup_ns() * factor, truth.per_message_ns() * factor, truth.per_byte_ns() * factor)
}

#[allow(clippy::cast_possible_truncation)]
fn learn(estimator: &mut Estimator, truth: &Cost, (messages, bytes): Shape, noise: f64) {
    estimator.learn(messages, bytes, (truth.of(messages, bytes) * noise).round() as u64);
}

fn learn_mixed(e: &mut Estimator, truth: &Cost, draw: &mut Draw, batches: usize) -> Vec<Shape> {
    let seen: Vec<Shape> = (0..batches).map(|_| draw.shape()).collect();
    for shape in &seen {
        learn(e, truth, *shape, draw.noise());
    }
    seen
}

/// How far off the shapes seen are after thirty mixed batches.
fn off_after_thirty(prior: Cost, truth: &Cost, seed: u64) -> f64 {
    let (mut draw, mut estimator) = (Draw(seed), Estimator::new(prior));
    let seen = learn_mixed(&mut estimator, truth, &mut draw, 30);
    worst(&estimator, truth, &seen)
}

/// The largest factor, either way, between a prediction and what is expected.
fn worst(estimator: &Estimator, expected: &Cost, shapes: &[Shape]) -> f64 {
    let off = |&(messages, bytes): &Shape| {
        let ratio = estimator.predict_ns(messages, bytes) / expected.of(messages, bytes);
        ratio.max(1.0 / ratio)
    };
    shapes.iter().map(off).fold(1.0, f64::max)
}

fn pairs<A: Copy, B: Copy>(left: &[A], right: &[B]) -> Vec<(A, B)> {
    left.iter().flat_map(|a| right.iter().map(|b| (*a, *b))).collect()
}

/// Terms from nothing to the largest number, all sizes alike.
fn any_term() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), Just(f64::MAX), (-300.0..300.0f64).prop_map(|power| 10f64.powf(power))]
}

/// Counts from 0 to the largest, all sizes alike.
fn any_count() -> impl Strategy<Value = u64> {
    (any::<u64>(), 0..=64u32).prop_map(|(bits, shift)| bits.checked_shr(shift).unwrap_or(0))
}

/// SplitMix64.
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn unit(&mut self) -> f64 {
        self.below(1 << 32) as f64 / (1u64 << 32) as f64
    }

    /// 1 to 4,096 messages of 16 to 16,384 bytes, all sizes alike.
    #[allow(clippy::cast_possible_truncation)]
    fn shape(&mut self) -> Shape {
        let messages = 4_096f64.powf(self.unit()).round() as u64;
        let bytes = (16.0 * 1_024f64.powf(self.unit())).round() as u64;
        (messages, messages * bytes)
    }

    fn noise(&mut self) -> f64 {
        0.97 + 0.06 * self.unit()
    }
}
