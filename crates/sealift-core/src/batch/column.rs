use crate::BatchError;
use bytes::Bytes;
use std::borrow::Cow;
use std::ops::Deref;
use std::ops::Range;

/// Bytes that are borrowed for a call or shared for as long as someone holds them.
#[derive(Clone)]
pub enum Buffer<'a> {
    /// Borrowed from the caller.
    Borrowed(&'a [u8]),
    /// Kept alive by a reference count.
    Shared(Bytes),
}

impl AsRef<[u8]> for Buffer<'_> {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Borrowed(bytes) => bytes,
            Self::Shared(bytes) => bytes,
        }
    }
}

impl std::fmt::Debug for Buffer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Buffer({} bytes)", self.as_ref().len())
    }
}

impl<'a> From<&'a [u8]> for Buffer<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::Borrowed(bytes)
    }
}

impl<'a, const N: usize> From<&'a [u8; N]> for Buffer<'a> {
    fn from(bytes: &'a [u8; N]) -> Self {
        Self::Borrowed(bytes)
    }
}

impl<'a> From<&'a Vec<u8>> for Buffer<'a> {
    fn from(bytes: &'a Vec<u8>) -> Self {
        Self::Borrowed(bytes)
    }
}

impl From<Bytes> for Buffer<'_> {
    fn from(bytes: Bytes) -> Self {
        Self::Shared(bytes)
    }
}

impl From<Vec<u8>> for Buffer<'_> {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Shared(bytes.into())
    }
}

/// A buffer for each message.
#[derive(Clone, Debug)]
pub enum Buffers<'a> {
    /// Of this column alone.
    Own(Vec<Buffer<'a>>),
    /// Of another column. (A `Cow` of them could not be shortened in its lifetime.)
    Lent(&'a [Buffer<'a>]),
}

impl<'a> Deref for Buffers<'a> {
    type Target = [Buffer<'a>];

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Own(buffers) => buffers,
            Self::Lent(buffers) => buffers,
        }
    }
}

impl<'a> From<Vec<Buffer<'a>>> for Buffers<'a> {
    fn from(buffers: Vec<Buffer<'a>>) -> Self {
        Self::Own(buffers)
    }
}

impl<'a> FromIterator<Buffer<'a>> for Buffers<'a> {
    fn from_iter<I: IntoIterator<Item = Buffer<'a>>>(buffers: I) -> Self {
        Self::Own(buffers.into_iter().collect())
    }
}

/// The byte string of every message of a batch.
#[derive(Clone, Debug)]
pub enum Column<'a> {
    /// No bytes for any message.
    Empty,
    /// The same bytes for all.
    Same(Buffer<'a>),
    /// All in one buffer.
    Packed {
        /// The buffer.
        buffer: Buffer<'a>,
        /// Where each message lies in it.
        layout: Layout<'a>,
    },
    /// A buffer for each message.
    Scattered(Buffers<'a>),
}

impl Column<'_> {
    /// The same in borrowed buffers.
    pub(crate) fn borrowed(&self) -> Column<'_> {
        match self {
            Self::Empty => Column::Empty,
            Self::Same(buffer) => Column::Same(Buffer::Borrowed(buffer.as_ref())),
            Self::Packed { buffer, layout } => Column::Packed {
                buffer: Buffer::Borrowed(buffer.as_ref()),
                layout: layout.borrowed(),
            },
            Self::Scattered(buffers) => Column::Scattered(Buffers::Lent(buffers)),
        }
    }
}

impl<'a> Column<'a> {
    /// Messages of `len` bytes, one after the other.
    pub fn fixed(buffer: impl Into<Buffer<'a>>, len: usize) -> Self {
        Self::strided(buffer, len, len)
    }

    /// Messages of `len` bytes, `stride` bytes from one start to the next.
    pub fn strided(buffer: impl Into<Buffer<'a>>, stride: usize, len: usize) -> Self {
        Self::Packed { buffer: buffer.into(), layout: Layout::Fixed { stride, len } }
    }

    /// Messages between consecutive offsets; one more offset than messages.
    pub fn offsets(buffer: impl Into<Buffer<'a>>, offsets: impl Into<Cow<'a, [u32]>>) -> Self {
        Self::Packed { buffer: buffer.into(), layout: Layout::Offsets32(offsets.into()) }
    }

