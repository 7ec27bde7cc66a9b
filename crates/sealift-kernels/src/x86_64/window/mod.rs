//! Windows of messages: a batch as the kernels for many messages take it.
//!
//! A message is an [`Item`], an address for each of its parts. A [`Desk`] holds those of a window in the order
//! in which they are worked: what is done, the length of the key and the blocks of text and aad say which go
//! together, and the kernel says how. While a window is worked, the next one may be on a desk of its own, so
//! that the cache can be asked for it.
#![allow(unsafe_code)]

mod class;
pub(super) mod desk;
pub(super) mod item;
#[cfg(test)]
pub(super) mod messages;
mod progression;
mod source;
pub(super) mod spare;

use core::ops::Range;
use std::cell::RefCell;

use desk::{Desk, How, Together};
use item::{Ahead, Class, Item};
use sealift_core::{Status, Work};
use source::Source;

use super::cpu::HaveVaes512;
use crate::Schedules;

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
    terms: Terms,
    kernel: impl FnMut(&Together, &[Item], &mut Ahead<'_>),
) -> Vec<usize> {
    DESK.with_borrow_mut(|desks| on_desks(desks, work, range, schedules, token, terms, kernel))
}

/// Which messages a kernel takes, and how.
#[derive(Clone, Copy)]
pub(super) struct Terms {
    /// Texts of so many blocks and of more are in one class.
    pub(super) long_blocks: usize,
    /// The same where messages are fewer than [`FEW`] and their lengths may differ.
    pub(super) long_blocks_of_few: usize,
    /// Longer texts, in bytes, are worked one by one.
    pub(super) longest_text: usize,
    /// Whether caches may be asked for keys.
    pub(super) asks_for_keys: bool,
    /// How so many messages of a class, of so many in all, are worked; the class may be made one that stands for several.
    pub(super) how: fn(&mut Class, usize, usize) -> How,
}

fn on_desks(
    (now, next): &mut (Desk, Desk),
    work: &mut Work<'_>,
    range: Range<usize>,
    schedules: Schedules<'_>,
    token: Option<HaveVaes512>,
    mut terms: Terms,
    mut kernel: impl FnMut(&Together, &[Item], &mut Ahead<'_>),
) -> Vec<usize> {
    let is_large = bytes_of(work) > CACHED_BYTES;
    let has_far_keys = schedules.are_far();
    let mut rest = vec![];
    let is_longest_long = work.shape().text_bytes_max > terms.longest_text;
    let mut spans = work.spans();
    let rows = spans.rows();
    let is_irregular = !rows.are_regular();
    // Then all are, but for tags that are a part of the input of some.
    if is_longest_long && !is_irregular {
        return range.collect();
    }
    if is_irregular && range.len() < FEW {
        terms.long_blocks = terms.long_blocks_of_few;
    }
    let is_uniform = !is_irregular && spans.common_op().is_some();
    let messages = if is_uniform { UNIFORM_WINDOW } else { WINDOW };
    let first = range.start;
    let mut source =
        Source { token, spans: &mut spans, rows, schedules, first, rest: &mut rest, terms };
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
        let has_stream = is_large && is_uniform;
        let mut ahead = Ahead {
            items: next.items(),
            is_far: is_large,
            has_stream,
            asks_for_keys: terms.asks_for_keys,
            has_far_keys,
            is_irregular,
        };
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

/// Writes that messages succeed, which kernels change where they don't: right before they are worked, so
/// that a panic leaves no message that was never looked at a success.
///
/// # Safety
/// The items' statuses are writable.
unsafe fn expect_success(items: &[Item]) {
    for item in items {
        // SAFETY: the caller promises writable statuses.
        unsafe { item.status.write(Status::Ok) };
    }
}

/// Of fewer messages too few have as many blocks as others: longer ones are worked sooner whatever their lengths.
// IMPLEMENTATION NOTE: 256 messages of 130 to 512 bytes take as long either way, 512 a sixth less in lanes (Zen 4).
const FEW: usize = 512;

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
