//! Raw keys, each for one message: round keys are expanded sixteen at a time, powers four.
#![allow(unsafe_code)]

use core::{
    arch::x86_64::*,
    cell::Cell,
    mem::{MaybeUninit, offset_of},
};

use super::super::{
    item::Item,
    lane::expand::{self, KEYS, Lanes, Schedules, Words},
    zmm::{self, Z, wide_fn},
};
use super::{
    keys::{KeyPlace, REACH},
    scratch::SLOTS,
};
use crate::schedule::Expanded;

/// Room for the keys of the messages that are being worked.
pub(super) struct RawKeys {
    /// The round keys of sixteen messages and of the sixteen before.
    schedules: [Cell<MaybeUninit<Schedules>>; 2],
    words: Cell<MaybeUninit<Words>>,
    powers: [[Powers; 4]; SLOTS / 4],
}

/// The powers of a hash key.
#[repr(C, align(64))]
struct Powers {
    /// H^16 down to H^1, folded, as in an `Expanded`.
    folded: [Cell<Z>; 4],
    /// The same as they are.
    plain: [Cell<Z>; 4],
    /// Read with what is read behind the last power.
    behind: [Cell<Z>; 2],
}

const _: () = {
    assert!(offset_of!(Powers, plain) == Expanded::FOLDED_BEFORE);
    assert!(offset_of!(Powers, plain) + REACH <= size_of::<Powers>());
};

impl RawKeys {
    /// Room without keys.
    #[inline(always)]
    pub(super) fn new(zero: Z) -> RawKeys {
        let row = || Cell::new(zero);
        let powers = || Powers {
            folded: [row(), row(), row(), row()],
            plain: [row(), row(), row(), row()],
            behind: [row(), row()],
        };
        let four = || [powers(), powers(), powers(), powers()];
        let schedules = || Cell::new(MaybeUninit::zeroed());
        RawKeys {
            schedules: [schedules(), schedules()],
            words: Cell::new(MaybeUninit::zeroed()),
            powers: [four(), four()],
        }
    }

    /// The place of the key of message number `index`.
    #[inline(always)]
    pub(super) fn place(&self, index: usize) -> KeyPlace {
        let round_keys = self.lanes(index).cast::<u8>().wrapping_add(16 * (index % 4));
        let powers = &self.powers[index / 4 % (SLOTS / 4)][index % 4];
        let powers = core::ptr::from_ref(powers).cast::<u8>();
        KeyPlace { round_keys, powers: powers.wrapping_add(offset_of!(Powers, plain)) }
    }

    /// The round keys of four messages, one of them number `index`.
    #[inline(always)]
    pub(super) fn lanes(&self, index: usize) -> *const Lanes {
        let chunk = self.schedules[index / KEYS % 2].as_ptr().cast::<Lanes>();
        chunk.wrapping_add(index % KEYS / 4).cast_const()
    }

    wide_fn! {
        /// Has the key of message number `index` at its place; messages come in order.
        ///
        /// # Safety
        /// The items' keys are readable for `4 * (rounds - 6)` bytes. There is such a message.
        #[inline]
        pub(super) unsafe fn expand(&self, rounds: usize, items: &[Item], index: usize) {
            if !index.is_multiple_of(4) {
                return;
            }
            match rounds {
                // SAFETY: the caller keeps the same promise.
                10 => unsafe { self.expand_four::<10>(items, index) },
                // SAFETY: the caller promises keys that are readable for 4 * (12 - 6) bytes: 24.
                12 => unsafe { self.expand_four::<12>(items, index) },
                // SAFETY: the caller promises keys that are readable for 4 * (14 - 6) bytes: 32.
                _ => unsafe { self.expand_four::<14>(items, index) },
            }
        }
    }

    wide_fn! {
        /// # Safety
        /// As for `expand`.
        #[inline(never)]
        unsafe fn expand_four<const ROUNDS: usize>(&self, items: &[Item], index: usize) {
            if index.is_multiple_of(KEYS) {
                // SAFETY: the caller keeps the same promise.
                unsafe { self.expand_chunk::<ROUNDS>(items, index) };
            }
            // SAFETY: these were just expanded, or with a message before.
            let lanes = unsafe { &*self.lanes(index) };
            let hash_keys = expand::hash_keys::<ROUNDS>(lanes);
            set_powers(hash_keys, &self.powers[index / 4 % (SLOTS / 4)]);
        }
    }

    wide_fn! {
        /// # Safety
        /// As for `expand`.
        #[inline(never)]
        unsafe fn expand_chunk<const ROUNDS: usize>(&self, items: &[Item], index: usize) {
            let items = &items[index..];
            let mut keys = [items[0].key; KEYS];
            for (key, item) in keys.iter_mut().zip(items) {
                *key = item.key;
            }
            let to = self.schedules[index / KEYS % 2].as_ptr().cast();
            // SAFETY: the caller promises the keys; the places are such and aligned.
            unsafe { expand::expand::<ROUNDS>(&keys, to, self.words.as_ptr().cast()) };
        }
    }

    /// Forgets the keys of so many messages.
    pub(super) fn wipe(&self, messages: usize, zero: Z) {
        for chunk in self.schedules.iter().take(messages.div_ceil(KEYS)) {
            chunk.set(MaybeUninit::zeroed());
        }
        self.words.set(MaybeUninit::zeroed());
        for powers in self.powers.iter().take(messages.div_ceil(4)).flatten() {
            powers.plain.iter().chain(&powers.folded).for_each(|row| row.set(zero));
        }
    }
}

wide_fn! {
    /// Works out the powers of four hash keys, which are in lanes.
    #[inline(never)]
    fn set_powers(h: Z, to: &[Powers; 4]) {
        let folded = zmm::fold(h);
        let h2 = times(h, h, folded);
        let h3 = times(h2, h, folded);
        let h4 = times(h3, h, folded);
        for (row, powers) in zmm::transpose([h4, h3, h2, h]).into_iter().zip(to) {
            set_rows(row, powers);
        }
    }
}

wide_fn! {
    /// The powers of a hash key, from the fourth to the first.
    #[inline]
    fn set_rows(row: Z, to: &Powers) {
        let folded = zmm::fold(row);
        let (h, f) =
            (_mm512_shuffle_i64x2::<0x00>(row, row), _mm512_shuffle_i64x2::<0x00>(folded, folded));
        let second = times(row, h, f);
        let second_folded = zmm::fold(second);
        let h = _mm512_shuffle_i64x2::<0x00>(second, second);
        let f = _mm512_shuffle_i64x2::<0x00>(second_folded, second_folded);
        let (third, fourth) = (times(row, h, f), times(second, h, f));
        to.plain[3].set(row);
        to.folded[3].set(folded);
        to.plain[2].set(second);
        to.folded[2].set(second_folded);
        to.plain[1].set(third);
        to.folded[1].set(zmm::fold(third));
        to.plain[0].set(fourth);
        to.folded[0].set(zmm::fold(fourth));
    }
}

wide_fn! {
    /// The product of two in each lane, of which the second is given folded too.
    #[inline]
    fn times(a: Z, b: Z, folded: Z) -> Z {
        let (low, high) = zmm::multiply(a, b, folded);
        zmm::xor(high, zmm::fold(low))
    }
}
