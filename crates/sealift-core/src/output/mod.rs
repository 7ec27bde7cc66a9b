//! Where results go: to the caller's buffers, or to buffers of an attempt's own.

mod pool;

pub use pool::OutputPool;

use crate::{Batch, BatchError, Layout, Op, Ops, Status, Tags, Text};
use bytes::{Buf, BytesMut};
use std::sync::Arc;
use std::{fmt, mem};
use zeroize::Zeroize;

/// Where one result column of a batch is written. Its `Debug` shows no bytes.
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
    pub(crate) fn room(&self, message: usize) -> usize {
        match self {
            Self::Empty => 0,
            Self::Packed { layout, .. } => layout.range(message).len(),
            Self::Scattered(slots) => slots[message].len(),
        }
    }

    #[inline(always)]
    pub(crate) fn get(&mut self, message: usize) -> &mut [u8] {
        match self {
            Self::Empty => &mut [],
            Self::Packed { bytes, layout } => &mut bytes[layout.range(message)],
            Self::Scattered(slots) => slots[message],
        }
    }

    /// Checks that there is a place for each message, none within another, and gives the one length that all have, when the
    /// form says so.
    #[inline(always)]
    pub(crate) fn check(
        &self,
        column: &'static str,
        messages: usize,
    ) -> Result<Option<usize>, BatchError> {
        match self {
            Self::Empty => Ok(Some(0)),
            Self::Packed { bytes, layout } => {
                let room = layout.check(column, messages, bytes.len())?;
                layout.check_apart(column, messages)?;
                Ok(room)
            }
            Self::Scattered(slots) if slots.len() == messages => Ok(None),
            Self::Scattered(slots) => {
                Err(BatchError::Count { column, found: slots.len(), expected: messages })
            }
        }
    }
}

/// Where the results of a batch are written.
pub struct Output<'w> {
    /// Ciphertext of seals (with the tag behind it when tags are appended), plaintext of opens.
    pub text: Place<'w>,
    /// Tags of seals when tags are apart.
    pub tags: Place<'w>,
    /// What became of each message.
    pub status: &'w mut [Status],
}

/// Results that a submitted batch owns until its completion hands them out. Its `Debug` shows no bytes.
pub struct OwnedOutput {
    text: BytesMut,
    text_layout: Layout<'static>,
    tags: BytesMut,
    tag_bytes: usize,
    status: Vec<Status>,
    /// Where the memory of the texts goes when they are dropped.
    pool: Option<Arc<OutputPool>>,
}

impl OwnedOutput {
    /// Makes room for all results of a batch, after checking the batch. They are zeros until a device
    /// writes them.
    ///
    /// # Errors
    /// The first thing about the batch that doesn't fit; texts in place; no memory.
    pub fn for_batch(batch: &Batch<'_>) -> Result<Self, BatchError> {
        Self::make(batch, None)
    }

    /// The same in memory that earlier results have left, if there is some. Until a device writes
    /// them the texts are anything.
    ///
    /// # Errors
    /// As [`OwnedOutput::for_batch`].
    pub fn in_pool(pool: &Arc<OutputPool>, batch: &Batch<'_>) -> Result<Self, BatchError> {
        Self::make(batch, Some(Arc::clone(pool)))
    }

    fn make(batch: &Batch<'_>, pool: Option<Arc<OutputPool>>) -> Result<Self, BatchError> {
        batch.shape()?;
        let text_layout = packed_layout(batch);
        let too_much = |bytes| BatchError::TooMuch { messages: batch.len, bytes };
        let text_bytes = match &text_layout {
            Layout::Fixed { stride, .. } => {
                stride.checked_mul(batch.len).ok_or_else(|| too_much(*stride))?
            }
            Layout::Offsets32(_) | Layout::Offsets64(_) => {
                batch.len.checked_sub(1).map_or(0, |last| text_layout.range(last).end)
            }
        };
        let has_tags = matches!(batch.tags, Tags::Apart(_)) && has_seals(batch);
        let tag_bytes = if has_tags { batch.tag_length.bytes() } else { 0 };
        let tags_bytes = tag_bytes.checked_mul(batch.len).ok_or_else(|| too_much(tag_bytes))?;
        let used = pool.as_ref().and_then(|pool| pool.take(text_bytes));
        Ok(Self {
            text: used.map_or_else(|| zeros(text_bytes), Ok)?,
            text_layout,
            tags: zeros(tags_bytes)?,
            tag_bytes,
            status: filled(batch.len, Status::NotProcessed)?,
            pool,
        })
    }

