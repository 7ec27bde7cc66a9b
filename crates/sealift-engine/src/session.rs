use crate::shared::Shared;
use crate::{EngineError, SEALS_MAX};
use sealift_core::{
    Algorithm, Batch, Buffer, Column, NONCE_BYTES, Nonce, NonceRule, Op, Ops, Output, Place,
    SessionId, Status, TagLength, Tags,
};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// An installed key. Dropping it retires the key, which is wiped when no work in flight needs it.
pub struct Session {
    engine: Arc<Shared>,
    id: SessionId,
    algorithm: Algorithm,
    first_nonce: u128,
    nonces: AtomicU64,
}

impl Session {
    pub(crate) fn new(engine: Arc<Shared>, id: SessionId) -> Result<Self, EngineError> {
        // Made before the random bytes: if they fail, dropping it retires the key.
        let mut session = Self {
            engine,
            id,
            algorithm: Algorithm::AesGcm,
            first_nonce: 0,
            nonces: AtomicU64::new(0),
        };
        let mut random = [0; 16];
        getrandom::fill(&mut random[16 - NONCE_BYTES..])
            .map_err(|error| EngineError::Random { reason: error.to_string() })?;
        session.first_nonce = u128::from_be_bytes(random);
        Ok(session)
    }

    /// What batches name it by.
    #[must_use]
    pub fn id(&self) -> SessionId {
        self.id
    }

    /// What its key is for.
    #[must_use]
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Messages sealed under it so far, those in flight included.
    ///
    /// # Errors
    /// A forked child.
    pub fn sealed(&self) -> Result<u64, EngineError> {
        self.engine.check_fork()?;
        Ok(self.engine.store.sealed(self.id))
    }

    /// A nonce that this session has not given before.
    ///
    /// The first is 96 random bits and each later one is the next number: the second form of
    /// SP 800-38D section 8.2.2, whose limit of 2^32 messages a key is kept.
    ///
    /// # Errors
    /// After 2^32 nonces, and in a forked child, where parent and child would give the same ones.
    pub fn next_nonce(&self) -> Result<Nonce, EngineError> {
        self.engine.check_fork()?;
        let given = self.nonces.fetch_add(1, Ordering::Relaxed);
        if given >= SEALS_MAX {
            self.nonces.fetch_sub(1, Ordering::Relaxed);
            let (session, limit) = (self.id, SEALS_MAX);
            return Err(EngineError::SealLimit { session, sealed: limit, limit });
        }
        let bytes = self.first_nonce.wrapping_add(u128::from(given)).to_be_bytes();
        let mut nonce = [0; NONCE_BYTES];
        nonce.copy_from_slice(&bytes[16 - NONCE_BYTES..]);
        Ok(nonce.into())
    }

    /// Seals one message: `out` gets the ciphertext and the tag behind it.
    ///
    /// For many messages a batch is faster.
    ///
    /// # Errors
    /// `out` is shorter than text and tag, or the session is at its limit.
    pub fn seal(
        &self,
        nonce: &[u8],
        aad: &[u8],
        text: &[u8],
        out: &mut [u8],
    ) -> Result<(), EngineError> {
        self.one(Op::Seal, nonce, aad, text, out, NonceRule::Standard).map(|_| ())
    }

    /// Opens one message, ciphertext and 16-byte tag behind it: `out` gets the plaintext, or zeros.
    ///
    /// # Errors
    /// `out` is shorter than the plaintext. A wrong tag is no error but a status.
    pub fn open(
        &self,
        nonce: &[u8],
        aad: &[u8],
        text: &[u8],
        out: &mut [u8],
    ) -> Result<Status, EngineError> {
        self.one(Op::Open, nonce, aad, text, out, NonceRule::Standard)
    }

    /// One message with any nonce of 1 to 128 bytes; see [`NonceRule::HazmatAnyLength`].
    ///
    /// # Errors
    /// As [`seal`](Self::seal) and [`open`](Self::open).
    pub fn hazmat_any_nonce(
        &self,
        op: Op,
        nonce: &[u8],
        aad: &[u8],
        text: &[u8],
        out: &mut [u8],
    ) -> Result<Status, EngineError> {
        self.one(op, nonce, aad, text, out, NonceRule::HazmatAnyLength)
    }

    fn one(
        &self,
        op: Op,
        nonce: &[u8],
        aad: &[u8],
        text: &[u8],
        out: &mut [u8],
        nonce_rule: NonceRule,
    ) -> Result<Status, EngineError> {
        let column = |bytes| Column::Same(Buffer::Borrowed(bytes));
        let batch = Batch {
            ops: Ops::All(op),
            aad: column(aad),
            tags: Tags::Appended,
            tag_length: TagLength::FULL,
            nonce_rule,
            ..Batch::seal(1, self.id, column(nonce), column(text))
        };
        let mut status = [Status::NotProcessed];
        let room = out.len();
        let output =
            Output { text: Place::fixed(out, room), tags: Place::Empty, status: &mut status };
        self.engine.run(&batch, output, &Default::default())?;
        Ok(status[0])
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.engine.retire(self.id);
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Session({}, {})", self.algorithm, self.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::{Model, pool};
    use sealift_core::{Cost, Key};

    #[test]
    fn a_session_gives_as_many_nonces_as_its_key_may_seal_messages() {
        let pool = pool([Model::new("a", Cost::clamped(1.0, 0.0, 0.0))]).unwrap();
        let session = pool.engine.session(Key::Aes128([1; 16])).unwrap();
        session.nonces.store(SEALS_MAX - 1, Ordering::Relaxed);
        assert!(session.next_nonce().is_ok());
        assert!(matches!(session.next_nonce(), Err(EngineError::SealLimit { .. })));
    }
}
