//! Through a message, chunk by chunk.

use super::super::emit;
use super::frame;
use super::message::{OPEN, SEAL, VERIFY};

/// Hashes what lies in MRAM from r0 to r1; comes back to r12.
pub(super) fn absorb(out: &mut String, chunk: u32) {
    emit!(
        out,
        "absorb:
        sw r21, {back}, r12
        sw r21, {at}, r0
        sw r21, {end}, r1
    absorb_chunk:",
        back = frame::ABSORB_RETURN,
        at = frame::AT,
        end = frame::END,
    );
    fetch(out, chunk, "absorb");
    emit!(
        out,
        "    call r12, hash
        lw r0, r21, {at}
        lw r1, r21, {end}
        jltu r0, r1, absorb_chunk
        lw r12, r21, {back}
        jump r12",
        at = frame::AT,
        end = frame::END,
        back = frame::ABSORB_RETURN,
    );
}

/// Fetches the next chunk, which may be empty, and goes on by it: r0 is behind it in MRAM, r19 in WRAM.
fn fetch(out: &mut String, chunk: u32, label: &str) {
    emit!(
        out,
        "    lw r0, r21, {at}
        lw r1, r21, {end}
        sub r1, r1, r0
        move r2, {chunk}
        jleu r1, r2, {label}_length
        move r1, r2
    {label}_length:
        add r19, r21, {buffer}
        jz r1, {label}_fetched
        lsr r2, r1, 3
        add r2, r2, -1
        lsl_add r2, r19, r2, 24
        ldma r2, r0, 0
    {label}_fetched:
        add r0, r0, r1
        add r19, r19, r1
        sw r21, {at}, r0
        sw r21, {length}, r1
        sw r21, {hash_end}, r19",
        at = frame::AT,
        end = frame::END,
        buffer = frame::CHUNK,
        length = frame::LENGTH,
        hash_end = frame::HASH_END,
    );
}

/// Works the text chunk by chunk: sealing encrypts and hashes, opening hashes and encrypts. The mask of the tag precedes the first
/// chunk, the block of lengths follows the last.
pub(super) fn text(out: &mut String, chunk: u32) {
    emit!(
        out,
        "    sd r21, {mask}, 0
        sd r21, {mask} + 8, 0
        add r0, r21, {mask}
        sw r21, {from}, r0
        lw r0, r21, {text}
        lw r1, r21, {text} + 4
        add r1, r1, 15
        and r1, r1, -16
        add r1, r1, r0
        sw r21, {at}, r0
        sw r21, {end}, r1
    text_chunk:",
        mask = frame::MASK,
        from = frame::CIPHER_FROM,
        text = frame::MESSAGE_AT + 24,
        at = frame::AT,
        end = frame::END,
    );
    fetch(out, chunk, "text");
    emit!(
        out,
        "    sw r21, {cipher_end}, r19
        lw r1, r21, {end}
        jneq r0, r1, text_more
        move r2, 0
        lw r3, r21, {additional_bytes}
        lsl r3, r3, 3
        sd !big, r19, 0, d2
        lw r3, r21, {text_bytes}
        lsl r3, r3, 3
        sd !big, r19, 8, d2
        add r19, r19, 16
        sw r21, {hash_end}, r19
    text_more:",
        cipher_end = frame::CIPHER_END,
        end = frame::END,
        additional_bytes = frame::MESSAGE_AT + 20,
        text_bytes = frame::MESSAGE_AT + 28,
        hash_end = frame::HASH_END,
    );
    work(out);
    emit!(
        out,
        "    add r0, r21, {buffer}
        sw r21, {from}, r0
        lw r0, r21, {at}
        lw r1, r21, {end}
        jltu r0, r1, text_chunk",
        buffer = frame::CHUNK,
        from = frame::CIPHER_FROM,
        at = frame::AT,
        end = frame::END,
    );
}

/// Works a chunk. Of what is only verified nothing but the mask is encrypted, and nothing stored.
fn work(out: &mut String) {
    emit!(
        out,
        "    lw r0, r21, {operation}
        jeq r0, {SEAL}, text_cipher
        jeq r0, {OPEN}, text_hash
        add r0, r21, {buffer}
        sw r21, {cipher_end}, r0
    text_hash:
        call r12, hash
        lw r0, r21, {from}
        lw r1, r21, {cipher_end}
        jeq r0, r1, text_stored
    text_cipher:
        call r12, cipher",
        operation = frame::MESSAGE_AT,
        buffer = frame::CHUNK,
        cipher_end = frame::CIPHER_END,
        from = frame::CIPHER_FROM,
    );
    cut(out);
    emit!(
        out,
        "    lw r0, r21, {operation}
        jneq r0, {SEAL}, text_store
        call r12, hash
    text_store:
        lw r0, r21, {operation}
        jeq r0, {VERIFY}, text_stored
        lw r1, r21, {length}
        jz r1, text_stored
        lw r0, r21, {at}
        sub r0, r0, r1
        lsr r1, r1, 3
        add r1, r1, -1
        add r2, r21, {buffer}
        lsl_add r2, r2, r1, 24
        sdma r2, r0, 0
    text_stored:",
        operation = frame::MESSAGE_AT,
        length = frame::LENGTH,
        at = frame::AT,
        buffer = frame::CHUNK,
    );
}

/// Makes zeros of what the last block of the last chunk has behind the text.
fn cut(out: &mut String) {
    emit!(
        out,
        "    lw r0, r21, {at}
        lw r1, r21, {end}
        jneq r0, r1, text_cut
        lw r0, r21, {bytes}
        and r0, r0, 15, z, text_cut
        lsl r0, r0, 4
        ld d2, r0, kept
        ld d4, r0, kept + 8
        lw r12, r21, {hash_end}
        ld d6, r12, -32
        ld d8, r12, -24
        and r6, r6, r2
        and r7, r7, r3
        and r8, r8, r4
        and r9, r9, r5
        sd r12, -32, d6
        sd r12, -24, d8
    text_cut:",
        at = frame::AT,
        end = frame::END,
        bytes = frame::MESSAGE_AT + 28,
        hash_end = frame::HASH_END,
    );
}

/// The tag: the hash and the mask.
pub(super) fn tag(out: &mut String) {
    emit!(
        out,
        "    ld d0, r21, {hash}
        ld d2, r21, {hash} + 8
        ld !big, d4, r21, {mask}
        ld !big, d6, r21, {mask} + 8
        xor r0, r0, r4
        xor r1, r1, r5
        xor r2, r2, r6
        xor r3, r3, r7
        sd !big, r21, {mask}, d0
        sd !big, r21, {mask} + 8, d2
        lw r0, r21, {text}
        add r0, r0, -16
        add r12, r21, {mask}
        sdma r12, r0, 1
        jump next_message",
        hash = frame::HASH,
        mask = frame::MASK,
        text = frame::MESSAGE_AT + 24,
    );
}
