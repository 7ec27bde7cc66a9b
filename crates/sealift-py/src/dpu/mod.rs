//! DPUs that are simulated: programs of one's own and kernels, for the command line and the lab.

mod counters;
mod program;
mod run;
mod system;
mod timed;

pub(crate) use counters::{DpuCounters, DpuFault};
pub(crate) use program::{DpuProgram, dpu_disassemble};
pub(crate) use run::DpuRun;
pub(crate) use system::{DpuSystem, dpu_systems};
pub(crate) use timed::{DpuKernel, DpuTook};

use crate::errors::Failure;

fn input(error: impl ToString) -> Failure {
    Failure::Input(error.to_string())
}
