//! What the suite is given to test.

use crate::bell::Bell;
use crate::environment::{seed, share, skip};
use crate::subject::{Effort, Subject};
use sealift_core::{Context, Device, Driver, OpenError, Spec, SystemClock};
use std::sync::Arc;

/// A device that the suite shall test: its driver, and the spec that opens it.
///
/// One driver can give many: a device for each instruction set, say, or with each setting.
#[derive(Clone)]
pub struct Candidate {
    driver: &'static dyn Driver,
    spec: String,
    required_as: String,
    effort: Effort,
}

impl Candidate {
    /// The device that this driver opens by a spec such as `mine` or `mine:workers=2`.
    #[must_use]
    pub fn new(driver: &'static dyn Driver, spec: impl Into<String>) -> Self {
        let (spec, required_as) = (spec.into(), driver.name().to_owned());
        Self { driver, spec, required_as, effort: Effort::Full }
    }

    /// What `SEALIFT_REQUIRE` calls it: its driver's name, unless something else is said here.
    #[must_use]
    pub fn required_as(self, name: impl Into<String>) -> Self {
        Self { required_as: name.into(), ..self }
    }

    /// It makes a few MB/s only: long texts and large numbers of messages are left out.
    #[must_use]
    pub fn slow(self) -> Self {
        Self { effort: Effort::Slow, ..self }
    }

    /// The spec that opens it.
    #[must_use]
    pub fn spec(&self) -> &str {
        &self.spec
    }

    /// Opens it with its oracle; nothing when it is absent, which is said.
    ///
    /// # Errors
    /// It is absent although it is required, or present and does not open.
    pub(crate) fn subject(&self) -> Result<Option<Subject>, String> {
        let bell = Arc::new(Bell::default());
        let device = match open(self.driver, &self.spec, &bell) {
            Ok(device) => device,
            Err(OpenError::Absent { reason, .. }) => {
                return skip(&self.required_as, &reason).map(|()| None);
            }
            Err(error) => return Err(format!("it does not open: {error}")),
        };
        let oracle = oracle_for(&*device).map_err(|error| format!("its oracle: {error}"))?;
        let (effort, seed, share) = (self.effort, seed()?, share()?);
        Ok(Some(Subject { device, bell, oracle, effort, seed, share }))
    }
}

/// Drivers that are trusted to judge others, the better first. Nobody judges itself.
const ORACLES: [&dyn Driver; 2] =
    [&sealift_drivers::library::Library, &sealift_drivers::reference::Reference];

fn oracle_for(device: &dyn Device) -> Result<Arc<dyn Device>, OpenError> {
    let [first, second] = ORACLES;
    let judge = if first.name() == device.capabilities().driver { second } else { first };
    open(judge, judge.name(), &Arc::default())
}

fn open(driver: &dyn Driver, spec: &str, bell: &Arc<Bell>) -> Result<Arc<dyn Device>, OpenError> {
    let wrong = |reason| OpenError::Setting { device: spec.to_owned(), reason };
    let spec: Spec = spec.parse().map_err(|error| wrong(format!("{error}")))?;
    if spec.driver() != driver.name() {
        return Err(wrong(format!("its driver is called {}", driver.name())));
    }
    driver.open(&spec, &Context { clock: Arc::new(SystemClock::new()), notify: bell.clone() })
}
