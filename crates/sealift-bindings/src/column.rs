//! The byte strings of all messages of a batch, as Python gives them.

use crate::bytes::{Lent, buffer, held, is_frozen, no_bytes};
use crate::errors::{Outcome, type_name, wrong_type};
use crate::ffi::{self, Memory};
use crate::forms::{Fixed, Offsets};
use crate::room;
use pyo3::buffer::PyUntypedBuffer;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString, PyTuple};
use sealift::{BatchError, Buffer, Column, Layout, NONCE_BYTES, XAES_NONCE_BYTES};
use smallvec::SmallVec;

/// A column whose bytes are held for the length of a call.
pub(crate) enum Given<'py> {
    /// No bytes for any message.
    Empty,
    /// The same for all.
    Same(Lent<'py>),
    /// An object for each.
    Each(SmallVec<[Lent<'py>; 1]>),
    /// All in one piece of memory.
    Rows(Rows),
    /// Nonces of so many bytes, one behind the other: those that were counted or drawn, or copies of those in a list.
    Nonces(Vec<u8>, usize),
}

/// Messages in one piece of memory. All of them lie inside it.
pub(crate) struct Rows {
    pub(crate) memory: Memory,
    pub(crate) layout: Layout<'static>,
    pub(crate) count: usize,
    /// Whether nobody can write to the memory.
    pub(crate) frozen: bool,
}

impl<'py> Given<'py> {
    /// Reads a column: a list, a 2-D buffer, [`Fixed`] or [`Offsets`].
    pub(crate) fn read(object: &Bound<'py, PyAny>, name: &'static str) -> Outcome<Self> {
        if let Ok(list) = object.cast::<PyList>() {
            return Self::read_each(list.iter(), name);
        }
        if let Ok(tuple) = object.cast::<PyTuple>() {
            return Self::read_each(tuple.iter(), name);
        }
        Rows::read(object, name).map(Self::Rows)
    }

    /// Reads a column that may also be nothing, or one bytes-like object for all messages.
    pub(crate) fn read_shared(
        object: Option<&Bound<'py, PyAny>>,
        name: &'static str,
    ) -> Outcome<Self> {
        let Some(object) = object else { return Ok(Self::Empty) };
        if object.is_exact_instance_of::<PyBytes>() || is_flat(object) {
            return Ok(Self::Same(Lent::read(object, name)?));
        }
        Self::read(object, name)
    }

    /// Reads a column of nonces. Those of a list are copied, so that they lie at equal distances as kernels like it.
    pub(crate) fn read_nonces(object: &Bound<'py, PyAny>) -> Outcome<Self> {
        if let Ok(list) = object.cast_exact::<PyList>()
            && let Some((nonces, width)) = copies(list)?
        {
            return Ok(Self::Nonces(nonces, width));
        }
        Self::read(object, "nonces")
    }

    /// How many messages it is for, where that is certain.
    pub(crate) fn count(&self) -> Option<usize> {
        match self {
            Self::Empty | Self::Same(_) => None,
            Self::Each(each) => Some(each.len()),
            Self::Rows(rows) => Some(rows.count),
            Self::Nonces(nonces, width) => Some(nonces.len() / width),
        }
    }

    /// Refuses a column for another number of messages.
    pub(crate) fn check_count(&self, column: &'static str, expected: usize) -> Outcome<()> {
        match self.count() {
            Some(found) if found != expected => {
                Err(BatchError::Count { column, found, expected }.into())
            }
            _ => Ok(()),
        }
    }

    /// The length of one message in bytes.
    pub(crate) fn len_of(&self, message: usize) -> usize {
        match self {
            Self::Empty => 0,
            Self::Same(bytes) => bytes.as_slice().len(),
            Self::Each(each) => each[message].as_slice().len(),
            Self::Rows(rows) => rows.layout.range(message).len(),
            Self::Nonces(_, width) => *width,
        }
    }

    /// Whether nobody can write to its bytes meanwhile.
    pub(crate) fn is_frozen(&self) -> bool {
        match self {
            Self::Empty | Self::Nonces(..) => true,
            Self::Same(bytes) => bytes.is_frozen(),
            Self::Each(each) => each.iter().all(Lent::is_frozen),
            Self::Rows(rows) => rows.frozen,
        }
    }

    /// As the engine takes it. `interleaved` takes every row for itself, because others' rows that
    /// are written lie between them.
    pub(crate) fn lend(&self, interleaved: bool) -> Column<'_> {
        match self {
            Self::Empty => Column::Empty,
            Self::Same(bytes) => Column::Same(bytes.as_slice().into()),
            Self::Each(each) => match &each[..] {
                [one] => Column::Same(one.as_slice().into()),
                each => Column::Scattered(
                    each.iter().map(|bytes| Buffer::Borrowed(bytes.as_slice())).collect(),
                ),
            },
            Self::Nonces(nonces, width) => Column::fixed(nonces, *width),
            Self::Rows(rows) if interleaved => {
                let row = |message| rows.memory.part(rows.layout.range(message)).into();
                Column::Scattered((0..rows.count).map(row).collect())
            }
            Self::Rows(rows) => Column::Packed {
                buffer: rows.memory.bytes().into(),
                layout: rows.layout.borrowed(),
            },
        }
    }

    /// The same for a batch that outlives the call.
    pub(crate) fn outliving(self) -> Column<'static> {
        match self {
            Self::Empty => Column::Empty,
            Self::Same(bytes) => Column::Same(ffi::outliving(bytes)),
            Self::Each(each) => Column::Scattered(each.into_iter().map(ffi::outliving).collect()),
            Self::Rows(Rows { memory, layout, .. }) => {
                Column::Packed { buffer: ffi::outliving_memory(memory), layout }
            }
            Self::Nonces(nonces, width) => Column::fixed(nonces, width),
        }
    }

    fn read_each(
        items: impl Iterator<Item = Bound<'py, PyAny>>,
        name: &'static str,
    ) -> Outcome<Self> {
        let read = |(message, item): (usize, Bound<'py, PyAny>)| {
            // The common case makes no name.
            match item.cast_into_exact::<PyBytes>() {
                Ok(bytes) => Ok(Lent::Bytes(bytes)),
                Err(other) => Lent::read(&other.into_inner(), &format!("{name}[{message}]")),
            }
        };
        let each: PyResult<SmallVec<_>> = items.enumerate().map(read).collect();
        Ok(Self::Each(each?))
    }
}

