//! A column's rows in units, on several threads.

use crate::format::TAG;
use crate::{ColumnError, Segment};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::{mem, thread, vec};

/// Rows of a unit at most.
// IMPLEMENTATION NOTE: rows of 120 bytes, their results and the scratch of 1,024 stay in a second cache of 512 KiB.
pub(crate) const UNIT_ROWS: usize = 1_024;

/// Where the rows of a chunk lie in its results: one more than rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Offsets {
    /// In 32 bits, where the results of all chunks allow it.
    I32(Vec<i32>),
    /// In 64 bits.
    I64(Vec<i64>),
}

impl Offsets {
    /// All of them as the crate reads them.
    pub(crate) fn to_u64(&self) -> Vec<u64> {
        let rows = match self {
            Self::I32(offsets) => offsets.len(),
            Self::I64(offsets) => offsets.len(),
        };
        (0..rows).map(|row| self.get(row) as u64).collect()
    }

    /// The place of a row.
    #[inline(always)]
    #[expect(
        clippy::cast_sign_loss,
        clippy::cast_possible_truncation,
        reason = "places in a buffer"
    )]
    pub(crate) fn get(&self, row: usize) -> usize {
        match self {
            Self::I32(offsets) => offsets[row] as usize,
            Self::I64(offsets) => offsets[row] as usize,
        }
    }
}

impl Default for Offsets {
    fn default() -> Self {
        Self::I32(vec![0])
    }
}

/// The results of a chunk.
#[derive(Default)]
pub struct Output {
    /// All rows, one behind the other.
    pub bytes: Vec<u8>,
    /// Where each lies.
    pub offsets: Offsets,
    /// In [`Layout::Columns`](crate::Layout::Columns) the nonce of each row, zeros of one without a value; else empty.
    pub nonces: Vec<u8>,
    /// The same of tags.
    pub tags: Vec<u8>,
}

impl std::fmt::Debug for Output {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Output({} bytes)", self.bytes.len())
    }
}

