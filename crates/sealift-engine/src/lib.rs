//! Sessions, batches and devices behind one handle.
//!
//! The engine is handed open devices and can name none: it knows them by their capabilities. A
//! blocking [`Engine::run`] works on the calling thread; [`Engine::submit`] gives a batch to a
//! device's workers, and [`Engine::poll`] or [`Engine::wait`] bring it back. Nothing is ever
//! dropped: a batch that finds no free slot is handed back.

mod bell;
mod engine;
mod error;
mod estimator;
mod ffi;
mod flight;
mod record;
mod route;
mod session;
pub mod simulate;
mod store;

pub use engine::{Engine, NonceCheck, Options, Report};
pub use error::{EngineError, SubmitError, SubmitRefusal};
pub use estimator::Estimator;
pub use flight::Completed;
pub use record::{Counters, Record};
pub use route::DeviceId;
pub use session::Session;
pub use store::SEALS_MAX;
