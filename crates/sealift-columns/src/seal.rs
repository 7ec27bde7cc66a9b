//! Columns to sealed rows.

use crate::format::{self, FIXED, RowId, TAG};
use crate::ids::MISSING;
use crate::keyring::{Class, Table};
use crate::nonces::NonceGenerator;
use crate::scratch::{Scratch, append, put};
use crate::units::{Output, Sizes, Unit, fixed_slots, outputs, units, work};
use crate::{
    ColumnError, ColumnOptions, Ids, Keyring, Layout, Rows, Segment, UNIT_ROWS, check, check_keys,
};
use sealift_core::{Algorithm, Batch, Buffer, Column, Keys, Output as Results, Place, Tags, Text};
use sealift_engine::{Engine, NonceCheck, Options};
use std::mem;
use std::num::NonZeroUsize;
use std::sync::atomic::Ordering;

/// Seals the rows of chunks under the newest key of each row's id, with nonces that are drawn. Rows without a value are
/// empty in the results.
///
/// `stop` is asked between units of about a thousand rows, on the calling thread.
///
/// # Errors
/// Anything wrong with the columns, before a row is worked; a key id that the keyring doesn't have; a key that would seal
/// more than it may; a stop. No results are left then.
pub fn seal(
    engine: &Engine,
    keyring: &Keyring,
    chunks: &[Vec<Segment<'_>>],
    options: &ColumnOptions,
    stop: &mut dyn FnMut() -> bool,
) -> Result<Vec<Output>, ColumnError> {
    seal_under(engine, keyring, &keyring.read(), chunks, options, stop)
}

/// The same under a keyring that is locked.
pub(crate) fn seal_under(
    engine: &Engine,
    keyring: &Keyring,
    table: &Table,
    chunks: &[Vec<Segment<'_>>],
    options: &ColumnOptions,
    stop: &mut dyn FnMut() -> bool,
) -> Result<Vec<Output>, ColumnError> {
    let rows = check(chunks, options)?;
    let few = chunks
        .iter()
        .flatten()
        .map(|segment| entries(segment, table))
        .collect::<Result<Vec<_>, _>>()?;
    check_keys(table, options.layout)?;
    let apart =
        (options.layout == Layout::Columns).then(|| table.common_nonce_bytes().unwrap_or(0));
    let plan = Plan { table, few, layout: options.layout, engine };
    let running = Running::new(keyring, rows);
    if table.may_pass_limit(running.before.saturating_add(rows)) {
        plan.check_limits(chunks, running.before)?;
    }
    let mut outputs = outputs(chunks, &plan, apart)?;
    let worker = || {
        let mut sealer = Sealer::new(&plan)?;
        Ok(move |unit| sealer.seal(unit))
    };
    let threads = options.threads.unwrap_or_else(|| engine.threads());
    work(units(chunks, &mut outputs, apart), threads, worker, stop)?;
    Ok(outputs)
}

/// Rows of calls that are running count against the limits of keys until they are counted by key.
struct Running<'k> {
    keyring: &'k Keyring,
    own: u64,
    /// Those of the calls that were running before it.
    before: u64,
}

impl<'k> Running<'k> {
    fn new(keyring: &'k Keyring, own: u64) -> Self {
        let before = keyring.in_flight.fetch_add(own, Ordering::AcqRel);
        Self { keyring, own, before }
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.keyring.in_flight.fetch_sub(self.own, Ordering::AcqRel);
    }
}

fn entries(segment: &Segment<'_>, table: &Table) -> Result<Vec<u32>, ColumnError> {
    let Some(ids) = &segment.ids else {
        let reason = "needs a key id for each row: give key_ids".to_owned();
        return Err(ColumnError::Layout { layout: "sealing", reason });
    };
    Ok(ids.entries_of_few(table))
}

/// What all units have in common.
struct Plan<'p> {
    table: &'p Table,
    /// Of each segment, the entries of its dictionary.
    few: Vec<Vec<u32>>,
    layout: Layout,
    engine: &'p Engine,
}

impl Plan<'_> {
    /// Bytes of a header under an integer id, or without the id where it is a string; none in other layouts.
    fn header_bytes(&self, is_integer: bool) -> usize {
        match (self.layout, is_integer) {
            (Layout::Spark | Layout::Columns, _) => 0,
            (Layout::Row, false) => FIXED,
            (Layout::Row, true) => FIXED + if self.table.has_wide_id() { 8 } else { 4 },
        }
    }

    /// Counts the rows of each key, and refuses a key that would pass its limit.
    /// `before` rows of other calls may be of any key.
    fn check_limits(&self, chunks: &[Vec<Segment<'_>>], before: u64) -> Result<(), ColumnError> {
        let mut counts = vec![0u64; self.table.key_count()];
        let (mut rows, mut found) = (vec![], vec![]);
        for (segment, few) in chunks.iter().flatten().zip(&self.few) {
            let Some(ids) = &segment.ids else { continue };
            for start in (0..segment.values.len).step_by(UNIT_ROWS) {
                let end = segment.values.len.min(start + UNIT_ROWS);
                segment.values.valid_rows(start..end, &mut rows);
                ids.find_entries(self.table, few, start, &rows, &mut found);
                for entry in found.iter().filter(|entry| **entry != MISSING) {
                    counts[self.table.newest(*entry).key as usize] += 1;
                }
            }
        }
        let passed = self.table.first_passed(&counts, before);
        passed.map_or(Ok(()), |(id, sealed)| Err(ColumnError::SealLimit { id, sealed }))
    }
}

