//! Whether the time that the kernels take tells secrets apart: dudect's test on this machine.
//!
//! `cargo bench -p sealift-kernels --bench dudect [-- --seconds S] [FILE.json]`, pinned to a core where
//! nothing else runs. Two classes of inputs, one fixed and one drawn anew each time, are prepared in an order
//! that a coin decides, and worked and timed in that order; Welch's t says whether their times
//! differ. Planted leaks have to be found and two classes of the same kind must not be told apart, or what is found
//! proves nothing. What comes out at more than the threshold is measured again.
//!
//! After Reparaz, Balasch and Verbauwhede, "Dude, is my code constant time?", 2017.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr, reason = "a benchmark")]
#![allow(clippy::cast_precision_loss, reason = "counts and ticks are far under 2^52")]

mod cases;
mod clock;
mod lane;
mod welch;

use std::time::{Duration, Instant};

use cases::{CASES, Case, Kind};
use lane::{Class, Lane};
use sealift_kernels::Path;
use welch::Found;

fn main() {
    let arguments: Vec<_> = std::env::args().skip(1).filter(|one| one != "--bench").collect();
    if arguments.iter().any(|one| one == "--test") {
        return;
    }
    let (seconds, file) = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => (SECONDS, None),
        [file] => (SECONDS, Some(file)),
        ["--seconds", seconds] => (seconds.parse().unwrap(), None),
        ["--seconds", seconds, file] => (seconds.parse().unwrap(), Some(file)),
        _ => panic!("usage: dudect [--seconds S] [FILE.json], and not {arguments:?}"),
    };
    let mut rows = vec![];
    for path in Path::available().into_iter().filter(|path| *path != Path::Model) {
        for case in CASES {
            rows.push(measured(path, case, seconds));
            println!("{}", rows[rows.len() - 1].shown());
        }
    }
    if let Some(file) = file {
        let rows: Vec<String> = rows.iter().map(Row::json).collect();
        let rows = rows.join(",\n  ");
        let head = format!("\"threshold\": {THRESHOLD}, \"seconds\": {seconds}");
        std::fs::write(file, format!("{{{head}, \"rows\": [\n  {rows}\n]}}\n")).unwrap();
        println!("written to {file}");
    }
    let wrong = rows.iter().filter(|row| !row.is_as_it_should_be()).count();
    if wrong > 0 {
        eprintln!("{wrong} rows are not as they should be");
        std::process::exit(1);
    }
}

/// What was found of a case on a path, the first time and where that was too much again.
struct Row {
    path: &'static str,
    case: &'static Case,
    found: Vec<Found>,
}

impl Row {
    fn is_as_it_should_be(&self) -> bool {
        let sign = self.found[0].t.signum();
        let is_told_apart = self.found.iter().all(|found| sign * found.t >= THRESHOLD);
        is_told_apart == (self.case.kind == Kind::Planted)
    }

    fn shown(&self) -> String {
        let found = self.found.iter().map(|found| format!("{:.2}", found.t)).collect::<Vec<_>>();
        let Row { path, case, .. } = self;
        let verdict = if self.is_as_it_should_be() { "" } else { "  <- not as it should be" };
        format!("{path}: {}: t = {}{verdict}", case.what, found.join(", then "))
    }

    fn json(&self) -> String {
        let Row { path, case, found } = self;
        let found: Vec<String> = found
            .iter()
            .map(|Found { t, kept, samples, median }| {
                format!(
                    "{{\"t\": {t:.3}, \"of\": \"{kept}\", \"samples\": {samples}, \"median_ticks\": {median}}}"
                )
            })
            .collect();
        let (what, kind) = (case.what, case.kind.name());
        let found = found.join(", ");
        format!(
            "{{\"path\": \"{path}\", \"kind\": \"{kind}\", \"what\": \"{what}\", \"found\": [{found}]}}"
        )
    }
}

fn measured(path: Path, case: &'static Case, seconds: f64) -> Row {
    let once = || welch::found(&samples(path, case, Duration::from_secs_f64(seconds)));
    let mut found = vec![once()];
    while case.kind != Kind::Planted && found.len() < TIMES && is_too_much(&found) {
        found.push(once());
    }
    Row { path: path.name(), case, found }
}

fn is_too_much(found: &[Found]) -> bool {
    found.last().is_some_and(|found| found.t.abs() >= THRESHOLD)
}

/// Ticks that the work of each class took.
fn samples(path: Path, case: &'static Case, during: Duration) -> [Vec<u64>; 2] {
    let mut lanes: Vec<Lane> = (0..LANES).map(|_| Lane::new(path, case)).collect();
    let mut random = lane::Random(0x5ea1_1f70);
    let mut samples = [vec![], vec![]];
    let start = Instant::now();
    let mut is_warm = false;
    while start.elapsed() < during {
        for lane in &mut lanes {
            let class = if random.next() & 1 == 0 { Class::Fixed } else { Class::Drawn };
            lane.prepare(class, &mut random);
        }
        for lane in &mut lanes {
            let ticks = lane.timed();
            if is_warm {
                samples[lane.class() as usize].push(ticks);
            }
        }
        is_warm = true;
    }
    samples
}

/// Batches prepared before any of them is timed, so that a class says nothing of the caches.
const LANES: usize = 16;
const SECONDS: f64 = 2.0;
/// How often classes that seem to differ are measured; a leak shows each time, a noisy minute doesn't.
const TIMES: usize = 3;
/// From here on the leakage tests of side-channel evaluations speak of a leak.
const THRESHOLD: f64 = 4.5;
