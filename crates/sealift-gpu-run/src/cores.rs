//! Cores of this machine beside a GPU: rows of the lab's own experiments.

use crate::arm::{Again, Arm, Batches, Engined, Resident, Worker};
use crate::device::Device;
use crate::grids::{
    LANES, OURS, PARTITIONED, PUBLISHED, REPLICATED, RESIDENT, TEXT_BYTES, a_block_each, grid,
    messages, resident,
};
use crate::measure::{Measuring, Row};
use crate::plan::{Cell, Experiment, Plot, cell, number, text};
use crate::trouble::Trouble;
use sealift_gpu::gpu::Gpu;
use sealift_probes::Regime;
use std::sync::Arc;
use std::thread::available_parallelism;

/// One of each, and all of them.
pub(crate) fn experiments(device: &Device) -> Vec<Experiment> {
    vec![one(device), all(device)]
}

/// A core beside the least that the GPU runs.
fn one(device: &Device) -> Experiment {
    let group = |(code, named): (&str, &str)| {
        let names = [cores_text(code, 1), format!("{}, {named}", device.label())];
        names.map(|name| {
            cell(ONE_AXES, [TEXT_BYTES.into(), RESIDENT.into(), code.into(), name.into()])
        })
    };
    Experiment {
        name: ONE,
        id: "003-F9",
        of_the_lab: true,
        title: "One CPU core beside one thread of a GPU",
        why: "How many times as fast is a core of a processor as one of a GPU?",
        operation: "message",
        axes: ONE_AXES,
        compare: "device",
        plot: Some(Plot {
            facet: "code",
            log: [false, true],
            ..Plot::by(["device", "payload_MB_per_s", "device"])
        }),
        groups: ONE_THREADS.into_iter().map(|each| group(each).to_vec()).collect(),
    }
}

/// All cores beside all of the GPU, and some beside it by messages at once, from this machine's memory and back there.
fn all(device: &Device) -> Experiment {
    Experiment {
        name: ALL,
        id: "003-F10",
        of_the_lab: true,
        title: "All CPU cores beside all of a GPU",
        why: "How many times as much does a GPU do as all cores, and from how many messages at once on is it worth the way?",
        operation: "message",
        axes: ALL_AXES,
        compare: "device",
        plot: Some(Plot {
            only: Some(("data", HOST)),
            facet: "",
            log: [true, true],
            ..Plot::by(["batch", "ns_per_operation", "device"])
        }),
        groups: groups_of_all(device),
    }
}

fn groups_of_all(device: &Device) -> Vec<Vec<Cell>> {
    let units = device.gpu().map_or(1, |gpu| gpu.about().units);
    let cores = available_parallelism().map_or(1, usize::from);
    let group = |[code, mode, data]: [&str; 3], batch: usize, counts: &[usize]| -> Vec<_> {
        let names = counts.iter().map(|count| cores_text(code, *count)).chain([device.label()]);
        let cell = |name: String| {
            let [bytes, units, batch] = [TEXT_BYTES, units, batch].map(Into::into);
            let [data, code, mode] = [data, code, mode].map(Into::into);
            cell(ALL_AXES, [bytes, data, code, mode, units, batch, name.into()])
        };
        names.map(cell).collect()
    };
    let (resident, batches) =
        if device.is_real() { (MANY, &BATCHES[..]) } else { (FEWER, &FEWER_BATCHES[..]) };
    // Every core has as many as any other.
    let [each, resident] = [messages(1), resident].map(|all| all.next_multiple_of(cores));
    let in_memory = [
        group([PUBLISHED, REPLICATED, RESIDENT], each, &[cores]),
        group([OURS, PARTITIONED, RESIDENT], resident, &[cores]),
    ];
    let from_host = |batch: &usize| {
        let fits = |count: &usize| *count <= cores.min(*batch);
        let counts: Vec<_> = COUNTS.into_iter().filter(fits).collect();
        group([OURS, PARTITIONED, HOST], *batch, &counts)
    };
    in_memory.into_iter().chain(batches.iter().map(from_host)).collect()
}

/// Measures them; what failed.
///
/// # Errors
/// The device is absent, or the folder takes nothing.
pub(crate) fn work(device: &Device, measuring: &Measuring<'_>) -> Result<Vec<String>, String> {
    let gpu = device.gpu()?;
    let make = |cell: &Cell| arm(device, &gpu, cell);
    eprintln!("  {ONE}");
    let mut failures = measuring.share(GROUPS).all(ONE, &device.label(), make, said)?;
    eprintln!("  {ALL}");
    failures.extend(measuring.all(ALL, &device.label(), make, said)?);
    Ok(failures)
}

