//! One simulated DPU that runs a generated kernel.

use super::assembled::assembled;
use super::check::{Kernel, Work};
use super::input;
use crate::errors::{Failure, Outcome};
use crate::gil::{self, Signals};
use crate::lab::probes::WrongResultError;
use dpu_sim::{Dpu, Region, Timing};
use pyo3::PyErr;
use pyo3::prelude::*;

/// Which kernel, and how it is run.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Asked {
    kernel: String,
    key_bits: usize,
    decrypts: bool,
    tasklets: u32,
    chunk_bytes: u32,
    bytes: usize,
    hazard: bool,
    counts: String,
}

/// Runs a generated kernel on one simulated DPU and compares what it gives, byte by byte.
///
/// It looks for Ctrl-C ten times a second.
///
/// Args:
///     asked: A mapping with all of kernel ("document-000", "ecb", "ecb-by-bank", "ecb-fed", "ctr",
///         "ghash", "gcm"), key_bits (128, 192, 256), decrypts, tasklets (1 to 24; of "ecb-fed"
///         those that work, beside the one that moves data), chunk_bytes (a power of two from 32 to
///         2,048), bytes of data in MRAM, hazard (whether registers that meet in a bank cost a
///         cycle), counts (what the timer of "document-000" counts: "cycles" or "instructions").
///
/// Raises:
///     InputError: If there is no such kernel, or it can't be run so.
///     WrongResultError: If it gives something wrong.
#[pyfunction]
pub(crate) fn run_dpu_kernel(py: Python<'_>, asked: Bound<'_, PyAny>) -> Outcome<DpuKernelRun> {
    let asked: Asked = asked.extract()?;
    let kernel = Kernel::named(&asked.kernel).map_err(Failure::Input)?;
    let counts = match asked.counts.as_str() {
        "cycles" => 1,
        "instructions" => 2,
        other => {
            let told = format!("counts is {other:?}: give cycles or instructions");
            return Err(Failure::Input(told));
        }
    };
    let work = Work {
        kernel,
        key_bits: asked.key_bits,
        decrypts: asked.decrypts,
        tasklets: asked.tasklets,
        chunk_bytes: asked.chunk_bytes,
        bytes: asked.bytes,
        counts,
    };
    let timing = Timing { hazard: asked.hazard, ..Timing::default() };
    gil::leave(py, || {
        let prepared = work.prepare().map_err(Failure::Input)?;
        let mut dpu = loaded(&prepared.source, timing)?;
        for (name, bytes) in &prepared.writes {
            dpu.write(Region::Wram, place(&dpu, name)?, bytes).map_err(input)?;
        }
        dpu.write(Region::Mram, 0, &prepared.data).map_err(input)?;
        finish(&mut dpu)?;
        let checked = work.check(&dpu, &prepared).map_err(wrong)?;
        let mut run = DpuKernelRun::of(&dpu);
        run.checked_against = checked;
        if kernel == Kernel::Document000 {
            run.times = words(&dpu, place(&dpu, "times")?, 4)?;
        }
        Ok(run)
    })
}

/// What a simulated DPU did; the origin of its cycles is "simulated".
#[pyclass(frozen, get_all, module = "sealift._sealift")]
pub(crate) struct DpuKernelRun {
    /// From the first instruction to the last one.
    cycles: u64,
    /// Instructions of all tasklets.
    instructions: u64,
    /// Instructions by mnemonic, most frequent first.
    mnemonics: Vec<(String, u64)>,
    /// Cycles without an instruction because each tasklet had issued one just before.
    idle_revolver_cycles: u64,
    /// Cycles without an instruction while tasklets waited for transfers.
    idle_dma_cycles: u64,
    /// Cycles lost because registers met in a bank.
    idle_hazard_cycles: u64,
    /// Bytes that went out of MRAM.
    mram_read_bytes: u64,
    /// Bytes that went into MRAM.
    mram_written_bytes: u64,
    /// Transfers between MRAM and WRAM, both ways.
    transfers: u64,
    /// What the timer of "document-000" said before and after transfers and blocks, in sixteens.
    times: Vec<u32>,
    /// What the results were compared with.
    pub(super) checked_against: String,
}

impl DpuKernelRun {
    pub(super) fn of(dpu: &Dpu) -> Self {
        let counted = dpu.counters();
        Self {
            cycles: counted.cycles,
            instructions: counted.instructions,
            mnemonics: counted.mnemonics,
            idle_revolver_cycles: counted.idle.revolver,
            idle_dma_cycles: counted.idle.dma,
            idle_hazard_cycles: counted.idle.hazard,
            mram_read_bytes: counted.mram_read_bytes,
            mram_written_bytes: counted.mram_written_bytes,
            transfers: counted.transfers,
            times: vec![],
            checked_against: String::new(),
        }
    }
}

pub(super) fn loaded(source: &str, timing: Timing) -> Outcome<Dpu> {
    let program = assembled(source).map_err(input)?;
    let mut dpu = Dpu::new(timing);
    dpu.load(&program);
    Ok(dpu)
}

/// Runs to the end, as kernels do, looking for signals.
pub(super) fn finish(dpu: &mut Dpu) -> Outcome<()> {
    let mut signals = Signals::default();
    dpu.boot();
    loop {
        match dpu.run(INSTRUCTIONS_A_LOOK) {
            dpu_sim::Outcome::Done => return Ok(()),
            dpu_sim::Outcome::Fault(fault) => return Err(wrong(fault.to_string())),
            dpu_sim::Outcome::Limit => {
                if let Some(interrupt) = signals.look() {
                    return Err(interrupt.into());
                }
            }
        }
    }
}

fn place(dpu: &Dpu, name: &str) -> Outcome<u64> {
    let symbol = dpu.symbol(name);
    symbol.map(|found| found.offset.into()).ok_or_else(|| wrong(format!("it has no {name}")))
}

fn words(dpu: &Dpu, at: u64, count: usize) -> Outcome<Vec<u32>> {
    let mut bytes = vec![0; 4 * count];
    dpu.read(Region::Wram, at, &mut bytes).map_err(input)?;
    Ok(bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect())
}

pub(super) fn wrong(what: String) -> Failure {
    let error: PyErr = WrongResultError::new_err(format!("a kernel of a DPU: {what}"));
    error.into()
}

/// A fiftieth of a second, about.
const INSTRUCTIONS_A_LOOK: u64 = 1 << 20;
