use crate::{EngineError, SubmitRefusal};
use thiserror::Error;

/// Why a simulation could not be set up or driven.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Error)]
pub enum SimulationError {
    /// A time that can't be.
    #[error("{what} is {value}: a time is finite and not negative, in nanoseconds")]
    Time {
        /// The parameter.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// A share or factor out of its range.
    #[error("{what} is {value}: it lies from {least} to {most}")]
    Range {
        /// The parameter.
        what: &'static str,
        /// Its value.
        value: f64,
        /// The least it may be.
        least: f64,
        /// The most it may be.
        most: f64,
    },
    /// Nothing, where something is needed.
    #[error("{what} is 0: there must be at least one")]
    Zero {
        /// The parameter.
        what: &'static str,
    },
    /// A span that ends before it starts.
    #[error("{what} runs from {from} to {to}: the first is the smaller one")]
    Backwards {
        /// The parameter.
        what: &'static str,
        /// Its start.
        from: u64,
        /// Its end.
        to: u64,
    },
    /// More than can be worked.
    #[error("{found} {what}: there may be {max}")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many there may be.
        max: usize,
    },
    /// Nobody wanted it any longer.
    #[error("the simulation was stopped")]
    Stopped,
    /// The engine refused what a client gave it, for good.
    #[error("the engine refused a client's batch: {0}")]
    Refused(#[from] SubmitRefusal),
    /// The engine failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl SimulationError {
    pub(super) fn time(what: &'static str, value: f64) -> Self {
        Self::Time { what, value }
    }

    /// Refuses a value out of its range, and what is no number.
    pub(super) fn range(what: &'static str, value: f64, least: f64, most: f64) -> Result<(), Self> {
        let inside = (least..=most).contains(&value);
        if inside { Ok(()) } else { Err(Self::Range { what, value, least, most }) }
    }
}
