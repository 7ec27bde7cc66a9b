//! What a call gains from every core, and what callers and devices that share them cost each other.
//!
//! `cargo bench -p sealift --bench cores -- [FILE.csv] [--budget SECONDS]`, on a machine where nothing else runs;
//! without a budget it takes under five minutes. What is compared takes turns in the same rounds: figures are medians of the
//! rounds' ratios with their 95 % intervals.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark")]
#![allow(clippy::cast_precision_loss, reason = "counts and nanoseconds are far under 2^52")]

#[path = "../common/mod.rs"]
mod common;

mod beside;
mod price;
mod sealing;
mod sharing;
mod turns;

use common::{Arguments, Clock, Interval};
use sealift::{Engine, Options};
use sealing::{Memory, Sealing, Shape};
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};
use turns::{ratio, take_turns};

fn main() {
    let Some(Arguments { file, budget, words }) = Arguments::read(BUDGET) else { return };
    assert!(words.is_empty(), "cores takes [FILE.csv] [--budget SECONDS], not {words:?}");
    let cells = cells();
    let mut clock = Clock::new(budget, cells.len() + sharing::CELLS + beside::CELLS + price::CELLS);
    let mut found = vec![];
    for (shape, memory) in cells {
        every_core(shape, memory, clock.next_end(), &mut found);
    }
    sharing::measure(&mut clock, &mut found);
    beside::measure(&mut clock, &mut found);
    price::measure(&mut clock, &mut found);
    drop(clock);
    found.iter().for_each(Found::show);
    if let Some(file) = file {
        let lines: String = found.iter().map(Found::line).collect();
        std::fs::write(&file, format!("{HEADER}\n{lines}")).unwrap();
        println!("written to {file}");
    }
}

/// A figure, and what it is of.
struct Found {
    what: &'static str,
    shape: Shape,
    memory: Memory,
    value: Interval,
    unit: &'static str,
}

impl Found {
    fn line(&self) -> String {
        let Self { what, shape, memory, value, unit } = self;
        let Shape { messages, text_bytes, keys } = shape;
        let (memory, Interval { low, median, high }) = (memory.name(), value);
        format!(
            "{what},{messages},{text_bytes},{keys},{memory},{median:.4},{low:.4},{high:.4},{unit}\n"
        )
    }

    fn show(&self) {
        let Self { what, shape, memory, value, unit } = self;
        let Shape { messages, text_bytes, keys } = shape;
        let (memory, Interval { low, median, high }) = (memory.name(), value);
        println!(
            "{what}: {messages} x {text_bytes} B, {keys} keys, {memory}: {median:.3} {unit} [{low:.3}..{high:.3}]"
        );
    }
}

fn cells() -> Vec<(Shape, Memory)> {
    let mut cells = vec![];
    for bytes in BATCH_BYTES {
        for text_bytes in [128, 1_420, 16 << 10, bytes] {
            let shape = Shape { messages: bytes / text_bytes, text_bytes, keys: 1 };
            cells.extend(Memory::ALL.map(|memory| (shape, memory)));
        }
    }
    for bytes in SMALL_BATCH_BYTES {
        let shape = |text_bytes| Shape { messages: bytes / text_bytes, text_bytes, keys: 1 };
        cells.extend([128, 1_420, 16 << 10].map(|text_bytes| (shape(text_bytes), Memory::Used)));
    }
    cells
}

/// One call with all cores against the same on its own thread.
fn every_core(shape: Shape, memory: Memory, until: Instant, found: &mut Vec<Found>) {
    let engine = Engine::with(&["cpu"]).unwrap();
    let mut sealing = Sealing::new(&engine, shape, memory);
    let is_beside_a_copy = memory == Memory::Fresh && shape.bytes() >= COPIED_BYTES_MIN;
    let arms = if is_beside_a_copy { 4 } else { 2 };
    let cores = std::thread::available_parallelism().unwrap().get();
    let rounds = take_turns(until, arms, |arm| match arm {
        0 => sealing.call(&engine, &ON_ONE_THREAD),
        1 => sealing.call(&engine, &Options::default()),
        2 => sealing.copy(1),
        _ => sealing.copy(cores),
    });
    let unit = "times as fast";
    let value = ratio(&rounds, 0, 1);
    found.push(Found { what: "every core", shape, memory, value, unit });
    if is_beside_a_copy {
        let value = ratio(&rounds, 2, 3);
        found.push(Found { what: "a plain copy", shape, memory, value, unit });
    }
}

const ON_ONE_THREAD: Options =
    Options { on: None, nonces: sealift::NonceCheck::Off, threads: Some(NonZeroUsize::MIN) };
const HEADER: &str = "what,messages,text_bytes,keys,memory,median,low,high,unit";
const BUDGET: Duration = Duration::from_secs(270);
const BATCH_BYTES: [usize; 5] = [1 << 20, 2 << 20, 8 << 20, 16 << 20, 256 << 20];
const SMALL_BATCH_BYTES: [usize; 3] = [16 << 10, 64 << 10, 256 << 10];
const COPIED_BYTES_MIN: usize = 256 << 20;
