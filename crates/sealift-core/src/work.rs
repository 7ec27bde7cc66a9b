//! A batch together with where its results go, checked once.

use crate::{
    Batch, BatchError, DeviceError, Key, KeySource, Op, Output, Place, SessionId, Shape, Slot,
    SlotTag, SlotText, Slots, Spans, Status, room,
};
use std::mem;
use std::sync::Arc;

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
    #[inline]
    pub fn new(
        batch: &'w Batch<'w>,
        output: Output<'w>,
        keys: &'w dyn KeySource,
    ) -> Result<Self, BatchError> {
        let shape = room::check(batch, &output)?;
        output.status.fill(Status::NotProcessed);
        Ok(Self { batch, output, keys, shape })
    }

    /// The same for who needs it no longer than `run` takes: it is made where it stays. `output` is left empty if the batch is
    /// right: to move one makes a call with one message a fiftieth longer.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    #[inline]
    pub fn with<T>(
        batch: &'w Batch<'w>,
        output: &mut Output<'w>,
        keys: &'w dyn KeySource,
        run: impl FnOnce(&mut Self) -> T,
    ) -> Result<T, BatchError> {
        let shape = room::check(batch, output)?;
        let nowhere = Output { text: Place::Empty, tags: Place::Empty, status: &mut [] };
        let mut work = Self { batch, output: mem::replace(output, nowhere), keys, shape };
        work.output.status.fill(Status::NotProcessed);
        Ok(run(&mut work))
    }

    /// Some messages of a work that was checked, with a shape at least as large as theirs.
    pub(crate) fn of_checked(
        batch: &'w Batch<'w>,
        output: Output<'w>,
        keys: &'w dyn KeySource,
        shape: Shape,
    ) -> Self {
        Self { batch, output, keys, shape }
    }

    /// Bytes of a message's place.
    pub(crate) fn room(&self, message: usize) -> usize {
        self.output.text.room(message)
    }

    pub(crate) fn parts_mut(&mut self) -> (&'w Batch<'w>, &mut Output<'w>, &'w dyn KeySource) {
        (self.batch, &mut self.output, self.keys)
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
    pub fn key(&self, session: SessionId, device: &str) -> Result<Arc<Key>, DeviceError> {
        self.keys.key(session).ok_or_else(|| DeviceError::KeyGone {
            device: device.to_owned(),
            session: session.to_string(),
        })
    }

    /// Writes down what became of a message.
    #[inline]
    pub fn set_status(&mut self, message: usize, status: Status) {
        self.output.status[message] = status;
    }

    /// Undoes a device's failed attempt: texts apart and tags become zeros and no message counts as worked.
    ///
    /// In place nothing can be undone, and what was done must not be done again, so the statuses are
    /// left to tell.
    pub fn wipe(&mut self) {
        if self.shape.in_place {
            return;
        }
        for message in 0..self.batch.len {
            self.output.text.get(message).fill(0);
            if self.batch.ops.get(message) == Op::Seal {
                self.output.tags.get(message).fill(0);
            }
        }
        self.output.status.fill(Status::NotProcessed);
    }

    /// Makes the output of a message zeros, in place its text, too.
    pub fn wipe_message(&mut self, message: usize) {
        let slot = self.slot(message);
        match slot.text {
            SlotText::Apart { output, .. } | SlotText::InPlace(output) => output.fill(0),
            SlotText::Read(_) => {}
        }
        if let SlotTag::Write(tag) = slot.tag {
            tag.fill(0);
        }
    }

    /// What became of each message so far.
    #[must_use]
    pub fn statuses(&self) -> &[Status] {
        self.output.status
    }

    /// The messages as addresses.
    pub fn spans(&mut self) -> Spans<'_, 'w> {
        Spans::of(self.batch, &mut self.output)
    }

    /// One message of the batch with its place, taken apart, as by [`Slots::slot`]. For many of them there are
    /// [`slots`](Self::slots).
    ///
    /// # Panics
    /// If there is no such message and the columns end before it.
    #[inline(always)]
    pub fn slot(&mut self, message: usize) -> Slot<'_> {
        Slots::of_one(self.batch, &mut self.output).into_slot(message)
    }

    /// The messages for who takes one after the other.
    #[inline(always)]
    pub fn slots(&mut self) -> Slots<'_, 'w> {
        Slots::of(self.batch, &mut self.output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Algorithm, Column, Keys, Layout, MAX_TAG_BYTES, NonceRule, Op, Ops, OwnedOutput, Place,
        TagLength, Tags, Text,
    };

    struct NoKeys;
    impl KeySource for NoKeys {
        fn key(&self, _: SessionId) -> Option<Arc<Key>> {
            None
        }
    }

    const SESSION: SessionId = SessionId { slot: 0, generation: 1 };

    fn output<'w>(text: Place<'w>, tags: Place<'w>, status: &'w mut [Status]) -> Output<'w> {
        Output { text, tags, status }
    }

    fn verdict(batch: &Batch<'_>, text: Place<'_>, tags: Place<'_>) -> Result<Shape, BatchError> {
        let mut status = vec![Status::Ok; batch.len];
        room::check(batch, &output(text, tags, &mut status))
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
    fn seals_of_unequal_lengths_need_room_for_their_tags_and_tags_behind_are_no_text() {
        let (nonces, text) = ([0; 36], [0; 90]);
        let offsets = || Column::offsets(&text, vec![0, 20, 45, 90]);
        let batch = Batch::seal(3, SESSION, Column::fixed(&nonces, 12), offsets());
        let place = |out: &'static mut [u8]| Place::Packed {
            bytes: out,
            layout: Layout::Offsets32(vec![0, 20, 45, 90].into()),
        };
        for tag in [15, 16] {
            let tags = Place::fixed(vec![0; 3 * tag].leak(), tag);
            let given = verdict(&batch, place(vec![0; 90].leak()), tags);
            let short =
                BatchError::NoRoom { column: "tag", message: 0, room: tag, needed: MAX_TAG_BYTES };
            assert_eq!(given.err(), (tag < MAX_TAG_BYTES).then_some(short));
        }
        let opening = Batch {
            ops: Ops::All(Op::Open),
            tags: Tags::Appended,
            text: offsets().into(),
            ..batch
        };
        let shape = verdict(&opening, place(vec![0; 90].leak()), Place::Empty).unwrap();
        assert_eq!((shape.text_bytes, shape.text_bytes_max), (90 - 48, 29));
    }

    #[test]
    fn what_is_done_says_how_much_room_a_message_needs() {
        let (nonces, texts, tags) = ([0; 36], [0; 90], [0; 48]);
        let batch = |ops: &'static [Op], tags| Batch {
            ops: Ops::Each(ops.into()),
            tags,
            ..Batch::seal(3, SESSION, Column::fixed(&nonces, 12), Column::fixed(&texts, 30))
        };
        let apart = || Tags::Apart(Column::fixed(&tags, 16));
        let given = |batch: &Batch<'_>, room: usize, tag: usize| {
            let places = (Place::fixed(vec![0; 3 * room].leak(), room), vec![0; 3 * tag].leak());
            verdict(batch, places.0, Place::fixed(places.1, tag)).err()
        };
        let no_room = |column, message, room, needed| {
            Some(BatchError::NoRoom { column, message, room, needed })
        };
        let all: &[Op] = &[Op::Verify, Op::Open, Op::Seal];
        assert_eq!(given(&batch(all, apart()), 30, 16), None);
        assert_eq!(given(&batch(all, apart()), 29, 16), no_room("out", 1, 29, 30));
        assert_eq!(given(&batch(all, apart()), 30, 15), no_room("tag", 2, 15, 16));
        assert_eq!(given(&batch(all, Tags::Appended), 46, 0), None);
        assert_eq!(given(&batch(all, Tags::Appended), 45, 0), no_room("out", 2, 45, 46));
        assert_eq!(given(&batch(all, Tags::Appended), 13, 0), no_room("out", 1, 13, 14));
        let verified: &[Op] = &[Op::Verify; 3];
        assert_eq!(given(&batch(verified, apart()), 0, 0), None);
    }

    #[test]
    fn a_wrong_length_is_named_by_its_message_wherever_it_is() {
        let scattered = |messages, wrong, usual: usize, other: usize| {
            let bytes = |message| if message == wrong { other } else { usual };
            Column::Scattered((0..messages).map(|one| vec![0; bytes(one)].into()).collect())
        };
        for (messages, wrong) in [(1, 0), (31, 30), (32, 31), (33, 32), (33, 31), (600, 301)] {
            let column = |usual, other| scattered(messages, wrong, usual, other);
            let check = |key, nonce, text| {
                let (keys, nonces) = (Keys::Raw(column(16, key)), column(12, nonce));
                let sealed = Batch::seal(messages, keys, nonces, column(24, text));
                let batch = Batch { tags: Tags::Appended, ..sealed };
                let mut out = vec![0; messages * 40];
                verdict(&batch, Place::fixed(&mut out, 40), Place::Empty).err()
            };
            let (message, algorithm) = (wrong, Algorithm::AesGcm);
            assert_eq!(check(32, 12, 7), None);
            let key = BatchError::KeyLength { algorithm, message, bytes: 17 };
            assert_eq!(check(17, 12, 24), Some(key));
            let nonce = BatchError::NonceLength { message, bytes: 13 };
            assert_eq!(check(16, 13, 24), Some(nonce));
            let text = BatchError::NoRoom { column: "out", message, room: 40, needed: 41 };
            assert_eq!(check(16, 12, 25), Some(text));
        }
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
        let output = OwnedOutput::for_batch(&batch).unwrap();
        assert_eq!((output.text_of(0).len(), output.text_of(1).len()), (18, 12));
        let mut wiped = output;
        assert!(Work::new(&batch, wiped.as_output(), &NoKeys).is_ok());
        wiped.wipe();
        assert_eq!((wiped.text_of(0), wiped.status().len()), (&[0; 18][..], 2));
        let in_place = Batch { text: Text::InPlace, ..batch };
        assert_eq!(OwnedOutput::for_batch(&in_place).unwrap_err(), BatchError::InPlaceSubmitted);
    }

    #[test]
    fn tags_that_are_compared_have_the_length_of_the_batch_wherever_they_stand() {
        let (nonces, texts, tags) = ([0; 24], [0; 20], [0; 32]);
        let ops_of = [[Op::Seal, Op::Open], [Op::Verify, Op::Seal], [Op::Open, Op::Open]];
        for (ops, bytes) in ops_of.iter().flat_map(|ops| [0, 1, 4, 15].map(|bytes| (ops, bytes))) {
            let short: Vec<&[u8]> = vec![&tags[..bytes]; 2];
            for column in [
                Column::fixed(&tags, bytes),
                Column::Same(tags[..bytes].into()),
                Column::Scattered(short.into_iter().map(Into::into).collect()),
            ] {
                let batch = Batch {
                    ops: Ops::Each((&ops[..]).into()),
                    tags: Tags::Apart(column),
                    ..Batch::seal(2, SESSION, Column::fixed(&nonces, 12), Column::fixed(&texts, 10))
                };
                let (mut out, mut made) = ([0; 20], [0; 32]);
                let places = (Place::fixed(&mut out, 10), Place::fixed(&mut made, 16));
                let refused = verdict(&batch, places.0, places.1).unwrap_err();
                let wrong = matches!(refused, BatchError::TagLength { expected: 16, .. });
                assert!(wrong, "{ops:?} with tags of {bytes}: {refused}");
            }
        }
    }

    #[test]
    fn a_batch_names_as_many_sessions_as_it_has_messages() {
        let (nonces, texts) = ([0; 24], [0; 20]);
        let batch =
            || Batch::seal(2, SESSION, Column::fixed(&nonces, 12), Column::fixed(&texts, 10));
        for found in [1, 3] {
            let keys = Keys::Sessions(vec![SESSION; found].into());
            let refused = Batch { keys, ..batch() }.shape().unwrap_err();
            assert_eq!(refused, BatchError::Count { column: "key", found, expected: 2 });
        }
    }

    #[test]
    fn a_raw_key_has_one_of_three_lengths() {
        for bytes in [0, 15, 17, 25, 33] {
            let keys = Keys::Raw(Column::Same(vec![1; bytes].into()));
            let batch = Batch::seal(1, keys, Column::Same((&[0; 12]).into()), Column::Empty);
            let algorithm = Algorithm::AesGcm;
            let wrong = BatchError::KeyLength { algorithm, message: 0, bytes };
            assert_eq!(batch.shape().unwrap_err(), wrong);
        }
    }

    #[test]
    fn a_text_longer_than_the_standard_allows_is_an_error() {
        let limit = crate::MAX_TEXT_BYTES;
        let nonce = Column::Same((&[0; 12]).into());
        let batch = Batch { tags: Tags::Appended, ..Batch::seal(1, SESSION, nonce, Text::InPlace) };
        // Slots are not looked into, so there needn't be that much memory.
        let verdict = |bytes: u64| {
            let room = usize::try_from(bytes + 16).unwrap();
            batch.check(|_| room, Some(room))
        };
        assert!(verdict(limit).is_ok());
        assert!(matches!(verdict(limit + 1), Err(BatchError::TextLength { .. })));
    }

    #[test]
    fn impossible_numbers_of_messages_are_an_error() {
        let (nonce, text) = ([0; 12], [0; 64]);
        for len in [usize::MAX, usize::MAX / 64, 1 << 44] {
            let (nonces, texts) = (Column::Same((&nonce).into()), Column::Same((&text).into()));
            let batch = Batch::seal(len, SESSION, nonces, texts);
            let refused = OwnedOutput::for_batch(&batch).unwrap_err();
            let named = matches!(refused, BatchError::TooMuch { .. } | BatchError::NoMemory { .. });
            assert!(named, "{refused}");
        }
    }

    #[test]
    fn debug_shows_no_text() {
        let mut bytes = *b"secret plaintext";
        let place = Place::fixed(&mut bytes, 16);
        assert_eq!(format!("{place:?}"), "Place(16 bytes)");
    }
}
