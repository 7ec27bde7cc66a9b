//! Many messages, and one.

use core::{array, ops::Range, ptr};

use sealift_core::{Algorithm, KeyLength, Op, Slot, SlotTag, SlotText, Status, Work};

use crate::caches::{Caching, Texts};
use crate::raw::{RawKeys, with_places};
use crate::schedule::KEYS;
use crate::verdict::{self, Fitting};
#[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
use crate::x86_64::{aesni, narrow, vaes256, vaes512, wide};
use crate::{Path, Schedule, model, stack, xaes};

/// The expanded keys of a range of messages.
#[derive(Clone, Copy, Debug)]
pub enum Schedules<'a> {
    /// One for all.
    One(&'a Schedule),
    /// One for each message of the range, in order.
    Each(&'a [&'a Schedule]),
    /// The batch carries raw keys: they are expanded, and wiped before the call returns.
    Raw,
}

impl Schedules<'_> {
    /// Whether they are more than the second cache has room for beside texts, as far as their places tell: whoever has many
    /// keeps them side by side.
    pub(crate) fn are_far(&self) -> bool {
        let Self::Each(each) = self else { return false };
        let (mut first, mut last) = (usize::MAX, 0);
        for place in each.iter().step_by(8).map(|schedule| ptr::from_ref(*schedule).addr()) {
            (first, last) = (first.min(place), last.max(place));
        }
        last.saturating_sub(first) > NEAR_KEYS * size_of::<Schedule>()
    }
}

/// Works on the messages `range` of a batch for AES-GCM or XAES-256-GCM and sets the status of each; those of another
/// algorithm stay [`Status::NotProcessed`].
///
/// # Panics
/// When the range leaves the batch, or [`Schedules::Each`] is shorter than the range.
pub fn run(path: Path, work: &mut Work<'_>, range: Range<usize>, schedules: Schedules<'_>) {
    assert!(range.end <= work.len(), "messages {range:?} of a batch of {}", work.len());
    if let Schedules::Each(each) = schedules {
        assert!(each.len() >= range.len(), "{} keys for {} messages", each.len(), range.len());
    }
    match work.shape().algorithm {
        Algorithm::AesGcm => {}
        Algorithm::Xaes256Gcm => return xaes::run(path, work, range, schedules),
        _ => return,
    }
    if range.len() == 1
        && let Schedules::One(schedule) | Schedules::Each(&[schedule, ..]) = schedules
    {
        let whole_bytes = work.shape().whole_text_bytes;
        let status = within(path, schedule, work.slot(range.start), whole_bytes);
        work.set_status(range.start, status);
        return;
    }
    if work_range(path, work, range, schedules) {
        match schedules {
            Schedules::One(_) | Schedules::Each(_) => stack::wipe_kernel(),
            Schedules::Raw => stack::wipe_raw_keys(),
        }
    }
}

/// Works on the messages of a range: together those that are worked sooner so, and the others one by one. Whether there were
/// others; then the caller wipes the stack.
fn work_range(
    path: Path,
    work: &mut Work<'_>,
    range: Range<usize>,
    schedules: Schedules<'_>,
) -> bool {
    let first = range.start;
    match together(path, work, range.clone(), schedules) {
        Some(rest) if rest.is_empty() => return false,
        Some(rest) => one_by_one(path, work, first, rest.into_iter(), schedules),
        None => one_by_one(path, work, first, range, schedules),
    }
    true
}

/// Works on the messages of a range that are worked sooner together, and gives back the others; none if
/// that does not pay.
// Not a part of what calls it, which would have its room on the stack while others are worked.
#[inline(never)]
fn together(
    path: Path,
    work: &mut Work<'_>,
    range: Range<usize>,
    schedules: Schedules<'_>,
) -> Option<Vec<usize>> {
    match path {
        #[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
        Path::Vaes512(token) if wide::pays(range.len(), schedules) => {
            Some(wide::run(token, work, range, schedules))
        }
        #[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
        Path::Vaes256(token) => narrow::run_256(token, work, range, schedules),
        #[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
        Path::AesNi(token) => narrow::run_128(token, work, range, schedules),
        _ => {
            let _ = (work, range, schedules);
            None
        }
    }
}