/// How long the results of rows are.
pub(crate) trait Sizes {
    /// Bytes that each row's result has more than the row, where that is the same for all rows of a segment.
    fn common_overhead(&self, segment: &Segment<'_>) -> Option<isize>;

    /// Bytes of a row's result; the row has a value.
    fn size(&self, index: usize, segment: &Segment<'_>, row: usize) -> usize;
}

/// Makes room for the results of chunks. Rows without a value have none, but for nonces of so many bytes where these are apart,
/// and tags.
#[expect(clippy::cast_possible_truncation, reason = "ends that don't fit are thrown away")]
pub(crate) fn outputs(
    chunks: &[Vec<Segment<'_>>],
    sizes: &impl Sizes,
    nonces_apart: Option<usize>,
) -> Result<Vec<Output>, ColumnError> {
    let small = with_first(chunks)
        .map(|(first, chunk)| offsets(chunk, first, sizes, |end| end as i32))
        .collect::<Result<Vec<_>, _>>()?;
    let all: Vec<_> = if small.iter().all(|(_, end)| i32::try_from(*end).is_ok()) {
        small.into_iter().map(|(offsets, end)| (Offsets::I32(offsets), end)).collect()
    } else {
        let wide =
            with_first(chunks).map(|(first, chunk)| offsets(chunk, first, sizes, |end| end as i64));
        let wide = wide.map(|made| made.map(|(offsets, end)| (Offsets::I64(offsets), end)));
        wide.collect::<Result<_, _>>()?
    };
    let rows =
        |chunk: &Vec<Segment<'_>>| chunk.iter().map(|segment| segment.values.len).sum::<usize>();
    let with_rows = all.into_iter().zip(chunks.iter().map(rows));
    let output = |((offsets, end), rows)| {
        let (nonces, tags) = match nonces_apart {
            Some(bytes) => (zeros(rows * bytes)?, zeros(rows * TAG)?),
            None => (vec![], vec![]),
        };
        Ok(Output { bytes: zeros(end)?, offsets, nonces, tags })
    };
    with_rows.map(output).collect()
}

/// Chunks with the index of the first segment of each among all.
fn with_first<'c, 'a>(
    chunks: &'c [Vec<Segment<'a>>],
) -> impl Iterator<Item = (usize, &'c Vec<Segment<'a>>)> {
    chunks.iter().scan(0, |first, chunk| {
        *first += chunk.len();
        Some((*first - chunk.len(), chunk))
    })
}

/// The offsets of a chunk's results, and where they end.
fn offsets<T>(
    chunk: &[Segment<'_>],
    first: usize,
    sizes: &impl Sizes,
    place: impl Fn(usize) -> T,
) -> Result<(Vec<T>, usize), ColumnError> {
    let mut offsets = vec![];
    let rows = chunk.iter().map(|segment| segment.values.len).sum::<usize>();
    reserve(&mut offsets, rows + 1)?;
    let mut end = 0;
    offsets.push(place(0));
    for (index, segment) in (first..).zip(chunk) {
        let (values, overhead) = (&segment.values, sizes.common_overhead(segment));
        offsets.extend((0..values.len).map(|row| {
            if values.is_valid(row) {
                end += match overhead {
                    Some(overhead) => values.rows.len_of(row).saturating_add_signed(overhead),
                    None => sizes.size(index, segment, row),
                };
            }
            place(end)
        }));
    }
    Ok((offsets, end))
}

/// Makes room for so many more of a vector of results.
pub(crate) fn reserve<T>(to: &mut Vec<T>, more: usize) -> Result<(), ColumnError> {
    let bytes = more.saturating_mul(size_of::<T>());
    to.try_reserve(more).map_err(|_| ColumnError::NoMemory { bytes })
}

/// Zeros that the system gives, which are written only when they are used.
fn zeros(bytes: usize) -> Result<Vec<u8>, ColumnError> {
    Vec::<u8>::new().try_reserve_exact(bytes).map_err(|_| ColumnError::NoMemory { bytes })?;
    Ok(vec![0; bytes])
}

/// Some rows of a segment, and where their results go.
pub(crate) struct Unit<'u, 'a> {
    pub(crate) segment: &'u Segment<'a>,
    /// Which segment of all.
    pub(crate) segment_index: usize,
    /// The first row, in the segment.
    pub(crate) start: usize,
    pub(crate) len: usize,
    /// The first row, in the column.
    pub(crate) first_row: u64,
    pub(crate) out: &'u mut [u8],
    /// Nonces and tags of its rows where they are apart, else nothing.
    pub(crate) nonces: &'u mut [u8],
    pub(crate) tags: &'u mut [u8],
    pub(crate) places: Places<'u>,
}

/// Where the results of a unit's rows lie.
#[derive(Clone, Copy)]
pub(crate) struct Places<'u> {
    offsets: &'u Offsets,
    /// The first row, in the chunk.
    in_chunk: usize,
}

impl<'u> Places<'u> {
    /// The places of some rows in the unit's results, ascending.
    pub(crate) fn slots<'o>(
        self,
        out: &'o mut [u8],
        rows: &'o [u32],
    ) -> impl Iterator<Item = &'o mut [u8]> + use<'u, 'o> {
        let (offsets, in_chunk, base) =
            (self.offsets, self.in_chunk, self.offsets.get(self.in_chunk));
        let (mut rest, mut at) = (out, 0);
        rows.iter().map(move |row| {
            let row = in_chunk + *row as usize;
            let (start, end) = (offsets.get(row) - base, offsets.get(row + 1) - base);
            let (slot, behind) = mem::take(&mut rest)[start - at..].split_at_mut(end - start);
            (rest, at) = (behind, end);
            slot
        })
    }
}

/// The places of some rows, ascending, of a column whose rows have `bytes` each.
pub(crate) fn fixed_slots<'o>(
    column: &'o mut [u8],
    bytes: usize,
    rows: &'o [u32],
) -> impl Iterator<Item = &'o mut [u8]> {
    let (mut rest, mut next) = (column, 0);
    rows.iter().map(move |row| {
        let row = *row as usize;
        let (slot, behind) = mem::take(&mut rest)[(row - next) * bytes..].split_at_mut(bytes);
        (rest, next) = (behind, row + 1);
        slot
    })
}

