use super::toy;
use sealift_core::{DeviceError, Key, SessionId, Work};
use std::fmt::Debug;

/// What makes the bytes of a simulation: of its machines, and of what its clients expect.
///
/// All devices of a pool and the load over it have to make the same bytes.
pub trait Cipher: Send + Sync + Debug {
    /// Encrypts a text in its place and gives its tag.
    fn seal(&self, key: &Key, nonce: &[u8], aad: &[u8], text: &mut [u8]) -> [u8; 16];

    /// Works a batch: what it gives for a seal is what [`seal`](Self::seal) gives.
    ///
    /// # Errors
    /// A key is gone.
    fn work(&self, work: &mut Work<'_>, device: &str) -> Result<(), DeviceError>;

    /// Forgets what it keeps for a session.
    fn retire(&self, _session: SessionId) {}
}

/// The cipher of [`toy`]: bytes that cost little and are no secret.
#[derive(Clone, Copy, Debug, Default)]
pub struct ToyCipher;

impl Cipher for ToyCipher {
    fn seal(&self, key: &Key, nonce: &[u8], aad: &[u8], text: &mut [u8]) -> [u8; 16] {
        toy::seal_in_place(key.as_bytes(), nonce, aad, text)
    }

    fn work(&self, work: &mut Work<'_>, device: &str) -> Result<(), DeviceError> {
        (0..work.len()).try_for_each(|message| toy::work_message(work, message, device))
    }
}
