//! A batch together with where its results go, checked once.

use crate::batch::Geometry;
use crate::{
    Batch, BatchError, DeviceError, Key, KeySource, Keys, Layout, Op, Ops, SessionId, Shape,
    Status, Tags, Text,
};

/// Where one result column of a batch is written.
#[derive(Debug)]
pub enum Place<'w> {
    /// Nothing is written.
    Empty,
    /// All in one buffer.
    Packed {
        /// The buffer.
        bytes: &'w mut [u8],
        /// The slot of each message; a slot may be longer than its result.
        layout: Layout<'w>,
    },
    /// A buffer for each message.
    Scattered(Vec<&'w mut [u8]>),
}

impl<'w> Place<'w> {
    /// Slots of `len` bytes, one after the other.
    pub fn fixed(bytes: &'w mut [u8], len: usize) -> Self {
        Self::Packed { bytes, layout: Layout::Fixed { stride: len, len } }
    }

    #[inline(always)]
    fn room(&self, message: usize) -> usize {
        match self {
            Self::Empty => 0,
            Self::Packed { layout, .. } => layout.range(message).len(),
            Self::Scattered(slots) => slots[message].len(),
        }
    }

    #[inline(always)]
    fn get(&mut self, message: usize) -> &mut [u8] {
        match self {
            Self::Empty => &mut [],
            Self::Packed { bytes, layout } => &mut bytes[layout.range(message)],
            Self::Scattered(slots) => slots[message],
        }
    }

    fn check(&self, column: &'static str, messages: usize) -> Result<(), BatchError> {
        match self {
            Self::Empty => Ok(()),
            Self::Packed { bytes, layout } => {
                layout.check(column, messages, bytes.len())?;
                layout.check_apart(column, messages)
            }
            Self::Scattered(slots) if slots.len() == messages => Ok(()),
            Self::Scattered(slots) => {
                Err(BatchError::Count { column, found: slots.len(), expected: messages })
            }
        }
    }

    fn is_uniform(&self) -> bool {
        matches!(self, Self::Empty | Self::Packed { layout: Layout::Fixed { .. }, .. })
    }
}

/// Where the results of a batch are written.
#[derive(Debug)]
pub struct Output<'w> {
    /// Ciphertext of seals (with the tag behind it when tags are appended), plaintext of opens.
    pub text: Place<'w>,
    /// Tags of seals when tags are apart.
    pub tags: Place<'w>,
    /// What became of each message.
    pub status: &'w mut [Status],
}

/// A checked batch, its output and the keys behind its sessions.
pub struct Work<'w> {
    batch: &'w Batch<'w>,
    output: Output<'w>,
    keys: &'w dyn KeySource,
    shape: Shape,
}

impl<'w> Work<'w> {
    /// Checks that the columns fit each other, the standard and the output. Nothing is written yet
    /// but the status of every message: not processed.
    ///
    /// # Errors
    /// The first thing that doesn't fit, with its numbers.
    pub fn new(
        batch: &'w Batch<'w>,
        output: Output<'w>,
        keys: &'w dyn KeySource,
    ) -> Result<Self, BatchError> {
        let shape = check(batch, &output)?;
        output.status.fill(Status::NotProcessed);
        Ok(Self { batch, output, keys, shape })
    }

    /// What a device has to know to accept and to quote.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The columns.
    #[must_use]
    pub fn batch(&self) -> &'w Batch<'w> {
        self.batch
    }

    /// Number of messages.
    #[must_use]
    pub fn len(&self) -> usize {
        self.batch.len
    }

