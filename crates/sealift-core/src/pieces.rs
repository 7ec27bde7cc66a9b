//! A work cut into consecutive pieces, which threads can work at the same time.

use crate::batch::Geometry;
use crate::{
    Algorithm, Batch, Column, KeySource, Keys, Layout, NONCE_BYTES, NonceLengths, Op, Output,
    Place, Shape, SlotText, Status, Text, Work,
};
use std::borrow::Cow;
use std::mem;
use std::ops::Range;

/// A part of a [`Work`] that a thread works while others work others.
pub enum Piece<'p> {
    /// Some consecutive messages.
    Messages(Messages<'p>),
    /// A part of the text of a long one.
    Text(TextPart<'p>),
}

/// Some consecutive messages of a [`Work`], with the part of its output that is theirs.
///
/// Cutting is cheap; the thread that runs them makes a [`Work`] of them.
pub struct Messages<'p> {
    batch: &'p Batch<'p>,
    keys: &'p dyn KeySource,
    messages: Range<usize>,
    /// Of it, with the longest message of the whole, and of all bytes as many as of other pieces.
    shape: Shape,
    /// Offsets are still those of the whole; the bytes begin at the first of them.
    text: Place<'p>,
    tags: Place<'p>,
    status: &'p mut [Status],
}

impl<'p> Messages<'p> {
    /// Calls `run` with them as a work of their own.
    pub fn run<T>(self, run: impl FnOnce(&mut Work<'_>) -> T) -> T {
        let Self { batch, keys, messages, shape, text, tags, status } = self;
        let batch = batch.borrowed().slice(messages);
        let output = Output { text: text.rebased(), tags: tags.rebased(), status };
        run(&mut Work::of_checked(&batch, output, keys, shape))
    }

    /// Cuts the first message's text into equal parts of about so many bytes. None where it is shorter than its tag.
    fn into_parts(self, bytes: usize) -> Option<Vec<Piece<'p>>> {
        let Self { batch, messages, text, .. } = self;
        let message = messages.start;
        let place = text.into_first();
        let Geometry { op, text, .. } = batch.geometry(message, place.len());
        let len = text?;
        let parts = (len / bytes).max(1);
        let bytes = len.div_ceil(parts).next_multiple_of(PART_ALIGN);
        let texts: Vec<_> = match (&batch.text, op) {
            (Text::Apart(column), Op::Verify) => {
                column.get(message)[..len].chunks(bytes).map(SlotText::Read).collect()
            }
            (Text::Apart(column), _) => {
                let inputs = column.get(message)[..len].chunks(bytes);
                let apart = |(input, output)| SlotText::Apart { input, output };
                inputs.zip(place[..len].chunks_mut(bytes)).map(apart).collect()
            }
            (Text::InPlace, Op::Verify) => place[..len].chunks(bytes).map(SlotText::Read).collect(),
            (Text::InPlace, _) => place[..len].chunks_mut(bytes).map(SlotText::InPlace).collect(),
        };
        let part = |(part, text)| {
            let first_block = u32::try_from(part * bytes / 16).unwrap_or(u32::MAX);
            Piece::Text(TextPart { message, part, first_block, text })
        };
        Some(texts.into_iter().enumerate().map(part).collect())
    }
}

/// A part of one message's text, which a [`LongMessage`](crate::LongMessage) works.
pub struct TextPart<'p> {
    /// Whose text it is.
    pub message: usize,
    /// Which part of it, from 0.
    pub part: usize,
    /// Blocks of 16 bytes before it.
    pub first_block: u32,
    /// The part.
    pub text: SlotText<'p>,
}

