//! The mode of SP 800-38D, section 7.

use sealift_core::{Op, SlotText, Status};
use zeroize::Zeroize;

use super::{aes, ghash::Ghash};
use crate::{once, schedule::Expanded, verdict::Fitting};

/// Seals, opens or verifies one message.
pub(crate) fn process(schedule: &Expanded, mut slot: Fitting<'_, '_>) -> Status {
    let (op, aad) = (slot.op(), slot.aad());
    let first_counter = first_counter(schedule, slot.nonce());
    let mut hash = Ghash::new(schedule.hash_key());
    hash.padded(aad);
    let text_len = match slot.text() {
        SlotText::Apart { input, output } => {
            let mut stream = Stream { schedule, counter: first_counter };
            for (from, to) in input.chunks(16).zip(output.chunks_mut(16)) {
                stream.block(op, once::block(from), to, &mut hash);
            }
            input.len()
        }
        SlotText::InPlace(text) => {
            let mut stream = Stream { schedule, counter: first_counter };
            for chunk in text.chunks_mut(16) {
                stream.block(op, once::block(chunk), chunk, &mut hash);
            }
            text.len()
        }
        SlotText::Read(text) => {
            hash.padded(text);
            text.len()
        }
    };
    hash.lengths(aad.len(), text_len);
    let mask = aes::encrypt(schedule.round_keys(), first_counter.swap_bytes());
    slot.conclude(hash.sum().swap_bytes() ^ mask)
}

/// J0: the nonce and a counter of 1, or for nonces of other lengths than 12 their hash.
fn first_counter(schedule: &Expanded, nonce: &[u8]) -> u128 {
    if nonce.len() == 12 {
        return u128::from_be_bytes(once::block(nonce)) | 1;
    }
    let mut hash = Ghash::new(schedule.hash_key());
    hash.padded(nonce);
    hash.lengths(0, nonce.len());
    hash.sum()
}

/// The key stream of one message, and its ciphertext's way into the hash.
struct Stream<'s> {
    schedule: &'s Expanded,
    /// The counter block used last, as a big-endian number.
    counter: u128,
}

impl Stream<'_> {
    /// Turns one block (`input`, zeros behind a short one) into `output` and hashes the ciphertext.
    fn block(&mut self, op: Op, mut input: [u8; 16], output: &mut [u8], hash: &mut Ghash) {
        self.counter = increment(self.counter);
        let stream = aes::encrypt(self.schedule.round_keys(), self.counter.swap_bytes());
        let mut result = (u128::from_le_bytes(input) ^ stream).to_le_bytes();
        result[output.len()..].zeroize();
        output.copy_from_slice(&result[..output.len()]);
        hash.block(if matches!(op, Op::Seal) { result } else { input });
        input.zeroize();
        result.zeroize();
    }
}

/// Adds one to the last 32 bits, which wrap (SP 800-38D, 6.2).
fn increment(counter: u128) -> u128 {
    const LAST_32: u128 = 0xffff_ffff;
    (counter & !LAST_32) | (counter.wrapping_add(1) & LAST_32)
}