    /// Whether there is nothing to do.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.batch.len == 0
    }

    /// The key of a session of this batch.
    ///
    /// # Errors
    /// When the key is gone, which only a bug in an engine does.
    pub fn key(&self, session: SessionId, device: &str) -> Result<Key, DeviceError> {
        self.keys.key(session).ok_or_else(|| DeviceError::KeyGone {
            device: device.to_owned(),
            session: session.to_string(),
        })
    }

    /// The raw key of a message, when the batch carries raw keys.
    #[must_use]
    #[inline]
    pub fn raw_key(&self, message: usize) -> Option<&'w [u8]> {
        match &self.batch.keys {
            Keys::Raw(column) => Some(column.get(message)),
            Keys::Session(_) | Keys::Sessions(_) => None,
        }
    }

    /// Writes down what became of a message.
    #[inline]
    pub fn set_status(&mut self, message: usize, status: Status) {
        self.output.status[message] = status;
    }

    /// What became of each message so far.
    #[must_use]
    pub fn statuses(&self) -> &[Status] {
        self.output.status
    }

    /// One message with its place, taken apart.
    #[inline(always)]
    pub fn slot(&mut self, message: usize) -> Slot<'_> {
        let batch = self.batch;
        let Geometry { op, text, output } = batch.geometry(message, self.output.text.room(message));
        let (text, tag) = match text {
            None => (SlotText::Read(&[]), SlotTag::Missing),
            Some(bytes) => match &batch.text {
                Text::Apart(column) => {
                    let input = column.get(message);
                    let place = self.output.text.get(message);
                    apart(
                        batch,
                        message,
                        input.split_at(bytes),
                        &mut place[..output],
                        &mut self.output.tags,
                    )
                }
                Text::InPlace => {
                    let place = self.output.text.get(message).split_at_mut(bytes);
                    in_place(batch, message, place, &mut self.output.tags)
                }
            },
        };
        Slot { op, nonce: batch.nonce.get(message), aad: batch.aad.get(message), text, tag }
    }
}

/// One message of a [`Work`] with its place.
#[derive(Debug)]
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
#[derive(Debug)]
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
#[derive(Debug)]
pub enum SlotTag<'s> {
    /// A seal writes it.
    Write(&'s mut [u8]),
    /// Open and verify compare it.
    Check(&'s [u8]),
    /// The input is shorter than the tag it should end with: it does not open.
    Missing,
}

/// Results that a submitted batch owns until its completion hands them out.
#[derive(Debug)]
pub struct OwnedOutput {
    text: Vec<u8>,
    text_layout: Layout<'static>,
    tags: Vec<u8>,
    tag_bytes: usize,
    status: Vec<Status>,
}

impl OwnedOutput {
    /// Makes room for all results of a batch, after checking the batch.
    ///
    /// # Errors
    /// The first thing about the batch that doesn't fit; texts in place.
    pub fn for_batch(batch: &Batch<'_>) -> Result<(Self, Shape), BatchError> {
        if matches!(batch.text, Text::InPlace) {
            return Err(BatchError::InPlaceSubmitted);
        }
        let shape = batch.check(|_| 0)?;
        let text_layout = packed_layout(batch);
        let text_bytes = match &text_layout {
            Layout::Fixed { stride, .. } => stride * batch.len,
            Layout::Offsets32(_) | Layout::Offsets64(_) => {
                batch.len.checked_sub(1).map_or(0, |last| text_layout.range(last).end)
            }
        };
        let has_tags = matches!(batch.tags, Tags::Apart(_))
            && (0..batch.len).any(|message| batch.ops.get(message) == Op::Seal);
        let tag_bytes = if has_tags { batch.tag_length.bytes() } else { 0 };
        let output = Self {
            text: vec![0; text_bytes],
            text_layout,
            tags: vec![0; tag_bytes * batch.len],
            tag_bytes,
            status: vec![Status::NotProcessed; batch.len],
        };
        Ok((output, shape))
    }

    /// Where a device writes.
    pub fn as_output(&mut self) -> Output<'_> {
        let tags = match self.tag_bytes {
            0 => Place::Empty,
            bytes => Place::fixed(&mut self.tags, bytes),
        };
        let layout = self.text_layout.clone();
        let text = Place::Packed { bytes: &mut self.text, layout };
        Output { text, tags, status: &mut self.status }
    }

    /// The result of one message: ciphertext (with its tag when appended) or plaintext.
    #[must_use]
    pub fn text_of(&self, message: usize) -> &[u8] {
        &self.text[self.text_layout.range(message)]
    }

    /// The tag that a seal made, when tags are apart.
    #[must_use]
    pub fn tag_of(&self, message: usize) -> &[u8] {
        &self.tags[message * self.tag_bytes..][..self.tag_bytes]
    }

    /// What became of each message.
    #[must_use]
    pub fn status(&self) -> &[Status] {
        &self.status
    }

    /// All texts in one buffer, and where each lies.
    #[must_use]
    pub fn text(&self) -> (&[u8], &Layout<'static>) {
        (&self.text, &self.text_layout)
    }

    /// All tags in one buffer, when tags are apart.
    #[must_use]
    pub fn tags(&self) -> &[u8] {
        &self.tags
    }
}

