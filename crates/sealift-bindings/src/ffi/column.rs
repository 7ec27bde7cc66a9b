use crate::errors::wrong_layout;
use pyo3::exceptions::PyIndexError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyIterator, PyList, PyMemoryView};
use sealift::Layout;
use std::ffi::{c_int, c_void};
use std::ptr;

/// Byte strings in one piece of memory: what a batch made when it was given no place for it.
///
/// It has the buffer protocol, read-only and without copies: `numpy.asarray(column)` has shape
/// `(messages, bytes)` when all have one length, else shape `(bytes,)` with `offsets` beside it.
/// `len(column)` counts messages, `column[i]` copies one. A batch takes it as a column again.
#[pyclass(frozen, sequence, module = "sealift")]
pub(crate) struct Column {
    bytes: Vec<u8>,
    layout: Layout<'static>,
    count: usize,
    // What views point to.
    shape: [isize; 2],
    strides: [isize; 2],
    dimensions: c_int,
}

#[pymethods]
impl Column {
    /// Where messages lie, as uint64: message `i` is bytes `offsets[i]` to `offsets[i + 1]`.
    ///
    /// None when all have one length.
    #[getter]
    fn offsets<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Layout::Offsets64(offsets) = &self.layout else { return Ok(None) };
        let bytes: Vec<u8> = offsets.iter().flat_map(|offset| offset.to_ne_bytes()).collect();
        let view = PyMemoryView::from(&PyBytes::new(py, &bytes))?;
        view.call_method1("cast", ("Q",)).map(Some)
    }

    fn __len__(&self) -> usize {
        self.count
    }

    fn __getitem__<'py>(&self, py: Python<'py>, index: isize) -> PyResult<Bound<'py, PyBytes>> {
        let from_start = if index < 0 { index.saturating_add(signed(self.count)) } else { index };
        let message = usize::try_from(from_start).ok().filter(|&message| message < self.count);
        let Some(message) = message else {
            return Err(PyIndexError::new_err(format!(
                "message {index} of a column of {}",
                self.count
            )));
        };
        Ok(PyBytes::new(py, &self.bytes[self.layout.range(message)]))
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        let message = |message| PyBytes::new(py, &self.bytes[self.layout.range(message)]);
        PyList::new(py, (0..self.count).map(message))?.try_iter()
    }

    fn __repr__(&self) -> String {
        format!("Column({} messages, {} bytes)", self.count, self.bytes.len())
    }

    /// # Safety
    /// Only Python calls it, with a view that it may fill.
    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        if flags & ffi::PyBUF_WRITABLE == ffi::PyBUF_WRITABLE {
            return Err(wrong_layout(
                "a batch's own column is read-only: copy it, or give the batch a place with `out=`",
            ));
        }
        let wants_columns = flags & ffi::PyBUF_F_CONTIGUOUS == ffi::PyBUF_F_CONTIGUOUS;
        if wants_columns && slf.get().dimensions == 2 {
            return Err(wrong_layout(
                "a batch's own column has its rows contiguous, not its columns",
            ));
        }
        let filled = slf.get().view(flags);
        let filled = ffi::Py_buffer { obj: slf.into_any().into_ptr(), ..filled };
        // SAFETY: Python gives a view to fill.
        unsafe { ptr::write(view, filled) };
        Ok(())
    }
}

impl Column {
    /// Takes over bytes whose messages lie as the layout says.
    pub(crate) fn new(bytes: Vec<u8>, layout: Layout<'static>, count: usize) -> Self {
        let (shape, dimensions) = match layout {
            Layout::Fixed { len, .. } => ([signed(count), signed(len)], 2),
            Layout::Offsets32(_) | Layout::Offsets64(_) => ([signed(bytes.len()), 1], 1),
        };
        Self { bytes, layout, count, shape, strides: [shape[1], 1], dimensions }
    }

    /// Rows of some bytes, one behind the other.
    pub(crate) fn of_rows(bytes: Vec<u8>, len: usize) -> Self {
        let count = bytes.len().checked_div(len).unwrap_or(0);
        Self::new(bytes, Layout::Fixed { stride: len, len }, count)
    }

    /// Where its messages lie.
    pub(crate) fn layout(&self) -> (&Layout<'static>, usize) {
        (&self.layout, self.count)
    }

    /// A view of everything, without its owner.
    fn view(&self, flags: c_int) -> ffi::Py_buffer {
        let wants = |flag| flags & flag == flag;
        let with = |wanted: bool, pointer: *const isize| {
            if wanted { pointer.cast_mut() } else { ptr::null_mut() }
        };
        let format = c"B".as_ptr().cast_mut();
        ffi::Py_buffer {
            buf: self.bytes.as_ptr().cast_mut().cast::<c_void>(),
            obj: ptr::null_mut(),
            len: signed(self.bytes.len()),
            itemsize: 1,
            readonly: 1,
            ndim: if wants(ffi::PyBUF_ND) { self.dimensions } else { 1 },
            format: if wants(ffi::PyBUF_FORMAT) { format } else { ptr::null_mut() },
            shape: with(wants(ffi::PyBUF_ND), self.shape.as_ptr()),
            strides: with(wants(ffi::PyBUF_STRIDES), self.strides.as_ptr()),
            suboffsets: ptr::null_mut(),
            internal: ptr::null_mut(),
        }
    }
}

/// A length of memory that exists, which is never over half the addresses.
fn signed(bytes: usize) -> isize {
    isize::try_from(bytes).unwrap_or(isize::MAX)
}