    /// The same with wide offsets, for buffers of 4 GiB and more.
    pub fn offsets64(buffer: impl Into<Buffer<'a>>, offsets: impl Into<Cow<'a, [u64]>>) -> Self {
        Self::Packed { buffer: buffer.into(), layout: Layout::Offsets64(offsets.into()) }
    }

    /// The bytes of one message.
    ///
    /// # Panics
    /// If the column was never checked and has no such message.
    #[must_use]
    #[inline(always)]
    pub fn get(&self, message: usize) -> &[u8] {
        match self {
            Self::Empty => &[],
            Self::Same(buffer) => buffer.as_ref(),
            Self::Packed { buffer, layout } => &buffer.as_ref()[layout.range(message)],
            Self::Scattered(buffers) => buffers[message].as_ref(),
        }
    }

    /// Checks that there are `messages` and that each lies inside its buffer, and gives the one length that all have, when
    /// the column's form says so.
    #[inline(always)]
    pub(crate) fn check(
        &self,
        name: &'static str,
        messages: usize,
    ) -> Result<Option<usize>, BatchError> {
        match self {
            Self::Empty => Ok(Some(0)),
            Self::Same(buffer) => Ok(Some(buffer.as_ref().len())),
            Self::Packed { buffer, layout } => layout.check(name, messages, buffer.as_ref().len()),
            Self::Scattered(buffers) if buffers.len() == messages => Ok(None),
            Self::Scattered(buffers) => {
                Err(BatchError::Count { column: name, found: buffers.len(), expected: messages })
            }
        }
    }

    /// The one length all messages have, when the column's form says so.
    #[inline]
    pub(crate) fn uniform_len(&self) -> Option<usize> {
        match self {
            Self::Empty => Some(0),
            Self::Same(buffer) => Some(buffer.as_ref().len()),
            Self::Packed { layout: Layout::Fixed { len, .. }, .. } => Some(*len),
            Self::Packed { .. } | Self::Scattered(_) => None,
        }
    }
}

/// Where the messages lie in one buffer.
#[derive(Clone, Debug)]
pub enum Layout<'a> {
    /// Message i is `len` bytes from `i * stride`.
    Fixed {
        /// Bytes from the start of one to the start of the next.
        stride: usize,
        /// Bytes of each.
        len: usize,
    },
    /// Message i lies between offsets i and i + 1.
    Offsets32(Cow<'a, [u32]>),
    /// The same with wide offsets, for buffers of 4 GiB and more.
    Offsets64(Cow<'a, [u64]>),
}

impl Layout<'_> {
    /// The same without its own offsets.
    #[must_use]
    pub fn borrowed(&self) -> Layout<'_> {
        match self {
            Self::Fixed { stride, len } => Layout::Fixed { stride: *stride, len: *len },
            Self::Offsets32(offsets) => Layout::Offsets32(Cow::Borrowed(offsets)),
            Self::Offsets64(offsets) => Layout::Offsets64(Cow::Borrowed(offsets)),
        }
    }

    /// The bytes of one message.
    ///
    /// # Panics
    /// If the layout was never checked and has no such message.
    #[must_use]
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "checked against a buffer's length")]
    pub fn range(&self, message: usize) -> Range<usize> {
        match self {
            Self::Fixed { stride, len } => message * stride..message * stride + len,
            Self::Offsets32(offsets) => offsets[message] as usize..offsets[message + 1] as usize,
            Self::Offsets64(offsets) => offsets[message] as usize..offsets[message + 1] as usize,
        }
    }

    /// Checks that `messages` lie inside a buffer of `buffer` bytes, and gives the one length that all have, when its form
    /// says so.
    #[inline(always)]
    pub(crate) fn check(
        &self,
        column: &'static str,
        messages: usize,
        buffer: usize,
    ) -> Result<Option<usize>, BatchError> {
        match self {
            Self::Fixed { stride, len } => {
                let fits = match messages.checked_sub(1) {
                    Some(last) => ends_within(last, *stride, *len, buffer),
                    None => true,
                };
                if !fits {
                    return Err(outside(column, messages, *stride, *len, buffer));
                }
                Ok(Some(*len))
            }
            Self::Offsets32(offsets) => {
                check_offsets(column, messages, offsets, buffer).map(|()| None)
            }
            Self::Offsets64(offsets) => {
                check_offsets(column, messages, offsets, buffer).map(|()| None)
            }
        }
    }
}

