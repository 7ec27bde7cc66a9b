//! Messages as the wide kernels take them.
#![allow(unsafe_code)]

use core::{arch::x86_64::*, ops::Range, ptr};

use sealift_core::{Op, Span, Status};

use super::zmm::{Z, load, store, wide_fn};
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
    /// The message at some addresses, with its key; none if it is so long that it is worked by itself.
    #[inline]
    pub(crate) fn new(span: &Span, key: *const u8) -> Option<Item> {
        let fits = span.text_bytes < LONGEST_TEXT;
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

    /// Adds so many items to a list.
    pub(crate) fn take(&self, _token: HaveVaes512, messages: usize, items: &mut Vec<Item>) {
        // SAFETY: `_token` is proof of the instructions.
        unsafe { take(self, messages, items) }
    }

    /// Adds an item to a list for each choice, from that one of three which it names: the second item is
    /// the second one of whichever is chosen.
    pub(crate) fn take_of_three(
        three: &[Progression; 3],
        _token: HaveVaes512,
        choices: impl ExactSizeIterator<Item = usize>,
        items: &mut Vec<Item>,
    ) {
        // SAFETY: `_token` is proof of the instructions.
        unsafe { take_of_three(three, choices, items) }
    }
}

wide_fn! {
    fn take(progression: &Progression, messages: usize, items: &mut Vec<Item>) {
        let (mut next, step) = registers(progression);
        items.reserve(messages);
        let end = items.len() + messages;
        for place in &mut items.spare_capacity_mut()[..messages] {
            // SAFETY: there is room for an item of 64 bytes.
            unsafe { store(place.as_mut_ptr().cast(), next) };
            next = _mm512_add_epi64(next, step);
        }
        // SAFETY: they were just written.
        unsafe { items.set_len(end) };
    }
}

wide_fn! {
    fn take_of_three(
        three: &[Progression; 3],
        choices: impl ExactSizeIterator<Item = usize>,
        items: &mut Vec<Item>,
    ) {
        let [(mut a, step_a), (mut b, step_b), (mut c, step_c)] = three.each_ref().map(|one| registers(one));
        items.reserve(choices.len());
        let mut end = items.len();
        for (place, choice) in items.spare_capacity_mut().iter_mut().zip(choices) {
            end += 1;
            let mask = |chosen| if choice == chosen { 0xff } else { 0 };
            let item = _mm512_mask_mov_epi64(_mm512_mask_mov_epi64(a, mask(1), b), mask(2), c);
            // SAFETY: there is room for an item of 64 bytes.
            unsafe { store(place.as_mut_ptr().cast(), item) };
            a = _mm512_add_epi64(a, step_a);
            b = _mm512_add_epi64(b, step_b);
            c = _mm512_add_epi64(c, step_c);
        }
        // SAFETY: as many were just written.
        unsafe { items.set_len(end) };
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
        if self.0.is_empty() {
            return;
        }
        let (now, later) = self.0.split_at(messages.min(self.0.len()));
        now.iter().for_each(fetch);
        self.0 = later;
    }
}

#[inline(always)]
fn fetch(item: &Item) {
    let text = 0..(item.text_bytes as usize).min(FETCHED);
    lines(item.input, text.clone());
    if !item.output.is_null() && item.output.cast_const() != item.input {
        lines(item.output.cast_const(), text);
    }
    lines(item.nonce, 0..item.nonce_bytes.into());
    lines(item.aad, 0..usize::from(item.aad_bytes).min(FETCHED));
    lines(item.tag.cast_const(), 0..1);
    lines(item.key, 0..1);
}

#[inline(always)]
fn lines(from: *const u8, bytes: Range<usize>) {
    for line in bytes.step_by(64) {
        super::zmm::prefetch(from.wrapping_add(line));
    }
}

/// Bytes of each text and aad that are asked for; the processor finds the rest of longer ones by itself.
const FETCHED: usize = 512;

/// Longer texts are worked one by one, so that no counter wraps in 32 bits.
const LONGEST_TEXT: usize = 1 << 30;
