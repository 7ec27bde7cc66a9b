use crate::KeyId;
use sealift_engine::EngineError;
use thiserror::Error;

/// Why a column was not sealed or opened. Rows count from 0 over all chunks.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ColumnError {
    /// The engine refused the work or failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The keyring has no key of this id.
    #[error(
        "row {row} has key id {id}, which the keyring does not have: add its key, or a callback that finds it"
    )]
    UnknownId {
        /// The row.
        row: u64,
        /// The id.
        id: KeyId,
    },
    /// The keyring has the id, and not this version.
    #[error(
        "row {row} was sealed under version {version} of key {id}, which the keyring does not have: add that version"
    )]
    UnknownVersion {
        /// The row.
        row: u64,
        /// The id.
        id: KeyId,
        /// The version.
        version: u16,
    },
    /// A key id that can't be one.
    #[error("row {row} has {what} as its key id: {right}")]
    RowId {
        /// The row.
        row: u64,
        /// What is there.
        what: String,
        /// What would be right.
        right: &'static str,
    },
    /// A null among associated data.
    #[error(
        "row {row} has a null among its associated data: fill it, for example with an empty string"
    )]
    NullAad {
        /// The row.
        row: u64,
    },
    /// A row that is no sealed row.
    #[error("row {row} is no sealed row: {reason}")]
    Malformed {
        /// The row.
        row: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// Rows whose tags are wrong.
    #[error(
        "{failed} of {rows} rows did not open: their tags do not belong to key, header, associated data and ciphertext; \
         the first is row {}", first.first().copied().unwrap_or(0)
    )]
    NotOpened {
        /// How many did not open.
        failed: u64,
        /// Rows in the column.
        rows: u64,
        /// The first of them, ascending, at most [`FAILURES_LISTED`](crate::FAILURES_LISTED).
        first: Vec<u64>,
    },
    /// An opened row that is no text.
    #[error("row {row} is not UTF-8: open it as binary")]
    NotUtf8 {
        /// The row.
        row: u64,
    },
    /// A column that doesn't fit the others.
    #[error("{column} has {found} rows and the column has {expected}: give one for each row")]
    Count {
        /// Which.
        column: &'static str,
        /// Its rows.
        found: usize,
        /// Those of the column.
        expected: usize,
    },
    /// Memory that is not as its column says.
    #[error("row {row} of {column} does not lie inside its buffer")]
    OutOfBounds {
        /// Which column.
        column: &'static str,
        /// The row.
        row: u64,
    },
    /// A key id that a keyring doesn't take.
    #[error("{id} can't be a key id here: {reason}")]
    KeyId {
        /// The id.
        id: KeyId,
        /// Why not.
        reason: String,
    },
    /// A file that is no keyring.
    #[error("{path}{reason}")]
    File {
        /// Its path.
        path: String,
        /// Where and what is wrong, and what would be right.
        reason: String,
    },
    /// A version of a key that a keyring doesn't take.
    #[error("key {id}: version {reason}")]
    Version {
        /// Whose.
        id: KeyId,
        /// What is wrong with it.
        reason: String,
    },
    /// A layout that doesn't take what was given.
    #[error("{layout} {reason}")]
    Layout {
        /// The layout.
        layout: &'static str,
        /// What it doesn't take, and what would be right.
        reason: String,
    },
    /// A key that may seal no more.
    #[error(
        "key {id} has sealed {sealed} rows in this process and this call would pass 2^32, the most of its algorithm: \
         rotate the key, or take XAES-256-GCM"
    )]
    SealLimit {
        /// Whose.
        id: KeyId,
        /// Rows so far.
        sealed: u64,
    },
    /// The system gave no random bytes.
    #[error("the system gave no random bytes for nonces: {reason}")]
    Random {
        /// What it said.
        reason: String,
    },
    /// No memory for the results.
    #[error("there is no memory for {bytes} bytes of results")]
    NoMemory {
        /// How many were needed.
        bytes: usize,
    },
    /// The caller stopped it.
    #[error("stopped: nothing is returned")]
    Stopped,
}

impl ColumnError {
    /// The same of a part of a column of `all` rows, which so many lie before.
    pub(crate) fn of_part(mut self, before: u64, all: u64) -> Self {
        match &mut self {
            Self::UnknownId { row, .. }
            | Self::UnknownVersion { row, .. }
            | Self::RowId { row, .. }
            | Self::NullAad { row }
            | Self::Malformed { row, .. }
            | Self::NotUtf8 { row }
            | Self::OutOfBounds { row, .. } => *row += before,
            Self::NotOpened { first, rows, .. } => {
                *rows = all;
                first.iter_mut().for_each(|row| *row += before);
            }
            _ => {}
        }
        self
    }
}
