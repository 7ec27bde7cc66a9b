//! Columns from and to Python by the Arrow PyCapsule interface.
// By hand: pyo3-arrow casts to whatever type is requested, which is more code than all of Sealift.

use crate::errors::{Failure, Outcome};
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{Array, ArrayRef, make_array};
use arrow_schema::{ArrowError, DataType, FieldRef};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::ffi::{CStr, c_char, c_int};
use std::{ptr, vec};

/// The chunks of an object with `__arrow_c_array__` or `__arrow_c_stream__`, and their type; none of another object.
pub(in crate::arrow) fn read_chunks(
    object: &Bound<'_, PyAny>,
) -> Outcome<Option<(Vec<ArrayRef>, DataType)>> {
    if object.hasattr("__arrow_c_array__")? {
        let capsules = object.call_method0("__arrow_c_array__")?;
        let (schema, array): (Bound<'_, PyCapsule>, Bound<'_, PyCapsule>) = capsules.extract()?;
        let place = schema.pointer_checked(Some(SCHEMA))?.cast::<FFI_ArrowSchema>();
        // SAFETY: a capsule of this name holds a schema of Arrow's C data interface, and lives until the end of this function.
        let schema = unsafe { place.as_ref() };
        let place = array.pointer_checked(Some(ARRAY))?.cast();
        // SAFETY: a capsule of this name holds an array of that interface; it is marked as released, so nobody frees it twice.
        let array = unsafe { FFI_ArrowArray::from_raw(place.as_ptr()) };
        return Ok(Some((vec![imported(array, schema)?], data_type(schema)?)));
    }
    if !object.hasattr("__arrow_c_stream__")? {
        return Ok(None);
    }
    let capsule =
        object.call_method0("__arrow_c_stream__")?.cast_into::<PyCapsule>().map_err(PyErr::from)?;
    let place = capsule.pointer_checked(Some(STREAM))?.cast();
    // SAFETY: a capsule of this name holds a stream of that interface; it is marked as released, so nobody frees it twice.
    read_stream(unsafe { FFI_ArrowArrayStream::from_raw(place.as_ptr()) }).map(Some)
}

fn read_stream(mut stream: FFI_ArrowArrayStream) -> Outcome<(Vec<ArrayRef>, DataType)> {
    // What a released stream says besides is void.
    let calls = stream.release.and(stream.get_schema).zip(stream.get_next);
    let (get_schema, get_next) = calls.ok_or_else(|| Failure::Input(WAS_TAKEN.into()))?;
    let (mut schema, mut chunks) = (FFI_ArrowSchema::empty(), vec![]);
    // SAFETY: the stream isn't released, and its producer promises to write a schema.
    let code = unsafe { get_schema(&raw mut stream, &raw mut schema) };
    check(code, &mut stream)?;
    loop {
        let mut array = FFI_ArrowArray::empty();
        // SAFETY: the stream isn't released, and its producer promises to write an array, a released one at the end.
        let code = unsafe { get_next(&raw mut stream, &raw mut array) };
        check(code, &mut stream)?;
        if array.is_released() {
            return Ok((chunks, data_type(&schema)?));
        }
        chunks.push(imported(array, &schema)?);
    }
}

/// An error of a stream, with what it says.
fn check(code: c_int, stream: &mut FFI_ArrowArrayStream) -> Outcome<()> {
    if code == 0 {
        return Ok(());
    }
    // SAFETY: the stream isn't released, and was called before.
    let said = stream.get_last_error.map(|last_error| unsafe { last_error(stream) });
    let said = said.filter(|said| !said.is_null()).map(|said| {
        // SAFETY: the producer promises a string with a zero behind it, until its stream is called again.
        unsafe { CStr::from_ptr(said) }.to_string_lossy().into_owned()
    });
    let said = said.unwrap_or_else(|| format!("error {code}"));
    Err(Failure::Input(format!("its Arrow stream ended with an error: {said}")))
}

fn imported(array: FFI_ArrowArray, schema: &FFI_ArrowSchema) -> Outcome<ArrayRef> {
    if array.is_released() {
        return Err(Failure::Input(WAS_TAKEN.into()));
    }
    // SAFETY: the array isn't released, and its producer promises that it is of this schema.
    unsafe { from_ffi(array, schema) }.map(make_array).map_err(wrong)
}

