//! From message to message.

use super::super::{Division, emit};
use super::expand::CONTEXT_WORDS;
use super::text::{tag, text};
use super::{KEY, MESSAGE, frame};

/// Boots all tasklets; each takes the next message until none is left.
pub(super) fn messages(out: &mut String, division: Division) {
    start(out, division);
    next(out);
    key(out);
    nonce(out);
    additional(out);
    text(out, division.chunk_bytes);
    tag(out);
}

/// r21 becomes the frame. What tells how far the messages are taken is set before a second tasklet runs.
fn start(out: &mut String, Division { tasklets, chunk_bytes }: Division) {
    emit!(
        out,
        "    .text
        jneq id, 0, booted
        move r0, 0
        sw zero, taken, r0
        release zero, 0, nz, booted
    booted:
        jeq id, {last}, work
        boot id, 1
    work:
        move r12, {sixteenths}
        mul_ul_ul r12, id, r12
        move r21, frames
        lsl_add r21, r21, r12, 4
        move r0, 0
        sw r21, {held}, r0",
        last = tasklets - 1,
        sixteenths = frame::bytes(chunk_bytes) / 16,
        held = frame::HELD,
    );
    for place in 0..4 {
        let zero = frame::TABLE + 256 * place;
        emit!(out, "sd r21, {zero}, 0\nsd r21, {zero} + 8, 0");
    }
    emit!(
        out,
        "    add r12, r21, {mask}
        move r13, __sys_used_mram_end
        ldma r12, r13, 0
        lw r0, r21, {mask}
        lw r1, r21, {mask} + 4
        sw r21, {count}, r0
        sw r21, {messages}, r1",
        mask = frame::MASK,
        count = frame::COUNT,
        messages = frame::MESSAGES,
    );
}

/// Fetches the description of the next message.
fn next(out: &mut String) {
    emit!(
        out,
        "next_message:
        acquire zero, 0, nz, next_message
        lw r0, zero, taken
        add r1, r0, 1
        sw zero, taken, r1
        release zero, 0, nz, message_taken
    message_taken:
        lw r1, r21, {count}
        jgeu r0, r1, done
        lw r1, r21, {messages}
        lsl_add r1, r1, r0, 6
        lsl_sub r1, r1, r0, 3
        add r12, r21, {message}
        ldma r12, r1, {words}
        jump message_there
    done:
        stop
    message_there:",
        count = frame::COUNT,
        messages = frame::MESSAGES,
        message = frame::MESSAGE_AT,
        words = MESSAGE / 8 - 1,
    );
}

/// Sees to it that the context of the message's key is in the frame.
fn key(out: &mut String) {
    emit!(
        out,
        "    lw r0, r21, {wanted}
        lw r1, r21, {held}
        jeq r0, r1, key_there
        sw r21, {held}, r0
        add r12, r21, {key}
        ldma r12, r0, {words}
        lw r2, r21, {key} + 4
        move r0, rounds_8
        add r1, r21, 64
        jeq r2, 16, key_sized
        move r0, rounds_10
        add r1, r21, 32
        jeq r2, 24, key_sized
        move r0, rounds_12
        move r1, r21
    key_sized:
        sw r21, {entry}, r0
        sw r21, {first}, r1
        lw r0, r21, {key}
        jz r0, expand
        lw r0, r21, {key} + 8
        ldma r21, r0, {context}
        jump key_there
    key_made:
        lw r0, r21, {key} + 8
        jz r0, key_there
        sdma r21, r0, {context}
        sw r21, {key}, 1
        add r12, r21, {key}
        lw r0, r21, {wanted}
        sdma r12, r0, 0
    key_there:",
        wanted = frame::MESSAGE_AT + 4,
        held = frame::HELD,
        key = frame::KEY_AT,
        words = KEY / 8 - 1,
        entry = frame::ENTRY,
        first = frame::FIRST,
        context = CONTEXT_WORDS,
    );
}

/// Makes the first counter block.
fn nonce(out: &mut String) {
    emit!(
        out,
        "    sd r21, {hash}, 0
        sd r21, {hash} + 8, 0
        lw r1, r21, {blocks}
        jz r1, nonce_hashed
        lw r0, r21, {nonce}
        lsl_add r1, r0, r1, 4
        call r12, absorb
        ld d0, r21, {hash}
        ld d2, r21, {hash} + 8
        sd !big, r21, {first}, d0
        sd !big, r21, {first} + 8, d2
        sd r21, {hash}, 0
        sd r21, {hash} + 8, 0
    nonce_hashed:
        ld d0, r21, {first}
        lw r2, r21, {first} + 8
        lw !big, r3, r21, {first} + 12
        sd r21, {block}, d0
        sw r21, {block} + 8, r2
        sw r21, {counter}, r3",
        hash = frame::HASH,
        nonce = frame::MESSAGE_AT + 8,
        blocks = frame::MESSAGE_AT + 12,
        first = frame::MESSAGE_AT + 40,
        block = frame::BLOCK,
        counter = frame::COUNTER,
    );
}

fn additional(out: &mut String) {
    emit!(
        out,
        "    lw r1, r21, {bytes}
        jz r1, additional_hashed
        lw r0, r21, {at}
        add r1, r1, 15
        and r1, r1, -16
        add r1, r1, r0
        call r12, absorb
    additional_hashed:",
        at = frame::MESSAGE_AT + 16,
        bytes = frame::MESSAGE_AT + 20,
    );
}
