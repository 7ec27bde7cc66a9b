//! Where messages lie in one buffer, said from Python.

use crate::bytes::{buffer, held, is_frozen};
use crate::column::Rows;
use crate::errors::{Failure, Outcome, type_name, wrong_type};
use crate::ffi::Memory;
use crate::integers::{self, Integer};
use crate::room;
use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;
use pyo3::types::PySequence;
use sealift::{BatchError, Layout};

/// Messages of one length in one buffer, at a fixed distance from each other.
///
/// Message `i` is the `length` bytes from `start + i * stride`. `len()` says how many there are.
///
/// Args:
///     buffer: Contiguous bytes of any shape. Held only while a batch works on them; writable when
///         results go there.
///     length: Bytes of each message.
///     stride: Bytes from the start of one message to the start of the next; `length` if not given.
///     start: Bytes before the first message.
///
/// Raises:
///     TypeError: If `buffer` has no bytes.
///     BufferError: If `buffer` is not contiguous.
///     InputError: If a number is negative, `start` lies outside, or the buffer ends within a
///         message.
#[pyclass(frozen, sequence, module = "sealift")]
pub(crate) struct Fixed {
    buffer: Py<PyAny>,
    length: usize,
    stride: usize,
    start: usize,
}

#[pymethods]
impl Fixed {
    #[new]
    #[pyo3(signature = (buffer, length, *, stride = None, start = 0))]
    fn new(
        buffer: &Bound<'_, PyAny>,
        length: i64,
        stride: Option<i64>,
        start: i64,
    ) -> Outcome<Self> {
        let length = at_least(0, length, "length")?;
        let stride = stride.map_or(Ok(length), |stride| at_least(0, stride, "stride"))?;
        let start = at_least(0, start, "start")?;
        if stride == 0 {
            return Err(Failure::Input(
                "a stride of 0 bytes: say how many bytes lie from one message to the next".into(),
            ));
        }
        let fixed = Self { buffer: buffer.clone().unbind(), length, stride, start };
        fixed.rows(buffer.py(), "buffer")?;
        Ok(fixed)
    }

    fn __len__(&self, py: Python<'_>) -> Outcome<usize> {
        Ok(self.rows(py, "buffer")?.count)
    }

    fn __repr__(&self, py: Python<'_>) -> Outcome<String> {
        let Self { length, stride, start, .. } = self;
        let count = self.__len__(py)?;
        Ok(format!("Fixed({count} messages of {length} bytes, stride {stride}, from {start})"))
    }
}

impl Fixed {
    /// Takes hold of the buffer.
    pub(crate) fn rows(&self, py: Python<'_>, name: &str) -> Outcome<Rows> {
        let Self { length, stride, start, .. } = *self;
        let object = self.buffer.bind(py);
        let whole = Memory::whole(buffer(object, name)?, name)?;
        let bytes = whole.len();
        if start > bytes {
            return Err(Failure::Input(format!(
                "{name} has {bytes} bytes and its messages start at {start}"
            )));
        }
        let memory = whole.skip(start);
        // A message without bytes still takes its stride.
        let fits = memory.len().checked_sub(length.max(1));
        let count = fits.map_or(0, |rest| rest / stride + 1);
        // What follows the last message may be missing. Messages to read may lie over each other.
        let last = count.checked_sub(1).map_or(0, |last| last * stride + stride.max(length));
        let rest = memory.len().saturating_sub(last);
        if rest > 0 {
            return Err(Failure::Input(format!(
                "{name} has {bytes} bytes and ends within a message: after {count} messages of \
                 {length} bytes, {stride} bytes apart from {start}, {rest} bytes are left"
            )));
        }
        let frozen = is_frozen(object);
        Ok(Rows { memory, layout: Layout::Fixed { stride, len: length }, count, frozen })
    }
}

/// Messages of any lengths in one buffer: message `i` is bytes `offsets[i]` to `offsets[i + 1]`.
///
/// One more offset than messages, as in Arrow. `len()` says how many messages there are.
///
/// Args:
///     buffer: Contiguous bytes. Held only while a batch works on them; writable when results go
///         there.
///     offsets: A buffer of int32, uint32, int64 or uint64, or a sequence of int. Copied.
///
/// Raises:
///     TypeError: If `buffer` has no bytes, or `offsets` no integers in this machine's byte order.
///     BufferError: If `buffer` is not contiguous.
///     InputError: If there is no offset, one falls, or one lies outside the buffer.
///     MemoryError: If there is no memory for the offsets.
#[pyclass(frozen, sequence, module = "sealift")]
pub(crate) struct Offsets {
    buffer: Py<PyAny>,
    offsets: Vec<u64>,
}

