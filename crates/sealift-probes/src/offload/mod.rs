//! Cores as devices: clients hand batches over to them and take them back, as document 002 did with cards.
//!
//! Each device of an engine has one worker, which keeps to a core of its own. Clients run wherever the
//! system has room for them; each has a key, a device that it keeps to, and one batch in flight.

mod arm;
mod client;
mod race;

pub use arm::OffloadArm;

use crate::{ArmError, tdes};

/// What is handed over, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OffloadSpec {
    /// What messages are encrypted by.
    pub cipher: Cipher,
    /// How clients get their batches worked.
    pub way: Way,
    /// Clients.
    pub threads: usize,
    /// Devices, each on a core of its own.
    pub devices: usize,
    /// Bytes of each message, a multiple of 8.
    pub message_bytes: usize,
    /// Messages handed over at once.
    pub batch: usize,
    /// Of keys, nonces and texts.
    pub seed: u64,
}

/// What messages are encrypted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cipher {
    /// 3DES-EDE-CBC, by RustCrypto.
    TripleDes,
    /// AES-128-GCM, by this processor's kernels.
    AesGcm,
}

/// How clients get their batches worked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Each works its own; nothing is handed over.
    CallingThread,
    /// Handed over; who waits sleeps.
    Sleeping,
    /// Handed over; who waits asks again and again, and gives way to other threads now and then.
    Polling,
}

impl OffloadSpec {
    fn check(&self) -> Result<(), ArmError> {
        ArmError::check("threads", self.threads, 1, THREADS_MAX)?;
        ArmError::check("devices", self.devices, 1, DEVICES_MAX)?;
        ArmError::check("messages at once", self.batch, 1, BATCH_MAX)?;
        ArmError::check("bytes of a message", self.message_bytes, 8, MESSAGE_BYTES_MAX)?;
        if !self.message_bytes.is_multiple_of(tdes::BLOCK_BYTES) {
            return Err(ArmError::Spec {
                what: "bytes of a message",
                value: self.message_bytes.to_string(),
                right: format!("a multiple of {}", tdes::BLOCK_BYTES),
            });
        }
        Ok(())
    }
}

impl Cipher {
    /// Both with their names.
    pub const ALL: [(&'static str, Self); 2] =
        [("3des-cbc", Self::TripleDes), ("aes-128-gcm", Self::AesGcm)];

    /// The cipher of a name.
    ///
    /// # Errors
    /// There is none; the error lists those there are.
    pub fn parse(name: &str) -> Result<Self, ArmError> {
        ArmError::named("a cipher", &Self::ALL, name)
    }

    fn key_bytes(self) -> usize {
        match self {
            Self::TripleDes => tdes::KEY_BYTES,
            Self::AesGcm => 16,
        }
    }

    /// The driver of its devices.
    fn driver(self) -> &'static str {
        match self {
            Self::TripleDes => tdes::NAME,
            Self::AesGcm => "cpu",
        }
    }
}

impl Way {
    /// All of them with their names.
    pub const ALL: [(&'static str, Self); 3] = [
        ("calling thread", Self::CallingThread),
        ("sleeping", Self::Sleeping),
        ("polling", Self::Polling),
    ];

    /// The way of a name.
    ///
    /// # Errors
    /// There is none; the error lists those there are.
    pub fn parse(name: &str) -> Result<Self, ArmError> {
        ArmError::named("a way to hand over", &Self::ALL, name)
    }
}

/// Each has a thread of its own.
const THREADS_MAX: usize = 256;
const DEVICES_MAX: usize = crate::THREADS_MAX;
const BATCH_MAX: usize = 4_096;
const MESSAGE_BYTES_MAX: usize = 1 << 20;

#[cfg(test)]
mod tests;
