//! What it costs to let the engine choose: an engine with every real device against each of them named.
//!
//! `cargo bench -p sealift --bench regret -- [FILE.csv] [--budget SECONDS] [WORDS]`, on a machine where nothing else runs;
//! without a budget it takes 19 minutes, and with words as `16,mixed,1024` only cells that have them in their line are measured.
//! Regret is the time of a round over that of the best named device, less 1. Beside it stands the same over the best of engines
//! with one device each, because naming a device takes time of its own.
//! The ten worst cells are measured again, and only the second measurement counts: of the worst of many,
//! chance has made some of it.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark")]
#![allow(clippy::cast_precision_loss, reason = "counts and nanoseconds are far under 2^52")]

#[path = "../common/mod.rs"]
mod common;

mod cell;
mod measure;
mod pairs;
mod traffic;

use cell::{CROWD, Cell, FACTORS};
use common::{Arguments, Clock, Interval};
use measure::{COLUMNS, Found, measure};
use sealift_engine::simulate::Random;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::Duration;
use std::{env, fs};

fn main() -> ExitCode {
    let Some(Arguments { file, budget, words }) = Arguments::read(BUDGET) else {
        return ExitCode::SUCCESS;
    };
    if !has_a_cache_of_its_own() {
        return with_a_cache_of_its_own();
    }
    let found = if words.is_empty() { measure_all(budget) } else { measure_some(budget, &words) };
    if let Some(file) = file {
        let lines: String = found.iter().map(Found::line).collect();
        fs::write(&file, format!("{FACTORS},{COLUMNS}\n{lines}")).unwrap();
        println!("written to {file}");
    }
    summarise(&found);
    ExitCode::SUCCESS
}

fn has_a_cache_of_its_own() -> bool {
    cache_folder().file_name().is_some_and(|name| name.to_string_lossy().starts_with(CACHE))
}

/// Calibrating fills the user's cache; a child that is told of another one leaves it alone.
fn with_a_cache_of_its_own() -> ExitCode {
    let folder = env::temp_dir().join(format!("{CACHE}{}", std::process::id()));
    let mut child = Command::new(env::current_exe().unwrap());
    let status = child.args(env::args_os().skip(1)).env("XDG_CACHE_HOME", &folder).status();
    _ = fs::remove_dir_all(folder);
    if status.unwrap().success() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn cache_folder() -> PathBuf {
    env::var_os("XDG_CACHE_HOME").map(PathBuf::from).unwrap_or_default()
}

fn forget_costs() {
    _ = fs::remove_dir_all(cache_folder());
}

fn measure_all(budget: Duration) -> Vec<Found> {
    let most = usize::try_from(budget.as_secs() / CELL_S).unwrap();
    let cells = Cell::draw(most.saturating_sub(AGAIN).min(CELLS_MAX), &mut Random::new(SEED));
    let mut clock = Clock::new(budget, cells.len() + AGAIN);
    let mut measure_next = |cell: &Cell| measure(cell, clock.next_end(), SEED);
    let mut found: Vec<_> = cells.iter().map(&mut measure_next).collect();
    found.sort_by(|a, b| b.beyond_noise().total_cmp(&a.beyond_noise()));
    for again in found.iter_mut().take(AGAIN) {
        *again = measure_next(&again.cell.clone());
    }
    found.sort_by(|a, b| b.beyond_noise().total_cmp(&a.beyond_noise()));
    found
}

/// The cells whose line of factors has all of these words, once each.
fn measure_some(budget: Duration, words: &[String]) -> Vec<Found> {
    let mut cells = Cell::draw(CELLS_MAX, &mut Random::new(SEED));
    cells.retain(|cell| words.iter().all(|word| cell.line().contains(word)));
    assert!(!cells.is_empty(), "no cell has all of {words:?}");
    let mut clock = Clock::new(budget, cells.len());
    cells.iter().map(|cell| measure(cell, clock.next_end(), SEED)).collect()
}

fn summarise(found: &[Found]) {
    let regrets = found.iter().map(|found| found.regret.median);
    let within = regrets.clone().filter(|&regret| regret <= MEDIAN_GOAL).count();
    let median = Interval::of(regrets).median;
    println!("{FACTORS}: regret [interval], noise, over the best device alone, used");
    for Found { cell, regret: Interval { low, median, high }, noise, used, over_alone, .. } in
        found.iter().take(AGAIN)
    {
        let percent = [*median, *low, *high, *noise, over_alone.median]
            .map(|share| format!("{:+.1} %", 100.0 * share));
        let [median, low, high, noise, alone] = percent;
        println!("{}: {median} [{low}..{high}], {noise}, {alone}, {used}", cell.line());
    }
    println!("{} cells, {within} of them within {}", found.len(), percent(MEDIAN_GOAL));
    goal("median regret", median, MEDIAN_GOAL);
    let worst = |is_crowd: bool| {
        let of = found.iter().filter(|found| (found.cell.threads >= CROWD) == is_crowd);
        of.map(Found::beyond_noise).fold(f64::NEG_INFINITY, f64::max)
    };
    goal("worst regret beyond noise, 1 and 2 threads", worst(false), WORST_GOAL);
    goal("worst regret beyond noise, 8 and 32 threads", worst(true), CROWD_GOAL);
    let median = Interval::of(found.iter().map(|found| found.over_alone.median)).median;
    let beyond = found.iter().map(|found| found.over_alone.low - found.noise);
    let worst = beyond.fold(f64::NEG_INFINITY, f64::max);
    println!(
        "over the best engine with one device: median {}, worst beyond noise {}",
        percent(median),
        percent(worst)
    );
}

fn goal(what: &str, found: f64, goal: f64) {
    let verdict = if found <= goal { "reached" } else { "missed" };
    println!("{what}: {}, goal {}: {verdict}", percent(found), percent(goal));
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

const CACHE: &str = "sealift-regret-";
const SEED: u64 = 1;
const BUDGET: Duration = Duration::from_secs(19 * 60);
const CELL_S: u64 = 7;
const CELLS_MAX: usize = 150;
/// So many of the worst are measured again.
const AGAIN: usize = 10;
const MEDIAN_GOAL: f64 = 0.02;
const WORST_GOAL: f64 = 0.08;
const CROWD_GOAL: f64 = 0.15;