/// The units of chunks.
pub(crate) fn units<'u, 'a>(
    chunks: &'u [Vec<Segment<'a>>],
    outputs: &'u mut [Output],
    nonces_apart: Option<usize>,
) -> Vec<Unit<'u, 'a>> {
    let (nonce_bytes, tag_bytes) = nonces_apart.map_or((0, 0), |bytes| (bytes, TAG));
    let (mut units, mut first_row, mut segment_index) = (vec![], 0, 0);
    for (chunk, Output { bytes, offsets, nonces, tags }) in chunks.iter().zip(outputs) {
        let (mut rest, mut nonces, mut tags) = (&mut bytes[..], &mut nonces[..], &mut tags[..]);
        let (offsets, mut in_chunk) = (&*offsets, 0);
        for segment in chunk {
            for start in (0..segment.values.len).step_by(UNIT_ROWS) {
                let len = UNIT_ROWS.min(segment.values.len - start);
                units.push(Unit {
                    segment,
                    segment_index,
                    start,
                    len,
                    first_row,
                    out: split_off(&mut rest, offsets.get(in_chunk + len) - offsets.get(in_chunk)),
                    nonces: split_off(&mut nonces, len * nonce_bytes),
                    tags: split_off(&mut tags, len * tag_bytes),
                    places: Places { offsets, in_chunk },
                });
                in_chunk += len;
                first_row += len as u64;
            }
            segment_index += 1;
        }
    }
    units
}

/// Takes the first bytes off.
fn split_off<'u>(rest: &mut &'u mut [u8], bytes: usize) -> &'u mut [u8] {
    let (first, behind) = mem::take(rest).split_at_mut(bytes);
    *rest = behind;
    first
}

/// Gives units to workers on several threads, the calling one among them, which asks between units whether to stop.
///
/// # Errors
/// That of the first unit, by row, that was refused.
pub(crate) fn work<'u, 'a, W>(
    units: Vec<Unit<'u, 'a>>,
    threads: NonZeroUsize,
    worker: impl Fn() -> Result<W, ColumnError> + Sync,
    stop: &mut dyn FnMut() -> bool,
) -> Result<(), ColumnError>
where
    W: FnMut(Unit<'u, 'a>) -> Result<(), ColumnError>,
{
    let helpers = (threads.get() - 1).min(units.len().saturating_sub(1) / UNITS_A_THREAD);
    let queue = Queue {
        units: Mutex::new(units.into_iter()),
        is_over: AtomicBool::new(false),
        error: Mutex::new(None),
    };
    thread::scope(|scope| {
        for _ in 0..helpers {
            // A system without another thread: the calling one does all.
            let _ =
                thread::Builder::new().spawn_scoped(scope, || queue.drain(&worker, &mut || false));
        }
        queue.drain(&worker, stop);
    });
    let error = queue.error.into_inner().unwrap_or_else(PoisonError::into_inner);
    error.map_or(Ok(()), |(_, error)| Err(error))
}

/// A thread takes longer to begin than a few units take.
const UNITS_A_THREAD: usize = 4;

struct Queue<'u, 'a> {
    units: Mutex<vec::IntoIter<Unit<'u, 'a>>>,
    is_over: AtomicBool,
    /// The first row of a unit that was refused, and why.
    error: Mutex<Option<(u64, ColumnError)>>,
}

impl<'u, 'a> Queue<'u, 'a> {
    /// Works units until there are no more.
    fn drain<W>(
        &self,
        worker: &(impl Fn() -> Result<W, ColumnError> + Sync),
        stop: &mut dyn FnMut() -> bool,
    ) where
        W: FnMut(Unit<'u, 'a>) -> Result<(), ColumnError>,
    {
        let mut worker = match worker() {
            Ok(worker) => worker,
            Err(error) => return self.end(0, error),
        };
        while !self.is_over.load(Ordering::Relaxed)
            && let Some(unit) = self.take()
        {
            let first_row = unit.first_row;
            if let Err(error) = worker(unit) {
                return self.end(first_row, error);
            }
            if stop() {
                return self.end(0, ColumnError::Stopped);
            }
        }
    }

    fn take(&self) -> Option<Unit<'u, 'a>> {
        self.units.lock().unwrap_or_else(PoisonError::into_inner).next()
    }

    fn end(&self, row: u64, error: ColumnError) {
        self.is_over.store(true, Ordering::Relaxed);
        let mut first = self.error.lock().unwrap_or_else(PoisonError::into_inner);
        if first.as_ref().is_none_or(|(other, _)| row < *other) {
            *first = Some((row, error));
        }
    }
}
