//! A batch of messages as columns over buffers, after Arrow's layout.

mod check;
mod column;
mod lengths;
mod slice;

pub(crate) use check::Geometry;
pub use check::Shape;
pub use column::{Buffer, Buffers, Column, Layout};
pub(crate) use lengths::by_chunks;

use crate::{Algorithm, Op, SessionId, TagLength};
use std::borrow::Cow;

/// The longest text AES-GCM may encrypt under one nonce, in bytes (SP 800-38D section 5.2.1.1).
pub const MAX_TEXT_BYTES: u64 = (1 << 36) - 32;

/// Messages to seal, open or verify, as columns.
///
/// `Batch<'a>` may borrow its buffers for a blocking run; `Batch<'static>` owns or shares them and
/// can be submitted.
///
/// ```
/// use sealift_core::{Batch, Column, SessionId};
/// # let session = SessionId { slot: 0, generation: 0 };
/// let nonces = [7; 2 * 12];
/// let texts = *b"first textother text";
/// let batch = Batch::seal(2, session, Column::fixed(&nonces, 12), Column::fixed(&texts, 10));
/// assert_eq!(batch.text_of(1), b"other text");
/// ```
#[derive(Clone, Debug)]
pub struct Batch<'a> {
    /// Number of messages.
    pub len: usize,
    /// What all of this batch's keys are for.
    pub algorithm: Algorithm,
    /// What is done to each.
    pub ops: Ops<'a>,
    /// Under which key.
    pub keys: Keys<'a>,
    /// With which nonce.
    pub nonce: Column<'a>,
    /// Authenticated and not encrypted.
    pub aad: Column<'a>,
    /// Plaintext of seals, ciphertext of opens.
    pub text: Text<'a>,
    /// Where tags are.
    pub tags: Tags<'a>,
    /// How long every tag is.
    pub tag_length: TagLength,
    /// Whether nonces of other lengths than 12 bytes are allowed.
    pub nonce_rule: NonceRule,
    /// Whether anyone may write to the inputs meanwhile.
    pub stability: Stability,
}

impl<'a> Batch<'a> {
    /// Seals `len` texts under sessions: no aad, 16-byte tags apart. Change the fields for the rest.
    pub fn seal(
        len: usize,
        keys: impl Into<Keys<'a>>,
        nonce: Column<'a>,
        text: impl Into<Text<'a>>,
    ) -> Self {
        Self {
            len,
            algorithm: Algorithm::AesGcm,
            ops: Ops::All(Op::Seal),
            keys: keys.into(),
            nonce,
            aad: Column::Empty,
            text: text.into(),
            tags: Tags::Apart(Column::Empty),
            tag_length: TagLength::FULL,
            nonce_rule: NonceRule::Standard,
            stability: Stability::Frozen,
        }
    }

    /// Opens `len` ciphertexts with their tags.
    pub fn open(
        len: usize,
        keys: impl Into<Keys<'a>>,
        nonce: Column<'a>,
        text: impl Into<Text<'a>>,
        tags: impl Into<Tags<'a>>,
    ) -> Self {
        Self { ops: Ops::All(Op::Open), tags: tags.into(), ..Self::seal(len, keys, nonce, text) }
    }

    /// The given text of a message: what lies in the column, with an appended tag.
    ///
    /// Empty when the texts are in place.
    #[must_use]
    pub fn text_of(&self, message: usize) -> &[u8] {
        match &self.text {
            Text::Apart(column) => column.get(message),
            Text::InPlace => &[],
        }
    }

    /// The session of a message, unless keys are raw.
    #[must_use]
    pub fn session_of(&self, message: usize) -> Option<SessionId> {
        match &self.keys {
            Keys::Session(session) => Some(*session),
            Keys::Sessions(sessions) => Some(sessions[message]),
            Keys::Raw(_) => None,
        }
    }

    /// The raw key of a message, where keys are raw.
    #[must_use]
    #[inline]
    pub fn raw_key(&self, message: usize) -> Option<&[u8]> {
        match &self.keys {
            Keys::Raw(column) => Some(column.get(message)),
            Keys::Session(_) | Keys::Sessions(_) => None,
        }
    }
}

/// What is done to the messages of a batch.
#[derive(Clone, Debug)]
pub enum Ops<'a> {
    /// The same to all.
    All(Op),
    /// One for each.
    Each(Cow<'a, [Op]>),
}

impl Ops<'_> {
    /// What is done to one message.
    #[must_use]
    #[inline]
    pub fn get(&self, message: usize) -> Op {
        match self {
            Self::All(op) => *op,
            Self::Each(ops) => ops[message],
        }
    }
}

/// Under which keys a batch is worked.
#[derive(Clone, Debug)]
pub enum Keys<'a> {
    /// One session for all messages.
    Session(SessionId),
    /// A session for each.
    Sessions(Cow<'a, [SessionId]>),
    /// A raw key for each, of 16, 24 or 32 bytes, expanded for this message only.
    Raw(Column<'a>),
}

impl From<SessionId> for Keys<'_> {
    fn from(session: SessionId) -> Self {
        Self::Session(session)
    }
}

impl<'a> From<&'a [SessionId]> for Keys<'a> {
    fn from(sessions: &'a [SessionId]) -> Self {
        Self::Sessions(sessions.into())
    }
}

impl<'a> From<&'a Vec<SessionId>> for Keys<'a> {
    fn from(sessions: &'a Vec<SessionId>) -> Self {
        Self::Sessions(sessions.into())
    }
}

impl From<Vec<SessionId>> for Keys<'_> {
    fn from(sessions: Vec<SessionId>) -> Self {
        Self::Sessions(sessions.into())
    }
}

/// Where the texts are.
#[derive(Clone, Debug)]
pub enum Text<'a> {
    /// In buffers of their own, which are only read.
    Apart(Column<'a>),
    /// In the output's own buffer, where the results overwrite them.
    InPlace,
}

impl<'a> From<Column<'a>> for Text<'a> {
    fn from(column: Column<'a>) -> Self {
        Self::Apart(column)
    }
}

/// Where tags are read (open, verify) and written (seal).
#[derive(Clone, Debug)]
pub enum Tags<'a> {
    /// Right behind the ciphertext, in the same slot.
    Appended,
    /// In a column of their own; [`Column::Empty`] when everything is sealed.
    Apart(Column<'a>),
}

impl<'a> From<Column<'a>> for Tags<'a> {
    fn from(column: Column<'a>) -> Self {
        Self::Apart(column)
    }
}

/// Which nonce lengths a batch takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NonceRule {
    /// 12 bytes.
    Standard,
    /// 12 bytes that the sessions counted (`Engine::next_nonces`) for this batch and no other: that is the caller's word. A
    /// session that seals with counted nonces takes no others, and one that has sealed with others takes no counted ones.
    Counted,
    /// 1 to 128 bytes. Lengths other than 12 are hashed, which lowers the number of messages a key
    /// may safely seal (SP 800-38D section 8.3); for protocols that need them.
    HazmatAnyLength,
}

/// Whether input bytes can change while a device works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stability {
    /// Nobody writes to them.
    Frozen,
    /// Another thread or process may write to them: a device reads every byte once or copies first,
    /// so that a message opens right or not at all.
    Shared,
}
