//! Arrays of strings whose bytes were checked.
#![allow(unsafe_code)]

use arrow_array::GenericByteArray;
use arrow_array::types::ByteArrayType;
use arrow_buffer::{ArrowNativeType, Buffer, NullBuffer, OffsetBuffer};
use zeroize::Zeroize;

/// An array of UTF-8 of the bytes and offsets of an output. It is checked here and not again by the array.
///
/// # Errors
/// The first row that is not UTF-8; the bytes are wiped.
pub(super) fn strings<T: ByteArrayType<Native = str>>(
    mut bytes: Vec<u8>,
    offsets: OffsetBuffer<T::Offset>,
    nulls: Option<NullBuffer>,
) -> Result<GenericByteArray<T>, usize> {
    let is_start = |text: &str, offset: &T::Offset| text.is_char_boundary(offset.as_usize());
    let is_text = std::str::from_utf8(&bytes)
        .is_ok_and(|text| offsets.iter().all(|offset| is_start(text, offset)));
    if !is_text {
        let is_wrong = |pair: &[T::Offset]| {
            std::str::from_utf8(&bytes[pair[0].as_usize()..pair[1].as_usize()]).is_err()
        };
        let row = offsets.windows(2).position(is_wrong).unwrap_or(0);
        bytes.zeroize();
        return Err(row);
    }
    assert!(
        nulls.as_ref().is_none_or(|nulls| nulls.len() + 1 == offsets.len()),
        "a null for each row"
    );
    // SAFETY: the bytes are UTF-8; offsets ascend, as an `OffsetBuffer` has them, each before a character or at the end, so
    // none is beyond the bytes; and there are as many nulls as rows.
    Ok(unsafe { GenericByteArray::new_unchecked(offsets, Buffer::from_vec(bytes), nulls) })
}
