//! Devices that one doesn't own, described by constants: see [`Card`].

mod card;
mod error;
mod fit;
mod line;
mod read;
mod tables;
mod walk;

pub use card::{Card, Constant};
pub use error::CardError;
pub use line::{Bound, Prediction};

/// The cards that come with Sealift.
#[must_use]
pub fn bundled() -> Vec<Card> {
    BUNDLED.iter().filter_map(|(name, text)| Card::bundled(name, text).ok()).collect()
}

/// By their names.
const BUNDLED: [(&str, &str); 2] = [
    ("quad-hifn-7751", include_str!("quad-hifn-7751.toml")),
    ("four-broadcom-5820", include_str!("four-broadcom-5820.toml")),
];
