//! What all messages of a call share.

use core::{arch::asm, arch::x86_64::*, mem::offset_of, ptr};

use super::super::{
    item::{Class, Item},
    zmm::{Z, broadcast, load, reverse, wide_fn, xor},
};
use super::{
    hash::{Halves, Own, aad, add, lengths, mask, product, sum_2, sum_4},
    place::QUAD,
};
use crate::schedule::{Expanded, POWERS};

/// Round keys, powers, and what of the hash is the same for all messages.
#[repr(C, align(64))]
pub(super) struct Shared {
    /// The round keys, each in all lanes.
    keys: [Z; KEYS],
    /// The last of them.
    last_key: Z,
    /// The first round key, already added to the counters of a message's registers.
    starts: [Z; 2],
    /// The same for four first counter blocks.
    first: Z,
    /// The powers, plain and folded, for a message's two registers of text and for its aad, whose last lane
    /// is that of the lengths.
    powers: [[Z; 2]; 3],
    /// How the bytes of blocks are reversed.
    order: Z,
    /// The sums, for four messages, of products that are the same for all messages of the call.
    same: Halves,
    /// The round keys of the expanded key.
    key: *const u8,
    pub(super) class: Class,
    /// What is not the same.
    pub(super) own: Own,
    /// Whether all messages' last registers are full.
    pub(super) is_full: bool,
}

impl Shared {
    pub(super) const KEYS_AT: usize = offset_of!(Shared, keys);
    pub(super) const POWERS_AT: usize = offset_of!(Shared, powers);
    pub(super) const ORDER_AT: usize = offset_of!(Shared, order);

    wide_fn! {
        /// What messages under a key share.
        ///
        /// # Safety
        /// `key` is the record of an [`Expanded`] key with the rounds of the class, which is that of the items; their
        /// aads are readable.
        // Not a part of what calls it, so that its stack is wiped.
        #[inline(never)]
        pub(super) unsafe fn new(class: &Class, key: *const u8, items: &[Item]) -> Shared {
            let zero = _mm512_setzero_si512();
            let mut keys = [zero; KEYS];
            for (round, to) in keys.iter_mut().enumerate().take(class.rounds + 1) {
                // SAFETY: the address is that of the round keys.
                *to = unsafe { broadcast(key.wrapping_add(16 * round)) };
            }
            let own = Own::of(class, items);
            let mut shared = Shared {
                keys,
                last_key: keys[class.rounds],
                starts: [xor(keys[0], counters([2, 3, 4, 5])), xor(keys[0], counters([6, 7, 8, 9]))],
                first: xor(keys[0], counters([1; 4])),
                powers: [[zero; 2]; 3],
                order: order(),
                same: (zero, zero),
                key,
                class: *class,
                own,
                is_full: own == Own::Nothing && matches!(items[0].text_bytes, 64 | 128),
            };
            // SAFETY: the caller promises that the key is an expanded one.
            unsafe { shared.load_powers() };
            // SAFETY: the caller promises readable aads, that of the first item among them.
            unsafe { shared.multiply_same(&items[0]) };
            shared
        }
    }

    /// The same, of which the compiler can tell nothing: it would keep copies where nobody wipes them.
    #[inline(always)]
    pub(super) fn again(&self) -> &Shared {
        let mut address: *const Shared = self;
        // SAFETY: no instruction is emitted.
        unsafe {
            asm!("/* {0} */", inout(reg) address, options(readonly, nostack, preserves_flags))
        };
        // SAFETY: the same address.
        unsafe { &*address }
    }

    wide_fn! {
        /// A round key that is not the last.
        #[inline]
        pub(super) fn key(&self, round: usize) -> Z {
            self.keys[round]
        }
    }

    wide_fn! {
        /// The last round key.
        #[inline]
        pub(super) fn last_key(&self) -> Z {
            self.last_key
        }
    }

    wide_fn! {
        /// The blocks of counters of a message's register, the first round key added.
        #[inline]
        pub(super) fn start(&self, nonce: Z, row: usize) -> Z {
            xor(self.starts[row], nonce)
        }
    }

