//! Lanes without a message, and wiping.
#![allow(unsafe_code)]

use core::{hint::black_box, ptr};

use sealift_core::Status;

use super::{PIECE_BLOCKS, PIECES_MAX};
use crate::x86_64::window::item::Item;

/// Of the longest text.
const TEXT_BYTES: usize = 16 * PIECE_BLOCKS * PIECES_MAX;

/// A place for the parts of messages that nobody sent, which fill up a group.
#[repr(C, align(64))]
pub(super) struct Spare {
    text: [u8; TEXT_BYTES],
    tag: [u8; 64],
    aad: [u8; 64],
    nonce: [u8; 16],
    status: Status,
}

impl Spare {
    pub(super) fn new() -> Spare {
        Spare {
            text: [0; TEXT_BYTES],
            tag: [0; 64],
            aad: [0; 64],
            nonce: [0; 16],
            status: Status::Ok,
        }
    }

    /// Wipes what a message was made into.
    pub(super) fn wipe(&mut self) {
        wipe(&mut self.text);
        wipe(&mut self.tag);
    }

    /// A message in this place that is worked like another one, with its key.
    pub(super) fn item(&mut self, like: &Item) -> Item {
        let text = self.text.as_mut_ptr();
        Item {
            input: text,
            output: if like.output.is_null() { ptr::null_mut() } else { text },
            tag: self.tag.as_mut_ptr(),
            nonce: self.nonce.as_ptr(),
            aad: self.aad.as_ptr(),
            status: &raw mut self.status,
            ..*like
        }
    }
}

/// Overwrites registers or integers with zeros, whether or not anybody looks at them later.
pub(super) fn wipe<T>(places: &mut [T]) {
    // SAFETY: a reference to what may hold any bytes.
    unsafe { places.as_mut_ptr().write_bytes(0, places.len()) };
    black_box(places);
}
