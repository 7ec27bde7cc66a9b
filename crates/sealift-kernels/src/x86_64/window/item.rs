//! Messages as kernels for many of them take them.
#![allow(unsafe_code)]

use core::{arch::asm, ptr};

use sealift_core::{Op, Span, Status, TextSpan};

use crate::x86_64::wide::zmm::prefetch;

/// One message, a cache line: where its parts are.
///
/// Addresses are those of a [`Span`]: a text is readable, and for a seal and an open writable, for
/// `text_bytes`; the tag is as long as the call says.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(crate) struct Item {
    /// The text.
    pub(crate) input: *const u8,
    /// Where its result goes: `input` itself in place, null for a verify.
    pub(crate) output: *mut u8,
    /// Written by a seal, read otherwise.
    pub(crate) tag: *mut u8,
    /// Of `nonce_bytes`; within `narrow` also the block that it was hashed to.
    pub(crate) nonce: *const u8,
    /// Authenticated only.
    pub(crate) aad: *const u8,
    /// The round keys of an [`Expanded`](crate::schedule::Expanded) key, before which its powers lie, or a raw key: see
    /// [`KeyForm`].
    pub(crate) key: *const u8,
    /// Is `Ok` already; a kernel writes failures only.
    pub(crate) status: *mut Status,
    /// Length of the text.
    pub(crate) text_bytes: u32,
    /// Length of the aad.
    pub(crate) aad_bytes: u16,
    /// Length of the nonce.
    pub(crate) nonce_bytes: u8,
    /// What is done to it.
    pub(crate) op: Op,
}

impl Item {
    /// No message.
    pub(crate) const NOBODYS: Item = Item {
        input: ptr::null(),
        output: ptr::null_mut(),
        tag: ptr::null_mut(),
        nonce: ptr::null(),
        aad: ptr::null(),
        key: ptr::null(),
        status: ptr::null_mut(),
        text_bytes: 0,
        aad_bytes: 0,
        nonce_bytes: 0,
        op: Op::Seal,
    };

    /// Gives it a text whose length fits, the tag behind it, if there is one, and a key.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "texts are short")]
    pub(crate) fn set_text(&mut self, text: &TextSpan, key: *const u8) {
        (self.input, self.output, self.key) = (text.input, text.output, key);
        self.text_bytes = text.bytes as u32;
        if !text.tag.is_null() {
            self.tag = text.tag;
        }
    }

    /// The message at some addresses, with its key; none if a length doesn't fit.
    #[inline]
    pub(crate) fn new(span: &Span, key: *const u8) -> Option<Item> {
        Some(Item {
            input: span.input,
            output: span.output,
            tag: span.tag,
            nonce: span.nonce,
            aad: span.aad,
            key,
            status: span.status,
            text_bytes: u32::try_from(span.text_bytes).ok()?,
            aad_bytes: u16::try_from(span.aad_bytes).ok()?,
            nonce_bytes: u8::try_from(span.nonce_bytes).ok()?,
            op: span.op,
        })
    }
}

/// What an item's key points at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyForm {
    /// The same expanded key for all items of a call.
    One,
    /// An expanded key for each.
    Each,
    /// The bytes of a raw key for each, 4 * (rounds - 6) of them.
    Raw,
}

/// What the items of a call have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Class {
    /// What is done.
    pub(crate) op: Op,
    /// What keys are.
    pub(crate) keys: KeyForm,
    /// 10, 12 or 14.
    pub(crate) rounds: usize,
    /// Length of every tag.
    pub(crate) tag_bytes: usize,
    /// Whether every nonce has 12 bytes, so that none is hashed.
    pub(crate) has_plain_nonces: bool,
    /// Blocks of every text, the last of them perhaps in part; [`LONG_TEXT_MAX`] stands for several.
    pub(crate) text_blocks: usize,
    /// Blocks of every aad; from [`MEDIUM_AAD`] on not exact.
    pub(crate) aad_blocks: usize,
}

impl Class {
    /// Blocks of the longest aad; none if any length is of the class.
    #[inline]
    pub(crate) fn longest_aad(&self) -> Option<usize> {
        match self.aad_blocks {
            LONG_AAD => None,
            MEDIUM_AAD => Some(MEDIUM_AAD_BLOCKS),
            blocks => Some(blocks),
        }
    }

