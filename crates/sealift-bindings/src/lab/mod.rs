//! What only the lab has: measuring loops, simulated DPUs, described cards, loads in virtual time.

mod cards;
mod copies;
mod dpu;
mod files;
mod frames;
mod gpus;
mod offload;
mod play;
mod probes;
mod rehearse;
mod sensors;

use probes::{NotMeasurableError, WrongResultError};
use pyo3::prelude::*;
use pyo3::wrap_pyfunction;

/// Adds what measures and simulates.
///
/// # Errors
/// Python has no memory.
pub fn add_lab(module: &Bound<'_, PyModule>) -> PyResult<()> {
    add_devices(module)?;
    add_dpus(module)?;
    add_measuring(module)
}

/// Devices that are described by constants, and loads on them in virtual time.
fn add_devices(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<cards::Card>()?;
    module.add_class::<cards::Constant>()?;
    module.add_class::<cards::Prediction>()?;
    module.add_class::<play::PlayedBoard>()?;
    module.add_class::<rehearse::Rehearsal>()?;
    module.add_class::<rehearse::Rehearsed>()?;
    module.add_function(wrap_pyfunction!(cards::cards, module)?)?;
    module.add_function(wrap_pyfunction!(cards::keep_copy_cost, module)?)?;
    module.add_function(wrap_pyfunction!(play::play_board, module)?)?;
    module.add_function(wrap_pyfunction!(rehearse::rehearse, module)?)
}

/// Simulated DPUs.
fn add_dpus(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<dpu::DpuCounters>()?;
    module.add_class::<dpu::DpuFault>()?;
    module.add_class::<dpu::DpuKernel>()?;
    module.add_class::<dpu::DpuKernelRun>()?;
    module.add_class::<dpu::DpuProgram>()?;
    module.add_class::<dpu::DpuRun>()?;
    module.add_class::<dpu::DpuSystem>()?;
    module.add_class::<dpu::DpuTook>()?;
    module.add_function(wrap_pyfunction!(dpu::dpu_disassemble, module)?)?;
    module.add_function(wrap_pyfunction!(dpu::dpu_systems, module)?)?;
    module.add_function(wrap_pyfunction!(dpu::run_dpu_kernel, module)?)?;
    module.add_function(wrap_pyfunction!(dpu::run_dpu_messages, module)?)
}

/// Measuring loops, and the files and peers that they need.
fn add_measuring(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("NotMeasurableError", py.get_type::<NotMeasurableError>())?;
    module.add("WrongResultError", py.get_type::<WrongResultError>())?;
    module.add_class::<copies::PublishedTool>()?;
    module.add_class::<files::Held>()?;
    module.add_class::<probes::Arm>()?;
    module.add_function(wrap_pyfunction!(files::stream_source, module)?)?;
    module.add_function(wrap_pyfunction!(files::write_reads, module)?)?;
    module.add_function(wrap_pyfunction!(frames::answer_frames, module)?)?;
    module.add_function(wrap_pyfunction!(frames::frame_ways, module)?)?;
    module.add_function(wrap_pyfunction!(gpus::multiprocessors, module)?)?;
    module.add_function(wrap_pyfunction!(probes::check_region, module)?)?;
    module.add_function(wrap_pyfunction!(probes::effective_clock_ghz, module)?)?;
    module.add_function(wrap_pyfunction!(probes::primitives, module)?)?;
    module.add_function(wrap_pyfunction!(sensors::nvidia_gpus, module)?)?;
    module.add_function(wrap_pyfunction!(sensors::nvidia_sensors, module)?)
}
