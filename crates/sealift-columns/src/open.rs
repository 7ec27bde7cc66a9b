//! Sealed rows to what they were.

use crate::format::{self, Header, RowId, TAG};
use crate::ids::MISSING;
use crate::keyring::{Class, Table};
use crate::scratch::{Scratch, append};
use crate::seal::ON_THIS_THREAD;
use crate::units::{Output, Sizes, Unit, outputs, units, work};
use crate::{
    ColumnError, ColumnOptions, FAILURES_LISTED, Keyring, Layout, Segment, check, check_keys,
};
use sealift_core::{
    Algorithm, Batch, Buffer, Column, Keys, Output as Results, Place, Status, Tags, Text,
};
use sealift_engine::Engine;
use std::mem;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use zeroize::Zeroize;

/// What becomes of rows that don't open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnError {
    /// An error names them, and nothing is returned.
    #[default]
    Raise,
    /// They are listed, and zeros.
    List,
}

/// What a column was opened to.
#[derive(Debug)]
pub struct Opened {
    /// Plaintexts, chunk by chunk.
    pub outputs: Vec<Output>,
    /// Rows that did not open, ascending, counted over all chunks: zeros in the outputs, or nothing.
    pub failed: Vec<u64>,
}

/// Opens the sealed rows of chunks under the keys and versions that their headers name, or in the layout of Spark under the
/// one key of each row's id. Rows without a value are empty in the results.
///
/// `stop` is asked between units of about a thousand rows, on the calling thread.
///
/// # Errors
/// Anything wrong with the columns; a stop; with [`OnError::Raise`] also rows that are no sealed rows, whose key the keyring
/// doesn't have, or that don't open. Plaintexts are wiped then.
pub fn open(
    engine: &Engine,
    keyring: &Keyring,
    chunks: &[Vec<Segment<'_>>],
    on_error: OnError,
    options: &ColumnOptions,
    stop: &mut dyn FnMut() -> bool,
) -> Result<Opened, ColumnError> {
    open_under(engine, &keyring.read(), chunks, on_error, options, stop)
}

/// The same under a keyring that is locked.
pub(crate) fn open_under(
    engine: &Engine,
    table: &Table,
    chunks: &[Vec<Segment<'_>>],
    on_error: OnError,
    options: &ColumnOptions,
    stop: &mut dyn FnMut() -> bool,
) -> Result<Opened, ColumnError> {
    let rows = check(chunks, options)?;
    let has_apart =
        |segment: &Segment<'_>| segment.apart.is_some() == (options.layout == Layout::Columns);
    if !chunks.iter().flatten().all(has_apart) {
        return Err(options
            .layout
            .wrong("needs columns of nonces and tags exactly where they are apart"));
    }
    check_keys(table, options.layout)?;
    let few = |segment: &Segment<'_>| {
        segment.ids.as_ref().map_or(vec![], |ids| ids.entries_of_few(table))
    };
    let few = chunks.iter().flatten().map(few).collect();
    let mut plan = Plan {
        table,
        few,
        layout: options.layout,
        engine,
        on_error,
        overhead: None,
        is_uneven: AtomicBool::new(false),
        failed: Mutex::default(),
    };
    plan.overhead = plan.first_overhead(chunks);
    let threads = options.threads.unwrap_or_else(|| engine.threads());
    match plan.open(chunks, rows, threads, stop) {
        Err(ColumnError::Stopped) if *plan.is_uneven.get_mut() => {
            plan.overhead = None;
            plan.open(chunks, rows, threads, stop)
        }
        opened => opened,
    }
}

/// What all units have in common.
struct Plan<'p> {
    table: &'p Table,
    /// Of each segment, the entries of its dictionary.
    few: Vec<Vec<u32>>,
    layout: Layout,
    engine: &'p Engine,
    on_error: OnError,
    /// Bytes that every sealed row is taken to have beside its text; none where each says it. Reading all headers first would
    /// be as much traffic of memory as opening.
    overhead: Option<usize>,
    /// Whether a row was found that has others.
    is_uneven: AtomicBool,
    failed: Mutex<Vec<u64>>,
}

