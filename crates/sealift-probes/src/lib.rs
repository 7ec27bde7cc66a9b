//! Native measuring loops for the lab.
//!
//! An [`Arm`] is one device on one piece of work: messages that are really in memory, checked once
//! against another device before anything is timed. [`Arm::sample`] runs them and says how long it
//! took and what the system did meanwhile. [`effective_clock_ghz`] measures the core's clock.
//!
//! ```
//! use sealift_probes::{Arm, ArmSpec, Columns, Planned, Regime, Shape};
//!
//! let engine = sealift::Engine::with(&["library", "reference"])?;
//! let shape = Shape { text_bytes: 128, ..Shape::default() };
//! let columns = Columns::cycle(256, &[Planned::Seal, Planned::Open], shape);
//! let spec = ArmSpec { columns, regime: Regime::Sessions(16), batch: 64, threads: 1, seed: 1 };
//! let mut arm = Arm::prepare(&engine, "library", &spec)?;
//! let sample = arm.sample(0.002)?;
//! println!("{} ns a message", sample.ns / sample.messages);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod arm;
mod clock;
mod columns;
mod error;
mod ffi;
mod lot;
mod material;
mod random;
mod ring;
mod sample;
mod start_line;
mod system;
mod verify;
mod wish;

pub use arm::{Arm, SAMPLE_SECONDS_MAX};
pub use clock::effective_clock_ghz;
pub use columns::{ArmSpec, Columns, Planned, Regime, Shape};
pub use error::ArmError;
pub use sample::Sample;
pub use verify::Verified;
