//! Batches whose messages lie at equal distances, so that one of them tells where all are.

use crate::{Batch, Column, Layout, Op, Ops, Span, Status, Tags, Text};
use core::ptr;

/// The columns of a batch, as far as their messages lie at equal distances and are as long.
#[derive(Clone, Copy, Debug)]
pub struct Rows {
    nonce: Option<Row>,
    aad: Option<Row>,
    input: Option<Row>,
    output: Option<Row>,
    /// No bytes where none is made.
    made_tags: Option<Row>,
    /// No bytes where nobody looks at them.
    checked_tags: Option<Row>,
    status: *mut Status,
    /// Bytes of the tag behind each ciphertext.
    appended: usize,
    in_place: bool,
}

/// How far the parts of a message are from those of the message before, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strides {
    /// From nonce to nonce.
    pub nonce: usize,
    /// From aad to aad.
    pub aad: usize,
    /// From text to text.
    pub input: usize,
    /// From result to result; 0 for a verify, which has none.
    pub output: usize,
    /// From tag to tag.
    pub tag: usize,
}

/// Parts of messages at equal distances.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    /// Where that of the first message is.
    pub(crate) start: *const u8,
    /// From one to the next.
    pub(crate) stride: usize,
    /// Length of each.
    pub(crate) bytes: usize,
}

impl Rows {
    #[inline(always)]
    pub(crate) fn of(
        batch: &Batch<'_>,
        output: Option<Row>,
        made_tags: Option<Row>,
        status: *mut Status,
    ) -> Self {
        let (in_place, input) = match &batch.text {
            Text::Apart(column) => (false, Row::of_column(column)),
            Text::InPlace => (true, output),
        };
        let (makes, checks) = match batch.ops {
            Ops::All(Op::Seal) => (true, false),
            Ops::All(Op::Open | Op::Verify) => (false, true),
            Ops::Each(_) => (true, true),
        };
        let (made_tags, checked_tags) = match &batch.tags {
            Tags::Appended => (Some(Row::NOTHING), Some(Row::NOTHING)),
            Tags::Apart(column) => (
                if makes { made_tags } else { Some(Row::NOTHING) },
                if checks { Row::of_column(column) } else { Some(Row::NOTHING) },
            ),
        };
        Self {
            nonce: Row::of_column(&batch.nonce),
            aad: Row::of_column(&batch.aad),
            input,
            output,
            made_tags,
            checked_tags,
            status,
            appended: batch.appended_bytes(),
            in_place,
        }
    }

    /// Whether that holds for every column in use.
    #[must_use]
    #[inline(always)]
    pub fn are_regular(&self) -> bool {
        self.input.is_some() && self.output.is_some() && self.are_regular_but_for_texts()
    }

    /// The same but for the texts, and where tags are behind them but for these.
    #[must_use]
    #[inline(always)]
    pub fn are_regular_but_for_texts(&self) -> bool {
        let tags = self.made_tags.is_some() && self.checked_tags.is_some();
        self.nonce.is_some() && self.aad.is_some() && tags
    }

    /// A message as if this were done to it, and how far its parts are from those of the message before; none if its input is
    /// shorter than the tag it should end with. Its parts are addresses only: readable and writable where the batch has such a
    /// message, that is done to it, and the columns of them are regular.
    #[must_use]
    #[inline(always)]
    pub fn message(&self, message: usize, op: Op) -> Option<(Span, Strides)> {
        let at = |row: Option<Row>| row.unwrap_or(Row::NOTHING).at(message);
        let (nonce, aad) = (at(self.nonce), at(self.aad));
        let (input, output) = (at(self.input), at(self.output));
        let behind = if op != Op::Seal || self.in_place { self.appended } else { 0 };
        let text_bytes = match self.input {
            Some(row) => row.bytes.checked_sub(behind)?,
            None => 0,
        };
        let tag = match (op, self.appended) {
            (Op::Seal, 0) => at(self.made_tags),
            (_, 0) => at(self.checked_tags),
            (Op::Seal, _) => output.behind(text_bytes),
            _ => input.behind(text_bytes),
        };
        let output =
            if op == Op::Verify { Row { start: ptr::null(), ..Row::NOTHING } } else { output };
        let span = Span {
            op,
            nonce: nonce.start,
            nonce_bytes: nonce.bytes,
            aad: aad.start,
            aad_bytes: aad.bytes,
            input: input.start,
            output: output.start.cast_mut(),
            text_bytes,
            tag: tag.start.cast_mut(),
            status: self.status.wrapping_add(message),
        };
        let strides = Strides {
            nonce: nonce.stride,
            aad: aad.stride,
            input: input.stride,
            output: output.stride,
            tag: tag.stride,
        };
        Some((span, strides))
    }
}

impl Row {
    /// No bytes.
    pub(crate) const NOTHING: Self =
        Self { start: ptr::without_provenance(1), stride: 0, bytes: 0 };

    #[inline(always)]
    fn of_column(column: &Column<'_>) -> Option<Self> {
        match column {
            Column::Empty => Some(Self::NOTHING),
            Column::Same(buffer) => {
                let bytes = buffer.as_ref();
                Some(Self { start: bytes.as_ptr(), stride: 0, bytes: bytes.len() })
            }
            Column::Packed { buffer, layout: Layout::Fixed { stride, len } } => {
                Some(Self { start: buffer.as_ref().as_ptr(), stride: *stride, bytes: *len })
            }
            Column::Packed { .. } | Column::Scattered(_) => None,
        }
    }

    /// The same from a message on.
    #[inline(always)]
    fn at(self, message: usize) -> Self {
        Self { start: self.start.wrapping_add(message.wrapping_mul(self.stride)), ..self }
    }

    /// What lies so many bytes behind.
    #[inline(always)]
    fn behind(self, bytes: usize) -> Self {
        Self { start: self.start.wrapping_add(bytes), ..self }
    }
}
