use crate::{Algorithm, NonceRule};
use thiserror::Error;

/// A key that isn't one.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum KeyError {
    /// An algorithm has keys of certain lengths.
    #[error("a key of {bytes} bytes: an {algorithm} key has {} bytes", .algorithm.key_lengths())]
    Length {
        /// What the key was to be for.
        algorithm: Algorithm,
        /// The length that was given.
        bytes: usize,
    },
    /// No algorithm has this name.
    #[error("no algorithm is called {name:?}: there are {}", Algorithm::ALL.map(Algorithm::name).join(", "))]
    UnknownAlgorithm {
        /// The name that was given.
        name: String,
    },
}

/// A nonce that isn't one.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NonceError {
    /// An ordinary nonce has 12 bytes.
    #[error(
        "a nonce of {bytes} bytes: it has 12 bytes; other lengths (1 to 128) are taken only where \
         a batch allows them by its hazmat nonce rule"
    )]
    Length {
        /// The length that was given.
        bytes: usize,
    },
}

/// A tag that isn't one.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TagError {
    /// The standard allows seven lengths.
    #[error("a tag of {bytes} bytes: a GCM tag has 4, 8, 12, 13, 14, 15 or 16 bytes")]
    Length {
        /// The length that was given.
        bytes: usize,
    },
}

/// A batch whose columns don't fit each other, the standard, or the place for its results.
///
/// Found before any message is touched.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum BatchError {
    /// A column has another number of messages than the batch.
    #[error("{column} has {found} entries and the batch {expected} messages: give one for each")]
    Count {
        /// Which column.
        column: &'static str,
        /// How many entries it has.
        found: usize,
        /// How many messages there are.
        expected: usize,
    },
    /// A message's bytes lie outside the buffer.
    #[error(
        "{column}[{message}] is bytes {start}..{end} of a buffer of {buffer} bytes: shorten the \
         batch or give the whole buffer"
    )]
    OutOfBounds {
        /// Which column.
        column: &'static str,
        /// Which message.
        message: usize,
        /// First byte.
        start: u64,
        /// The byte after the last.
        end: u64,
        /// The buffer's length in bytes.
        buffer: usize,
    },
    /// Offsets must not fall.
    #[error(
        "the offsets of {column} fall from {before} to {after} at message {message}: offsets \
         ascend, message i lies between offsets i and i + 1"
    )]
    OffsetsFall {
        /// Which column.
        column: &'static str,
        /// Which message.
        message: usize,
        /// Its start.
        before: u64,
        /// Its end, which is smaller.
        after: u64,
    },
    /// Outputs would overwrite each other.
    #[error(
        "{column} has a stride of {stride} bytes and messages of {len}: outputs would overlap, \
         give a stride of at least {len}"
    )]
    OutputsOverlap {
        /// Which output.
        column: &'static str,
        /// Distance between two messages in bytes.
        stride: usize,
        /// Length of a message in bytes.
        len: usize,
    },
    /// The place for a result is too short.
    #[error("{column}[{message}] has room for {room} bytes and {needed} are needed")]
    NoRoom {
        /// Which output.
        column: &'static str,
        /// Which message.
        message: usize,
        /// Bytes there are.
        room: usize,
        /// Bytes it takes.
        needed: usize,
    },
    /// A nonce of a length the batch doesn't allow.
    #[error(
        "nonce[{message}] has {bytes} bytes: right would be 12, or 1 to 128 under the hazmat nonce \
         rule (`nonce_rule`, in Python `hazmat_nonces=True`)"
    )]
    NonceLength {
        /// Which message.
        message: usize,
        /// Its length in bytes.
        bytes: usize,
    },
    /// A nonce of another length than that of an algorithm with one length.
    #[error("nonce[{message}] has {bytes} bytes: {algorithm} takes {}", .algorithm.nonce_bytes())]
    AlgorithmNonceLength {
        /// What the batch is for.
        algorithm: Algorithm,
        /// Which message.
        message: usize,
        /// Its length in bytes.
        bytes: usize,
    },
    /// A nonce rule that only AES-GCM has.
    #[error("{algorithm} takes no {}: {}", rule_name(*.rule), nonce_advice(*.algorithm))]
    NonceRule {
        /// What the batch is for.
        algorithm: Algorithm,
        /// The rule.
        rule: NonceRule,
    },
    /// Shortened tags where the algorithm has none.
    #[error("tags of {bytes} bytes: {algorithm} has tags of 16 bytes alone")]
    AlgorithmTagLength {
        /// What the batch is for.
        algorithm: Algorithm,
        /// The batch's tag length in bytes.
        bytes: usize,
    },
    /// A raw key of a wrong length.
    #[error("key[{message}] has {bytes} bytes: an {algorithm} key has {} bytes", .algorithm.key_lengths())]
    KeyLength {
        /// What the batch is for.
        algorithm: Algorithm,
        /// Which message.
        message: usize,
        /// Its length in bytes.
        bytes: usize,
    },
    /// A tag column whose entries aren't as long as the batch says.
    #[error(
        "tag[{message}] has {bytes} bytes and the batch says {expected}: give tags of that length"
    )]
    TagLength {
        /// Which message.
        message: usize,
        /// Its length in bytes.
        bytes: usize,
        /// The batch's tag length in bytes.
        expected: usize,
    },
    /// Longer than SP 800-38D allows.
    #[error(
        "text[{message}] has {bytes} bytes: AES-GCM seals at most {limit} under one nonce, split it"
    )]
    TextLength {
        /// Which message.
        message: usize,
        /// Its length in bytes.
        bytes: usize,
        /// The most there may be.
        limit: u64,
    },
    /// One session and nonce twice among the seals.
    #[error(
        "messages {first} and {second} are both sealed under session {session} with the same \
         nonce: a nonce is used once a key, take `next_nonce()`"
    )]
    RepeatedNonce {
        /// The earlier message.
        first: usize,
        /// The later message.
        second: usize,
        /// The session.
        session: String,
    },
    /// In place needs a place.
    #[error(
        "the texts are in place but there is no output buffer: give the buffer that holds them"
    )]
    NoPlace,
    /// In place is not for batches that a worker takes over.
    #[error("the texts are in place: submit takes them apart only, use run for work in place")]
    InPlaceSubmitted,
    /// More bytes than can be counted.
    #[error(
        "{messages} messages of {bytes} bytes are more than a machine can hold: split the batch"
    )]
    TooMuch {
        /// Messages in the batch.
        messages: usize,
        /// Bytes of each.
        bytes: usize,
    },
    /// More bytes than there is memory for.
    #[error("the results take {bytes} bytes, and there is no memory for them: split the batch")]
    NoMemory {
        /// What the results take.
        bytes: usize,
    },
}