    /// Overwrites all results: of an attempt that failed or that nobody waits for any more.
    pub fn wipe(&mut self) {
        self.text.as_mut().zeroize();
        self.tags.as_mut().zeroize();
        self.status.fill(Status::NotProcessed);
    }

    /// Fills the texts with something, to see that a device writes all of them.
    pub fn fill_text(&mut self, byte: u8) {
        self.text.fill(byte);
    }

    /// Takes off the results from a message on, for a part of the batch that is worked elsewhere. Nothing
    /// is copied but offsets.
    ///
    /// # Panics
    /// If there are fewer messages.
    #[must_use]
    pub fn split_off(&mut self, message: usize) -> Self {
        let status = self.status.split_off(message);
        let (text_layout, end) = match &mut self.text_layout {
            Layout::Fixed { stride, len } => {
                (Layout::Fixed { stride: *stride, len: *len }, message * *stride)
            }
            Layout::Offsets32(_) => (Layout::Fixed { stride: 0, len: 0 }, self.text.len()),
            Layout::Offsets64(offsets) => {
                let end = offsets[message];
                let later =
                    offsets[message..].iter().map(|offset| offset - end).collect::<Vec<_>>();
                offsets.to_mut().truncate(message + 1);
                (Layout::Offsets64(later.into()), usize::try_from(end).unwrap_or(usize::MAX))
            }
        };
        let tags = self.tags.split_off(message * self.tag_bytes);
        let text = self.text.split_off(end);
        Self { text, text_layout, tags, tag_bytes: self.tag_bytes, status, pool: None }
    }

    /// Puts the results of the next part behind these. What was taken off is put back without copying.
    pub fn append(&mut self, mut next: Self) {
        if let (Layout::Offsets64(offsets), Layout::Offsets64(later)) =
            (&mut self.text_layout, &next.text_layout)
        {
            let end = offsets.last().copied().unwrap_or(0);
            offsets.to_mut().extend(later.iter().skip(1).map(|offset| offset + end));
        }
        self.text.unsplit(mem::take(&mut next.text));
        self.tags.unsplit(mem::take(&mut next.tags));
        self.status.append(&mut next.status);
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

impl Drop for OwnedOutput {
    fn drop(&mut self) {
        if let Some(pool) = &self.pool {
            pool.give(mem::take(&mut self.text));
        }
    }
}

impl fmt::Debug for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("Place(empty)"),
            Self::Packed { bytes, .. } => write!(f, "Place({} bytes)", bytes.len()),
            Self::Scattered(slots) => write!(f, "Place({} slots)", slots.len()),
        }
    }
}

impl fmt::Debug for OwnedOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (texts, tags) = (self.text.len(), self.tags.len());
        write!(f, "OwnedOutput({texts} bytes of text, {tags} bytes of tags)")
    }
}

fn has_seals(batch: &Batch<'_>) -> bool {
    match &batch.ops {
        Ops::All(op) => *op == Op::Seal,
        Ops::Each(ops) => ops.contains(&Op::Seal),
    }
}

fn zeros(bytes: usize) -> Result<BytesMut, BatchError> {
    // `zeroed` takes zeroed memory from the system, which costs nothing before it is touched, but ends
    // the process when there is none. Small requests are not refused.
    if bytes > SURELY_THERE_BYTES {
        Vec::<u8>::new().try_reserve_exact(bytes).map_err(|_| BatchError::NoMemory { bytes })?;
    }
    if bytes < ALIGNED_BYTES {
        return Ok(BytesMut::zeroed(bytes));
    }
    let mut zeros = BytesMut::zeroed(bytes + LINE - 1);
    zeros.advance(zeros.as_ptr().align_offset(LINE));
    zeros.truncate(bytes);
    Ok(zeros)
}

