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

use sealift_core::NONCE_BYTES;

/// Bytes of a nonce.
pub(crate) const NONCE: usize = NONCE_BYTES;
/// Bytes of a tag.
pub(crate) const TAG: usize = 16;
/// Bytes of a header without its id.
pub(crate) const FIXED: usize = 4;
/// Format 1, AES-GCM.
const AES_GCM: u8 = 0x11;
const IS_STRING: u8 = 0x08;

/// The header under an integer id, in 4 or 8 bytes: zeros behind a short one.
#[inline(always)]
pub(crate) fn integer_header(id: u64, version: u16, is_wide: bool) -> [u8; 12] {
    let mut header = [0; 12];
    let [low, high] = version.to_le_bytes();
    header[..FIXED].copy_from_slice(&[AES_GCM, if is_wide { 8 } else { 4 }, low, high]);
    header[FIXED..].copy_from_slice(&id.to_le_bytes());
    header
}

/// Appends the header under a string id of at most 255 bytes.
#[inline(always)]
pub(crate) fn put_string_header(id: &[u8], version: u16, to: &mut Vec<u8>) {
    let [low, high] = version.to_le_bytes();
    let len = u8::try_from(id.len()).unwrap_or(u8::MAX);
    to.extend([AES_GCM | IS_STRING, len, low, high]);
    to.extend_from_slice(id);
}

/// The header of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header<'a> {
    pub(crate) id: RowId<'a>,
    pub(crate) version: u16,
    /// Bytes before the nonce.
    pub(crate) bytes: usize,
}

/// A key's id as it stands in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowId<'a> {
    Integer(u64),
    Bytes(&'a [u8]),
}

/// Reads the header of a row, and checks that nonce and tag have room behind it.
///
/// # Errors
/// What is wrong, for people.
#[inline(always)]
pub(crate) fn parse(row: &[u8]) -> Result<Header<'_>, String> {
    let Some((&[format, len, low, high], behind)) = row.split_first_chunk::<FIXED>() else {
        return Err(too_short(row, FIXED + NONCE + TAG));
    };
    let len = usize::from(len);
    let bytes = FIXED + len;
    if row.len() < bytes + NONCE + TAG {
        return Err(if format & !IS_STRING == AES_GCM {
            too_short(row, bytes + NONCE + TAG)
        } else {
            wrong_format(format)
        });
    }
    let id = match (format, len) {
        (AES_GCM, 4) => RowId::Integer(u32::from_le_bytes([behind[0], behind[1], behind[2], behind[3]]).into()),
        (AES_GCM, 8) => {
            let mut id = [0; 8];
            id.copy_from_slice(&behind[..8]);
            RowId::Integer(u64::from_le_bytes(id))
        }
        (AES_GCM, _) => return Err(format!("its integer id has {len} bytes, not 4 or 8")),
        (format, _) if format == AES_GCM | IS_STRING => RowId::Bytes(&behind[..len]),
        _ => return Err(wrong_format(format)),
    };
    Ok(Header { id, version: u16::from_le_bytes([low, high]), bytes })
}

#[cold]
fn too_short(row: &[u8], least: usize) -> String {
    format!("it has {} bytes, and at least {least} are needed", row.len())
}

#[cold]
fn wrong_format(format: u8) -> String {
    format!("its first byte is {format:#04x}, which is no format and algorithm known here")
}
