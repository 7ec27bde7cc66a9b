//! Whether the time that the kernels take tells secrets apart: dudect's test on this machine.
//!
//! `cargo bench -p sealift-kernels --bench dudect -- [--seconds S] [--case NAME] [FILE.json]`, pinned to a core where
//! nothing else runs. Two classes of inputs, one fixed and one drawn anew each time, are prepared in an order
//! that a coin decides, and worked and timed in that order; Welch's t says whether their times
//! differ. Planted leaks have to be found and two classes of the same kind must not be told apart, or what is found
//! proves nothing. Delays of more and more cycles are planted until 95 of 100 runs find them.
//!
//! After Reparaz, Balasch and Verbauwhede, "Dude, is my code constant time?", 2017.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr, reason = "a benchmark")]
#![allow(clippy::cast_precision_loss, reason = "counts and ticks are far under 2^52")]

mod cases;
mod clock;
mod lane;
mod sensitivity;
mod sequential;
mod welch;

use cases::{CASES, Case, Kind};
use sealift_kernels::Path;
use sensitivity::Sensitivity;
use sequential::{LOOKS, Test};
use welch::Found;

fn main() {
    let arguments: Vec<_> = std::env::args().skip(1).filter(|one| one != "--bench").collect();
    if arguments.iter().any(|one| one == "--test") {
        return;
    }
    let mut arguments = arguments.iter().map(String::as_str);
    let (mut seconds, mut only, mut file) = (SECONDS, None, None);
    while let Some(argument) = arguments.next() {
        match argument {
            "--seconds" => seconds = arguments.next().unwrap_or_default().parse().unwrap(),
            "--case" => only = Some(arguments.next().unwrap_or_default()),
            name => file = Some(name),
        }
    }
    let cases: Vec<_> =
        CASES.iter().filter(|case| only.is_none_or(|only| case.what == only)).collect();
    let paths: Vec<_> = Path::available().into_iter().filter(|path| *path != Path::Model).collect();
    let test = Test::new(seconds, ERROR / (paths.len() * cases.len()) as f64);
    let (mut rows, mut sensitivities) = (vec![], vec![]);
    for path in paths {
        for case in &cases {
            rows.push(Row::measured(path, case, &test));
            println!("{}", rows[rows.len() - 1].shown());
        }
        if only.is_none() {
            sensitivities.push(Sensitivity::measured(path, &test));
            println!("{}", sensitivities[sensitivities.len() - 1].shown());
        }
    }
    if let Some(file) = file {
        std::fs::write(file, document(&test, &rows, &sensitivities)).unwrap();
        println!("written to {file}");
    }
    let wrong = rows.iter().filter(|row| !row.is_as_it_should_be()).count();
    if wrong > 0 {
        eprintln!("{wrong} rows are not as they should be");
        std::process::exit(1);
    }
}

/// What was found of a case on a path.
struct Row {
    path: &'static str,
    case: &'static Case,
    found: Found,
    looks: usize,
    is_told_apart: bool,
}

impl Row {
    fn measured(path: Path, case: &'static Case, test: &Test) -> Row {
        let (found, looks) = test.run(path, *case, 0);
        let is_told_apart = test.tells_apart(&found);
        Row { path: path.name(), case, found, looks, is_told_apart }
    }

    fn is_as_it_should_be(&self) -> bool {
        self.is_told_apart == (self.case.kind == Kind::Planted)
    }

    fn shown(&self) -> String {
        let Row { path, case, found, looks, .. } = self;
        let verdict = if self.is_as_it_should_be() { "" } else { "  <- not as it should be" };
        format!("{path}: {}: t = {:.2} at look {looks} of {LOOKS}{verdict}", case.what, found.t)
    }

    fn json(&self) -> String {
        let Row { path, case, found, looks, .. } = self;
        let Found { t, kept, samples, median, .. } = found;
        let (what, kind) = (case.what, case.kind.name());
        format!(
            "{{\"path\": \"{path}\", \"kind\": \"{kind}\", \"what\": \"{what}\", \"looks\": {looks}, \
             \"found\": [{{\"t\": {t:.3}, \"of\": \"{kept}\", \"samples\": {samples}, \
             \"median_ticks\": {median}}}]}}"
        )
    }
}

fn document(test: &Test, rows: &[Row], sensitivities: &[Sensitivity]) -> String {
    let rows: Vec<String> = rows.iter().map(Row::json).collect();
    let sensitivities: Vec<String> = sensitivities.iter().map(Sensitivity::json).collect();
    format!(
        "{{\"threshold\": {:.2}, \"error\": {ERROR}, \"seconds\": {}, \"sensitivity\": [\n  {}\n], \
         \"rows\": [\n  {}\n]}}\n",
        test.threshold,
        test.seconds,
        sensitivities.join(",\n  "),
        rows.join(",\n  "),
    )
}

/// How long a case is measured if nothing is found.
const SECONDS: f64 = 2.0;
/// The chance that a run of all cases finds a leak where there is none.
const ERROR: f64 = 0.01;
