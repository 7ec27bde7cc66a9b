//! Kernels and lanes on the first OpenCL device, which is a processor where there is no GPU.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

mod batches;
mod lanes;
mod load;
mod oclgrind;
