//! DPUs, simulated instruction by instruction: processors in the memory that they work on.

mod timed;
mod under;

pub use timed::{Cipher, Run, Timed, Took};
