//! The kernel, compiled for each width and each number of blocks.
#![allow(unsafe_code)]

use super::{
    fresh::{KEYS, Keys},
    group::{Call, groups},
};
use crate::{
    stack,
    x86_64::{
        cpu::{HaveAesNi, HaveVaes256},
        window::{
            item::{Ahead, Item, KeyForm},
            spare::{Groups, Spare},
        },
    },
};

/// Writes the kernel of a width: for texts of so many blocks, so many messages at a time, of so many
/// registers each. Their states and what their hashes need are as many as there are registers.
macro_rules! kernel {
    ($module:ident: $token:ty, $features:literal, $($blocks:literal => $messages:literal * $registers:literal,)+) => {
        pub(super) mod $module {
            use super::*;

            /// Works messages of one class.
            ///
            /// # Safety
            /// The items' addresses are what they say, and they are as the call says.
            pub(in super::super) unsafe fn run(
                w: $token,
                call: &Call,
                items: &[Item],
                ahead: &mut Ahead<'_>,
            ) {
                if call.keys == KeyForm::Raw {
                    let mut keys = Keys::new();
                    for some in items.chunks(KEYS) {
                        // SAFETY: the token is proof of the instructions; the caller promises the rest.
                        let expanded = unsafe { expand(w, call, some, &mut keys) };
                        // SAFETY: as the caller promises, but that keys are expanded now.
                        unsafe { under_expanded(w, call, &expanded[..some.len()], ahead) };
                    }
                    keys.wipe();
                } else {
                    // SAFETY: the caller keeps the same promise, and keys that are not raw are expanded ones.
                    unsafe { under_expanded(w, call, items, ahead) };
                }
                // What registers were put down there.
                stack::wipe();
            }

            /// # Safety
            /// As for [`run`], there are one to [`KEYS`] items, and keys are raw ones.
            // Not a part of what calls it, so that its stack can be wiped.
            #[inline(never)]
            #[target_feature(enable = $features)]
            unsafe fn expand(
                w: $token,
                call: &Call,
                items: &[Item],
                keys: &mut Keys,
            ) -> [Item; KEYS] {
                // SAFETY: the caller promises one to `KEYS` items, whose keys are raw ones with the call's rounds.
                unsafe { keys.expand(w, call, items) }
            }

            /// # Safety
            /// As for [`run`], and keys are expanded ones.
            unsafe fn under_expanded(
                w: $token,
                call: &Call,
                items: &[Item],
                ahead: &mut Ahead<'_>,
            ) {
                let mut spare = Spare::new();
                match call.text_blocks.max(1) {
                    $($blocks => {
                        if let Some(groups) = Groups::of(items, &mut spare) {
                            // SAFETY: the token is proof of the instructions; the caller promises the rest.
                            unsafe { work::<$blocks, $messages, $registers>(w, call, &groups, ahead) };
                        }
                    })+
                    blocks => debug_assert!(false, "texts of {blocks} blocks"),
                }
                spare.wipe();
            }

            /// # Safety
            /// As for [`run`], texts have `T` blocks, or none if `T` is 1, and keys are expanded ones.
            // Not a part of what calls it, so that its stack can be wiped.
            #[inline(never)]
            #[target_feature(enable = $features)]
            unsafe fn work<const T: usize, const N: usize, const R: usize>(
                w: $token,
                call: &Call,
                items: &Groups<'_, N>,
                ahead: &mut Ahead<'_>,
            ) {
                // SAFETY: the caller promises that the items' addresses are what they say, and that keys are expanded ones.
                unsafe { groups::<$token, T, N, R>(w, call, items, ahead) }
            }
        }
    };
}

kernel! {
    one_lane: HaveAesNi, "ssse3,sse4.1,aes,pclmulqdq",
    1 => 4 * 2,
    2 => 3 * 3,
    3 => 2 * 4,
    4 => 2 * 5,
    5 => 1 * 6,
    6 => 1 * 7,
    7 => 1 * 8,
    8 => 1 * 9,
}

kernel! {
    two_lanes: HaveVaes256, "ssse3,sse4.1,aes,pclmulqdq,avx,avx2,vaes,vpclmulqdq",
    1 => 8 * 1,
    2 => 4 * 2,
    3 => 4 * 2,
    4 => 3 * 3,
    5 => 3 * 3,
    6 => 2 * 4,
    7 => 2 * 4,
    8 => 2 * 5,
    9 => 2 * 5,
    10 => 1 * 6,
    11 => 1 * 6,
    12 => 1 * 7,
    13 => 1 * 7,
    14 => 1 * 8,
    15 => 1 * 8,
    16 => 1 * 9,
}
