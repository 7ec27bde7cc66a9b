//! Silent corruption: one wrong bit that is said to be right.

use sealift_core::{
    Batch, BatchError, Key, KeySource, OwnedOutput, SessionId, Slot, SlotTag, SlotText, Status,
    Work,
};
use std::sync::Arc;

/// Flips one bit of the text or tag that one message was given, and calls that message done. `draw`
/// decides which. Where no message was given any byte (all were verified only, or have none) nothing
/// happens.
pub(super) fn flip(work: &mut Work<'_>, draw: u64) {
    let messages = work.len();
    let first = below(draw, messages);
    for message in (first..messages).chain(0..first) {
        let (text, tag) = written(work.slot(message));
        let bits = (text.len() + tag.len()) * 8;
        if bits > 0 {
            // The lower bits have chosen the message.
            let bit = below(draw.rotate_left(32), bits);
            let byte = text.iter_mut().chain(tag).nth(bit / 8);
            byte.into_iter().for_each(|byte| *byte ^= 1 << (bit % 8));
            work.set_status(message, Status::Ok);
            return;
        }
    }
}

/// The same for the results of a job.
///
/// # Errors
/// The results are not those of this batch.
pub(super) fn flip_owned(
    batch: &Batch<'_>,
    output: &mut OwnedOutput,
    draw: u64,
) -> Result<(), BatchError> {
    let statuses = output.status().to_vec();
    // That resets them.
    let mut work = Work::new(batch, output.as_output(), &NoKeys)?;
    (0..).zip(statuses).for_each(|(message, status)| work.set_status(message, status));
    flip(&mut work, draw);
    Ok(())
}

fn written(slot: Slot<'_>) -> (&mut [u8], &mut [u8]) {
    let text = match slot.text {
        SlotText::Apart { output, .. } | SlotText::InPlace(output) => output,
        SlotText::Read(_) => &mut [],
    };
    let tag = match slot.tag {
        SlotTag::Write(tag) => tag,
        SlotTag::Check(_) | SlotTag::Missing => &mut [],
    };
    (text, tag)
}

fn below(draw: u64, bound: usize) -> usize {
    usize::try_from(draw % (bound as u64).max(1)).unwrap_or_default()
}

/// Nothing is computed, so no key is needed.
struct NoKeys;

impl KeySource for NoKeys {
    fn key(&self, _: SessionId) -> Option<Arc<Key>> {
        None
    }
}
