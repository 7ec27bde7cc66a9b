//! Some messages of a batch as a batch of their own, over the same buffers.

use super::{Batch, Buffer, Buffers, Column, Keys, Layout, Ops, Tags, Text};
use crate::Op;
use std::borrow::Cow;
use std::ops::Range;

impl Batch<'_> {
    /// The same batch over borrowed columns, of which a slice copies nothing.
    #[must_use]
    pub fn borrowed(&self) -> Batch<'_> {
        Batch {
            len: self.len,
            algorithm: self.algorithm,
            ops: match &self.ops {
                Ops::All(op) => Ops::All(*op),
                Ops::Each(ops) => Ops::Each(Cow::Borrowed(ops)),
            },
            keys: match &self.keys {
                Keys::Session(session) => Keys::Session(*session),
                Keys::Sessions(sessions) => Keys::Sessions(Cow::Borrowed(sessions)),
                Keys::Raw(keys) => Keys::Raw(keys.borrowed()),
            },
            nonce: self.nonce.borrowed(),
            aad: self.aad.borrowed(),
            text: match &self.text {
                Text::Apart(text) => Text::Apart(text.borrowed()),
                Text::InPlace => Text::InPlace,
            },
            tags: match &self.tags {
                Tags::Apart(tags) => Tags::Apart(tags.borrowed()),
                Tags::Appended => Tags::Appended,
            },
            tag_length: self.tag_length,
            nonce_rule: self.nonce_rule,
            stability: self.stability,
        }
    }
}

impl<'a> Batch<'a> {
    /// The messages of a range as a batch of their own. No payload is copied; columns of ops, sessions
    /// and offsets that the batch owns are.
    ///
    /// # Panics
    /// If the batch has no such messages or was never checked.
    #[must_use]
    pub fn slice(&self, messages: Range<usize>) -> Self {
        let column = |column: &Column<'a>| column.slice(&messages);
        Self {
            len: messages.len(),
            algorithm: self.algorithm,
            ops: match &self.ops {
                Ops::All(op) => Ops::All(*op),
                Ops::Each(ops) => Ops::Each(part(ops, &messages)),
            },
            keys: match &self.keys {
                Keys::Session(session) => Keys::Session(*session),
                Keys::Sessions(sessions) => Keys::Sessions(part(sessions, &messages)),
                Keys::Raw(keys) => Keys::Raw(column(keys)),
            },
            nonce: column(&self.nonce),
            aad: column(&self.aad),
            text: match &self.text {
                Text::Apart(text) => Text::Apart(column(text)),
                Text::InPlace => Text::InPlace,
            },
            tags: match &self.tags {
                // Not checked where nothing is opened.
                Tags::Apart(_) if matches!(self.ops, Ops::All(Op::Seal)) => {
                    Tags::Apart(Column::Empty)
                }
                Tags::Apart(tags) => Tags::Apart(column(tags)),
                Tags::Appended => Tags::Appended,
            },
            tag_length: self.tag_length,
            nonce_rule: self.nonce_rule,
            stability: self.stability,
        }
    }
}

impl<'a> Column<'a> {
    fn slice(&self, messages: &Range<usize>) -> Self {
        match self {
            Self::Empty => Self::Empty,
            Self::Same(buffer) => Self::Same(buffer.clone()),
            Self::Scattered(Buffers::Lent(buffers)) => {
                Self::Scattered(Buffers::Lent(&buffers[messages.clone()]))
            }
            Self::Scattered(Buffers::Own(buffers)) => {
                Self::Scattered(buffers[messages.clone()].to_vec().into())
            }
            Self::Packed { buffer, layout: Layout::Fixed { stride, len } } => {
                let layout = Layout::Fixed { stride: *stride, len: *len };
                // The last message may end before its stride does.
                let from = (messages.start * stride).min(buffer.as_ref().len());
                Self::Packed { buffer: buffer.from(from), layout }
            }
            Self::Packed { buffer, layout: Layout::Offsets32(offsets) } => {
                let layout = Layout::Offsets32(part(offsets, &ends(messages)));
                Self::Packed { buffer: buffer.clone(), layout }
            }
            Self::Packed { buffer, layout: Layout::Offsets64(offsets) } => {
                let layout = Layout::Offsets64(part(offsets, &ends(messages)));
                Self::Packed { buffer: buffer.clone(), layout }
            }
        }
    }
}