fn arm(device: &Device, gpu: &Arc<dyn Gpu>, cell: &Cell) -> Result<Box<dyn Arm>, Trouble> {
    let cores = cores_of(text(cell, "device"));
    if cores.is_none() && text(cell, "data") == RESIDENT {
        return Ok(Box::new(Again::new(in_memory(device, gpu, cell)?)?));
    }
    // Beside what is not timed nothing is.
    if let Some(untimed) = device.untimed() {
        return Err(Trouble::Skip(untimed.to_owned()));
    }
    let batch = at_once(cell).unwrap_or(CORE_MESSAGES);
    Ok(Box::new(match cores {
        Some((driver, cores)) => handed(driver, Worker::Threads, batch / cores, cores)?,
        None => handed(&device.spec, Worker::Device, batch, 1)?,
    }))
}

/// Messages that lie in the device's memory: those of one core's place, or of all.
fn in_memory(device: &Device, gpu: &Arc<dyn Gpu>, cell: &Cell) -> Result<Resident, Trouble> {
    let is_published = text(cell, "code") == PUBLISHED;
    let Some(batch) = at_once(cell) else {
        let threads = if is_published { 1 } else { LANES };
        return resident(gpu, cell, Some(grid(1, threads)), messages(threads));
    };
    let grid = is_published.then(|| a_block_each(gpu.about().units, device.is_real()));
    resident(gpu, cell, grid, batch)
}

/// How many messages a cell names.
fn at_once(cell: &Cell) -> Option<usize> {
    usize::try_from(number(cell, "batch")).ok().filter(|messages| *messages > 0)
}

/// A device of an engine that threads hand so many messages at once, each under a key of its own.
fn handed(spec: &str, by: Worker, batch: usize, threads: usize) -> Result<Engined, Trouble> {
    let batches = Batches {
        messages: MESSAGES_LEAST.next_multiple_of(batch),
        text_bytes: TEXT_BYTES as u64,
        keys: Regime::Fresh,
        batch,
        threads,
    };
    Engined::new(spec, by, &batches)
}

fn said(row: &Row) -> String {
    let cell = &row.cell;
    let words = ["device", "code", "data"].map(|axis| text(cell, axis));
    let batch = at_once(cell).map_or_else(String::new, |batch| format!(", {batch} at once"));
    let what = format!("{}{batch}", words.join(", "));
    match (row.gb_per_s(), row.operations_per_ns()) {
        (Some(rate), Some(each)) => {
            format!("{what}: {:.1} MB/s, {:.1} ns a message", 1e3 * rate, 1.0 / each)
        }
        _ => format!("{what}: {}", row.why()),
    }
}

/// A number of cores with the driver whose code is nearest: table code stands for that of the document.
fn cores_text(code: &str, cores: usize) -> String {
    let driver = if code == PUBLISHED { "table" } else { "cpu" };
    format!("{driver}, {cores} core{}", if cores > 1 { "s" } else { "" })
}

/// The driver and the number of cores that are named so.
fn cores_of(name: &str) -> Option<(&str, usize)> {
    let (driver, cores) = name.split_once(", ")?;
    let count = cores.strip_suffix(" core").or_else(|| cores.strip_suffix(" cores"))?;
    Some((driver, count.parse().ok()?))
}

const ONE: &str = "gpu-core-beside-cpu";
const ALL: &str = "gpu-beside-cpu";
// As the lab's experiments have them: python/sealift_lab/experiments/document_003/gpu_beside_cpu.py.
const ONE_AXES: &[(&str, &str)] = &[
    ("message_bytes", "message, bytes"),
    ("data", "data"),
    ("code", "code"),
    ("device", "device"),
];
const ALL_AXES: &[(&str, &str)] = &[
    ("message_bytes", "message, bytes"),
    ("data", "data"),
    ("code", "code"),
    ("mode", "mode"),
    ("units", "multiprocessors, or cores"),
    ("batch", "messages at once"),
    ("device", "device"),
];
const HOST: &str = "host to host";
/// By code what stands for one core.
const ONE_THREADS: [(&str, &str); 2] = [(PUBLISHED, "1 thread"), (OURS, "1 warp")];
const CORE_MESSAGES: usize = 1_024;
const MANY: usize = 1 << 18;
const FEWER: usize = 4_096;
/// Latency, then halves of what is left between, so that a time that is too short leaves the least open.
const BATCHES: [usize; 7] = [1, 65_536, 4_096, 1_024, 16_384, 256, 262_144];
const FEWER_BATCHES: [usize; 2] = [1, 256];
const COUNTS: [usize; 4] = [1, 2, 4, 8];
/// Of both experiments' groups those of the first are about one in so many.
const GROUPS: usize = 6;
/// As many as the lab has of 128 bytes, or those of one batch.
const MESSAGES_LEAST: usize = 8_192;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_are_read_as_they_are_written_and_devices_are_none() {
        for (code, cores, told) in [(PUBLISHED, 1, "table, 1 core"), (OURS, 16, "cpu, 16 cores")] {
            let name = cores_text(code, cores);
            assert_eq!(name, told);
            assert_eq!(cores_of(&name).unwrap().1, cores);
        }
        for device in ["cuda", "cuda, 1 thread", "OpenCL on this processor, 1 warp"] {
            assert_eq!(cores_of(device), None);
        }
    }
}
