//! Short messages under one key, each in registers of its own.
//!
//! A register holds four blocks of one message: one register for texts of up to 64 bytes, two for up to
//! 128. Eight of them are in flight, those of eight or of four messages; the first counter blocks of four
//! messages share a register. GHASH of one group of messages is woven into the AES rounds of another (of
//! the next one when sealing, of the same one when opening), because neither alone keeps the processor
//! busy. The ciphertext stays in registers meanwhile: that of an open is read once.
//!
//! Blocks are multiplied with the powers of the hash key that their distance from the end asks for, so
//! nothing is carried from block to block; sums of four messages are reduced at once. What the hashes of
//! all messages have in common, a shared aad and equal lengths, is multiplied once a call.
#![allow(unsafe_code)]

mod group;
mod hash;
mod place;
mod shared;
mod tag;
#[cfg(test)]
mod tests;
mod verify;
mod weave;

use sealift_core::Op;

use self::{group::groups, hash::Own, shared::Shared, verify::verify};
use super::{
    item::{Ahead, Class, Item, KeyForm},
    zmm::wide_fn,
};
use crate::{
    stack,
    x86_64::{
        cpu::HaveVaes512,
        window::spare::{self, Groups, Spare},
    },
};

/// Whether this kernel works messages of a class.
pub(super) fn takes(class: &Class) -> bool {
    class.keys == KeyForm::One && class.is_short()
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
    /// # Safety
    /// As for [`run`].
    unsafe fn run_compiled(class: &Class, items: &[Item], ahead: &mut Ahead<'_>) {
        if class.text_blocks > 4 {
            // SAFETY: the caller keeps the same promise, and two registers hold texts of up to 8 blocks.
            unsafe { run_grouped::<4>(class, items, ahead) };
        } else {
            // SAFETY: the caller keeps the same promise, and one register holds texts of up to 4 blocks.
            unsafe { run_grouped::<8>(class, items, ahead) };
        }
    }
}

wide_fn! {
    /// # Safety
    /// As for [`run`], and `8 / N` registers hold a text.
    #[inline(never)]
    unsafe fn run_grouped<const N: usize>(class: &Class, items: &[Item], ahead: &mut Ahead<'_>) {
        let mut spare = Spare::new();
        let Some(groups) = Groups::<N>::of(items, &mut spare) else { return };
        // SAFETY: an item's key points at the record of the expanded key that all of them have.
        let mut shared = unsafe { Shared::new(class, items[0].key, items) };
        match class.op {
            // SAFETY: the caller promises that the items are what they say.
            Op::Seal => unsafe { run_op::<N, true>(&shared, &groups, ahead) },
            // SAFETY: the caller promises that items to be opened are what they say; `shared` is of their class and key.
            Op::Open => unsafe { run_op::<N, false>(&shared, &groups, ahead) },
            // SAFETY: the caller promises that items to be verified are what they say; `shared` is of their class and key.
            Op::Verify => unsafe { verify(&shared, &groups, ahead) },
        }
        shared.wipe();
        spare.wipe();
        // What registers the functions called above put down.
        stack::wipe_kernel();
    }
}

wide_fn! {
    /// # Safety
    /// As for [`run_grouped`].
    #[inline]
    unsafe fn run_op<const N: usize, const SEAL: bool>(
        shared: &Shared,
        items: &Groups<'_, N>,
        ahead: &mut Ahead<'_>,
    ) {
        match shared.own {
            // SAFETY: the caller promises the items; with nothing of their own, all texts are as long as the first.
            Own::Nothing => unsafe { groups::<N, SEAL, 0>(shared, items, ahead) },
            // SAFETY: the caller promises the items; with lengths of their own, each text is read as far as it goes.
            Own::Lengths => unsafe { groups::<N, SEAL, 1>(shared, items, ahead) },
            // SAFETY: the caller promises the items; with aads of their own, each text is read as far as it goes.
            Own::Aads => unsafe { groups::<N, SEAL, 2>(shared, items, ahead) },
        }
    }
}
