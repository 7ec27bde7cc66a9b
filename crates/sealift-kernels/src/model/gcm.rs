//! The mode of SP 800-38D, section 7.

use sealift_core::{Op, PartHash, SlotText, Status};
use zeroize::Zeroize;

use super::{aes, ghash::Ghash};
use crate::{once, schedule::Expanded, verdict::Fitting};

/// Seals, opens or verifies one message.
pub(crate) fn process(schedule: &Expanded, mut slot: Fitting<'_, '_>) -> Status {
    let (op, aad) = (slot.op(), slot.aad());
    let first_counter = first_counter(schedule, slot.nonce());
    let mut hash = Ghash::new(schedule.hash_key());
    hash.padded(aad);
    let mut stream = Stream { schedule, counter: first_counter };
    let text_len = stream.text(op, slot.text(), &mut hash);
    hash.lengths(aad.len(), text_len);
    let mask = aes::encrypt(schedule.round_keys(), first_counter.swap_bytes());
    slot.conclude(hash.sum().swap_bytes() ^ mask)
}

/// Seals or opens a part of a text, so many blocks behind its beginning, and gives its hash.
pub(crate) fn part(schedule: &Expanded, mut slot: Fitting<'_, '_>, first_block: u32) -> u128 {
    let counter = add(first_counter(schedule, slot.nonce()), first_block);
    let mut hash = Ghash::new(schedule.hash_key());
    let op = slot.op();
    Stream { schedule, counter }.text(op, slot.text(), &mut hash);
    hash.sum()
}

/// The tag of a message whose parts have these hashes.
pub(crate) fn tag_of_parts(
    schedule: &Expanded,
    slot: &Fitting<'_, '_>,
    parts: &[PartHash],
) -> u128 {
    let (aad, text_len) = (slot.aad(), slot.text_len());
    let mut hash = Ghash::new(schedule.hash_key());
    hash.padded(aad);
    parts.iter().for_each(|part| hash.part(part.blocks(), *part.hash()));
    hash.lengths(aad.len(), text_len);
    let mask =
        aes::encrypt(schedule.round_keys(), first_counter(schedule, slot.nonce()).swap_bytes());
    hash.sum().swap_bytes() ^ mask
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
    /// Turns a text into its output, hashes the ciphertext and gives its length.
    fn text(&mut self, op: Op, text: SlotText<'_>, hash: &mut Ghash) -> usize {
        match text {
            SlotText::Apart { input, output } => {
                for (from, to) in input.chunks(16).zip(output.chunks_mut(16)) {
                    self.block(op, once::block(from), to, hash);
                }
                input.len()
            }
            SlotText::InPlace(text) => {
                for chunk in text.chunks_mut(16) {
                    self.block(op, once::block(chunk), chunk, hash);
                }
                text.len()
            }
            SlotText::Read(text) => {
                hash.padded(text);
                text.len()
            }
        }
    }

    /// Turns one block (`input`, zeros behind a short one) into `output` and hashes the ciphertext.
    fn block(&mut self, op: Op, mut input: [u8; 16], output: &mut [u8], hash: &mut Ghash) {
        self.counter = add(self.counter, 1);
        let stream = aes::encrypt(self.schedule.round_keys(), self.counter.swap_bytes());
        let mut result = (u128::from_le_bytes(input) ^ stream).to_le_bytes();
        result[output.len()..].zeroize();
        output.copy_from_slice(&result[..output.len()]);
        hash.block(if matches!(op, Op::Seal) { result } else { input });
        input.zeroize();
        result.zeroize();
    }
}

/// Adds to the last 32 bits, which wrap (SP 800-38D, 6.2).
fn add(counter: u128, blocks: u32) -> u128 {
    const LAST_32: u128 = 0xffff_ffff;
    (counter & !LAST_32) | (counter.wrapping_add(blocks.into()) & LAST_32)
}
