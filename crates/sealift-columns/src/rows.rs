//! Columns as Arrow lays them out, without Arrow's types.

use crate::ColumnError;
use std::ops::Range;

/// The byte string of each row.
#[derive(Clone, Copy, Debug)]
pub enum Rows<'a> {
    /// Row i lies between offsets i and i + 1; one more offset than rows.
    Offsets32(&'a [u8], &'a [u32]),
    /// The same with wide offsets.
    Offsets64(&'a [u8], &'a [u64]),
    /// Rows of the same length, one behind the other.
    Fixed(&'a [u8], usize),
    /// Views (Arrow's `BinaryView`): a length, and the bytes or where they lie in one of the buffers.
    Views(&'a [[u8; 16]], &'a [&'a [u8]]),
    /// The same bytes in each row.
    Same(&'a [u8]),
}

impl<'a> Rows<'a> {
    /// The bytes of one row.
    ///
    /// # Panics
    /// If there is no such row, or its place is not inside its buffer.
    #[must_use]
    #[inline(always)]
    pub fn get(&self, row: usize) -> &'a [u8] {
        match *self {
            Self::Offsets32(bytes, offsets) => {
                &bytes[offsets[row] as usize..offsets[row + 1] as usize]
            }
            Self::Offsets64(bytes, offsets) => &bytes[wide(offsets[row])..wide(offsets[row + 1])],
            Self::Fixed(bytes, len) => &bytes[row * len..][..len],
            Self::Views(views, buffers) => find_view(&views[row], buffers).unwrap_or_default(),
            Self::Same(bytes) => bytes,
        }
    }

    /// The length of one row, in bytes.
    #[must_use]
    #[inline(always)]
    pub(crate) fn len_of(&self, row: usize) -> usize {
        match *self {
            Self::Offsets32(_, offsets) => (offsets[row + 1] - offsets[row]) as usize,
            Self::Offsets64(_, offsets) => wide(offsets[row + 1] - offsets[row]),
            Self::Fixed(_, len) => len,
            Self::Views(views, _) => field(&views[row], 0),
            Self::Same(bytes) => bytes.len(),
        }
    }

    /// Some of the rows.
    fn slice(&self, start: usize, rows: usize) -> Self {
        match *self {
            Self::Offsets32(bytes, offsets) => {
                Self::Offsets32(bytes, &offsets[start..=start + rows])
            }
            Self::Offsets64(bytes, offsets) => {
                Self::Offsets64(bytes, &offsets[start..=start + rows])
            }
            Self::Fixed(bytes, len) => Self::Fixed(&bytes[start * len..], len),
            Self::Views(views, buffers) => Self::Views(&views[start..start + rows], buffers),
            Self::Same(bytes) => Self::Same(bytes),
        }
    }

    /// Whether there are so many rows inside their buffers; the first one that is not.
    pub(crate) fn check(&self, rows: usize) -> Result<(), usize> {
        match *self {
            Self::Offsets32(bytes, offsets) => {
                check_offsets(bytes, offsets, rows, |at| at as usize)
            }
            Self::Offsets64(bytes, offsets) => check_offsets(bytes, offsets, rows, wide),
            Self::Fixed(bytes, len) => match rows.checked_mul(len) {
                Some(needed) if needed <= bytes.len() => Ok(()),
                _ => Err(bytes.len() / len.max(1)),
            },
            Self::Views(views, buffers) => {
                let is_inside = |view: &[u8; 16]| find_view(view, buffers).is_some();
                let first = views.iter().take(rows).position(|view| !is_inside(view));
                if views.len() < rows { Err(views.len()) } else { first.map_or(Ok(()), Err) }
            }
            Self::Same(_) => Ok(()),
        }
    }
}

fn check_offsets<T: Copy + PartialOrd>(
    bytes: &[u8],
    offsets: &[T],
    rows: usize,
    place: impl Fn(T) -> usize,
) -> Result<(), usize> {
    if offsets.len() <= rows {
        return Err(offsets.len().saturating_sub(1));
    }
    let offsets = &offsets[..=rows];
    // Without a branch a row.
    let falls = offsets.windows(2).fold(false, |falls, pair| falls | (pair[0] > pair[1]));
    if !falls && place(offsets[rows]) <= bytes.len() {
        return Ok(());
    }
    let is_wrong = |pair: &[T]| pair[0] > pair[1] || place(pair[1]) > bytes.len();
    Err(offsets.windows(2).position(is_wrong).unwrap_or(0))
}

/// Offsets were checked against the length of a buffer.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "a place in a buffer fits the addresses")]
fn wide(offset: u64) -> usize {
    offset as usize
}

#[inline(always)]
fn field(view: &[u8; 16], at: usize) -> usize {
    u32::from_le_bytes([view[at], view[at + 1], view[at + 2], view[at + 3]]) as usize
}

/// The bytes of a view: up to 12 in it, more in a buffer.
#[inline(always)]
fn find_view<'a>(view: &'a [u8; 16], buffers: &[&'a [u8]]) -> Option<&'a [u8]> {
    let len = field(view, 0);
    if len <= 12 {
        return Some(&view[4..4 + len]);
    }
    let start = field(view, 12);
    buffers.get(field(view, 8))?.get(start..start.checked_add(len)?)
}

/// Which rows have a value: a bit each, the lowest of a byte first.
#[derive(Clone, Copy, Debug)]
pub struct Validity<'a> {
    /// The bits.
    pub bytes: &'a [u8],
    /// The bit of the first row.
    pub offset: usize,
}

impl Validity<'_> {
    /// Whether a row has a value.
    #[must_use]
    #[inline(always)]
    pub fn get(&self, row: usize) -> bool {
        let bit = self.offset + row;
        self.bytes[bit / 8] >> (bit % 8) & 1 == 1
    }

    pub(crate) fn check(&self, rows: usize) -> bool {
        self.bytes.len() * 8 >= self.offset + rows
    }
}

/// Rows of which some may be null.
#[derive(Clone, Copy, Debug)]
pub struct Values<'a> {
    /// Number of rows.
    pub len: usize,
    /// Their bytes.
    pub rows: Rows<'a>,
    /// Which are there; none for all.
    pub validity: Option<Validity<'a>>,
}

