use crate::common::Interval;
use std::time::Instant;

/// Rounds in which each of some ways to do the same has a turn, in an order that changes, until then. Gives the seconds that
/// one call took, by round and way.
pub(crate) fn take_turns(
    until: Instant,
    ways: usize,
    mut call: impl FnMut(usize),
) -> Vec<Vec<f64>> {
    let mut turn_s = |way: usize, times: u32| {
        let start = Instant::now();
        (0..times).for_each(|_| call(way));
        start.elapsed().as_secs_f64()
    };
    (0..ways).for_each(|way| _ = turn_s(way, 1));
    let mut times = 1;
    while turn_s(0, times) < TURN_S / 2.0 {
        times *= 2;
    }
    let mut rounds = vec![];
    while rounds.len() < ROUNDS_MIN || Instant::now() < until {
        let mut round = vec![0.0; ways];
        for place in 0..ways {
            let in_turn = (place + rounds.len() / 2) % ways;
            let way = if rounds.len() % 2 == 0 { in_turn } else { ways - 1 - in_turn };
            round[way] = turn_s(way, times) / f64::from(times);
        }
        rounds.push(round);
    }
    rounds
}

/// How many times as long one way took as another, in the same rounds.
pub(crate) fn ratio(rounds: &[Vec<f64>], one: usize, other: usize) -> Interval {
    Interval::of(rounds.iter().map(|round| round[one] / round[other]))
}

/// A turn takes between half of this and all of it.
const TURN_S: f64 = 0.01;
const ROUNDS_MIN: usize = 6;
