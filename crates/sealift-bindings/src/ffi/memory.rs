use crate::bytes::check_writable;
use crate::errors::{Failure, wrong_layout};
use crate::overlap::Apart;
use pyo3::buffer::PyUntypedBuffer;
use pyo3::prelude::*;
use std::ops::Range;
use std::slice;

/// A stretch of bytes that a Python object lends until this is dropped.
pub(crate) struct Memory {
    buffer: PyUntypedBuffer,
    start: *mut u8,
    bytes: usize,
}

/// The rows of a 2-D buffer.
pub(crate) struct RowShape {
    /// Number of rows.
    pub(crate) count: usize,
    /// Bytes of each.
    pub(crate) len: usize,
    /// Bytes from the start of one to the start of the next.
    pub(crate) stride: usize,
}

impl Memory {
    /// All bytes of a contiguous buffer of bytes.
    pub(crate) fn whole(buffer: PyUntypedBuffer, name: &str) -> PyResult<Self> {
        if !buffer.is_c_contiguous() {
            return Err(wrong_layout(format!("{name} is not contiguous: copy it first")));
        }
        let (start, bytes) = (buffer.buf_ptr().cast(), buffer.len_bytes());
        Ok(Self { buffer, start, bytes })
    }

    /// From the first to the last byte of a 2-D buffer of bytes whose rows are contiguous.
    pub(crate) fn rows(buffer: PyUntypedBuffer, name: &str) -> PyResult<(Self, RowShape)> {
        let (count, len) = (buffer.shape()[0], buffer.shape()[1]);
        let (stride, step) = (buffer.strides()[0], buffer.strides()[1]);
        if len > 1 && count > 0 && step != 1 {
            return Err(wrong_layout(format!(
                "{name} has rows that are not contiguous: {step} bytes lie from one item to the \
                 next, copy it first"
            )));
        }
        let stride = match usize::try_from(stride) {
            _ if len == 0 || count < 2 => len,
            Ok(stride) => stride,
            Err(_) => {
                return Err(wrong_layout(format!(
                    "{name} has rows in falling order (stride {stride}): copy it first"
                )));
            }
        };
        let Some(bytes) = span(count, len, stride) else {
            return Err(Failure::Input(format!(
                "{name} has {count} rows of {len} bytes, {stride} bytes apart: that is more than \
                 all addresses"
            ))
            .into());
        };
        let start = buffer.buf_ptr().cast();
        Ok((Self { buffer, start, bytes }, RowShape { count, len, stride }))
    }

    /// The same without its first bytes.
    pub(crate) fn skip(self, bytes: usize) -> Self {
        let bytes = bytes.min(self.bytes);
        Self { start: self.start.wrapping_add(bytes), bytes: self.bytes - bytes, ..self }
    }

    /// Refuses what can't be written to.
    pub(crate) fn check_writable(&self, name: &str) -> PyResult<()> {
        check_writable(&self.buffer, name)
    }

    /// Where it begins.
    pub(crate) fn address(&self) -> usize {
        self.start.addr()
    }

    /// How many bytes there are.
    pub(crate) fn len(&self) -> usize {
        self.bytes
    }

    /// The bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.part(0..self.bytes)
    }

    /// Some of the bytes.
    pub(crate) fn part(&self, range: Range<usize>) -> &[u8] {
        let start = self.checked_start(&range);
        if range.is_empty() {
            return &[];
        }
        // SAFETY: the range lies within the buffer, which is held; rows and what is between them
        // are one allocation.
        unsafe { slice::from_raw_parts(start, range.len()) }
    }

    /// The bytes, to write to. The token proves that no other slice of this call shares any.
    pub(crate) fn bytes_mut(&mut self, _proof: &Apart) -> &mut [u8] {
        let start = self.checked_start(&(0..self.bytes));
        if self.bytes == 0 {
            return &mut [];
        }
        // SAFETY: the buffer is held and writable, and the token says that nothing else in this
        // call lies in it.
        unsafe { slice::from_raw_parts_mut(start, self.bytes) }
    }

    /// Several parts to write to. The token proves that they share no byte with each other or with
    /// another slice of this call.
    pub(crate) fn parts_mut(
        &mut self,
        ranges: impl Iterator<Item = Range<usize>>,
        _proof: &Apart,
    ) -> Vec<&mut [u8]> {
        let part = |range: Range<usize>| -> &mut [u8] {
            let start = self.checked_start(&range);
            if range.is_empty() {
                return &mut [];
            }
            // SAFETY: the range lies within the held, writable buffer, and the token says that it
            // shares no byte with another slice of this call.
            unsafe { slice::from_raw_parts_mut(start, range.len()) }
        };
        ranges.map(part).collect()
    }

    fn checked_start(&self, range: &Range<usize>) -> *mut u8 {
        let inside = range.start <= range.end && range.end <= self.bytes;
        assert!(inside, "bytes {range:?} of a buffer of {} bytes", self.bytes);
        self.start.wrapping_add(range.start)
    }
}

/// Bytes from the first to the last of such rows, if there can be so many.
fn span(count: usize, len: usize, stride: usize) -> Option<usize> {
    let Some(last) = count.checked_sub(1) else { return Some(0) };
    last.checked_mul(stride)?.checked_add(len).filter(|bytes| isize::try_from(*bytes).is_ok())
}