fn check(batch: &Batch<'_>, output: &Output<'_>) -> Result<Shape, BatchError> {
    let found = output.status.len();
    if found != batch.len {
        return Err(BatchError::Count { column: "status", found, expected: batch.len });
    }
    let in_place = matches!(batch.text, Text::InPlace);
    if in_place && matches!(output.text, Place::Empty) && batch.len > 0 {
        return Err(BatchError::NoPlace);
    }
    output.text.check("out", batch.len)?;
    output.tags.check("tag", batch.len)?;
    let shape = batch.check(|message| output.text.room(message))?;
    check_room(batch, output)?;
    Ok(shape)
}

fn check_room(batch: &Batch<'_>, output: &Output<'_>) -> Result<(), BatchError> {
    let tags_apart = matches!(batch.tags, Tags::Apart(_));
    let uniform_text = match &batch.text {
        Text::Apart(column) => column.uniform_len().is_some(),
        Text::InPlace => true,
    };
    let uniform = uniform_text
        && output.text.is_uniform()
        && output.tags.is_uniform()
        && matches!(batch.ops, Ops::All(_));
    let messages = if uniform { batch.len.min(1) } else { batch.len };
    for message in 0..messages {
        let room = output.text.room(message);
        let geometry = batch.geometry(message, room);
        if room < geometry.output {
            let needed = geometry.output;
            return Err(BatchError::NoRoom { column: "out", message, room, needed });
        }
        let (room, needed) = (output.tags.room(message), batch.tag_length.bytes());
        if tags_apart && geometry.op == Op::Seal && room < needed {
            return Err(BatchError::NoRoom { column: "tag", message, room, needed });
        }
    }
    Ok(())
}

#[inline(always)]
fn apart<'s>(
    batch: &'s Batch<'_>,
    message: usize,
    (text, behind): (&'s [u8], &'s [u8]),
    place: &'s mut [u8],
    tags: &'s mut Place<'_>,
) -> (SlotText<'s>, SlotTag<'s>) {
    let op = batch.ops.get(message);
    let (output, tag_place) = place.split_at_mut(if op == Op::Verify { 0 } else { text.len() });
    let tag = tag_of(batch, message, behind, tag_place, tags);
    match op {
        Op::Verify => (SlotText::Read(text), tag),
        Op::Seal | Op::Open => (SlotText::Apart { input: text, output }, tag),
    }
}

#[inline(always)]
fn in_place<'s>(
    batch: &'s Batch<'_>,
    message: usize,
    (text, behind): (&'s mut [u8], &'s mut [u8]),
    tags: &'s mut Place<'_>,
) -> (SlotText<'s>, SlotTag<'s>) {
    match batch.ops.get(message) {
        Op::Seal => (SlotText::InPlace(text), tag_of(batch, message, &[], behind, tags)),
        Op::Open => (SlotText::InPlace(text), tag_of(batch, message, behind, &mut [], tags)),
        Op::Verify => (SlotText::Read(text), tag_of(batch, message, behind, &mut [], tags)),
    }
}