/// The error for a last message that ends behind the buffer.
#[cold]
fn outside(
    column: &'static str,
    messages: usize,
    stride: usize,
    len: usize,
    buffer: usize,
) -> BatchError {
    let message = messages.saturating_sub(1);
    let start = message as u128 * stride as u128;
    let [start, end] =
        [start, start + len as u128].map(|byte| u64::try_from(byte).unwrap_or(u64::MAX));
    BatchError::OutOfBounds { column, message, start, end, buffer }
}

#[inline(always)]
fn ends_within(last: usize, stride: usize, len: usize, buffer: usize) -> bool {
    let end = last.checked_mul(stride).and_then(|start| start.checked_add(len));
    end.is_some_and(|end| end <= buffer)
}

#[inline(never)]
fn check_offsets<T: Copy + Into<u64> + PartialOrd>(
    column: &'static str,
    messages: usize,
    offsets: &[T],
    buffer: usize,
) -> Result<(), BatchError> {
    if offsets.len() != messages.saturating_add(1) {
        let found = offsets.len().saturating_sub(1);
        return Err(BatchError::Count { column, found, expected: messages });
    }
    // Without an end on the way: so it takes a fraction of the time.
    let falls = offsets.windows(2).fold(false, |falls, pair| falls | (pair[0] > pair[1]));
    if !falls && offsets.last().is_none_or(|last| (*last).into() <= buffer as u64) {
        return Ok(());
    }
    if let Some(message) = offsets.windows(2).position(|pair| pair[0] > pair[1]) {
        let (before, after) = (offsets[message].into(), offsets[message + 1].into());
        return Err(BatchError::OffsetsFall { column, message, before, after });
    }
    let outside = |offset: &T| (*offset).into() > buffer as u64;
    let Some(first) = offsets.iter().position(outside) else { return Ok(()) };
    let message = first.saturating_sub(1);
    let (start, end) = (offsets[message].into(), offsets[first].into());
    Err(BatchError::OutOfBounds { column, message, start, end, buffer })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fixed_column_may_end_before_its_last_stride() {
        let bytes = [0; 25];
        assert!(Column::strided(&bytes, 10, 5).check("text", 3).is_ok());
        let error = Column::strided(&bytes, 10, 6).check("text", 3).unwrap_err();
        assert_eq!(
            error,
            BatchError::OutOfBounds { column: "text", message: 2, start: 20, end: 26, buffer: 25 }
        );
    }

    #[test]
    fn huge_strides_are_an_error_and_not_an_overflow() {
        let column = Column::strided(&[0; 4], usize::MAX, usize::MAX);
        assert!(column.check("text", usize::MAX).is_err());
    }

    #[test]
    fn offsets_are_checked_for_number_order_and_end() {
        let bytes = [1, 2, 3, 4];
        let column = |offsets: &[u32]| Column::offsets(&bytes, offsets.to_vec());
        assert_eq!(column(&[0, 1, 4]).get(1), [2, 3, 4]);
        assert!(column(&[0, 1, 4]).check("text", 2).is_ok());
        assert!(matches!(column(&[0, 1]).check("text", 2), Err(BatchError::Count { .. })));
        assert!(matches!(column(&[]).check("text", 0), Err(BatchError::Count { .. })));
        assert!(matches!(column(&[0, 3, 2]).check("text", 2), Err(BatchError::OffsetsFall { .. })));
        assert!(matches!(column(&[0, 3, 5]).check("text", 2), Err(BatchError::OutOfBounds { .. })));
        assert!(matches!(column(&[5, 5]).check("text", 1), Err(BatchError::OutOfBounds { .. })));
    }

    #[test]
    fn no_messages_fit_anywhere() {
        assert!(Column::fixed(&[], 16).check("text", 0).is_ok());
        assert!(Column::Scattered(vec![].into()).check("text", 0).is_ok());
    }
}
