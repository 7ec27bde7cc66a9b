//! Memory that Python objects lend, as slices, and memory that is lent to Python.
//!
//! All that is unsafe in this crate is here. Other threads and processes may write to a lent buffer
//! while the GIL is left. Batches over such buffers are marked [`Shared`](sealift::Stability), which
//! obliges devices to read every byte once.
#![allow(unsafe_code)]

mod column;
mod fresh;
mod held;
mod memory;
mod zeros;

pub(crate) use column::Column;
pub(crate) use fresh::FreshBytes;
pub(crate) use held::{let_go, outliving, outliving_memory};
pub(crate) use memory::Memory;
pub(crate) use zeros::zeros;