impl<'a> Values<'a> {
    /// The same bytes in each of so many rows.
    #[must_use]
    pub fn same(len: usize, bytes: &'a [u8]) -> Self {
        Self { len, rows: Rows::Same(bytes), validity: None }
    }

    /// Whether these are the same rows, at the same place.
    pub(crate) fn is_same(&self, other: &Values<'_>) -> bool {
        let validity =
            |values: &Values<'_>| values.validity.map(|bits| (bits.bytes.as_ptr(), bits.offset));
        self.len == other.len
            && validity(self) == validity(other)
            && match (self.rows, other.rows) {
                (Rows::Offsets32(one, start), Rows::Offsets32(two, other)) => {
                    one.as_ptr() == two.as_ptr() && start.as_ptr() == other.as_ptr()
                }
                (Rows::Offsets64(one, start), Rows::Offsets64(two, other)) => {
                    one.as_ptr() == two.as_ptr() && start.as_ptr() == other.as_ptr()
                }
                (Rows::Fixed(one, bytes), Rows::Fixed(two, others)) => {
                    one.as_ptr() == two.as_ptr() && bytes == others
                }
                (Rows::Views(one, _), Rows::Views(two, _)) => one.as_ptr() == two.as_ptr(),
                _ => false,
            }
    }

    /// Some of the rows.
    pub(crate) fn slice(&self, start: usize, rows: usize) -> Self {
        let validity =
            self.validity.map(|validity| Validity { offset: validity.offset + start, ..validity });
        Self { len: rows, rows: self.rows.slice(start, rows), validity }
    }

    /// Whether a row has a value.
    #[must_use]
    #[inline(always)]
    pub fn is_valid(&self, row: usize) -> bool {
        self.validity.is_none_or(|validity| validity.get(row))
    }

    /// Checks that the rows lie inside their buffers.
    pub(crate) fn check(&self, column: &'static str, first_row: u64) -> Result<(), ColumnError> {
        let outside = |row: usize| ColumnError::OutOfBounds { column, row: first_row + row as u64 };
        self.rows.check(self.len).map_err(outside)?;
        match self.validity {
            Some(validity) if !validity.check(self.len) => {
                Err(outside((8 * validity.bytes.len()).saturating_sub(validity.offset)))
            }
            _ => Ok(()),
        }
    }

    /// Puts the rows of a range that have a value where `to` is.
    pub(crate) fn valid_rows(&self, range: Range<usize>, to: &mut Vec<u32>) {
        to.clear();
        #[expect(clippy::cast_possible_truncation, reason = "a unit has few rows")]
        let rows = 0..range.len() as u32;
        match self.validity {
            None => to.extend(rows),
            Some(validity) => {
                to.extend(rows.filter(|row| validity.get(range.start + *row as usize)));
            }
        }
    }
}
