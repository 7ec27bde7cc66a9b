//! GCM for many messages under many keys.
//!
//! [`program`] seals, opens and verifies whatever a host has laid out in MRAM with [`Layout`]: any lengths of nonce, additional data
//! and text, all sizes of keys, in any mixture. Each tasklet takes the next message until none is left. It expands the message's
//! key, or fetches what another tasklet has made of it, and works the text in chunks.
//!
//! Nothing is compared on the DPU: it gives the tag of 16 bytes that a message should have, and the host compares. What is looked up
//! where depends on secrets; which instructions are executed depends on lengths alone.
//!
//! The same 16 entries for each of four places of four bits are the tables of a key: half a word is looked up without a shift between.
//! Two more places would save sums and cost more to make than a message of 128 bytes saves.
//!
//! ```
//! use dpu_sim::host::{DpuSet, Launch, Push};
//! use dpu_sim::kernels::{Division, many::{self, Layout, Message, Operation}};
//! use dpu_sim::{Preset, assemble};
//!
//! let mut set = DpuSet::alloc(1, &Preset::named("upmem-640-266")?)?;
//! set.load(&assemble(&many::program(Division::new(16, 1024)?))?)?;
//! let message = Message {
//!     operation: Operation::Seal,
//!     key: 0,
//!     nonce: &[7; 12],
//!     aad: b"header",
//!     text: b"text",
//! };
//! let (image, places) = Layout::new(&[&[1; 16]], &[message])?.into_image();
//! let length = image.len();
//! set.prepare_xfer(0, image)?;
//! set.push_xfer(Push::ToDpus, many::PLACE, 0, length)?;
//! set.launch(Launch::Synchronous)?;
//! set.prepare_xfer(0, vec![0; places.results_bytes()])?;
//! set.push_xfer(Push::FromDpus, many::PLACE, many::RESULTS_AT, places.results_bytes())?;
//! let results = set.take_xfer(0).unwrap_or_default();
//! let (sealed, tag) = (&results[places.text(0)], places.tag(0, &results));
//! assert_ne!(sealed, b"text");
//! assert_ne!(tag, [0; 16]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cipher;
mod control;
mod expand;
mod hash;
mod layout;
mod message;
mod text;

pub use layout::{Layout, Places};
pub use message::{LayoutError, Message, Operation};

use super::tables::{mixed, sbox};
use super::{Division, emit};

/// The symbol that images and results are counted from.
pub const PLACE: &str = "__sys_used_mram_end";
/// Where results begin, in bytes from [`PLACE`].
pub const RESULTS_AT: u32 = HEADER_BYTES;
/// Bytes of MRAM that are taken besides keys and messages.
pub const HEADER_BYTES: u32 = 64;
/// Bytes of MRAM that a key takes: itself, and what is made of it where several messages use it.
pub const KEY_BYTES: u32 = KEY + CONTEXT;

/// Bytes of a key's description: whether it was expanded, its length, where what was made of it goes, 0, the key.
const KEY: u32 = 48;
/// Bytes of what is made of a key: round keys, the last at the end, and the tables of its hash.
const CONTEXT: u32 = ROUND_KEYS + 4 * 256;
const ROUND_KEYS: u32 = 15 * 16;
/// Bytes of a message's description: operation, key, nonce, its blocks, additional data, its bytes, text, its bytes, 0, 0, and the
/// first counter block where the nonce has no blocks.
const MESSAGE: u32 = 56;

/// What each tasklet has in WRAM, in bytes from r21; first comes the context.
mod frame {
    use super::{CONTEXT, MESSAGE, ROUND_KEYS};

    pub(super) const TABLE: u32 = ROUND_KEYS;
    pub(super) const MESSAGE_AT: u32 = CONTEXT;
    /// The hash up to here, as words.
    pub(super) const HASH: u32 = MESSAGE_AT + MESSAGE;
    /// The next counter block: twelve bytes, and a number.
    pub(super) const BLOCK: u32 = HASH + 16;
    pub(super) const COUNTER: u32 = BLOCK + 12;
    /// Where the round keys begin.
    pub(super) const FIRST: u32 = BLOCK + 16;
    /// The instruction from which a block is worked that has two rounds behind it.
    pub(super) const ENTRY: u32 = FIRST + 4;
    /// The key whose context is here.
    pub(super) const HELD: u32 = ENTRY + 4;
    /// Where in MRAM to go on, and where to end.
    pub(super) const AT: u32 = HELD + 4;
    pub(super) const END: u32 = AT + 4;
    /// Bytes of the chunk.
    pub(super) const LENGTH: u32 = END + 4;
    /// Where in WRAM routines begin and end, and what they come back to.
    pub(super) const CIPHER_FROM: u32 = LENGTH + 4;
    pub(super) const CIPHER_END: u32 = CIPHER_FROM + 4;
    pub(super) const CIPHER_RETURN: u32 = CIPHER_END + 4;
    pub(super) const HASH_END: u32 = CIPHER_RETURN + 4;
    pub(super) const HASH_RETURN: u32 = HASH_END + 4;
    pub(super) const ABSORB_RETURN: u32 = HASH_RETURN + 4;
    /// How many messages there are, and where.
    pub(super) const COUNT: u32 = ABSORB_RETURN + 4;
    pub(super) const MESSAGES: u32 = COUNT + 4;
    /// What the first counter block encrypts to; the chunk follows, so that both can be encrypted in one go.
    pub(super) const MASK: u32 = MESSAGES + 4;
    pub(super) const CHUNK: u32 = MASK + 16;
    /// A key's description, while it is expanded.
    pub(super) const KEY_AT: u32 = CHUNK;

    /// Behind the chunk there is room for the block of lengths.
    pub(super) const fn bytes(chunk: u32) -> u32 {
        CHUNK + chunk + 16
    }
}

/// A program for whatever is laid out. Chunks of 1,024 bytes leave room for 24 tasklets, those of 2,048 for 17.
#[must_use]
pub fn program(division: Division) -> String {
    let mut out = String::new();
    control::messages(&mut out, division);
    text::absorb(&mut out, division.chunk_bytes);
    expand::key(&mut out);
    hash::routine(&mut out);
    cipher::routine(&mut out);
    tables(&mut out);
    let size = division.tasklets * frame::bytes(division.chunk_bytes);
    emit!(out, ".section .bss.frames\n.p2align 4\nframes: .zero {size}");
    out
}

fn tables(out: &mut String) {
    emit!(out, ".data\n.p2align 3\ntaken: .long 0, 0");
    for byte in 0..4 {
        emit!(out, "mixed_{byte}:");
        for word in mixed() {
            emit!(out, ".long {}", word.swap_bytes().rotate_left(8 * byte));
        }
    }
    emit!(out, "sbox:");
    for value in sbox() {
        emit!(out, ".byte {value}");
    }
    super::ghash::spilled(out);
    // Row by row: which bytes of a block belong to a text that ends in it.
    emit!(out, "kept:");
    for length in 0..16 {
        for byte in 0..16 {
            emit!(out, ".byte {}", if byte < length { 255 } else { 0 });
        }
    }
}