fn rule_name(rule: NonceRule) -> &'static str {
    match rule {
        NonceRule::Standard => "nonces",
        NonceRule::Counted => "counted nonces",
        NonceRule::HazmatAnyLength => {
            "nonces of other lengths (`nonce_rule`, in Python `hazmat_nonces`)"
        }
    }
}

/// Where nonces come from that no session counts.
fn nonce_advice(algorithm: Algorithm) -> String {
    let bytes = algorithm.nonce_bytes();
    match algorithm {
        Algorithm::AesGcmSiv => format!("give any {bytes} bytes, a nonce may repeat"),
        _ => format!("draw {bytes} random bytes for each message"),
    }
}

/// What a batch asks and a device hasn't.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum LimitError {
    /// An algorithm it doesn't compute.
    #[error("{device} does not compute {algorithm}")]
    Algorithm {
        /// The device.
        device: String,
        /// The algorithm.
        algorithm: Algorithm,
    },
    /// It takes submitted batches only.
    #[error("{device} does not run on the calling thread: submit the batch")]
    CallingThread {
        /// The device.
        device: String,
    },
    /// Too many messages.
    #[error("{device} takes {limit} messages a batch and this one has {messages}: split it")]
    Messages {
        /// The device.
        device: String,
        /// Messages in the batch.
        messages: usize,
        /// The most it takes.
        limit: usize,
    },
    /// A message too long.
    #[error("{device} takes messages of at most {limit} bytes and one has {bytes}: split it")]
    TextBytes {
        /// The device.
        device: String,
        /// Its length.
        bytes: usize,
        /// The most it takes.
        limit: usize,
    },
    /// An aad too long.
    #[error("{device} takes aads of at most {limit} bytes and one has {bytes}: use another device")]
    AadBytes {
        /// The device.
        device: String,
        /// Its length.
        bytes: usize,
        /// The most it takes.
        limit: usize,
    },
    /// A nonce length it can't do.
    #[error("{device} does not take nonces of {bytes} bytes")]
    NonceLength {
        /// The device.
        device: String,
        /// The length.
        bytes: usize,
    },
    /// A tag length it can't do.
    #[error("{device} does not take tags of {bytes} bytes")]
    TagLength {
        /// The device.
        device: String,
        /// The length.
        bytes: usize,
    },
    /// It has no memory of the caller's to write to.
    #[error("{device} does not work in place: give an output apart from the input")]
    InPlace {
        /// The device.
        device: String,
    },
}

/// Why a device could not be opened.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum OpenError {
    /// No driver has this name.
    #[error("no driver is called {name:?}: there are {known}; `sealift devices` shows them")]
    UnknownDriver {
        /// The name that was given.
        name: String,
        /// The names there are.
        known: String,
    },
    /// The driver's hardware or library isn't here.
    #[error("{device} is absent: {reason}")]
    Absent {
        /// The device asked for.
        device: String,
        /// What is missing.
        reason: String,
    },
    /// A setting the driver doesn't have, or a value it can't take.
    #[error("{device}: {reason}")]
    Setting {
        /// The device asked for.
        device: String,
        /// What is wrong and what would be right.
        reason: String,
    },
}

/// A device that failed. Its messages have no result and may be given to another device.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DeviceError {
    /// The device takes submitted work only.
    #[error("{device} does not run on the calling thread: submit the batch")]
    NotOnCallingThread {
        /// The device.
        device: String,
    },
    /// A batch names a session whose key is gone.
    #[error("{device} was given session {session}, whose key is gone")]
    KeyGone {
        /// The device.
        device: String,
        /// The session.
        session: String,
    },
    /// Something broke.
    #[error("{device} failed: {reason}")]
    Failed {
        /// The device.
        device: String,
        /// What broke.
        reason: String,
    },
    /// Beyond its limits.
    #[error(transparent)]
    Limit(#[from] LimitError),
}
