//! Messages, and what can be wrong with them.

use super::{HEADER_BYTES, KEY_BYTES, MESSAGE};
use crate::program::MRAM_BYTES;

/// What is done with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// The text becomes ciphertext.
    Seal,
    /// The text is ciphertext and becomes plaintext, whether or not it is genuine.
    Open,
    /// The text is ciphertext and stays so.
    Verify,
}

pub(super) const SEAL: u32 = 0;
pub(super) const OPEN: u32 = 1;
pub(super) const VERIFY: u32 = 2;

/// A message.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    /// What is done with it.
    pub operation: Operation,
    /// The number of its key among those it is laid out with.
    pub key: usize,
    /// One byte or more; twelve cost least.
    pub nonce: &'a [u8],
    /// What is authenticated besides the text.
    pub aad: &'a [u8],
    /// Plaintext to be sealed, or ciphertext without its tag.
    pub text: &'a [u8],
}

impl Message<'_> {
    /// Bytes of MRAM that it takes, besides its key.
    #[must_use]
    pub fn mram_bytes(&self) -> usize {
        let blocks = 16 * self.nonce_blocks() + padded(self.aad.len());
        MESSAGE as usize + TAG + padded(self.text.len()) + blocks
    }

    /// Blocks that are hashed to the first counter block: none of twelve bytes, otherwise those of the nonce and of its length.
    pub(super) fn nonce_blocks(&self) -> usize {
        if self.nonce.len() == 12 { 0 } else { self.nonce.len().div_ceil(16) + 1 }
    }
}

/// Why messages cannot be laid out.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LayoutError {
    /// A number that no key has.
    #[error("message {message} is under key {key}, of {keys}")]
    Key {
        /// The message.
        message: usize,
        /// The number.
        key: usize,
        /// How many keys there are.
        keys: usize,
    },
    /// Bytes that are no key.
    #[error("key {key} has {bytes} bytes; AES has 16, 24 and 32")]
    KeyLength {
        /// Which.
        key: usize,
        /// How many it has.
        bytes: usize,
    },
    /// A nonce of no bytes.
    #[error("the nonce of message {message} is empty; one byte is the least")]
    Nonce {
        /// The message.
        message: usize,
    },
    /// More than MRAM holds.
    #[error("keys and messages take {bytes} bytes of MRAM, which holds {MRAM_BYTES}")]
    Full {
        /// With the header.
        bytes: u64,
    },
}

pub(super) const TAG: usize = 16;

pub(super) fn padded(bytes: usize) -> usize {
    bytes.next_multiple_of(16)
}

/// How many messages each key has.
pub(super) fn check(keys: &[&[u8]], messages: &[Message<'_>]) -> Result<Vec<usize>, LayoutError> {
    for (key, bytes) in keys.iter().enumerate() {
        if !matches!(bytes.len(), 16 | 24 | 32) {
            return Err(LayoutError::KeyLength { key, bytes: bytes.len() });
        }
    }
    let mut uses = vec![0; keys.len()];
    let mut bytes = u64::from(HEADER_BYTES) + keys.len() as u64 * u64::from(KEY_BYTES);
    for (message, &Message { key, nonce, aad, text, .. }) in messages.iter().enumerate() {
        let unknown = LayoutError::Key { message, key, keys: keys.len() };
        *uses.get_mut(key).ok_or(unknown)? += 1;
        if nonce.is_empty() {
            return Err(LayoutError::Nonce { message });
        }
        let longest = nonce.len().max(aad.len()).max(text.len()) as u64;
        bytes = bytes.saturating_add(if longest > MRAM_BYTES {
            longest
        } else {
            messages[message].mram_bytes() as u64
        });
    }
    if bytes > MRAM_BYTES { Err(LayoutError::Full { bytes }) } else { Ok(uses) }
}
