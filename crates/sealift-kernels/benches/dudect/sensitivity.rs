//! The smallest planted delay that tests find.

use sealift_kernels::Path;

use crate::cases::delayed;
use crate::sequential::Test;

/// What a test of seals of 128 bytes finds on a path.
pub(crate) struct Sensitivity {
    path: &'static str,
    /// The shortest delay of [`CYCLES`] that enough runs found, and how many did.
    found: Option<(u64, usize)>,
}

impl Sensitivity {
    pub(crate) fn measured(path: Path, test: &Test) -> Sensitivity {
        let found = CYCLES.into_iter().find_map(|cycles| {
            let runs = runs_that_find(cycles, path, test);
            println!("{}: a delay of {cycles} cycles: {}", path.name(), shown(runs));
            Some(cycles).zip(runs)
        });
        Sensitivity { path: path.name(), found }
    }

    pub(crate) fn shown(&self) -> String {
        match self.found {
            Some((cycles, runs)) => {
                format!("{}: {runs} of {RUNS} runs find a delay of {cycles} cycles", self.path)
            }
            None => format!("{}: no planted delay is found {ENOUGH} times of {RUNS}", self.path),
        }
    }

    pub(crate) fn json(&self) -> String {
        let (cycles, runs) = match self.found {
            Some((cycles, runs)) => (cycles.to_string(), runs.to_string()),
            None => ("null".to_owned(), "null".to_owned()),
        };
        let path = self.path;
        format!(
            "{{\"path\": \"{path}\", \"cycles\": {cycles}, \"found\": {runs}, \"runs\": {RUNS}}}"
        )
    }
}

/// How many runs find a delay; nothing once too many have not.
fn runs_that_find(cycles: u64, path: Path, test: &Test) -> Option<usize> {
    let mut missed = 0;
    for run in 1..=RUNS {
        let (found, _) = test.run(path, delayed(cycles), run as u64);
        missed += usize::from(!test.tells_apart(&found));
        if missed > RUNS - ENOUGH {
            return None;
        }
    }
    Some(RUNS - missed)
}

fn shown(runs: Option<usize>) -> String {
    runs.map_or_else(
        || "too few runs find it".to_owned(),
        |runs| format!("{runs} of {RUNS} runs find it"),
    )
}

/// Delays of a batch of 16 messages.
const CYCLES: [u64; 8] = [1, 2, 4, 8, 16, 32, 64, 128];
const RUNS: usize = 100;
const ENOUGH: usize = 95;
