//! AES by four tables of 256 words: SubBytes, ShiftRows and MixColumns of a byte in one load.

use zeroize::ZeroizeOnDrop;

/// A block as four big-endian words, one a column.
pub(super) type Block = [u32; 4];

/// The round keys of an AES key.
#[derive(ZeroizeOnDrop)]
pub(super) struct RoundKeys {
    keys: [Block; 15],
    #[zeroize(skip)]
    rounds: usize,
}

impl RoundKeys {
    /// Expands a key of 16, 24 or 32 bytes (FIPS 197, section 5.2).
    pub(super) fn new(key: &[u8]) -> Self {
        let (given, _) = key.as_chunks::<4>();
        let rounds = given.len() + 6;
        let mut keys = [[0; 4]; 15];
        let words = keys.as_flattened_mut();
        for (word, bytes) in words.iter_mut().zip(given) {
            *word = u32::from_be_bytes(*bytes);
        }
        let mut constant = 1;
        for at in given.len()..4 * (rounds + 1) {
            let before = words[at - 1];
            let mixed = match at % given.len() {
                0 => {
                    let mixed = sub_word(before.rotate_left(8)) ^ u32::from(constant) << 24;
                    constant = double(constant);
                    mixed
                }
                4 if given.len() == 8 => sub_word(before),
                _ => before,
            };
            words[at] = words[at - given.len()] ^ mixed;
        }
        Self { keys, rounds }
    }

    /// Encrypts a block.
    #[inline]
    pub(super) fn encrypt(&self, block: Block) -> Block {
        let mut state = xor(block, self.keys[0]);
        for key in &self.keys[1..self.rounds] {
            state = xor(mixed(state), *key);
        }
        xor(substituted(state), self.keys[self.rounds])
    }
}

/// A round without its key.
#[inline]
fn mixed(state: Block) -> Block {
    let column = |at: usize| {
        TABLES[0][byte(state[at], 0)]
            ^ TABLES[1][byte(state[(at + 1) % 4], 1)]
            ^ TABLES[2][byte(state[(at + 2) % 4], 2)]
            ^ TABLES[3][byte(state[(at + 3) % 4], 3)]
    };
    [column(0), column(1), column(2), column(3)]
}

/// The last round without its key: no MixColumns.
#[inline]
fn substituted(state: Block) -> Block {
    let column = |at: usize| {
        let part = |row: usize| SBOX[byte(state[(at + row) % 4], row)];
        u32::from_be_bytes([part(0), part(1), part(2), part(3)])
    };
    [column(0), column(1), column(2), column(3)]
}

fn sub_word(word: u32) -> u32 {
    u32::from_be_bytes(word.to_be_bytes().map(|byte| SBOX[usize::from(byte)]))
}

#[inline]
fn byte(word: u32, row: usize) -> usize {
    usize::from(word.to_be_bytes()[row])
}

#[inline]
fn xor(one: Block, other: Block) -> Block {
    [one[0] ^ other[0], one[1] ^ other[1], one[2] ^ other[2], one[3] ^ other[3]]
}

/// Times x in GF(2^8) modulo x^8 + x^4 + x^3 + x + 1.
const fn double(byte: u8) -> u8 {
    (byte << 1) ^ ((byte >> 7) * 0x1b)
}

static SBOX: [u8; 256] = sbox();
/// A byte of row r through SubBytes and MixColumns.
static TABLES: [[u32; 256]; 4] = tables();

/// FIPS 197, section 5.1.1: the inverse, then an affine map. The inverses are met by going through all
/// powers of 3 in one direction and of its inverse in the other.
const fn sbox() -> [u8; 256] {
    let mut sbox = [0x63; 256];
    let (mut power, mut inverse) = (1u8, 1u8);
    loop {
        power ^= double(power);
        // Divided by 3, which is times 0xf6.
        inverse ^= inverse << 1;
        inverse ^= inverse << 2;
        inverse ^= inverse << 4;
        inverse ^= (inverse >> 7) * 0x09;
        sbox[power as usize] = 0x63
            ^ inverse
            ^ inverse.rotate_left(1)
            ^ inverse.rotate_left(2)
            ^ inverse.rotate_left(3)
            ^ inverse.rotate_left(4);
        if power == 1 {
            return sbox;
        }
    }
}

const fn tables() -> [[u32; 256]; 4] {
    let sbox = sbox();
    let mut tables = [[0; 256]; 4];
    let mut at = 0;
    while at < 256 {
        let one = sbox[at];
        let (two, three) = (double(one), double(one) ^ one);
        let mut column = u32::from_be_bytes([two, one, one, three]);
        let mut row = 0;
        while row < 4 {
            tables[row][at] = column;
            column = column.rotate_right(8);
            row += 1;
        }
        at += 1;
    }
    tables
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(bytes: [u8; 16]) -> Block {
        let (chunks, _) = bytes.as_chunks::<4>();
        std::array::from_fn(|at| u32::from_be_bytes(chunks[at]))
    }

    /// FIPS 197, appendix C.
    #[test]
    fn the_standards_examples_of_all_three_key_lengths_are_right() {
        let key: [u8; 32] = std::array::from_fn(|at| u8::try_from(at).unwrap());
        let text = words(std::array::from_fn(|at| u8::try_from(at * 0x11).unwrap()));
        for (bytes, cipher) in [
            (16, 0x69c4_e0d8_6a7b_0430_d8cd_b780_70b4_c55a_u128),
            (24, 0xdda9_7ca4_864c_dfe0_6eaf_70a0_ec0d_7191),
            (32, 0x8ea2_b7ca_5167_45bf_eafc_4990_4b49_6089),
        ] {
            let found = RoundKeys::new(&key[..bytes]).encrypt(text);
            assert_eq!(found, words(cipher.to_be_bytes()), "AES-{}", 8 * bytes);
        }
    }
}
