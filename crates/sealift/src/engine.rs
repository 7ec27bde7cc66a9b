use crate::calibrate::{self, Calibration};
use sealift_core::{Context, Driver, OpenError, Origin, Probe, Spec, SpecError, SystemClock};
use sealift_drivers::DRIVERS;
use sealift_drivers::cache::Cache;
use sealift_engine::{EngineError, Settings};
use std::ops::Deref;
use std::sync::Arc;

/// Sessions, batches and this machine's devices behind one handle. Clones are the same engine.
///
/// What batches cost on its devices is taken from the cache that [`calibrate`](Self::calibrate) fills,
/// and learnt from what they take.
#[derive(Clone, Debug)]
pub struct Engine(sealift_engine::Engine);

impl Engine {
    /// Opens every device that is present.
    ///
    /// A batch goes to the real device that is predicted to finish it first, and now and then to one
    /// that was not tried for long; the others work when they are named.
    ///
    /// # Errors
    /// Nothing could be opened.
    pub fn detect() -> Result<Self, EngineError> {
        Self::detect_with(Settings::default())
    }

    /// The same with another policy, patience or audit.
    ///
    /// # Errors
    /// As [`Engine::detect`]; settings that these devices can't keep.
    pub fn detect_with(settings: Settings) -> Result<Self, EngineError> {
        let present = |driver: &&&dyn Driver| matches!(driver.probe(), Probe::Present { .. });
        let names: Vec<_> = DRIVERS.iter().filter(present).map(|driver| driver.name()).collect();
        Self::open(&names, &[], settings)
    }

    /// Opens the named devices: `["cpu:isa=vaes256", "library"]`. Policies that go by order take this one.
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
        Self::open(specs, own, Settings::default())
    }

    /// The same, with all settings.
    ///
    /// # Errors
    /// As [`Engine::with`]; settings that these devices can't keep.
    pub fn open(
        specs: &[&str],
        own: &[&dyn Driver],
        settings: Settings,
    ) -> Result<Self, EngineError> {
        let specs = specs.iter().map(|spec| read(spec)).collect::<Result<Vec<_>, _>>()?;
        let clock = Arc::new(SystemClock::new());
        let open = specs.iter().map(|spec| {
            move |context: &Context| -> Result<_, EngineError> {
                Ok(driver_among(own, spec.driver())?.open(spec, context)?)
            }
        });
        let engine = sealift_engine::Engine::with_settings(clock, settings, open)?;
        let engine = Self(engine);
        engine.recall(&Cache::of_user())?;
        Ok(engine)
    }

    /// Finds out what batches cost here: from the cache where they were measured before, else by
    /// measuring, up to 0.03 s a device beside its start, and keeping that in the cache.
    ///
    /// The cache is `sealift/costs-<version>.txt` in `$XDG_CACHE_HOME` or `~/.cache`, one for each user,
    /// with entries by processor, number of cores and device. A cache that can't be read or written only
    /// leaves a remark in what this returns.
    ///
    /// Opening an engine reads the cache and never measures, so that it takes no time: call this once,
    /// after an installation or where the first batches matter. Uncalibrated, costs are learnt from the
    /// first batches all the same. Batches that this works are counted and recorded like others; call it
    /// while no batch is in flight.
    ///
    /// # Errors
    /// A forked child.
    pub fn calibrate(&self) -> Result<Calibration, EngineError> {
        calibrate::calibrate(self, &Cache::of_user(), false)
    }

    /// The same, measuring also what the cache has: after the machine or its load has changed.
    ///
    /// # Errors
    /// A forked child.
    pub fn calibrate_anew(&self) -> Result<Calibration, EngineError> {
        calibrate::calibrate(self, &Cache::of_user(), true)
    }

    /// Takes over what the cache has.
    pub(crate) fn recall(&self, cache: &Cache) -> Result<(), EngineError> {
        let Ok(kept) = cache.read() else { return Ok(()) };
        if kept.is_empty() {
            return Ok(());
        }
        let known = self.devices().filter(|(_, device)| device.origin == Origin::Measured);
        let known = known.filter_map(|(id, device)| Some((id, kept.device(&device.name)?.0)));
        known.collect::<Vec<_>>().into_iter().try_for_each(|(id, cost)| self.set_cost(id, cost))
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
