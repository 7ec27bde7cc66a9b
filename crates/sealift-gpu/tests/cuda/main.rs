//! The CUDA side over a libcuda without a GPU, whose faults are ordered: what it makes of them, and what it leaves behind.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

mod bench;
mod every_call;
mod faults;
mod held;
mod load;
mod time;
