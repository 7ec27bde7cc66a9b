//! The lengths of many messages, a few at a time: in loops without a branch for each.

use super::{Column, Layout};
use crate::Place;
use std::ops::Range;

/// Lengths at a time: each batch clears room for so many.
const CHUNK: usize = 32;

/// Something that has a length for each message.
pub(crate) trait Lengths {
    /// Those of some messages, as many as `to` has places.
    fn lengths(&self, messages: Range<usize>, to: &mut [usize]);
}

/// Calls `look` with the first of each chunk of messages and what two columns have for it.
pub(crate) fn by_chunks(
    messages: usize,
    one: &impl Lengths,
    other: &impl Lengths,
    mut look: impl FnMut(&[usize], &[usize]),
) {
    let (mut ones, mut others) = ([0; CHUNK], [0; CHUNK]);
    for start in (0..messages).step_by(CHUNK) {
        let range = start..messages.min(start + CHUNK);
        let (ones, others) = (&mut ones[..range.len()], &mut others[..range.len()]);
        one.lengths(range.clone(), ones);
        other.lengths(range, others);
        look(ones, others);
    }
}

impl Lengths for Layout<'_> {
    #[expect(clippy::cast_possible_truncation, reason = "checked against a buffer's length")]
    fn lengths(&self, messages: Range<usize>, to: &mut [usize]) {
        let all = messages.start..=messages.end;
        match self {
            Self::Fixed { len, .. } => to.fill(*len),
            Self::Offsets32(offsets) => {
                let pairs = offsets[all].windows(2);
                to.iter_mut().zip(pairs).for_each(|(to, pair)| *to = (pair[1] - pair[0]) as usize);
            }
            Self::Offsets64(offsets) => {
                let pairs = offsets[all].windows(2);
                to.iter_mut().zip(pairs).for_each(|(to, pair)| *to = (pair[1] - pair[0]) as usize);
            }
        }
    }
}

impl Lengths for Column<'_> {
    fn lengths(&self, messages: Range<usize>, to: &mut [usize]) {
        match self {
            Self::Empty => to.fill(0),
            Self::Same(buffer) => to.fill(buffer.as_ref().len()),
            Self::Packed { layout, .. } => layout.lengths(messages, to),
            Self::Scattered(buffers) => {
                let buffers = &buffers[messages];
                to.iter_mut().zip(buffers).for_each(|(to, buffer)| *to = buffer.as_ref().len());
            }
        }
    }
}

impl Lengths for Place<'_> {
    fn lengths(&self, messages: Range<usize>, to: &mut [usize]) {
        match self {
            Self::Empty => to.fill(0),
            Self::Packed { layout, .. } => layout.lengths(messages, to),
            Self::Scattered(slots) => {
                to.iter_mut().zip(&slots[messages]).for_each(|(to, slot)| *to = slot.len());
            }
        }
    }
}
