//! Document 003's grids of blocks and threads, and its data types: rows of the lab's own experiments.

use crate::arm::{Again, Arm, Resident, Types};
use crate::device::Device;
use crate::measure::{Measuring, Row};
use crate::plan::{Cell, Experiment, Plot, cell, number, text};
use crate::trouble::Trouble;
use sealift_core::KeyLength;
use sealift_gpu::bench::{Bench, BenchSpec, Code, Grid, Mode, Shape, Type, TypesBench};
use sealift_gpu::gpu::Gpu;
use sealift_gpu::message::Operation;
use sealift_gpu::variant::Tables;
use std::sync::Arc;

/// Blocks and threads of each, by experiment, and how they work.
struct Grids {
    name: &'static str,
    id: &'static str,
    title: &'static str,
    why: &'static str,
    compare: &'static str,
    plot: [&'static str; 3],
    ways: &'static [&'static [Way]],
    of: fn(usize, bool) -> Vec<Grid>,
}

/// Whose code, who works what, and where data are.
type Way = (&'static str, &'static str, &'static str);

/// Those of threads, of blocks, the document's two tables, and data types.
pub(crate) fn experiments(device: &Device) -> Vec<Experiment> {
    // A device that can't be opened is told when it is to be measured.
    let units = device.gpu().map_or(1, |gpu| gpu.about().units);
    let grids = GRIDS.iter().map(|grids| grids.experiment(device, units));
    grids.chain([types(device, units)]).collect()
}

impl Grids {
    fn experiment(&self, device: &Device, units: usize) -> Experiment {
        let mut groups = vec![];
        for grid in (self.of)(units, device.is_real()) {
            let cell = |code: &str, mode: &str, data: &str| {
                let [device, bytes] = [device.label().into(), TEXT_BYTES.into()];
                let [blocks, threads] = [grid.groups.into(), grid.group_items.into()];
                let (code, mode, data) = (code.into(), mode.into(), data.into());
                cell(AXES, [device, code, mode, data, bytes, blocks, threads])
            };
            let fits = |(code, ..): &&Way| {
                *code != OURS || (LANES..=OURS_MOST).contains(&grid.group_items)
            };
            let group = |ways: &&[Way]| -> Vec<_> {
                ways.iter().filter(fits).map(|(code, mode, data)| cell(code, mode, data)).collect()
            };
            groups.extend(self.ways.iter().map(group).filter(|group| !group.is_empty()));
        }
        Experiment {
            name: self.name,
            id: self.id,
            of_the_lab: true,
            title: self.title,
            why: self.why,
            operation: "message",
            axes: AXES,
            compare: self.compare,
            plot: Some(Plot { log: [true, true], ..Plot::by(self.plot) }),
            groups,
        }
    }
}

fn types(device: &Device, units: usize) -> Experiment {
    let group = |grid: Grid| {
        let cell = |of: Type| {
            let [blocks, threads] = [grid.groups.into(), grid.group_items.into()];
            cell(TYPE_AXES, [device.label().into(), blocks, threads, of.name().into()])
        };
        Type::ALL.map(cell).to_vec()
    };
    Experiment {
        name: TYPES,
        id: "003-F4",
        of_the_lab: true,
        title: "Data types on the GPU",
        why: "What do wider integers, floating-point numbers, and a literal that is a double cost?",
        operation: "multiplication",
        axes: TYPE_AXES,
        compare: "type",
        plot: Some(Plot {
            log: [false, true],
            ..Plot::by(["type", "operations_per_s", "threads_per_block"])
        }),
        groups: [(1, 1), (units, BLOCK)]
            .map(|(blocks, threads)| group(grid(blocks, threads)))
            .to_vec(),
    }
}

/// Measures them; what failed.
///
/// # Errors
/// The device is absent, or the folder takes nothing.
pub(crate) fn work(device: &Device, measuring: &Measuring<'_>) -> Result<Vec<String>, String> {
    let gpu = device.gpu()?;
    let untimed = device.untimed();
    let mut failures = vec![];
    let names: Vec<_> = GRIDS.iter().map(|grids| grids.name).chain([TYPES]).collect();
    for (done, name) in names.iter().enumerate() {
        let share = measuring.share(names.len() - done);
        eprintln!("  {name}");
        failures.extend(share.all(name, &device.label(), |cell| arm(&gpu, cell, untimed), said)?);
    }
    Ok(failures)
}

fn arm(gpu: &Arc<dyn Gpu>, cell: &Cell, untimed: Option<&str>) -> Result<Box<dyn Arm>, Trouble> {
    let count = |axis| usize::try_from(number(cell, axis)).unwrap_or(usize::MAX);
    let grid = grid(count("thread_blocks"), count("threads_per_block"));
    if let Some(of) = Type::ALL.into_iter().find(|of| of.name() == text(cell, "type")) {
        // What plays a GPU does not play numbers of each type, of which nothing but times is asked.
        if let Some(untimed) = untimed {
            return Err(Trouble::Skip(untimed.to_owned()));
        }
        return Ok(Box::new(Again::new(Types(TypesBench::new(gpu, of, grid)?))?));
    }
    let threads = if text(cell, "mode") == REPLICATED { 1 } else { grid.items() };
    let mut resident = resident(gpu, cell, Some(grid), messages(threads))?;
    resident.with_copies = text(cell, "data") == TRANSFERS;
    Ok(Box::new(Again::new(resident)?))
}

/// So many messages in the device's memory, worked as a cell's code and mode say; by the driver's grid where none is given.
pub(crate) fn resident(
    gpu: &Arc<dyn Gpu>,
    cell: &Cell,
    grid: Option<Grid>,
    messages: usize,
) -> Result<Resident, Trouble> {
    let is_ours = text(cell, "code") == OURS;
    let is_replicated = text(cell, "mode") == REPLICATED;
    let spec = BenchSpec {
        code: if is_ours { Code::Ours(Tables::best(gpu.about())) } else { Code::Published },
        mode: if is_replicated { Mode::Replicated } else { Mode::Partitioned },
        grid,
        shape: Shape {
            messages,
            text_bytes: TEXT_BYTES,
            aad_bytes: 0,
            key: KeyLength::Aes128,
            operation: Operation::Seal,
            own_keys: true,
        },
        seed: SEED,
    };
    Ok(Resident::new(Bench::new(gpu, &spec)?, gpu.about()))
}

fn said(row: &Row) -> String {
    let cell = &row.cell;
    let (blocks, threads) = (number(cell, "thread_blocks"), number(cell, "threads_per_block"));
    let words = ["code", "mode", "data", "type"].map(|axis| text(cell, axis));
    let words: Vec<_> = words.into_iter().filter(|word| !word.is_empty()).collect();
    let what = format!("{blocks} x {threads}, {}", words.join(", "));
    match (row.gb_per_s(), row.operations_per_ns()) {
        (Some(rate), _) if rate > 0.0 => format!("{what}: {:.1} MB/s", 1e3 * rate),
        (_, Some(rate)) => format!("{what}: {rate:.3} G/s"),
        _ => format!("{what}: {}", row.why()),
    }
}

/// How many messages so many threads share out.
pub(crate) fn messages(threads: usize) -> usize {
    (THREAD_MESSAGES * threads).min(MESSAGES_MOST)
}

pub(crate) fn grid(groups: usize, group_items: usize) -> Grid {
    Grid { groups, group_items }
}

fn by_threads(_: usize, is_real: bool) -> Vec<Grid> {
    let counts: &[_] = if is_real { &THREADS } else { &[LANES] };
    counts.iter().map(|threads| grid(1, *threads)).collect()
}

/// Below the multiprocessors in powers of two, and above in whole rounds.
fn by_blocks(units: usize, is_real: bool) -> Vec<Grid> {
    if !is_real {
        return vec![grid(2, LANES)];
    }
    let powers = (0..).map(|power| 1 << power).take_while(|blocks| *blocks < units);
    powers.chain((1..=4).map(|times| times * units)).map(|blocks| grid(blocks, BLOCK)).collect()
}

fn of_the_document(units: usize, is_real: bool) -> Vec<Grid> {
    if !is_real {
        return vec![grid(units, LANES)];
    }
    DOCUMENT.iter().map(|(times, threads)| grid(times * units, *threads)).collect()
}

/// One thread, and a block for each multiprocessor.
fn one_and_all(units: usize, is_real: bool) -> Vec<Grid> {
    vec![grid(1, 1), a_block_each(units, is_real)]
}

/// A block for each multiprocessor.
pub(crate) fn a_block_each(units: usize, is_real: bool) -> Grid {
    grid(units, if is_real { BLOCK } else { LANES })
}

const GRIDS: [Grids; 4] = [
    Grids {
        name: "gpu-threads-per-block",
        id: "003-F7",
        title: "GPU throughput by threads per block",
        why: "Does the throughput of one block grow with its threads up to 128?",
        compare: "mode",
        plot: ["threads_per_block", "payload_MB_per_s", "mode"],
        ways: &[AS_PUBLISHED, AS_OURS],
        of: by_threads,
    },
    Grids {
        name: "gpu-blocks",
        id: "003-F8",
        title: "GPU throughput by thread blocks",
        why: "Does throughput grow with thread blocks up to the number of multiprocessors?",
        compare: "mode",
        plot: ["thread_blocks", "payload_MB_per_s", "mode"],
        ways: &[AS_PUBLISHED, AS_OURS, &[(OURS, PARTITIONED, TRANSFERS)]],
        of: by_blocks,
    },
    Grids {
        name: "gpu-grid",
        id: "003-T3",
        title: "Grids of blocks and threads at and over a GPU's maximum",
        why: "What do more threads than a GPU has cores make of its throughput?",
        compare: "mode",
        plot: ["thread_blocks", "payload_MB_per_s", "threads_per_block"],
        ways: &[AS_PUBLISHED, AS_OURS],
        of: of_the_document,
    },
    Grids {
        name: "gpu-generations",
        id: "003-T5",
        title: "GPU generations",
        why: "What does a generation add, for each multiprocessor?",
        compare: "device",
        plot: ["thread_blocks", "payload_MB_per_s", "threads_per_block"],
        ways: &[&[(PUBLISHED, REPLICATED, RESIDENT)]],
        of: one_and_all,
    },
];
const AS_PUBLISHED: &[Way] =
    &[(PUBLISHED, REPLICATED, RESIDENT), (PUBLISHED, PARTITIONED, RESIDENT)];
const AS_OURS: &[Way] = &[(OURS, PARTITIONED, RESIDENT)];
const TYPES: &str = "gpu-data-types";
// As the lab's experiments have them: python/sealift_lab/experiments/document_003/gpus/cells.py.
const AXES: &[(&str, &str)] = &[
    ("device", "device"),
    ("code", "code"),
    ("mode", "mode"),
    ("data", "data"),
    ("message_bytes", "message, bytes"),
    ("thread_blocks", "thread blocks"),
    ("threads_per_block", "threads of a block"),
];
const TYPE_AXES: &[(&str, &str)] = &[
    ("device", "device"),
    ("thread_blocks", "thread blocks"),
    ("threads_per_block", "threads of a block"),
    ("type", "data type"),
];
pub(crate) const PUBLISHED: &str = "as published";
pub(crate) const OURS: &str = "ours";
pub(crate) const REPLICATED: &str = "replicated";
pub(crate) const PARTITIONED: &str = "partitioned";
pub(crate) const RESIDENT: &str = "resident";
const TRANSFERS: &str = "with transfers";
const THREADS: [usize; 14] = [1, 2, 4, 8, 16, 32, 64, 96, 128, 192, 256, 384, 512, 1_024];
const BLOCK: usize = 128;
/// The document's grids: blocks for each multiprocessor, and threads of each.
const DOCUMENT: [(usize, usize); 7] =
    [(1, 128), (1, 256), (1, 512), (2, 128), (3, 128), (3, 256), (7, 512)];
pub(crate) const LANES: usize = sealift_gpu::message::LANES;
const OURS_MOST: usize = sealift_gpu::message::GROUP_MAX;
pub(crate) const TEXT_BYTES: usize = 128;
/// Of each thread where all of them work the same ones.
const THREAD_MESSAGES: usize = 64;
const MESSAGES_MOST: usize = 1 << 18;
const SEED: u64 = 1;
