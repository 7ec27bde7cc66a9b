//! Virtual time: modelled devices that compute true bytes, faults, clients, and the theory they are
//! held against.
//!
//! A [`Model`] opens as a [`Machine`], a [`Device`](sealift_core::Device) whose time is that of a
//! [`SimulatedClock`](sealift_core::SimulatedClock). An engine over such devices runs the code that it
//! runs over real ones. A [`Load`] drives it through its public calls, checks every byte and gives a
//! [`LoadReport`]; the same seed gives the same report. [`mva`] says what the report should be.

mod cipher;
mod draw;
mod drive;
mod error;
mod fault_kind;
mod faults;
mod load;
mod machine;
mod messages;
mod model;
pub mod mva;
mod pool;
mod random;
mod shared_cores;
pub mod toy;

pub use cipher::{Cipher, ToyCipher};
pub use draw::Draw;
pub use error::SimulationError;
pub use fault_kind::FaultKind;
pub use faults::{FaultCounts, FaultPlan, JobFault};
pub use load::{Clients, DeviceLoad, Load, LoadReport, Placement, Shapes};
pub use machine::Machine;
pub use model::{Jitter, Model};
pub use pool::{Pool, pool, pool_with};
pub use random::Random;
pub use shared_cores::SharedCores;