    wide_fn! {
        /// The first counter blocks of four messages, given their nonces in all lanes.
        #[inline]
        pub(super) fn first(&self, [a, b, c, d]: [Z; QUAD]) -> Z {
            let ab = _mm512_mask_blend_epi64(mask(0x0c), a, b);
            let cd = _mm512_mask_blend_epi64(mask(0xc0), c, d);
            xor(self.first, _mm512_mask_blend_epi64(mask(0xf0), ab, cd))
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
        /// The powers for the first register of text (0), the second (1) or the aad (2).
        #[inline]
        pub(super) fn powers(&self, register: usize) -> Halves {
            let [plain, folded] = self.powers[register];
            (plain, folded)
        }
    }

    wide_fn! {
        /// The power for the lengths, in all lanes.
        #[inline]
        pub(super) fn last_power(&self) -> Halves {
            let last = self.power(1);
            // SAFETY: the last power of the table.
            let power = unsafe { broadcast(last) };
            // SAFETY: the same, folded.
            (power, unsafe { broadcast(last.wrapping_sub(Expanded::FOLDED_BEFORE)) })
        }
    }

    /// Where in the table the power for a block stands, by its distance from the end of the hash.
    #[inline(always)]
    fn power(&self, from_end: usize) -> *const u8 {
        self.key.wrapping_sub(Expanded::POWERS_BEFORE - 16 * (POWERS - from_end))
    }

    wide_fn! {
        /// # Safety
        /// The key is an [`Expanded`] one.
        #[inline]
        unsafe fn load_powers(&mut self) {
            let (text, aad) = (self.class.text_blocks, self.class.aad_blocks);
            // SAFETY: the table has as many powers as a message of this kernel has blocks.
            self.powers[0] = unsafe { powers(self.power(text + 1)) };
            if text > 4 {
                // SAFETY: of 5 to 8 blocks this is power 5 at most, and the table has 16.
                self.powers[1] = unsafe { powers(self.power(text - 3)) };
            }
            // SAFETY: the class has at most 3 blocks of aad and 8 of text: this is power 12 at most, and the table has 16.
            let aad = unsafe { powers(self.power(aad + text + 1)) };
            let last = self.last_power();
            self.powers[AAD] = [ends_with(aad[0], last.0), ends_with(aad[1], last.1)];
        }
    }

    wide_fn! {
        /// # Safety
        /// The item's aad is readable.
        #[inline]
        unsafe fn multiply_same(&mut self, item: &Item) {
            let group = [*item; QUAD];
            if self.own == Own::Nothing {
                self.same = product(lengths(&group), self.last_power());
            }
            if self.own != Own::Aads && self.class.aad_blocks > 0 {
                // SAFETY: the caller promises that the item's aad is readable.
                let product = product(reverse(unsafe { aad(item) }), self.powers(AAD));
                let sum = sum_2(product, product);
                self.same = add(self.same, sum_4(sum, sum));
            }
        }
    }

    wide_fn! {
        /// Leaves only zeros.
        pub(super) fn wipe(&mut self) {
            let zero = _mm512_setzero_si512();
            self.keys = [zero; KEYS];
            self.starts = [zero; 2];
            self.powers = [[zero; 2]; 3];
            self.same = (zero, zero);
            (self.first, self.last_key) = (zero, zero);
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
    unsafe fn powers(row: *const u8) -> [Z; 2] {
        // SAFETY: from the last power on there are 64 bytes within the key.
        let plain = unsafe { load(row) };
        // SAFETY: behind the last folded power are the others.
        [plain, unsafe { load(row.wrapping_sub(Expanded::FOLDED_BEFORE)) }]
    }
}

wide_fn! {
    /// The first three blocks of one register and the last of another.
    #[inline]
    fn ends_with(first: Z, last: Z) -> Z {
        _mm512_mask_blend_epi64(0xc0, first, last)
    }
}

wide_fn! {
    /// Blocks of zeros that end with a number.
    #[inline]
    fn counters([a, b, c, d]: [i32; 4]) -> Z {
        let [a, b, c, d] = [a, b, c, d].map(i32::swap_bytes);
        _mm512_setr_epi32(0, 0, 0, a, 0, 0, 0, b, 0, 0, 0, c, 0, 0, 0, d)
    }
}

wide_fn! {
    #[inline]
    fn order() -> Z {
        let order = _mm_setr_epi8(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
        _mm512_broadcast_i32x4(order)
    }
}

/// Which of the powers are for the aad.
pub(super) const AAD: usize = 2;

/// Round keys of the longest key.
const KEYS: usize = 15;
