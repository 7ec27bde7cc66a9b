//! One batch with the place for its results, ready to be run again and again.

use super::rota::Size;
use crate::memory::Memory;
use bytes::Bytes;
use sealift::{
    Batch, Column, DeviceId, Engine, EngineError, Layout, Op, Options, Output, Place, Report,
    Status,
};

/// A batch, its output, and what must come of it.
pub(crate) struct Lot {
    pub(crate) batch: Batch<'static>,
    /// The message of each entry, by its place in the spec.
    pub(crate) members: Vec<usize>,
    pub(crate) planned_failures: usize,
    pub(crate) text_bytes: u64,
    pub(crate) output: Memory,
    pub(crate) tags: Memory,
    pub(crate) status: Vec<Status>,
    layout: Layout<'static>,
}

impl Lot {
    /// Makes room for the results of a batch whose tags are apart.
    pub(crate) fn new(
        batch: Batch<'static>,
        members: Vec<usize>,
        layout: Layout<'static>,
        planned_failures: usize,
    ) -> Self {
        let len = batch.len;
        let text_bytes = (0..len).map(|message| layout.range(message).len() as u64).sum();
        let room = len.checked_sub(1).map_or(0, |last| layout.range(last).end);
        Self {
            tags: Memory::zeroed(len * batch.tag_length.bytes()),
            status: vec![Status::NotProcessed; len],
            output: Memory::zeroed(room),
            batch,
            members,
            planned_failures,
            text_bytes,
            layout,
        }
    }

    /// Runs the batch once on the calling thread.
    pub(crate) fn run(&mut self, engine: &Engine, on: DeviceId) -> Result<Report, EngineError> {
        let layout = borrowed(&self.layout);
        let output = Output {
            text: Place::Packed { bytes: &mut self.output, layout },
            tags: Place::fixed(&mut self.tags, self.batch.tag_length.bytes()),
            status: &mut self.status,
        };
        engine.run(&self.batch, output, &Options { on: Some(on), ..Options::default() })
    }

    /// Overwrites the results, so that what a device forgets to write shows.
    pub(crate) fn spoil(&mut self) {
        self.output.fill(SPOILT);
        self.tags.fill(SPOILT);
        self.status.fill(Status::NotProcessed);
    }

    /// How much there is to compare.
    pub(crate) fn size(&self) -> Size {
        Size { messages: self.batch.len, bytes: self.output.len() + self.tags.len() }
    }

    /// A message's text, in the output or in bytes that lie like it.
    pub(crate) fn text_of<'b>(&self, bytes: &'b [u8], message: usize) -> &'b [u8] {
        &bytes[self.layout.range(message)]
    }

    /// A message's tag, of those that were written or of others.
    pub(crate) fn tag_of<'b>(&self, tags: &'b [u8], message: usize) -> &'b [u8] {
        let bytes = self.batch.tag_length.bytes();
        &tags[message * bytes..][..bytes]
    }

    /// How many of its messages are sealed.
    pub(crate) fn seals(&self) -> usize {
        (0..self.batch.len).filter(|message| self.batch.ops.get(*message) == Op::Seal).count()
    }
}

/// Byte strings of these lengths one after the other.
#[must_use]
pub fn layout(lengths: &[usize]) -> Layout<'static> {
    if let Some((first, rest)) = lengths.split_first()
        && rest.iter().all(|len| len == first)
    {
        return Layout::Fixed { stride: *first, len: *first };
    }
    let mut ends = vec![0];
    ends.extend(lengths.iter().scan(0, |end, len| {
        *end += *len as u64;
        Some(*end)
    }));
    let narrow = ends.iter().map(|end| u32::try_from(*end)).collect::<Result<Vec<_>, _>>();
    match narrow {
        Ok(ends) => Layout::Offsets32(ends.into()),
        Err(_) => Layout::Offsets64(ends.into()),
    }
}

/// The column of bytes that lie so.
pub(crate) fn column(bytes: &[u8], lengths: &[usize]) -> Column<'static> {
    if bytes.is_empty() {
        return Column::Empty;
    }
    let buffer = Bytes::from_owner(Memory::holding(bytes)).into();
    Column::Packed { buffer, layout: layout(lengths) }
}

/// The same without a copy of its offsets.
#[must_use]
pub fn borrowed<'l>(layout: &'l Layout<'static>) -> Layout<'l> {
    match layout {
        Layout::Fixed { stride, len } => Layout::Fixed { stride: *stride, len: *len },
        Layout::Offsets32(offsets) => Layout::Offsets32((&**offsets).into()),
        Layout::Offsets64(offsets) => Layout::Offsets64((&**offsets).into()),
    }
}

pub(super) const SPOILT: u8 = 0xA5;
