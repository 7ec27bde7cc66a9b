//! Copies between pinned memory of the host and the device, by size.

use crate::arm::{Again, Arm, Copies};
use crate::device::Device;
use crate::measure::{Measuring, Row};
use crate::plan::{Cell, Experiment, Plot, cell, number, text};
use crate::trouble::Trouble;
use sealift_gpu::bench::{CopyBench, Direction};
use sealift_gpu::gpu::Gpu;
use std::sync::Arc;

/// A group for each size, with all directions.
pub(crate) fn experiment(device: &Device) -> Experiment {
    let sizes = if device.is_real() { SIZES } else { &SIZES[..2] };
    let group = |size: &usize| {
        let cell = |way: &str| cell(AXES, [device.label().into(), (*size).into(), way.into()]);
        WAYS.map(|(way, _)| cell(way)).to_vec()
    };
    Experiment {
        name: NAME,
        id: "",
        of_the_lab: false,
        title: "Copies between host and GPU",
        why: "What does the way to the GPU and back carry, one way and both ways at once?",
        operation: "copy",
        axes: AXES,
        compare: DIRECTION,
        plot: Some(Plot::by([SIZE, "payload_MB_per_s", DIRECTION])),
        groups: sizes.iter().map(group).collect(),
    }
}

/// Measures them; what failed.
///
/// # Errors
/// The device is absent, or the folder takes nothing.
pub(crate) fn work(device: &Device, measuring: &Measuring<'_>) -> Result<Vec<String>, String> {
    let gpu = device.gpu()?;
    measuring.all(NAME, &device.label(), |cell| arm(&gpu, cell), said)
}

fn arm(gpu: &Arc<dyn Gpu>, cell: &Cell) -> Result<Box<dyn Arm>, Trouble> {
    let way = text(cell, DIRECTION);
    let direction = WAYS.iter().find(|(name, _)| *name == way).map(|(_, direction)| *direction);
    let direction = direction.ok_or_else(|| Trouble::Failed(format!("no way {way}")))?;
    let bytes = usize::try_from(number(cell, SIZE)).unwrap_or(usize::MAX);
    let bench = CopyBench::new(gpu, bytes)?;
    Ok(Box::new(Again::new(Copies { bench, direction })?))
}

fn said(row: &Row) -> String {
    let (bytes, way) = (number(&row.cell, SIZE), text(&row.cell, DIRECTION));
    let told = row.gb_per_s().map(|rate| format!("{rate:8.2} GB/s"));
    format!("{bytes:>10} B, {way:14}{}", told.unwrap_or_else(|| row.why()))
}

pub(crate) const NAME: &str = "gpu-copies";
pub(crate) const SIZE: &str = "size_bytes";
pub(crate) const DIRECTION: &str = "direction";
pub(crate) const BOTH: &str = "both at once";
const AXES: &[(&str, &str)] =
    &[("device", "device"), (SIZE, "bytes of a copy"), (DIRECTION, "direction")];
const SIZES: &[usize] = &[64 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20, 256 << 20];
const WAYS: [(&str, Direction); 3] =
    [("to the device", Direction::In), ("back", Direction::Out), (BOTH, Direction::Both)];
