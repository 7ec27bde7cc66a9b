//! Columns of sealed rows that say by themselves how they open.
//!
//! A [`Keyring`] has the keys, by id and version. [`seal`] makes of each row of a column a sealed row in the documented
//! [`format`](mod@format) and [`open`] gives the rows back, both by an engine and on several threads. Columns are lent as
//! [`Values`], which are Arrow's buffers without its types; nothing is copied but headers, nonces and keys.

mod error;
mod file;
pub mod format;
mod ids;
mod keyring;
mod open;
mod reseal;
mod rows;
mod scratch;
mod seal;
mod units;

pub use error::ColumnError;
pub use ids::{IdKind, Ids, Integers};
pub use keyring::{KeyId, Keyring};
pub use open::{OnError, Opened, open};
pub use reseal::{Reseal, reseal};
pub use rows::{Rows, Validity, Values};
pub use seal::seal;
pub use units::{Offsets, Output};

pub(crate) use units::UNIT_ROWS;

use std::collections::BTreeSet;
use std::num::NonZeroUsize;

/// Rows that lie behind each other in a chunk: with their ids and associated data, which may be cut otherwise.
#[derive(Clone, Debug)]
pub struct Segment<'a> {
    /// Plaintexts or sealed rows.
    pub values: Values<'a>,
    /// The key id of each row; none where the rows have it in their headers.
    pub ids: Option<Ids<'a>>,
    /// Associated data of each row, in parts.
    pub aad: Vec<Values<'a>>,
    /// Where nonces and tags of sealed rows are, in [`Layout::Columns`].
    pub apart: Option<Apart<'a>>,
}

/// Columns of nonces and tags beside one of ciphertexts.
#[derive(Clone, Copy, Debug)]
pub struct Apart<'a> {
    /// As long as the keys' algorithm takes them.
    pub nonces: Values<'a>,
    /// 16 bytes each.
    pub tags: Values<'a>,
}

/// How a sealed row looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// The documented [`format`](mod@format).
    #[default]
    Row,
    /// Nonce, ciphertext, tag: what Spark's `aes_encrypt` writes in mode GCM.
    Spark,
    /// The ciphertext alone, with nonce and tag in columns of their own.
    Columns,
}

impl Layout {
    fn name(self) -> &'static str {
        match self {
            Self::Row => "row",
            Self::Spark => "spark",
            Self::Columns => "columns",
        }
    }

    /// An error of this layout.
    fn wrong(self, reason: &str) -> ColumnError {
        ColumnError::Layout { layout: self.name(), reason: reason.to_owned() }
    }
}

/// How a column is worked.
#[derive(Clone, Copy, Debug, Default)]
pub struct ColumnOptions {
    /// How sealed rows look.
    pub layout: Layout,
    /// Threads, the calling one among them; none for those of the engine.
    pub threads: Option<NonZeroUsize>,
}

/// Rows that did not open and are listed in an error, at most.
pub const FAILURES_LISTED: usize = 100;

impl Keyring {
    /// The ids, each once, that rows with a value have in their column of ids and this keyring doesn't, or else have in their
    /// headers with a version that this keyring doesn't have.
    #[must_use]
    pub fn missing(&self, chunks: &[Vec<Segment<'_>>]) -> Vec<KeyId> {
        let (table, mut missing) = (self.read(), BTreeSet::new());
        for segment in chunks.iter().flatten() {
            let ids_fit =
                segment.ids.as_ref().is_none_or(|ids| ids.check(segment.values.len, 0).is_ok());
            if segment.values.check("the column", 0).is_err() || !ids_fit {
                // Sealing or opening it says what is wrong.
                return vec![];
            }
            let rows = (0..segment.values.len).filter(|row| segment.values.is_valid(*row));
            missing.extend(rows.filter_map(|row| {
                if let Some(ids) = &segment.ids {
                    return ids.get(row).filter(|id| table.find(id).is_none());
                }
                let header = format::parse(segment.values.rows.get(row)).ok()?;
                let entry = table.find_row_id(header.id);
                let version = entry.and_then(|entry| table.version(entry, header.version));
                version.is_none().then(|| header.id.into())
            }));
        }
        missing.into_iter().collect()
    }
}

/// Checks that a layout without headers has keys that it can do without.
fn check_keys(table: &keyring::Table, layout: Layout) -> Result<(), ColumnError> {
    if layout == Layout::Row {
        return Ok(());
    }
    if table.entries.iter().any(|entry| !entry.has_one_version()) {
        return Err(layout.wrong("records no version: give a keyring with one version of each key"));
    }
    let is_gcm = |class: &keyring::Class| class.algorithm == sealift_core::Algorithm::AesGcm;
    match layout {
        Layout::Spark if !table.all_classes().iter().all(is_gcm) => {
            Err(layout.wrong("is AES-GCM, and the keyring has keys for another algorithm"))
        }
        _ if table.common_nonce_bytes().is_none() && !table.entries.is_empty() => {
            Err(layout.wrong("takes keys whose nonces are of one length"))
        }
        _ => Ok(()),
    }
}

/// As many bytes as the length before a part of associated data can say.
const AAD_PART_BYTES_MAX: usize = u32::MAX as usize;

/// Checks that what chunks are made of fits, before any row is worked.
fn check(chunks: &[Vec<Segment<'_>>], options: &ColumnOptions) -> Result<u64, ColumnError> {
    let mut rows = 0;
    for segment in chunks.iter().flatten() {
        segment.values.check("the column", rows)?;
        if let Some(ids) = &segment.ids {
            ids.check(segment.values.len, rows)?;
        }
        if options.layout != Layout::Row && segment.aad.len() > 1 {
            let reason = "takes one part of associated data: give one value or one column";
            return Err(options.layout.wrong(reason));
        }
        for aad in &segment.aad {
            aad.check("aad", rows)?;
            if aad.len != segment.values.len {
                let (found, expected) = (aad.len, segment.values.len);
                return Err(ColumnError::Count { column: "aad", found, expected });
            }
            if (0..aad.len).any(|row| aad.rows.len_of(row) > AAD_PART_BYTES_MAX) {
                let reason = "takes parts of associated data of less than 4 GiB: hash longer ones";
                return Err(options.layout.wrong(reason));
            }
            let is_null = |row: &usize| segment.values.is_valid(*row) && !aad.is_valid(*row);
            if aad.validity.is_some()
                && let Some(row) = (0..aad.len).find(is_null)
            {
                return Err(ColumnError::NullAad { row: rows + row as u64 });
            }
        }
        for (column, values) in
            segment.apart.iter().flat_map(|apart| [("nonce", apart.nonces), ("tag", apart.tags)])
        {
            values.check(column, rows)?;
            if values.len != segment.values.len {
                return Err(ColumnError::Count {
                    column,
                    found: values.len,
                    expected: segment.values.len,
                });
            }
        }
        rows += segment.values.len as u64;
    }
    Ok(rows)
}
