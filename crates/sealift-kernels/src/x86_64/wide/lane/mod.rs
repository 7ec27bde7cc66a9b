//! Short messages under many keys: each in a lane of its own, in all registers.
//!
//! Keys are expanded ones, which are gathered into lanes round by round, or raw ones, which are expanded
//! sixteen at a time. Under raw ones longer texts are worked, too, in pieces of eight blocks: a lane needs two
//! powers of a hash key, where a chain needs sixteen.
#![allow(unsafe_code)]

mod between;
mod ends;
pub(super) mod expand;
mod group;
mod kernel;
mod keys;
mod lanes;
mod spare;
mod tags;
#[cfg(test)]
mod tests;
mod weave;
mod words;

use core::{hint::black_box, mem};
use std::cell::RefCell;

use between::Between;
use ends::{finish, start};
use group::{Call, Group, Piece};
use kernel::{Pass, pass};
use keys::Keys;
use spare::Spare;
use weave::hashed_blocks;

use super::{
    item::{Ahead, Class, Item, KeyForm, LONG_TEXT_MAX, MEDIUM_AAD},
    zmm::{prefetch, wide_fn},
};
use crate::x86_64::cpu::HaveVaes512;

/// Whether this kernel works messages of a class.
pub(super) fn takes(class: &Class) -> bool {
    let pieces = match class.keys {
        KeyForm::One => return false,
        KeyForm::Each => 1,
        KeyForm::Raw => PIECES_MAX,
    };
    class.text_blocks <= PIECE_BLOCKS * pieces && class.aad_blocks < MEDIUM_AAD
}

/// Works messages of one class.
///
/// What it leaves on the stack is not deeper than what `stack::wipe_kernel` overwrites; what it works with is wiped by [`wipe`].
///
/// # Safety
/// The class is one that this kernel takes, and the items' addresses are what they say.
pub(super) unsafe fn run(token: HaveVaes512, class: &Class, items: &[Item], ahead: &mut Ahead<'_>) {
    debug_assert!(takes(class), "{class:?}");
    SCRATCH.with_borrow_mut(|scratch| {
        let scratch = scratch.get_or_insert_with(Scratch::boxed);
        scratch.is_used = true;
        let messages = Messages { class, items, ahead };
        if class.keys == KeyForm::Raw {
            // SAFETY: the caller keeps the same promise, and keys are raw.
            unsafe { by_rounds::<true>(token, messages, scratch) };
        } else {
            // SAFETY: the caller keeps the same promise, and keys are expanded.
            unsafe { by_rounds::<false>(token, messages, scratch) };
        }
    });
}

/// Wipes what messages were worked with, if any were since the last time, and tells whether.
pub(super) fn wipe() -> bool {
    SCRATCH.with_borrow_mut(|scratch| scratch.as_mut().is_some_and(|scratch| scratch.wipe()))
}

thread_local! {
    /// On the heap, and used again: to wipe it costs as much as some messages.
    static SCRATCH: RefCell<Option<Box<Scratch>>> = const { RefCell::new(None) };
}

/// What messages are worked with.
struct Scratch {
    between: Between,
    keys: Keys,
    spare: Spare,
    is_used: bool,
}

impl Scratch {
    fn new() -> Scratch {
        let (between, keys) = (Between::new(), Keys::new());
        Scratch { between, keys, spare: Spare::new(), is_used: false }
    }

    // Not a part of its caller, below whose room for one the kernel would work.
    #[cold]
    #[inline(never)]
    fn boxed() -> Box<Scratch> {
        Box::new(Scratch::new())
    }

    fn wipe(&mut self) -> bool {
        let is_used = mem::take(&mut self.is_used);
        if is_used {
            self.between.wipe();
            self.keys.wipe();
            self.spare.wipe();
        }
        is_used
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        self.wipe();
    }
}

/// What a call is given.
struct Messages<'c, 'i, 'a> {
    class: &'c Class,
    items: &'i [Item],
    ahead: &'c mut Ahead<'a>,
}

/// # Safety
/// As for [`run`], and keys are raw or not as `RAW` says.
unsafe fn by_rounds<const RAW: bool>(
    token: HaveVaes512,
    messages: Messages<'_, '_, '_>,
    scratch: &mut Scratch,
) {
    match messages.class.rounds {
        // SAFETY: the caller keeps the same promise.
        10 => unsafe { by_shape::<10, RAW>(token, messages, scratch) },
        // SAFETY: the caller keeps the same promise, for keys of 12 rounds.
        12 => unsafe { by_shape::<12, RAW>(token, messages, scratch) },
        // SAFETY: the caller keeps the same promise, for keys of the only rounds left, 14.
        _ => unsafe { by_shape::<14, RAW>(token, messages, scratch) },
    }
}

