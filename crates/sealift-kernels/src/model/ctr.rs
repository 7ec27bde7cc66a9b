//! Counter mode of SP 800-38A, section 6.5.

use sealift_core::SlotText;
use zeroize::Zeroize;

use super::aes;
use crate::{once, schedule::Expanded};

/// Adds the key stream of a counter block, a number that counts in all its bits, to a text.
pub(crate) fn add_key_stream(schedule: &Expanded, mut counter: u128, text: SlotText<'_>) {
    let mut add = |input, output: &mut [u8]| {
        add_block(aes::encrypt(schedule.round_keys(), counter.swap_bytes()), input, output);
        counter = counter.wrapping_add(1);
    };
    match text {
        SlotText::Apart { input, output } => {
            for (from, to) in input.chunks(16).zip(output.chunks_mut(16)) {
                add(once::block(from), to);
            }
        }
        SlotText::InPlace(text) => {
            for block in text.chunks_mut(16) {
                add(once::block(block), block);
            }
        }
        SlotText::Read(_) => {}
    }
}

fn add_block(stream: u128, mut input: [u8; 16], output: &mut [u8]) {
    let mut result = (u128::from_le_bytes(input) ^ stream).to_le_bytes();
    output.copy_from_slice(&result[..output.len()]);
    input.zeroize();
    result.zeroize();
}
