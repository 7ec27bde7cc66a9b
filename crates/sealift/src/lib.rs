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
//! let mut nonces = vec![];
//! for _ in 0..1_000 {
//!     nonces.extend_from_slice(session.next_nonce()?.as_bytes());
//! }
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

pub use sealift_core::*;
pub use sealift_drivers::{DRIVERS, driver, open};
pub use sealift_engine::{
    Completed, Counters, DeviceId, EngineError, NonceCheck, Options, Record, Report, SEALS_MAX,
    Session, SubmitError, SubmitRefusal,
};

use std::ops::Deref;
use std::sync::Arc;

/// What a driver over software is made of, for drivers in crates of your own: a queue with workers,
/// and a table of expanded keys.
pub mod software {
    pub use sealift_drivers::keys::{Expander, KeyTable, Lent, Step};
    pub use sealift_drivers::workers::{Crew, Software, capabilities, only, open};
}

/// Sessions, batches and this machine's devices behind one handle. Clones are the same engine.
#[derive(Clone, Debug)]
pub struct Engine(sealift_engine::Engine);

impl Engine {
    /// Opens every device that is present.
    ///
    /// Batches go to the first real one that takes them; the others work when they are named.
    ///
    /// # Errors
    /// Nothing could be opened.
    pub fn detect() -> Result<Self, EngineError> {
        let present = |driver: &&&dyn Driver| matches!(driver.probe(), Probe::Present { .. });
        let names: Vec<_> = DRIVERS.iter().filter(present).map(|driver| driver.name()).collect();
        Self::with(&names)
    }

    /// Opens the named devices, in order of preference: `["cpu:isa=vaes256", "library"]`.
    ///
    /// # Errors
    /// A name that is no device, and a device that is absent.
    pub fn with(specs: &[&str]) -> Result<Self, EngineError> {
        Self::with_drivers(specs, &[])
    }

    /// The same, with drivers of your own beside those here. One of them comes before a driver of
    /// the same name here.
    ///
    /// # Errors
    /// As [`Engine::with`].
    pub fn with_drivers(specs: &[&str], own: &[&dyn Driver]) -> Result<Self, EngineError> {
        let specs = specs.iter().map(|spec| read(spec)).collect::<Result<Vec<_>, _>>()?;
        sealift_engine::Engine::over(Arc::new(SystemClock::new()), |context| {
            let open = |spec: &Spec| Ok(driver_among(own, spec.driver())?.open(spec, context)?);
            specs.iter().map(open).collect::<Result<_, EngineError>>()
        })
        .map(Self)
    }
}

/// Devices that no driver here opens, behind the same handle.
impl From<sealift_engine::Engine> for Engine {
    fn from(engine: sealift_engine::Engine) -> Self {
        Self(engine)
    }
}

impl Deref for Engine {
    type Target = sealift_engine::Engine;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

/// The driver of a name, first among some and then among those here.
///
/// # Errors
/// There is none; the error lists both.
pub fn driver_among<'d>(own: &[&'d dyn Driver], name: &str) -> Result<&'d dyn Driver, OpenError> {
    let all = own.iter().chain(DRIVERS);
    let found = all.clone().find(|driver| driver.name() == name);
    found.copied().ok_or_else(|| {
        let known: Vec<_> = all.map(|driver| driver.name()).collect();
        OpenError::UnknownDriver { name: name.to_owned(), known: known.join(", ") }
    })
}

fn read(spec: &str) -> Result<Spec, OpenError> {
    let wrong =
        |error: SpecError| OpenError::Setting { device: spec.into(), reason: error.to_string() };
    spec.parse().map_err(wrong)
}