impl Work<'_> {
    /// Cuts the work into about so many pieces of about as many bytes each, a message counted as
    /// [`MESSAGE_BYTES`] more than it has. A text is cut only where `may_cut_texts`, and where it is at least twice as
    /// long as a piece.
    pub fn cut(&mut self, pieces: usize, may_cut_texts: bool) -> Vec<Piece<'_>> {
        let starts = self.starts(pieces.min(self.len()).max(1));
        let shape = self.shape();
        let bytes = usize::try_from(shape.text_bytes / pieces.max(1) as u64).unwrap_or(usize::MAX);
        let bytes = bytes.max(PART_BYTES_MIN);
        if !may_cut_texts || shape.text_bytes_max < 2 * bytes {
            return self.cut_before(&starts).into_iter().map(Piece::Messages).collect();
        }
        let is_long = |message| self.text_bytes(message) >= 2 * bytes;
        let long: Vec<_> = (0..self.len()).filter(|message| is_long(*message)).collect();
        // Each of them by itself.
        let alone = long.iter().flat_map(|message| [*message, message + 1]);
        let mut starts: Vec<_> =
            starts.iter().copied().chain(alone).filter(|start| *start < self.len()).collect();
        starts.sort_unstable();
        starts.dedup();
        let mut pieces = vec![];
        for messages in self.cut_before(&starts) {
            match long.binary_search(&messages.messages.start) {
                Ok(_) => pieces.extend(messages.into_parts(bytes).unwrap_or_default()),
                Err(_) => pieces.push(Piece::Messages(messages)),
            }
        }
        pieces
    }

    /// Cuts the work in two, of which the first has about so much of the bytes, from 0 to 1. None where one would have no
    /// message.
    #[expect(clippy::cast_precision_loss, reason = "bytes are far under 2^52")]
    pub fn cut_in_two(&mut self, first: f64) -> Option<[Messages<'_>; 2]> {
        let (len, whole) = (self.len(), *self.shape());
        let weights = self.weights();
        let total = weights.before(len) as f64;
        let start = first_message(len, |message| weights.before(message) as f64 >= first * total);
        if start == 0 || start >= len {
            return None;
        }
        let text_bytes = match weights {
            Weights::Equal => whole.text_bytes / len as u64 * start as u64,
            _ => (weights.before(start) - MESSAGE_BYTES * start as u64).min(whole.text_bytes),
        };
        let aad_bytes = whole.aad_bytes / len as u64 * start as u64;
        let mut halves = self.cut_before(&[0, start]).into_iter();
        let (mut first, mut second) = (halves.next()?, halves.next()?);
        (first.shape.text_bytes, first.shape.aad_bytes) = (text_bytes, aad_bytes);
        second.shape.text_bytes = whole.text_bytes - text_bytes;
        second.shape.aad_bytes = whole.aad_bytes - aad_bytes;
        Some([first, second])
    }

    /// Calls `run` with some messages as a work of their own: AES-256-GCM under keys of 32 bytes that are derived from what
    /// each has, one behind the other, and the bytes of its nonce from `nonce_from` on.
    pub fn run_derived<T>(
        &mut self,
        messages: Range<usize>,
        keys: &[u8],
        nonce_from: usize,
        run: impl FnOnce(&mut Work<'_>) -> T,
    ) -> T {
        let (whole, len) = (*self.shape(), messages.len());
        let share = |bytes: u64| bytes / whole.messages.max(1) as u64 * len as u64;
        let shape = Shape {
            algorithm: Algorithm::AesGcm,
            messages: len,
            aad_bytes: share(whole.aad_bytes),
            text_bytes: share(whole.text_bytes),
            nonce_lengths: NonceLengths::of(&[NONCE_BYTES]),
            raw_keys: true,
            ..whole
        };
        let (batch, output, _) = self.parts_mut();
        let slice = batch.borrowed();
        let slice = slice.slice(messages.clone());
        let derived = Batch {
            algorithm: Algorithm::AesGcm,
            keys: Keys::Raw(Column::fixed(keys, 32)),
            nonce: slice.nonce.tails(nonce_from, NONCE_BYTES),
            ..slice
        };
        let output = Output {
            text: output.text.part(&messages),
            tags: output.tags.part(&messages),
            status: &mut output.status[messages],
        };
        run(&mut Work::of_checked(&derived, output, &(), shape))
    }

    /// Bytes of a message's text; none where it is shorter than its tag.
    fn text_bytes(&self, message: usize) -> usize {
        let room = self.room(message);
        self.batch().geometry(message, room).text.unwrap_or(0)
    }

    /// What the messages weigh.
    fn weights(&mut self) -> Weights<'_> {
        let (batch, output, _) = self.parts_mut();
        match (&batch.text, &output.text) {
            (Text::Apart(Column::Packed { layout, .. }), _)
            | (Text::InPlace, Place::Packed { layout, .. }) => Weights::Layout(layout),
            (Text::Apart(Column::Empty | Column::Same(_)), _) | (Text::InPlace, _) => {
                Weights::Equal
            }
            (Text::Apart(Column::Scattered(texts)), _) => {
                Weights::Sums(sums(texts.iter().map(|text| text.as_ref().len())))
            }
        }
    }

    /// Where pieces start.
    fn starts(&mut self, pieces: usize) -> Vec<usize> {
        let len = self.len();
        let weights = self.weights();
        let total = weights.before(len);
        let piece = |n: usize| {
            let target = u128::from(total) * n as u128 / pieces as u128;
            first_message(len, |message| u128::from(weights.before(message)) >= target)
        };
        let mut starts: Vec<_> = (0..pieces).map(piece).filter(|start| *start < len).collect();
        starts.dedup();
        if starts.is_empty() { vec![0] } else { starts }
    }

    /// Cuts the work before each of `starts`, which begin with 0 and rise.
    fn cut_before(&mut self, starts: &[usize]) -> Vec<Messages<'_>> {
        let whole = *self.shape();
        let (batch, output, keys) = self.parts_mut();
        let ends = starts.iter().skip(1).copied().chain([batch.len]);
        let ranges: Vec<_> = starts.iter().zip(ends).map(|(start, end)| *start..end).collect();
        let places = output.text.cut(&ranges).into_iter().zip(output.tags.cut(&ranges));
        let mut rest = &mut *output.status;
        let piece = |(messages, (text, tags)): (Range<usize>, _)| {
            let (status, later) = mem::take(&mut rest).split_at_mut(messages.len());
            rest = later;
            let shape = Shape {
                messages: messages.len(),
                text_bytes: whole.text_bytes.div_ceil(starts.len() as u64),
                aad_bytes: whole.aad_bytes.div_ceil(starts.len() as u64),
                ..whole
            };
            Messages { batch, keys, messages, shape, text, tags, status }
        };
        ranges.iter().cloned().zip(places).map(piece).collect()
    }
}

