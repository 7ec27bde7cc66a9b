//! Tables and keys of AES.

use std::fmt;
use zeroize::Zeroize;

/// The round keys of an AES key, wiped when dropped.
///
/// They are expanded with tables, on the host: how long that takes may tell of the key where others share its caches.
#[derive(Clone)]
pub struct RoundKeys {
    words: Vec<u32>,
}

impl fmt::Debug for RoundKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RoundKeys").field("size", &self.size()).finish_non_exhaustive()
    }
}

impl Drop for RoundKeys {
    fn drop(&mut self) {
        self.words.zeroize();
    }
}

/// Bytes that are no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a key of {0} bytes; AES has 16, 24 and 32")]
pub struct KeyError(usize);

/// How long a key is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeySize {
    /// 16 bytes, 10 rounds.
    Aes128,
    /// 24 bytes, 12 rounds.
    Aes192,
    /// 32 bytes, 14 rounds.
    Aes256,
}

impl KeySize {
    pub(super) fn rounds(self) -> u32 {
        match self {
            Self::Aes128 => 10,
            Self::Aes192 => 12,
            Self::Aes256 => 14,
        }
    }
}

impl RoundKeys {
    /// Expands a key.
    ///
    /// # Errors
    /// Its length is none of AES.
    pub fn new(key: &[u8]) -> Result<Self, KeyError> {
        if !matches!(key.len(), 16 | 24 | 32) {
            return Err(KeyError(key.len()));
        }
        let of_key = key.len() / 4;
        let mut words: Vec<u32> =
            key.as_chunks::<4>().0.iter().map(|word| u32::from_be_bytes(*word)).collect();
        let boxed = sbox();
        let substitute =
            |word: u32| u32::from_be_bytes(word.to_be_bytes().map(|byte| boxed[usize::from(byte)]));
        let mut constant = 1_u8;
        for at in of_key..4 * (of_key + 7) {
            let mut word = words[at - 1];
            if at % of_key == 0 {
                word = substitute(word.rotate_left(8)) ^ u32::from(constant) << 24;
                constant = double(constant);
            } else if of_key == 8 && at % 8 == 4 {
                word = substitute(word);
            }
            words.push(words[at - of_key] ^ word);
        }
        Ok(Self { words })
    }

    /// The size of the key that they are of.
    #[must_use]
    pub fn size(&self) -> KeySize {
        match self.words.len() {
            44 => KeySize::Aes128,
            52 => KeySize::Aes192,
            _ => KeySize::Aes256,
        }
    }

    /// The same for decryption by tables: in the opposite order, the inner ones mixed.
    #[must_use]
    pub fn inverse(&self) -> Self {
        let last = self.words.len() / 4 - 1;
        let rounds = self.words.as_chunks::<4>().0.iter().rev().enumerate();
        let words = rounds.flat_map(|(round, keys)| {
            let inner = round > 0 && round < last;
            keys.map(|key| if inner { mix_inverse(key) } else { key })
        });
        Self { words: words.collect() }
    }

    /// As words whose first byte is the lowest, for `ecb` and `ctr`.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        self.words.iter().flat_map(|word| word.to_be_bytes()).collect()
    }

    /// As words whose first byte is the highest, for `document_000`.
    #[must_use]
    pub fn bytes_of_words(&self) -> Vec<u8> {
        self.words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }
}

/// The S-box.
pub(super) fn sbox() -> [u8; 256] {
    let mut table = [0; 256];
    for (value, place) in (0..=255_u8).zip(&mut table) {
        let inverse = inverse(value);
        let turned = (1..5).fold(inverse, |sum, bits| sum ^ inverse.rotate_left(bits));
        *place = turned ^ 0x63;
    }
    table
}

/// Its inverse.
pub(super) fn sbox_inverse() -> [u8; 256] {
    let mut table = [0; 256];
    for (value, substituted) in (0..=255_u8).zip(sbox()) {
        table[usize::from(substituted)] = value;
    }
    table
}

/// A column of the mixed S-box; the first byte is the highest.
pub(super) fn mixed() -> [u32; 256] {
    sbox().map(|value| {
        let twice = double(value);
        u32::from_be_bytes([twice, value, value, twice ^ value])
    })
}

/// The same of its inverse.
pub(super) fn mixed_inverse() -> [u32; 256] {
    sbox_inverse().map(mix_byte_inverse)
}

fn mix_inverse(word: u32) -> u32 {
    let columns = word.to_be_bytes().map(mix_byte_inverse);
    let turned = columns.iter().zip([0, 8, 16, 24]);
    turned.fold(0, |sum, (column, bits)| sum ^ column.rotate_right(bits))
}

fn mix_byte_inverse(value: u8) -> u32 {
    let times = [14, 9, 13, 11].map(|factor| product(value, factor));
    u32::from_be_bytes(times)
}

fn double(value: u8) -> u8 {
    value << 1 ^ if value & 0x80 == 0 { 0 } else { 0x1b }
}

fn product(value: u8, factor: u8) -> u8 {
    let (mut sum, mut power) = (0, value);
    for bit in 0..8 {
        if factor >> bit & 1 == 1 {
            sum ^= power;
        }
        power = double(power);
    }
    sum
}

/// `value` to the power of 254, which is what inverts it.
fn inverse(value: u8) -> u8 {
    let square = |value| product(value, value);
    let mut result = 1;
    for _ in 0..7 {
        result = product(square(result), value);
    }
    square(result)
}
