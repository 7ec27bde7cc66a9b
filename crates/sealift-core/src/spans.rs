//! Messages of a work as addresses, for kernels that have many of them in flight.

use crate::batch::Geometry;
use crate::rows::{Row, Rows};
use std::ops::Range;

use crate::{Batch, Column, Keys, Layout, Op, Ops, Output, Place, Status, Tags, Text};

/// The messages of a [`Work`](crate::Work) as addresses, each taken from the whole buffer that it lies in, so that any
/// number of them can be in use at once.
///
/// The work is borrowed for as long. Its checks hold for every [`Span`]: what is read lies within the
/// batch's buffers, what is written within the output, and no two messages write the same byte.
pub struct Spans<'s, 'w> {
    batch: &'w Batch<'w>,
    text: Base<'s, 'w>,
    tags: Base<'s, 'w>,
    status: *mut Status,
}

/// One message as addresses: readable and writable for their lengths while the [`Spans`] live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// What is done to it.
    pub op: Op,
    /// The nonce.
    pub nonce: *const u8,
    /// Its length in bytes, 1 to 128.
    pub nonce_bytes: usize,
    /// Authenticated and not encrypted.
    pub aad: *const u8,
    /// Its length in bytes.
    pub aad_bytes: usize,
    /// Plaintext of a seal, ciphertext of an open or a verify.
    pub input: *const u8,
    /// Where a seal's ciphertext and an open's plaintext go: the same address as `input` in place, null
    /// for a verify.
    pub output: *mut u8,
    /// The length of the text, in bytes.
    pub text_bytes: usize,
    /// As long as the batch says: written by a seal, read by an open or a verify.
    pub tag: *mut u8,
    /// What became of it.
    pub status: *mut Status,
}

impl<'s, 'w> Spans<'s, 'w> {
    pub(crate) fn of(batch: &'w Batch<'w>, output: &'s mut Output<'w>) -> Self {
        Self {
            batch,
            text: Base::of(&mut output.text),
            tags: Base::of(&mut output.tags),
            status: output.status.as_mut_ptr(),
        }
    }

    /// Where all are, as far as one of them tells.
    #[must_use]
    #[inline(always)]
    pub fn rows(&self) -> Rows {
        Rows::of(self.batch, self.text.row(), self.tags.row(), self.status)
    }

    /// What is done to all messages, if it is the same for all.
    #[must_use]
    pub fn common_op(&self) -> Option<Op> {
        match self.batch.ops {
            Ops::All(op) => Some(op),
            Ops::Each(_) => None,
        }
    }

    /// What is done to a message.
    #[must_use]
    #[inline]
    pub fn op(&self, message: usize) -> Op {
        self.batch.ops.get(message)
    }

    /// How long every tag is, in bytes.
    #[must_use]
    pub fn tag_bytes(&self) -> usize {
        self.batch.tag_length.bytes()
    }

    /// Whether raw keys lie at equal distances and are as long.
    #[must_use]
    pub fn has_regular_keys(&self) -> bool {
        matches!(&self.batch.keys, Keys::Raw(column) if column.uniform_len().is_some())
    }

    /// Where it is written what became of a message.
    #[must_use]
    #[inline]
    pub fn status(&self, message: usize) -> *mut Status {
        self.status.wrapping_add(message)
    }

