//! Short messages of any shape under any keys: a lane for each, four at a time.
//!
//! The blocks that are hashed of a message lie in a column of its own and end where those of the others
//! do: zeros before them leave the hash at zero. So messages of different lengths share every
//! instruction but the copies. A group of four is hashed after the texts of the next group were worked,
//! which has nothing to wait for.
#![allow(unsafe_code)]

mod group;
mod hash;
mod nonces;

use core::{arch::asm, array, mem::MaybeUninit};

use group::Group;
use nonces::Nonces;

use super::item::{Ahead, Item, KeyForm};
use super::lane::expand::{self, KEYS, Lanes, Schedules, Words};
use super::zmm::{load, transpose, wide_fn};
use crate::stack;
use crate::x86_64::cpu::HaveVaes512;

/// Works messages of fewer than [`LONG_TEXT`](super::item::LONG_TEXT) blocks of text and up to
/// [`MEDIUM_AAD_BLOCKS`](super::item::MEDIUM_AAD_BLOCKS) of aad.
///
/// # Safety
/// The items are such, their addresses are what they say, and their keys are of that form and of so many
/// rounds.
pub(super) unsafe fn run(
    _token: HaveVaes512,
    keys: KeyForm,
    rounds: usize,
    tag_bytes: usize,
    items: &[Item],
    ahead: &mut Ahead<'_>,
) {
    match rounds {
        // SAFETY: `_token` is proof of the instructions; the caller promises the rest.
        10 => unsafe { all::<10>(keys, tag_bytes, items, ahead) },
        // SAFETY: `_token` is proof of the instructions; the caller promises the rest, and keys of 12 rounds.
        12 => unsafe { all::<12>(keys, tag_bytes, items, ahead) },
        // SAFETY: `_token` is proof of the instructions; the caller promises the rest, and keys of the only rounds left, 14.
        _ => unsafe { all::<14>(keys, tag_bytes, items, ahead) },
    }
    // The scratch, and what registers were put down beside and below it.
    stack::wipe::<{ size_of::<Scratch>() + stack::KERNEL_BYTES }>();
}

/// Messages of a group.
const LANES: usize = 4;

/// Blocks of four messages, one in each lane.
type Row = [[u8; 16]; LANES];

/// What a call works with. Nearly all of it is secret.
#[repr(C, align(64))]
struct Scratch {
    schedules: Schedules,
    words: Words,
    nonces: [Nonces; KEYS / LANES],
    groups: [Group; 2],
}

wide_fn! {
    /// # Safety
    /// As for [`run`].
    // Not a part of what calls it, so that its stack can be wiped.
    #[inline(never)]
    unsafe fn all<const ROUNDS: usize>(
        form: KeyForm,
        tag_bytes: usize,
        items: &[Item],
        ahead: &mut Ahead<'_>,
    ) {
        let mut scratch = MaybeUninit::<Scratch>::uninit();
        // SAFETY: no instruction is emitted; to the compiler, whatever is there was written now.
        unsafe { asm!("/* {0} */", in(reg) scratch.as_mut_ptr(), options(nostack, preserves_flags)) };
        // SAFETY: written, and made of integers, which may be anything.
        let scratch = unsafe { &mut *scratch.as_mut_ptr() };
        let mut waiting: &[Item] = &[];
        let mut is_odd = false;
        for sixteen in items.chunks(KEYS) {
            // SAFETY: the keys are of that form.
            unsafe { schedules::<ROUNDS>(form, sixteen, &mut scratch.schedules, &mut scratch.words) };
            for (nonces, four) in scratch.nonces.iter_mut().zip(sixteen.chunks(LANES)) {
                // SAFETY: the items' addresses are what they say.
                unsafe { nonces.put(four) };
            }
            let prepared = scratch.schedules.0.iter().zip(&scratch.nonces);
            for ((schedule, nonces), four) in prepared.zip(sixteen.chunks(LANES)) {
                ahead.fetch(four.len());
                let [one, other] = &mut scratch.groups;
                let (now, before) = if is_odd { (one, other) } else { (other, one) };
                // SAFETY: the items' addresses are what they say.
                unsafe { now.work_texts::<ROUNDS>(schedule, four, nonces) };
                // SAFETY: the group before is that of the messages that wait.
                unsafe { before.finish(waiting, tag_bytes) };
                (waiting, is_odd) = (four, !is_odd);
            }
        }
        let last = &scratch.groups[usize::from(is_odd)];
        // SAFETY: the last group is that of the messages that wait, and their addresses are what they say.
        unsafe { last.finish(waiting, tag_bytes) };
    }
}

wide_fn! {
    /// The schedules of up to sixteen messages, and behind them their hash keys.
    ///
    /// # Safety
    /// The items' keys are of that form and of so many rounds.
    unsafe fn schedules<const ROUNDS: usize>(
        form: KeyForm,
        items: &[Item],
        to: &mut Schedules,
        words: &mut Words,
    ) {
        let key = |i: usize| items[i.min(items.len() - 1)].key;
        if form == KeyForm::Raw {
            // SAFETY: the keys are raw ones of that length; both places are writable.
            unsafe { expand::expand::<ROUNDS>(&array::from_fn(key), to, words) };
            for group in &mut to.0 {
                group[ROUNDS + 1] = expand::hash_keys::<ROUNDS>(group);
            }
            return;
        }
        for (place, group) in to.0.iter_mut().enumerate().take(items.len().div_ceil(LANES)) {
            let four = array::from_fn(|lane| key(LANES * place + lane));
            // SAFETY: the keys are expanded ones, whose records are there.
            unsafe { gather::<ROUNDS>(four, group) };
        }
    }
}

wide_fn! {
    /// Puts the round keys of four expanded keys into lanes, and behind them the first powers, which share a cache line with
    /// the first three.
    ///
    /// # Safety
    /// The records are those of expanded keys.
    unsafe fn gather<const ROUNDS: usize>(records: [*const u8; LANES], to: &mut Lanes) {
        let lines = records.map(|record| record.wrapping_sub(16));
        // SAFETY: the last power is before a record.
        let [h, a, b, c] = transpose(lines.map(|line| unsafe { load(line) }));
        to[..3].copy_from_slice(&[a, b, c]);
        for (line, blocks) in to[3..=ROUNDS].chunks_mut(4).enumerate() {
            // SAFETY: a record has 304 bytes, and these are 256 at most.
            let rows = lines.map(|first| unsafe { load(first.wrapping_add(64 * (line + 1))) });
            blocks.copy_from_slice(&transpose(rows)[..blocks.len()]);
        }
        to[ROUNDS + 1] = h;
    }
}