fn filled(len: usize, status: Status) -> Result<Vec<Status>, BatchError> {
    let mut statuses = Vec::new();
    statuses.try_reserve_exact(len).map_err(|_| BatchError::NoMemory { bytes: len })?;
    statuses.resize(len, status);
    Ok(statuses)
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

/// Results of as many bytes begin with a cache line: whole lines are stored past the caches.
const ALIGNED_BYTES: usize = 1 << 20;

/// Bytes of a cache line.
const LINE: usize = 64;

/// Memory that is asked for without asking first whether there is any.
const SURELY_THERE_BYTES: usize = 1 << 24;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Column, SessionId};

    const SESSION: SessionId = SessionId { slot: 0, generation: 1 };

    #[test]
    fn what_is_split_off_and_appended_again_is_what_it_was_and_where_it_was() {
        let (nonces, texts) = ([0; 12 * 9], [0; 90]);
        let nonce = || Column::fixed(&nonces, 12);
        let ragged = Column::offsets(&texts, (0..=9).map(|n| n * n).collect::<Vec<u32>>());
        for text in [Column::fixed(&texts, 10), ragged] {
            let batch = Batch::seal(9, SESSION, nonce(), text);
            let mut whole = OwnedOutput::for_batch(&batch).unwrap();
            whole.text.iter_mut().zip(0u8..).for_each(|(byte, at)| *byte = at);
            whole.tags.iter_mut().zip(100u8..).for_each(|(byte, at)| *byte = at);
            let texts: Vec<_> = (0..9).map(|message| whole.text_of(message).to_vec()).collect();
            let place = whole.text.as_ptr();
            let mut middle = whole.split_off(2);
            let last = middle.split_off(4);
            assert_eq!((whole.status.len(), middle.status.len(), last.status.len()), (2, 4, 3));
            assert_eq!(middle.text_of(0), texts[2]);
            assert_eq!(last.text_of(2), texts[8]);
            assert_eq!(last.tag_of(0)[0], 100 + 6 * 16);
            whole.append(middle);
            whole.append(last);
            assert_eq!(whole.text.as_ptr(), place);
            assert!((0..9).all(|message| whole.text_of(message) == texts[message]));
            assert_eq!((whole.status.len(), whole.tags.len()), (9, 9 * 16));
        }
    }

    #[test]
    fn wiped_results_are_zeros_and_of_no_message() {
        let batch =
            Batch::seal(3, SESSION, Column::fixed(&[0; 36], 12), Column::fixed(&[0; 30], 10));
        let mut output = OwnedOutput::for_batch(&batch).unwrap();
        output.text.fill(7);
        output.tags.fill(7);
        output.status.fill(Status::Ok);
        output.wipe();
        assert_eq!((output.text().0, output.tags()), (&[0; 30][..], &[0; 48][..]));
        assert_eq!(output.status(), [Status::NotProcessed; 3]);
    }

    #[test]
    fn large_results_begin_with_a_cache_line_those_in_used_memory_too() {
        let (nonces, texts) = (vec![0; 12 * 64], vec![0; 64 << 14]);
        let (nonces, texts) = (Column::fixed(&nonces, 12), Column::fixed(&texts, 1 << 14));
        let batch = Batch::seal(64, SESSION, nonces, texts);
        let pool = Arc::new(OutputPool::default());
        let mut places = vec![];
        for _ in 0..2 {
            let output = OwnedOutput::in_pool(&pool, &batch).unwrap();
            assert_eq!(output.text.len(), 1 << 20);
            places.push(output.text.as_ptr());
        }
        assert!(places[0].addr().is_multiple_of(LINE) && places[0] == places[1]);
    }

    #[test]
    fn the_memory_of_dropped_results_is_that_of_the_next_ones() {
        let (nonces, texts) = (vec![0; 12 * 64], vec![0; 64 * 1_024]);
        let (nonces, texts) = (Column::fixed(&nonces, 12), Column::fixed(&texts, 1_024));
        let batch = Batch::seal(64, SESSION, nonces, texts);
        let pool = Arc::new(OutputPool::default());
        let mut first = OwnedOutput::in_pool(&pool, &batch).unwrap();
        let place = first.text.as_ptr();
        let later = first.split_off(10);
        first.append(later);
        first.status.fill(Status::Ok);
        drop(first);
        let second = OwnedOutput::in_pool(&pool, &batch).unwrap();
        let third = OwnedOutput::in_pool(&pool, &batch).unwrap();
        assert_eq!(second.text.as_ptr(), place);
        assert_ne!(third.text.as_ptr(), place);
        assert_eq!(second.status, [Status::NotProcessed; 64]);
    }

    #[test]
    fn a_part_that_was_made_anew_is_copied_behind_the_others() {
        let (nonces, texts) = ([0; 12 * 4], [0; 40]);
        let batch = Batch::seal(4, SESSION, Column::fixed(&nonces, 12), Column::fixed(&texts, 10));
        let mut whole = OwnedOutput::for_batch(&batch).unwrap();
        drop(whole.split_off(1));
        let mut anew = OwnedOutput::for_batch(&batch.slice(1..4)).unwrap();
        anew.text.fill(7);
        whole.append(anew);
        assert_eq!((whole.text_of(0), whole.text_of(3)), (&[0; 10][..], &[7; 10][..]));
        assert_eq!((whole.text.len(), whole.status.len()), (40, 4));
    }
}
