//! Whether messages are worked sooner together.

use core::ops::Range;

use sealift_core::{Op, Spans, Work};

use super::{chains, takes, width::Width};
use crate::{
    Schedules,
    x86_64::window::item::{MEDIUM_AAD, MEDIUM_AAD_BLOCKS},
};

/// Whether the messages of a range are worked sooner together than one by one: when many of them are
/// alike, because the kernel takes messages of one kind at a time.
pub(super) fn pays<W: Width>(
    work: &mut Work<'_>,
    range: Range<usize>,
    schedules: Schedules<'_>,
) -> bool {
    let shape = work.shape();
    // Longer texts on average are hardly any that the kernel takes, and finding them takes time.
    let mean_max = (16 * W::TEXT_BLOCKS as u64).max(200);
    let are_short = shape.text_bytes <= mean_max * shape.messages as u64;
    if let Schedules::Raw = schedules {
        // Others are expanded side by side, too, and come again under cached keys.
        return range.len() >= RAW_MIN && are_short;
    }
    let longest = (shape.text_bytes_max, shape.aad_bytes_max);
    if range.len() < MIN || !(are_short || W::HAS_CHAINS) {
        return false;
    }
    let mut spans = work.spans();
    if !spans.rows().are_regular() {
        return look_alike::<W>(&mut spans, range, schedules);
    }
    // As long are all, but for tags that are a part of the input of some.
    let op = spans.common_op();
    let is_taken = blocks::<W>(op.unwrap_or(Op::Seal), longest.0, longest.1).is_some();
    is_taken && (op.is_some() || range.len() >= OPS * KIND_MIN)
}

/// Whether most of the messages that are looked at are such as the kernel takes, and of so few kinds that
/// there are many of each: that every second one is of a kind that was seen before.
fn look_alike<W: Width>(
    spans: &mut Spans<'_, '_>,
    range: Range<usize>,
    schedules: Schedules<'_>,
) -> bool {
    let looks = (range.len() / 4).clamp(1, LOOKS);
    let mut kinds = [None; LOOKS];
    let (mut taken, mut different) = (0, 0);
    for look in 0..looks {
        let offset = look * range.len() / looks;
        let rounds = match schedules {
            Schedules::Each(each) => each[offset].fast_rounds(),
            Schedules::One(_) | Schedules::Raw => 0,
        };
        let kind = kind::<W>(spans, range.start + offset, rounds);
        taken += usize::from(kind.is_some());
        if kind.is_some() && !kinds[..different].contains(&kind) {
            kinds[different] = kind;
            different += 1;
        }
    }
    let are_many = range.len() >= different * KIND_MIN;
    are_many && 2 * taken >= looks && 2 * different <= taken.max(2)
}

/// What messages that are worked together have in common; none if the kernel doesn't take it.
fn kind<W: Width>(spans: &mut Spans<'_, '_>, message: usize, rounds: usize) -> Option<Kind> {
    let span = spans.get(message)?;
    let blocks = blocks::<W>(span.op, span.text_bytes, span.aad_bytes)?;
    Some((span.op, blocks, (span.nonce_bytes == 12, rounds)))
}

/// Blocks of text and of aad, as classes have them; none if neither the kernel nor a chain takes so many.
fn blocks<W: Width>(op: Op, text_bytes: usize, aad_bytes: usize) -> Option<(usize, usize)> {
    let text = text_bytes.div_ceil(16).min(W::TEXT_BLOCKS + 1);
    let is_chained = text_bytes <= W::LONGEST_TEXT && chains::<W>(op, text);
    let aad = match aad_bytes.div_ceil(16) {
        few if few < MEDIUM_AAD => few,
        some if some <= MEDIUM_AAD_BLOCKS => MEDIUM_AAD_BLOCKS,
        _ if is_chained => MEDIUM_AAD_BLOCKS + 1,
        _ => return None,
    };
    if is_chained {
        return Some((text, aad));
    }
    takes::<W>(text, aad).then_some((text, aad))
}

type Kind = (Op, (usize, usize), (bool, usize));

/// So many messages at least.
const MIN: usize = 8;
/// So many with raw keys.
const RAW_MIN: usize = 3;
/// So many of a kind.
const KIND_MIN: usize = 16;
/// Messages that are looked at.
const LOOKS: usize = 16;
/// What can be done to a message.
const OPS: usize = 3;