fn data_type(schema: &FFI_ArrowSchema) -> Outcome<DataType> {
    DataType::try_from(schema).map_err(wrong)
}

#[expect(clippy::needless_pass_by_value, reason = "as `map_err` gives it")]
fn wrong(error: ArrowError) -> Failure {
    Failure::Input(error.to_string())
}

/// A capsule with the type of a column.
pub(in crate::arrow) fn schema_capsule<'py>(
    py: Python<'py>,
    field: &FieldRef,
) -> PyResult<Bound<'py, PyCapsule>> {
    let schema = FFI_ArrowSchema::try_from(&**field).map_err(|error| PyErr::from(wrong(error)))?;
    PyCapsule::new_with_value(py, schema, SCHEMA)
}

/// A capsule with the chunks of a column.
pub(in crate::arrow) fn stream_capsule(
    py: Python<'_>,
    field: FieldRef,
    chunks: Vec<ArrayRef>,
) -> PyResult<Bound<'_, PyCapsule>> {
    let rest = Box::new(Rest { field, chunks: chunks.into_iter() });
    let stream = FFI_ArrowArrayStream {
        get_schema: Some(get_schema),
        get_next: Some(get_next),
        get_last_error: Some(get_last_error),
        release: Some(release),
        private_data: Box::into_raw(rest).cast(),
    };
    PyCapsule::new_with_value(py, stream, STREAM)
}

/// The chunks that a stream of ours has not given yet.
struct Rest {
    field: FieldRef,
    chunks: vec::IntoIter<ArrayRef>,
}

/// Writes the type of a stream of ours.
///
/// # Safety
/// As of [`get_next`], with room for a schema.
unsafe extern "C" fn get_schema(
    stream: *mut FFI_ArrowArrayStream,
    out: *mut FFI_ArrowSchema,
) -> c_int {
    // SAFETY: the caller gives a stream that isn't released.
    let rest = unsafe { (*stream).private_data }.cast::<Rest>();
    // SAFETY: `stream_capsule` put it there, and nobody else calls the stream meanwhile.
    let field = unsafe { &(*rest).field };
    let Ok(schema) = FFI_ArrowSchema::try_from(&**field) else { return EINVAL };
    // SAFETY: the caller gives room for a schema.
    unsafe { out.write(schema) };
    0
}

/// Writes the next array of a stream of ours, a released one at the end.
///
/// # Safety
/// `stream` is one of [`stream_capsule`]'s, not released, and called by one thread at a time; `out` is room for an array.
unsafe extern "C" fn get_next(
    stream: *mut FFI_ArrowArrayStream,
    out: *mut FFI_ArrowArray,
) -> c_int {
    // SAFETY: the caller gives a stream that isn't released.
    let rest = unsafe { (*stream).private_data }.cast::<Rest>();
    // SAFETY: `stream_capsule` put it there, and nobody else calls the stream meanwhile.
    let next = unsafe { (*rest).chunks.next() };
    let array = next.map(|chunk| FFI_ArrowArray::new(&chunk.to_data()));
    // SAFETY: the caller gives room for an array.
    unsafe { out.write(array.unwrap_or_else(FFI_ArrowArray::empty)) };
    0
}

/// No stream of ours fails with more to say than its code.
extern "C" fn get_last_error(_stream: *mut FFI_ArrowArrayStream) -> *const c_char {
    ptr::null()
}

/// Frees a stream of ours.
///
/// # Safety
/// `stream` is one of [`stream_capsule`]'s, and not released.
unsafe extern "C" fn release(stream: *mut FFI_ArrowArrayStream) {
    // SAFETY: the caller gives a stream that isn't released, and nobody else uses it.
    let stream = unsafe { &mut *stream };
    // SAFETY: `stream_capsule` made it of a box, and a stream is released once.
    drop(unsafe { Box::from_raw(stream.private_data.cast::<Rest>()) });
    (stream.private_data, stream.release) = (ptr::null_mut(), None);
}

const WAS_TAKEN: &str = "its Arrow data was taken before: give an object that gives it again";
const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";
const STREAM: &CStr = c"arrow_array_stream";
/// What C calls an invalid argument.
const EINVAL: c_int = 22;
