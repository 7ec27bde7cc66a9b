//! AES-GCM on GPUs.
//!
//! One set of kernels in a dialect of C is compiled for CUDA and OpenCL ([`variant`]). The host lays messages out in
//! slabs of memory that kernels read, and works a batch in rounds over a few lanes ([`gpu`]), so that copying in,
//! computing and copying out overlap. Libraries that speak to GPUs are opened at run time: a machine without one is an
//! answer ([`GpuError`]).

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod bench;
mod builds;
pub mod cuda;
mod error;
#[cfg(test)]
mod fake;
pub mod gpu;
mod held;
mod keys;
mod lanes;
pub mod message;
pub mod opencl;
mod pack;
pub mod piece;
pub mod program;
mod resident;
mod table;
pub mod variant;
mod work;

pub use error::GpuError;
pub use held::{Held, Place};
pub use table::t0;
pub use work::{Settings, Worker};

#[cfg(test)]
mod tests;
