//! Nonces that are not of 12 bytes: hashed to the counter blocks that messages begin with.
#![allow(unsafe_code)]

use core::{hint::black_box, ptr};

use sealift_core::MAX_NONCE_BYTES;

use super::{
    fresh::KEYS,
    hash::{powers, products},
    width::Width,
};
use crate::{
    schedule::POWERS,
    x86_64::{aesni::to_u128, cpu::HaveAesNi, isa::Isa, window::item::Item},
};

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
    /// There are at most [`KEYS`] of them, their nonces are readable, and their keys are expanded ones with powers for
    /// all [`blocks`] of each nonce.
    #[inline(always)]
    pub(super) unsafe fn hash<W: Width>(&mut self, w: W, items: &mut [Item]) {
        let narrow: HaveAesNi = w.into();
        for (item, first) in items.iter_mut().zip(&mut self.0) {
            let (bytes, blocks) = (usize::from(item.nonce_bytes), blocks(item));
            if blocks == 0 {
                continue;
            }
            // SAFETY: the caller promises a readable nonce and powers for its blocks.
            let sums = unsafe { products(w, item.nonce, bytes, powers(item.key, blocks)) };
            let length = narrow.broadcast(&(u128::from(item.nonce_bytes) << 3));
            // SAFETY: the last power, which each expanded key has.
            let sums = unsafe { sums.and_block(w, length, true, powers(item.key, 1)) };
            *first = to_u128(sums.reduced(w));
            item.nonce = ptr::from_ref(first).cast();
        }
    }

    /// Leaves only zeros.
    pub(super) fn wipe(&mut self) {
        self.0 = [0; KEYS];
        black_box(self);
    }
}

/// Blocks that are hashed of a nonce: its own, and its length; none of one of 12 bytes.
#[inline(always)]
pub(super) fn blocks(item: &Item) -> usize {
    match item.nonce_bytes {
        12 => 0,
        bytes => usize::from(bytes).div_ceil(16) + 1,
    }
}

const _: () = assert!(MAX_NONCE_BYTES.div_ceil(16) < POWERS);
