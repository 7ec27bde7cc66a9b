//! Tables and keys of AES.

/// The round keys of an AES-128 key.
#[derive(Clone, Debug)]
pub struct RoundKeys {
    words: [u32; 44],
}

impl RoundKeys {
    /// Expands a key.
    #[must_use]
    pub fn new(key: &[u8; 16]) -> Self {
        let boxed = sbox();
        let mut words = [0; 44];
        for (word, bytes) in words.iter_mut().zip(key.as_chunks::<4>().0) {
            *word = u32::from_be_bytes(*bytes);
        }
        let mut constant = 1_u8;
        for at in 4..44 {
            let mut word = words[at - 1];
            if at % 4 == 0 {
                let substituted = word.rotate_left(8).to_be_bytes();
                word = u32::from_be_bytes(substituted.map(|byte| boxed[usize::from(byte)]));
                word ^= u32::from(constant) << 24;
                constant = double(constant);
            }
            words[at] = words[at - 4] ^ word;
        }
        Self { words }
    }

    /// The same for decryption by tables: in the opposite order, the inner ones mixed.
    #[must_use]
    pub fn inverse(&self) -> Self {
        let mut words = [0; 44];
        for (round, keys) in words.as_chunks_mut::<4>().0.iter_mut().enumerate() {
            let from = 4 * (10 - round);
            let inner = round > 0 && round < 10;
            for (word, key) in keys.iter_mut().zip(&self.words[from..from + 4]) {
                *word = if inner { mix_inverse(*key) } else { *key };
            }
        }
        Self { words }
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
