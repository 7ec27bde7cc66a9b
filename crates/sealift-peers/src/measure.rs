//! Samples of all arms in turn, block by block, until the time is up.

use crate::report::{Failure, Report};
use sealift_probes::{Arm, Random};
use std::time::{Duration, Instant};

/// How long to measure.
#[derive(Clone, Copy, Debug)]
pub struct Time {
    /// For all blocks together, in seconds; a verdict's worth of blocks is taken nevertheless.
    pub seconds: f64,
    /// About how long a sample takes, in seconds; one pass over all messages at least.
    pub sample_seconds: f64,
    /// Of the order in which arms take turns.
    pub seed: u64,
}

/// Takes blocks: each has a sample of every arm in drawn order, and a second one of one of them, which
/// prices the noise. Arms take turns to be that one.
///
/// # Errors
/// An arm failed or gave something wrong; a line couldn't be written.
pub fn blocks(
    arms: &mut [Box<dyn Arm + '_>],
    time: Time,
    report: &mut Report<'_>,
) -> Result<(), Failure> {
    let mut random = Random::new(time.seed, ORDER_STREAM);
    let mut last_ns = vec![0; arms.len()];
    let (start, mut longest) = (Instant::now(), Duration::ZERO);
    for number in 0..BLOCKS_MOST {
        let has_time = (start.elapsed() + longest).as_secs_f64() < time.seconds;
        if arms.is_empty() || (number >= BLOCKS_LEAST && !has_time) {
            break;
        }
        let begun = Instant::now();
        for place in turns(number, arms.len(), &mut random) {
            last_ns[place] = turn(&mut arms[place], time, last_ns[place], |sample| {
                report.sample(number, place, sample)
            })?;
        }
        longest = longest.max(begun.elapsed());
    }
    Ok(())
}

/// A sample after a lead-in that is not timed, so that caches hold the arm's own data. There is none
/// where a pass takes so long that the caches can't hold them.
fn turn(
    arm: &mut Box<dyn Arm + '_>,
    time: Time,
    last_ns: u64,
    report: impl FnOnce(&sealift_probes::Sample) -> Result<(), Failure>,
) -> Result<u64, Failure> {
    if last_ns < NO_LEAD_IN_NS {
        arm.sample(LEAD_IN_SECONDS)?;
    }
    let sample = arm.sample(time.sample_seconds)?;
    report(&sample)?;
    Ok(sample.ns)
}

/// Every arm once and one of them twice, each order alike.
fn turns(block: usize, arms: usize, random: &mut Random) -> Vec<usize> {
    let mut places: Vec<_> = (0..arms).collect();
    places.push(block % arms);
    for end in (1..places.len()).rev() {
        let other = random.next_u64() % (end as u64 + 1);
        places.swap(end, usize::try_from(other).unwrap_or(0));
    }
    places
}

/// As many as an interval of 99 % needs.
pub const BLOCKS_LEAST: usize = 8;
const BLOCKS_MOST: usize = 1_000;
/// After another arm's turn AWS-LC is slow for milliseconds.
const LEAD_IN_SECONDS: f64 = 0.005;
const NO_LEAD_IN_NS: u64 = 15_000_000;
const ORDER_STREAM: u64 = 2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_arm_has_a_turn_in_each_block_and_one_has_two() {
        let mut random = Random::new(1, ORDER_STREAM);
        let mut orders = std::collections::HashSet::new();
        for block in 0..100 {
            let mut places = turns(block, 3, &mut random);
            orders.insert(places.clone());
            places.sort_unstable();
            let mut right = vec![0, 1, 2, block % 3];
            right.sort_unstable();
            assert_eq!(places, right);
        }
        // Four places of which two are alike have 12 orders, for each of the three arms.
        assert!(orders.len() > 24, "{} orders", orders.len());
    }
}