impl Sizes for Plan<'_> {
    fn common_overhead(&self, segment: &Segment<'_>) -> Option<isize> {
        let is_integer = segment.ids.as_ref().is_none_or(Ids::are_integers);
        if self.layout == Layout::Columns {
            return Some(0);
        }
        let nonce = self.table.common_nonce_bytes()?;
        let is_common = is_integer || self.layout == Layout::Spark;
        is_common.then(|| (self.header_bytes(is_integer) + nonce + TAG).cast_signed())
    }

    fn size(&self, index: usize, segment: &Segment<'_>, row: usize) -> usize {
        let Some(ids) = &segment.ids else { return 0 };
        let id = if self.layout == Layout::Row { ids.string_len(row) } else { 0 };
        let nonce = self.table.common_nonce_bytes().unwrap_or_else(|| {
            let mut entry = vec![];
            ids.find_entries(self.table, &self.few[index], row, &[0], &mut entry);
            // An id without a key is refused when its unit is sealed.
            let known = entry.first().filter(|entry| **entry != MISSING);
            known.map_or(0, |entry| {
                self.table.class(self.table.newest(*entry).key).algorithm.nonce_bytes()
            })
        });
        segment.values.rows.len_of(row) + self.header_bytes(ids.are_integers()) + id + nonce + TAG
    }
}

/// Seals units on one thread.
struct Sealer<'p> {
    plan: &'p Plan<'p>,
    nonces: NonceGenerator,
    scratch: Scratch,
    /// Rows of the unit that have a value, and the entry of each.
    rows: Vec<u32>,
    entries: Vec<u32>,
    /// Those of one class, where there are several.
    class_rows: Vec<u32>,
    class_entries: Vec<u32>,
    /// Rows that were given to each key.
    counts: Vec<u64>,
}

impl<'p> Sealer<'p> {
    fn new(plan: &'p Plan<'p>) -> Result<Self, ColumnError> {
        Ok(Self {
            plan,
            nonces: NonceGenerator::new()?,
            scratch: Scratch::new(),
            rows: vec![],
            entries: vec![],
            class_rows: vec![],
            class_entries: vec![],
            counts: vec![0; plan.table.key_count()],
        })
    }

    fn seal(&mut self, mut unit: Unit<'_, '_>) -> Result<(), ColumnError> {
        let (table, segment) = (self.plan.table, unit.segment);
        let Some(ids) = &segment.ids else { return Ok(()) };
        segment.values.valid_rows(unit.start..unit.start + unit.len, &mut self.rows);
        let few = &self.plan.few[unit.segment_index];
        if !ids.find_entries(table, few, unit.start, &self.rows, &mut self.entries) {
            let unknown = self.entries.iter().position(|entry| *entry == MISSING).unwrap_or(0);
            let row = self.rows[unknown];
            return Err(ids.explain(unit.start + row as usize, unit.first_row + u64::from(row)));
        }
        let (rows, entries) = (mem::take(&mut self.rows), mem::take(&mut self.entries));
        let done = match table.all_classes() {
            [class] => self.seal_class(&mut unit, *class, &rows, &entries),
            classes => classes
                .iter()
                .try_for_each(|class| self.seal_some(&mut unit, *class, &rows, &entries)),
        };
        (self.rows, self.entries) = (rows, entries);
        done
    }

    /// Seals the rows whose keys are of a class.
    fn seal_some(
        &mut self,
        unit: &mut Unit<'_, '_>,
        class: Class,
        rows: &[u32],
        entries: &[u32],
    ) -> Result<(), ColumnError> {
        let table = self.plan.table;
        let (mut class_rows, mut class_entries) =
            (mem::take(&mut self.class_rows), mem::take(&mut self.class_entries));
        class_rows.clear();
        class_entries.clear();
        for (row, entry) in rows.iter().zip(entries) {
            if table.class(table.newest(*entry).key) == class {
                class_rows.push(*row);
                class_entries.push(*entry);
            }
        }
        let done = self.seal_class(unit, class, &class_rows, &class_entries);
        (self.class_rows, self.class_entries) = (class_rows, class_entries);
        done
    }