/// Copies of nonces and the length of each; none if one is anything but `bytes`, or they are not all of 12 or all of 24.
fn copies(nonces: &Bound<'_, PyList>) -> Outcome<Option<(Vec<u8>, usize)>> {
    let first = nonces.get_item(0).ok();
    let first = first.and_then(|first| first.cast_into_exact::<PyBytes>().ok());
    match first.map_or(NONCE_BYTES, |first| first.as_bytes().len()) {
        NONCE_BYTES => copies_of::<NONCE_BYTES>(nonces),
        XAES_NONCE_BYTES => copies_of::<XAES_NONCE_BYTES>(nonces),
        _ => Ok(None),
    }
}

fn copies_of<const N: usize>(nonces: &Bound<'_, PyList>) -> Outcome<Option<(Vec<u8>, usize)>> {
    let mut copies = room::empty(nonces.len().saturating_mul(N), "nonces")?;
    for nonce in nonces.iter() {
        let Ok(nonce) = nonce.cast_exact::<PyBytes>() else { return Ok(None) };
        let Ok(nonce) = <[u8; N]>::try_from(nonce.as_bytes()) else { return Ok(None) };
        copies.extend(nonce);
    }
    Ok(Some((copies, N)))
}

impl Rows {
    /// Reads a 2-D buffer, [`Fixed`], [`Offsets`] or a column that a batch made.
    pub(crate) fn read(object: &Bound<'_, PyAny>, name: &'static str) -> Outcome<Self> {
        if let Ok(fixed) = object.cast::<Fixed>() {
            return fixed.get().rows(object.py(), name);
        }
        if let Ok(offsets) = object.cast::<Offsets>() {
            return offsets.get().rows(object.py(), name);
        }
        if let Ok(column) = object.cast::<ffi::Column>() {
            let (layout, count) = column.get().layout();
            let memory = Memory::whole(buffer(object, name)?, name)?;
            let frozen = is_frozen(object);
            return Ok(Self { memory, layout: layout.clone(), count, frozen });
        }
        match held(object, name)? {
            Some(_) => Self::of_matrix(object, name),
            None => Err(wrong_type(no_column(object, name)).into()),
        }
    }

    /// Reads a place for results, which must be writable.
    pub(crate) fn read_writable(object: &Bound<'_, PyAny>, name: &'static str) -> Outcome<Self> {
        if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
            return Err(wrong_type(format!(
                "{name} is {}: results go to a 2-D buffer, sealift.Fixed or sealift.Offsets",
                type_name(object)
            ))
            .into());
        }
        let rows = Self::read(object, name)?;
        rows.memory.check_writable(name)?;
        Ok(rows)
    }

    /// Whether both are the same messages in the same memory.
    pub(crate) fn is_same_place(&self, other: &Self) -> bool {
        let alike = match (&self.layout, &other.layout) {
            (Layout::Fixed { stride, len }, Layout::Fixed { stride: other_stride, len: other }) => {
                len == other && (stride == other_stride || self.count < 2)
            }
            (Layout::Offsets64(one), Layout::Offsets64(other)) => one == other,
            _ => false,
        };
        alike && self.count == other.count && self.memory.address() == other.memory.address()
    }

    fn of_matrix(object: &Bound<'_, PyAny>, name: &'static str) -> Outcome<Self> {
        let buffer = buffer(object, name)?;
        if buffer.dimensions() != 2 {
            let (dimensions, bytes) = (buffer.dimensions(), buffer.len_bytes());
            return Err(wrong_type(format!(
                "{name} is a buffer of {dimensions} dimension(s) and {bytes} bytes where a column \
                 belongs: give a list of bytes-like objects, a 2-D buffer of one row a message, or \
                 say where messages lie with sealift.Fixed or sealift.Offsets"
            ))
            .into());
        }
        let (memory, shape) = Memory::rows(buffer, name)?;
        let layout = Layout::Fixed { stride: shape.stride, len: shape.len };
        Ok(Self { memory, layout, count: shape.count, frozen: is_frozen(object) })
    }
}

/// Whether an object is one byte string: a buffer of one dimension that is no column by itself.
pub(crate) fn is_flat(object: &Bound<'_, PyAny>) -> bool {
    !object.is_instance_of::<ffi::Column>()
        && PyUntypedBuffer::get(object).is_ok_and(|buffer| buffer.dimensions() == 1)
}

fn no_column(object: &Bound<'_, PyAny>, name: &str) -> String {
    if object.is_instance_of::<PyString>() {
        return no_bytes(object, name);
    }
    format!(
        "{name} is {} where a column belongs: give a list of bytes-like objects, a 2-D buffer of \
         bytes, sealift.Fixed or sealift.Offsets",
        type_name(object)
    )
}
