//! Virtual time: modelled devices that compute true bytes, faults, clients, and the theory they are
//! held against.
//!
//! A [`Model`] opens as a [`Machine`], a [`Device`](sealift_core::Device) whose time is that of a
//! [`SimulatedClock`](sealift_core::SimulatedClock). An engine over such devices runs the code that it
//! runs over real ones. A [`Load`] drives it through its public calls, checks every byte and gives a
//! [`LoadReport`]; the same seed gives the same report. [`mva`] says what the report should be.

mod error;
pub mod mva;
mod random;

pub use error::SimulationError;
pub use random::Random;
