//! The format of a sealed row.
//!
//! | byte | what |
//! |---|---|
//! | 0 | bits 4 to 7: format, 1; bit 3: set if the id is a string; bits 0 to 2: algorithm (1 AES-GCM, 2 XAES-256-GCM, 3 AES-GCM-SIV) |
//! | 1 | length of the id in bytes: 4 or 8 of an integer, 0 to 255 of a string |
//! | 2, 3 | version of the key, little-endian |
//! | 4.. | id, an integer little-endian |
//! | | nonce: 12 bytes, 24 of XAES-256-GCM |
//! | | ciphertext, as long as the plaintext |
//! | | tag, 16 bytes |
//!
//! What stands before the nonce is the header. The associated data of a row is its header, and behind it for each part of
//! the caller's the length in 4 bytes, little-endian, and the bytes.

use crate::{ColumnError, KeyId};
use sealift_core::Algorithm;

/// Bytes of a tag.
pub(crate) const TAG: usize = 16;
/// Bytes of a header without its id.
pub(crate) const FIXED: usize = 4;
const FORMAT: u8 = 0x10;
const IS_STRING: u8 = 0x08;

/// The first byte of a row under an integer id.
#[inline(always)]
pub(crate) fn format_byte(algorithm: Algorithm) -> u8 {
    let number = Algorithm::ALL.iter().position(|known| *known == algorithm);
    FORMAT | number.and_then(|number| u8::try_from(number + 1).ok()).unwrap_or(0)
}

/// The algorithm of a row's first byte, and whether its id is a string.
#[inline(always)]
fn read_format(byte: u8) -> Option<(Algorithm, bool)> {
    let algorithm = match byte & !IS_STRING {
        0x11 => Algorithm::AesGcm,
        0x12 => Algorithm::Xaes256Gcm,
        0x13 => Algorithm::AesGcmSiv,
        _ => return None,
    };
    Some((algorithm, byte & IS_STRING != 0))
}

/// The header under an integer id, in 4 or 8 bytes: bytes of the id behind a short one.
#[inline(always)]
pub(crate) fn integer_header(format: u8, id: u64, version: u16, is_wide: bool) -> [u8; 12] {
    let start = u32::from_le_bytes([format, if is_wide { 8 } else { 4 }, 0, 0]);
    let start = u128::from(start | u32::from(version) << 16);
    let all = (start | u128::from(id) << 32).to_le_bytes();
    *all.first_chunk().unwrap_or(&[0; 12])
}

/// Appends the header under a string id of at most 255 bytes.
pub(crate) fn put_string_header(format: u8, id: &[u8], version: u16, to: &mut Vec<u8>) {
    let [low, high] = version.to_le_bytes();
    let len = u8::try_from(id.len()).unwrap_or(u8::MAX);
    to.extend([format | IS_STRING, len, low, high]);
    to.extend_from_slice(&id[..len.into()]);
}

/// The header of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header<'a> {
    pub(crate) algorithm: Algorithm,
    pub(crate) id: RowId<'a>,
    pub(crate) version: u16,
    /// Bytes before the nonce.
    pub(crate) bytes: usize,
}

impl Header<'_> {
    /// Bytes of a row beside its text.
    #[inline(always)]
    pub(crate) fn overhead(&self) -> usize {
        self.bytes + self.algorithm.nonce_bytes() + TAG
    }
}

/// A key's id as it stands in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowId<'a> {
    Integer(u64),
    Bytes(&'a [u8]),
}

impl From<RowId<'_>> for KeyId {
    fn from(id: RowId<'_>) -> Self {
        match id {
            RowId::Integer(id) => Self::Integer(id),
            RowId::Bytes(id) => Self::Bytes(id.into()),
        }
    }
}

/// Reads the header of a row, and checks that nonce and tag have room behind it.
///
/// # Errors
/// What is wrong, for people.
#[inline(always)]
pub(crate) fn parse(row: &[u8]) -> Result<Header<'_>, String> {
    let Some((&[format, len, low, high], behind)) = row.split_first_chunk::<FIXED>() else {
        return Err(too_short(row, FIXED));
    };
    let Some((algorithm, is_string)) = read_format(format) else {
        return Err(wrong_format(format));
    };
    let id = match (is_string, usize::from(len)) {
        (true, len) => behind.get(..len).map(RowId::Bytes),
        (false, 4) => behind.first_chunk().map(|id| RowId::Integer(u32::from_le_bytes(*id).into())),
        (false, 8) => behind.first_chunk().map(|id| RowId::Integer(u64::from_le_bytes(*id))),
        (false, len) => return Err(format!("its integer id has {len} bytes, not 4 or 8")),
    };
    let bytes = FIXED + usize::from(len);
    let least = bytes + algorithm.nonce_bytes() + TAG;
    match id {
        Some(id) if row.len() >= least => {
            Ok(Header { algorithm, id, version: u16::from_le_bytes([low, high]), bytes })
        }
        _ => Err(too_short(row, least)),
    }
}

/// Refuses a row whose key is for another algorithm than its first byte says.
#[inline(always)]
pub(crate) fn check_algorithm(
    header: &Header<'_>,
    of_key: Algorithm,
    row: u64,
) -> Result<(), ColumnError> {
    if header.algorithm == of_key {
        return Ok(());
    }
    let reason = format!("its first byte says {}, and its key is for {of_key}", header.algorithm);
    Err(ColumnError::Malformed { row, reason })
}

#[cold]
fn too_short(row: &[u8], least: usize) -> String {
    format!("it has {} bytes, and at least {least} are needed", row.len())
}

#[cold]
fn wrong_format(format: u8) -> String {
    format!("its first byte is {format:#04x}, which is no format and algorithm known here")
}