    /// The raw key of a message, when the batch carries raw keys.
    #[must_use]
    #[inline]
    pub fn raw_key(&self, message: usize) -> Option<&'w [u8]> {
        self.batch.raw_key(message)
    }

    /// One message; none when its input is shorter than the tag it should end with.
    ///
    /// # Panics
    /// If there is no such message.
    #[must_use]
    #[inline]
    pub fn get(&mut self, message: usize) -> Option<Span> {
        let batch = self.batch;
        assert!(message < batch.len, "message {message} of {}", batch.len);
        let place = self.text.get(message);
        let Geometry { op, text, .. } = batch.geometry(message, place.room);
        let text_bytes = text?;
        let input = match &batch.text {
            Text::Apart(column) => column.get(message).as_ptr(),
            Text::InPlace => place.start.cast_const(),
        };
        let output = if op == Op::Verify { core::ptr::null_mut() } else { place.start };
        let tag = match (&batch.tags, op) {
            (Tags::Appended, Op::Seal) => output.wrapping_add(text_bytes),
            (Tags::Appended, _) => input.wrapping_add(text_bytes).cast_mut(),
            (Tags::Apart(_), Op::Seal) => self.tags.get(message).start,
            (Tags::Apart(column), _) => column.get(message).as_ptr().cast_mut(),
        };
        let (nonce, aad) = (batch.nonce.get(message), batch.aad.get(message));
        Some(Span {
            op,
            nonce: nonce.as_ptr(),
            nonce_bytes: nonce.len(),
            aad: aad.as_ptr(),
            aad_bytes: aad.len(),
            input,
            output,
            text_bytes,
            tag,
            status: self.status(message),
        })
    }
}

/// Where the text of a message is: as in a [`Span`].
#[derive(Clone, Copy, Debug)]
pub struct TextSpan {
    /// What is read.
    pub input: *const u8,
    /// What is written.
    pub output: *mut u8,
    /// Its length.
    pub bytes: usize,
    /// The tag behind it; null where tags are apart.
    pub tag: *mut u8,
}

impl Spans<'_, '_> {
    /// Some messages, column by column. False when the input of one is shorter than the tag it should end with: then `to` says
    /// nothing, and they are to be taken one by one.
    ///
    /// # Panics
    /// If there are no such messages, or not as many places.
    pub fn fill(&mut self, messages: Range<usize>, to: &mut [Span]) -> bool {
        let batch = self.batch;
        let some = || messages.clone();
        assert!(messages.end <= batch.len, "messages {messages:?} of {}", batch.len);
        assert!(to.len() == messages.len(), "{} places for {messages:?}", to.len());
        for (span, message) in to.iter_mut().zip(some()) {
            (span.op, span.status) = (batch.ops.get(message), self.status.wrapping_add(message));
        }
        match &batch.text {
            Text::Apart(column) => {
                each(column, some(), to, |span, input, bytes| {
                    (span.input, span.text_bytes) = (input, bytes);
                });
                self.text.put(some(), to, |span, start, _| span.output = start);
            }
            Text::InPlace => self.text.put(some(), to, |span, start, room| {
                (span.input, span.output, span.text_bytes) = (start.cast_const(), start, room);
            }),
        }
        each(&batch.nonce, some(), to, |span, nonce, bytes| {
            (span.nonce, span.nonce_bytes) = (nonce, bytes);
        });
        each(&batch.aad, some(), to, |span, aad, bytes| (span.aad, span.aad_bytes) = (aad, bytes));
        if let Tags::Apart(column) = &batch.tags {
            self.tags.put(some(), to, |span, start, _| span.tag = start);
            // Not checked where nothing is opened.
            if self.common_op() != Some(Op::Seal) {
                each(column, some(), to, |span, tag, _| {
                    span.tag = if span.op == Op::Seal { span.tag } else { tag.cast_mut() };
                });
            }
        }
        let behind = batch.appended_bytes();
        let in_place = matches!(batch.text, Text::InPlace);
        let mut fits = true;
        for span in to {
            if span.op != Op::Seal || in_place {
                fits &= span.text_bytes >= behind;
                span.text_bytes = span.text_bytes.saturating_sub(behind);
            }
            if behind > 0 {
                let is_sealed = span.op == Op::Seal;
                let ciphertext = if is_sealed { span.output } else { span.input.cast_mut() };
                span.tag = ciphertext.wrapping_add(span.text_bytes);
            }
            if span.op == Op::Verify {
                span.output = core::ptr::null_mut();
            }
        }
        fits
    }

