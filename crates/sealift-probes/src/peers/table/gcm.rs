//! AES-GCM (SP 800-38D) over tables: one pass over the text, block by block.

use super::super::message::{Cipher, Direction};
use super::aes::{Block, RoundKeys};
use super::ghash::HashKey;
use sealift::DeviceError;

/// An AES-GCM key with its tables. Wiped on drop by its parts.
pub(super) struct TableGcm {
    aes: RoundKeys,
    hash: HashKey,
}

impl TableGcm {
    /// Expands a key of 16, 24 or 32 bytes.
    pub(super) fn new(key: &[u8]) -> Self {
        let aes = RoundKeys::new(key);
        let hash = HashKey::new(number(aes.encrypt([0; 4])));
        Self { aes, hash }
    }

    /// The counter block that masks the tag; the text's begin after it (section 7.1, step 2).
    fn first_counter(&self, nonce: &[u8]) -> Block {
        if let Ok(plain) = <&[u8; 12]>::try_from(nonce) {
            let (words, _) = plain.as_chunks::<4>();
            let word = |at: usize| u32::from_be_bytes(words[at]);
            return [word(0), word(1), word(2), 1];
        }
        let hash = self.hash.update(0, nonce);
        block(self.hash.times(hash ^ bits(nonce.len())))
    }
}

impl Cipher for &TableGcm {
    fn crypt(
        &mut self,
        direction: Direction,
        nonce: &[u8],
        aad: &[u8],
        input: &[u8],
        output: &mut [u8],
    ) -> Result<[u8; 16], DeviceError> {
        let first = self.first_counter(nonce);
        let mut counter = first;
        let mut hash = self.hash.update(0, aad);
        let (blocks, rest) = input.as_chunks::<16>();
        let (places, last_place) = output.as_chunks_mut::<16>();
        for (block, place) in blocks.iter().zip(places) {
            counter[3] = counter[3].wrapping_add(1);
            let given = u128::from_be_bytes(*block);
            let made = given ^ number(self.aes.encrypt(counter));
            *place = made.to_be_bytes();
            hash =
                self.hash.times(hash ^ if direction == Direction::Encrypt { made } else { given });
        }
        if !rest.is_empty() {
            counter[3] = counter[3].wrapping_add(1);
            let mask = number(self.aes.encrypt(counter)).to_be_bytes();
            let made = last_place.iter_mut().zip(rest).zip(mask);
            made.for_each(|((place, byte), mask)| *place = byte ^ mask);
            let cipher: &[u8] = if direction == Direction::Encrypt { last_place } else { rest };
            hash = self.hash.update(hash, cipher);
        }
        hash = self.hash.times(hash ^ bits(aad.len()) << 64 ^ bits(input.len()));
        Ok((hash ^ number(self.aes.encrypt(first))).to_be_bytes())
    }

    fn tag(&mut self, nonce: &[u8], aad: &[u8], ciphertext: &[u8]) -> Option<[u8; 16]> {
        let first = self.first_counter(nonce);
        let hash = self.hash.update(self.hash.update(0, aad), ciphertext);
        let hash = self.hash.times(hash ^ bits(aad.len()) << 64 ^ bits(ciphertext.len()));
        Some((hash ^ number(self.aes.encrypt(first))).to_be_bytes())
    }
}

fn bits(bytes: usize) -> u128 {
    8 * bytes as u128
}

fn number(block: Block) -> u128 {
    block.into_iter().fold(0, |number, word| number << 32 | u128::from(word))
}

#[expect(clippy::cast_possible_truncation, reason = "each word is 32 bits of it")]
fn block(number: u128) -> Block {
    [96, 64, 32, 0].map(|shift| (number >> shift) as u32)
}
