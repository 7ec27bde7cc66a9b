//! Many short messages at once, on registers of one block, two or, under many keys, four.
//!
//! A message alone waits for each round of AES and for each product of its hash. Here a few of them go
//! through AES side by side, each with a key of its own, and the hashes of the few before are computed
//! between their rounds. Messages are taken in windows, and those of one length in blocks are worked together;
//! what is longer is worked in chains or one by one. Before, raw keys are expanded, sixteen side by side, and nonces that have not 12
//! bytes are hashed.
#![allow(unsafe_code)]

mod chain;
mod fresh;
mod group;
mod hash;
mod kernel;
mod nonces;
mod pays;
mod tag;
#[cfg(test)]
mod tests;
mod text;
mod width;

use core::ops::Range;

use sealift_core::{Op, Work};

use self::{
    group::Call,
    pays::pays,
    width::{TakesRaw, Width},
};
use super::cpu::{HaveAesNi, HaveVaes256, HaveVaes512};
use super::window::{
    Terms,
    desk::{How, Together},
    item::{Ahead, Class, Item, KeyForm},
    windows,
};
use crate::{Schedules, schedule::POWERS};

/// Works on the messages of a range that the kernel takes, and gives back the others, untouched; none if messages are
/// worked sooner one by one.
pub(crate) fn run_128(
    token: HaveAesNi,
    work: &mut Work<'_>,
    range: Range<usize>,
    schedules: Schedules<'_>,
) -> Option<Vec<usize>> {
    run(token, work, range, schedules)
}

/// The same on registers of two blocks.
pub(crate) fn run_256(
    token: HaveVaes256,
    work: &mut Work<'_>,
    range: Range<usize>,
    schedules: Schedules<'_>,
) -> Option<Vec<usize>> {
    run(token, work, range, schedules)
}

/// Whether [`run_512`] takes messages of a class.
pub(super) fn takes_512(class: &Class) -> bool {
    class.keys == KeyForm::Each && class.has_plain_nonces && takes_class::<HaveVaes512>(class)
}

/// Blocks of the longest texts that are worked on registers of four blocks.
pub(super) const TEXT_BLOCKS_512: usize = HaveVaes512::TEXT_BLOCKS;

/// Works messages of one class on registers of four blocks.
///
/// # Safety
/// It takes the class, and the items' addresses are what they say.
pub(super) unsafe fn run_512(
    token: HaveVaes512,
    class: &Class,
    items: &[Item],
    ahead: &mut Ahead<'_>,
) {
    // SAFETY: the caller keeps the same promise.
    unsafe { token.run(&Call::of(class), items, ahead) }
}

fn run<W: TakesRaw>(
    w: W,
    work: &mut Work<'_>,
    range: Range<usize>,
    schedules: Schedules<'_>,
) -> Option<Vec<usize>> {
    pays::<W>(work, range.clone(), schedules).then(|| {
        let (long_blocks, longest_text) = (W::TEXT_BLOCKS + 1, W::LONGEST_TEXT);
        let terms = Terms {
            long_blocks,
            long_blocks_of_few: long_blocks,
            longest_text,
            asks_for_keys: true,
            how: how::<W>,
        };
        windows(work, range, schedules, None, terms, |together, items, ahead| match together {
            // SAFETY: the items are of spans, which borrow the work meanwhile, and of the class, whose keys are expanded
            // ones: `how` lets raw keys be mixed only.
            Together::Alike(class) if class.text_blocks > W::TEXT_BLOCKS => unsafe {
                w.chain(&Call::of(class), items, ahead);
            },
            // SAFETY: the items are of spans, which borrow the work meanwhile, of the class, and their keys are expanded ones.
            Together::Alike(class) => unsafe { w.run(&Call::of(class), items, ahead) },
            // SAFETY: the items are of spans, which borrow the work meanwhile, each of a class that the kernel takes, under raw
            // keys of so many rounds.
            Together::Mixed { rounds, tag_bytes, .. } => unsafe {
                w.run_fresh(*rounds, *tag_bytes, items, ahead);
            },
        })
    })
}

/// How so many messages of a class are worked.
fn how<W: Width>(class: &mut Class, messages: usize, _all: usize) -> How {
    let takes = takes_class::<W>(class);
    match class.keys {
        // Keys are expanded side by side, whatever the messages are.
        KeyForm::Raw if takes => How::Mixed,
        KeyForm::One | KeyForm::Each
            if messages >= ALIKE_MIN && (takes || chains::<W>(class.op, class.text_blocks)) =>
        {
            How::Alike
        }
        _ => How::Alone,
    }
}

/// Whether texts of so many blocks are worked in a chain.
fn chains<W: Width>(op: Op, text_blocks: usize) -> bool {
    W::HAS_CHAINS && op != Op::Verify && text_blocks > W::TEXT_BLOCKS
}

/// Whether the kernel takes messages of a class, their keys expanded.
fn takes_class<W: Width>(class: &Class) -> bool {
    class.longest_aad().is_some_and(|aad| takes::<W>(class.text_blocks, aad))
}

/// Whether the kernel takes messages of so many blocks: it has a power of the hash key for each block hashed.
fn takes<W: Width>(text_blocks: usize, aad_blocks: usize) -> bool {
    let has_powers = match aad_blocks {
        // The block of lengths can be hashed by itself.
        0 => text_blocks <= POWERS,
        _ => text_blocks.max(1) + aad_blocks < POWERS,
    };
    text_blocks <= W::TEXT_BLOCKS && has_powers
}

/// Fewer messages of a class are worked one by one.
const ALIKE_MIN: usize = 6;
