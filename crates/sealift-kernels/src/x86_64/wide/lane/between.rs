//! What goes from one pass to the next.
#![allow(unsafe_code)]

use core::{
    arch::x86_64::*,
    mem::{self, MaybeUninit},
    slice,
};

use super::{
    group::{Group, Hashed},
    lanes::{gather_two, keys},
    spare::wipe,
};
use crate::{
    schedule::RECORD_BLOCKS,
    x86_64::wide::zmm::{Z, fold, wide_fn, xor},
};

/// What goes from one pass to the next, all of it in lanes.
#[repr(C, align(64))]
pub(super) struct Between {
    pub(super) secret: Secret,
    /// What two groups hash.
    pub(super) hashed: Hashed,
    /// The nonces of two groups in several pieces: read once, whoever rewrites them meanwhile.
    pub(super) nonces: [Z; 2],
    /// How many blocks of each group may hold something: of short messages, of long ones.
    used: [usize; 2],
}

/// What of it is secret whatever is done.
#[repr(C, align(64))]
pub(super) struct Secret {
    /// Key stream of the piece that went through AES.
    pub(super) stream: [Z; 8],
    /// The encrypted zero blocks of its group, if keys are raw.
    pub(super) zeros: Z,
    /// The hash of the pieces of a group, zeros if none is behind them.
    pub(super) sum: Z,
    /// What the tags of two groups are masked with.
    pub(super) masks: [Z; 2],
    /// Powers of the hash keys of the group to be hashed next, if keys are raw.
    pub(super) powers: Powers,
}

/// H, H^2, and both times x^-64, in lanes.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Powers {
    pub(super) h: Z,
    pub(super) h2: Z,
    pub(super) folded: Z,
    pub(super) folded2: Z,
}

impl Between {
    /// For the first messages.
    pub(super) fn new() -> Between {
        // SAFETY: registers and an integer may be zeros.
        unsafe { MaybeUninit::zeroed().assume_init() }
    }

    wide_fn! {
        /// Makes ready for messages that hash so many blocks, of which the first few stay zeros.
        pub(super) fn begin<const LONG: bool>(&mut self, blocks: usize, zeros: usize) {
            let used = &mut self.used[usize::from(LONG)];
            *used = blocks.max(*used);
            for hashed in self.hashed.all::<LONG>() {
                hashed[..zeros].fill(_mm512_setzero_si512());
            }
        }
    }

    /// Wipes what is secret, and what is hashed: in lanes without a message it is key stream.
    pub(super) fn wipe(&mut self) {
        wipe(slice::from_mut(&mut self.secret));
        let [short, long] = mem::take(&mut self.used);
        for hashed in self.hashed.all::<false>() {
            wipe(&mut hashed[..short]);
        }
        if long > 0 {
            for hashed in self.hashed.all::<true>() {
                wipe(&mut hashed[..long]);
            }
        }
    }
}

impl Powers {
    wide_fn! {
        /// Those of hash keys.
        #[inline]
        pub(super) fn of(h: Z) -> Powers {
            let h2 = square(h);
            Powers { h, h2, folded: fold(h), folded2: fold(h2) }
        }
    }

    wide_fn! {
        /// Those of the keys of a group.
        ///
        /// # Safety
        /// The keys are expanded, for so many rounds.
        #[inline]
        pub(super) unsafe fn gather<const ROUNDS: usize>(group: &Group) -> Powers {
            const { assert!(ROUNDS + 4 < RECORD_BLOCKS) };
            // Which of a line's blocks these are depends on the rounds, and 0 is right for any.
            // SAFETY: they are behind the round keys.
            let [h, h2] = unsafe { gather_two::<0>(keys(group, 16 * (ROUNDS + 1))) };
            // SAFETY: the folded ones are behind them and end within the record, as is asserted.
            let [folded, folded2] = unsafe { gather_two::<0>(keys(group, 16 * (ROUNDS + 3))) };
            Powers { h, h2, folded, folded2 }
        }
    }
}

wide_fn! {
    /// Times itself: halves multiplied with each other would come twice, which is nothing.
    #[inline]
    pub(super) fn square(h: Z) -> Z {
        let low = _mm512_clmulepi64_epi128::<0x00>(h, h);
        let high = _mm512_clmulepi64_epi128::<0x11>(h, h);
        xor(fold(fold(low)), high)
    }
}
