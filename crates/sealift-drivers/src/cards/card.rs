use super::line::{Line, Prediction};
use super::read::read;
use super::tables::plain;
use super::{BUNDLED, CardError, fit};
use crate::cache::Cache;
use rustix::fs::OFlags;
use sealift_core::{Capabilities, Context, Cost, Device, OpenError, Role, Spec};
use std::fs::OpenOptions;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;

/// A device that is not here, described by constants.
///
/// What it would take for a batch is reckoned from them. As the driver `cards` it works batches, with
/// true bytes and reckoned times.
///
/// ```
/// use sealift_drivers::cards;
/// let quad = cards::bundled().into_iter().find(|card| card.name() == "quad-hifn-7751").unwrap();
/// let prediction = quad.predict(1, 16);
/// // Document 002, table 1: one thread, 16 bytes, 3.06 Mbit/s are 41.8 µs a request.
/// assert!((prediction.batch_ns - 41_800.0).abs() < 0.05 * 41_800.0);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Card {
    spec: Spec,
    parts: Parts,
}

/// One number of a card's description.
#[derive(Clone, Debug, PartialEq)]
pub struct Constant {
    /// Its key, as in `card.setup_us`.
    pub name: String,
    /// Its value, in its unit.
    pub value: f64,
    /// `us`, `Gbit/s` (10^9 bits a second), `W`, the currency; empty for a count.
    pub unit: &'static str,
    /// Where it comes from.
    pub source: String,
    /// Whether it was chosen so that the model meets measurements.
    pub fitted: bool,
    /// Whether it was measured on this machine, because the description leaves it out.
    pub measured: bool,
}

/// What a description says.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Parts {
    pub(super) texts: Texts,
    pub(super) line: Line,
    pub(super) sharing: Sharing,
    pub(super) constants: Vec<Constant>,
    pub(super) watts: Option<f64>,
    pub(super) price: Option<f64>,
}

/// How its units share the host, where events are played one by one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sharing {
    /// Of the host's time for a request, what its client does itself.
    pub(super) user_ns: f64,
    /// Of it, for an interrupt, to block its line and to unblock it.
    pub(super) block_ns: f64,
    /// Of it, for each unit that is asked whether an interrupt is its own.
    pub(super) look_ns: f64,
    /// Units on one interrupt line.
    pub(super) line_units: usize,
    /// Requests that a unit works in one go, with one interrupt.
    pub(super) merged_max: usize,
}

impl Sharing {
    /// What of the host's time for a request is not the kernel's own work on it.
    pub(super) fn apart_ns(&self) -> f64 {
        self.user_ns + self.block_ns + self.line_units as f64 * self.look_ns
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Texts {
    pub(super) name: String,
    pub(super) summary: String,
    pub(super) source: String,
    pub(super) algorithm: String,
    pub(super) currency: Option<String>,
}

impl Card {
    /// Reads a description from a file.
    ///
    /// Where `host.copies` is more than 0 and `host.copy_gbit_per_s` is left out, copies cost what the lab
    /// left in this user's cache for this machine, by length; where there is nothing, their rate is measured,
    /// some milliseconds once a process. The [constants](Self::constants) say which, with the rate of 64 KiB.
    ///
    /// # Errors
    /// It can't be read, something in it is wrong or missing, or its path can't stand in a spec.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, CardError> {
        let path = path.as_ref();
        let file = plain(&path.display().to_string());
        let is_bundled = BUNDLED.iter().any(|(name, _)| path == Path::new(name));
        let unreadable = |reason| CardError::Unreadable { file: file.clone(), reason };
        if path.as_os_str().is_empty() {
            let reason = "give the path of a card's description".to_owned();
            return Err(CardError::Unreadable { file: "\"\"".to_owned(), reason });
        }
        let spec =
            spec_of(path, is_bundled).ok_or_else(|| CardError::Path { file: file.clone() })?;
        let text = text_of(path).map_err(unreadable)?;
        Ok(Self { spec, parts: read(&file, &text, &Cache::of_user())? })
    }

    /// The card of a name that comes with Sealift, or of a file.
    ///
    /// # Errors
    /// There is neither; as [`Card::read`].
    pub(super) fn find(name: &str) -> Result<Self, CardError> {
        if let Some((_, text)) = BUNDLED.iter().find(|(known, _)| *known == name) {
            return Self::bundled(name, text);
        }
        if !Path::new(name).exists() {
            let known: Vec<_> = BUNDLED.iter().map(|(known, _)| *known).collect();
            return Err(CardError::Unknown { name: name.to_owned(), known: known.join(", ") });
        }
        Self::read(name)
    }

    pub(super) fn bundled(name: &str, text: &str) -> Result<Self, CardError> {
        Self::made(name, text, &Cache::of_user())
    }

    /// A card of this name, by a description and a cache.
    pub(super) fn made(name: &str, text: &str, cache: &Cache) -> Result<Self, CardError> {
        let parts = read(&format!("{name}.toml"), text, cache)?;
        let spec = spec_of(name.as_ref(), false);
        let spec = spec.ok_or_else(|| CardError::Path { file: name.to_owned() })?;
        Ok(Self { spec, parts })
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.parts.texts.name
    }

    /// What it is, in a line.
    #[must_use]
    pub fn summary(&self) -> &str {
        &self.parts.texts.summary
    }

    /// Where constants come from that name no other source.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.parts.texts.source
    }

