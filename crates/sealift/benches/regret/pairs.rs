//! Pairwise covering: few rows in which any two factors meet in each pair of their values.

use sealift_engine::simulate::Random;
use std::collections::HashSet;

/// A factor and one of its values.
type Value = (usize, usize);

/// Rows with one value for each factor, of which there are `sizes`. Values that may not meet are never in a row.
pub(crate) fn cover(
    sizes: &[usize],
    may_meet: &dyn Fn(Value, Value) -> bool,
    random: &mut Random,
) -> Vec<Vec<usize>> {
    let mut left = pairs(sizes);
    left.retain(|&(one, other)| may_meet(one, other));
    let mut rows = vec![];
    while !left.is_empty() {
        let candidates = (0..CANDIDATES).filter_map(|_| candidate(sizes, &left, may_meet, random));
        let row = candidates.max_by_key(|row| covered(row, &left).len());
        let row = row.expect("any value has one that it may meet of each factor");
        covered(&row, &left).iter().for_each(|pair| _ = left.remove(pair));
        rows.push(row);
    }
    rows
}

/// A row around a pair that is left, each other value the one that covers most. None where there is none.
fn candidate(
    sizes: &[usize],
    left: &HashSet<(Value, Value)>,
    may_meet: &dyn Fn(Value, Value) -> bool,
    random: &mut Random,
) -> Option<Vec<usize>> {
    let mut seeds: Vec<_> = left.iter().copied().collect();
    seeds.sort_unstable();
    let (one, other) = seeds[below(random, seeds.len())];
    let mut chosen = vec![one, other];
    let mut factors: Vec<_> = (0..sizes.len()).filter(|&f| f != one.0 && f != other.0).collect();
    while !factors.is_empty() {
        let factor = factors.swap_remove(below(random, factors.len()));
        let mut values: Vec<_> = (0..sizes[factor]).map(|value| (factor, value)).collect();
        values.retain(|&value| chosen.iter().all(|&other| may_meet(value, other)));
        let gain = |value| chosen.iter().filter(|&&o| left.contains(&ordered(value, o))).count();
        let ranked = values.into_iter().map(|value| (gain(value), random.bits(), value));
        chosen.push(ranked.max()?.2);
    }
    chosen.sort_unstable();
    Some(chosen.into_iter().map(|(_, value)| value).collect())
}

fn covered(row: &[usize], left: &HashSet<(Value, Value)>) -> Vec<(Value, Value)> {
    let values: Vec<_> = row.iter().copied().enumerate().collect();
    let of_row = values.iter().flat_map(|&one| values.iter().map(move |&other| (one, other)));
    of_row.filter(|pair| left.contains(pair)).collect()
}

fn pairs(sizes: &[usize]) -> HashSet<(Value, Value)> {
    let values = |factor: usize| (0..sizes[factor]).map(move |value| (factor, value));
    let later = |factor: usize| (factor + 1..sizes.len()).flat_map(values);
    let all = (0..sizes.len()).flat_map(values);
    all.flat_map(|one| later(one.0).map(move |other| (one, other))).collect()
}

fn ordered(one: Value, other: Value) -> (Value, Value) {
    (one.min(other), one.max(other))
}

fn below(random: &mut Random, end: usize) -> usize {
    usize::try_from(random.below(end as u64)).unwrap()
}

const CANDIDATES: usize = 30;
