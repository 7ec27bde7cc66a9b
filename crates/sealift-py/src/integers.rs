//! Columns of integers: offsets and session ids.

use crate::errors::{Outcome, wrong_type};
use crate::room;
use pyo3::buffer::PyUntypedBuffer;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView};
use std::ffi::CStr;

/// One item of a buffer.
#[derive(Clone, Copy)]
pub(crate) enum Integer {
    Signed(i64),
    Unsigned(u64),
}

/// Copies a buffer's integers of 4 or 8 bytes, at any address and distance; none if its items are
/// something else.
pub(crate) fn read<T>(
    object: &Bound<'_, PyAny>,
    buffer: &PyUntypedBuffer,
    name: &str,
    take: impl Fn(Integer) -> Outcome<T>,
) -> Outcome<Option<Vec<T>>> {
    check_byte_order(buffer.format(), name)?;
    let Some(integer) = reader(buffer.format(), buffer.item_size()) else { return Ok(None) };
    let mut all = room::empty(buffer.item_count(), name)?;
    // Items may lie at odd addresses, where no slice of integers may be.
    let bytes = PyMemoryView::from(object)?.call_method0("tobytes")?;
    let bytes = bytes.cast_into::<PyBytes>().map_err(PyErr::from)?;
    for item in bytes.as_bytes().chunks_exact(buffer.item_size()) {
        all.push(take(integer(item))?);
    }
    Ok(Some(all))
}

/// Refuses integers whose bytes this processor has the other way round.
pub(crate) fn check_byte_order(format: &CStr, name: &str) -> PyResult<()> {
    let (foreign, order, native) =
        if cfg!(target_endian = "little") { (">!", "big", '<') } else { ("<", "little", '>') };
    let format = format.to_string_lossy();
    if format.starts_with(|first| foreign.contains(first)) {
        return Err(wrong_type(format!(
            "{name} has items of format {format:?}, {order}-endian: use array.astype('{native}u8')"
        )));
    }
    Ok(())
}

/// How items of a format become integers.
fn reader(format: &CStr, item_bytes: usize) -> Option<fn(&[u8]) -> Integer> {
    let code = match format.to_bytes() {
        [b'@' | b'=' | b'<' | b'>' | b'!', code] | [code] => *code,
        _ => return None,
    };
    match (code, item_bytes) {
        (b'i' | b'l' | b'q' | b'n', 4) => {
            Some(|item| Integer::Signed(i32::from_ne_bytes(array(item)).into()))
        }
        (b'i' | b'l' | b'q' | b'n', 8) => {
            Some(|item| Integer::Signed(i64::from_ne_bytes(array(item))))
        }
        (b'I' | b'L' | b'Q' | b'N', 4) => {
            Some(|item| Integer::Unsigned(u32::from_ne_bytes(array(item)).into()))
        }
        (b'I' | b'L' | b'Q' | b'N', 8) => {
            Some(|item| Integer::Unsigned(u64::from_ne_bytes(array(item))))
        }
        _ => None,
    }
}

/// An item's bytes, as many as its format has.
fn array<const N: usize>(item: &[u8]) -> [u8; N] {
    std::array::from_fn(|byte| item[byte])
}
