//! Welch's test, looked at while times come in, with an error that is stated beforehand.

use std::f64::consts::PI;
use std::time::{Duration, Instant};

use sealift_kernels::Path;

use crate::cases::Case;
use crate::lane::{Class, Lane, Random};
use crate::welch::{self, Found, STATISTICS};

/// A test of a case.
///
/// It is looked at [`LOOKS`] times, and ends when a t passes the threshold. That is one which no t of a look passes
/// with more than its share of the error (Bonferroni's inequality): the coin decides the classes, so each is normal where
/// they are alike.
pub(crate) struct Test {
    /// How long a case is measured at most.
    pub(crate) seconds: f64,
    pub(crate) threshold: f64,
}

impl Test {
    /// One that tells equal classes apart with at most that chance.
    pub(crate) fn new(seconds: f64, error: f64) -> Test {
        Test { seconds, threshold: threshold(error / (LOOKS * STATISTICS) as f64) }
    }

    /// What is found of a case in the end, and at which look that was. Tests with the same seed toss the same coins.
    pub(crate) fn run(&self, path: Path, case: Case, seed: u64) -> (Found, usize) {
        let mut samples = Samples::new(path, case, seed);
        let share = Duration::from_secs_f64(self.seconds / LOOKS as f64);
        for look in 1..LOOKS {
            samples.take(share);
            let found = welch::found(&samples.ticks);
            if self.tells_apart(&found) {
                return (found, look);
            }
        }
        samples.take(share);
        (welch::found(&samples.ticks), LOOKS)
    }

    pub(crate) fn tells_apart(&self, found: &Found) -> bool {
        found.t.abs() >= self.threshold
    }
}

/// Where both tails of the normal distribution have less than that chance: by the bound of Mills' ratio.
fn threshold(chance: f64) -> f64 {
    let tails = |t: f64| (2.0 / PI).sqrt() * (-t * t / 2.0).exp() / t;
    let (mut low, mut high) = (1.0, 40.0);
    while high - low > 1e-9 {
        let middle = f64::midpoint(low, high);
        if tails(middle) > chance { low = middle } else { high = middle }
    }
    high
}

/// Ticks that the work of each class took.
struct Samples {
    lanes: Vec<Lane>,
    random: Random,
    ticks: [Vec<u64>; 2],
    is_warm: bool,
}

impl Samples {
    fn new(path: Path, case: Case, seed: u64) -> Samples {
        let lanes = (0..LANES).map(|_| Lane::new(path, case)).collect();
        let random = Random(0x5ea1_1f70_u64.wrapping_add(seed << 32));
        Samples { lanes, random, ticks: [vec![], vec![]], is_warm: false }
    }

    fn take(&mut self, during: Duration) {
        let start = Instant::now();
        while start.elapsed() < during {
            for lane in &mut self.lanes {
                let is_fixed = self.random.next() & 1 == 0;
                let class = if is_fixed { Class::Fixed } else { Class::Drawn };
                lane.prepare(class, &mut self.random);
            }
            for lane in &mut self.lanes {
                let ticks = lane.timed();
                if self.is_warm {
                    self.ticks[lane.class() as usize].push(ticks);
                }
            }
            self.is_warm = true;
        }
    }
}

/// How often a test is looked at, at equal distances.
pub(crate) const LOOKS: usize = 5;
/// Batches prepared before any of them is timed, so that a class says nothing of the caches.
const LANES: usize = 16;
