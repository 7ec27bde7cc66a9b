//! Where the results of a batch go.

use crate::column::{Given, Rows};
use crate::errors::Outcome;
use crate::ffi::{Column, FreshBytes};
use crate::overlap::Apart;
use crate::room;
use pyo3::prelude::*;
use sealift::{Layout, Place};

/// One result column.
pub(crate) enum Target<'py> {
    /// There is none.
    Nothing,
    /// A new bytes object for each message.
    Objects(FreshBytes<'py>),
    /// Memory of the caller.
    Given(Rows, Bound<'py, PyAny>),
    /// Memory of our own.
    Own(Vec<u8>, Layout<'static>, usize),
}

impl<'py> Target<'py> {
    /// The caller's place.
    pub(crate) fn given(object: &Bound<'py, PyAny>, name: &'static str) -> Outcome<Self> {
        Ok(Self::Given(Rows::read_writable(object, name)?, object.clone()))
    }

    /// A place as large as the results, one after the other.
    pub(crate) fn own(
        texts: &Given<'_>,
        count: usize,
        result_bytes: impl Fn(usize) -> usize,
    ) -> Outcome<Self> {
        if let Given::Rows(Rows { layout: Layout::Fixed { len, .. }, .. }) = texts {
            return Self::own_fixed(count, result_bytes(*len), "out");
        }
        let mut ends = room::empty(count.saturating_add(1), "out")?;
        let mut end = 0;
        ends.push(end as u64);
        for message in 0..count {
            end += result_bytes(texts.len_of(message));
            ends.push(end as u64);
        }
        Ok(Self::Own(room::zeros(1, end, "out")?, Layout::Offsets64(ends.into()), count))
    }

    /// A place for results of one length.
    pub(crate) fn own_fixed(count: usize, len: usize, name: &str) -> Outcome<Self> {
        let bytes = room::zeros(count, len, name)?;
        Ok(Self::Own(bytes, Layout::Fixed { stride: len, len }, count))
    }

    /// The caller's rows.
    pub(crate) fn rows(&self) -> Option<&Rows> {
        match self {
            Self::Given(rows, _) => Some(rows),
            Self::Nothing | Self::Objects(_) | Self::Own(..) => None,
        }
    }

    /// As the engine takes it.
    pub(crate) fn place(&mut self, apart: &Apart) -> Place<'_> {
        match self {
            Self::Nothing => Place::Empty,
            Self::Objects(objects) => objects.place(),
            Self::Given(rows, _) => given_place(rows, apart),
            Self::Own(bytes, layout, _) => Place::Packed { bytes, layout: layout.borrowed() },
        }
    }

    /// As Python gets it back.
    pub(crate) fn into_object(self, py: Python<'py>) -> PyResult<Option<Py<PyAny>>> {
        match self {
            Self::Nothing | Self::Objects(_) => Ok(None),
            Self::Given(_, object) => Ok(Some(object.unbind())),
            Self::Own(bytes, layout, count) => {
                Ok(Some(Py::new(py, Column::new(bytes, layout, count))?.into_any()))
            }
        }
    }
}

fn given_place<'a>(rows: &'a mut Rows, apart: &Apart) -> Place<'a> {
    let Rows { memory, layout, count, .. } = rows;
    if apart.interleaved {
        let ranges = (0..*count).map(|message| layout.range(message));
        return Place::Scattered(memory.parts_mut(ranges, apart));
    }
    Place::Packed { bytes: memory.bytes_mut(apart), layout: layout.borrowed() }
}
