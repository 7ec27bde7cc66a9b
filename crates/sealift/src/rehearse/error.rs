use super::check::HELD_BYTES_MAX;
use sealift_core::OpenError;
use sealift_drivers::cards::CardError;
use sealift_engine::EngineError;
use sealift_engine::simulate::SimulationError;
use thiserror::Error;

/// Why there was no rehearsal.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Error)]
pub enum RehearsalError {
    /// Nobody to work.
    #[error("there is no device: give at least one")]
    Nobody,
    /// A number that can't be.
    #[error("{what} is {value}: give {right}")]
    Number {
        /// Which.
        what: &'static str,
        /// What was given.
        value: String,
        /// What would be right.
        right: String,
    },
    /// More than should be in memory at once.
    #[error(
        "{in_flight} batches of {messages} messages of {message_bytes} bytes may be in flight at once \
         of {batches}, and a rehearsal makes true messages: it holds {HELD_BYTES_MAX} bytes of them, \
         their results and a note for each batch at most. Give fewer or shorter batches, fewer workers \
         or cards with fewer slots"
    )]
    TooMuch {
        /// Batches in all.
        batches: u64,
        /// Batches that devices hold together.
        in_flight: u64,
        /// Messages of each.
        messages: usize,
        /// Bytes of each.
        message_bytes: u64,
    },
    /// Two cards that differ have one name.
    #[error("two cards that differ are called {name}: give one of them another name in its file")]
    OtherCard {
        /// The name.
        name: String,
    },
    /// A board that can't be.
    #[error(transparent)]
    Board(#[from] CardError),
    /// A device can't be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// No such policy, two devices of one name, or no random bytes.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// It was stopped, or the engine refused a batch.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
    /// The modelled devices gave bytes that are not the cipher's.
    #[error("{messages} messages came back wrong: this is a bug in Sealift, please report it")]
    Wrong {
        /// How many.
        messages: u64,
    },
}
