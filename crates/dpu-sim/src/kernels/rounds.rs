//! Rounds by tables, and ECB.

use super::tables::{mixed, mixed_inverse, sbox, sbox_inverse};
use super::{Division, KeySize, Mode, emit};

/// How registers are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Registers {
    /// The same one for the same purpose.
    Plain,
    /// So that those used together are in different banks, as far as that goes.
    ByBank,
}

/// A register's number; states are lists of four.
pub(super) type Word = u32;

/// The state's words in memory's order, in two pairs; the other two take the next round's.
pub(super) const STATE: [Word; 4] = [1, 0, 3, 2];
pub(super) const OTHER: [Word; 4] = [5, 4, 7, 6];

/// A program that encrypts or decrypts in place: `length` bytes, which the host writes, a multiple of the chunk.
///
/// Four lookups in tables of words make a column. A byte of a word is taken out and multiplied by four in one instruction,
/// `mul_ul_ul` or `mul_uh_ul`; only the upper half needs a shift before. So a column takes 13 instructions: four
/// extractions, four loads, four sums and the shift. Fewer would take an instruction that looks up and sums at once, or one that
/// takes out a byte of the upper half; a DPU has neither, and its WRAM no room for tables of 16 bits.
#[must_use]
pub fn ecb(division: Division, (mode, size): (Mode, KeySize), registers: Registers) -> String {
    let mut out = String::new();
    start(&mut out, division);
    fetch(&mut out, division);
    emit!(out, "block:");
    block(&mut out, (mode, size), registers);
    end(&mut out, division);
    tables(&mut out, mode, size);
    buffers(&mut out, division);
    out
}

/// The block at r18, in place.
pub(super) fn block(out: &mut String, (mode, size): (Mode, KeySize), registers: Registers) {
    load_keys(out, OTHER, 0);
    emit!(out, "ld d0, r18, 0\nld d2, r18, 8");
    for (state, key) in STATE.into_iter().zip(OTHER) {
        emit!(out, "xor r{state}, r{state}, r{key}");
    }
    let last = rounds(out, (1, size.rounds()), mode, registers);
    let [a, b] = pairs(last);
    emit!(out, "sd r18, 0, {a}\nsd r18, 8, {b}");
}

/// The rounds from the first to the last one, beginning in `STATE`; where the result is.
pub(super) fn rounds(
    out: &mut String,
    (first, last): (u32, u32),
    mode: Mode,
    registers: Registers,
) -> [Word; 4] {
    let (mut from, mut to) = (STATE, OTHER);
    for round in first..=last {
        load_keys(out, to, round);
        let table = if round == last { "final" } else { "mixed" };
        for column in 0..4 {
            self::column(out, (from, to), (column, 0..4), (mode, table), registers);
        }
        (from, to) = (to, from);
    }
    from
}

/// Adds these bytes of a word to the columns that they go to.
pub(super) fn column(
    out: &mut String,
    (from, to): ([Word; 4], [Word; 4]),
    (column, bytes): (usize, std::ops::Range<usize>),
    (mode, table): (Mode, &str),
    registers: Registers,
) {
    let word = from[column];
    // The shifted half goes to the other bank, the factor of four beside it.
    let (half, four, four_of_half) = match registers {
        Registers::Plain => (13, 8, 8),
        Registers::ByBank if word % 2 == 0 => (13, 9, 8),
        Registers::ByBank => (14, 8, 9),
    };
    for byte in bytes {
        let sum = match mode {
            Mode::Encrypt => to[(column + 4 - byte) % 4],
            Mode::Decrypt => to[(column + byte) % 4],
        };
        let found = if registers == Registers::ByBank && sum % 2 == 0 { 11 } else { 10 };
        let (value, factor) = if byte < 2 { (word, four) } else { (half, four_of_half) };
        if byte == 2 {
            emit!(out, "lsr r{half}, r{word}, 16");
        }
        let which = if byte % 2 == 0 { "mul_ul_ul" } else { "mul_uh_ul" };
        emit!(out, "{which} r12, r{value}, r{factor}");
        emit!(out, "lw r{found}, r12, {table}_{byte}\nxor r{sum}, r{sum}, r{found}");
    }
}