impl Plan<'_> {
    fn open(
        &self,
        chunks: &[Vec<Segment<'_>>],
        rows: u64,
        threads: NonZeroUsize,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<Opened, ColumnError> {
        let mut made = outputs(chunks, self, None)?;
        let worker = || {
            let mut opener = Opener::new(self);
            Ok(move |unit| opener.open(unit))
        };
        let done = work(units(chunks, &mut made, None), threads, worker, stop);
        let mut failed =
            mem::take(&mut *self.failed.lock().unwrap_or_else(PoisonError::into_inner));
        failed.sort_unstable();
        let error = match done {
            Ok(()) if failed.is_empty() || self.on_error == OnError::List => {
                return Ok(Opened { outputs: made, failed });
            }
            Ok(()) => {
                let (count, first) =
                    (failed.len() as u64, failed.into_iter().take(FAILURES_LISTED));
                ColumnError::NotOpened { failed: count, rows, first: first.collect() }
            }
            Err(error) => error,
        };
        made.iter_mut().for_each(|output| output.bytes.zeroize());
        Err(error)
    }

    /// Bytes that the first sealed row has beside its text.
    fn first_overhead(&self, chunks: &[Vec<Segment<'_>>]) -> Option<usize> {
        match self.layout {
            Layout::Row => {}
            Layout::Spark => return Some(Algorithm::AesGcm.nonce_bytes() + TAG),
            Layout::Columns => return Some(0),
        }
        let segment = chunks.iter().flatten().find(|segment| segment.values.len > 0)?;
        let row = (0..segment.values.len).find(|row| segment.values.is_valid(*row))?;
        Some(format::parse(segment.values.rows.get(row)).ok()?.overhead())
    }
}

impl Sizes for Plan<'_> {
    fn common_overhead(&self, _segment: &Segment<'_>) -> Option<isize> {
        self.overhead.map(|overhead| -overhead.cast_signed())
    }

    fn size(&self, _index: usize, segment: &Segment<'_>, row: usize) -> usize {
        let row = segment.values.rows.get(row);
        format::parse(row).map_or(0, |header| row.len() - header.overhead())
    }
}

/// Opens units on one thread.
struct Opener<'p> {
    plan: &'p Plan<'p>,
    scratch: Scratch,
    /// Rows of the unit that have a value.
    rows: Vec<u32>,
    /// Those that are sealed rows, by what they are.
    found: Vec<Found>,
    /// The entry of each row where a column of ids gives it.
    entries: Vec<u32>,
    failed: Vec<u64>,
}

/// A sealed row, taken apart.
#[derive(Clone, Copy)]
struct Found {
    row: u32,
    key: u32,
    /// Bytes before the nonce.
    header: u32,
}

impl<'p> Opener<'p> {
    fn new(plan: &'p Plan<'p>) -> Self {
        let (rows, found, entries, failed) = (vec![], vec![], vec![], vec![]);
        Self { plan, scratch: Scratch::new(), rows, found, entries, failed }
    }

    fn open(&mut self, mut unit: Unit<'_, '_>) -> Result<(), ColumnError> {
        unit.segment.values.valid_rows(unit.start..unit.start + unit.len, &mut self.rows);
        match self.plan.layout {
            Layout::Row => self.find_by_headers(&unit)?,
            Layout::Spark | Layout::Columns => self.find_by_ids(&unit)?,
        }
        let found = mem::take(&mut self.found);
        let done = match self.plan.table.all_classes() {
            [class] => self.open_class(&mut unit, *class, &found),
            classes => classes.iter().try_for_each(|class| {
                let is_of = |found: &&Found| self.plan.table.class(found.key) == *class;
                let some: Vec<_> = found.iter().filter(is_of).copied().collect();
                self.open_class(&mut unit, *class, &some)
            }),
        };
        self.found = found;
        done
    }

