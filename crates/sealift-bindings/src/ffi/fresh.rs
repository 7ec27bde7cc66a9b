use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sealift::Place;
use smallvec::SmallVec;
use std::slice;

/// Bytes objects that nobody else has seen yet, so that they may still be written to.
pub(crate) struct FreshBytes<'py>(SmallVec<[Bound<'py, PyBytes>; 1]>);

impl<'py> FreshBytes<'py> {
    /// One object of zeros for each length in bytes.
    pub(crate) fn new(py: Python<'py>, lengths: impl Iterator<Item = usize>) -> PyResult<Self> {
        let fresh = |bytes| PyBytes::new_with(py, bytes, |_| Ok(()));
        lengths.map(fresh).collect::<PyResult<_>>().map(Self)
    }

    /// The bytes of each.
    pub(crate) fn place(&mut self) -> Place<'_> {
        match &mut self.0[..] {
            [one] => {
                let one = slot(one);
                let bytes = one.len();
                Place::fixed(one, bytes)
            }
            all => Place::Scattered(all.iter_mut().map(slot).collect()),
        }
    }

    /// The finished objects.
    pub(crate) fn into_objects(self) -> impl ExactSizeIterator<Item = Bound<'py, PyBytes>> {
        self.0.into_iter()
    }
}

fn slot<'a>(object: &'a mut Bound<'_, PyBytes>) -> &'a mut [u8] {
    let bytes = object.as_bytes().len();
    if bytes == 0 {
        // The one empty object is everybody's.
        return &mut [];
    }
    // SAFETY: it is a bytes object.
    let start = unsafe { ffi::PyBytes_AsString(object.as_ptr()) };
    // SAFETY: the object was made here with so many bytes and is not shared: no code but this has
    // its reference.
    unsafe { slice::from_raw_parts_mut(start.cast(), bytes) }
}