/// Works on messages of a batch one after the other; `schedules` are those from message `first` on.
// Not a part of what calls it, so that its stack can be wiped.
#[inline(never)]
fn one_by_one(
    path: Path,
    work: &mut Work<'_>,
    first: usize,
    messages: impl Iterator<Item = usize>,
    schedules: Schedules<'_>,
) {
    match schedules {
        Schedules::One(schedule) => {
            in_order(path, work, messages.map(|message| (message, schedule)), false);
        }
        Schedules::Each(each) => {
            let keyed = messages.map(|message| (message, each[message - first]));
            in_order(path, work, keyed, schedules.are_far());
        }
        Schedules::Raw => with_places(|keys| under_raw_keys(path, work, messages, keys)),
    }
}

/// The same for messages with their schedules, which lie afar or not.
// A part of what calls it, as `one` is, so that what is called lies less deep in the stack.
#[inline(always)]
fn in_order<'s>(
    path: Path,
    work: &mut Work<'_>,
    messages: impl Iterator<Item = (usize, &'s Schedule)>,
    are_far: bool,
) {
    let text_bytes = work.shape().text_bytes;
    let texts = Texts::of(path, text_bytes, work.shape().whole_text_bytes);
    let _settling = texts.settling();
    // Finding the next message costs more than it spares where messages are short.
    let is_long = text_bytes >= LONG_BYTES * work.len() as u64;
    let mut messages = messages.peekable();
    while let Some((message, schedule)) = messages.next() {
        let next = messages.peek();
        // Then texts would wait for keys.
        if are_far
            && texts != Texts::Passing
            && let Some((_, next)) = next
        {
            next.fetch(path);
        }
        let after = next.filter(|_| is_long).map_or(message, |(next, _)| *next);
        let caching = texts.caching(|| address(&work.slot(after).text));
        let status = one(path, schedule, work.slot(message), caching);
        work.set_status(message, status);
    }
}

/// The same for messages under raw keys, which are expanded side by side.
// Not a part of what calls it, which is called from here again.
#[inline(never)]
fn under_raw_keys(
    path: Path,
    work: &mut Work<'_>,
    messages: impl Iterator<Item = usize>,
    raw: &mut RawKeys,
) {
    let mut messages = messages.peekable();
    while let Some(first) = messages.next() {
        let key_of = |message: usize| {
            let key = work.batch().raw_key(message)?;
            KeyLength::from_bytes(key.len()).ok().map(|_| key)
        };
        let Some(key) = key_of(first) else {
            work.set_status(first, Status::NotProcessed);
            continue;
        };
        let (mut some, mut keys, mut count) = ([first; KEYS], [key; KEYS], 1);
        while count < KEYS
            && let Some(message) = messages.peek()
            && let Some(next) = key_of(*message).filter(|next| next.len() == key.len())
        {
            (some[count], keys[count]) = (*message, next);
            count += 1;
            messages.next();
        }
        let schedules = raw.expand(path, &keys[..count]);
        let each: [&Schedule; KEYS] = array::from_fn(|i| &schedules[i.min(count - 1)]);
        let (some, each) = (&some[..count], &each[..count]);
        let are_in_a_row = some.iter().zip(first..).all(|(message, in_a_row)| *message == in_a_row);
        if are_in_a_row && !takes_raw_keys(path) {
            // What is left on the stack is wiped with all others.
            work_range(path, work, first..first + count, Schedules::Each(each));
        } else {
            in_order(path, work, some.iter().copied().zip(each.iter().copied()), false);
        }
    }
}

/// Whether the kernels for many messages take raw keys themselves, of all messages that they take at all.
fn takes_raw_keys(path: Path) -> bool {
    match path {
        #[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
        Path::Vaes512(_) => true,
        _ => false,
    }
}

/// Seals, opens or verifies one message.
///
/// A slot whose parts don't fit its operation, which no checked batch gives, is left
/// [`Status::NotProcessed`].
#[must_use]
#[inline]
pub fn process(path: Path, schedule: &Schedule, slot: Slot<'_>) -> Status {
    let text_bytes = length(&slot.text) as u64;
    within(path, schedule, slot, text_bytes)
}

