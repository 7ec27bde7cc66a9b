//! CTR with the round keys of the frame.

use super::super::rounds::{OTHER, Registers, STATE, Word, column, pairs};
use super::super::{Mode, emit};
use super::frame;

/// What the second round adds up without the first column, in the order of `STATE`.
const PARTIAL: [Word; 4] = [15, 14, 17, 16];
const ENCRYPT: (Mode, &str) = (Mode::Encrypt, "mixed");

/// Encrypts the blocks from `CIPHER_FROM` to `CIPHER_END` in place; comes back to r12.
///
/// Up to 256 blocks, whose counters differ in the last byte only, share all but one lookup of the first round and twelve of the
/// second: a word in r9 and four in `PARTIAL`. The last round takes its bytes from the S-box itself.
pub(super) fn routine(out: &mut String) {
    emit!(
        out,
        "cipher:
        sw r21, {back}, r12
        lw r18, r21, {from}
        move r8, 4",
        back = frame::CIPHER_RETURN,
        from = frame::CIPHER_FROM,
    );
    run(out);
    first_rounds(out);
    emit!(out, "lw r22, r21, {}", frame::ENTRY);
    block(out);
    emit!(
        out,
        "    lw r12, r21, {end}
        jltu r18, r12, cipher_run
        lw r12, r21, {back}
        jump r12",
        end = frame::CIPHER_END,
        back = frame::CIPHER_RETURN,
    );
}

/// Finds out up to where counters differ in their last byte only (r19), and counts on.
fn run(out: &mut String) {
    emit!(
        out,
        "cipher_run:
        lw r11, r21, {counter}
        and r12, r11, 255
        lsl r20, r12, 2
        lsl r12, r12, 4
        sub r12, 4096, r12
        add r12, r12, r18
        lw r19, r21, {end}
        jleu r19, r12, cipher_within
        move r19, r12
    cipher_within:
        sub r12, r19, r18
        lsr_add r12, r11, r12, 4
        lw !big, r2, r21, {counter}
        sw r21, {counter}, r12
        ld d0, r21, {block}
        lw r3, r21, {block} + 8
        lw r22, r21, {first}",
        counter = frame::COUNTER,
        end = frame::CIPHER_END,
        block = frame::BLOCK,
        first = frame::FIRST,
    );
}

/// What the blocks of a run share.
fn first_rounds(out: &mut String) {
    emit!(out, "ld d4, r22, 0\nld d6, r22, 8");
    for (state, key) in STATE.into_iter().zip(OTHER) {
        emit!(out, "xor r{state}, r{state}, r{key}");
    }
    emit!(out, "lsr r23, r{}, 22\nand r23, r23, 1020", OTHER[3]);
    emit!(out, "ld d4, r22, 16\nld d6, r22, 24");
    for number in 0..4 {
        let bytes = if number == 3 { 0..3 } else { 0..4 };
        column(out, (STATE, OTHER), (number, bytes), ENCRYPT, Registers::Plain);
    }
    emit!(out, "move r9, r{}\nld d14, r22, 32\nld d16, r22, 40", OTHER[0]);
    for number in 1..4 {
        column(out, (OTHER, PARTIAL), (number, 0..4), ENCRYPT, Registers::Plain);
    }
}

fn block(out: &mut String) {
    emit!(out, "cipher_block:\nxor r12, r20, r23\nlw r10, r12, mixed_3\nxor r11, r9, r10");
    for byte in 0..4 {
        if byte == 2 {
            emit!(out, "lsr r11, r11, 16");
        }
        let which = if byte % 2 == 0 { "mul_ul_ul" } else { "mul_uh_ul" };
        let place = (4 - byte) % 4;
        emit!(out, "{which} r12, r11, r8\nlw r10, r12, mixed_{byte}");
        emit!(out, "xor r{}, r{}, r10", STATE[place], PARTIAL[place]);
    }
    emit!(out, "jump r22");
    let (mut from, mut to) = (STATE, OTHER);
    for left in (1..=12).rev() {
        if matches!(left, 8 | 10 | 12) {
            emit!(out, "rounds_{left}:");
        }
        let [a, b] = pairs(to);
        let at = super::ROUND_KEYS - 16 * left;
        emit!(out, "ld {a}, r21, {at}\nld {b}, r21, {at} + 8");
        for number in 0..4 {
            if left == 1 {
                last_word(out, from, (number, to[number]));
            } else {
                column(out, (from, to), (number, 0..4), ENCRYPT, Registers::Plain);
            }
        }
        (from, to) = (to, from);
    }
    finish(out, from, to);
}

/// Adds a word of bytes out of the S-box to its key.
fn last_word(out: &mut String, from: [Word; 4], (number, sum): (usize, Word)) {
    let word = |byte: usize| from[(number + byte) % 4];
    emit!(out, "and r12, r{}, 255\nlbu r11, r12, sbox", word(0));
    emit!(out, "mul_ul_uh r12, one, r{}\nlbu r12, r12, sbox", word(1));
    emit!(out, "lsl_add r11, r11, r12, 8");
    emit!(out, "lsr r12, r{}, 16\nand r12, r12, 255\nlbu r12, r12, sbox", word(2));
    emit!(out, "lsl_add r11, r11, r12, 16");
    emit!(out, "lsr r12, r{}, 24\nlbu r12, r12, sbox", word(3));
    emit!(out, "lsl_add r11, r11, r12, 24\nxor r{sum}, r{sum}, r11");
}

/// Adds the key stream to the data and goes on.
fn finish(out: &mut String, stream: [Word; 4], data: [Word; 4]) {
    let [a, b] = pairs(data);
    emit!(out, "ld {a}, r18, 0\nld {b}, r18, 8");
    for (key, data) in stream.into_iter().zip(data) {
        emit!(out, "xor r{data}, r{data}, r{key}");
    }
    emit!(
        out,
        "sd r18, 0, {a}
        sd r18, 8, {b}
        add r20, r20, 4
        add r18, r18, 16
        jltu r18, r19, cipher_block"
    );
}
