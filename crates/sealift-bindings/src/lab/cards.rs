//! Devices that are not here, described by constants, as values.

use crate::errors::{Failure, Outcome};
use crate::gil;
use crate::schedule::Cost;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use sealift::cards as native;
use sealift::{CopyCost, MAX_TEXT_BYTES};
use std::path::PathBuf;

/// The cards that come with Sealift.
#[pyfunction]
pub(crate) fn cards() -> Vec<Card> {
    native::bundled().into_iter().map(Card).collect()
}

/// A device that is not here, described by constants.
///
/// Its times are reckoned from them. As the device `spec` it works batches, with true bytes and
/// reckoned times.
#[pyclass(frozen, module = "sealift")]
pub(crate) struct Card(pub(crate) native::Card);

#[pymethods]
impl Card {
    /// Reads a description from a plain TOML file.
    ///
    /// Where it says how often the host copies and not how fast, that is what `sealift lab run
    /// copy-by-length` left in the user's cache, or else measured, some milliseconds once a
    /// process.
    ///
    /// Raises:
    ///     InputError: If it can't be read, something in it is missing or wrong, or its path can't
    ///         stand in a device's name.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf) -> Outcome<Self> {
        gil::leave(py, || native::Card::read(path))
            .map(Self)
            .map_err(|error| Failure::Input(error.to_string()))
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    /// What it is, in a line.
    #[getter]
    fn summary(&self) -> &str {
        self.0.summary()
    }

    /// Where constants come from that name no other source.
    #[getter]
    fn source(&self) -> &str {
        self.0.source()
    }

    /// What its rate was published for: "aes-gcm", or another cipher whose rate is taken.
    #[getter]
    fn algorithm(&self) -> &str {
        self.0.algorithm()
    }

    /// The device that it is for `Engine(devices=...)`.
    #[getter]
    fn spec(&self) -> String {
        self.0.spec().to_string()
    }

    /// Every number of its description.
    #[getter]
    fn constants(&self) -> Vec<Constant> {
        self.0.constants().iter().map(Constant::new).collect()
    }

    /// Crypto units, each of which works one request at a time.
    #[getter]
    fn units(&self) -> usize {
        self.0.units()
    }

    /// Batches that it holds at most, those being worked included.
    #[getter]
    fn slots(&self) -> usize {
        self.0.slots()
    }

    /// The power it takes; None where the description doesn't say.
    #[getter]
    fn watts(&self) -> Option<f64> {
        self.0.watts()
    }

    /// What it costs in its currency; None where the description doesn't say.
    #[getter]
    fn price(&self) -> Option<f64> {
        self.0.price()
    }

    /// What its price is in; None where the description doesn't say.
    #[getter]
    fn currency(&self) -> Option<&str> {
        self.0.currency()
    }

    /// What a batch of equal messages is reckoned to take.
    ///
    /// Args:
    ///     messages: Messages in the batch, 1 to 2**32 - 1.
    ///     message_bytes: Bytes of each text, aad included, at most 2**36 - 32.
    ///
    /// Raises:
    ///     InputError: If a number is out of range.
    fn predict(&self, messages: i128, message_bytes: i128) -> Outcome<Prediction> {
        let messages = within("messages", messages, 1, u32::MAX.into())?;
        let message_bytes = within("message_bytes", message_bytes, 0, MAX_TEXT_BYTES)?;
        Ok(Prediction::new(self.0.predict(messages, message_bytes)))
    }

    /// The straight line through the predictions for an idle card.
    ///
    /// It meets batches of 1 to 1,024 messages of 16 bytes to 16 KiB as well as a line can. Take
    /// `predict` where the size of a batch is known.
    fn cost(&self) -> Cost {
        Cost::new(self.0.cost())
    }

    fn __repr__(&self) -> String {
        format!("Card({:?}, {:?})", self.0.name(), self.spec())
    }
}

/// One number of a card's description.
#[pyclass(frozen, get_all, module = "sealift")]
pub(crate) struct Constant {
    /// Its key, as in "card.setup_us".
    name: String,
    /// Its value, in its unit.
    value: f64,
    /// "us", "Gbit/s" (10**9 bits a second), "W", "the currency"; "" for a count.
    unit: &'static str,
    /// Where it comes from.
    source: String,
    /// Whether it was chosen so that the model meets measurements.
    fitted: bool,
    /// Whether it was measured on this machine, because the description leaves it out.
    measured: bool,
}

#[pymethods]
impl Constant {
    fn __repr__(&self) -> String {
        let how = match (self.fitted, self.measured) {
            (true, _) => ", fitted",
            (_, true) => ", measured here",
            _ => "",
        };
        format!("Constant({} = {} {}{how})", self.name, self.value, self.unit)
    }
}

impl Constant {
    fn new(constant: &native::Constant) -> Self {
        let native::Constant { name, value, unit, source, fitted, measured } = constant.clone();
        Self { name, value, unit, source, fitted, measured }
    }
}

/// What a card is reckoned to take for a batch of equal messages; the origin is "projected".
#[pyclass(frozen, get_all, module = "sealift")]
pub(crate) struct Prediction {
    /// From handing over to results, on an idle card.
    batch_ns: f64,
    /// Time of the host's processor for it; where results share interrupts, in a queue.
    host_ns: f64,
    /// Between the ends of such batches when as many are queued as the card holds.
    interval_ns: f64,
    /// What sets that interval.
    bound_by: &'static str,
}

#[pymethods]
impl Prediction {
    fn __repr__(&self) -> String {
        let Self { batch_ns, interval_ns, bound_by, .. } = self;
        format!(
            "Prediction({batch_ns:.0} ns, then one each {interval_ns:.0} ns, bound by {bound_by})"
        )
    }
}

impl Prediction {
    fn new(prediction: native::Prediction) -> Self {
        let native::Prediction { batch_ns, host_ns, interval_ns, bound_by } = prediction;
        let bound_by = match bound_by {
            native::Bound::Host => "host",
            native::Bound::Link => "link",
            native::Bound::Card => "card",
        };
        Self { batch_ns, host_ns, interval_ns, bound_by }
    }
}

/// Keeps what copies cost on this machine, for cards whose descriptions leave that out.
///
/// In the user's cache, beside what calibration keeps there, and in the place of what was kept of
/// copies before.
///
/// Args:
///     times: Lengths in bytes, ascending, each with the nanoseconds that such a copy takes from
///         memory to memory.
///
/// Returns:
///     The file.
///
/// Raises:
///     InputError: If no copies take such times.
///     OSError: If there is no place for the file, or it can't be written.
#[pyfunction]
pub(crate) fn keep_copy_cost(py: Python<'_>, times: Vec<(u64, f64)>) -> Outcome<PathBuf> {
    let cost = CopyCost::new(times).map_err(|error| Failure::Input(error.to_string()))?;
    let kept = gil::leave(py, || cost.keep());
    Ok(kept.map_err(|error| PyOSError::new_err(error.to_string()))?)
}

/// A number in its range.
pub(crate) fn within(name: &str, value: i128, least: u64, most: u64) -> Outcome<u64> {
    let found = u64::try_from(value).ok().filter(|value| (least..=most).contains(value));
    found.ok_or_else(|| Failure::Input(format!("{name} is {value}: give {least} to {most}")))
}
