//! What goes from one pass to the next.
#![allow(unsafe_code)]

use core::arch::x86_64::*;
use core::mem::offset_of;

use super::{
    group::{Group, Hashed},
    lanes::{gather, keys},
    spare::wipe,
};
use crate::{
    schedule::{Expanded, POWERS},
    x86_64::wide::zmm::{Z, fold, wide_fn, xor},
};

/// What goes from one pass to the next, all of it in lanes.
#[repr(C, align(64))]
pub(super) struct Between {
    pub(super) secret: Secret,
    /// What two groups hash.
    pub(super) hashed: [Hashed; 2],
}

/// What of it has to be wiped.
#[repr(C, align(64))]
pub(super) struct Secret {
    /// Key stream of the group that went through AES.
    pub(super) stream: [Z; 9],
    /// Its encrypted zero blocks, if keys are raw.
    pub(super) zeros: Z,
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
    wide_fn! {
        /// For the first pass: of groups without a message.
        pub(super) fn new() -> Between {
            let zero = _mm512_setzero_si512();
            let powers = Powers::zeros();
            let secret = Secret { stream: [zero; 9], zeros: zero, masks: [zero; 2], powers };
            Between { secret, hashed: [[zero; 20]; 2] }
        }
    }

    /// Wipes what is secret, and of what is hashed the first blocks: in lanes without a message it is key
    /// stream.
    pub(super) fn wipe(&mut self, hashed: usize) {
        wipe(&mut self.secret);
        self.hashed.iter_mut().flat_map(|all| &mut all[..hashed]).for_each(wipe);
    }
}

impl Powers {
    wide_fn! {
        /// None.
        #[inline]
        pub(super) fn zeros() -> Powers {
            let zero = _mm512_setzero_si512();
            Powers { h: zero, h2: zero, folded: zero, folded2: zero }
        }
    }

    wide_fn! {
        /// Those of the keys of a group.
        ///
        /// # Safety
        /// The keys are expanded.
        #[inline]
        pub(super) unsafe fn gather(group: &Group) -> Powers {
            const POWER: usize = offset_of!(Expanded, powers) + 16 * (POWERS - 1);
            const FOLDED: usize = offset_of!(Expanded, folded) + 16 * (POWERS - 1);
            // SAFETY: within the expanded key.
            let h = unsafe { gather(keys(group, POWER)) };
            // SAFETY: as above.
            let h2 = unsafe { gather(keys(group, POWER - 16)) };
            // SAFETY: as above.
            let folded = unsafe { gather(keys(group, FOLDED)) };
            // SAFETY: as above.
            let folded2 = unsafe { gather(keys(group, FOLDED - 16)) };
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
