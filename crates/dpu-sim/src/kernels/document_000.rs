//! The algorithm of document 000, operation by operation.

use super::tables::{mixed, mixed_inverse, sbox_inverse};
use super::{Mode, emit};

/// A program for one tasklet that works 2,048 bytes as document 000's `dpu.c` does.
///
/// It reads a buffer of 128 blocks from MRAM, calls a function for each block, and writes the buffer back. The function is
/// OpenSSL's of that time: words loaded byte by byte, four tables of 1 KiB, two rounds in each turn of its loop, each operation
/// of the C source one instruction. The timer's readings before and after the transfers and the blocks are four words at
/// `times`; `counts` is 1 where cycles, 2 where instructions are to be counted, and the host writes it.
#[must_use]
pub fn document_000(mode: Mode) -> String {
    let mut out = String::new();
    emit!(
        out,
        "    .text
        lw r0, zero, counts
        lsl r0, r0, 1
        add r0, r0, 1
        time_cfg r0
        move r14, buffer
        move r15, buffer + 2048
        move r16, __sys_used_mram_end
        time r17
        ldma r14, r16, 255
        time r18
    blocks:
        move r0, r14
        move r1, r14
        move r2, round_keys
        call r23, block
        add r14, r14, 16
        jneq r14, r15, blocks
        time r19
        move r14, buffer
        sdma r14, r16, 255
        time r20
        sw zero, times, r17
        sw zero, times + 4, r18
        sw zero, times + 8, r19
        sw zero, times + 12, r20
        stop"
    );
    block(&mut out, mode);
    data(&mut out, mode);
    out
}

/// r0 in, r1 out, r2 keys.
fn block(out: &mut String, mode: Mode) {
    emit!(
        out,
        "block:
        move r10, r2
        move r12, r0"
    );
    for column in 0..4 {
        let word = format!("r{}", 3 + column);
        for byte in 0..4 {
            let to = if byte == 0 { word.as_str() } else { "r8" };
            emit!(out, "lbu {to}, r12, {}", 4 * column + byte);
            if byte < 3 {
                emit!(out, "lsl {to}, {to}, {}", 24 - 8 * byte);
            }
            if byte > 0 {
                emit!(out, "xor {word}, {word}, r8");
            }
        }
        emit!(out, "lw r8, r10, {}\nxor {word}, {word}, r8", 4 * column);
    }
    emit!(out, "lw r11, zero, rounds\nlsr r11, r11, 1\ntwo_rounds:");
    round(out, mode, S, T, 16);
    emit!(out, "add r10, r10, 32\nadd r11, r11, -1, z, last_round");
    round(out, mode, T, S, 0);
    emit!(out, "jump two_rounds\nlast_round:");
    last_round(out, mode, T, S);
    for (column, word) in S.into_iter().enumerate() {
        for byte in 0..4 {
            let from = if byte == 3 { word } else { 8 };
            if byte < 3 {
                emit!(out, "lsr r8, r{word}, {}", 24 - 8 * byte);
            }
            emit!(out, "sb r1, {}, r{from}", 4 * column + byte);
        }
    }
    emit!(out, "jump r23");
}

/// The state, and the words that every other round writes.
const S: [usize; 4] = [3, 4, 5, 6];
const T: [usize; 4] = [7, 21, 22, 13];

/// The word that a byte of a column comes from.
fn source(mode: Mode, column: usize, byte: usize) -> usize {
    match mode {
        Mode::Encrypt => (column + byte) % 4,
        Mode::Decrypt => (column + 4 - byte) % 4,
    }
}

fn round(out: &mut String, mode: Mode, from: [usize; 4], to: [usize; 4], keys: usize) {
    for (column, sum) in to.into_iter().enumerate() {
        for byte in 0..4 {
            index(out, from[source(mode, column, byte)], byte);
            let word = if byte == 0 { sum } else { 8 };
            emit!(out, "lw r{word}, r8, table_{byte}");
            if byte > 0 {
                emit!(out, "xor r{sum}, r{sum}, r8");
            }
        }
        emit!(out, "lw r8, r10, {}\nxor r{sum}, r{sum}, r8", keys + 4 * column);
    }
}

/// A byte of a word, the first the highest, as an offset into a table of words.
fn index(out: &mut String, word: usize, byte: usize) {
    match byte {
        3 => emit!(out, "lsl r8, r{word}, 2"),
        _ => emit!(out, "lsr r8, r{word}, {}", 22 - 8 * byte),
    }
    emit!(out, "and r8, r8, 1020");
}

fn last_round(out: &mut String, mode: Mode, from: [usize; 4], to: [usize; 4]) {
    for (column, sum) in to.into_iter().enumerate() {
        for byte in 0..4 {
            let (word, place) = (from[source(mode, column, byte)], 24 - 8 * byte);
            let found = if byte == 0 { sum } else { 8 };
            match mode {
                Mode::Encrypt => {
                    index(out, word, byte);
                    emit!(out, "lw r{found}, r8, table_{}", (byte + 2) % 4);
                    emit!(out, "and r{found}, r{found}, {}", 0xff_u32 << place);
                }
                Mode::Decrypt => {
                    if byte < 3 {
                        emit!(out, "lsr r8, r{word}, {place}");
                    }
                    if byte > 0 {
                        emit!(out, "and r8, r{}, 255", if byte < 3 { 8 } else { word });
                    }
                    emit!(out, "lbu r{found}, r8, table_4");
                    if byte < 3 {
                        emit!(out, "lsl r{found}, r{found}, {place}");
                    }
                }
            }
            if byte > 0 {
                emit!(out, "xor r{sum}, r{sum}, r8");
            }
        }
        emit!(out, "lw r8, r10, {}\nxor r{sum}, r{sum}, r8", 4 * column);
    }
}

fn data(out: &mut String, mode: Mode) {
    emit!(out, ".data\n.p2align 3");
    let table = match mode {
        Mode::Encrypt => mixed(),
        Mode::Decrypt => mixed_inverse(),
    };
    for byte in 0..4 {
        emit!(out, "table_{byte}:");
        for word in table {
            emit!(out, ".long {}", word.rotate_right(8 * byte));
        }
    }
    if mode == Mode::Decrypt {
        emit!(out, "table_4:");
        for value in sbox_inverse() {
            emit!(out, ".byte {value}");
        }
    }
    emit!(
        out,
        "rounds: .long 10
        counts: .long 1
        .bss
        .p2align 3
        buffer: .zero 2048
        round_keys: .zero 176
        times: .zero 16"
    );
}
