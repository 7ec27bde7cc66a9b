//! The kernel, compiled for each width and each number of blocks.
#![allow(unsafe_code)]

use super::{
    fresh::{KEYS, Keys},
    group::{self, Call, groups},
    nonces::Nonces,
};
use crate::{
    stack,
    x86_64::{
        cpu::{HaveAesNi, HaveVaes256, HaveVaes512},
        isa::Isa,
        window::{
            item::{Ahead, Item, lines},
            spare::{Groups, Spare},
        },
    },
};

/// Writes the kernel of a width: for texts of so many blocks, so many messages at a time, of so many
/// registers each. Their states and what their hashes need are as many as there are registers, or fewer: the processor
/// overlaps one group with the next, and of keys from afar a larger one asks for more lines at once.
macro_rules! kernel {
    ($module:ident: $token:ty, $features:literal, $($blocks:literal => $messages:literal * $registers:literal,)+) => {
        pub(super) mod $module {
            use super::*;

            /// Works messages of one class under expanded keys.
            ///
            /// # Safety
            /// The items' addresses are what they say, they are as the call says, the kernel takes them, and their keys are
            /// expanded ones.
            pub(in super::super) unsafe fn run(
                w: $token,
                call: &Call,
                items: &[Item],
                ahead: &mut Ahead<'_>,
            ) {
                if call.has_plain_nonces {
                    // SAFETY: the caller keeps the same promise, and no nonce is to be hashed.
                    unsafe { prepared(w, call, items, ahead) };
                } else {
                    let (mut nonces, mut hashed) = (Nonces::new(), [Item::NOBODYS; KEYS]);
                    for some in items.chunks(KEYS) {
                        let hashed = &mut hashed[..some.len()];
                        hashed.copy_from_slice(some);
                        // SAFETY: the token is proof of the instructions; the caller promises the rest.
                        unsafe { hash_nonces(w, hashed, &mut nonces) };
                        // SAFETY: as the caller promises, and nonces are hashed now.
                        unsafe { prepared(w, call, hashed, ahead) };
                    }
                    nonces.wipe();
                }
                // What registers were put down there, which are large on four lanes.
                if <$token>::LANES == 4 { stack::wipe_raw_keys() } else { stack::wipe_kernel() }
            }

            /// # Safety
            /// As for [`run`], and there are one to [`KEYS`] items.
            // Not a part of what calls it, so that its stack can be wiped.
            #[inline(never)]
            #[target_feature(enable = $features)]
            pub(super) unsafe fn hash_nonces(w: $token, items: &mut [Item], nonces: &mut Nonces) {
                // SAFETY: the caller promises one to `KEYS` items, whose nonces are readable, and keys expanded.
                unsafe { nonces.hash(w, items) }
            }

            /// # Safety
            /// As for [`run`], and nonces that are not plain are hashed.
            pub(super) unsafe fn prepared(
                w: $token,
                call: &Call,
                items: &[Item],
                ahead: &mut Ahead<'_>,
            ) {
                let mut spare = Spare::new();
                match call.text_blocks.max(1) {
                    // SAFETY: the token is proof of the instructions; the caller promises the rest.
                    $($blocks => unsafe {
                        grouped::<$blocks, $messages, $registers>(w, call, items, &mut spare, ahead);
                    },)+
                    blocks => unreachable!("texts of {blocks} blocks, which the kernel does not take"),
                }
                spare.wipe();
            }

            /// # Safety
            /// As for [`prepared`], and texts have `T` blocks, or none if `T` is 1.
            // Not a part of what calls it, which would have room for groups of each size.
            #[inline(never)]
            unsafe fn grouped<const T: usize, const N: usize, const R: usize>(
                w: $token,
                call: &Call,
                items: &[Item],
                spare: &mut Spare,
                ahead: &mut Ahead<'_>,
            ) {
                if let Some(groups) = Groups::of(items, spare) {
                    if ahead.has_far_keys {
                        group::fetch_first_keys::<$token, N>(call, &groups);
                    }
                    // SAFETY: the token is proof of the instructions; the caller promises the rest.
                    unsafe { work::<T, N, R>(w, call, &groups, ahead) }
                }
            }

            /// # Safety
            /// As for [`prepared`], and texts have `T` blocks, or none if `T` is 1.
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

/// Writes the same for raw keys, which are expanded before.
macro_rules! fresh {
    ($module:ident: $kernel:ident, $token:ty, $features:literal) => {
        pub(super) mod $module {
            use super::*;

            /// Works messages under raw keys of so many rounds.
            ///
            /// # Safety
            /// The items' addresses are what they say, the kernel takes each of them, and keys and tags are so long.
            pub(in super::super) unsafe fn run(
                w: $token,
                rounds: usize,
                tag_bytes: usize,
                items: &[Item],
                ahead: &mut Ahead<'_>,
            ) {
                let (mut keys, mut nonces) = (Keys::new(), Nonces::new());
                let mut expanded = [Item::NOBODYS; KEYS];
                let mut later = items.chunks(KEYS).skip(1);
                for some in items.chunks(KEYS) {
                    if let (true, Some(next)) = (ahead.is_irregular, later.next()) {
                        for item in next {
                            item.fetch();
                            lines(item.nonce, item.nonce_bytes.into());
                        }
                    }
                    let expanded = &mut expanded[..some.len()];
                    expanded.copy_from_slice(some);
                    let has_plain_nonces = expanded.iter().all(|item| item.nonce_bytes == 12);
                    // SAFETY: the token is proof of the instructions; the caller promises the rest.
                    unsafe { expand(w, rounds, has_plain_nonces, expanded, &mut keys) };
                    if !has_plain_nonces {
                        // SAFETY: as the caller promises, but that keys are expanded now.
                        unsafe { $kernel::hash_nonces(w, expanded, &mut nonces) };
                    }
                    for alike in expanded.chunk_by(group::are_alike) {
                        let call = Call::like(&alike[0], rounds, tag_bytes);
                        // SAFETY: as the caller promises, but that keys are expanded and nonces hashed now.
                        unsafe { $kernel::prepared(w, &call, alike, ahead) };
                    }
                }
                keys.wipe();
                nonces.wipe();
                // What registers were put down there.
                stack::wipe_kernel();
            }

            /// # Safety
            /// As for [`run`], and there are one to [`KEYS`] items.
            // Not a part of what calls it, so that its stack can be wiped.
            #[inline(never)]
            #[target_feature(enable = $features)]
            unsafe fn expand(
                w: $token,
                rounds: usize,
                has_plain_nonces: bool,
                items: &mut [Item],
                keys: &mut Keys,
            ) {
                // SAFETY: the caller promises one to `KEYS` items, whose keys are raw ones with so many rounds.
                unsafe { keys.expand(w, rounds, has_plain_nonces, items) }
            }
        }
    };
}

kernel! {
    one_lane: HaveAesNi, "ssse3,sse4.1,aes,pclmulqdq",
    1 => 4 * 2,
    2 => 2 * 3,
    3 => 2 * 4,
    4 => 1 * 5,
    5 => 1 * 6,
    6 => 1 * 7,
    7 => 1 * 8,
    8 => 1 * 9,
}

kernel! {
    two_lanes: HaveVaes256, "ssse3,sse4.1,aes,pclmulqdq,avx,avx2,vaes,vpclmulqdq",
    1 => 4 * 1,
    2 => 4 * 1,
    3 => 2 * 2,
    4 => 3 * 2,
    5 => 3 * 3,
    6 => 1 * 3,
    7 => 1 * 4,
    8 => 1 * 4,
    9 => 1 * 5,
    10 => 1 * 5,
    11 => 1 * 6,
    12 => 1 * 6,
    13 => 1 * 7,
    14 => 1 * 7,
    15 => 1 * 8,
    16 => 1 * 8,
}

kernel! {
    four_lanes: HaveVaes512,
    "ssse3,sse4.1,aes,pclmulqdq,avx,avx2,vaes,vpclmulqdq,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi",
    1 => 4 * 1,
    2 => 4 * 1,
    3 => 4 * 1,
    4 => 4 * 1,
    5 => 4 * 2,
    6 => 4 * 2,
    7 => 4 * 2,
    8 => 4 * 2,
    9 => 3 * 3,
    10 => 3 * 3,
    11 => 3 * 3,
    12 => 3 * 3,
    13 => 2 * 4,
    14 => 2 * 4,
    15 => 2 * 4,
    16 => 2 * 4,
}

fresh!(fresh_one_lane: one_lane, HaveAesNi, "ssse3,sse4.1,aes,pclmulqdq");
fresh!(
    fresh_two_lanes: two_lanes, HaveVaes256,
    "ssse3,sse4.1,aes,pclmulqdq,avx,avx2,vaes,vpclmulqdq"
);
