//! CTR, with what stays the same for 256 blocks computed once.

use super::rounds::{
    OTHER, Registers, STATE, buffers, column, fetch, load_keys, rounds, start, tables,
};
use super::{Division, KeySize, Mode, emit};

/// Bytes of the symbol `nonce`.
pub const CTR_PARAMETER_BYTES: usize = 16;

/// What a host writes to `nonce`: the first twelve bytes of each counter block, and the number in its last four.
#[must_use]
pub fn ctr_parameters(nonce: &[u8; 12], counter: u32) -> [u8; CTR_PARAMETER_BYTES] {
    let mut bytes = [0; CTR_PARAMETER_BYTES];
    bytes[..12].copy_from_slice(nonce);
    bytes[12..].copy_from_slice(&counter.to_le_bytes());
    bytes
}

/// A program that works in place: `length` bytes, a multiple of the chunk, with the counter blocks that `nonce` begins.
///
/// Blocks whose counters differ in the last byte only have all but one lookup of the first round and twelve of the second in
/// common. They are kept as a word (r9) and four (`partial`).
#[must_use]
pub fn ctr(division: Division, size: KeySize) -> String {
    let mut out = String::new();
    let Division { tasklets, chunk_bytes } = division;
    start(&mut out, division);
    constants(&mut out);
    fetch(&mut out, division);
    prepare(&mut out, &chunk_bytes.to_string());
    block(&mut out, size);
    next_run(&mut out, &chunk_bytes.to_string());
    emit!(
        out,
        "    sdma r22, r20, {words}
        add r20, r20, {stride}
        jltu r20, r21, chunk
    done:
        stop",
        words = chunk_bytes / 8 - 1,
        stride = tasklets * chunk_bytes,
    );
    tables(&mut out, Mode::Encrypt, size);
    emit!(out, ".p2align 3\nnonce: .zero 16\npartial: .zero {}", 16 * tasklets);
    buffers(&mut out, division);
    out
}

/// What stays the same for all blocks: where this tasklet keeps what 256 share (r17), and a byte of the key (r16).
pub(super) fn constants(out: &mut String) {
    emit!(
        out,
        "move r17, partial
        lsl_add r17, r17, id, 4
        lw r16, zero, round_keys + 12
        lsr r16, r16, 24
        lsl r16, r16, 2"
    );
}

/// Goes on behind a carry, if the chunk does: its bytes, a number or a register.
pub(super) fn next_run(out: &mut String, chunk: &str) {
    emit!(
        out,
        "or r14, r14, 255
        add r14, r14, 1
        add r12, r22, {chunk}
        jltu r18, r12, run"
    );
}

/// From the place in r20 and r18: what the blocks up to its next carry share, and where they end (r19).
pub(super) fn prepare(out: &mut String, chunk: &str) {
    emit!(
        out,
        "    add r14, r20, -__sys_used_mram_end
        lsr r14, r14, 4
        lw r12, zero, nonce + 12
        add r14, r14, r12
    run:
        and r15, r14, 255
        lsl r19, r15, 4
        sub r19, 4096, r19
        add r19, r19, r18
        add r12, r22, {chunk}
        jleu r19, r12, within
        move r19, r12
    within:
        lsl r15, r15, 2
        sw r17, 0, r14
        ld d0, zero, nonce
        lw r3, zero, nonce + 8
        lw !big, r2, r17, 0"
    );
    load_keys(out, OTHER, 0);
    for (state, key) in STATE.into_iter().zip(OTHER) {
        emit!(out, "xor r{state}, r{state}, r{key}");
    }
    load_keys(out, OTHER, 1);
    for number in 0..3 {
        column(out, (STATE, OTHER), (number, 0..4), (Mode::Encrypt, "mixed"), Registers::Plain);
    }
    column(out, (STATE, OTHER), (3, 0..3), (Mode::Encrypt, "mixed"), Registers::Plain);
    emit!(out, "move r9, r{}", OTHER[0]);
    load_keys(out, STATE, 2);
    for number in 1..4 {
        column(out, (OTHER, STATE), (number, 0..4), (Mode::Encrypt, "mixed"), Registers::Plain);
    }
    emit!(out, "sd r17, 0, d0\nsd r17, 8, d2");
}

pub(super) fn block(out: &mut String, size: KeySize) {
    emit!(
        out,
        "block:
        xor r12, r15, r16
        lw r10, r12, mixed_3
        xor r11, r9, r10
        ld d0, r17, 0
        ld d2, r17, 8"
    );
    column(out, ([11; 4], STATE), (0, 0..4), (Mode::Encrypt, "mixed"), Registers::Plain);
    let last = rounds(out, (3, size.rounds()), Mode::Encrypt, Registers::Plain);
    emit!(out, "ld d4, r18, 0\nld d6, r18, 8");
    for (key, data) in last.into_iter().zip(OTHER) {
        emit!(out, "xor r{data}, r{data}, r{key}");
    }
    emit!(
        out,
        "sd r18, 0, d4
        sd r18, 8, d6
        add r15, r15, 4
        add r18, r18, 16
        jltu r18, r19, block"
    );
}