    /// Whether texts and aads have so few blocks that how many is known.
    #[inline]
    pub(crate) fn is_short(&self) -> bool {
        self.text_blocks < LONG_TEXT && self.aad_blocks < MEDIUM_AAD
    }
}

/// Texts of this many blocks and of more are long to the wide kernels.
pub(crate) const LONG_TEXT: usize = 9;
/// Stands for all texts of as many blocks as a kernel takes whatever their lengths; no others have so many.
pub(crate) const LONG_TEXT_MAX: usize = 33;
/// Stands for aads of 4 to [`MEDIUM_AAD_BLOCKS`] blocks.
pub(crate) const MEDIUM_AAD: usize = 4;
/// Blocks of the longest medium aad.
pub(crate) const MEDIUM_AAD_BLOCKS: usize = 8;
/// Stands for longer aads.
pub(crate) const LONG_AAD: usize = 5;

/// Messages that will be worked next, to be asked for before they are needed.
pub(crate) struct Ahead<'a> {
    /// The messages.
    pub(crate) items: &'a [Item],
    /// Whether messages come from afar.
    pub(crate) is_far: bool,
    /// Whether texts come from afar, one behind the other.
    pub(crate) has_stream: bool,
    /// Whether caches may be asked for keys.
    pub(crate) asks_for_keys: bool,
    /// Whether the keys of all are more than the second cache holds.
    pub(crate) has_far_keys: bool,
    /// Whether messages lie at unequal distances, so that no processor foresees the next place.
    pub(crate) is_irregular: bool,
}

impl Ahead<'_> {
    /// Nothing.
    pub(crate) fn nothing() -> Ahead<'static> {
        Ahead {
            items: &[],
            is_far: false,
            has_stream: false,
            asks_for_keys: true,
            has_far_keys: false,
            is_irregular: false,
        }
    }

    /// Asks for the next few messages, if there are any: once for as many that were worked.
    #[inline(always)]
    pub(crate) fn fetch(&mut self, messages: usize) {
        self.take(messages).iter().for_each(Item::fetch);
    }

    /// The same for a caller that asks for the texts of a stream itself.
    #[inline(always)]
    pub(crate) fn fetch_around(&mut self, messages: usize) {
        let has_stream = self.has_stream;
        let items = self.take(messages).iter();
        if has_stream { items.for_each(Item::fetch_ends) } else { items.for_each(Item::fetch) }
    }

    /// The next few messages, to be asked for by the caller.
    #[inline(always)]
    pub(crate) fn take(&mut self, messages: usize) -> &[Item] {
        let (now, later) = self.items.split_at(messages.min(self.items.len()));
        self.items = later;
        now
    }
}

impl Item {
    /// Asks the cache for everything but most of the key.
    #[inline(always)]
    pub(crate) fn fetch(&self) {
        let text = (self.text_bytes as usize).min(FETCHED);
        lines(self.input, text);
        if !self.output.is_null() && self.output.cast_const() != self.input {
            lines(self.output.cast_const(), text);
        }
        self.fetch_ends();
    }

    /// The same but for the text.
    #[inline(always)]
    pub(crate) fn fetch_ends(&self) {
        lines(self.aad, usize::from(self.aad_bytes).min(FETCHED));
        prefetch(self.nonce);
        prefetch(self.tag.cast_const());
        prefetch(self.key);
    }
}

/// Asks for the cache lines of so many bytes.
#[inline(always)]
pub(crate) fn lines(from: *const u8, bytes: usize) {
    let mut line = 0;
    while line < bytes {
        prefetch(from.wrapping_add(line));
        line += 64;
        // SAFETY: no instruction is emitted; a loop taken apart would be in every kernel's way.
        unsafe {
            asm!("/* {0} */", inout(reg) line, options(pure, nomem, nostack, preserves_flags));
        }
    }
}

/// Bytes of each text and aad that are asked for; the processor finds the rest of longer ones by itself.
const FETCHED: usize = 512;

/// Longer texts are worked one by one, by all but chains of registers of two blocks: they have few ends, and no gap between messages to
/// fill. With AVX-512 there are counters in a table for as long ones.
// IMPLEMENTATION NOTE: of 6 KiB both ways took the same time with AVX-512 (Zen 4).
pub(crate) const LONGEST_TEXT: usize = 5 << 10;