/// What a message weighs beside its bytes when pieces are to take equally long: as many as a device works
/// in the time that it takes to begin with a message.
pub const MESSAGE_BYTES: u64 = 256;

/// Parts of a text are no shorter: their hashes have to be put together.
pub const PART_BYTES_MIN: usize = 64 << 10;

/// Parts of a text begin at pages of it, so that two threads seldom write to one.
const PART_ALIGN: usize = 4 << 10;

/// What the messages before one weigh.
enum Weights<'p> {
    Equal,
    Layout(&'p Layout<'p>),
    Sums(Vec<u64>),
}

impl Weights<'_> {
    fn before(&self, message: usize) -> u64 {
        let bytes = match self {
            Self::Equal => 0,
            Self::Layout(Layout::Fixed { len, .. }) => message as u64 * *len as u64,
            Self::Layout(layout) => (layout.start(message) - layout.start(0)) as u64,
            Self::Sums(sums) => sums[message],
        };
        bytes.saturating_add(MESSAGE_BYTES * message as u64)
    }
}

/// The sum of the lengths before each, and of all.
fn sums(lengths: impl Iterator<Item = usize>) -> Vec<u64> {
    let running = lengths.scan(0, |sum: &mut u64, length| {
        *sum += length as u64;
        Some(*sum)
    });
    std::iter::once(0).chain(running).collect()
}

/// The first message of which something holds that holds of all later ones, too.
fn first_message(len: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, len);
    while low < high {
        let middle = low.midpoint(high);
        if holds(middle) { high = middle } else { low = middle + 1 }
    }
    low
}

