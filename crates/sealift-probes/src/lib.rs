//! Native measuring loops for the lab.
//!
//! An [`Arm`] is something that is timed: prepared in memory, and checked before the first sample and
//! while it is timed. [`Arm::sample`] runs it and says how long it took and what the system did
//! meanwhile. [`GcmArm`] is a device on messages, [`PrimitiveArm`] a hash or a signature scheme, [`ReadArm`]
//! a loop that reads memory, [`copy::CopyArm`] a function that moves it, [`frames::FramesArm`] frames exchanged
//! with another process, [`ContendedArm`] a cipher that works from memory while others stream it,
//! [`offload::OffloadArm`] batches that clients hand over to cores as to cards, [`gpu::GpuArm`] work that a GPU does in
//! its own memory.
//!
//! An arm of another crate is made of a [`Crew`] that runs each thread's [`Part`], over [`Memory`] that lies
//! alike in all arms.
//!
//! [`files`] are readers and writers of files, and what a process holds meanwhile.
//!
//! [`peers`] are AES-GCM devices that only the lab has, to compare others with: [`open`] opens them like
//! any device, no engine chooses them, and no user is given them.
//!
//! ```
//! use sealift_probes::{Arm, ArmSpec, Columns, GcmArm, Planned, Regime, Shape};
//!
//! let engine = sealift_probes::open("table")?;
//! let shape = Shape { text_bytes: 128, ..Shape::default() };
//! let columns = Columns::cycle(256, &[Planned::Seal, Planned::Open], shape);
//! let spec = ArmSpec { columns, regime: Regime::Sessions(16), batch: 64, threads: 1, seed: 1 };
//! let mut arm = GcmArm::prepare(&engine, "table", &spec)?;
//! let sample = arm.sample(0.002)?;
//! println!("{} ns a message", sample.ns / sample.operations);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod arm;
mod clock;
mod contention;
mod cores;
mod crew;
mod error;
mod ffi;
mod gcm;
mod limit;
mod line;
mod memory;
mod ports;
mod primitives;
mod random;
mod read;
mod sample;
mod smaps;
mod system;

pub mod copy;
pub mod files;
pub mod frames;
pub mod gpu;
pub mod offload;
pub mod peers;
pub mod tdes;

pub use arm::{Arm, Verified};
pub use clock::effective_clock_ghz;
pub use contention::{ContendedArm, ContendedSpec};
pub use crew::{Crew, Done, Part, SAMPLE_SECONDS_MAX};
pub use error::ArmError;
pub use gcm::{ArmSpec, Columns, GcmArm, Planned, Regime, Shape, borrowed, layout};
pub use memory::Memory;
pub use peers::open;
pub use ports::{Load, Ports};
pub use primitives::{Half, Primitive, PrimitiveArm};
pub use random::Random;
pub use read::{READ_BYTES, ReadArm};
pub use sample::Sample;

/// More than any machine has cores; guards against a slip of the pen.
const THREADS_MAX: usize = 1_024;