    /// Reads the headers of a unit's rows.
    fn find_by_headers(&mut self, unit: &Unit<'_, '_>) -> Result<(), ColumnError> {
        self.found.clear();
        let (plan, rows) = (self.plan, unit.segment.values.rows);
        let mut last: Option<(Algorithm, RowId<'_>, u16, u32)> = None;
        for row in &self.rows {
            let sealed = rows.get(unit.start + *row as usize);
            let header = match format::parse(sealed) {
                Ok(header) => header,
                Err(reason) => {
                    let row = unit.first_row + u64::from(*row);
                    plan.refuse(&mut self.failed, row, ColumnError::Malformed { row, reason })?;
                    continue;
                }
            };
            if plan.overhead.is_some_and(|overhead| overhead != header.overhead()) {
                plan.is_uneven.store(true, Ordering::Relaxed);
                return Err(ColumnError::Stopped);
            }
            let key = match last {
                Some((algorithm, id, version, key))
                    if (algorithm, id, version)
                        == (header.algorithm, header.id, header.version) =>
                {
                    key
                }
                _ => match plan.find(&header, unit.first_row + u64::from(*row)) {
                    Ok(key) => key,
                    Err(error) => {
                        plan.refuse(&mut self.failed, unit.first_row + u64::from(*row), error)?;
                        continue;
                    }
                },
            };
            last = Some((header.algorithm, header.id, header.version, key));
            #[expect(clippy::cast_possible_truncation, reason = "a header has at most 259 bytes")]
            self.found.push(Found { row: *row, key, header: header.bytes as u32 });
        }
        Ok(())
    }

    /// Finds the keys of rows without headers.
    fn find_by_ids(&mut self, unit: &Unit<'_, '_>) -> Result<(), ColumnError> {
        self.found.clear();
        let (plan, segment) = (self.plan, unit.segment);
        let Some(ids) = &segment.ids else {
            return Err(plan.layout.wrong("records no key id: give key_ids"));
        };
        let few = &plan.few[unit.segment_index];
        ids.find_entries(plan.table, few, unit.start, &self.rows, &mut self.entries);
        for (row, entry) in self.rows.iter().zip(&self.entries) {
            let (at, of_column) = (unit.start + *row as usize, unit.first_row + u64::from(*row));
            if *entry == MISSING {
                plan.refuse(&mut self.failed, of_column, ids.explain(at, of_column))?;
            } else if let Some(reason) = plan.find_fault(segment, at, *entry) {
                plan.refuse(
                    &mut self.failed,
                    of_column,
                    ColumnError::Malformed { row: of_column, reason },
                )?;
            } else {
                self.found.push(Found { row: *row, key: plan.table.newest(*entry).key, header: 0 });
            }
        }
        Ok(())
    }

    fn open_class(
        &mut self,
        unit: &mut Unit<'_, '_>,
        class: Class,
        found: &[Found],
    ) -> Result<(), ColumnError> {
        if found.is_empty() {
            return Ok(());
        }
        let (segment, start, first_row) = (unit.segment, unit.start, unit.first_row);
        self.scratch.gather_keys(self.plan.table, class, found.iter().map(|found| found.key));
        self.scratch.statuses(found.len());
        let is_row = self.plan.layout == Layout::Row;
        let nonce_bytes = class.algorithm.nonce_bytes();
        let Scratch { keys, nonces, aad, status } = &mut self.scratch;
        nonces.clear();
        aad.clear();
        let (mut texts, mut tags) = (Vec::with_capacity(found.len()), vec![]);
        for found in found {
            let row = start + found.row as usize;
            let (header, rest) = segment.values.rows.get(row).split_at(found.header as usize);
            let (nonce, text) = match &segment.apart {
                Some(apart) => (apart.nonces.rows.get(row), rest),
                None => rest.split_at(nonce_bytes),
            };
            append(nonces, nonce);
            if is_row {
                append(aad.bytes(), header);
                aad.put_parts(segment, row);
            } else if let Some(part) = segment.aad.first() {
                aad.bytes().extend_from_slice(part.rows.get(row));
            }
            aad.finish();
            texts.push(Buffer::Borrowed(text));
            if let Some(apart) = &segment.apart {
                tags.push(Buffer::Borrowed(apart.tags.rows.get(row)));
            }
        }
        let is_apart = segment.apart.is_some();
        let tags =
            if is_apart { Tags::Apart(Column::Scattered(tags.into())) } else { Tags::Appended };
        let batch = Batch {
            algorithm: class.algorithm,
            aad: aad.column(),
            ..Batch::open(
                found.len(),
                Keys::Raw(Column::fixed(&keys[..], class.key_bytes)),
                Column::fixed(&nonces[..], nonce_bytes),
                Text::Apart(Column::Scattered(texts.into())),
                tags,
            )
        };
        self.rows.clear();
        self.rows.extend(found.iter().map(|found| found.row));
        let slots = Place::Scattered(unit.places.slots(unit.out, &self.rows).collect());
        let output = Results { text: slots, tags: Place::Empty, status };
        self.plan.engine.run(&batch, output, &ON_THIS_THREAD)?;
        let failed =
            found.iter().zip(&self.scratch.status).filter(|(_, status)| **status != Status::Ok);
        self.failed.extend(failed.map(|(found, _)| first_row + u64::from(found.row)));
        Ok(())
    }
}

impl Plan<'_> {
    /// The key of a header.
    fn find(&self, header: &Header<'_>, row: u64) -> Result<u32, ColumnError> {
        let entry = self.table.find_row_id(header.id);
        let id = || header.id.into();
        let entry = entry.ok_or_else(|| ColumnError::UnknownId { row, id: id() })?;
        let version = self.table.version(entry, header.version);
        let key = version
            .ok_or_else(|| ColumnError::UnknownVersion { row, id: id(), version: header.version })?
            .key;
        let algorithm = self.table.class(key).algorithm;
        if algorithm == header.algorithm {
            return Ok(key);
        }
        let reason =
            format!("its first byte says {}, and its key is for {algorithm}", header.algorithm);
        Err(ColumnError::Malformed { row, reason })
    }

