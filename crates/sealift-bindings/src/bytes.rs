//! One bytes-like object.

use crate::errors::{type_name, wrong_layout, wrong_type};
use crate::ffi::{self, Memory};
use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

/// Bytes that a Python object lends for the length of a call.
pub(crate) enum Lent<'py> {
    /// A `bytes` object, which nobody can change.
    Bytes(Bound<'py, PyBytes>),
    /// Contiguous memory behind the buffer protocol, which others may write to.
    Buffer(Memory),
}

impl<'py> Lent<'py> {
    /// Takes hold of an object's bytes.
    pub(crate) fn read(object: &Bound<'py, PyAny>, name: &str) -> PyResult<Self> {
        if let Ok(bytes) = object.cast_exact::<PyBytes>() {
            return Ok(Self::Bytes(bytes.clone()));
        }
        Memory::whole(buffer(object, name)?, name).map(Self::Buffer)
    }

    /// Takes hold of a buffer to write to.
    pub(crate) fn read_writable(object: &Bound<'py, PyAny>, name: &str) -> PyResult<Memory> {
        let buffer = buffer(object, name)?;
        check_writable(&buffer, name)?;
        Memory::whole(buffer, name)
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        match self {
            Self::Bytes(bytes) => bytes.as_bytes(),
            Self::Buffer(memory) => memory.bytes(),
        }
    }

    /// Whether nobody can write to it meanwhile.
    pub(crate) fn is_frozen(&self) -> bool {
        matches!(self, Self::Bytes(_))
    }
}

/// Takes hold of an object's buffer of bytes, of any shape.
pub(crate) fn buffer(object: &Bound<'_, PyAny>, name: &str) -> PyResult<PyUntypedBuffer> {
    let Some(buffer) = held(object, name)? else {
        return Err(wrong_type(no_bytes(object, name)));
    };
    if buffer.as_typed::<u8>().is_err() {
        let (format, bytes) = (buffer.format().to_string_lossy(), buffer.item_size());
        return Err(wrong_type(format!(
            "{name} has items of {bytes} bytes and format {format:?}: give unsigned bytes, \
             for example array.view(numpy.uint8) or memoryview(buffer).cast(\"B\")"
        )));
    }
    if buffer.suboffsets().is_some() {
        return Err(wrong_layout(format!("{name} is not contiguous: its rows are pointers")));
    }
    Ok(buffer)
}

/// Takes hold of an object's buffer, whatever its items are; none if it has no buffer.
pub(crate) fn held(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Option<PyUntypedBuffer>> {
    let py = object.py();
    match PyUntypedBuffer::get(object) {
        Ok(buffer) => Ok(Some(buffer)),
        // What Python says of an object without the protocol.
        Err(error) if error.is_instance_of::<PyTypeError>(py) => Ok(None),
        Err(cause) => {
            let kind = type_name(object);
            let error =
                wrong_type(format!("{name} is {kind} and its buffer can't be taken: {cause}"));
            error.set_cause(py, Some(cause));
            Err(error)
        }
    }
}

/// Whether nobody can write to an object's bytes: only then may a device read them twice.
///
/// Subclasses of bytes may lend any memory. A read-only view says nothing of who else writes.
pub(crate) fn is_frozen(object: &Bound<'_, PyAny>) -> bool {
    object.is_exact_instance_of::<PyBytes>() || object.is_instance_of::<ffi::Column>()
}

/// Refuses what can't be written to.
pub(crate) fn check_writable(buffer: &PyUntypedBuffer, name: &str) -> PyResult<()> {
    if buffer.readonly() {
        return Err(wrong_type(format!(
            "{name} is read-only: give a bytearray or another buffer that can be written to"
        )));
    }
    Ok(())
}

/// Why an object is no bytes.
pub(crate) fn no_bytes(object: &Bound<'_, PyAny>, name: &str) -> String {
    let hint = match object.cast::<PyString>() {
        Ok(text) if text.to_str().is_ok_and(is_hex) => {
            "it looks like hex, of which bytes.fromhex(text) makes bytes"
        }
        Ok(_) if name.starts_with("key") => {
            "decode it, for example with bytes.fromhex or base64.b64decode"
        }
        Ok(_) => "encode it, for example text.encode()",
        Err(_) => "give bytes, bytearray, memoryview or an array of bytes",
    };
    format!("{name} is {} where bytes belong: {hint}", type_name(object))
}

fn is_hex(text: &str) -> bool {
    !text.is_empty()
        && text.len().is_multiple_of(2)
        && text.bytes().all(|digit| digit.is_ascii_hexdigit())
}
