//! Messages as the wide kernels take them.
#![allow(unsafe_code)]

use core::{
    arch::{asm, x86_64::*},
    ptr,
};

use sealift_core::{Op, Span, Status};

use super::zmm::{Z, load, prefetch, store, wide_fn};
use crate::x86_64::cpu::HaveVaes512;

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
    /// Of 12 bytes, but for what `mixed` takes.
    pub(crate) nonce: *const u8,
    /// Authenticated only.
    pub(crate) aad: *const u8,
    /// An [`Expanded`](crate::schedule::Expanded) key, or a raw one: see [`KeyForm`].
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

    /// Whether a message is so long that it is worked by itself.
    #[inline]
    pub(crate) fn is_long(span: &Span) -> bool {
        span.text_bytes >= LONGEST_TEXT
    }

    /// The message at some addresses, with its key; none if it is so long that it is worked by itself.
    #[inline]
    pub(crate) fn new(span: &Span, key: *const u8) -> Option<Item> {
        let fits = !Item::is_long(span);
        fits.then_some(Item {
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

/// Where messages are that lie at equal distances: the first one, and how far from each other they are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Progression {
    first: Item,
    step: Step,
}

/// How far the parts of an item are from those of the one before, in bytes, in the order of its fields.
#[derive(Clone, Copy, Debug)]
struct Step([u64; 8]);

impl Progression {
    /// The one that begins with two items.
    pub(crate) fn of(first: Item, second: &Item) -> Progression {
        let bytes = |from: *const u8, to: *const u8| to.addr().wrapping_sub(from.addr()) as u64;
        let step = Step([
            bytes(first.input, second.input),
            bytes(first.output, second.output),
            bytes(first.tag, second.tag),
            bytes(first.nonce, second.nonce),
            bytes(first.aad, second.aad),
            bytes(first.key, second.key),
            bytes(first.status.cast(), second.status.cast()),
            0,
        ]);
        Progression { first, step }
    }

    /// Writes its first items.
    pub(crate) fn put(&self, token: Option<HaveVaes512>, items: &mut [Item]) {
        match token {
            // SAFETY: the token is proof of the instructions.
            Some(_token) => unsafe { put(self, items) },
            None => self.put_plain(items),
        }
    }

    /// Writes items: each choice names one of three progressions, the place of the item, and its key; the
    /// second item is the second one of whichever is chosen.
    pub(crate) fn put_three(
        three: &[Progression; 3],
        token: Option<HaveVaes512>,
        choices: impl Iterator<Item = (usize, (usize, *const u8))>,
        items: &mut [Item],
    ) {
        match token {
            // SAFETY: the token is proof of the instructions.
            Some(_token) => unsafe { put_three(three, choices, items) },
            None => put_three_plain(three, choices, items),
        }
    }

    fn put_plain(&self, items: &mut [Item]) {
        let mut next = self.words();
        for item in items {
            // SAFETY: an item has 64 bytes, and these are those of one.
            unsafe { ptr::from_mut(item).cast::<[u64; 8]>().write(next) };
            next = self.step.after(next);
        }
    }

    /// The first item as the numbers that a step is added to.
    fn words(&self) -> [u64; 8] {
        // SAFETY: an item has 64 bytes, none of them padding.
        unsafe { ptr::from_ref(&self.first).cast::<[u64; 8]>().read() }
    }
}

impl Step {
    #[inline]
    fn after(&self, words: [u64; 8]) -> [u64; 8] {
        core::array::from_fn(|i| words[i].wrapping_add(self.0[i]))
    }
}

fn put_three_plain(
    three: &[Progression; 3],
    choices: impl Iterator<Item = (usize, (usize, *const u8))>,
    items: &mut [Item],
) {
    let mut next = three.each_ref().map(Progression::words);
    for (choice, (place, key)) in choices {
        let item = &mut items[place];
        // SAFETY: an item has 64 bytes, and these are those of one.
        unsafe { ptr::from_mut(item).cast::<[u64; 8]>().write(next[choice % 3]) };
        item.key = key;
        for (next, progression) in next.iter_mut().zip(three) {
            *next = progression.step.after(*next);
        }
    }
}

wide_fn! {
    fn put(progression: &Progression, items: &mut [Item]) {
        let (mut next, step) = registers(progression);
        for item in items {
            // SAFETY: an item has 64 bytes.
            unsafe { store(ptr::from_mut(item).cast(), next) };
            next = _mm512_add_epi64(next, step);
        }
    }
}

wide_fn! {
    fn put_three(
        three: &[Progression; 3],
        choices: impl Iterator<Item = (usize, (usize, *const u8))>,
        items: &mut [Item],
    ) {
        let [(mut a, step_a), (mut b, step_b), (mut c, step_c)] =
            three.each_ref().map(|one| registers(one));
        for (choice, (place, key)) in choices {
            let mask = |chosen| if choice == chosen { 0xff } else { 0 };
            let item = _mm512_mask_mov_epi64(_mm512_mask_mov_epi64(a, mask(1), b), mask(2), c);
            let place = &mut items[place];
            // SAFETY: an item has 64 bytes.
            unsafe { store(ptr::from_mut(place).cast(), item) };
            place.key = key;
            a = _mm512_add_epi64(a, step_a);
            b = _mm512_add_epi64(b, step_b);
            c = _mm512_add_epi64(c, step_c);
        }
    }
}

wide_fn! {
    #[inline]
    fn registers(progression: &Progression) -> (Z, Z) {
        // SAFETY: an item has 64 bytes.
        let first = unsafe { load(ptr::from_ref(&progression.first).cast()) };
        // SAFETY: a step has 64 bytes.
        let step = unsafe { load(progression.step.0.as_ptr().cast()) };
        (first, step)
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
    /// Blocks of every text, the last of them perhaps in part; [`LONG_TEXT`] stands for all longer ones.
    pub(crate) text_blocks: usize,
    /// Blocks of every aad; from [`MEDIUM_AAD`] on not exact.
    pub(crate) aad_blocks: usize,
}

/// Texts of this many blocks and of more are in one class.
pub(crate) const LONG_TEXT: usize = 9;
/// Stands for aads of 4 to [`MEDIUM_AAD_BLOCKS`] blocks.
pub(crate) const MEDIUM_AAD: usize = 4;
/// Blocks of the longest medium aad.
pub(crate) const MEDIUM_AAD_BLOCKS: usize = 8;
/// Stands for longer aads.
pub(crate) const LONG_AAD: usize = 5;

/// Messages that will be worked next, to be asked for before they are needed.
pub(crate) struct Ahead<'a>(pub(crate) &'a [Item]);

impl Ahead<'_> {
    /// Asks for the next few messages, if there are any: once for as many that were worked.
    #[inline(always)]
    pub(crate) fn fetch(&mut self, messages: usize) {
        self.take(messages).iter().for_each(Item::fetch);
    }

    /// The next few messages, to be asked for by the caller.
    #[inline(always)]
    pub(crate) fn take(&mut self, messages: usize) -> &[Item] {
        let (now, later) = self.0.split_at(messages.min(self.0.len()));
        self.0 = later;
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
        lines(self.aad, usize::from(self.aad_bytes).min(FETCHED));
        prefetch(self.nonce);
        prefetch(self.tag.cast_const());
        prefetch(self.key);
    }
}

#[inline(always)]
fn lines(from: *const u8, bytes: usize) {
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

/// Texts as long as this are worked one by one: they have few ends, and no gap between messages to fill.
const LONGEST_TEXT: usize = (4 << 10) + 1;
