//! The AES block cipher of FIPS 197, on whole states.
//!
//! A state is a `u128` whose byte 0 (the lowest) is the first byte of the block, so column `c` is
//! the 32-bit word `c`. Operations on bytes work on all 16 at once.

use zeroize::Zeroize;

/// Round keys of the longest key: one before the first of 14 rounds and one after each.
pub(crate) const ROUND_KEYS_MAX: usize = 15;

/// Expands a key of 16, 24 or 32 bytes (FIPS 197, 5.2) and returns the number of rounds.
pub(crate) fn expand(key: &[u8], round_keys: &mut [u128]) -> usize {
    let key_words = key.len() / 4;
    let rounds = key_words + 6;
    let mut words = [0_u32; 4 * ROUND_KEYS_MAX];
    for (word, bytes) in words.iter_mut().zip(key.chunks_exact(4)) {
        *word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    }
    let mut round_constant = 1;
    for i in key_words..4 * (rounds + 1) {
        let mut word = words[i - 1];
        if i % key_words == 0 {
            word = sub_word(word.rotate_right(8)) ^ round_constant;
            round_constant = (round_constant << 1) ^ ((round_constant >> 7) * 0x11b);
        } else if key_words == 8 && i % key_words == 4 {
            word = sub_word(word);
        }
        words[i] = words[i - key_words] ^ word;
    }
    for (round_key, word) in round_keys.iter_mut().zip(words.chunks_exact(4)) {
        *round_key = columns(word);
    }
    words.zeroize();
    rounds
}

/// Encrypts one block (FIPS 197, 5.1).
pub(crate) fn encrypt(round_keys: &[u128], block: u128) -> u128 {
    let last = round_keys.len() - 1;
    let mut state = block ^ round_keys[0];
    for round_key in &round_keys[1..last] {
        state = mix_columns(shift_rows(sub_bytes(state))) ^ round_key;
    }
    shift_rows(sub_bytes(state)) ^ round_keys[last]
}

/// The S-box on the four bytes of a word.
#[expect(clippy::cast_possible_truncation, reason = "the upper 12 bytes are not wanted")]
fn sub_word(word: u32) -> u32 {
    sub_bytes(u128::from(word)) as u32
}

fn columns(words: &[u32]) -> u128 {
    words.iter().rev().fold(0, |state, &word| (state << 32) | u128::from(word))
}

/// The S-box of every byte: the inverse in GF(2^8), then an affine map (FIPS 197, 5.1.1).
fn sub_bytes(state: u128) -> u128 {
    let b = inverse(state);
    b ^ rotate_bits(b, 1) ^ rotate_bits(b, 2) ^ rotate_bits(b, 3) ^ rotate_bits(b, 4) ^ each(0x63)
}

/// Byte `row + 4 * column` comes from `row` columns further on (FIPS 197, 5.1.2).
fn shift_rows(state: u128) -> u128 {
    let from = state.to_le_bytes();
    u128::from_le_bytes(core::array::from_fn(|i| from[(i + 4 * (i % 4)) % 16]))
}

/// Each column times 3x^3 + x^2 + x + 2 (FIPS 197, 5.1.3).
fn mix_columns(state: u128) -> u128 {
    let below = rotate_column(state);
    let below_2 = rotate_column(below);
    double(state ^ below) ^ below ^ below_2 ^ rotate_column(below_2)
}

/// Moves every byte up one row, the first to the last.
fn rotate_column(state: u128) -> u128 {
    const LOWER_3: u128 = 0x00ff_ffff_00ff_ffff_00ff_ffff_00ff_ffff;
    ((state >> 8) & LOWER_3) | ((state << 24) & !LOWER_3)
}

/// The inverse of every byte in GF(2^8), 0 for 0, as its 254th power.
fn inverse(x: u128) -> u128 {
    let x2 = multiply(x, x);
    let x3 = multiply(x2, x);
    let x6 = multiply(x3, x3);
    let x12 = multiply(x6, x6);
    let mut power = multiply(x12, x3);
    for _ in 0..4 {
        power = multiply(power, power);
    }
    multiply(multiply(power, x12), x2)
}

/// The products of the bytes of `a` and `b` in GF(2^8) (FIPS 197, 4.2).
fn multiply(mut a: u128, b: u128) -> u128 {
    let mut product = 0;
    for bit in 0..8 {
        product ^= a & whole_bytes(b >> bit);
        a = double(a);
    }
    product
}

/// Every byte times x in GF(2^8).
fn double(a: u128) -> u128 {
    ((a & each(0x7f)) << 1) ^ (whole_bytes(a >> 7) & each(0x1b))
}

/// 0xff in every byte whose lowest bit is set, 0 in the others.
fn whole_bytes(bits: u128) -> u128 {
    let low = bits & each(1);
    (low << 7 << 1).wrapping_sub(low)
}

/// Rotates the bits of every byte to the left by `count`.
fn rotate_bits(a: u128, count: u32) -> u128 {
    let stay = each(0xff >> count);
    ((a & stay) << count) | ((a & !stay) >> (8 - count))
}

/// The same byte sixteen times.
const fn each(byte: u8) -> u128 {
    u128::from_ne_bytes([byte; 16])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The S-box as FIPS 197 prints it, its first and last row.
    const ROWS: [(u8, [u8; 16]); 2] = [
        (0x00, [99, 124, 119, 123, 242, 107, 111, 197, 48, 1, 103, 43, 254, 215, 171, 118]),
        (0xf0, [140, 161, 137, 13, 191, 230, 66, 104, 65, 153, 45, 15, 176, 84, 187, 22]),
    ];

    #[test]
    fn the_s_box_is_the_printed_one() {
        for (start, row) in ROWS {
            let input: [u8; 16] = core::array::from_fn(|i| start + u8::try_from(i).unwrap());
            assert_eq!(sub_bytes(u128::from_le_bytes(input)).to_le_bytes(), row);
        }
    }

    #[test]
    fn the_s_box_is_a_permutation() {
        let mut seen: Vec<u32> = (0..=255).map(|byte| sub_word(byte) & 0xff).collect();
        seen.sort_unstable();
        assert_eq!(seen, (0..=255).collect::<Vec<_>>());
    }

    /// FIPS 197, appendix C: one plaintext under keys 00 01 02 ... of the three sizes.
    #[test]
    fn the_blocks_of_fips_197_appendix_c_come_out() {
        let plaintext = 0xffee_ddcc_bbaa_9988_7766_5544_3322_1100;
        for (size, ciphertext) in [
            (16, 0x5ac5_b470_80b7_cdd8_3004_7b6a_d8e0_c469),
            (24, 0x9171_0dec_a070_af6e_e0df_4c86_a47c_a9dd),
            (32, 0x8960_494b_9049_fcea_bf45_6751_cab7_a28e),
        ] {
            let key: Vec<u8> = (0..size).collect();
            let mut round_keys = [0; ROUND_KEYS_MAX];
            let rounds = expand(&key, &mut round_keys);
            assert_eq!(encrypt(&round_keys[..=rounds], plaintext), ciphertext, "{size} bytes");
        }
    }
}
