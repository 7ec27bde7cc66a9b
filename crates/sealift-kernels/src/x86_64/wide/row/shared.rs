//! What all messages of a call share.

use core::{arch::asm, arch::x86_64::*, mem::offset_of, ptr};

use super::super::{
    item::{Class, Item},
    zmm::{Z, broadcast, load, wide_fn, xor},
};
use super::{
    hash::{Halves, Own, aad, lengths, product, row_sums},
    place::{GROUP, Rows},
};
use crate::schedule::{Expanded, POWERS};

/// Round keys, powers, and what of the hash is the same for all messages.
#[repr(C)]
pub(super) struct Shared {
    /// The round keys, each in all lanes.
    keys: [Z; KEYS],
    /// The first round key, already added to the counters of a message's registers.
    starts: [Z; 2],
    /// The same for four first counter blocks.
    first: Z,
    /// The sums, for four messages, of products that are the same for all messages of the call.
    same: Halves,
    /// Where in the table of powers stand those of the first register of a text.
    text_powers: *const u8,
    /// The same for the aad.
    aad_powers: *const u8,
    /// The last entry of the table.
    last_power: *const u8,
    pub(super) class: Class,
    /// What is not the same.
    pub(super) own: Own,
}

impl Shared {
    wide_fn! {
        /// What messages under a key share.
        ///
        /// # Safety
        /// `key` is an [`Expanded`] key with the rounds of the class, which is that of the items; their
        /// aads are readable.
        #[inline]
        pub(super) unsafe fn new(class: &Class, key: *const u8, items: &[Item]) -> Shared {
            let zero = _mm512_setzero_si512();
            let mut keys = [zero; KEYS];
            for (round, to) in keys.iter_mut().enumerate().take(class.rounds + 1) {
                // SAFETY: the round keys stand at the start of the expanded key.
                *to = unsafe { broadcast(key.wrapping_add(16 * round)) };
            }
            let powers = key.wrapping_add(offset_of!(Expanded, powers));
            let before_end = |blocks: usize| powers.wrapping_add(16 * (POWERS - blocks));
            let mut shared = Shared {
                keys,
                starts: [xor(keys[0], counters([2, 3, 4, 5])), xor(keys[0], counters([6, 7, 8, 9]))],
                first: xor(keys[0], counters([1; 4])),
                same: (zero, zero),
                text_powers: before_end(class.text_blocks + 1),
                aad_powers: before_end(class.aad_blocks + class.text_blocks + 1),
                last_power: before_end(1),
                class: *class,
                own: Own::of(class, items),
            };
            // SAFETY: the caller promises it.
            unsafe { shared.multiply_same(&items[0]) };
            shared
        }
    }

    /// The round keys, at an address that hides what is there: the compiler would keep copies of them
    /// where nobody wipes them.
    #[inline(always)]
    pub(super) fn keys(&self) -> *const Z {
        hidden(self.keys.as_ptr())
    }

    wide_fn! {
        /// The blocks of counters of a message's register, the first round key added.
        #[inline]
        pub(super) fn start(&self, nonce: Z, row: usize) -> Z {
            xor(self.starts[row], nonce)
        }
    }

    wide_fn! {
        /// The first counter blocks of four messages, the first round key added.
        #[inline]
        pub(super) fn first(&self, nonces: Z) -> Z {
            xor(self.first, nonces)
        }
    }

    wide_fn! {
        /// The sums of products that are the same for all messages.
        #[inline]
        pub(super) fn same(&self) -> Halves {
            self.same
        }
    }

    wide_fn! {
        /// The powers for a register of text.
        #[inline]
        pub(super) fn text_powers(&self, row: usize) -> Halves {
            // SAFETY: the table has as many powers as a message of this kernel has blocks.
            unsafe { powers(hidden(self.text_powers.wrapping_add(64 * row))) }
        }
    }

    wide_fn! {
        /// The powers for the aad.
        #[inline]
        pub(super) fn aad_powers(&self) -> Halves {
            // SAFETY: the table has as many powers as a message of this kernel has blocks.
            unsafe { powers(hidden(self.aad_powers)) }
        }
    }

    wide_fn! {
        /// The power for the lengths, in all lanes.
        #[inline]
        pub(super) fn last_power(&self) -> Halves {
            let last = hidden(self.last_power);
            // SAFETY: the last power of the table.
            let power = unsafe { broadcast(last) };
            // SAFETY: the same, folded.
            (power, unsafe { broadcast(last.wrapping_add(FOLDED)) })
        }
    }

    wide_fn! {
        /// # Safety
        /// The item's aad is readable.
        #[inline]
        unsafe fn multiply_same(&mut self, item: &Item) {
            let group = [*item; GROUP];
            if self.own == Own::Nothing {
                self.same = product(lengths(&group), self.last_power());
            }
            if self.own != Own::Aads && self.class.aad_blocks > 0 {
                // SAFETY: the caller promises it.
                let aad = unsafe { aad(item) };
                let aads: Rows = [[aad; 2]; GROUP];
                let (low, high) = row_sums(&aads, 0, self.aad_powers());
                self.same = (xor(self.same.0, low), xor(self.same.1, high));
            }
        }
    }

    wide_fn! {
        /// Leaves only zeros.
        pub(super) fn wipe(&mut self) {
            let zero = _mm512_setzero_si512();
            self.keys = [zero; KEYS];
            self.starts = [zero; 2];
            (self.first, self.same) = (zero, (zero, zero));
            // SAFETY: no instruction is emitted; whoever is given the address may read what is there, so
            // the zeros are written.
            unsafe { asm!("/* {0} */", in(reg) ptr::from_mut(self), options(nostack, preserves_flags)) };
        }
    }
}

wide_fn! {
    /// A row of the table and of its folded twin.
    ///
    /// # Safety
    /// `row` is in the powers of a key.
    #[inline]
    unsafe fn powers(row: *const u8) -> Halves {
        // SAFETY: from the last power on there are 64 bytes within the key.
        let plain = unsafe { load(row) };
        // SAFETY: as above.
        (plain, unsafe { load(row.wrapping_add(FOLDED)) })
    }
}

/// The same address, of which the compiler can tell nothing.
#[inline(always)]
fn hidden<T>(mut address: *const T) -> *const T {
    // SAFETY: no instruction is emitted.
    unsafe { asm!("/* {0} */", inout(reg) address, options(nomem, nostack, preserves_flags)) };
    address
}

wide_fn! {
    /// Blocks of zeros that end with a number.
    #[inline]
    fn counters([a, b, c, d]: [i32; 4]) -> Z {
        let [a, b, c, d] = [a, b, c, d].map(i32::swap_bytes);
        _mm512_setr_epi32(0, 0, 0, a, 0, 0, 0, b, 0, 0, 0, c, 0, 0, 0, d)
    }
}

/// Round keys of the longest key.
const KEYS: usize = 15;

/// How far the folded powers lie behind the others.
const FOLDED: usize = offset_of!(Expanded, folded) - offset_of!(Expanded, powers);
