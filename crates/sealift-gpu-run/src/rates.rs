//! What the units of a multiprocessor do: chains of one instruction in many warps.

use crate::arm::{Again, Arm};
use crate::device::Device;
use crate::measure::{Measuring, Row};
use crate::plan::{Cell, Experiment, cell, text};
use crate::trouble::Trouble;
use sealift_gpu::bench::{Grid, Unit, UnitBench};
use sealift_gpu::gpu::Gpu;
use std::sync::Arc;

/// One group: all instructions in turn.
pub(crate) fn experiment(device: &Device) -> Experiment {
    let cells = Unit::ALL.map(|unit| cell(AXES, [device.label().into(), unit.name().into()]));
    Experiment {
        name: NAME,
        id: "",
        of_the_lab: false,
        title: "Rates of a GPU's instructions",
        why: "How many lanes does each kind of instruction serve in a second, which limits follow from?",
        operation: "instruction of a lane",
        axes: AXES,
        compare: INSTRUCTION,
        plot: None,
        groups: vec![cells.to_vec()],
    }
}

/// Measures them; what failed.
///
/// # Errors
/// The device is absent, or the folder takes nothing.
pub(crate) fn work(device: &Device, measuring: &Measuring<'_>) -> Result<Vec<String>, String> {
    let gpu = device.gpu()?;
    let rounds = if device.is_real() { ROUNDS } else { FEWER_ROUNDS };
    measuring.all(NAME, &device.label(), |cell| arm(&gpu, cell, rounds), said)
}

fn arm(gpu: &Arc<dyn Gpu>, cell: &Cell, rounds: u32) -> Result<Box<dyn Arm>, Trouble> {
    let name = text(cell, INSTRUCTION);
    let unit = Unit::ALL.into_iter().find(|unit| unit.name() == name);
    let unit = unit.ok_or_else(|| Trouble::Failed(format!("no instruction {name}")))?;
    // Two groups of 16 warps each for every multiprocessor: enough that none waits for results.
    let grid = Grid { groups: 2 * gpu.about().units, group_items: 512 };
    Ok(Box::new(Again::new(UnitBench::new(gpu, unit, grid, rounds)?)?))
}

fn said(row: &Row) -> String {
    let told = row.operations_per_ns().map(|rate| format!("{rate:10.1} G lanes/s"));
    format!("{:12}{}", text(&row.cell, INSTRUCTION), told.unwrap_or_else(|| row.why()))
}

pub(crate) const NAME: &str = "gpu-rates";
pub(crate) const INSTRUCTION: &str = "instruction";
/// A launch takes a millisecond and more, beside which what begins and ends it is little. Odd and no multiple of 3.
const ROUNDS: u32 = 16_333;
const FEWER_ROUNDS: u32 = 1_021;
const AXES: &[(&str, &str)] = &[("device", "device"), (INSTRUCTION, "instruction")];
