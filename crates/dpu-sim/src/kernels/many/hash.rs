//! GHASH by tables of four bits in four places.

use super::super::emit;
use super::frame;

/// Words of the sum of what the upper halves of a block's words give, and of what the lower halves give. A word further on in the
/// block adds to sums one further on, so there are seven.
const UPPER: [u32; 7] = [0, 1, 2, 3, 13, 17, 19];
const LOWER: [u32; 7] = [4, 5, 6, 7, 15, 23, 18];
/// The block's words; the last one is moved when its register is needed.
const BLOCK: [u32; 4] = [16, 17, 18, 14];

/// Adds the blocks of the chunk up to `HASH_END`, each time multiplying by the key; comes back to r12.
pub(super) fn routine(out: &mut String) {
    emit!(
        out,
        "hash:
        sw r21, {back}, r12
        ld d0, r21, {hash}
        ld d2, r21, {hash} + 8
        add r20, r21, {chunk}
    hash_block:
        ld !big, d16, r20, 0
        ld !big, d18, r20, 8
        xor r16, r16, r0
        xor r17, r17, r1
        xor r18, r18, r2
        xor r19, r19, r3",
        back = frame::HASH_RETURN,
        hash = frame::HASH,
        chunk = frame::CHUNK,
    );
    for (number, word) in BLOCK.into_iter().enumerate() {
        if number == 3 {
            emit!(out, "move r14, r19");
        }
        half(out, (word, 28), (number, &UPPER));
        half(out, (word, 12), (number, &LOWER));
    }
    join(out);
    reduce(out);
    emit!(
        out,
        "    add r20, r20, 16
        lw r12, r21, {end}
        jltu r20, r12, hash_block
        sd r21, {hash}, d0
        sd r21, {hash} + 8, d2
        lw r12, r21, {back}
        jump r12",
        end = frame::HASH_END,
        back = frame::HASH_RETURN,
        hash = frame::HASH,
    );
}

/// Adds the products of four times four bits, the first of which begin at a bit of a word.
fn half(out: &mut String, (word, first): (u32, u32), (number, sums): (usize, &[u32; 7])) {
    let sums = &sums[number..number + 4];
    for place in 0..4 {
        let bit = first - 4 * place;
        emit!(out, "and r12, r{word}, {}", 0xf_u32 << bit);
        match bit {
            0 => emit!(out, "lsl_add r12, r21, r12, 4"),
            _ => emit!(out, "lsr_add r12, r21, r12, {}", bit - 4),
        }
        let at = frame::TABLE + 256 * place;
        match (place, number) {
            // Nothing to add to.
            (0, 0) => {
                emit!(out, "ld d{}, r12, {at}\nld d{}, r12, {at} + 8", sums[0], sums[2]);
                continue;
            }
            // The last word is a new one. If odd, it is loaded in its place, and the register before it, which is free, takes the other.
            (0, _) if sums[3] % 2 == 1 => {
                let beside = sums[3] - 1;
                emit!(out, "ld d8, r12, {at}\nld d{beside}, r12, {at} + 8");
                emit!(out, "xor r{0}, r{0}, r8\nxor r{1}, r{1}, r9", sums[0], sums[1]);
                emit!(out, "xor r{0}, r{0}, r{beside}", sums[2]);
                continue;
            }
            _ => emit!(out, "ld d8, r12, {at}\nld d10, r12, {at} + 8"),
        }
        for (sum, part) in sums.iter().zip(8..12) {
            if place == 0 && part == 11 {
                emit!(out, "move r{sum}, r{part}");
            } else {
                emit!(out, "xor r{sum}, r{sum}, r{part}");
            }
        }
    }
}

/// Adds the sum of the lower halves, 16 bits further on; what leaves it goes into r18.
fn join(out: &mut String) {
    emit!(out, "lsr r8, r{}, 16\nxor r0, r0, r8", LOWER[0]);
    for number in 1..7 {
        let (sum, lower) = (UPPER[number], LOWER[number]);
        emit!(out, "lsr r8, r{lower}, 16\nlsl_add r8, r8, r{}, 16", LOWER[number - 1]);
        emit!(out, "xor r{sum}, r{sum}, r8");
    }
    emit!(out, "lsl r18, r18, 16");
}

/// The words from the fifth on, times 1 + x + x^2 + x^7, come back to the four words before each.
fn reduce(out: &mut String) {
    emit!(out, "move r22, 4");
    for (to, word) in [(3_u32, 18), (2, UPPER[6]), (1, UPPER[5]), (0, UPPER[4])] {
        // The lower half of the last word is empty, so nothing falls off it.
        if word != 18 {
            emit!(
                out,
                "mul_ul_ul r8, r{word}, r22\nlw r8, r8, spilled\nxor r{0}, r{0}, r8",
                to + 1
            );
        }
        emit!(
            out,
            "lsr r9, r{word}, 1
            lsr r10, r{word}, 2
            lsr r11, r{word}, 7
            xor r{to}, r{to}, r{word}
            xor r9, r9, r10
            xor r{to}, r{to}, r11
            xor r{to}, r{to}, r9"
        );
    }
}