/// A message's tag: behind its text or in the column of tags, to be written or to be compared.
#[inline(always)]
fn tag_of<'s>(
    batch: &'s Batch<'_>,
    message: usize,
    behind_input: &'s [u8],
    behind_output: &'s mut [u8],
    tags: &'s mut Place<'_>,
) -> SlotTag<'s> {
    let bytes = batch.tag_length.bytes();
    match (&batch.tags, batch.ops.get(message)) {
        (Tags::Appended, Op::Seal) => SlotTag::Write(&mut behind_output[..bytes]),
        (Tags::Appended, _) => SlotTag::Check(&behind_input[..bytes]),
        (Tags::Apart(_), Op::Seal) => SlotTag::Write(&mut tags.get(message)[..bytes]),
        (Tags::Apart(column), _) => SlotTag::Check(column.get(message)),
    }
}

/// The tightest layout of a batch's results.
fn packed_layout(batch: &Batch<'_>) -> Layout<'static> {
    let Text::Apart(column) = &batch.text else { return Layout::Fixed { stride: 0, len: 0 } };
    let len = |message| batch.geometry(message, 0).output;
    if column.uniform_len().is_some() && matches!(batch.ops, Ops::All(_)) && batch.len > 0 {
        return Layout::Fixed { stride: len(0), len: len(0) };
    }
    let mut offsets = Vec::with_capacity(batch.len + 1);
    let mut end = 0;
    offsets.push(end);
    for message in 0..batch.len {
        end += len(message) as u64;
        offsets.push(end);
    }
    Layout::Offsets64(offsets.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Column, NonceRule, TagLength};

    struct NoKeys;
    impl KeySource for NoKeys {
        fn key(&self, _: SessionId) -> Option<Key> {
            None
        }
    }

    const SESSION: SessionId = SessionId { slot: 0, generation: 1 };

    fn output<'w>(text: Place<'w>, tags: Place<'w>, status: &'w mut [Status]) -> Output<'w> {
        Output { text, tags, status }
    }

    fn verdict(batch: &Batch<'_>, text: Place<'_>, tags: Place<'_>) -> Result<Shape, BatchError> {
        let mut status = vec![Status::Ok; batch.len];
        check(batch, &output(text, tags, &mut status))
    }

    #[test]
    fn a_seal_with_appended_tags_gets_a_slot_that_is_split() {
        let (nonces, texts, mut out) = ([0; 24], *b"abcdef", [0; 2 * 20]);
        let mut batch =
            Batch::seal(2, SESSION, Column::fixed(&nonces, 12), Column::fixed(&texts, 3));
        batch.tags = Tags::Appended;
        let mut status = [Status::Ok; 2];
        let place = Place::fixed(&mut out, 20);
        let mut work =
            Work::new(&batch, output(place, Place::Empty, &mut status), &NoKeys).unwrap();
        assert_eq!((work.shape().text_bytes, work.shape().text_bytes_max), (6, 3));
        let slot = work.slot(1);
        let SlotText::Apart { input, output } = slot.text else { panic!("not apart") };
        assert_eq!((input, output.len()), (&b"def"[..], 3));
        assert!(matches!(slot.tag, SlotTag::Write(tag) if tag.len() == 16));
        assert_eq!(status, [Status::NotProcessed; 2]);
    }

    #[test]
    fn an_open_in_place_finds_text_and_tag_in_the_slot() {
        let mut out = *b"cipher0123456789abcdef";
        let nonce = [0; 12];
        let batch =
            Batch::open(1, SESSION, Column::fixed(&nonce, 12), Text::InPlace, Tags::Appended);
        let mut status = [Status::Ok];
        let place = Place::fixed(&mut out, 22);
        let mut work =
            Work::new(&batch, output(place, Place::Empty, &mut status), &NoKeys).unwrap();
        let slot = work.slot(0);
        assert!(matches!(slot.text, SlotText::InPlace(text) if text == b"cipher"));
        assert!(matches!(slot.tag, SlotTag::Check(tag) if tag == b"0123456789abcdef"));
    }

    #[test]
    fn an_input_shorter_than_its_tag_is_a_message_that_cannot_open() {
        let (nonce, text) = ([0; 12], [1; 15]);
        let batch = Batch::open(
            1,
            SESSION,
            Column::fixed(&nonce, 12),
            Column::fixed(&text, 15),
            Tags::Appended,
        );
        let mut status = [Status::Ok];
        let mut work =
            Work::new(&batch, output(Place::Empty, Place::Empty, &mut status), &NoKeys).unwrap();
        assert!(matches!(work.slot(0).tag, SlotTag::Missing));
    }

    #[test]
    fn what_does_not_fit_is_named_with_its_numbers() {
        let (nonces, texts) = ([0; 24], [0; 20]);
        let batch =
            || Batch::seal(2, SESSION, Column::fixed(&nonces, 12), Column::fixed(&texts, 10));
        let no_tags = verdict(&batch(), Place::fixed(&mut [0; 20], 10), Place::Empty);
        assert_eq!(
            no_tags,
            Err(BatchError::NoRoom { column: "tag", message: 0, room: 0, needed: 16 })
        );
        let short =
            verdict(&batch(), Place::fixed(&mut [0; 18], 9), Place::fixed(&mut [0; 32], 16));
        assert_eq!(
            short,
            Err(BatchError::NoRoom { column: "out", message: 0, room: 9, needed: 10 })
        );
        let layout = Layout::Fixed { stride: 9, len: 10 };
        let overlapping = Place::Packed { bytes: &mut [0; 19], layout };
        let overlap = verdict(&batch(), overlapping, Place::fixed(&mut [0; 32], 16));
        assert_eq!(overlap, Err(BatchError::OutputsOverlap { column: "out", stride: 9, len: 10 }));

        let nonces_11 = Batch { nonce: Column::fixed(&nonces, 11), ..batch() };
        let wrong = BatchError::NonceLength { message: 0, bytes: 11 };
        let places =
            |bytes: &'static mut [u8], tags| verdict(&nonces_11, Place::fixed(bytes, 10), tags);
        let refused = places(vec![0; 20].leak(), Place::fixed(vec![0; 32].leak(), 16));
        assert_eq!(refused, Err(wrong));
        let hazmat = Batch { nonce_rule: NonceRule::HazmatAnyLength, ..nonces_11.clone() };
        assert!(
            verdict(&hazmat, Place::fixed(&mut [0; 20], 10), Place::fixed(&mut [0; 32], 16))
                .is_ok()
        );
    }

    #[test]
    fn ragged_batches_are_checked_message_by_message() {
        let (nonces, text) = ([0; 36], [0; 30]);
        let texts = Column::offsets(&text, vec![0, 0, 10, 30]);
        let batch = Batch::seal(3, SESSION, Column::fixed(&nonces, 12), texts);
        let mut slots = [[0; 20]; 3];
        let place = Place::Scattered(slots.iter_mut().map(|slot| &mut slot[..]).collect());
        let shape = verdict(&batch, place, Place::fixed(&mut [0; 48], 16)).unwrap();
        assert_eq!((shape.text_bytes, shape.text_bytes_max), (30, 20));
        let mut slots = [[0; 19]; 3];
        let place = Place::Scattered(slots.iter_mut().map(|slot| &mut slot[..]).collect());
        let short = verdict(&batch, place, Place::fixed(&mut [0; 48], 16)).unwrap_err();
        assert_eq!(short, BatchError::NoRoom { column: "out", message: 2, room: 19, needed: 20 });
    }

    #[test]
    fn an_owned_output_is_as_large_as_the_results() {
        let (nonces, text, ops) = ([0; 24], [0; 30], [Op::Seal, Op::Open]);
        let batch = Batch {
            ops: Ops::Each((&ops[..]).into()),
            tags: Tags::Appended,
            tag_length: TagLength::new(8).unwrap(),
            ..Batch::seal(
                2,
                SESSION,
                Column::fixed(&nonces, 12),
                Column::offsets(&text, vec![0, 10, 30]),
            )
        };
        let (output, _) = OwnedOutput::for_batch(&batch).unwrap();
        assert_eq!((output.text_of(0).len(), output.text_of(1).len()), (18, 12));
        let in_place = Batch { text: Text::InPlace, ..batch };
        assert_eq!(OwnedOutput::for_batch(&in_place).unwrap_err(), BatchError::InPlaceSubmitted);
    }
}
