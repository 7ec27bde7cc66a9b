//! Nonces that are not of 12 bytes: hashed to the counter blocks that messages begin with.
#![allow(unsafe_code)]

use core::{arch::x86_64::__m128i, hint::black_box, ptr};

use super::{
    fresh::KEYS,
    hash::{Sums, powers},
};
use crate::x86_64::{aesni::to_u128, cpu::HaveAesNi, isa::Isa, window::item::Item};

/// The first counter block of each message, reversed; secret, and wiped by its owner.
pub(super) struct Nonces([u128; KEYS]);

impl Nonces {
    /// None yet.
    pub(super) fn new() -> Nonces {
        Nonces([0; KEYS])
    }

    /// Puts these blocks at the place of nonces that have not 12 bytes.
    ///
    /// # Safety
    /// There are at most [`KEYS`] of them, their nonces are readable, and their keys are expanded ones.
    #[inline(always)]
    pub(super) unsafe fn hash(&mut self, w: HaveAesNi, items: &mut [Item]) {
        let Nonces(sums) = self;
        *sums = [0; KEYS];
        let most = items.iter().map(blocks).max().unwrap_or(0);
        for row in 0..most {
            for (item, sum) in items.iter().zip(&mut *sums) {
                // All end with the same row, so that as many as there can be are multiplied side by side.
                let Some(block) = (row + blocks(item)).checked_sub(most) else { continue };
                // SAFETY: the caller promises a readable nonce, and it has a block of this number or ends before it.
                let block = unsafe { load(w, item, block) };
                // SAFETY: the caller promises an expanded key, which has an aligned power there.
                let hash_key = w.broadcast(unsafe { &*powers(item.key, 1).cast::<u128>() });
                let sum_before = w.xor(w.broadcast(sum), block);
                *sum = to_u128(Sums::nothing(w).and(w, sum_before, hash_key).reduced(w));
            }
        }
        let first = ptr::from_ref(self).cast::<u128>();
        for (i, item) in items.iter_mut().enumerate().filter(|(_, item)| blocks(item) > 0) {
            item.nonce = first.wrapping_add(i).cast();
        }
    }

    /// Leaves only zeros.
    pub(super) fn wipe(&mut self) {
        self.0 = [0; KEYS];
        black_box(self);
    }
}

/// Blocks that are hashed of a nonce: its own, and its length.
#[inline(always)]
fn blocks(item: &Item) -> usize {
    match item.nonce_bytes {
        12 => 0,
        bytes => usize::from(bytes).div_ceil(16) + 1,
    }
}

/// One of these blocks, reversed.
///
/// # Safety
/// The nonce is readable, and it has so many blocks.
#[inline(always)]
unsafe fn load(w: HaveAesNi, item: &Item, block: usize) -> __m128i {
    let from = item.nonce.wrapping_add(16 * block);
    match usize::from(item.nonce_bytes).saturating_sub(16 * block) {
        0 => w.broadcast(&(u128::from(item.nonce_bytes) << 3)),
        // SAFETY: fewer bytes than a block are left of the nonce.
        bytes @ 1..16 => w.reverse(unsafe { w.load_part(from, bytes) }),
        // SAFETY: a block or more is left of the nonce.
        _ => w.reverse(unsafe { w.load(from) }),
    }
}