    /// What its rate was published for: `aes-gcm`, or another cipher of which it is the rate all the
    /// same.
    #[must_use]
    pub fn algorithm(&self) -> &str {
        &self.parts.texts.algorithm
    }

    /// The spec that opens it as a device.
    #[must_use]
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Every number of its description, in the order in which the model takes them.
    #[must_use]
    pub fn constants(&self) -> &[Constant] {
        &self.parts.constants
    }

    /// Crypto units, each of which works one request at a time.
    #[must_use]
    pub fn units(&self) -> usize {
        self.parts.line.units
    }

    /// Batches that it holds at most, those being worked included.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.parts.line.slots
    }

    /// The power it takes in watts, if the description says so.
    #[must_use]
    pub fn watts(&self) -> Option<f64> {
        self.parts.watts
    }

    /// What it costs in its [currency](Self::currency), if the description says so.
    #[must_use]
    pub fn price(&self) -> Option<f64> {
        self.parts.price
    }

    /// What its price is in.
    #[must_use]
    pub fn currency(&self) -> Option<&str> {
        self.parts.texts.currency.as_deref()
    }

    /// What a batch of equal messages is reckoned to take; bytes are text and aad. A batch of no
    /// messages takes no time.
    #[must_use]
    pub fn predict(&self, messages: u64, message_bytes: u64) -> Prediction {
        self.parts.line.predict(messages, message_bytes)
    }

    /// The straight line through [predictions](Self::predict) for an idle card: a set-up, so much a
    /// message, so much a byte. It meets batches of 1 to 1,024 messages of 16 bytes to 16 KiB as well as
    /// a line can, by errors relative to them.
    #[must_use]
    pub fn cost(&self) -> Cost {
        fit::cost(&self.parts.line)
    }

    /// Whether another card has the same description, wherever it comes from.
    #[must_use]
    pub fn is_alike(&self, other: &Self) -> bool {
        self.parts == other.parts
    }

    /// As a device of this name for an engine's whole work, with no other device's role: it takes
    /// submitted batches only. For finding out what a pool with such a card would do.
    ///
    /// # Errors
    /// The environment variable `SEALIFT_ISA` names no instruction set.
    pub fn rehearse(&self, name: String, context: &Context) -> Result<Arc<dyn Device>, OpenError> {
        let capabilities = Capabilities {
            name,
            role: Role::Real,
            runs_on_calling_thread: false,
            ..super::capabilities(self, &self.spec)
        };
        super::open(self, capabilities, context)
    }

    pub(super) fn line(&self) -> &Line {
        &self.parts.line
    }

    pub(super) fn sharing(&self) -> Sharing {
        self.parts.sharing
    }
}

/// What stands in a plain file that is no longer than a description.
///
/// Nothing waits: a pipe is opened even if nobody writes.
fn text_of(path: &Path) -> Result<String, String> {
    let at_once = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    let opened = OpenOptions::new().read(true).custom_flags(at_once).open(path);
    let opened = opened.map_err(|error| error.to_string())?;
    let is_file = opened.metadata().map_err(|error| error.to_string())?.is_file();
    if !is_file {
        return Err("it is a folder, a pipe or a device: give a plain file".to_owned());
    }
    let mut bytes = vec![];
    let read = opened.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes);
    if read.map_err(|error| error.to_string())? as u64 > FILE_BYTES_MAX {
        return Err(format!("it has more than {FILE_BYTES_MAX} bytes: no card has"));
    }
    String::from_utf8(bytes).map_err(|error| {
        format!("byte {} is not UTF-8: give a text", error.utf8_error().valid_up_to())
    })
}

/// What opens a file's card; none where a spec can't say its path.
///
/// A file that is called as a card of ours needs its folder said.
fn spec_of(path: &Path, with_folder: bool) -> Option<Spec> {
    let word = format!("{}{}", if with_folder { "./" } else { "" }, path.to_str()?);
    let spec: Spec = format!("cards:{word}").parse().ok()?;
    (spec.word(&[]) == Ok(Some(&word))).then_some(spec)
}

/// Far more than any description has, and little enough to read.
const FILE_BYTES_MAX: u64 = 1 << 16;
