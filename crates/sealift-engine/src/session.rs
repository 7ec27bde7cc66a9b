use crate::EngineError;
use crate::nonces::NonceCounter;
use crate::shared::Shared;
use sealift_core::{
    Algorithm, Batch, Buffer, Column, Nonce, NonceRule, Op, Ops, Output, Place, SessionId, Status,
    TagLength, Tags,
};
use std::fmt;
use std::sync::{Arc, OnceLock};

/// An installed key. Dropping it retires the key, which is wiped when no work in flight needs it.
pub struct Session {
    engine: Arc<Shared>,
    id: SessionId,
    algorithm: Algorithm,
    nonces: OnceLock<Arc<NonceCounter>>,
}

impl Session {
    pub(crate) fn new(engine: Arc<Shared>, id: SessionId, algorithm: Algorithm) -> Self {
        Self { engine, id, algorithm, nonces: OnceLock::new() }
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
    /// After 2^32 nonces, and in a forked child, where parent and child would give the same ones. Its key is not for
    /// AES-GCM: no other algorithm's nonces are counted. The system has no random bytes.
    pub fn next_nonce(&self) -> Result<Nonce, EngineError> {
        self.nonces()?.take_one(self.id)
    }

    /// The next nonces of those that [`next_nonce`](Self::next_nonce) gives, all or none.
    ///
    /// # Errors
    /// As [`next_nonce`](Self::next_nonce).
    pub fn next_nonces(
        &self,
        count: usize,
    ) -> Result<impl Iterator<Item = Nonce> + use<>, EngineError> {
        self.nonces()?.take(self.id, count as u64)
    }

    fn nonces(&self) -> Result<&NonceCounter, EngineError> {
        self.engine.check_fork()?;
        if let Some(counter) = self.nonces.get() {
            return Ok(counter);
        }
        let counter = self.engine.store.nonces_of(self.id)?;
        Ok(self.nonces.get_or_init(|| counter))
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
            algorithm: self.algorithm,
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
        self.engine.run(&batch, output, &Default::default(), None)?;
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