    /// What is wrong with the lengths of a row without a header.
    fn find_fault(&self, segment: &Segment<'_>, row: usize, entry: u32) -> Option<String> {
        let Some(apart) = &segment.apart else {
            let len = segment.values.rows.len_of(row);
            let least = Algorithm::AesGcm.nonce_bytes() + TAG;
            return (len < least)
                .then(|| format!("it has {len} bytes, and nonce and tag alone are {least}"));
        };
        let algorithm = self.table.class(self.table.newest(entry).key).algorithm;
        let expected =
            [("nonce", &apart.nonces, algorithm.nonce_bytes()), ("tag", &apart.tags, TAG)];
        expected.into_iter().find_map(|(name, values, right)| {
            let len = if values.is_valid(row) { values.rows.len_of(row) } else { 0 };
            (len != right)
                .then(|| format!("its {name} has {len} bytes, and {algorithm} takes {right}"))
        })
    }

    /// A row that doesn't open: an error, or listed.
    #[cold]
    fn refuse(
        &self,
        failed: &mut Vec<u64>,
        row: u64,
        error: ColumnError,
    ) -> Result<(), ColumnError> {
        match self.on_error {
            OnError::Raise => Err(error),
            OnError::List => {
                failed.push(row);
                Ok(())
            }
        }
    }
}

impl Drop for Opener<'_> {
    fn drop(&mut self) {
        self.plan.failed.lock().unwrap_or_else(PoisonError::into_inner).append(&mut self.failed);
    }
}