#[pymethods]
impl Offsets {
    #[new]
    fn new(buffer: &Bound<'_, PyAny>, offsets: &Bound<'_, PyAny>) -> Outcome<Self> {
        let offsets = read_offsets(offsets)?;
        if offsets.is_empty() {
            return Err(Failure::Input(
                "no offsets: there is one more than messages, [0] for none".into(),
            ));
        }
        if let Some(message) = offsets.windows(2).position(|pair| pair[0] > pair[1]) {
            let (before, after) = (offsets[message], offsets[message + 1]);
            return Err(BatchError::OffsetsFall { column: "buffer", message, before, after }.into());
        }
        let offsets = Self { buffer: buffer.clone().unbind(), offsets };
        offsets.rows(buffer.py(), "buffer")?;
        Ok(offsets)
    }

    fn __len__(&self) -> usize {
        self.offsets.len() - 1
    }

    fn __repr__(&self) -> String {
        format!("Offsets({} messages)", self.__len__())
    }
}

impl Offsets {
    /// Takes hold of the buffer, which may have become shorter.
    pub(crate) fn rows(&self, py: Python<'_>, name: &'static str) -> Outcome<Rows> {
        let object = self.buffer.bind(py);
        let memory = Memory::whole(buffer(object, name)?, name)?;
        let outside = |offset: &u64| *offset > memory.len() as u64;
        // They rise.
        let is_one_outside = self.offsets.last().is_some_and(outside);
        if is_one_outside && let Some(first) = self.offsets.iter().position(outside) {
            let message = first.saturating_sub(1);
            let (start, end) = (self.offsets[message], self.offsets[first]);
            let buffer = memory.len();
            let column = name;
            return Err(BatchError::OutOfBounds { column, message, start, end, buffer }.into());
        }
        let frozen = is_frozen(object);
        let layout = Layout::Offsets64(room::copy(&self.offsets, "offsets")?.into());
        Ok(Rows { memory, layout, count: self.__len__(), frozen })
    }
}

/// A number from Python that must not be below `least`.
pub(crate) fn at_least(least: usize, value: i64, name: &str) -> Outcome<usize> {
    let number = usize::try_from(value).ok().filter(|&number| number >= least);
    number.ok_or_else(|| Failure::Input(format!("{name} is {value}: give {least} or more")))
}

/// A whole number from Python that must not be below `least`, whatever was given for it.
pub(crate) fn whole_at_least(least: usize, given: &Bound<'_, PyAny>, name: &str) -> Outcome<usize> {
    match given.extract() {
        Ok(value) => at_least(least, value, name),
        Err(error) if error.is_instance_of::<PyOverflowError>(given.py()) => {
            let most = i64::MAX;
            Err(Failure::Input(format!("{name} is {given}: give {least} to {most}")))
        }
        Err(_) => {
            let found = type_name(given);
            Err(wrong_type(format!("{name} is of type {found}: give a whole number")).into())
        }
    }
}

fn read_offsets(object: &Bound<'_, PyAny>) -> Outcome<Vec<u64>> {
    let Some(buffer) = held(object, "offsets")? else { return read_sequence(object) };
    let read = match buffer.dimensions() {
        1 => integers::read(object, &buffer, "offsets", offset)?,
        _ => None,
    };
    read.ok_or_else(|| {
        let (format, bytes) = (buffer.format().to_string_lossy(), buffer.item_size());
        wrong_type(format!(
            "offsets have items of {bytes} bytes and format {format:?}: give one dimension of \
             int32, uint32, int64 or uint64"
        ))
        .into()
    })
}

fn read_sequence(object: &Bound<'_, PyAny>) -> Outcome<Vec<u64>> {
    let refused =
        || wrong_type("offsets are a sequence of integers from 0 to 2^64 - 1, or a buffer of them");
    let sequence = object.cast::<PySequence>().map_err(|_| refused())?;
    let mut offsets = room::empty(sequence.len()?, "offsets")?;
    for offset in sequence.try_iter()? {
        offsets.push(offset?.extract::<u64>().map_err(|_| refused())?);
    }
    Ok(offsets)
}

fn offset(value: Integer) -> Outcome<u64> {
    match value {
        Integer::Unsigned(offset) => Ok(offset),
        Integer::Signed(value) => value
            .try_into()
            .map_err(|_| Failure::Input(format!("an offset is {value}: give 0 or more"))),
    }
}
