//! What was worked, as Arrow arrays.

use crate::errors::{Failure, Outcome};
use arrow_array::builder::BooleanBufferBuilder;
use arrow_array::{Array, ArrayRef, BinaryArray, LargeBinaryArray, LargeStringArray, StringArray};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer};
use arrow_schema::{DataType, Field};
use pyo3_arrow::PyChunkedArray;
use sealift_columns::{Offsets, Output};
use std::sync::Arc;

/// A column of the results of chunks, null where `nulls` says.
pub(super) fn column(outputs: Vec<Output>, nulls: Vec<Option<NullBuffer>>, to: To) -> Outcome<PyChunkedArray> {
    let is_large = |output: &Output| matches!(output.offsets, Offsets::I64(_));
    let data_type = match (to, outputs.iter().any(is_large)) {
        (To::Binary, false) => DataType::Binary,
        (To::Binary, true) => DataType::LargeBinary,
        (To::String, false) => DataType::Utf8,
        (To::String, true) => DataType::LargeUtf8,
    };
    let arrays = outputs.into_iter().zip(nulls).map(|(output, nulls)| array(output, nulls, to));
    let arrays = arrays.collect::<Outcome<Vec<_>>>()?;
    Ok(PyChunkedArray::try_new(arrays, Arc::new(Field::new("", data_type, true)))?)
}

/// The type of a column of results; its offsets are large where the bytes of a chunk need it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum To {
    Binary,
    String,
}

impl To {
    pub(super) fn read(name: &str) -> Outcome<Self> {
        match name {
            "binary" => Ok(Self::Binary),
            "string" => Ok(Self::String),
            _ => Err(Failure::Input(format!("to is {name:?}: give \"binary\" or \"string\""))),
        }
    }
}

fn array(output: Output, nulls: Option<NullBuffer>, to: To) -> Outcome<ArrayRef> {
    let bytes = Buffer::from_vec(output.bytes);
    let wrong = |error: arrow_schema::ArrowError| Failure::Input(error.to_string());
    let array: ArrayRef = match (output.offsets, to) {
        (Offsets::I32(offsets), To::Binary) => {
            Arc::new(BinaryArray::try_new(OffsetBuffer::new(offsets.into()), bytes, nulls).map_err(wrong)?)
        }
        (Offsets::I64(offsets), To::Binary) => {
            Arc::new(LargeBinaryArray::try_new(OffsetBuffer::new(offsets.into()), bytes, nulls).map_err(wrong)?)
        }
        (Offsets::I32(offsets), To::String) => {
            Arc::new(StringArray::try_new(OffsetBuffer::new(offsets.into()), bytes, nulls).map_err(wrong)?)
        }
        (Offsets::I64(offsets), To::String) => {
            Arc::new(LargeStringArray::try_new(OffsetBuffer::new(offsets.into()), bytes, nulls).map_err(wrong)?)
        }
    };
    Ok(array)
}

/// The nulls of each chunk, and of rows that did not open; these are ascending.
pub(super) fn nulls(chunks: &[ArrayRef], failed: &[u64]) -> Vec<Option<NullBuffer>> {
    let (mut first_row, mut failed) = (0u64, failed.iter().peekable());
    let mut each = |chunk: &ArrayRef| {
        let end = first_row + chunk.len() as u64;
        let own = std::iter::from_fn(|| failed.next_if(|row| **row < end)).map(|row| row - first_row);
        let nulls = with_failed(chunk, own.peekable());
        first_row = end;
        nulls
    };
    chunks.iter().map(&mut each).collect()
}

fn with_failed(
    chunk: &ArrayRef,
    mut failed: std::iter::Peekable<impl Iterator<Item = u64>>,
) -> Option<NullBuffer> {
    if failed.peek().is_none() {
        return chunk.nulls().cloned();
    }
    let mut bits = BooleanBufferBuilder::new(chunk.len());
    match chunk.nulls() {
        Some(nulls) => bits.append_buffer(nulls.inner()),
        None => bits.append_n(chunk.len(), true),
    }
    for row in failed {
        bits.set_bit(usize::try_from(row).unwrap_or(0), false);
    }
    Some(NullBuffer::new(bits.finish()))
}
