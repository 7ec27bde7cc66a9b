//! AES, GHASH and GCM on a DPU, generated as assembly.
//!
//! All programs work on MRAM from `__sys_used_mram_end` on, ciphers in place; they take their round keys from the symbol
//! `round_keys`, into which a host writes [`RoundKeys::bytes`]; a length that they cannot work raises fault 1. [`many`] has symbols
//! for nothing, and takes any lengths. Tables lie in WRAM, which is a scratchpad without a cache: where a byte is looked up does not
//! show in how long it takes.
//!
//! A transfer stops its own tasklet and no other. So a tasklet that fetches for itself would gain nothing by a second buffer, and
//! others work meanwhile; only [`ecb_fed`], where one tasklet moves data for all, has two for each.

mod ctr;
mod document_000;
mod fed;
mod gcm;
mod ghash;
pub mod many;
mod rounds;
mod tables;

pub use ctr::{CTR_PARAMETER_BYTES, ctr, ctr_parameters};
pub use document_000::document_000;
pub use fed::ecb_fed;
pub use gcm::gcm;
pub use ghash::{HashKey, PRODUCT_BYTES, ghash};
pub use rounds::{Registers, ecb};
pub use tables::{KeyError, KeySize, RoundKeys};

/// What is done with blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Plaintext to ciphertext.
    Encrypt,
    /// Ciphertext to plaintext.
    Decrypt,
}

/// How work is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Division {
    tasklets: u32,
    chunk_bytes: u32,
}

/// Why work cannot be divided so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{tasklets} tasklets with chunks of {chunk_bytes} bytes: 1 to 24 tasklets, and chunks of 32, 64, 128, 256, 512, 1024 or 2048 bytes are possible"
)]
pub struct DivisionError {
    tasklets: u32,
    chunk_bytes: u32,
}

impl Division {
    /// Each of so many tasklets takes every so-many-eth chunk.
    ///
    /// # Errors
    /// More tasklets or other chunks than there can be.
    pub fn new(tasklets: u32, chunk_bytes: u32) -> Result<Self, DivisionError> {
        let possible = chunk_bytes.is_power_of_two() && (32..=2048).contains(&chunk_bytes);
        if !possible || !(1..=24).contains(&tasklets) {
            return Err(DivisionError { tasklets, chunk_bytes });
        }
        Ok(Self { tasklets, chunk_bytes })
    }

    /// How many tasklets.
    #[must_use]
    pub fn tasklets(self) -> u32 {
        self.tasklets
    }

    /// Bytes of a chunk. What is worked has to be a multiple.
    #[must_use]
    pub fn chunk_bytes(self) -> u32 {
        self.chunk_bytes
    }
}

/// Adds lines of assembly.
macro_rules! emit {
    ($out:expr, $($line:tt)*) => {{
        use std::fmt::Write;
        let _ = writeln!($out, $($line)*);
    }};
}
use emit;
