//! What every path does with a message before and after its cipher: checks and verdict.

use sealift_core::{MAX_NONCE_BYTES, MAX_TEXT_BYTES, Op, Slot, SlotTag, SlotText, Status};
use subtle::ConstantTimeEq;

use crate::once;

/// Whether the parts of a message fit its operation and each other.
///
/// A checked batch gives only such; a slot can also be put together by hand, and the kernels rely
/// on equal lengths and never accept an empty tag.
pub(crate) fn is_consistent(slot: &Slot<'_>) -> bool {
    let text_len = match (slot.op, &slot.text) {
        (Op::Seal | Op::Open, SlotText::Apart { input, output }) if input.len() == output.len() => {
            input.len()
        }
        (Op::Seal | Op::Open, SlotText::InPlace(text)) => text.len(),
        (Op::Verify, SlotText::Read(text)) => text.len(),
        _ => return false,
    };
    let tag_len = match (slot.op, &slot.tag) {
        (Op::Seal, SlotTag::Write(tag)) => tag.len(),
        (Op::Open | Op::Verify, SlotTag::Check(tag)) => tag.len(),
        _ => return false,
    };
    matches!(tag_len, 4 | 8 | 12..=16)
        && matches!(slot.nonce.len(), 1..=MAX_NONCE_BYTES)
        && text_len as u64 <= MAX_TEXT_BYTES
}

/// Writes the tag of a sealed message or compares that of an opened one; a message that fails
/// leaves only zeros.
///
/// `tag` is the computed tag, its first byte lowest.
#[inline]
pub(crate) fn conclude(slot: Slot<'_>, tag: u128) -> Status {
    let accepted = match slot.tag {
        SlotTag::Write(to) => {
            write(to, tag.to_le_bytes());
            true
        }
        SlotTag::Check(expected) => is_equal(tag, expected),
        SlotTag::Missing => false,
    };
    if accepted { Status::Ok } else { fail(slot.text) }
}

/// Zeroes the output of a message and says that it failed.
pub(crate) fn fail(text: SlotText<'_>) -> Status {
    match text {
        SlotText::Apart { output, .. } => output.fill(0),
        SlotText::InPlace(text) => text.fill(0),
        SlotText::Read(_) => {}
    }
    Status::AuthFailed
}

fn write(to: &mut [u8], tag: [u8; 16]) {
    // The plain case by itself spares a call of `memcpy`.
    match <&mut [u8; 16]>::try_from(&mut *to) {
        Ok(whole) => *whole = tag,
        Err(_) => to.copy_from_slice(&tag[..to.len()]),
    }
}

/// Compares the first bytes of a tag with the expected ones, in constant time.
fn is_equal(tag: u128, expected: &[u8]) -> bool {
    let mask = u128::MAX >> (128 - 8 * expected.len());
    let expected = u128::from_le_bytes(once::block(expected));
    bool::from((tag & mask).ct_eq(&expected))
}