/// # Safety
/// As for [`by_rounds`].
unsafe fn by_shape<const ROUNDS: usize, const RAW: bool>(
    _token: HaveVaes512,
    messages: Messages<'_, '_, '_>,
    scratch: &mut Scratch,
) {
    let class = messages.class;
    let work = match (class.text_blocks, class.aad_blocks) {
        (0 | 1, 0) => work::<ROUNDS, RAW, 1, false, false>,
        (0 | 1, _) => work::<ROUNDS, RAW, 1, true, false>,
        (2, 0) => work::<ROUNDS, RAW, 2, false, false>,
        (2, _) => work::<ROUNDS, RAW, 2, true, false>,
        (3 | 4, 0) => work::<ROUNDS, RAW, 4, false, false>,
        (3 | 4, _) => work::<ROUNDS, RAW, 4, true, false>,
        (5..=PIECE_BLOCKS, 0) => work::<ROUNDS, RAW, 8, false, false>,
        (5..=PIECE_BLOCKS, _) => work::<ROUNDS, RAW, 8, true, false>,
        // Under raw keys, as `takes` says.
        (_, 0) => work::<ROUNDS, true, 8, false, true>,
        (_, _) => work::<ROUNDS, true, 8, true, true>,
    };
    if !messages.items.is_empty() {
        // SAFETY: `_token` is proof of the instructions; the caller promises the rest.
        unsafe { work(messages, scratch) };
    }
}

wide_fn! {
    /// Works messages of at most `BLOCKS` blocks, or of several pieces of so many if they are `LONG`, and of no aad or at most three.
    ///
    /// # Safety
    /// As for [`by_rounds`], and there is a message.
    // Not a part of what calls it, so that its stack can be wiped.
    #[inline(never)]
    unsafe fn work<
        const ROUNDS: usize,
        const RAW: bool,
        const BLOCKS: usize,
        const AAD: bool,
        const LONG: bool,
    >(
        messages: Messages<'_, '_, '_>,
        scratch: &mut Scratch,
    ) {
        let Messages { class, items, ahead } = messages;
        let Scratch { between, keys, spare, .. } = scratch;
        let pieces = if LONG { class.text_blocks.div_ceil(BLOCKS) } else { 1 };
        let blocks = pieces * const { hashed_blocks(BLOCKS, AAD) };
        let call = Call::new(class, blocks);
        between.begin::<LONG>(blocks, call.aad_at);
        let (whole, rest) = items.as_chunks::<4>();
        let mut last: Group = [spare.item(&items[0]); 4];
        last[..rest.len()].copy_from_slice(rest);
        let groups = items.len().div_ceil(4);
        let mut ciphering = Piece::<LONG>::first(whole.first().unwrap_or(&last), 0, pieces);
        if RAW {
            // SAFETY: keys are raw, as the caller promises.
            unsafe { keys.start::<ROUNDS>(items) };
        }
        let keys: *mut Keys = keys;
        fetch::<ROUNDS, RAW>(ahead.take(4));
        // SAFETY: the place of the keys.
        let first_keys = unsafe { Keys::of(keys, 0) };
        // SAFETY: a group of the items, the last of which may be nobody's in a place of their own.
        unsafe { start::<ROUNDS, RAW, BLOCKS>(between, ciphering.group, first_keys) };
        let (mut crypting, mut hashing) = (ciphering, None);
        let mut group = 0;
        for _ in 1..pieces * groups {
            let mut expanding = None;
            if !ciphering.is_last() {
                ciphering = ciphering.next();
            } else {
                group += 1;
                ciphering = Piece::first(whole.get(group).unwrap_or(&last), group, pieces);
                if RAW {
                    // SAFETY: keys are raw, and this is their place.
                    expanding = unsafe { Keys::expanding::<ROUNDS>(keys, items, group) };
                }
                fetch::<ROUNDS, RAW>(ahead.take(4));
            }
            // SAFETY: the place of the keys.
            let keys = unsafe { Keys::of(keys, group) };
            let now = Pass { ciphering, crypting, hashing, keys, expanding };
            // SAFETY: groups as above.
            unsafe { pass::<ROUNDS, RAW, BLOCKS, AAD, LONG>(&call, between, &now) };
            // Kept in registers from one pass to the next, it would be what is put down on the stack.
            black_box(&mut *between);
            hashing = Some(crypting);
            crypting = ciphering;
        }
        // SAFETY: the last two groups are such, too, and keys are raw or not as `RAW` says.
        unsafe { finish::<ROUNDS, RAW, BLOCKS, AAD, LONG>(&call, between, crypting, hashing) };
    }
}

/// Blocks of a piece, of which a short text is one.
const PIECE_BLOCKS: usize = 8;

/// Pieces of the longest texts, under raw keys. Longer ones are worked sooner in a chain, for all of whose powers a key is
/// expanded (Zen 4: 272 bytes 0.70 of that time, 512 bytes 0.84).
const PIECES_MAX: usize = 4;

// Another class stands for texts of any length, and counters are added as bytes.
const _: () = assert!(PIECE_BLOCKS * PIECES_MAX < LONG_TEXT_MAX && LONG_TEXT_MAX < 0x100);

/// Asks the cache for messages that are worked later, most of which are like those worked now.
#[inline(always)]
fn fetch<const ROUNDS: usize, const RAW: bool>(items: &[Item]) {
    for item in items {
        if item.text_bytes > 128 || item.aad_bytes > 0 || item.nonce_bytes > 16 {
            item.fetch();
            continue;
        }
        let output = if item.output.is_null() { item.input } else { item.output.cast_const() };
        // Without a look at which lines are the same or not used: to find out takes longer.
        for text in [item.input, output] {
            prefetch(text);
            prefetch(text.wrapping_add(64));
        }
        prefetch(item.nonce);
        prefetch(item.tag);
        let key_lines = if RAW { 1 } else { (ROUNDS + 6).div_ceil(4) };
        for line in 0..key_lines {
            prefetch(item.key.wrapping_add(64 * line));
        }
    }
}
