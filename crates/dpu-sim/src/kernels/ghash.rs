//! GHASH, the hash of GCM.

use super::rounds::WRONG_LENGTH;
use super::{Division, emit};
use std::fmt;
use zeroize::Zeroize;

/// A hash key, for tables and for what a host has to add up; wiped when dropped.
///
/// The host's part is by the book and branches on bits of the key.
#[derive(Clone)]
pub struct HashKey {
    /// The highest bit is the coefficient of x^0.
    value: u128,
}

impl fmt::Debug for HashKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HashKey").finish_non_exhaustive()
    }
}

impl Drop for HashKey {
    fn drop(&mut self) {
        self.value.zeroize();
    }
}

/// Bytes of the symbol `products`.
pub const PRODUCT_BYTES: usize = 8 * 256 * 16;

impl HashKey {
    /// The key that AES makes of a block of zeros.
    #[must_use]
    pub fn new(bytes: &[u8; 16]) -> Self {
        Self { value: u128::from_be_bytes(*bytes) }
    }

    /// What a host writes to `products`: for each of the first eight places and each byte, their product with the key.
    #[must_use]
    pub fn products(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(PRODUCT_BYTES);
        let mut power = self.value;
        for _ in 0..8 {
            let powers: [u128; 8] = std::array::from_fn(|_| {
                let this = power;
                power = times_x(power);
                this
            });
            for byte in 0..=255_u8 {
                let chosen = powers.iter().enumerate().filter(|(bit, _)| byte << bit & 0x80 != 0);
                let product = chosen.fold(0, |sum, (_, power)| sum ^ power);
                // A pair of registers takes its upper word from the upper half of eight bytes.
                for half in product.to_be_bytes().as_chunks::<8>().0 {
                    out.extend(u64::from_be_bytes(*half).to_le_bytes());
                }
            }
        }
        out
    }

    /// The hash of parts one after the other, from their own hashes and how many blocks each has.
    #[must_use]
    pub fn join(&self, parts: &[([u8; 16], u64)]) -> [u8; 16] {
        let joined = parts.iter().fold(0, |sum, (part, blocks)| {
            product(sum, power(self.value, *blocks)) ^ u128::from_be_bytes(*part)
        });
        joined.to_be_bytes()
    }

    /// The hash of whole blocks, by the book.
    #[must_use]
    pub fn hash(&self, blocks: &[[u8; 16]]) -> [u8; 16] {
        let sum = |sum, block: &[u8; 16]| product(sum ^ u128::from_be_bytes(*block), self.value);
        blocks.iter().fold(0, sum).to_be_bytes()
    }
}

/// A program in which each tasklet hashes `span` bytes, which the host writes, a multiple of the chunk: the first one those at
/// `__sys_used_mram_end`, the others what follows. Their hashes are sixteen bytes each at `hashes`.
///
/// Eight tables hold the products of the key with each byte in the first eight places. The second half of a block is looked up,
/// its product moved on by eight bytes and reduced, and the first half added. A byte takes one instruction to be taken out
/// and multiplied by 16, two loads and four sums; four bytes a shift; the reduction nine instructions a word.
#[must_use]
pub fn ghash(division: Division) -> String {
    let mut out = String::new();
    let Division { tasklets, chunk_bytes } = division;
    let shift = chunk_bytes.trailing_zeros();
    emit!(
        out,
        "    .text
        jeq id, {last}, work
        boot id, 1
    work:
        move r8, 4
        move r9, 16
        move r0, 0
        move r1, 0
        move r2, 0
        move r3, 0
        lsl r22, id, {shift}
        add r22, r22, buffers
        lw r21, zero, span
        and r12, r21, {chunk_bytes} - 1
        jz r12, whole
        fault {WRONG_LENGTH}
    whole:
        move r19, __sys_used_mram_end
        move r20, id
    before:
        jz r20, found
        add r19, r19, r21
        add r20, r20, -1
        jump before
    found:
        add r21, r21, r19
        jgeu r19, r21, done
    chunk:
        ldma r22, r19, {words}
        move r18, r22
    block:",
        last = tasklets - 1,
        words = chunk_bytes / 8 - 1,
    );
    block(&mut out);
    emit!(
        out,
        "    add r18, r18, 16, nc{shift}, block
        add r19, r19, {chunk_bytes}
        jltu r19, r21, chunk
    done:
        move r20, hashes
        lsl_add r20, r20, id, 4
        sd !big, r20, 0, d2
        sd !big, r20, 8, d0
        stop
        .bss
        .p2align 3
    products: .zero {PRODUCT_BYTES}
    hashes: .zero {}
        .data
        .p2align 3
    span: .long 0, 0",
        16 * tasklets
    );
    spilled(&mut out);
    emit!(
        out,
        ".section .bss.buffers\n.p2align {shift}\nbuffers: .zero {}",
        tasklets * chunk_bytes
    );
    out
}

