//! Bulk authenticated encryption on whichever processor of a machine wins.
//!
//! One message:
//!
//! ```
//! let engine = sealift::Engine::detect()?;
//! let session = engine.session(sealift::Key::new(&[7; 16])?)?;
//! let nonce = session.next_nonce()?;
//! let mut sealed = [0; 5 + 16];
//! session.seal(nonce.as_bytes(), b"header", b"hello", &mut sealed)?;
//!
//! let mut text = [0; 5];
//! let status = session.open(nonce.as_bytes(), b"header", &sealed, &mut text)?;
//! assert_eq!((status, &text), (sealift::Status::Ok, b"hello"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A thousand messages in one call, under a thousand keys if need be:
//!
//! ```
//! use sealift::{Batch, Column, Options, Output, Place, Status};
//!
//! let engine = sealift::Engine::detect()?;
//! let session = engine.session(sealift::Key::new(&[7; 32])?)?;
//! let texts = vec![1; 128 * 1_000];
//! let nonces = engine.next_nonces(&session.id().into(), 1_000)?;
//! let (nonces, columns) = (Column::fixed(&nonces, 12), Column::fixed(&texts, 128));
//! let batch = Batch::seal(1_000, session.id(), nonces, columns);
//!
//! let (mut sealed, mut tags) = (vec![0; 128 * 1_000], vec![0; 16 * 1_000]);
//! let mut status = vec![Status::NotProcessed; 1_000];
//! let output = Output {
//!     text: Place::fixed(&mut sealed, 128),
//!     tags: Place::fixed(&mut tags, 16),
//!     status: &mut status,
//! };
//! let report = engine.run(&batch, output, &Options::default())?;
//! assert_eq!(report.auth_failed, 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Who would get such a batch, and why. [`POLICIES`] are the ways to choose, and
//! [`Engine::calibrate`] measures what the choice goes by:
//!
//! ```
//! use sealift::{Call, Engine, Settings, Shape};
//!
//! let settings = Settings::with_policy("earliest-finish:objective=host")?;
//! let engine = Engine::detect_with(settings)?;
//! let explained = engine.explain(&Shape::of_seals(1_000, 128), Call::Run)?;
//! println!("{:?}: {}", explained.decision.device, explained.decision.because);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

/// The README's block of Rust, run as it is printed.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

mod calibrate;
mod cipher;
mod engine;
pub mod hazmat;
#[cfg(feature = "lab")]
mod rehearse;

pub use calibrate::{Calibrated, Calibration, CostSource};
pub use cipher::{Cipher, CipherError};
pub use engine::{Engine, driver_among};
#[cfg(feature = "lab")]
pub use rehearse::{
    ClosedLoad, OpenLoad, PlayedLoad, Player, Rehearsal, RehearsalError, Rehearsed, play,
    play_with, rehearse,
};
pub use sealift_core::*;
pub use sealift_drivers::cache::CacheError;
pub use sealift_drivers::copying::{CopyCost, CopyCostError};
pub use sealift_drivers::{DRIVERS, driver, open, wipe_after};
#[cfg(feature = "lab")]
pub use sealift_drivers::{cards, pim};
pub use sealift_engine::{
    Asked, Audit, Because, Call, Candidate, Choice, Completed, CopyPolicy, Counters, Decision,
    DeviceId, End, EngineError, Estimator, Explained, NamedPolicy, NonceCheck, Options, POLICIES,
    Patience, Policy, Record, Report, SEALS_MAX, Session, Settings, State, SubmitError,
    SubmitRefusal, policy,
};

/// What a driver over software is made of, for drivers in crates of your own: a queue with workers,
/// and a table of expanded keys. And what a [load on a board](play_with) is encrypted with.
pub mod software {
    pub use sealift_drivers::keys::{Expander, KeyTable, Lent, Step};
    pub use sealift_drivers::workers::{Crew, Software, capabilities, only, open};
    pub use sealift_engine::simulate::Cipher;
}

/// A GPU by hand, for batches that stay in its memory: brought once, worked there as often as one likes, and read when their
/// results are wanted. An [`Engine`] copies each batch there and back. Where texts are made or wanted on the device itself,
/// [`gpu::Held::places`] tells where to leave them and where to take what is made of them.
///
/// ```
/// use sealift::{Batch, Column, Keys, OwnedOutput, Status, Work, gpu};
///
/// let worker = match gpu::worker(&"opencl:0".parse()?) {
///     Ok(worker) => worker,
///     Err(absent) => return Ok(println!("{absent}")),
/// };
/// let keys = Keys::Raw(Column::Same((&[7; 16]).into()));
/// let (nonces, texts) = (vec![1; 12 * 100], vec![2; 128 * 100]);
/// let batch = Batch::seal(100, keys, Column::fixed(&nonces, 12), Column::fixed(&texts, 128));
/// let mut sealed = OwnedOutput::for_batch(&batch)?;
/// let mut work = Work::new(&batch, sealed.as_output(), &())?;
///
/// let mut held = worker.hold(&mut work)?;
/// let took = held.work()?;
/// println!("{} ns on {}", took.compute_ns, worker.name());
/// held.read()?;
/// drop(held);
/// assert_eq!(sealed.status(), [Status::Ok; 100]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub mod gpu {
    pub use sealift_drivers::gpus::{Held, Place, Took, Worker, worker};
}