/// The same for one of a batch whose texts have so many bytes.
#[inline]
fn within(path: Path, schedule: &Schedule, slot: Slot<'_>, whole_bytes: u64) -> Status {
    // The model works what was not expanded for this path.
    let is_short = length(&slot.text) <= short_bytes(path) && schedule.expanded().is_fast();
    let status = alone(path, schedule, slot, whole_bytes);
    if is_short {
        stack::wipe_message();
    } else {
        stack::wipe_kernel();
    }
    status
}

// Not a part of what calls it, so that its stack can be wiped.
#[inline(never)]
fn alone(path: Path, schedule: &Schedule, slot: Slot<'_>, whole_bytes: u64) -> Status {
    let texts = Texts::of(path, length(&slot.text) as u64, whole_bytes);
    let _settling = texts.settling();
    let caching = texts.caching(|| address(&slot.text));
    one(path, schedule, slot, caching)
}

#[inline(always)]
fn one(path: Path, schedule: &Schedule, mut slot: Slot<'_>, caching: Caching) -> Status {
    match (slot.op, &slot.tag) {
        (Op::Open, SlotTag::Missing) => return verdict::fail(slot.text),
        (Op::Verify, SlotTag::Missing) => return Status::AuthFailed,
        _ => {}
    }
    let Some(slot) = Fitting::of(&mut slot) else { return Status::NotProcessed };
    let expanded = schedule.expanded();
    match path {
        #[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
        Path::AesNi(token) if expanded.is_fast() => aesni::process(token, expanded, slot, caching),
        #[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
        Path::Vaes256(token) if expanded.is_fast() => {
            vaes256::process(token, expanded, slot, caching)
        }
        #[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
        Path::Vaes512(token) if expanded.is_fast() => {
            vaes512::process(token, expanded, slot, caching)
        }
        _ => {
            // The model asks for nothing ahead.
            let _ = caching;
            model::process(expanded, slot)
        }
    }
}

pub(crate) fn length(text: &SlotText<'_>) -> usize {
    match text {
        SlotText::Apart { input, .. } => input.len(),
        SlotText::InPlace(text) => text.len(),
        SlotText::Read(text) => text.len(),
    }
}

/// Where a text is.
pub(crate) fn address(text: &SlotText<'_>) -> *const u8 {
    match text {
        SlotText::Apart { input, .. } => input.as_ptr(),
        SlotText::InPlace(text) => text.as_ptr(),
        SlotText::Read(text) => text.as_ptr(),
    }
}

/// For texts of more bytes than these a path keeps powers and round keys on the stack.
fn short_bytes(path: Path) -> usize {
    match path {
        Path::Model => 0,
        #[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
        Path::AesNi(_) => aesni::SHORT_BYTES,
        #[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
        Path::Vaes256(_) => vaes256::SHORT_BYTES,
        #[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
        Path::Vaes512(_) => vaes512::SHORT_BYTES,
    }
}

/// Texts as long as this are asked for before the message before them has ended.
const LONG_BYTES: u64 = 2 << 10;

/// So many expanded keys stay in the second cache, as far as short messages read them. Fewer are not asked for ahead: it
/// takes a twentieth longer where they are near.
const NEAR_KEYS: usize = 682;

#[cfg(all(test, target_arch = "x86_64", not(sealift_portable)))]
mod tests {
    use super::*;

    #[test]
    fn keys_are_far_where_many_are_used_and_not_where_a_few_come_again() {
        let keys: Vec<_> = (0..1_000).map(|_| Schedule::empty()).collect();
        let of =
            |count: usize| -> Vec<_> { (0..1_024).map(|message| &keys[message % count]).collect() };
        assert!(Schedules::Each(&of(1_000)).are_far());
        assert!(!Schedules::Each(&of(500)).are_far());
        assert!(!Schedules::Each(&of(1)).are_far());
        assert!(!Schedules::Each(&[]).are_far());
        assert!(!Schedules::One(&keys[0]).are_far() && !Schedules::Raw.are_far());
        let call: Vec<_> = keys.iter().step_by(90).collect();
        assert!(Schedules::Each(&call).are_far(), "few messages of many keys");
    }
}
