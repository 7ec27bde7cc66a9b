//! Nonces that sessions count, and nonces that are drawn.

use crate::{EngineError, SEALS_MAX};
use chacha20::ChaCha20Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use sealift_core::{Algorithm, BatchError, NONCE_BYTES, Nonce, SessionId};
use std::sync::atomic::{AtomicU64, Ordering};

/// The nonces of one session: the first is 96 random bits and each later one the next number (SP 800-38D section
/// 8.2.2).
#[derive(Debug)]
pub(crate) struct NonceCounter {
    first: u128,
    given: AtomicU64,
}

impl NonceCounter {
    /// One that starts at random.
    ///
    /// # Errors
    /// The system has no random bytes.
    pub(crate) fn new() -> Result<Self, EngineError> {
        let mut random = [0; 16];
        getrandom::fill(&mut random[16 - NONCE_BYTES..])
            .map_err(|error| EngineError::Random { reason: error.to_string() })?;
        Ok(Self { first: u128::from_be_bytes(random), given: AtomicU64::new(0) })
    }

    /// Takes the next one. Whatever becomes of it, it is not given again.
    ///
    /// # Errors
    /// After 2^32 of them.
    pub(crate) fn take_one(&self, session: SessionId) -> Result<Nonce, EngineError> {
        Ok(nonce(self.first, self.reserve(session, 1)?))
    }

    /// Takes the next ones, or none where fewer are left.
    ///
    /// # Errors
    /// As [`take_one`](Self::take_one).
    pub(crate) fn take(
        &self,
        session: SessionId,
        count: u64,
    ) -> Result<impl Iterator<Item = Nonce> + use<>, EngineError> {
        let (first, start) = (self.first, self.reserve(session, count)?);
        Ok((start..start + count).map(move |number| nonce(first, number)))
    }

    /// The number of the first of so many nonces that nobody else gets.
    fn reserve(&self, session: SessionId, count: u64) -> Result<u64, EngineError> {
        let within = |given: u64| given.checked_add(count).filter(|given| *given <= SEALS_MAX);
        let start = self.given.fetch_update(Ordering::Relaxed, Ordering::Relaxed, within);
        start.map_err(|sealed| EngineError::SealLimit { session, sealed, limit: SEALS_MAX })
    }
}

fn nonce(first: u128, number: u64) -> Nonce {
    let mut nonce = [0; NONCE_BYTES];
    let bytes = first.wrapping_add(number.into()).to_be_bytes();
    nonce.copy_from_slice(&bytes[16 - NONCE_BYTES..]);
    nonce.into()
}

/// So many random nonces of an algorithm, one behind the other.
///
/// Each call asks the system for the key of a stream of its own instead of keeping a generator: what is not kept can't be
/// drawn twice, by a forked child or by a copy of a virtual machine.
///
/// # Errors
/// The system has no random bytes; there is no memory for so many.
pub(crate) fn draw(algorithm: Algorithm, messages: usize) -> Result<Vec<u8>, EngineError> {
    let bytes = messages.saturating_mul(algorithm.nonce_bytes());
    let mut nonces = Vec::new();
    nonces.try_reserve_exact(bytes).map_err(|_| BatchError::NoMemory { bytes })?;
    nonces.resize(bytes, 0);
    let random = |error: getrandom::Error| EngineError::Random { reason: error.to_string() };
    // For a few nonces the system's own bytes take no longer.
    if bytes <= SEED_BYTES {
        getrandom::fill(&mut nonces).map_err(random)?;
        return Ok(nonces);
    }
    NonceGenerator::new()?.fill(&mut nonces);
    Ok(nonces)
}

/// Draws nonces from a ChaCha20 stream whose seed the system gave.
///
/// A generator serves one thread of one call and is never stored, so no fork can copy one that is used again.
pub struct NonceGenerator(ChaCha20Rng);

impl NonceGenerator {
    /// A new one.
    ///
    /// # Errors
    /// The system has no random bytes.
    pub fn new() -> Result<Self, EngineError> {
        let mut seed = [0; SEED_BYTES];
        let random = |error: getrandom::Error| EngineError::Random { reason: error.to_string() };
        getrandom::fill(&mut seed).map_err(random)?;
        Ok(Self(ChaCha20Rng::from_seed(seed)))
    }

    /// Fills nonces, one behind the other.
    pub fn fill(&mut self, nonces: &mut [u8]) {
        self.0.fill_bytes(nonces);
    }
}

const SEED_BYTES: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawn_nonces_have_the_length_of_their_algorithm_and_differ() {
        for (algorithm, count) in
            Algorithm::ALL.into_iter().flat_map(|a| [0, 1, 2, 1_000].map(|n| (a, n)))
        {
            let bytes = algorithm.nonce_bytes();
            let drawn = [draw(algorithm, count).unwrap(), draw(algorithm, count).unwrap()].concat();
            let different: std::collections::HashSet<_> = drawn.chunks(bytes).collect();
            assert_eq!((drawn.len(), different.len()), (2 * count * bytes, 2 * count));
        }
    }

    #[test]
    fn more_nonces_than_memory_holds_are_an_error() {
        let error = draw(Algorithm::Xaes256Gcm, usize::MAX / 8).unwrap_err();
        assert!(matches!(error, EngineError::Batch(BatchError::NoMemory { .. })), "{error}");
    }

    const SESSION: SessionId = SessionId { slot: 0, generation: 1 };

    #[test]
    fn a_session_gives_as_many_nonces_as_its_key_may_seal_messages() {
        let counter = NonceCounter { first: 7, given: AtomicU64::new(SEALS_MAX - 2) };
        assert!(matches!(counter.take(SESSION, 3), Err(EngineError::SealLimit { .. })));
        assert_eq!(counter.take(SESSION, 2).unwrap().count(), 2, "a refused range is not taken");
        assert!(matches!(counter.take(SESSION, 1), Err(EngineError::SealLimit { .. })));
        assert_eq!(counter.take(SESSION, 0).unwrap().count(), 0);
        let huge = NonceCounter { first: 7, given: AtomicU64::new(1) };
        assert!(huge.take(SESSION, u64::MAX).is_err());
    }

    #[test]
    fn nonces_rise_by_one_and_begin_anew_after_the_last() {
        let counter = NonceCounter { first: (1 << 96) - 2, given: AtomicU64::new(0) };
        let nonces: Vec<_> = counter.take(SESSION, 3).unwrap().collect();
        let mut last = [0xff; NONCE_BYTES];
        assert_eq!(*nonces[1].as_bytes(), last);
        last[11] = 0xfe;
        assert_eq!(*nonces[0].as_bytes(), last);
        assert_eq!(*nonces[2].as_bytes(), [0; NONCE_BYTES]);
    }

    #[test]
    fn threads_get_different_nonces() {
        let counter = std::sync::Arc::new(NonceCounter::new().unwrap());
        let threads = (0..4).map(|_| {
            let counter = std::sync::Arc::clone(&counter);
            let take = move |count| counter.take(SESSION, count).unwrap().collect::<Vec<_>>();
            std::thread::spawn(move || (0..500).flat_map(|n| take(n % 3)).collect::<Vec<_>>())
        });
        let all = threads.collect::<Vec<_>>().into_iter().flat_map(|t| t.join().unwrap());
        let all: Vec<_> = all.collect();
        let different: std::collections::HashSet<_> = all.iter().collect();
        assert_eq!(different.len(), all.len());
    }
}
