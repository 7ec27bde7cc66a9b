//! Sealed rows to rows under the newest keys.

use crate::format::{self, RowId};
use crate::keyring::Table;
use crate::open::open_under;
use crate::seal::seal_under;
use crate::units::{Offsets, Output, reserve};
use crate::{
    ColumnError, ColumnOptions, IdKind, Ids, Integers, Keyring, OnError, Rows, Segment, Validity,
    Values, check,
};
use sealift_engine::Engine;
use zeroize::Zeroize;

/// Which rows are sealed again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reseal {
    /// Those that the newest version of their key did not seal; the others stay as they are.
    #[default]
    Outdated,
    /// All of them.
    All,
}

/// Seals the rows of chunks again under the newest version of each row's key. Their layout is [`Layout::Row`](crate::Layout),
/// whatever the options say. Plaintexts of some 65,000 rows are in memory at a time.
///
/// # Errors
/// As for [`open`](crate::open) and [`seal`](crate::seal).
pub fn reseal(
    engine: &Engine,
    keyring: &Keyring,
    chunks: &[Vec<Segment<'_>>],
    which: Reseal,
    options: &ColumnOptions,
    stop: &mut dyn FnMut() -> bool,
) -> Result<Vec<Output>, ColumnError> {
    let options = ColumnOptions { layout: crate::Layout::Row, ..*options };
    let all = check(chunks, &options)?;
    let table = keyring.read();
    let mut part = Part {
        engine,
        keyring,
        table: &table,
        which,
        options,
        ids: RowIds::default(),
        outdated: vec![],
    };
    let (mut first_row, mut made) = (0, vec![]);
    for chunk in chunks {
        let mut chunk_made = Chunk::default();
        for segment in chunk {
            for start in (0..segment.values.len).step_by(PART_ROWS) {
                let rows = PART_ROWS.min(segment.values.len - start);
                let resealed = part.reseal(segment, start, rows, &mut chunk_made, stop);
                resealed.map_err(|error| error.of_part(first_row, all))?;
                first_row += rows as u64;
            }
        }
        made.push(chunk_made);
    }
    let is_small = made.iter().all(|chunk| i32::try_from(chunk.bytes.len()).is_ok());
    Ok(made.into_iter().map(|chunk| chunk.into_output(is_small)).collect())
}

const PART_ROWS: usize = 1 << 16;

/// What is made of a chunk.
#[derive(Default)]
struct Chunk {
    bytes: Vec<u8>,
    /// Where each row ends.
    ends: Vec<i64>,
}

impl Chunk {
    fn into_output(self, is_small: bool) -> Output {
        let offsets = std::iter::once(0).chain(self.ends);
        #[expect(clippy::cast_possible_truncation, reason = "asked before")]
        let offsets = match is_small {
            true => Offsets::I32(offsets.map(|end| end as i32).collect()),
            false => Offsets::I64(offsets.collect()),
        };
        Output { bytes: self.bytes, offsets, ..Output::default() }
    }
}

struct Part<'p> {
    engine: &'p Engine,
    keyring: &'p Keyring,
    table: &'p Table,
    which: Reseal,
    options: ColumnOptions,
    ids: RowIds,
    /// A bit for each row.
    outdated: Vec<u8>,
}

impl Part<'_> {
    /// Appends rows of a segment to what is made of its chunk.
    fn reseal(
        &mut self,
        segment: &Segment<'_>,
        start: usize,
        rows: usize,
        made: &mut Chunk,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<(), ColumnError> {
        self.find_outdated(&segment.values, start, rows)?;
        let validity = Some(Validity { bytes: &self.outdated, offset: 0 });
        let aad: Vec<_> = segment.aad.iter().map(|part| part.slice(start, rows)).collect();
        let values = Values { validity, ..segment.values.slice(start, rows) };
        let sealed = Segment { values, ids: None, aad: aad.clone(), apart: None };
        let opened = open_under(
            self.engine,
            self.table,
            &[vec![sealed]],
            OnError::Raise,
            &self.options,
            stop,
        )?;
        let mut texts = opened.outputs.into_iter().next().unwrap_or_default();
        let offsets = texts.offsets.to_u64();
        let rows_of_texts = Rows::Offsets64(&texts.bytes, &offsets);
        let plain = Segment {
            values: Values { rows: rows_of_texts, ..values },
            ids: Some(Ids { kind: self.ids.kind(self.table.has_names()), validity }),
            aad,
            apart: None,
        };
        let resealed =
            seal_under(self.engine, self.keyring, self.table, &[vec![plain]], &self.options, stop);
        texts.bytes.zeroize();
        let resealed = resealed?.into_iter().next().unwrap_or_default();
        reserve(&mut made.ends, rows)?;
        for row in 0..rows {
            let old =
                segment.values.is_valid(start + row).then(|| segment.values.rows.get(start + row));
            let bytes = match values.is_valid(row) {
                true => &resealed.bytes[resealed.offsets.get(row)..resealed.offsets.get(row + 1)],
                false => old.unwrap_or_default(),
            };
            reserve(&mut made.bytes, bytes.len())?;
            made.bytes.extend_from_slice(bytes);
            made.ends.push(made.bytes.len() as i64);
        }
        Ok(())
    }

    /// Reads headers: the id of each row, and whether another version than its newest sealed it.
    fn find_outdated(
        &mut self,
        values: &Values<'_>,
        start: usize,
        rows: usize,
    ) -> Result<(), ColumnError> {
        self.ids.clear();
        self.outdated.clear();
        self.outdated.resize(rows.div_ceil(8), 0);
        for at in 0..rows {
            if !values.is_valid(start + at) {
                self.ids.push(RowId::Integer(0));
                continue;
            }
            let row = at as u64;
            let header = format::parse(values.rows.get(start + at))
                .map_err(|reason| ColumnError::Malformed { row, reason })?;
            let entry = self.table.find_row_id(header.id);
            let entry =
                entry.ok_or_else(|| ColumnError::UnknownId { row, id: header.id.into() })?;
            let is_outdated =
                self.which == Reseal::All || self.table.newest(entry).version != header.version;
            self.outdated[at / 8] |= u8::from(is_outdated) << (at % 8);
            self.ids.push(header.id);
        }
        Ok(())
    }
}

/// The ids of rows, all integers or all strings.
#[derive(Default)]
struct RowIds {
    integers: Vec<u64>,
    names: Vec<u8>,
    /// Where each name lies.
    ends: Vec<u64>,
}

impl RowIds {
    fn clear(&mut self) {
        self.integers.clear();
        self.names.clear();
        self.ends.clear();
        self.ends.push(0);
    }

    fn push(&mut self, id: RowId<'_>) {
        match id {
            RowId::Integer(id) => self.integers.push(id),
            RowId::Bytes(name) => {
                self.integers.push(0);
                self.names.extend_from_slice(name);
            }
        }
        self.ends.push(self.names.len() as u64);
    }

    fn kind(&self, are_strings: bool) -> IdKind<'_> {
        if !are_strings {
            return IdKind::Integers(Integers::U64(&self.integers));
        }
        let rows = Rows::Offsets64(&self.names, &self.ends);
        IdKind::Strings(Values { len: self.integers.len(), rows, validity: None })
    }
}
