//! Many messages at once, with VAES and VPCLMULQDQ on registers of four blocks.
//!
//! Messages are taken in windows, as [`Item`]s; those of a window that are alike are worked together:
//!
//! - `row`: short messages under one key, each in registers of its own;
//! - `lane`: short messages under many keys, each in a lane of its own;
//! - `stream`: longer messages, one after the other without a gap.
//!
//! While a window is worked, the kernels ask the cache for the next one.
#![allow(unsafe_code)]

mod desk;
mod item;
mod lane;
mod row;
mod stream;
mod zmm;

use core::ops::Range;
use std::cell::RefCell;

use desk::{Desk, Source};
use item::{Ahead, Class, Item};
use sealift_core::Work;

use super::cpu::HaveVaes512;
use crate::Schedules;

/// Fewer messages are worked one by one.
pub(crate) const MESSAGES_MIN: usize = 2;

/// Works on the messages of a range that the wide kernels take; the others are given back, untouched.
pub(crate) fn run(
    token: HaveVaes512,
    work: &mut Work<'_>,
    range: Range<usize>,
    schedules: Schedules<'_>,
) -> Vec<usize> {
    DESK.with_borrow_mut(|(now, next)| windows(token, work, range, schedules, now, next))
}

thread_local! {
    /// Places of messages, nothing secret.
    static DESK: RefCell<(Desk, Desk)> = RefCell::default();
}

fn windows(
    token: HaveVaes512,
    work: &mut Work<'_>,
    range: Range<usize>,
    schedules: Schedules<'_>,
    now: &mut Desk,
    next: &mut Desk,
) -> Vec<usize> {
    let is_large = work.shape().text_bytes > CACHED_BYTES;
    let mut rest = vec![];
    let mut spans = work.spans();
    let messages = if spans.is_regular() { REGULAR_WINDOW } else { WINDOW };
    let first = range.start;
    let mut source = Source { spans: &mut spans, schedules, first, rest: &mut rest };
    let mut starts = range.clone().step_by(messages);
    let mut fill = |desk: &mut Desk| match starts.next() {
        Some(start) => desk.fill(&mut source, start..range.end.min(start + messages), takes),
        None => desk.clear(),
    };
    fill(now);
    for _ in range.clone().step_by(messages) {
        fill(next);
        let mut ahead = Ahead(if is_large { next.items() } else { &[] });
        for (class, items) in now.classes() {
            // SAFETY: the items are of spans, which borrow the work meanwhile; the class is theirs and
            // taken by a kernel.
            unsafe { kernel(token, class, items, &mut ahead) };
        }
        core::mem::swap(now, next);
    }
    rest
}

/// Whether there is a kernel for a class.
fn takes(class: &Class) -> bool {
    row::takes(class) || lane::takes(class) || stream::takes(class)
}

/// Works messages of a class that one of the kernels takes.
///
/// # Safety
/// The items' addresses are what they say, and the class is theirs.
unsafe fn kernel(token: HaveVaes512, class: &Class, items: &[Item], ahead: &mut Ahead<'_>) {
    if row::takes(class) {
        // SAFETY: the kernel takes the class; the caller promises the rest.
        unsafe { row::run(token, class, items, ahead) }
    } else if lane::takes(class) {
        // SAFETY: as above.
        unsafe { lane::run(token, class, items, ahead) }
    } else {
        // SAFETY: as above: what is on a desk is taken by one of the three.
        unsafe { stream::run(token, class, items, ahead) }
    }
}

/// Messages of a window, among which those alike are found.
const WINDOW: usize = 1_024;

/// Messages of a window whose places are worked out by adding: as many as stay in the nearest cache.
const REGULAR_WINDOW: usize = 256;

/// Texts of as many bytes stay in the second cache with their results.
const CACHED_BYTES: u64 = 384 << 10;
