//! Many messages, and one.

use core::ops::Range;

use sealift_core::{Op, Slot, SlotTag, Status, Work};

use crate::verdict::{self, Fitting};
#[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
use crate::x86_64::{aesni, vaes256, vaes512, wide};
use crate::{Path, Schedule, model, stack};

/// The expanded keys of a range of messages.
#[derive(Clone, Copy, Debug)]
pub enum Schedules<'a> {
    /// One for all.
    One(&'a Schedule),
    /// One for each message of the range, in order.
    Each(&'a [&'a Schedule]),
    /// The batch carries raw keys: each is expanded for its message and wiped afterwards.
    Raw,
}

/// Works on the messages `range` of a batch and sets the status of each.
///
/// # Panics
/// When the range leaves the batch, or [`Schedules::Each`] is shorter than the range.
pub fn run(path: Path, work: &mut Work<'_>, range: Range<usize>, schedules: Schedules<'_>) {
    assert!(range.end <= work.len(), "messages {range:?} of a batch of {}", work.len());
    if let Schedules::Each(each) = schedules {
        assert!(each.len() >= range.len(), "{} keys for {} messages", each.len(), range.len());
    }
    #[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
    if let Path::Vaes512(token) = path
        && wide::pays(range.len(), schedules)
    {
        let rest = wide::run(token, work, range.clone(), schedules);
        if !rest.is_empty() {
            one_by_one(path, work, range.start, rest.into_iter(), schedules);
            stack::wipe();
        }
        return;
    }
    one_by_one(path, work, range.start, range, schedules);
    stack::wipe();
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
        Schedules::One(schedule) => messages.for_each(|i| step(path, work, i, schedule)),
        Schedules::Each(each) => messages.for_each(|i| step(path, work, i, each[i - first])),
        Schedules::Raw => {
            // One place for all of them: the next key overwrites the last, and the drop wipes.
            let mut schedule = Schedule::empty();
            for i in messages {
                match work.raw_key(i).map(|key| schedule.replace(path, key)) {
                    Some(Ok(())) => step(path, work, i, &schedule),
                    _ => work.set_status(i, Status::NotProcessed),
                }
            }
        }
    }
}

/// Seals, opens or verifies one message.
///
/// A slot whose parts don't fit its operation, which no checked batch gives, is left
/// [`Status::NotProcessed`].
#[must_use]
pub fn process(path: Path, schedule: &Schedule, slot: Slot<'_>) -> Status {
    let status = alone(path, schedule, slot);
    stack::wipe_near();
    status
}

// Not a part of what calls it, so that its stack can be wiped.
#[inline(never)]
fn alone(path: Path, schedule: &Schedule, slot: Slot<'_>) -> Status {
    one(path, schedule, slot)
}

#[inline]
fn one(path: Path, schedule: &Schedule, mut slot: Slot<'_>) -> Status {
    match (slot.op, &slot.tag) {
        (Op::Open, SlotTag::Missing) => return verdict::fail(slot.text),
        (Op::Verify, SlotTag::Missing) => return Status::AuthFailed,
        _ => {}
    }
    let Some(slot) = Fitting::of(&mut slot) else { return Status::NotProcessed };
    let expanded = schedule.expanded();
    match path {
        #[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
        Path::AesNi(token) if expanded.is_fast() => aesni::process(token, expanded, slot),
        #[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
        Path::Vaes256(token) if expanded.is_fast() => vaes256::process(token, expanded, slot),
        #[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
        Path::Vaes512(token) if expanded.is_fast() => vaes512::process(token, expanded, slot),
        _ => model::process(expanded, slot),
    }
}

#[inline]
fn step(path: Path, work: &mut Work<'_>, message: usize, schedule: &Schedule) {
    let status = one(path, schedule, work.slot(message));
    work.set_status(message, status);
}