    /// The texts of some messages to all of which the same is done. False when the input of one is shorter than the tag it
    /// should end with: then `to` says nothing.
    ///
    /// # Panics
    /// If there are no such messages.
    pub fn texts(&mut self, messages: Range<usize>, op: Op, to: &mut Vec<TextSpan>) -> bool {
        let batch = self.batch;
        assert!(messages.end <= batch.len, "messages {messages:?} of {}", batch.len);
        to.clear();
        to.resize(messages.len(), TextSpan::NOWHERE);
        match &batch.text {
            Text::Apart(column) => {
                each(column, messages.clone(), to, |text, input, bytes| {
                    (text.input, text.bytes) = (input, bytes);
                });
                self.text.put(messages, to, |text, start, _| text.output = start);
            }
            Text::InPlace => {
                self.text.put(messages, to, |text, start, room| {
                    (text.input, text.output, text.bytes) = (start.cast_const(), start, room);
                });
            }
        }
        let behind = batch.appended_bytes();
        let is_input_longer = op != Op::Seal || matches!(batch.text, Text::InPlace);
        let mut fits = true;
        for text in to {
            if is_input_longer {
                fits &= text.bytes >= behind;
                text.bytes = text.bytes.saturating_sub(behind);
            }
            if behind > 0 {
                let ciphertext = if op == Op::Seal { text.output } else { text.input.cast_mut() };
                text.tag = ciphertext.wrapping_add(text.bytes);
            }
            if op == Op::Verify {
                text.output = core::ptr::null_mut();
            }
        }
        fits
    }
}

impl Span {
    /// No message.
    pub const NOBODYS: Self = Self {
        op: Op::Seal,
        nonce: core::ptr::null(),
        nonce_bytes: 0,
        aad: core::ptr::null(),
        aad_bytes: 0,
        input: core::ptr::null(),
        output: core::ptr::null_mut(),
        text_bytes: 0,
        tag: core::ptr::null_mut(),
        status: core::ptr::null_mut(),
    };
}

impl TextSpan {
    const NOWHERE: Self = Self {
        input: core::ptr::null(),
        output: core::ptr::null_mut(),
        bytes: 0,
        tag: core::ptr::null_mut(),
    };
}

/// Tells of some messages where each lies in a column and how long it is; one branch for all of them where offsets say it.
#[expect(clippy::cast_possible_truncation, reason = "checked against a buffer's length")]
fn each<T>(
    column: &Column<'_>,
    messages: Range<usize>,
    to: &mut [T],
    mut tell: impl FnMut(&mut T, *const u8, usize),
) {
    let all = messages.start..=messages.end;
    match column {
        Column::Packed { buffer, layout: Layout::Offsets32(offsets) } => {
            let buffer = buffer.as_ref().as_ptr();
            for (to, pair) in to.iter_mut().zip(offsets[all].windows(2)) {
                tell(to, buffer.wrapping_add(pair[0] as usize), (pair[1] - pair[0]) as usize);
            }
        }
        Column::Packed { buffer, layout: Layout::Offsets64(offsets) } => {
            let buffer = buffer.as_ref().as_ptr();
            for (to, pair) in to.iter_mut().zip(offsets[all].windows(2)) {
                tell(to, buffer.wrapping_add(pair[0] as usize), (pair[1] - pair[0]) as usize);
            }
        }
        _ => {
            for (to, message) in to.iter_mut().zip(messages) {
                let part = column.get(message);
                tell(to, part.as_ptr(), part.len());
            }
        }
    }
}

/// A result column as an address.
enum Base<'s, 'w> {
    Empty,
    Packed { start: *mut u8, layout: &'s Layout<'w> },
    Scattered(&'s mut [&'w mut [u8]]),
}

/// Where the result of a message goes.
struct Room {
    start: *mut u8,
    room: usize,
}

