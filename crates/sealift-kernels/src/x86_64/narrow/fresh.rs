//! Schedules of raw keys, many at once: what the kernel reads of an expanded key, where it reads it.
#![allow(unsafe_code)]

use core::{array, hint::black_box, mem::offset_of, ptr};

use super::{nonces, width::TakesRaw};
pub(super) use crate::schedule::KEYS;
use crate::{
    model::aes::ROUND_KEYS_MAX,
    schedule::{Expanded, POWERS},
    x86_64::{
        expand::{self, InRow, Places},
        window::item::Item,
    },
};

/// Of an expanded key as much as the kernel reads.
#[repr(C, align(64))]
pub(super) struct Fresh {
    powers: [u128; POWERS],
    round_keys: [u128; ROUND_KEYS],
}

/// As many as the longest key has, and one more: whole cache lines.
const ROUND_KEYS: usize = ROUND_KEYS_MAX.next_multiple_of(4);

const _: () = assert!(offset_of!(Fresh, round_keys) == Expanded::POWERS_BEFORE);

/// A place for so many; it is secret, and wiped by its owner.
#[repr(C)]
pub(super) struct Keys {
    fresh: [Fresh; KEYS],
}

impl Keys {
    /// None yet.
    pub(super) fn new() -> Keys {
        let fresh = [const { Fresh { powers: [0; POWERS], round_keys: [0; ROUND_KEYS] } }; KEYS];
        Keys { fresh }
    }

    /// Puts expanded keys at the place of raw ones.
    ///
    /// # Safety
    /// There are one to [`KEYS`] of them, and their keys are raw ones with so many rounds. `has_plain_nonces` only if
    /// every nonce has 12 bytes: else powers for its blocks are made, too.
    #[inline(always)]
    pub(super) unsafe fn expand<W: TakesRaw>(
        &mut self,
        w: W,
        rounds: usize,
        has_plain_nonces: bool,
        items: &mut [Item],
    ) {
        // There are no powers times x^-64, and registers end with the powers.
        const { assert!(!W::HAS_FOLDED && W::LANES <= 2) };
        let count = items.len();
        let keys = array::from_fn(|i| items[i.min(count - 1)].key);
        let first = self.fresh.as_mut_ptr().cast::<u8>();
        let places = InRow::<{ size_of::<Fresh>() }>(first.wrapping_add(Expanded::POWERS_BEFORE));
        let mut last = items.iter().map(hashed_blocks).max().unwrap_or(0);
        if !has_plain_nonces {
            last = items.iter().map(nonces::blocks).fold(last, usize::max);
        }
        // SAFETY: the caller promises raw keys as long as the rounds say; each has a place.
        unsafe { expand::side_by_side(w, rounds, &keys, places, count, last) };
        for (i, item) in items.iter_mut().enumerate() {
            item.key = places.at(i);
        }
    }

    /// Leaves only zeros.
    pub(super) fn wipe(&mut self) {
        // SAFETY: integers may be zeros.
        unsafe { ptr::from_mut(self).write_bytes(0, 1) };
        black_box(self);
    }
}

/// Blocks that are hashed of a message.
#[inline(always)]
fn hashed_blocks(item: &Item) -> usize {
    let text = (item.text_bytes as usize).div_ceil(16).max(1);
    usize::from(item.aad_bytes).div_ceil(16) + text + 1
}
