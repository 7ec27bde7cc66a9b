//! Sessions, batches and devices behind one handle.
//!
//! The engine is handed open devices and can name none: it knows them by their capabilities. A
//! blocking [`Engine::run`] works on the calling thread, and long batches on other cores, too; [`Engine::submit`] gives a batch to a
//! device's workers, and [`Engine::poll`] or [`Engine::wait`] bring it back. Nothing is ever
//! dropped: a batch that finds no free slot is handed back.

mod audit;
mod bell;
mod beside;
mod cores;
mod engine;
mod error;
mod estimator;
mod ffi;
mod flight;
mod landing;
mod leased;
mod long;
#[cfg(test)]
#[cfg(sealift_loom)]
mod models;
mod nonces;
mod offer;
mod parts;
mod record;
mod retire;
mod route;
mod run;
mod scheduler;
mod session;
mod settings;
mod shared;
pub mod simulate;
mod store;
mod stripes;
mod sync;
mod threads;

pub use engine::{Engine, Report};
pub use error::{EngineError, SubmitError, SubmitRefusal};
pub use estimator::Estimator;
pub use flight::Completed;
pub use nonces::NonceGenerator;
pub use record::{Counters, End, Record};
pub use route::DeviceId;
pub use scheduler::{
    Asked, Because, Candidate, Choice, CopyPolicy, Decision, Explained, NamedPolicy, POLICIES,
    Policy, Reach, State, policy,
};
pub use session::Session;
pub use settings::{Audit, Call, NonceCheck, Options, Patience, Settings};
pub use store::SEALS_MAX;