/// What the last byte of a word leaves behind when the word is reduced.
pub(super) fn spilled(out: &mut String) {
    emit!(out, "spilled:");
    for byte in 0..256_u32 {
        emit!(out, ".long {}", byte << 31 ^ byte << 30 ^ byte << 25);
    }
}

/// Adds the block at r18 to the hash in r2, r3, r0, r1, and multiplies by the key.
pub(super) fn block(out: &mut String) {
    emit!(
        out,
        "ld !big, d4, r18, 0
        ld !big, d6, r18, 8
        xor r4, r4, r2
        xor r5, r5, r3
        xor r6, r6, r0
        xor r7, r7, r1"
    );
    lookups(out, [6, 7], [0, 1, 2, 3], true);
    // The product times x^64: its last two words fall off the end and come back at the start.
    reduce(out, 3, 0);
    reduce(out, 2, 3);
    lookups(out, [4, 5], [2, 3, 0, 1], false);
}

/// Adds the products of eight bytes, which two words hold, to four words; the first product replaces them.
fn lookups(out: &mut String, words: [u32; 2], sums: [u32; 4], first: bool) {
    for (number, word) in words.into_iter().enumerate() {
        // From the last byte of a word to its first, so that the upper half is shifted only when it is needed.
        for byte in (0..4).rev() {
            let place = 4 * number + byte;
            let which = if byte % 2 == 0 { "mul_uh_ul" } else { "mul_ul_ul" };
            if byte == 1 {
                emit!(out, "lsr r13, r{word}, 16");
            }
            let from = if byte < 2 { 13 } else { word };
            emit!(out, "{which} r12, r{from}, r9");
            let table = place * 4096;
            if first && number == 0 && byte == 3 {
                emit!(out, "ld d0, r12, products + {table}\nld d2, r12, products + {}", table + 8);
                continue;
            }
            emit!(out, "ld d10, r12, products + {table}\nld d14, r12, products + {}", table + 8);
            for (sum, part) in sums.into_iter().zip([10, 11, 14, 15]) {
                emit!(out, "xor r{sum}, r{sum}, r{part}");
            }
        }
    }
}

/// Multiplies a word by 1 + x + x^2 + x^7; what leaves it goes to the next one.
fn reduce(out: &mut String, word: u32, next: u32) {
    emit!(
        out,
        "mul_ul_ul r12, r{word}, r8
        lw r17, r12, spilled
        lsr r10, r{word}, 1
        lsr r11, r{word}, 2
        lsr r16, r{word}, 7
        xor r10, r10, r11
        xor r{word}, r{word}, r16
        xor r{word}, r{word}, r10
        xor r{next}, r{next}, r17"
    );
}

fn times_x(value: u128) -> u128 {
    value >> 1 ^ if value & 1 == 1 { 0xe1 << 120 } else { 0 }
}

fn product(a: u128, b: u128) -> u128 {
    let (mut sum, mut power) = (0, b);
    for bit in 0..128 {
        if a << bit >> 127 == 1 {
            sum ^= power;
        }
        power = times_x(power);
    }
    sum
}

fn power(base: u128, exponent: u64) -> u128 {
    let (mut result, mut square) = (1 << 127, base);
    for bit in 0..64 {
        if exponent >> bit & 1 == 1 {
            result = product(result, square);
        }
        square = product(square, square);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_of_parts_join_to_that_of_the_whole() {
        // SP 800-38D, test case 2 of the GCM specification: H, ciphertext, lengths.
        let key = HashKey::new(&0x66e9_4bd4_ef8a_2c3b_884c_fa59_ca34_2b2e_u128.to_be_bytes());
        let blocks = [0x0388_dace_60b6_a392_f328_c2b9_71b2_fe78_u128, 0x80];
        let blocks = blocks.map(u128::to_be_bytes);
        let whole = key.hash(&blocks);
        assert_eq!(whole, 0xf38c_bb1a_d692_23dc_c345_7ae5_b6b0_f885_u128.to_be_bytes());
        let parts = [(key.hash(&blocks[..1]), 1), (key.hash(&blocks[1..]), 1)];
        assert_eq!(key.join(&parts), whole);
    }
}
