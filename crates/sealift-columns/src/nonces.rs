//! Random nonces.

use crate::ColumnError;
use chacha20::ChaCha20Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use zeroize::Zeroizing;

/// Draws nonces from a ChaCha20 stream whose seed the system gave.
///
/// A generator serves one thread of one call and is never stored, so no fork can copy one that is used again.
pub(crate) struct NonceGenerator(ChaCha20Rng);

impl NonceGenerator {
    /// A new one.
    ///
    /// # Errors
    /// The system has no random bytes.
    pub(crate) fn new() -> Result<Self, ColumnError> {
        let mut seed = Zeroizing::new([0; 32]);
        getrandom::fill(&mut *seed)
            .map_err(|error| ColumnError::Random { reason: error.to_string() })?;
        Ok(Self(ChaCha20Rng::from_seed(*seed)))
    }

    /// Fills nonces, one behind the other.
    pub(crate) fn fill(&mut self, nonces: &mut [u8]) {
        self.0.fill_bytes(nonces);
    }
}
