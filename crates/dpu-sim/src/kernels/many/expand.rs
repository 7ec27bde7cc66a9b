//! What is made of a key: round keys, the hash key, its tables.

use super::super::emit;
use super::{CONTEXT, frame};

/// Expands the key whose description is in the frame; comes back to `key_made`.
pub(super) fn key(out: &mut String) {
    let at = frame::KEY_AT;
    emit!(
        out,
        "expand:
        ld d0, r21, {at} + 16
        ld d2, r21, {at} + 24
        ld d4, r21, {at} + 32
        ld d6, r21, {at} + 40
        lw r12, r21, {at} + 4
        jeq r12, 16, expand_4
        jeq r12, 24, expand_6"
    );
    words(out, 8);
    emit!(out, "jump expanded\nexpand_6:");
    words(out, 6);
    emit!(out, "jump expanded\nexpand_4:");
    words(out, 4);
    emit!(out, "expanded:");
    hash_key(out);
    tables(out);
    emit!(out, "jump key_made");
}

/// Expands a key of so many words, which lie in pairs from r0 on.
fn words(out: &mut String, of_key: u32) {
    let rounds = of_key + 6;
    let first = super::ROUND_KEYS - 16 * (rounds + 1);
    // Pairs have their words the other way round.
    let register = |word: u32| word ^ 1;
    let (mut constant, mut stored) = (1_u8, 0);
    let mut store = |out: &mut String, words: u32| {
        for pair in (0..words).step_by(2) {
            emit!(out, "sd r21, {}, d{pair}", first + 4 * stored);
            stored += 2;
        }
    };
    store(out, of_key);
    let mut left = 4 * (rounds + 1) - of_key;
    while left > 0 {
        let words = left.min(of_key);
        for word in 0..words {
            let before = register((word + of_key - 1) % of_key);
            if word == 0 {
                substitute(out, before, [1, 2, 3, 0]);
                emit!(out, "xor r12, r12, {constant}");
                constant = constant << 1 ^ if constant & 0x80 == 0 { 0 } else { 0x1b };
            } else if of_key == 8 && word == 4 {
                substitute(out, before, [0, 1, 2, 3]);
            }
            let with = if word == 0 || of_key == 8 && word == 4 { 12 } else { before };
            emit!(out, "xor r{0}, r{0}, r{with}", register(word));
        }
        store(out, words);
        left -= words;
    }
}

/// Puts the substitutes of a word's bytes into r12, in this order from its lowest byte on.
fn substitute(out: &mut String, word: u32, bytes: [u32; 4]) {
    for (place, byte) in bytes.into_iter().enumerate() {
        let to = if place == 0 { 12 } else { 13 };
        match byte {
            0 => emit!(out, "and r{to}, r{word}, 255"),
            1 => emit!(out, "mul_ul_uh r{to}, one, r{word}"),
            2 => emit!(out, "lsr r{to}, r{word}, 16\nand r{to}, r{to}, 255"),
            _ => emit!(out, "lsr r{to}, r{word}, 24"),
        }
        emit!(out, "lbu r{to}, r{to}, sbox");
        if place > 0 {
            emit!(out, "lsl_add r12, r12, r13, {}", 8 * place);
        }
    }
}

/// A block of zeros, encrypted where the mask will be.
fn hash_key(out: &mut String) {
    emit!(
        out,
        "    sd r21, {block}, 0
        sd r21, {block} + 8, 0
        sd r21, {mask}, 0
        sd r21, {mask} + 8, 0
        add r12, r21, {mask}
        sw r21, {from}, r12
        add r12, r12, 16
        sw r21, {end}, r12
        call r12, cipher
        ld !big, d0, r21, {mask}
        ld !big, d2, r21, {mask} + 8",
        block = frame::BLOCK,
        mask = frame::MASK,
        from = frame::CIPHER_FROM,
        end = frame::CIPHER_END,
    );
}

/// The sums of what each entry's bits stand for; the chain of entries takes one addition for each.
const CHAIN: [(u32, u32, u32); 11] = [
    (12, 8, 4),
    (14, 12, 2),
    (15, 14, 1),
    (13, 15, 2),
    (9, 13, 4),
    (11, 9, 2),
    (10, 11, 1),
    (6, 4, 2),
    (7, 6, 1),
    (5, 7, 2),
    (3, 2, 1),
];

/// The tables of the hash key in r0 to r3. Their first entries are zero from the start.
fn tables(out: &mut String) {
    for place in 0..4 {
        let at = |entry: u32| frame::TABLE + 256 * place + 16 * entry;
        for power in 0..4 {
            if (place, power) != (0, 0) {
                times_x(out, 4 * ((power + 3) % 4), 4 * power);
            }
            store(out, at(8 >> power), 4 * power);
        }
        for (entry, before, added) in CHAIN {
            let from = if before.is_power_of_two() { power_of(before) } else { 16 };
            for word in 0..4 {
                emit!(out, "xor r{}, r{}, r{}", 16 + word, from + word, power_of(added) + word);
            }
            store(out, at(entry), 16);
        }
    }
}

/// The first of the registers that hold what a bit of an entry stands for.
fn power_of(bit: u32) -> u32 {
    4 * (3 - bit.trailing_zeros())
}

fn store(out: &mut String, at: u32, words: u32) {
    emit!(out, "sd r21, {at}, d{words}\nsd r21, {at} + 8, d{}", words + 2);
}

/// Four words, from one register on, times x, to others.
fn times_x(out: &mut String, from: u32, to: u32) {
    emit!(out, "lsl r22, r{0}, 31\nasr r22, r22, 31\nand r22, r22, {1}", from + 3, 0xe1_u32 << 24);
    for word in (1..4).rev() {
        let (source, result) = (from + word, to + word);
        emit!(
            out,
            "lsr r{result}, r{source}, 1\nlsl_add r{result}, r{result}, r{}, 31",
            source - 1
        );
    }
    emit!(out, "lsr r{to}, r{from}, 1\nxor r{to}, r{to}, r22");
}

/// The length of a context as transfers have it.
pub(super) const CONTEXT_WORDS: u32 = CONTEXT / 8 - 1;