    fn seal_class(
        &mut self,
        unit: &mut Unit<'_, '_>,
        class: Class,
        rows: &[u32],
        entries: &[u32],
    ) -> Result<(), ColumnError> {
        if rows.is_empty() {
            return Ok(());
        }
        let table = self.plan.table;
        for entry in entries {
            self.counts[table.newest(*entry).key as usize] += 1;
        }
        self.scratch.gather_keys(
            table,
            class,
            entries.iter().map(|entry| table.newest(*entry).key),
        );
        let nonce_bytes = class.algorithm.nonce_bytes();
        self.scratch.nonces.resize(rows.len() * nonce_bytes, 0);
        match class.algorithm {
            // Equal rows become equal bytes, which is what this algorithm is for.
            Algorithm::AesGcmSiv => self.scratch.nonces.fill(0),
            _ => self.nonces.fill(&mut self.scratch.nonces),
        }
        let text = texts(unit.segment, unit.start, unit.len, rows);
        let apart = self.plan.layout == Layout::Columns;
        let (slots, tag_slots) = self.put_heads(unit, class, rows, entries);
        self.scratch.statuses(rows.len());
        let Scratch { keys, nonces, aad, status } = &mut self.scratch;
        let batch = Batch {
            algorithm: class.algorithm,
            aad: aad.column(),
            tags: if apart { Tags::Apart(Column::Empty) } else { Tags::Appended },
            ..Batch::seal(
                rows.len(),
                Keys::Raw(Column::fixed(&keys[..], class.key_bytes)),
                Column::fixed(&nonces[..], nonce_bytes),
                Text::Apart(text),
            )
        };
        let tags = if apart { Place::Scattered(tag_slots) } else { Place::Empty };
        let output = Results { text: Place::Scattered(slots), tags, status };
        self.plan.engine.run(&batch, output, &ON_THIS_THREAD)?;
        Ok(())
    }

    /// Writes header and nonce of each row and gives the places behind them, and those of tags that are apart; associated
    /// data are put on their column.
    fn put_heads<'o>(
        &mut self,
        unit: &'o mut Unit<'_, '_>,
        class: Class,
        rows: &'o [u32],
        entries: &[u32],
    ) -> (Vec<&'o mut [u8]>, Vec<&'o mut [u8]>) {
        let (table, is_row) = (self.plan.table, self.plan.layout == Layout::Row);
        let (format, is_wide) = (format::format_byte(class.algorithm), table.has_wide_id());
        let (segment, start) = (unit.segment, unit.start);
        let Scratch { nonces, aad, .. } = &mut self.scratch;
        let nonce_bytes = class.algorithm.nonce_bytes();
        if self.plan.layout == Layout::Columns {
            let places = fixed_slots(unit.nonces, nonce_bytes, rows);
            places
                .zip(nonces.chunks_exact(nonce_bytes))
                .for_each(|(to, nonce)| to.copy_from_slice(nonce));
        }
        let tags =
            if unit.tags.is_empty() { vec![] } else { fixed_slots(unit.tags, TAG, rows).collect() };
        let is_apart = self.plan.layout == Layout::Columns;
        let nonces = nonces.chunks_exact(nonce_bytes);
        aad.clear();
        let mut slots = Vec::with_capacity(rows.len());
        let each = rows.iter().zip(entries).zip(nonces).zip(unit.places.slots(unit.out, rows));
        for (((row, entry), nonce), mut slot) in each {
            if is_row {
                let version = table.newest(*entry).version;
                let from = aad.bytes().len();
                match table.header_id(*entry) {
                    RowId::Integer(id) => {
                        let header = format::integer_header(format, id, version, is_wide);
                        append(aad.bytes(), &header[..if is_wide { 12 } else { 8 }]);
                    }
                    RowId::Bytes(id) => format::put_string_header(format, id, version, aad.bytes()),
                }
                let header = &aad.bytes()[from..];
                let head;
                (head, slot) = slot.split_at_mut(header.len());
                put(head, header);
                aad.put_parts(segment, start + *row as usize);
            } else if let Some(part) = segment.aad.first() {
                aad.bytes().extend_from_slice(part.rows.get(start + *row as usize));
            }
            aad.finish();
            if !is_apart {
                let head;
                (head, slot) = slot.split_at_mut(nonce.len());
                put(head, nonce);
            }
            slots.push(slot);
        }
        (slots, tags)
    }
}

impl Drop for Sealer<'_> {
    fn drop(&mut self) {
        // Of units that failed, too: their nonces may have been used.
        self.plan.table.add_sealed(&self.counts);
    }
}

/// Some rows of a segment as a column: as they lie, if they are all of a range.
pub(crate) fn texts<'c>(
    segment: &'c Segment<'_>,
    start: usize,
    len: usize,
    rows: &[u32],
) -> Column<'c> {
    let end = start + len;
    match segment.values.rows {
        Rows::Offsets32(bytes, offsets) if rows.len() == len => {
            Column::offsets(bytes, &offsets[start..=end])
        }
        Rows::Offsets64(bytes, offsets) if rows.len() == len => {
            Column::offsets64(bytes, &offsets[start..=end])
        }
        Rows::Fixed(bytes, len_of_row) if rows.len() == len => {
            Column::fixed(&bytes[start * len_of_row..], len_of_row)
        }
        _ => {
            let text = |row: &u32| Buffer::Borrowed(segment.values.rows.get(start + *row as usize));
            Column::Scattered(rows.iter().map(text).collect())
        }
    }
}

/// Threads are this crate's affair.
pub(crate) const ON_THIS_THREAD: Options =
    Options { on: None, nonces: NonceCheck::Off, threads: Some(NonZeroUsize::MIN) };
