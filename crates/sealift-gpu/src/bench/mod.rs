//! What the lab measures of a GPU: work that lies in its memory and is done there again and again, on a grid that the caller
//! chooses.
//!
//! - [`Bench`]: AES-GCM, by the drivers' kernels or as the program of document 003 worked it.
//! - [`TypesBench`]: arithmetic on types of numbers.
//! - [`UnitBench`]: single instructions of NVIDIA's multiprocessors.
//! - [`CopyBench`]: copies to the device and back.
//!
//! Each checks what the device computed against this processor before it gives a first time, and whenever it is asked to: all
//! of it, or, between samples, a part, each in turn.
//! Times are of the device's own clock ([`Took`](crate::gpu::Took)), all runs of a call together.

mod copies;
mod layout;
mod loaded;
mod messages;
mod program;
mod spec;
mod turn;
mod types;
mod units;

pub use copies::{CopyBench, Direction};
pub use messages::Bench;
pub use program::LabProgram;
pub use spec::{BenchSpec, Code, Grid, Mode, Plan, Shape};
pub use types::{Type, TypesBench};
pub use units::{Unit, UnitBench};

#[cfg(test)]
mod tests;