impl<'s, 'w> Base<'s, 'w> {
    fn of(place: &'s mut Place<'w>) -> Self {
        match place {
            Place::Empty => Self::Empty,
            Place::Packed { bytes, layout } => Self::Packed { start: bytes.as_mut_ptr(), layout },
            Place::Scattered(slots) => Self::Scattered(slots),
        }
    }

    #[inline(always)]
    fn row(&self) -> Option<Row> {
        match self {
            Self::Empty => Some(Row::NOTHING),
            Self::Packed { start, layout: Layout::Fixed { stride, len } } => {
                Some(Row { start: start.cast_const(), stride: *stride, bytes: *len })
            }
            Self::Packed { .. } | Self::Scattered(_) => None,
        }
    }

    /// Tells of some messages where the result of each goes and how much room is there.
    #[expect(clippy::cast_possible_truncation, reason = "checked against a buffer's length")]
    fn put<T>(
        &mut self,
        messages: Range<usize>,
        to: &mut [T],
        mut tell: impl FnMut(&mut T, *mut u8, usize),
    ) {
        let all = messages.start..=messages.end;
        match self {
            Self::Packed { start, layout: Layout::Offsets32(offsets) } => {
                for (text, pair) in to.iter_mut().zip(offsets[all].windows(2)) {
                    tell(text, start.wrapping_add(pair[0] as usize), (pair[1] - pair[0]) as usize);
                }
            }
            Self::Packed { start, layout: Layout::Offsets64(offsets) } => {
                for (text, pair) in to.iter_mut().zip(offsets[all].windows(2)) {
                    tell(text, start.wrapping_add(pair[0] as usize), (pair[1] - pair[0]) as usize);
                }
            }
            _ => {
                for (text, message) in to.iter_mut().zip(messages) {
                    let Room { start, room } = self.get(message);
                    tell(text, start, room);
                }
            }
        }
    }

