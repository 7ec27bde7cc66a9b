//! The smallest planted delay that tests find.

use sealift_kernels::Path;

use crate::cases::delayed;
use crate::sequential::Test;

/// What a test of seals of 128 bytes finds on a path.
pub(crate) struct Sensitivity {
    path: &'static str,
    /// The shortest delay of [`CYCLES`] that enough runs found.
    found: Option<Delay>,
}

impl Sensitivity {
    pub(crate) fn measured(path: Path, test: &Test) -> Sensitivity {
        let found = CYCLES.into_iter().find_map(|cycles| {
            let found = Delay::found(cycles, path, test);
            if found.is_none() {
                println!("{}: too few runs find a delay of {cycles} cycles", path.name());
            }
            found
        });
        Sensitivity { path: path.name(), found }
    }

    pub(crate) fn shown(&self) -> String {
        match self.found {
            Some(Delay { cycles, runs, ticks }) => format!(
                "{}: {runs} of {RUNS} runs find a delay of {cycles} cycles, {ticks:.1} ticks",
                self.path
            ),
            None => format!("{}: no planted delay is found {ENOUGH} times of {RUNS}", self.path),
        }
    }

    pub(crate) fn json(&self) -> String {
        let path = self.path;
        let found = self.found.as_ref().map_or_else(
            || "\"cycles\": null".to_owned(),
            |Delay { cycles, runs, ticks }| {
                format!("\"cycles\": {cycles}, \"found\": {runs}, \"ticks\": {ticks:.2}")
            },
        );
        format!("{{\"path\": \"{path}\", {found}, \"runs\": {RUNS}}}")
    }
}

/// A delay that enough runs found.
struct Delay {
    cycles: u64,
    runs: usize,
    /// By how much it moved the median, on average.
    ticks: f64,
}

impl Delay {
    /// Nothing once too many runs have not found it.
    fn found(cycles: u64, path: Path, test: &Test) -> Option<Delay> {
        let (mut missed, mut ticks) = (0, 0.0);
        for run in 1..=RUNS {
            let (found, _) = test.run(path, delayed(cycles), run as u64);
            missed += usize::from(!test.tells_apart(&found));
            ticks += found.difference / RUNS as f64;
            if missed > RUNS - ENOUGH {
                return None;
            }
        }
        Some(Delay { cycles, runs: RUNS - missed, ticks })
    }
}

/// Delays of a batch of 16 messages.
const CYCLES: [u64; 8] = [1, 2, 4, 8, 16, 32, 64, 128];
const RUNS: usize = 100;
const ENOUGH: usize = 95;