impl<'p> Place<'p> {
    fn cut(&mut self, ranges: &[Range<usize>]) -> Vec<Place<'_>> {
        match self {
            Self::Empty => ranges.iter().map(|_| Place::Empty).collect(),
            Self::Packed { bytes, layout } => cut_packed(bytes, layout, ranges),
            Self::Scattered(slots) => {
                let mut slots = slots.iter_mut().map(|slot| &mut **slot);
                let part = |range: &Range<usize>| slots.by_ref().take(range.len()).collect();
                ranges.iter().map(part).map(Place::Scattered).collect()
            }
        }
    }

    /// The place of some messages.
    fn part(&mut self, messages: &Range<usize>) -> Place<'_> {
        match self {
            Self::Scattered(slots) => {
                let slots = slots[messages.clone()].iter_mut().map(|slot| &mut **slot);
                Place::Scattered(slots.collect())
            }
            others => {
                let cut = others.cut(std::slice::from_ref(messages)).pop();
                cut.unwrap_or(Place::Empty).rebased()
            }
        }
    }

    /// The place of the first message, of those that were cut off.
    fn into_first(self) -> &'p mut [u8] {
        match self {
            Self::Empty => &mut [],
            Self::Packed { bytes, layout } => {
                let len = layout.range(0).len();
                &mut bytes[..len]
            }
            Self::Scattered(slots) => slots.into_iter().next().unwrap_or_default(),
        }
    }

    /// The same with offsets from the first of them.
    fn rebased(self) -> Self {
        match self {
            Self::Packed { bytes, layout: Layout::Offsets32(offsets) } => {
                let offsets: Vec<_> = offsets.iter().map(|offset| offset - offsets[0]).collect();
                Self::Packed { bytes, layout: Layout::Offsets32(offsets.into()) }
            }
            Self::Packed { bytes, layout: Layout::Offsets64(offsets) } => {
                let offsets: Vec<_> = offsets.iter().map(|offset| offset - offsets[0]).collect();
                Self::Packed { bytes, layout: Layout::Offsets64(offsets.into()) }
            }
            other => other,
        }
    }
}

fn cut_packed<'p>(
    bytes: &'p mut [u8],
    layout: &'p Layout<'_>,
    ranges: &[Range<usize>],
) -> Vec<Place<'p>> {
    let (mut rest, mut begin) = (bytes, 0);
    let last = ranges.last().map_or(0, |last| last.end);
    let part = |messages: &Range<usize>| {
        let start = layout.start(messages.start);
        let own = &mut mem::take(&mut rest)[start - begin..];
        // The last message may end before its stride does, and if it is the only one behind it.
        let is_last = messages.end == last;
        let len = if is_last { own.len() } else { layout.start(messages.end) - start };
        let (bytes, later) = own.split_at_mut(len);
        (rest, begin) = (later, start + len);
        Place::Packed { bytes, layout: layout.part(messages) }
    };
    ranges.iter().map(part).collect()
}