    #[inline]
    fn get(&mut self, message: usize) -> Room {
        match self {
            Self::Empty => Room { start: core::ptr::NonNull::dangling().as_ptr(), room: 0 },
            Self::Packed { start, layout } => {
                let range = layout.range(message);
                Room { start: start.wrapping_add(range.start), room: range.len() }
            }
            Self::Scattered(slots) => {
                let slot = &mut slots[message];
                Room { start: slot.as_mut_ptr(), room: slot.len() }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Key, KeySource, SessionId, SlotTag, SlotText, TagLength, Work};
    use std::sync::Arc;

    struct NoKeys;
    impl KeySource for NoKeys {
        fn key(&self, _: SessionId) -> Option<Arc<Key>> {
            None
        }
    }

    const SESSION: SessionId = SessionId { slot: 0, generation: 1 };
    const OPS: [Op; 3] = [Op::Seal, Op::Open, Op::Verify];

    /// Whether the addresses are those of the slots, for every message.
    fn agree(batch: &Batch<'_>, text: Place<'_>, tags: Place<'_>) -> bool {
        let mut status = vec![Status::Ok; batch.len];
        let mut work =
            Work::new(batch, Output { text, tags, status: &mut status }, &NoKeys).unwrap();
        let spans: Vec<_> = {
            let mut spans = work.spans();
            (0..batch.len).map(|message| spans.get(message)).collect()
        };
        let mut filled = vec![Span::NOBODYS; batch.len - 1];
        let fits = work.spans().fill(1..batch.len, &mut filled);
        // As a whole they fit where each one has room for its tag.
        let as_filled = spans[1..].iter().all(Option::is_some) == fits;
        let are_same = |(span, filled): (&Option<Span>, &Span)| {
            span.as_ref().is_none_or(|span| span == filled)
        };
        let as_filled = as_filled && (!fits || spans[1..].iter().zip(&filled).all(are_same));
        let rows = work.spans().rows();
        if rows.are_regular() && !spans.iter().enumerate().all(|(at, span)| in_row(rows, at, span))
        {
            return false;
        }
        let is_own =
            |(message, span): (usize, &Option<Span>)| same(&work.slot(message), span.as_ref());
        let alone = spans.iter().enumerate().all(is_own);
        let told = |message: usize| [Status::Ok, Status::AuthFailed][message % 2];
        let mut slots = work.slots();
        let both_ways = spans.iter().enumerate().chain(spans.iter().enumerate().rev());
        let in_turn = both_ways.fold(true, |all, (message, span)| {
            slots.set_status(message, told(message));
            all && same(&slots.slot(message), span.as_ref())
        });
        let noted = status.iter().enumerate().all(|(message, status)| *status == told(message));
        as_filled && alone && in_turn && noted
    }

    /// Whether rows tell of a message what its span does, and of the one behind it.
    fn in_row(rows: Rows, message: usize, span: &Option<Span>) -> bool {
        let Some(span) = span else {
            return [Op::Open, Op::Verify].iter().all(|op| rows.message(message, *op).is_none());
        };
        let of = |message| rows.message(message, span.op);
        let (Some((found, strides)), Some((next, _))) = (of(message), of(message + 1)) else {
            return false;
        };
        let nonce = found.nonce.wrapping_add(strides.nonce) == next.nonce;
        let aad = found.aad.wrapping_add(strides.aad) == next.aad;
        let input = found.input.wrapping_add(strides.input) == next.input;
        let output = found.output.wrapping_add(strides.output) == next.output;
        let tag = found.tag.wrapping_add(strides.tag) == next.tag;
        found == *span && nonce && aad && input && output && tag
    }

    fn same(slot: &crate::Slot<'_>, span: Option<&Span>) -> bool {
        let Some(span) = span else { return matches!(slot.tag, SlotTag::Missing) };
        let (input, output, len) = match &slot.text {
            SlotText::Apart { input, output } => (input.as_ptr(), output.as_ptr(), input.len()),
            SlotText::InPlace(text) => (text.as_ptr(), text.as_ptr(), text.len()),
            SlotText::Read(text) => (text.as_ptr(), core::ptr::null(), text.len()),
        };
        let tag = match &slot.tag {
            SlotTag::Write(tag) => tag.as_ptr(),
            SlotTag::Check(tag) => tag.as_ptr(),
            SlotTag::Missing => return false,
        };
        span.op == slot.op
            && (span.input, span.output.cast_const(), span.text_bytes) == (input, output, len)
            && span.tag.cast_const() == tag
            && (span.nonce, span.nonce_bytes) == (slot.nonce.as_ptr(), slot.nonce.len())
            && (span.aad, span.aad_bytes) == (slot.aad.as_ptr(), slot.aad.len())
    }

    #[test]
    fn addresses_are_those_of_the_slots() {
        let (nonces, texts, tags, aad) = ([0; 60], [1; 200], [2; 80], [3; 7]);
        let mixed = [Op::Open, Op::Seal, Op::Verify, Op::Open, Op::Seal];
        let ops = OPS.map(Ops::All).into_iter().chain([Ops::Each((&mixed).into())]);
        for (op, appended) in ops.flat_map(|op| [(op.clone(), true), (op, false)]) {
            let apart = Column::strided(&tags, 16, 12);
            let tags_in = if appended { Tags::Appended } else { Tags::Apart(apart) };
            let batch = Batch {
                ops: op.clone(),
                aad: Column::Same((&aad).into()),
                tags: tags_in,
                tag_length: TagLength::new(12).unwrap(),
                ..Batch::seal(
                    5,
                    SESSION,
                    Column::fixed(&nonces, 12),
                    Column::strided(&texts, 40, 33),
                )
            };
            let (mut out, mut made) = ([0; 250], [0; 80]);
            assert!(
                agree(&batch, Place::fixed(&mut out, 50), Place::fixed(&mut made, 16)),
                "{op:?} {appended}"
            );
            let ragged = Batch {
                text: Text::Apart(Column::offsets(&texts, vec![0, 12, 12, 50, 90, 99])),
                ..batch
            };
            let (mut slots, mut tags) = ([[0; 60]; 5], [[0; 12]; 5]);
            let text = Place::Scattered(slots.iter_mut().map(|slot| &mut slot[..]).collect());
            let tags = Place::Scattered(tags.iter_mut().map(|tag| &mut tag[..]).collect());
            assert!(agree(&ragged, text, tags), "ragged {op:?} {appended}");
            // Each of these has room for a tag.
            let unequal = Batch {
                text: Text::Apart(Column::offsets64(&texts, vec![0, 12, 30, 50, 90, 130])),
                nonce: Column::offsets(&nonces, vec![0, 12, 24, 36, 48, 60]),
                aad: Column::Scattered(texts.chunks(7).take(5).map(Into::into).collect()),
                ..ragged
            };
            let room = Layout::Offsets32(vec![0, 30, 70, 110, 180, 250].into());
            let text = Place::Packed { bytes: &mut out, layout: room };
            let room = Layout::Offsets64(vec![0, 12, 24, 40, 60, 72].into());
            let tags = Place::Packed { bytes: &mut made, layout: room };
            assert!(agree(&unequal, text, tags), "unequal {op:?} {appended}");
        }
        let (mut out, mut made) = ([0; 50], [0; 80]);
        let batch = Batch {
            // Nobody looks at them.
            tags: Tags::Apart(Column::Scattered(vec![].into())),
            ..Batch::seal(5, SESSION, Column::fixed(&nonces, 12), Column::fixed(&texts, 10))
        };
        assert!(agree(&batch, Place::fixed(&mut out, 10), Place::fixed(&mut made, 16)));
    }

    #[test]
    fn texts_in_place_are_read_where_they_are_written() {
        let nonces = [0; 24];
        for op in [Op::Seal, Op::Open] {
            let seal = Batch::seal(2, SESSION, Column::fixed(&nonces, 12), Text::InPlace);
            let batch = Batch { ops: Ops::All(op), tags: Tags::Appended, ..seal };
            let mut out = [0; 2 * 40];
            assert!(agree(&batch, Place::fixed(&mut out, 40), Place::Empty), "{op:?}");
        }
    }

    #[test]
    fn a_batch_is_regular_when_every_column_in_use_is() {
        let (nonces, texts) = ([0; 24], [0; 20]);
        let batch = Batch::seal(2, SESSION, Column::fixed(&nonces, 12), Column::fixed(&texts, 10));
        let regular_with = |batch: &Batch<'_>, tags| {
            let (mut out, mut status) = ([0; 52], [Status::Ok; 2]);
            let text = Place::fixed(&mut out, 26);
            let output = Output { text, tags, status: &mut status };
            Work::new(batch, output, &NoKeys).unwrap().spans().rows().are_regular()
        };
        let regular = |batch: &Batch<'_>| regular_with(batch, Place::fixed(vec![0; 32].leak(), 16));
        assert!(regular(&batch));
        let slot = || &mut *vec![0; 16].leak();
        let scattered = || Place::Scattered(vec![slot(), slot()]);
        assert!(!regular_with(&batch, scattered()));
        assert!(regular_with(&Batch { tags: Tags::Appended, ..batch.clone() }, scattered()));
        let open = Batch {
            ops: Ops::All(Op::Open),
            tags: Column::fixed(&[0; 32], 16).into(),
            ..batch.clone()
        };
        assert!(regular_with(&open, scattered()));
        let offsets = || Column::offsets(&texts, vec![0, 10, 20]);
        assert!(!regular(&Batch { text: offsets().into(), ..batch.clone() }));
        assert!(!regular(&Batch { aad: offsets(), ..batch.clone() }));
        let ops = Ops::Each((&[Op::Seal, Op::Open][..]).into());
        assert!(regular(&Batch { ops, tags: Column::fixed(&[0; 32], 16).into(), ..batch }));
    }
}
