//! GCM under one key: CTR and GHASH over the same chunks.

use super::ctr::{block as cipher_block, constants, next_run, prepare};
use super::ghash::{PRODUCT_BYTES, block as hash_block, spilled};
use super::rounds::{WRONG_LENGTH, buffers, tables};
use super::{Division, KeySize, Mode, emit};

/// A program that seals (`Mode::Encrypt`) or opens in place: `length` bytes, which the host writes, a multiple of 16.
///
/// Each tasklet works the `span` bytes that follow those of the one before, a multiple of the chunk; their hashes are sixteen
/// bytes each at `hashes`, which the host joins with those of what is only authenticated. `nonce` is as for `ctr`, beginning with the
/// second counter, and `products` as for `ghash`. Tables leave room for chunks of 21 KiB in all: 16 of 1,024 bytes, or 24 of
/// 512.
#[must_use]
pub fn gcm(division: Division, (mode, size): (Mode, KeySize)) -> String {
    let mut out = String::new();
    let Division { tasklets, .. } = division;
    begin(&mut out, division);
    match mode {
        Mode::Encrypt => {
            cipher(&mut out, size);
            hash(&mut out);
        }
        Mode::Decrypt => {
            hash(&mut out);
            cipher(&mut out, size);
        }
    }
    emit!(
        out,
        "    lsr r12, r23, 3
        add r12, r12, -1
        lsl_add r12, r22, r12, 24
        sdma r12, r20, 0
        add r20, r20, r23
        jltu r20, r21, chunk
    done:
        move r12, hashes
        lsl_add r12, r12, id, 4
        ld d2, r12, 0
        ld d0, r12, 8
        sd !big, r12, 0, d2
        sd !big, r12, 8, d0
        stop"
    );
    // Either way, counters are encrypted.
    tables(&mut out, Mode::Encrypt, size);
    emit!(
        out,
        "products: .zero {PRODUCT_BYTES}\npartial: .zero {0}\nhashes: .zero {0}",
        16 * tasklets
    );
    emit!(out, ".data\n.p2align 3\nnonce: .zero 16\nspan: .long 0, 0");
    spilled(&mut out);
    buffers(&mut out, division);
    out
}

/// Boots all tasklets, finds each one's part (r20 to r21), and fetches its next chunk: r23 bytes at r22.
fn begin(out: &mut String, division: Division) {
    let Division { tasklets, chunk_bytes } = division;
    emit!(
        out,
        "    .text
        jeq id, {last}, work
        boot id, 1
    work:
        move r8, 4
        move r12, hashes
        lsl_add r12, r12, id, 4
        sd r12, 0, 0
        sd r12, 8, 0
        lsl r22, id, {shift}
        add r22, r22, buffers
        lw r13, zero, span
        move r20, 0
        move r14, id
    before:
        jz r14, found
        add r20, r20, r13
        add r14, r14, -1
        jump before
    found:
        add r21, r20, r13
        lw r13, zero, length
        and r12, r13, 15, z, whole
        fault {WRONG_LENGTH}
    whole:
        jleu r21, r13, within_length
        move r21, r13
    within_length:
        jgeu r20, r21, done
        add r20, r20, __sys_used_mram_end
        add r21, r21, __sys_used_mram_end
    chunk:
        sub r23, r21, r20
        move r12, {chunk_bytes}
        jleu r23, r12, fetch
        move r23, r12
    fetch:
        lsr r12, r23, 3
        add r12, r12, -1
        lsl_add r12, r22, r12, 24
        ldma r12, r20, 0",
        last = tasklets - 1,
        shift = chunk_bytes.trailing_zeros(),
    );
}

fn cipher(out: &mut String, size: KeySize) {
    emit!(out, "move r18, r22");
    constants(out);
    prepare(out, "r23");
    cipher_block(out, size);
    next_run(out, "r23");
}

fn hash(out: &mut String) {
    emit!(
        out,
        "    move r18, r22
        add r19, r22, r23
        move r9, 16
        move r12, hashes
        lsl_add r12, r12, id, 4
        ld d2, r12, 0
        ld d0, r12, 8
    hash_block:"
    );
    hash_block(out);
    emit!(
        out,
        "    add r18, r18, 16
        jltu r18, r19, hash_block
        move r12, hashes
        lsl_add r12, r12, id, 4
        sd r12, 0, d2
        sd r12, 8, d0"
    );
}
