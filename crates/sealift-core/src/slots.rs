//! Messages of a work with their places.

use crate::{Batch, Column, Layout, Op, Output, Place, Status, Tags, Text};

/// One message of a [`Work`](crate::Work) with its place.
pub struct Slot<'s> {
    /// What is done to it.
    pub op: Op,
    /// 1 to 128 bytes.
    pub nonce: &'s [u8],
    /// Authenticated and not encrypted.
    pub aad: &'s [u8],
    /// Input and output.
    pub text: SlotText<'s>,
    /// The tag.
    pub tag: SlotTag<'s>,
}

/// A message's text.
pub enum SlotText<'s> {
    /// Read from one place and written to another, of the same length.
    Apart {
        /// Plaintext of a seal, ciphertext of an open.
        input: &'s [u8],
        /// The other one.
        output: &'s mut [u8],
    },
    /// Overwritten by its result.
    InPlace(&'s mut [u8]),
    /// Ciphertext that is only verified.
    Read(&'s [u8]),
}

/// A message's tag.
pub enum SlotTag<'s> {
    /// A seal writes it.
    Write(&'s mut [u8]),
    /// Open and verify compare it.
    Check(&'s [u8]),
    /// The input is shorter than the tag it should end with: it does not open.
    Missing,
}

/// The messages of a [`Work`](crate::Work), for who takes one after the other: the form of each column is looked at once.
///
/// The work is borrowed meanwhile: look up the keys of sessions before. Raw keys are in its batch.
pub struct Slots<'s, 'w> {
    batch: &'w Batch<'w>,
    nonce: Source<'w>,
    aad: Source<'w>,
    /// None in place.
    input: Option<Source<'w>>,
    /// None where tags are behind texts.
    tags: Option<Source<'w>>,
    text_places: Target<'s, 'w>,
    tag_places: Target<'s, 'w>,
    status: &'s mut [Status],
}

/// Where the messages of a column lie.
#[derive(Clone, Copy)]
enum Source<'w> {
    Even { bytes: &'w [u8], stride: usize, len: usize },
    Any(&'w Column<'w>),
}

/// Where results go.
enum Target<'s, 'w> {
    Even { bytes: &'s mut [u8], stride: usize, len: usize },
    Any(&'s mut Place<'w>),
}

impl<'s, 'w> Slots<'s, 'w> {
    #[inline(always)]
    pub(crate) fn of(batch: &'w Batch<'w>, output: &'s mut Output<'w>) -> Self {
        Self::by(batch, output, Source::of, Target::of)
    }

    /// The same for a single message, for which that is not worth it.
    #[inline(always)]
    pub(crate) fn of_one(batch: &'w Batch<'w>, output: &'s mut Output<'w>) -> Self {
        Self::by(batch, output, Source::Any, Target::Any)
    }

    #[inline(always)]
    fn by(
        batch: &'w Batch<'w>,
        output: &'s mut Output<'w>,
        from: impl Fn(&'w Column<'w>) -> Source<'w>,
        to: impl Fn(&'s mut Place<'w>) -> Target<'s, 'w>,
    ) -> Self {
        Self {
            batch,
            nonce: from(&batch.nonce),
            aad: from(&batch.aad),
            input: match &batch.text {
                Text::Apart(column) => Some(from(column)),
                Text::InPlace => None,
            },
            tags: match &batch.tags {
                Tags::Apart(column) => Some(from(column)),
                Tags::Appended => None,
            },
            text_places: to(&mut output.text),
            tag_places: to(&mut output.tags),
            status: output.status,
        }
    }

    /// One message of the batch with its place, taken apart. Of one that is too short for its tag the place becomes zeros.
    ///
    /// # Panics
    /// If there is no such message and the columns end before it.
    #[inline(always)]
    pub fn slot(&mut self, message: usize) -> Slot<'_> {
        let text_places = self.text_places.again();
        let tag_places = self.tag_places.again();
        Slots { text_places, tag_places, status: &mut [], ..*self }.into_slot(message)
    }

    /// Writes down what became of a message.
    ///
    /// # Panics
    /// If there is no such message.
    #[inline(always)]
    pub fn set_status(&mut self, message: usize, status: Status) {
        self.status[message] = status;
    }

    #[inline(always)]
    pub(crate) fn into_slot(self, message: usize) -> Slot<'s> {
        let Self { batch, nonce, aad, input, tags, text_places, tag_places, .. } = self;
        let (op, place) = (batch.ops.get(message), text_places.get(message));
        let input = input.map(|input| input.get(message));
        let bytes = batch.text_bytes(op, input.map_or(place.len(), <[u8]>::len));
        let tag =
            Tag { op, message, bytes: batch.tag_length.bytes(), read: tags, made: tag_places };
        let (text, tag) = match (input, bytes) {
            (Some(input), Some(bytes)) => {
                let (input, behind) = input.split_at(bytes);
                let (output, room) = place.split_at_mut(if op == Op::Verify { 0 } else { bytes });
                let tag = tag.or_behind(behind, room);
                match op {
                    Op::Verify => (SlotText::Read(input), tag),
                    Op::Seal | Op::Open => (SlotText::Apart { input, output }, tag),
                }
            }
            (None, Some(bytes)) => {
                let (text, behind) = place.split_at_mut(bytes);
                match op {
                    Op::Seal => (SlotText::InPlace(text), tag.or_behind(&[], behind)),
                    Op::Open => (SlotText::InPlace(text), tag.or_behind(behind, &mut [])),
                    Op::Verify => (SlotText::Read(text), tag.or_behind(behind, &mut [])),
                }
            }
            (input, None) => {
                if op == Op::Open && input.is_some() {
                    place.fill(0);
                }
                (SlotText::Read(&[]), SlotTag::Missing)
            }
        };
        Slot { op, nonce: nonce.get(message), aad: aad.get(message), text, tag }
    }
}

/// Where a message's tag is, if it is not behind a text.
struct Tag<'s, 'w> {
    op: Op,
    message: usize,
    bytes: usize,
    read: Option<Source<'w>>,
    made: Target<'s, 'w>,
}

impl<'s, 'w> Tag<'s, 'w> {
    /// The tag, in its column or behind what was read or what is written.
    #[inline(always)]
    fn or_behind(self, input: &'s [u8], output: &'s mut [u8]) -> SlotTag<'s>
    where
        'w: 's,
    {
        match (self.read, self.op) {
            (None, Op::Seal) => SlotTag::Write(&mut output[..self.bytes]),
            (None, _) => SlotTag::Check(&input[..self.bytes]),
            (Some(_), Op::Seal) => SlotTag::Write(&mut self.made.get(self.message)[..self.bytes]),
            (Some(tags), _) => SlotTag::Check(&tags.get(self.message)[..self.bytes]),
        }
    }
}

impl<'w> Source<'w> {
    #[inline(always)]
    fn of(column: &'w Column<'w>) -> Self {
        match column {
            Column::Empty => Self::Even { bytes: &[], stride: 0, len: 0 },
            Column::Same(buffer) => {
                let bytes = buffer.as_ref();
                Self::Even { bytes, stride: 0, len: bytes.len() }
            }
            Column::Packed { buffer, layout: Layout::Fixed { stride, len } } => {
                Self::Even { bytes: buffer.as_ref(), stride: *stride, len: *len }
            }
            Column::Packed { .. } | Column::Scattered(_) => Self::Any(column),
        }
    }

    #[inline(always)]
    fn get(self, message: usize) -> &'w [u8] {
        match self {
            Self::Even { bytes, stride, len } => &bytes[message * stride..][..len],
            Self::Any(column) => column.get(message),
        }
    }
}

impl<'s, 'w> Target<'s, 'w> {
    #[inline(always)]
    fn of(place: &'s mut Place<'w>) -> Self {
        match place {
            Place::Empty => Self::Even { bytes: &mut [], stride: 0, len: 0 },
            Place::Packed { bytes, layout: Layout::Fixed { stride, len } } => {
                Self::Even { bytes, stride: *stride, len: *len }
            }
            Place::Packed { .. } | Place::Scattered(_) => Self::Any(place),
        }
    }

    #[inline(always)]
    fn again(&mut self) -> Target<'_, 'w> {
        match self {
            Self::Even { bytes, stride, len } => Target::Even { bytes, stride: *stride, len: *len },
            Self::Any(place) => Target::Any(place),
        }
    }

    #[inline(always)]
    fn get(self, message: usize) -> &'s mut [u8] {
        match self {
            Self::Even { bytes, stride, len } => &mut bytes[message * stride..][..len],
            Self::Any(place) => place.get(message),
        }
    }
}
