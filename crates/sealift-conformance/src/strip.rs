//! One column of a batch in memory, in any of the forms a batch takes.

use crate::memory::{Memory, Where};
use bytes::Bytes;
use sealift_core::{Buffer, Column, Layout, Place};
use std::ops::Range;

/// What lies between messages and behind results, and must still be there afterwards.
pub(crate) const CANARY: u8 = 0xa5;

/// How messages lie in a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrangement {
    /// One after the other at a fixed stride; with offsets where lengths differ.
    Fixed,
    /// With gaps at a fixed stride; with offsets where lengths differ.
    Strided,
    /// Narrow offsets.
    Offsets32,
    /// Wide offsets.
    Offsets64,
    /// A buffer for each, in no order.
    Scattered,
}

impl Arrangement {
    pub(crate) const ALL: [Self; 5] =
        [Self::Fixed, Self::Strided, Self::Offsets32, Self::Offsets64, Self::Scattered];
}

/// The bytes of a column and where each message lies.
pub(crate) struct Strip {
    memory: Memory,
    arrangement: Arrangement,
    /// Stride and length when the arrangement has them.
    fixed: Option<(usize, usize)>,
    ranges: Vec<Range<usize>>,
}

impl Strip {
    /// Slots of the given lengths, filled with canaries.
    pub(crate) fn empty(arrangement: Arrangement, lengths: &[usize], place: Where) -> Self {
        let uniform = lengths.windows(2).all(|pair| pair[0] == pair[1]);
        let fixed = match arrangement {
            Arrangement::Fixed if uniform => Some(0),
            Arrangement::Strided if uniform => Some(7),
            _ => None,
        }
        .map(|gap| lengths.first().map_or((0, 0), |&len| (len + gap, len)));
        let ranges = match (fixed, arrangement) {
            (Some((stride, len)), _) => {
                (0..lengths.len()).map(|i| i * stride..i * stride + len).collect()
            }
            (None, Arrangement::Scattered) => scattered(lengths),
            (None, _) => consecutive(lengths),
        };
        let end = ranges.iter().map(|range| range.end).max().unwrap_or(0);
        let mut memory = Memory::new(end, place);
        memory.as_mut().fill(CANARY);
        Self { memory, arrangement, fixed, ranges }
    }

    /// A column of these messages, which nobody may write to where memory can forbid it.
    pub(crate) fn holding<T: AsRef<[u8]>>(
        arrangement: Arrangement,
        items: &[T],
        place: Where,
    ) -> Self {
        let lengths: Vec<_> = items.iter().map(|item| item.as_ref().len()).collect();
        let mut strip = Self::empty(arrangement, &lengths, place);
        items.iter().enumerate().for_each(|(i, item)| strip.put(i, item.as_ref()));
        strip.memory.forbid_writing();
        strip
    }

    /// Writes the first bytes of a slot.
    pub(crate) fn put(&mut self, message: usize, bytes: &[u8]) {
        let start = self.ranges[message].start;
        self.memory.as_mut()[start..start + bytes.len()].copy_from_slice(bytes);
    }

    /// A slot.
    pub(crate) fn get(&self, message: usize) -> &[u8] {
        &self.memory.as_ref()[self.ranges[message].clone()]
    }

    /// As a column that borrows.
    pub(crate) fn column(&self) -> Column<'_> {
        if self.fixed.is_none() && self.arrangement == Arrangement::Scattered {
            return Column::Scattered((0..self.ranges.len()).map(|i| self.get(i).into()).collect());
        }
        Column::Packed { buffer: self.memory.as_ref().into(), layout: self.layout() }
    }

    /// As a column that owns, for batches that are submitted.
    pub(crate) fn owned_column(&self) -> Column<'static> {
        let buffer = Bytes::copy_from_slice(self.memory.as_ref());
        if self.fixed.is_none() && self.arrangement == Arrangement::Scattered {
            let slice = |range: &Range<usize>| Buffer::Shared(buffer.slice(range.clone()));
            return Column::Scattered(self.ranges.iter().map(slice).collect());
        }
        Column::Packed { buffer: buffer.into(), layout: self.layout() }
    }

    /// As a place for results.
    pub(crate) fn place(&mut self) -> Place<'_> {
        if self.fixed.is_none() && self.arrangement == Arrangement::Scattered {
            return Place::Scattered(split(self.memory.as_mut(), &self.ranges));
        }
        let layout = self.layout();
        Place::Packed { bytes: self.memory.as_mut(), layout }
    }

    /// Finds a byte that was written although it belongs to no result. `results` are the lengths of
    /// what was written (or was given) at the start of each slot.
    pub(crate) fn find_damage(&self, results: &[usize]) -> Option<usize> {
        let mut order: Vec<_> = (0..self.ranges.len()).collect();
        order.sort_by_key(|&i| (self.ranges[i].start, self.ranges[i].end));
        let bytes = self.memory.as_ref();
        let mut from = 0;
        let ends = order.iter().map(|&i| {
            let start = self.ranges[i].start;
            (start, start + results[i])
        });
        for (start, end) in ends.chain([(bytes.len(), bytes.len())]) {
            if let Some(at) = bytes[from..start].iter().position(|byte| *byte != CANARY) {
                return Some(from + at);
            }
            from = end;
        }
        None
    }

    fn layout(&self) -> Layout<'static> {
        if let Some((stride, len)) = self.fixed {
            return Layout::Fixed { stride, len };
        }
        let ends = [0].into_iter().chain(self.ranges.iter().map(|range| range.end));
        if self.arrangement == Arrangement::Offsets64 {
            return Layout::Offsets64(ends.map(|end| end as u64).collect());
        }
        Layout::Offsets32(ends.map(|end| u32::try_from(end).unwrap_or(u32::MAX)).collect())
    }
}

fn consecutive(lengths: &[usize]) -> Vec<Range<usize>> {
    let mut end = 0;
    let next = |&len: &usize| {
        end += len;
        end - len..end
    };
    lengths.iter().map(next).collect()
}

/// With gaps of up to 12 bytes, every second message from the back.
fn scattered(lengths: &[usize]) -> Vec<Range<usize>> {
    let mut ranges = vec![0..0; lengths.len()];
    let order = (0..lengths.len()).step_by(2).chain((1..lengths.len()).step_by(2).rev());
    let mut end = 0;
    for i in order {
        ranges[i] = end..end + lengths[i];
        end += lengths[i] + i * 5 % 13;
    }
    ranges
}

/// Cuts a buffer into one slice for each range.
fn split<'b>(mut bytes: &'b mut [u8], ranges: &[Range<usize>]) -> Vec<&'b mut [u8]> {
    let mut order: Vec<_> = (0..ranges.len()).collect();
    order.sort_by_key(|&i| (ranges[i].start, ranges[i].end));
    let mut slices: Vec<(usize, &mut [u8])> = Vec::with_capacity(ranges.len());
    let mut from = 0;
    for i in order {
        let (_, rest) = bytes.split_at_mut(ranges[i].start - from);
        let (slice, rest) = rest.split_at_mut(ranges[i].len());
        slices.push((i, slice));
        (bytes, from) = (rest, ranges[i].end);
    }
    slices.sort_by_key(|(i, _)| *i);
    slices.into_iter().map(|(_, slice)| slice).collect()
}