/// The pairs that hold a state.
pub(super) fn pairs(state: [Word; 4]) -> [&'static str; 2] {
    if state == STATE { ["d0", "d2"] } else { ["d4", "d6"] }
}

/// Puts a round's key where its columns are added up.
pub(super) fn load_keys(out: &mut String, to: [Word; 4], round: u32) {
    let [a, b] = pairs(to);
    let at = 16 * round;
    emit!(out, "ld {a}, zero, round_keys + {at}\nld {b}, zero, round_keys + {}", at + 8);
}

/// The number of the fault that a length which is no multiple of the chunk raises.
pub(super) const WRONG_LENGTH: u32 = 1;

/// Boots all tasklets and finds their first chunks.
pub(super) fn start(out: &mut String, division: Division) {
    let Division { tasklets, chunk_bytes } = division;
    emit!(
        out,
        "    .text
        jeq id, {}, work
        boot id, 1
    work:
        move r8, 4
        move r9, 4
        lsl r22, id, {shift}
        add r22, r22, buffers
        lsl r20, id, {shift}
        add r20, r20, __sys_used_mram_end
        lw r21, zero, length
        and r12, r21, {chunk_bytes} - 1
        jz r12, whole
        fault {WRONG_LENGTH}
    whole:
        add r21, r21, __sys_used_mram_end
        jgeu r20, r21, done",
        tasklets - 1,
        shift = chunk_bytes.trailing_zeros(),
    );
}

/// Where each chunk begins.
pub(super) fn fetch(out: &mut String, division: Division) {
    emit!(out, "chunk:\nldma r22, r20, {}\nmove r18, r22", division.chunk_bytes / 8 - 1);
}

/// The next block, until the chunk ends; the next chunk, until there is none.
pub(super) fn end(out: &mut String, division: Division) {
    let Division { tasklets, chunk_bytes } = division;
    emit!(
        out,
        "    add r18, r18, 16, {carry}, block
        sdma r22, r20, {words}
        add r20, r20, {stride}
        jltu r20, r21, chunk
    done:
        stop",
        carry = carry(chunk_bytes),
        words = chunk_bytes / 8 - 1,
        stride = tasklets * chunk_bytes,
    );
}

/// The condition that holds until a chunk ends: buffers are aligned, so a carry out of the offset tells.
pub(super) fn carry(chunk_bytes: u32) -> String {
    format!("nc{}", chunk_bytes.trailing_zeros())
}

pub(super) fn tables(out: &mut String, mode: Mode, size: KeySize) {
    let (mixed, last) = match mode {
        Mode::Encrypt => (mixed(), sbox()),
        Mode::Decrypt => (mixed_inverse(), sbox_inverse()),
    };
    emit!(out, ".data\n.p2align 3");
    for byte in 0..4 {
        emit!(out, "mixed_{byte}:");
        for word in mixed {
            emit!(out, ".long {}", word.swap_bytes().rotate_left(8 * byte));
        }
    }
    for byte in 0..4 {
        emit!(out, "final_{byte}:");
        for value in last {
            emit!(out, ".long {}", u32::from(value) << (8 * byte));
        }
    }
    let bytes = 16 * (size.rounds() + 1);
    emit!(out, "length: .long 0, 0\n.bss\n.p2align 3\nround_keys: .zero {bytes}");
}

pub(super) fn buffers(out: &mut String, division: Division) {
    let Division { tasklets, chunk_bytes } = division;
    let (align, size) = (chunk_bytes.trailing_zeros(), tasklets * chunk_bytes);
    emit!(out, ".section .bss.buffers\n.p2align {align}\nbuffers: .zero {size}");
}
