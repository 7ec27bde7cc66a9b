//! Lanes without a message, and wiping.
#![allow(unsafe_code)]

use core::{mem::size_of, ptr};

use sealift_core::Status;

use crate::x86_64::wide::item::Item;

/// A place for the parts of messages that nobody sent, which fill up a group.
#[repr(C, align(64))]
pub(super) struct Spare {
    text: [u8; 128],
    aad: [u8; 64],
    tag: [u8; 16],
    nonce: [u8; 16],
    status: Status,
}

impl Spare {
    pub(super) fn new() -> Spare {
        Spare { text: [0; 128], aad: [0; 64], tag: [0; 16], nonce: [0; 16], status: Status::Ok }
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

impl Drop for Spare {
    fn drop(&mut self) {
        wipe(&mut self.text);
        wipe(&mut self.tag);
    }
}

/// Overwrites integers or registers with zeros, whether or not anybody looks at them later.
pub(super) fn wipe<T>(place: &mut T) {
    let start = ptr::from_mut(place).cast::<u64>();
    const { assert!(size_of::<T>() % 8 == 0) };
    for word in 0..size_of::<T>() / 8 {
        // SAFETY: within the place; whoever calls has no use for its alignment or for what it held.
        unsafe { start.wrapping_add(word).write_volatile(0) };
    }
}
