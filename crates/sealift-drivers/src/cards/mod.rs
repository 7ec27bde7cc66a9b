//! Devices that one doesn't own, described by constants.
//!
//! When a batch is over is settled as it is handed over, by those before it and by none behind it. So
//! what needs to know what comes later is not in the model: buses and interrupt lines that cards share,
//! one interrupt for results of two batches, a host that takes results back before it hands over more.
//! For these there is a [`Board`], whose events are played one by one, in virtual time only.

mod board;
mod card;
mod copy_time;
mod device;
mod error;
mod fit;
mod line;
mod read;
mod tables;
mod walk;

pub use board::{Board, Chance, Law, Memory, Order, Played, SeatModel, Tally};
pub use card::{Card, Constant};
pub use error::CardError;
pub use line::{Bound, Prediction};

use crate::kernels::Kernels;
use crate::workers;
use device::Projected;
use sealift_core::{
    Capabilities, Context, Cuts, Device, Driver, OpenError, Origin, Probe, Resource, Role, Spec,
    SpecError,
};
use std::sync::Arc;

/// The driver `cards`: `cards:quad-hifn-7751` is a [`Card`] that comes with Sealift, `cards:FILE` one
/// that a file describes.
///
/// Its bytes are true, computed by this processor's kernels. Its times are reckoned: results are there
/// when the card would have been through, which is never before this processor is. On the calling thread
/// it sleeps until then, for ten seconds at most: longer batches are refused there. `number=2` makes a
/// second card of the same kind, as two devices of an engine need two names.
///
/// Where a description says how often the host copies and not how fast, that is what the lab left in the
/// user's cache, or measured once a process.
#[derive(Debug)]
pub struct Cards;

impl Driver for Cards {
    fn name(&self) -> &'static str {
        "cards"
    }

    fn summary(&self) -> &'static str {
        "a device that is not here, from its description (NAME or FILE, number=)"
    }

    fn probe(&self) -> Probe {
        // By itself it is no device, so whoever opens all there are passes over it.
        Probe::Absent { reason: NO_CARD.to_owned() }
    }

    fn open(&self, spec: &Spec, context: &Context) -> Result<Arc<dyn Device>, OpenError> {
        let device = || spec.to_string();
        let wrong = |reason| OpenError::Setting { device: device(), reason };
        let word = spec.word(&["number"]).map_err(|error| wrong(unknown(&error)))?;
        let absent = || OpenError::Absent { device: device(), reason: NO_CARD.to_owned() };
        let card = Card::find(word.ok_or_else(absent)?).map_err(|e| wrong(e.to_string()))?;
        let number = spec.setting("number").unwrap_or("1");
        if !number.parse().is_ok_and(|number: u32| number > 0) {
            return Err(wrong(format!(
                "number={number}: give a whole number from 1 to {}",
                u32::MAX
            )));
        }
        open(&card, capabilities(&card, spec), context)
    }
}

/// The cards that come with Sealift.
#[must_use]
pub fn bundled() -> Vec<Card> {
    BUNDLED.iter().filter_map(|(name, text)| Card::bundled(name, text).ok()).collect()
}

/// A card under this name and for this use.
fn open(
    card: &Card,
    capabilities: Capabilities,
    context: &Context,
) -> Result<Arc<dyn Device>, OpenError> {
    let device = capabilities.name.clone();
    let kernels = Kernels::best(device.clone())
        .map_err(|error| OpenError::Setting { device, reason: error.to_string() })?;
    Ok(Arc::new(Projected::new(card.clone(), capabilities, kernels, context)))
}

fn capabilities(card: &Card, spec: &Spec) -> Capabilities {
    let detail = match card.algorithm() {
        "aes-gcm" => card.summary().to_owned(),
        other => format!("{}; here AES-GCM at the rate of {other}", card.summary()),
    };
    Capabilities {
        origin: Origin::Projected,
        cuts: Cuts::Nothing,
        works_on: Resource::Own,
        cost: card.cost(),
        workers: card.line().workers(),
        slots: card.slots(),
        ..workers::capabilities(spec, "cards", Role::Simulated, detail)
    }
}

fn unknown(error: &SpecError) -> String {
    format!("{error}; the path of a file can't have a comma, a parenthesis or an equals sign here")
}

/// By their names.
const BUNDLED: [(&str, &str); 3] = [
    ("quad-hifn-7751", include_str!("quad-hifn-7751.toml")),
    ("four-broadcom-5820", include_str!("four-broadcom-5820.toml")),
    ("intel-qat-gen4", include_str!("intel-qat-gen4.toml")),
];

const NO_CARD: &str = "it needs a description of a card: write cards:quad-hifn-7751 or cards:FILE";

#[cfg(test)]
mod tests;