impl Layout<'_> {
    /// Where a message starts, or where the last one ends.
    #[expect(clippy::cast_possible_truncation, reason = "checked against a buffer's length")]
    fn start(&self, message: usize) -> usize {
        match self {
            Self::Fixed { stride, .. } => message * stride,
            Self::Offsets32(offsets) => offsets[message] as usize,
            Self::Offsets64(offsets) => offsets[message] as usize,
        }
    }

    /// The layout of some messages, offsets as they are.
    fn part(&self, messages: &Range<usize>) -> Layout<'_> {
        let ends = messages.start..=messages.end;
        match self {
            Self::Fixed { stride, len } => Layout::Fixed { stride: *stride, len: *len },
            Self::Offsets32(offsets) => Layout::Offsets32(Cow::Borrowed(&offsets[ends])),
            Self::Offsets64(offsets) => Layout::Offsets64(Cow::Borrowed(&offsets[ends])),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SessionId, SlotTag};

    const SESSION: SessionId = SessionId { slot: 0, generation: 1 };

    /// Writes to every message what says which piece it is in and where.
    fn mark(work: &mut Work<'_>, piece: u8) {
        for message in 0..work.len() {
            let slot = work.slot(message);
            let SlotText::Apart { input, output } = slot.text else { panic!("not apart") };
            output.iter_mut().zip(input).for_each(|(to, from)| *to = from ^ 0x80);
            let SlotTag::Write(tag) = slot.tag else { panic!("no tag to write") };
            tag.fill(piece);
            work.set_status(message, Status::Ok);
        }
    }

    #[test]
    fn the_pieces_are_all_of_the_work_in_every_form_of_output() {
        let (nonces, texts): (_, Vec<u8>) = ([0; 12 * 10], (0..100).collect());
        let squares = || (0..=10u32).map(|n| n * n).collect::<Vec<_>>();
        let wide = || squares().into_iter().map(|n| u64::from(n) + 7).collect::<Vec<_>>();
        let batch = Batch::seal(
            10,
            SESSION,
            Column::fixed(&nonces, 12),
            Column::offsets(&texts, squares()),
        );
        for starts in [&[0][..], &[0, 3, 4, 9], &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]] {
            let piece_of = |n: usize| starts.iter().rposition(|start| *start <= n).unwrap();
            let (mut fixed, mut narrow, mut broad) = ([0; 10 * 20 - 1], [0; 100], [0; 120]);
            let mut slots = [[0; 20]; 10];
            let forms = [
                Place::Packed { bytes: &mut fixed, layout: Layout::Fixed { stride: 20, len: 19 } },
                Place::Packed { bytes: &mut narrow, layout: Layout::Offsets32(squares().into()) },
                Place::Packed { bytes: &mut broad, layout: Layout::Offsets64(wide().into()) },
                Place::Scattered(slots.iter_mut().map(|slot| &mut slot[..]).collect()),
            ];
            for text in forms {
                let (mut tags, mut status) = ([0xff; 160], [Status::Ok; 10]);
                let output =
                    Output { text, tags: Place::fixed(&mut tags, 16), status: &mut status };
                let mut work = Work::new(&batch, output, &()).unwrap();
                for (piece, number) in work.cut_before(starts).into_iter().zip(0..) {
                    piece.run(|work| mark(work, number));
                }
                for n in 0..10 {
                    let place = work.slot(n);
                    let SlotText::Apart { input, output } = place.text else { panic!() };
                    assert!(input.iter().zip(output).all(|(from, to)| from ^ 0x80 == *to));
                }
                assert_eq!(work.statuses(), [Status::Ok; 10]);
                drop(work);
                assert!((0..10).all(|n| usize::from(tags[n * 16]) == piece_of(n)), "{starts:?}");
            }
        }
    }

    #[test]
    fn pieces_weigh_about_the_same_whatever_the_lengths() {
        let nonces = [0; 12 * 100];
        let bytes = vec![0; 100 * 4_096];
        // Ten long texts, then ninety short ones.
        let len = |n: usize| if n < 10 { 4_096 } else { 16 };
        let offsets = sums((0..100).map(len));
        let texts = (0..100).map(|n| bytes[..len(n)].into()).collect();
        for text in [Column::offsets64(&bytes, offsets.clone()), Column::Scattered(texts)] {
            let batch = Batch::seal(100, SESSION, Column::fixed(&nonces, 12), text);
            let mut output = crate::OwnedOutput::for_batch(&batch).unwrap();
            let mut work = Work::new(&batch, output.as_output(), &()).unwrap();
            let starts = work.starts(4);
            assert_eq!(starts, [0, 4, 8, 38], "{:?}", batch.text);
            assert!(work.cut(1_000, true).len() <= 100);
        }
        let (same, none) = (Column::Same((&[7; 9]).into()), Column::Empty);
        for (text, len) in [(same, 100), (none, 100), (Column::Empty, 0)] {
            let batch = Batch::seal(len, SESSION, Column::fixed(&nonces, 12), text);
            let mut output = crate::OwnedOutput::for_batch(&batch).unwrap();
            let mut work = Work::new(&batch, output.as_output(), &()).unwrap();
            let expected: &[usize] = if len == 0 { &[0] } else { &[0, 34, 67] };
            assert_eq!(work.starts(3), expected);
        }
    }

    #[test]
    fn a_work_is_cut_in_two_by_bytes_and_each_half_knows_its_own() {
        let nonces = [0; 12 * 100];
        let bytes = vec![0; 100 * 4_096];
        let len = |n: usize| if n < 10 { 4_096 } else { 16 };
        let ragged = Column::offsets64(&bytes, sums((0..100).map(len)));
        let same = || Column::Same((&[7; 9]).into());
        for (text, first, expected) in [
            (ragged.clone(), 0.5, Some([(8, 8 * 4_096), (92, 2 * 4_096 + 90 * 16)])),
            (ragged, 0.9, Some([(75, 10 * 4_096 + 65 * 16), (25, 25 * 16)])),
            (same(), 0.25, Some([(25, 25 * 9), (75, 75 * 9)])),
            (same(), 0.0, None),
            (same(), 1.0, None),
        ] {
            let aad = Column::fixed(&bytes[..300], 3);
            let batch =
                Batch { aad, ..Batch::seal(100, SESSION, Column::fixed(&nonces, 12), text) };
            let mut output = crate::OwnedOutput::for_batch(&batch).unwrap();
            let mut work = Work::new(&batch, output.as_output(), &()).unwrap();
            let halves = work.cut_in_two(first).map(|halves| {
                halves.map(|half| {
                    half.run(|work| {
                        assert_eq!(work.shape().aad_bytes, 3 * work.len() as u64);
                        (work.len(), work.shape().text_bytes)
                    })
                })
            });
            assert_eq!(halves, expected, "{first}");
        }
    }

    #[test]
    fn long_texts_are_cut_into_parts_and_what_lies_around_them_is_not() {
        let nonces = [0; 12 * 5];
        let lengths = [10, 1_000_000, 20, 3_000_000, 30];
        let texts: Vec<_> = lengths.map(|length| vec![1; length]).into_iter().collect();
        let column = Column::Scattered(texts.iter().map(|text| (&text[..]).into()).collect());
        let batch = Batch::seal(5, SESSION, Column::fixed(&nonces, 12), column);
        let mut output = crate::OwnedOutput::for_batch(&batch).unwrap();
        let mut work = Work::new(&batch, output.as_output(), &()).unwrap();
        assert!(work.cut(20, false).iter().all(|piece| matches!(piece, Piece::Messages(_))));
        // Four and fourteen parts of 250,000 and 214,286 bytes, and up to the next page.
        let bytes_of = [0, 253_952, 0, 217_088, 0];
        let (mut bytes, mut alone) = ([0; 5], 0);
        for piece in work.cut(20, true) {
            match piece {
                Piece::Messages(messages) => messages.run(|work| {
                    assert!(work.shape().text_bytes < 1_000_000);
                    assert_eq!(work.shape().whole_text_bytes, 4_000_060);
                    alone += work.len();
                }),
                Piece::Text(TextPart { message, part, first_block, text }) => {
                    let SlotText::Apart { input, output } = text else { panic!("not apart") };
                    assert_eq!(
                        (bytes[message], part * bytes_of[message]),
                        (first_block as usize * 16, bytes[message])
                    );
                    assert_eq!(input.len(), output.len());
                    bytes[message] += input.len();
                }
            }
        }
        assert_eq!((bytes, alone), ([0, 1_000_000, 0, 3_000_000, 0], 3));
    }

    #[test]
    fn texts_in_place_are_cut_with_their_places() {
        let nonces = [0; 36];
        let mut texts = *b"abcdefghi";
        let batch = Batch::seal(3, SESSION, Column::fixed(&nonces, 12), Text::InPlace);
        let (mut tags, mut status) = ([0; 48], [Status::Ok; 3]);
        let output = Output {
            text: Place::fixed(&mut texts, 3),
            tags: Place::fixed(&mut tags, 16),
            status: &mut status,
        };
        let mut work = Work::new(&batch, output, &()).unwrap();
        let mut read = vec![];
        for piece in work.cut_before(&[0, 2]) {
            let text = |work: &mut Work<'_>| match work.slot(0) {
                crate::Slot { op: Op::Seal, text: SlotText::InPlace(text), .. } => text.to_vec(),
                _ => panic!("not in place"),
            };
            read.push(piece.run(text));
        }
        assert_eq!(read, [b"abc", b"ghi"]);
    }
}
