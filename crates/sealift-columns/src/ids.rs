//! Columns of key ids.

use crate::keyring::Table;
use crate::{ColumnError, KeyId, Validity, Values};

/// The key id of each row.
#[derive(Clone, Debug)]
pub struct Ids<'a> {
    /// The ids.
    pub kind: IdKind<'a>,
    /// Which are there; none for all. (Strings have their own.)
    pub validity: Option<Validity<'a>>,
}

/// The forms of a column of ids.
#[derive(Clone, Debug)]
pub enum IdKind<'a> {
    /// The same for all rows.
    Same(KeyId),
    /// Integers from 0 on.
    Integers(Integers<'a>),
    /// Byte strings.
    Strings(Values<'a>),
    /// A dictionary: for each row a place among some ids.
    Dictionary(Integers<'a>, Box<Ids<'a>>),
}

/// Integers of any width.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the type says it")]
pub enum Integers<'a> {
    I8(&'a [i8]),
    I16(&'a [i16]),
    I32(&'a [i32]),
    I64(&'a [i64]),
    U8(&'a [u8]),
    U16(&'a [u16]),
    U32(&'a [u32]),
    U64(&'a [u64]),
}

/// Does the same with the slice of each width.
macro_rules! each_width {
    ($integers:expr, $slice:ident => $do:expr) => {
        match $integers {
            Integers::I8($slice) => $do,
            Integers::I16($slice) => $do,
            Integers::I32($slice) => $do,
            Integers::I64($slice) => $do,
            Integers::U8($slice) => $do,
            Integers::U16($slice) => $do,
            Integers::U32($slice) => $do,
            Integers::U64($slice) => $do,
        }
    };
}

impl Integers<'_> {
    fn len(&self) -> usize {
        each_width!(self, slice => slice.len())
    }

    fn get(&self, row: usize) -> i128 {
        each_width!(self, slice => slice[row].into())
    }
}

impl Ids<'_> {
    /// The same id for all rows.
    #[must_use]
    pub fn same(id: KeyId) -> Self {
        Self { kind: IdKind::Same(id), validity: None }
    }

    /// How many there are; any number of the same.
    fn rows(&self) -> Option<usize> {
        match &self.kind {
            IdKind::Same(_) => None,
            IdKind::Integers(integers) | IdKind::Dictionary(integers, _) => Some(integers.len()),
            IdKind::Strings(values) => Some(values.len),
        }
    }

    /// Checks that there is one for each row, and lies inside its buffer.
    pub(crate) fn check(&self, rows: usize, first_row: u64) -> Result<(), ColumnError> {
        match &self.kind {
            IdKind::Same(_) | IdKind::Integers(_) => {}
            IdKind::Dictionary(_, ids) => ids.check(ids.rows().unwrap_or(1), 0)?,
            IdKind::Strings(values) => values.check("key_ids", first_row)?,
        }
        let found = self.rows().unwrap_or(rows);
        if found == rows && self.validity.is_none_or(|validity| validity.check(rows)) {
            return Ok(());
        }
        Err(ColumnError::Count { column: "key_ids", found, expected: rows })
    }

    /// The entries of a dictionary's ids in a keyring, or of the one id; empty for other forms.
    pub(crate) fn entries_of_few(&self, table: &Table) -> Vec<u32> {
        let mut entries = vec![];
        match &self.kind {
            IdKind::Same(id) => entries.push(table.find(id).unwrap_or(MISSING)),
            IdKind::Dictionary(_, ids) => {
                let rows = u32::try_from(ids.rows().unwrap_or(1)).unwrap_or(u32::MAX);
                let places: Vec<_> = (0..rows).collect();
                ids.find_entries(table, &ids.entries_of_few(table), 0, &places, &mut entries);
            }
            IdKind::Integers(_) | IdKind::Strings(_) => {}
        }
        entries
    }

    /// Finds the entries of some rows in a keyring; `few` is what [`entries_of_few`](Self::entries_of_few) gave. Returns
    /// false if one is not there.
    #[expect(
        clippy::unnecessary_fallible_conversions,
        clippy::useless_conversion,
        reason = "of some widths"
    )]
    pub(crate) fn find_entries(
        &self,
        table: &Table,
        few: &[u32],
        start: usize,
        rows: &[u32],
        to: &mut Vec<u32>,
    ) -> bool {
        to.clear();
        let at = |row: &u32| start + *row as usize;
        match &self.kind {
            IdKind::Same(_) => to.extend(rows.iter().map(|_| few[0])),
            IdKind::Integers(integers) => each_width!(integers, slice => {
                let find = |id: u64| table.find_integer(id);
                to.extend(rows.iter().map(|row| {
                    u64::try_from(slice[at(row)]).ok().and_then(find).unwrap_or(MISSING)
                }));
            }),
            IdKind::Strings(values) => to.extend(rows.iter().map(|row| {
                let row = at(row);
                let id = values.is_valid(row).then(|| table.find_name(values.rows.get(row)));
                id.flatten().unwrap_or(MISSING)
            })),
            IdKind::Dictionary(codes, _) => each_width!(codes, slice => {
                to.extend(rows.iter().map(|row| {
                    let code = usize::try_from(slice[at(row)]).ok();
                    code.and_then(|code| few.get(code)).copied().unwrap_or(MISSING)
                }));
            }),
        }
        if let Some(validity) = self.validity {
            for (entry, row) in to.iter_mut().zip(rows) {
                *entry = if validity.get(at(row)) { *entry } else { MISSING };
            }
        }
        to.iter().fold(true, |all, entry| all & (*entry != MISSING))
    }

    /// Why a row's id has no entry.
    #[cold]
    pub(crate) fn explain(&self, at: usize, row: u64) -> ColumnError {
        let wrong = |what: String, right| ColumnError::RowId { row, what, right };
        let null = || wrong("a null".to_owned(), "give an id for each row that has a value");
        if self.validity.is_some_and(|validity| !validity.get(at)) {
            return null();
        }
        match (self.get(at), &self.kind) {
            (Some(id), _) => ColumnError::UnknownId { row, id },
            (None, IdKind::Integers(integers)) => {
                wrong(integers.get(at).to_string(), "ids are 0 or more")
            }
            (None, IdKind::Dictionary(codes, ids)) => match ids.place(codes, at) {
                Some(place) => ids.explain(place, row),
                None => {
                    let len = ids.rows().unwrap_or(1);
                    let what = format!("code {} of a dictionary of {len}", codes.get(at));
                    wrong(what, "codes count the dictionary's values from 0")
                }
            },
            (None, _) => null(),
        }
    }

    /// The id of a row; none where it is null, negative, or not in the dictionary.
    #[must_use]
    pub fn get(&self, row: usize) -> Option<KeyId> {
        if self.validity.is_some_and(|validity| !validity.get(row)) {
            return None;
        }
        match &self.kind {
            IdKind::Same(id) => Some(id.clone()),
            IdKind::Integers(integers) => u64::try_from(integers.get(row)).ok().map(KeyId::Integer),
            IdKind::Strings(values) => {
                values.is_valid(row).then(|| KeyId::Bytes(values.rows.get(row).into()))
            }
            IdKind::Dictionary(codes, ids) => ids.get(ids.place(codes, row)?),
        }
    }

    /// The place among these ids, of a dictionary, that a code names.
    fn place(&self, codes: &Integers<'_>, row: usize) -> Option<usize> {
        let place = usize::try_from(codes.get(row)).ok()?;
        self.rows().is_none_or(|rows| place < rows).then_some(place)
    }

    /// Bytes of a row's id where it is a string.
    pub(crate) fn string_len(&self, row: usize) -> usize {
        match &self.kind {
            IdKind::Same(KeyId::Bytes(id)) => id.len(),
            IdKind::Same(KeyId::Integer(_)) | IdKind::Integers(_) => 0,
            IdKind::Strings(values) => values.rows.len_of(row).min(255),
            IdKind::Dictionary(codes, ids) => {
                ids.place(codes, row).map_or(0, |place| ids.string_len(place))
            }
        }
    }

    /// Whether ids are integers.
    pub(crate) fn are_integers(&self) -> bool {
        match &self.kind {
            IdKind::Same(id) => matches!(id, KeyId::Integer(_)),
            IdKind::Integers(_) => true,
            IdKind::Strings(_) => false,
            IdKind::Dictionary(_, ids) => ids.are_integers(),
        }
    }
}

/// No entry of a keyring.
pub(crate) const MISSING: u32 = u32::MAX;
