//! DPUs that are simulated: programs of one's own and kernels, for the command line and the lab.

mod assembled;
mod check;
mod counters;
mod kernels;
mod many;
mod program;
mod run;
mod system;
mod timed;

pub(crate) use counters::{DpuCounters, DpuFault};
pub(crate) use kernels::{DpuKernelRun, run_dpu_kernel};
pub(crate) use many::run_dpu_messages;
pub(crate) use program::{DpuProgram, dpu_disassemble};
pub(crate) use run::DpuRun;
pub(crate) use system::{DpuSystem, dpu_systems};
pub(crate) use timed::{DpuKernel, DpuTook};

use crate::errors::Failure;

fn input(error: impl ToString) -> Failure {
    Failure::Input(error.to_string())
}
