//! ECB as document 000 proposes it: one tasklet moves the data, the others encrypt.

use super::rounds::{Registers, WRONG_LENGTH, block, carry, tables};
use super::{Division, KeySize, Mode, emit};

/// A program in which tasklet 0 transfers and the division's tasklets, numbered from 1, work: `length` bytes in place, which
/// the host writes, a multiple of the chunk.
///
/// Each worker has two buffers, so that one is filled while it works the other; tables leave room for 55 KiB of them. Tasklet 0
/// sleeps when there is nothing to move, and whoever leaves it something wakes it.
///
/// # Errors
/// 24 workers, as there are 24 tasklets in all.
pub fn ecb_fed(
    workers: Division,
    (mode, size): (Mode, KeySize),
    registers: Registers,
) -> Result<String, super::DivisionError> {
    let Division { tasklets, chunk_bytes } = workers;
    if tasklets == 24 {
        return Err(super::DivisionError { tasklets, chunk_bytes });
    }
    let mut out = String::new();
    emit!(
        out,
        "    .text
        jneq id, 0, booted
        move r16, {states}
        move r0, 0
    clear:
        add r16, r16, -4
        sw r16, states, r0
        jneq r16, 0, clear
    booted:
        jeq id, {tasklets}, work
        boot id, 1
        jneq id, 0, work",
        states = 8 * tasklets,
    );
    mover(&mut out, workers);
    worker(&mut out, workers, (mode, size), registers);
    tables(&mut out, mode, size);
    // A buffer is 0: empty; 1: to be worked; 2: worked; 3: no longer needed.
    emit!(out, "states: .zero {0}\nplaces: .zero {0}", 8 * tasklets);
    // A worker's two buffers are told apart by one bit of their addresses.
    let (align, size) = (chunk_bytes.trailing_zeros() + 1, 2 * tasklets * chunk_bytes);
    emit!(out, ".section .bss.buffers\n.p2align {align}\nbuffers: .zero {size}");
    Ok(out)
}

/// r16: a buffer's number times four; r22: the buffer; r20: the next chunk; r21: their end; r17: how many are still needed;
/// r19: whether this look at all buffers found something to do.
fn mover(out: &mut String, workers: Division) {
    let Division { tasklets, chunk_bytes } = workers;
    emit!(
        out,
        "    move r20, __sys_used_mram_end
        lw r21, zero, length
        and r0, r21, {chunk_bytes} - 1
        jz r0, whole
        fault {WRONG_LENGTH}
    whole:
        add r21, r21, r20
        move r17, {count}
    look:
        move r16, 0
        move r22, buffers
        move r19, 0
    buffer:
        lw r0, r16, states
        jeq r0, 0, refill
        jneq r0, 2, next
        lw r1, r16, places
        sdma r22, r1, {words}
    refill:
        move r19, 1
        jgeu r20, r21, spent
        ldma r22, r20, {words}
        sw r16, places, r20
        add r20, r20, {chunk_bytes}
        sw r16, states, r19
        jump next
    spent:
        move r0, 3
        sw r16, states, r0
        add r17, r17, -1, z, moved
    next:
        add r22, r22, {chunk_bytes}
        add r16, r16, 4
        jneq r16, {end}, buffer
        jneq r19, 0, look
        stop true, look
    moved:
        stop true, moved",
        count = 2 * tasklets,
        words = chunk_bytes / 8 - 1,
        end = 8 * tasklets,
    );
}

/// r16: the buffer's number times four; r22: the buffer.
fn worker(out: &mut String, workers: Division, what: (Mode, KeySize), registers: Registers) {
    let Division { chunk_bytes, .. } = workers;
    let shift = chunk_bytes.trailing_zeros();
    emit!(
        out,
        "work:
        move r8, 4
        move r9, 4
        add r16, id8, -8
        lsl r22, r16, {half}
        add r22, r22, buffers
    await:
        lw r0, r16, states
        jeq r0, 1, full
        jeq r0, 3, last
        resume zero, 0
        jump await
    full:
        move r18, r22
    block:",
        half = shift - 2,
    );
    block(out, what, registers);
    emit!(
        out,
        "    add r18, r18, 16, {carry}, block
        move r0, 2
        sw r16, states, r0
        resume zero, 0
        xor r16, r16, 4
        xor r22, r22, {chunk_bytes}
        jump await
    last:
        xor r16, r16, 4
        xor r22, r22, {chunk_bytes}
    also:
        lw r0, r16, states
        jeq r0, 3, idle
        jeq r0, 1, full
        resume zero, 0
        jump also
    idle:
        stop",
        carry = carry(chunk_bytes),
    );
}
