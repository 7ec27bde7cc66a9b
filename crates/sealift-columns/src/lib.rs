//! Columns of sealed rows that say by themselves how they open.
//!
//! A [`Keyring`] has the keys, by id and version. [`seal`] makes of each row of a column a sealed row in the documented
//! [format](format) and [`open`] gives the rows back, both by an engine and on several threads. Columns are lent as
//! [`Values`], which are Arrow's buffers without its types; nothing is copied but headers, nonces and keys.

mod error;
mod file;
pub mod format;
mod ids;
mod keyring;
mod nonces;
mod open;
mod rows;
mod scratch;
mod seal;
mod units;

pub use error::ColumnError;
pub use ids::{IdKind, Ids, Integers};
pub use keyring::{KeyId, Keyring};
pub use open::{OnError, Opened, open};
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
}

/// How a sealed row looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// The documented [format](format).
    #[default]
    Row,
    /// Nonce, ciphertext, tag: what Spark's `aes_encrypt` writes in mode GCM.
    Spark,
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
    /// The ids that rows with a value have, in their column of ids or else in their headers, and this keyring doesn't;
    /// each once.
    #[must_use]
    pub fn missing(&self, chunks: &[Vec<Segment<'_>>]) -> Vec<KeyId> {
        let (table, mut missing) = (self.read(), BTreeSet::new());
        for segment in chunks.iter().flatten() {
            let rows = (0..segment.values.len).filter(|row| segment.values.is_valid(*row));
            missing.extend(rows.filter_map(|row| {
                let id = match &segment.ids {
                    Some(ids) => ids.get(row),
                    None => format::parse(segment.values.rows.get(row)).ok().map(|header| header.id.into()),
                };
                id.filter(|id| table.find(id).is_none())
            }));
        }
        missing.into_iter().collect()
    }
}

/// Checks that what chunks are made of fits, before any row is worked.
fn check(chunks: &[Vec<Segment<'_>>], options: &ColumnOptions) -> Result<u64, ColumnError> {
    let mut rows = 0;
    for segment in chunks.iter().flatten() {
        segment.values.check("the column", rows)?;
        if let Some(ids) = &segment.ids {
            ids.check(segment.values.len, rows)?;
        }
        if options.layout == Layout::Spark && segment.aad.len() > 1 {
            let reason = "takes one part of associated data: give one value or one column".to_owned();
            return Err(ColumnError::Layout { layout: "spark", reason });
        }
        for aad in &segment.aad {
            aad.check("aad", rows)?;
            if aad.len != segment.values.len {
                let (found, expected) = (aad.len, segment.values.len);
                return Err(ColumnError::Count { column: "aad", found, expected });
            }
            let is_null = |row: &usize| segment.values.is_valid(*row) && !aad.is_valid(*row);
            if aad.validity.is_some()
                && let Some(row) = (0..aad.len).find(is_null)
            {
                return Err(ColumnError::NullAad { row: rows + row as u64 });
            }
        }
        rows += segment.values.len as u64;
    }
    Ok(rows)
}
