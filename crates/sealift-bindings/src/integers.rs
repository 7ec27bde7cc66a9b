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
    let Some(kind) = Kind::of(buffer.format(), buffer.item_size()) else { return Ok(None) };
    let mut all = room::empty(buffer.item_count(), name)?;
    // Items may lie at odd addresses, where no slice of integers may be.
    let bytes = PyMemoryView::from(object)?.call_method0("tobytes")?;
    let bytes = bytes.cast_into::<PyBytes>().map_err(PyErr::from)?;
    let bytes = bytes.as_bytes();
    // A loop for each kind: a batch has a session for each message.
    match kind {
        Kind::I32 => fill(&mut all, bytes, |item| take(signed(i32::from_ne_bytes(item)))),
        Kind::I64 => fill(&mut all, bytes, |item| take(signed(i64::from_ne_bytes(item)))),
        Kind::U32 => fill(&mut all, bytes, |item| take(unsigned(u32::from_ne_bytes(item)))),
        Kind::U64 => fill(&mut all, bytes, |item| take(unsigned(u64::from_ne_bytes(item)))),
    }?;
    Ok(Some(all))
}

fn fill<T, const N: usize>(
    all: &mut Vec<T>,
    bytes: &[u8],
    take: impl Fn([u8; N]) -> Outcome<T>,
) -> Outcome<()> {
    for item in bytes.as_chunks().0 {
        all.push(take(*item)?);
    }
    Ok(())
}

fn signed(item: impl Into<i64>) -> Integer {
    Integer::Signed(item.into())
}

fn unsigned(item: impl Into<u64>) -> Integer {
    Integer::Unsigned(item.into())
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

/// What the items of a buffer are.
#[derive(Clone, Copy)]
enum Kind {
    I32,
    I64,
    U32,
    U64,
}

impl Kind {
    fn of(format: &CStr, item_bytes: usize) -> Option<Self> {
        let code = match format.to_bytes() {
            [b'@' | b'=' | b'<' | b'>' | b'!', code] | [code] => *code,
            _ => return None,
        };
        match (code, item_bytes) {
            (b'i' | b'l' | b'q' | b'n', 4) => Some(Self::I32),
            (b'i' | b'l' | b'q' | b'n', 8) => Some(Self::I64),
            (b'I' | b'L' | b'Q' | b'N', 4) => Some(Self::U32),
            (b'I' | b'L' | b'Q' | b'N', 8) => Some(Self::U64),
            _ => None,
        }
    }
}
