//! Arrays of strings whose bytes were checked.

use arrow_array::types::{ByteArrayType, LargeUtf8Type, Utf8Type};
use arrow_array::{ArrayRef, GenericByteArray};
use arrow_buffer::{ArrowNativeType, Buffer, NullBuffer, OffsetBuffer};
use sealift_columns::{Offsets, Output};
use std::sync::Arc;
use zeroize::Zeroize;

/// The rows of a chunk, which are UTF-8.
pub(in crate::arrow) struct Texts(Output);

impl Texts {
    /// Checks the rows of all chunks.
    ///
    /// # Errors
    /// The first row that is not UTF-8, over all chunks; all bytes are wiped.
    pub(in crate::arrow) fn check(mut outputs: Vec<Output>) -> Result<Vec<Self>, u64> {
        let mut first_row = 0;
        for output in &outputs {
            let rows = match &output.offsets {
                Offsets::I32(offsets) => check(&output.bytes, offsets),
                Offsets::I64(offsets) => check(&output.bytes, offsets),
            };
            match rows {
                Ok(rows) => first_row += rows as u64,
                Err(row) => {
                    outputs.iter_mut().for_each(|output| output.bytes.zeroize());
                    return Err(first_row + row as u64);
                }
            }
        }
        Ok(outputs.into_iter().map(Self).collect())
    }

    /// An array of them, which doesn't check them again.
    pub(in crate::arrow) fn into_array(self, nulls: Option<NullBuffer>) -> ArrayRef {
        let Output { bytes, offsets, .. } = self.0;
        match offsets {
            Offsets::I32(offsets) => Arc::new(strings::<Utf8Type>(bytes, offsets, nulls)),
            Offsets::I64(offsets) => Arc::new(strings::<LargeUtf8Type>(bytes, offsets, nulls)),
        }
    }
}

/// How many rows there are, or the first that is not UTF-8.
fn check<T: ArrowNativeType>(bytes: &[u8], offsets: &[T]) -> Result<usize, usize> {
    let is_start = |text: &str, offset: &T| text.is_char_boundary(offset.as_usize());
    let is_text = std::str::from_utf8(bytes)
        .is_ok_and(|text| offsets.iter().all(|offset| is_start(text, offset)));
    if is_text {
        return Ok(offsets.len().saturating_sub(1));
    }
    let is_wrong =
        |pair: &[T]| std::str::from_utf8(&bytes[pair[0].as_usize()..pair[1].as_usize()]).is_err();
    Err(offsets.windows(2).position(is_wrong).unwrap_or(0))
}

/// An array of rows that [`check`] has seen.
fn strings<T: ByteArrayType<Native = str>>(
    bytes: Vec<u8>,
    offsets: Vec<T::Offset>,
    nulls: Option<NullBuffer>,
) -> GenericByteArray<T> {
    let offsets = OffsetBuffer::new(offsets.into());
    assert!(
        nulls.as_ref().is_none_or(|nulls| nulls.len() + 1 == offsets.len()),
        "a null for each row"
    );
    // SAFETY: the bytes are UTF-8, as `Texts` says; offsets ascend, as an `OffsetBuffer` has them, each before a character or
    // at the end, so none is beyond the bytes; and there are as many nulls as rows.
    unsafe { GenericByteArray::new_unchecked(offsets, Buffer::from_vec(bytes), nulls) }
}
