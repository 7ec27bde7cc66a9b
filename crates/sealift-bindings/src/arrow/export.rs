//! What was worked, as Arrow arrays.

use super::{column_error, ffi};
use crate::errors::{Failure, Outcome};
use arrow_array::builder::BooleanBufferBuilder;
use arrow_array::{
    Array, ArrayRef, BinaryArray, FixedSizeBinaryArray, LargeBinaryArray, StructArray,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{DataType, Field, FieldRef, Fields};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use sealift_columns::{ColumnError, Offsets, Output};
use std::mem;
use std::sync::Arc;

/// A column that was worked, for what speaks the Arrow PyCapsule interface: pyarrow, polars.
#[pyclass(frozen, module = "sealift.arrow")]
pub(crate) struct ArrowColumn {
    chunks: Vec<ArrayRef>,
    field: FieldRef,
}

#[pymethods]
impl ArrowColumn {
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        ffi::schema_capsule(py, &self.field)
    }

    /// The chunks as a stream.
    ///
    /// The type is the column's whatever is requested, as the interface allows.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        ffi::stream_capsule(py, self.field.clone(), self.chunks.clone())
    }

    fn __len__(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.len()).sum()
    }

    fn __repr__(&self) -> String {
        let (rows, chunks) = (self.__len__(), self.chunks.len());
        format!("ArrowColumn({}, {rows} rows in {chunks} chunks)", self.field.data_type())
    }
}

/// A column of the results of chunks, null where `nulls` says.
pub(super) fn column(
    outputs: Vec<Output>,
    nulls: Vec<Option<NullBuffer>>,
    to: To,
    name: &str,
) -> Outcome<ArrowColumn> {
    if let Some(nonce_bytes) = to.nonce_bytes() {
        return Ok(structs(outputs, nulls, nonce_bytes));
    }
    let is_large = outputs.iter().any(|output| matches!(output.offsets, Offsets::I64(_)));
    let (data_type, chunks) = if to == To::String {
        let not_utf8 = |row| column_error(ColumnError::NotUtf8 { row }, name);
        let texts = ffi::Texts::check(outputs).map_err(not_utf8)?.into_iter();
        let data_type = if is_large { DataType::LargeUtf8 } else { DataType::Utf8 };
        (data_type, texts.zip(nulls).map(|(texts, nulls)| texts.into_array(nulls)).collect())
    } else {
        let data_type = if is_large { DataType::LargeBinary } else { DataType::Binary };
        (
            data_type,
            outputs.into_iter().zip(nulls).map(|(output, nulls)| binary(output, nulls)).collect(),
        )
    };
    Ok(ArrowColumn { chunks, field: Arc::new(Field::new("", data_type, true)) })
}

/// The type of a column of results; its offsets are large where the bytes of a chunk need it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum To {
    Binary,
    String,
    /// Structs of nonce, of so many bytes, ciphertext and tag.
    Structs(usize),
}

impl To {
    fn nonce_bytes(self) -> Option<usize> {
        match self {
            Self::Structs(bytes) => Some(bytes),
            Self::Binary | Self::String => None,
        }
    }

    pub(super) fn read(name: &str) -> Outcome<Self> {
        match name {
            "binary" => Ok(Self::Binary),
            "string" => Ok(Self::String),
            _ => Err(Failure::Input(format!("to is {name:?}: give \"binary\" or \"string\""))),
        }
    }
}

fn binary(output: Output, nulls: Option<NullBuffer>) -> ArrayRef {
    let Output { bytes, offsets, .. } = output;
    match offsets {
        Offsets::I32(offsets) => {
            Arc::new(BinaryArray::new(OffsetBuffer::new(offsets.into()), bytes.into(), nulls))
        }
        Offsets::I64(offsets) => {
            Arc::new(LargeBinaryArray::new(OffsetBuffer::new(offsets.into()), bytes.into(), nulls))
        }
    }
}

/// Columns of nonces, ciphertexts and tags.
fn structs(
    outputs: Vec<Output>,
    nulls: Vec<Option<NullBuffer>>,
    nonce_bytes: usize,
) -> ArrowColumn {
    let is_large = outputs.iter().any(|output| matches!(output.offsets, Offsets::I64(_)));
    let fixed = |bytes: usize| i32::try_from(bytes).unwrap_or(0);
    let data_type = if is_large { DataType::LargeBinary } else { DataType::Binary };
    let fields = Fields::from(vec![
        Field::new("nonce", DataType::FixedSizeBinary(fixed(nonce_bytes)), true),
        Field::new("ciphertext", data_type, true),
        Field::new("tag", DataType::FixedSizeBinary(16), true),
    ]);
    let arrays = outputs.into_iter().zip(nulls).map(|(mut output, nulls)| {
        let (mut nonces, tags) = (mem::take(&mut output.nonces), mem::take(&mut output.tags));
        // A keyring without a key doesn't know how long they are, and all rows are nulls.
        nonces.resize(tags.len() / TAG_BYTES * nonce_bytes, 0);
        let nonces = FixedSizeBinaryArray::new(fixed(nonce_bytes), nonces.into(), nulls.clone());
        let tags = FixedSizeBinaryArray::new(fixed(TAG_BYTES), tags.into(), nulls.clone());
        let ciphertexts = binary(output, nulls.clone());
        let columns: Vec<ArrayRef> = vec![Arc::new(nonces), ciphertexts, Arc::new(tags)];
        Arc::new(StructArray::new(fields.clone(), columns, nulls)) as ArrayRef
    });
    let chunks = arrays.collect();
    ArrowColumn { chunks, field: Arc::new(Field::new("", DataType::Struct(fields.clone()), true)) }
}

/// The nulls of each chunk, and of rows that did not open; these are ascending.
pub(super) fn nulls(chunks: &[ArrayRef], failed: &[u64]) -> Vec<Option<NullBuffer>> {
    let (mut first_row, mut failed) = (0u64, failed.iter().peekable());
    let mut each = |chunk: &ArrayRef| {
        let end = first_row + chunk.len() as u64;
        let own =
            std::iter::from_fn(|| failed.next_if(|row| **row < end)).map(|row| row - first_row);
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
    let own = own_nulls(chunk);
    if failed.peek().is_none() {
        return own;
    }
    let mut bits = BooleanBufferBuilder::new(chunk.len());
    match own {
        Some(nulls) => bits.append_buffer(nulls.inner()),
        None => bits.append_n(chunk.len(), true),
    }
    for row in failed {
        bits.set_bit(usize::try_from(row).unwrap_or(0), false);
    }
    Some(NullBuffer::new(bits.finish()))
}

/// Rows without a value: nulls, and structs without a ciphertext.
fn own_nulls(chunk: &ArrayRef) -> Option<NullBuffer> {
    let parts = chunk.as_any().downcast_ref::<StructArray>();
    let ciphertext = parts.and_then(|parts| parts.column_by_name("ciphertext"));
    NullBuffer::union(chunk.nulls(), ciphertext.and_then(|ciphertext| ciphertext.nulls()))
}

const TAG_BYTES: usize = 16;
