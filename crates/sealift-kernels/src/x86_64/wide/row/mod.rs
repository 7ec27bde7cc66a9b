//! Short messages under one key, four at a time, each in registers of its own.
//!
//! A register holds four blocks of one message: one register for texts of up to 64 bytes, two for up to
//! 128. The first counter blocks of four messages share a register. GHASH of one group of messages is
//! woven into the AES rounds of another (of the next one when sealing, of the same one when opening),
//! because neither alone keeps the processor busy.
//!
//! Blocks are multiplied with the powers of the hash key that their distance from the end asks for, so
//! nothing is carried from block to block; sums of four messages are reduced at once.
#![allow(unsafe_code)]

mod group;
mod hash;
mod place;
mod shared;
#[cfg(test)]
mod tests;

use sealift_core::Op;

use self::{
    group::{groups, verify},
    hash::Own,
    shared::Shared,
};
use super::{
    item::{Ahead, Class, Item, KeyForm, LONG_AAD, LONG_TEXT},
    zmm::wide_fn,
};
use crate::x86_64::cpu::HaveVaes512;

/// Whether this kernel works messages of a class.
pub(super) fn takes(class: &Class) -> bool {
    class.keys == KeyForm::One && class.text_blocks < LONG_TEXT && class.aad_blocks < LONG_AAD
}

/// Works messages of one class.
///
/// # Safety
/// The class is one that this kernel takes, and the items' addresses are what they say.
pub(super) unsafe fn run(
    _token: HaveVaes512,
    class: &Class,
    items: &[Item],
    ahead: &mut Ahead<'_>,
) {
    // SAFETY: `_token` is proof that this processor has the instructions; the caller promises the rest.
    unsafe { run_compiled(class, items, ahead) }
}

wide_fn! {
    unsafe fn run_compiled(class: &Class, items: &[Item], ahead: &mut Ahead<'_>) {
        let Some(item) = items.first() else { return };
        // SAFETY: an item's key points at the expanded key that all of them have.
        let mut shared = unsafe { Shared::new(class, item.key, items) };
        let own = shared.own;
        macro_rules! with {
            ($rounds:literal, $rows:literal, $seal:literal) => {
                match own {
                    // SAFETY: the caller promises that the items are what they say.
                    Own::Nothing => unsafe { groups::<$rounds, $rows, $seal, 0>(&shared, items, ahead) },
                    // SAFETY: as above.
                    Own::Lengths => unsafe { groups::<$rounds, $rows, $seal, 1>(&shared, items, ahead) },
                    // SAFETY: as above.
                    Own::Aads => unsafe { groups::<$rounds, $rows, $seal, 2>(&shared, items, ahead) },
                }
            };
            ($rounds:literal, $rows:literal) => {
                match class.op {
                    Op::Seal => with!($rounds, $rows, true),
                    Op::Open => with!($rounds, $rows, false),
                    // SAFETY: as above.
                    Op::Verify => unsafe { verify::<$rows>(&shared, items, ahead) },
                }
            };
        }
        match (class.rounds, class.text_blocks > 4) {
            (10, false) => with!(10, 1),
            (10, true) => with!(10, 2),
            (12, false) => with!(12, 1),
            (12, true) => with!(12, 2),
            (_, false) => with!(14, 1),
            (_, true) => with!(14, 2),
        }
        shared.wipe();
    }
}