impl Column<'_> {
    /// Of each message so many bytes from a byte on. All have as many as that takes, and the same number.
    pub(crate) fn tails(&self, from: usize, len: usize) -> Self {
        match self {
            Self::Empty => Self::Empty,
            Self::Same(buffer) => Self::Same(buffer.from(from)),
            Self::Packed { buffer, layout } => {
                let (first, stride) = match layout {
                    Layout::Fixed { stride, .. } => (0, *stride),
                    offsets => (offsets.range(0).start, offsets.range(0).len()),
                };
                let layout = Layout::Fixed { stride, len };
                Self::Packed { buffer: buffer.from(first + from), layout }
            }
            Self::Scattered(buffers) => {
                Self::Scattered(buffers.iter().map(|buffer| buffer.from(from)).collect())
            }
        }
    }
}

impl Buffer<'_> {
    /// All of it from a byte on.
    fn from(&self, byte: usize) -> Self {
        match self {
            Self::Borrowed(bytes) => Self::Borrowed(&bytes[byte..]),
            Self::Shared(bytes) => Self::Shared(bytes.slice(byte..)),
        }
    }
}

/// The offsets of some messages: one more than there are.
fn ends(messages: &Range<usize>) -> Range<usize> {
    messages.start..messages.end + 1
}

fn part<'a, T: Clone>(values: &Cow<'a, [T]>, range: &Range<usize>) -> Cow<'a, [T]> {
    match values {
        Cow::Borrowed(values) => Cow::Borrowed(&values[range.clone()]),
        Cow::Owned(values) => Cow::Owned(values[range.clone()].to_vec()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SessionId;

    #[test]
    fn a_slice_has_the_bytes_of_its_messages_in_every_form_of_column() {
        let texts: Vec<u8> = (0..100).collect();
        let sessions: Vec<_> = (0..10).map(|slot| SessionId { slot, generation: 1 }).collect();
        let forms = [
            Column::fixed(&texts, 10),
            Column::strided(&texts, 10, 7),
            Column::offsets(&texts, (0..=10).map(|n| n * n).collect::<Vec<u32>>()),
            Column::offsets64(&texts, (0..=10).map(|n| n * n).collect::<Vec<u64>>()),
            Column::Scattered(texts.chunks(10).map(Into::into).collect()),
        ];
        for text in forms {
            let ops: Vec<_> = (0..10).map(|n| if n < 5 { Op::Seal } else { Op::Open }).collect();
            let batch = Batch {
                ops: Ops::Each(ops.into()),
                aad: Column::Same((&[9]).into()),
                ..Batch::seal(10, sessions.clone(), Column::fixed(&texts, 4), text)
            };
            let slice = batch.slice(3..8);
            assert_eq!(slice.len, 5);
            for message in 0..5 {
                assert_eq!(slice.text_of(message), batch.text_of(message + 3));
                assert_eq!(slice.nonce.get(message), batch.nonce.get(message + 3));
                assert_eq!(slice.session_of(message), batch.session_of(message + 3));
                assert_eq!(slice.ops.get(message), batch.ops.get(message + 3));
                assert_eq!(slice.aad.get(message), [9]);
            }
            assert_eq!(batch.slice(10..10).len, 0);
        }
    }

    #[test]
    fn tags_that_nobody_looks_at_may_be_fewer_than_messages() {
        let texts = [0; 100];
        let (nonces, text) = (Column::fixed(&texts, 4), Column::fixed(&texts, 10));
        let session = SessionId { slot: 0, generation: 1 };
        let tags = Tags::Apart(Column::Scattered(vec![].into()));
        let batch = Batch { tags, ..Batch::seal(10, session, nonces, text) };
        assert!(matches!(batch.slice(3..8).tags, Tags::Apart(Column::Empty)));
    }
}
