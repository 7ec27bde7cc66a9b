//! Many messages at once, with VAES and VPCLMULQDQ on registers of four blocks.
//!
//! Messages are taken in windows; those of a window that are alike are worked together:
//!
//! - `row`: short messages under one key, each in registers of its own;
//! - `lane`: short messages under many keys, each in a lane of its own, and longer ones under raw keys;
//! - `chain`: longer messages, one after the other without a gap;
//! - `mixed`: short messages of any shape, a few of each;
//! - [`narrow`]: messages of up to 256 bytes under many keys, where that is quicker.
//!
//! While a window is worked, the kernels ask the cache for the next one.
#![allow(unsafe_code)]

mod block;
mod chain;
mod fastest;
mod lane;
mod mixed;
mod row;
pub(super) mod zmm;

use core::ops::Range;

use fastest::is_narrow;
use item::{Ahead, Class, Item, LONG_AAD, LONG_TEXT, LONG_TEXT_MAX, LONGEST_TEXT};
use sealift_core::Work;

use super::{
    cpu::HaveVaes512,
    narrow,
    window::{
        Terms,
        desk::{How, Together},
        item, windows,
    },
};
use crate::{Path, Schedules, caches::Texts, stack};

/// Whether so many messages are worked sooner together than one by one.
pub(crate) fn pays(messages: usize, schedules: Schedules<'_>) -> bool {
    let least = match schedules {
        Schedules::One(_) | Schedules::Each(_) => 6,
        Schedules::Raw => 2,
    };
    messages >= least
}

/// Works on the messages of a range that the wide kernels take; the others are given back, untouched.
pub(crate) fn run(
    token: HaveVaes512,
    work: &mut Work<'_>,
    range: Range<usize>,
    schedules: Schedules<'_>,
) -> Vec<usize> {
    let (long_blocks, long_blocks_of_few) = match schedules {
        Schedules::One(_) => (LONG_TEXT, LONG_TEXT),
        Schedules::Each(_) => (fastest::long_text(token), fastest::long_text(token)),
        Schedules::Raw => (LONG_TEXT_MAX, LONG_TEXT),
    };
    let (shape, path) = (work.shape(), Path::Vaes512(token));
    let texts = Texts::of(path, shape.text_bytes, shape.whole_text_bytes);
    let is_passing = texts == Texts::Passing && !shape.in_place;
    let longest_text = if is_passing { LONGEST_PASSING } else { LONGEST_TEXT };
    let asks_for_keys = !is_passing;
    let terms = Terms { long_blocks, long_blocks_of_few, longest_text, asks_for_keys, how };
    let rest = windows(work, range, schedules, Some(token), terms, |together, items, ahead| {
        // SAFETY: the items are of spans, which borrow the work meanwhile, and are in their group.
        unsafe { kernel(token, together, items, ahead) };
    });
    if lane::wipe() {
        // The other kernels wipe the stack below themselves.
        stack::wipe_kernel();
    }
    rest
}

/// How so many messages of a class, of so many in all, are worked.
fn how(class: &mut Class, messages: usize, all: usize) -> How {
    if is_narrow(class, messages) {
        return How::Alike;
    }
    let is_long = class.text_blocks >= LONG_TEXT;
    let is_short = !is_long && class.aad_blocks < LONG_AAD;
    let least = match (lane::takes(class), is_long) {
        (false, _) => ALIKE_MIN,
        (true, false) => LANES_MIN,
        (true, true) => LANES_MIN.max(all.min(LONG_LANES_MIN)),
    };
    let is_for_lanes = lane::takes(class) && (messages >= least || !is_long);
    let has_kernel = row::takes(class) || is_for_lanes || chain::takes(class);
    if chain::takes(class) && !is_for_lanes {
        // Longer texts need not have as many blocks.
        class.text_blocks = LONG_TEXT_MAX;
    }
    match (has_kernel && class.has_plain_nonces, is_short) {
        (true, true) if messages < least => How::Mixed,
        (true, _) => How::Alike,
        (false, true) => How::Mixed,
        (false, false) => How::Alone,
    }
}

/// Works messages together.
///
/// # Safety
/// The items' addresses are what they say, and the group is theirs.
unsafe fn kernel(token: HaveVaes512, together: &Together, items: &[Item], ahead: &mut Ahead<'_>) {
    match together {
        Together::Mixed { keys, rounds, tag_bytes } => {
            // SAFETY: the items are short and have such keys and tags; the caller promises the rest.
            unsafe { mixed::run(token, *keys, *rounds, *tag_bytes, items, ahead) }
        }
        // SAFETY: the kernel takes the class; the caller promises the rest.
        Together::Alike(class) if row::takes(class) => unsafe {
            row::run(token, class, items, ahead)
        },
        // SAFETY: `narrow` takes the class; the caller promises the rest.
        Together::Alike(class) if is_narrow(class, items.len()) => unsafe {
            narrow::run_512(token, class, items, ahead)
        },
        // SAFETY: the kernel for lanes takes the class; the caller promises the rest.
        Together::Alike(class) if lane::takes(class) => unsafe {
            lane::run(token, class, items, ahead)
        },
        // SAFETY: `how` lets only what one of the four takes be alike, and none of the others takes this class; longer texts are not in
        // windows; the caller promises the rest.
        Together::Alike(class) => unsafe { chain::run(token, class, items, ahead) },
    }
}

/// Longer texts are worked one by one where results of the batch may go past the caches.
// IMPLEMENTATION NOTE: of 2 and 4 KiB, 64 MiB in all, a chain takes a fifth longer, whether they are stored past them or not (Zen 4).
const LONGEST_PASSING: usize = 1_536;

/// Fewer messages of a class are worked with those of others.
const ALIKE_MIN: usize = 8;

/// The same for those that are worked in lanes, which soon has them begun.
const LANES_MIN: usize = 3;

/// The same for longer ones, if there are others.
const LONG_LANES_MIN: usize = 8;
