//! Many messages at once, with VAES and VPCLMULQDQ on registers of four blocks.
//!
//! Messages are taken in windows, as [`Item`]s; those of a window that are alike are worked together:
//!
//! - `row`: short messages under one key, each in registers of its own;
//! - `lane`: short messages under many keys, each in a lane of its own;
//! - `stream`: longer messages, one after the other without a gap;
//! - `mixed`: short messages of any shape, a few of each.
//!
//! While a window is worked, the kernels ask the cache for the next one.
#![allow(unsafe_code)]

mod block;
mod class;
pub(super) mod desk;
pub(super) mod item;
mod lane;
mod mixed;
pub(super) mod row;
mod stream;
mod zmm;

use core::ops::Range;
use std::cell::RefCell;

use desk::{Desk, How, Source, Together};
use item::{Ahead, Class, Item, LONG_AAD, LONG_TEXT};
use sealift_core::{Status, Work};

use super::cpu::HaveVaes512;
use crate::{Schedules, stack};

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
    let rest = windows(work, range, schedules, Some(token), how, |together, items, ahead| {
        // SAFETY: the items are of spans, which borrow the work meanwhile, and are in their group.
        unsafe { kernel(token, together, items, ahead) };
    });
    lane::wipe();
    stack::wipe();
    rest
}

thread_local! {
    /// Places of messages, nothing secret.
    static DESK: RefCell<(Desk, Desk)> = RefCell::default();
}

/// Takes the messages of a range in windows and gives those that are worked together to a kernel, with
/// those that will be next; the others are given back.
pub(super) fn windows(
    work: &mut Work<'_>,
    range: Range<usize>,
    schedules: Schedules<'_>,
    token: Option<HaveVaes512>,
    how: fn(&Class, bool, usize) -> How,
    kernel: impl FnMut(&Together, &[Item], &mut Ahead<'_>),
) -> Vec<usize> {
    DESK.with_borrow_mut(|desks| on_desks(desks, work, range, schedules, token, how, kernel))
}

fn on_desks(
    (now, next): &mut (Desk, Desk),
    work: &mut Work<'_>,
    range: Range<usize>,
    schedules: Schedules<'_>,
    token: Option<HaveVaes512>,
    how: fn(&Class, bool, usize) -> How,
    mut kernel: impl FnMut(&Together, &[Item], &mut Ahead<'_>),
) -> Vec<usize> {
    let is_large = bytes_of(work) > CACHED_BYTES;
    let mut rest = vec![];
    let mut spans = work.spans();
    // Then all are.
    if spans.is_regular() && spans.get(range.start).is_some_and(|first| Item::is_long(&first)) {
        return range.collect();
    }
    let is_uniform = spans.is_regular() && spans.common_op().is_some();
    let messages = if is_uniform { UNIFORM_WINDOW } else { WINDOW };
    let first = range.start;
    let mut source = Source { token, spans: &mut spans, schedules, first, rest: &mut rest, how };
    let mut starts = range.clone().step_by(messages);
    let mut fill = |desk: &mut Desk| match starts.next() {
        Some(start) => desk.fill(&mut source, start..range.end.min(start + messages)),
        None => desk.clear(),
    };
    next.clear();
    fill(now);
    for _ in range.clone().step_by(messages) {
        if is_large {
            fill(next);
        }
        let mut ahead = Ahead(next.items());
        for (together, items) in now.groups() {
            // SAFETY: the items are of spans, which borrow the work meanwhile.
            unsafe { expect_success(items) };
            kernel(together, items, &mut ahead);
        }
        if is_large {
            core::mem::swap(now, next);
        } else {
            fill(now);
        }
    }
    rest
}

/// About as many bytes as a batch and its results have.
fn bytes_of(work: &Work<'_>) -> u64 {
    let shape = work.shape();
    let others = OTHER_BYTES * shape.messages as u64;
    others.saturating_add(shape.aad_bytes).saturating_add(shape.text_bytes.saturating_mul(2))
}

/// How so many messages of a class are worked.
fn how(class: &Class, has_plain_nonce: bool, messages: usize) -> How {
    let has_kernel = row::takes(class) || lane::takes(class) || stream::takes(class);
    let is_short = class.text_blocks < LONG_TEXT && class.aad_blocks < LONG_AAD;
    let least = if lane::takes(class) { LANES_MIN } else { ALIKE_MIN };
    match (has_kernel && has_plain_nonce, is_short) {
        (true, true) if messages < least => How::Mixed,
        (true, _) => How::Alike,
        (false, true) => How::Mixed,
        (false, false) => How::Alone,
    }
}

/// Writes that messages succeed, which kernels change where they don't: right before they are worked, so
/// that a panic leaves no message that was never looked at a success.
///
/// # Safety
/// The items' statuses are writable.
unsafe fn expect_success(items: &[Item]) {
    for item in items {
        // SAFETY: the caller promises it.
        unsafe { item.status.write(Status::Ok) };
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
        // SAFETY: as above.
        Together::Alike(class) if lane::takes(class) => unsafe {
            lane::run(token, class, items, ahead)
        },
        // SAFETY: as above; what is alike is taken by one of the three.
        Together::Alike(class) => unsafe { stream::run(token, class, items, ahead) },
    }
}

/// Fewer messages of a class are worked with those of others.
const ALIKE_MIN: usize = 8;

/// The same for those that are worked in lanes, which soon has them begun.
const LANES_MIN: usize = 3;

/// Messages of a window, among which those alike are found. They are counted in 16 bits.
const WINDOW: usize = 1_024;

const _: () = assert!(WINDOW <= u16::MAX as usize && UNIFORM_WINDOW <= WINDOW);

/// Messages of a window to which the same is done at places that are worked out by adding: as many as stay
/// in the nearest cache.
const UNIFORM_WINDOW: usize = 256;

/// As many bytes stay in the second cache.
const CACHED_BYTES: u64 = 512 << 10;

/// Bytes of a message's key, nonce and tag, about.
const OTHER_BYTES: u64 = 64;
