use super::lengths::by_chunks;
use super::{Batch, Column, Keys, MAX_TEXT_BYTES, NonceRule, Ops, Tags, Text};
use crate::{
    Algorithm, BatchError, Layout, MAX_NONCE_BYTES, NONCE_BYTES, NonceLengths, Op, TagLength,
};

/// What a device has to know of a batch to accept it and to quote for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// What is computed.
    pub algorithm: Algorithm,
    /// Number of messages.
    pub messages: usize,
    /// Bytes of all aad.
    pub aad_bytes: u64,
    /// Bytes of the longest aad.
    pub aad_bytes_max: usize,
    /// Bytes of all texts, without tags and aad.
    pub text_bytes: u64,
    /// Bytes of the longest text.
    pub text_bytes_max: usize,
    /// Bytes of all texts of the batch of which this is a piece, or the whole.
    pub whole_text_bytes: u64,
    /// Lengths of the nonces.
    pub nonce_lengths: NonceLengths,
    /// Length of the tags.
    pub tag_length: TagLength,
    /// Whether results overwrite the inputs.
    pub in_place: bool,
    /// Whether each message has a raw key, which is expanded for it.
    pub raw_keys: bool,
    /// Whether it opens or verifies all of its messages.
    pub opens: bool,
}

impl Shape {
    /// A batch that seals texts of one length in the usual way: nonces of 12 bytes, tags of 16, no aad.
    pub fn of_seals(messages: usize, text_bytes: usize) -> Self {
        let all_text_bytes = (messages as u64).saturating_mul(text_bytes as u64);
        Self {
            algorithm: Algorithm::AesGcm,
            messages,
            aad_bytes: 0,
            aad_bytes_max: 0,
            text_bytes: all_text_bytes,
            text_bytes_max: text_bytes,
            whole_text_bytes: all_text_bytes,
            nonce_lengths: NonceLengths::of(&[NONCE_BYTES]),
            tag_length: TagLength::FULL,
            in_place: false,
            raw_keys: false,
            opens: false,
        }
    }

    /// Bytes of all texts and all aad: what a [`Cost`](crate::Cost) counts.
    pub fn bytes(&self) -> u64 {
        self.text_bytes.saturating_add(self.aad_bytes)
    }
}

/// How one message's bytes divide into text and tag.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Geometry {
    /// What is done to it.
    pub(crate) op: Op,
    /// Bytes of plaintext or ciphertext; `None` when the input is shorter than the tag behind it.
    pub(crate) text: Option<usize>,
    /// Bytes that the output takes.
    pub(crate) output: usize,
}

impl Batch<'_> {
    /// Checks a batch with texts apart, for which a place is still to be found.
    ///
    /// # Errors
    /// The first thing that doesn't fit; texts in place.
    pub fn shape(&self) -> Result<Shape, BatchError> {
        if matches!(self.text, Text::InPlace) {
            return Err(BatchError::InPlaceSubmitted);
        }
        self.check(|_| 0, Some(0))
    }

    /// Checks the columns against each other and the standard. `slot` gives the output slot's
    /// length of a message, which is the text's when the batch is worked in place; `common_slot` is the one that all messages
    /// have, if they do.
    #[inline(always)]
    pub(crate) fn check(
        &self,
        slot: impl Fn(usize) -> usize,
        common_slot: Option<usize>,
    ) -> Result<Shape, BatchError> {
        self.check_keys()?;
        let nonce_lengths = self.check_nonces()?;
        if let Ops::Each(ops) = &self.ops {
            count("op", ops.len(), self.len)?;
        }
        let (aad_bytes, aad_bytes_max) = self.check_aad()?;
        self.check_tags()?;
        let (text_bytes, text_bytes_max) = self.check_texts(slot, common_slot)?;
        let in_place = matches!(self.text, Text::InPlace);
        let tag_length = self.tag_length;
        Ok(Shape {
            algorithm: self.algorithm,
            messages: self.len,
            aad_bytes,
            aad_bytes_max,
            text_bytes,
            text_bytes_max,
            whole_text_bytes: text_bytes,
            nonce_lengths,
            tag_length,
            in_place,
            raw_keys: matches!(self.keys, Keys::Raw(_)),
            opens: matches!(self.ops, Ops::All(Op::Open | Op::Verify)),
        })
    }

    /// Bytes of the tag behind each ciphertext; 0 where tags are apart.
    pub(crate) fn appended_bytes(&self) -> usize {
        if matches!(self.tags, Tags::Appended) { self.tag_length.bytes() } else { 0 }
    }

    /// How message `message` divides, given the length of what it has as input.
    #[inline(always)]
    pub(crate) fn geometry(&self, message: usize, slot: usize) -> Geometry {
        let op = self.ops.get(message);
        let bytes = match &self.text {
            Text::Apart(column) => column.get(message).len(),
            Text::InPlace => slot,
        };
        let text = self.text_bytes(op, bytes);
        let output = match op {
            Op::Seal => text.unwrap_or(0) + self.appended_bytes(),
            Op::Open => text.unwrap_or(0),
            Op::Verify => 0,
        };
        Geometry { op, text, output }
    }

    /// How long a text is, given the length of its input, or in place of its room; none when that is shorter than the
    /// tag it should end with.
    #[inline(always)]
    pub(crate) fn text_bytes(&self, op: Op, bytes: usize) -> Option<usize> {
        match (&self.text, op) {
            (Text::Apart(_), Op::Seal) => Some(bytes),
            _ => bytes.checked_sub(self.appended_bytes()),
        }
    }

    #[inline(always)]
    fn check_keys(&self) -> Result<(), BatchError> {
        match &self.keys {
            Keys::Session(_) => Ok(()),
            Keys::Sessions(sessions) => count("key", sessions.len(), self.len),
            Keys::Raw(column) => {
                let common = column.check("key", self.len)?;
                let (algorithm, right) = (self.algorithm, self.algorithm.key_bytes());
                let wrong = |message, bytes| BatchError::KeyLength { algorithm, message, bytes };
                // Not by `contains`, whose end is a branch that lengths at random mislead.
                let fits = |bytes| right.iter().fold(false, |any, one| any | (*one == bytes));
                each_length(column, common, self.len, fits, wrong)
            }
        }
    }

    #[inline(always)]
    fn check_nonces(&self) -> Result<NonceLengths, BatchError> {
        let common = self.nonce.check("nonce", self.len)?;
        let (algorithm, rule) = (self.algorithm, self.nonce_rule);
        let standard = algorithm.nonce_bytes();
        let allowed = match (rule, algorithm) {
            (NonceRule::Standard, _) | (NonceRule::Counted, Algorithm::AesGcm) => {
                standard..=standard
            }
            (NonceRule::HazmatAnyLength, Algorithm::AesGcm) => 1..=MAX_NONCE_BYTES,
            _ => return Err(BatchError::NonceRule { algorithm, rule }),
        };
        let mut lengths = NonceLengths::default();
        let fits = |bytes| {
            lengths.insert(bytes);
            allowed.contains(&bytes)
        };
        let wrong = |message, bytes| match algorithm {
            Algorithm::AesGcm => BatchError::NonceLength { message, bytes },
            _ => BatchError::AlgorithmNonceLength { algorithm, message, bytes },
        };
        each_length(&self.nonce, common, self.len, fits, wrong)?;
        Ok(lengths)
    }

    #[inline(always)]
    fn check_tags(&self) -> Result<(), BatchError> {
        if self.algorithm != Algorithm::AesGcm && self.tag_length != TagLength::FULL {
            let (algorithm, bytes) = (self.algorithm, self.tag_length.bytes());
            return Err(BatchError::AlgorithmTagLength { algorithm, bytes });
        }
        let Tags::Apart(column) = &self.tags else { return Ok(()) };
        if matches!(self.ops, Ops::All(Op::Seal)) {
            return Ok(());
        }
        let common = column.check("tag", self.len)?;
        let expected = self.tag_length.bytes();
        if let Some(bytes) = common {
            // One length for all: it counts as soon as one message has its tag compared.
            let compared = |&message: &usize| self.ops.get(message) != Op::Seal;
            return match (0..self.len).find(compared) {
                Some(message) if bytes != expected => {
                    Err(BatchError::TagLength { message, bytes, expected })
                }
                _ => Ok(()),
            };
        }
        for message in 0..self.len {
            let bytes = column.get(message).len();
            if bytes != expected && self.ops.get(message) != Op::Seal {
                return Err(BatchError::TagLength { message, bytes, expected });
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn check_aad(&self) -> Result<(u64, usize), BatchError> {
        let (mut total, mut longest) = (0u64, 0);
        if let Some(bytes) = self.aad.check("aad", self.len)? {
            return Ok(if self.len == 0 { (0, 0) } else { (times(bytes, self.len)?, bytes) });
        }
        by_chunks(self.len, &self.aad, &Column::Empty, |lengths, _| {
            for bytes in lengths {
                total = total.saturating_add(*bytes as u64);
                longest = longest.max(*bytes);
            }
        });
        Ok((total, longest))
    }

    #[inline(always)]
    fn check_texts(
        &self,
        slot: impl Fn(usize) -> usize,
        common_slot: Option<usize>,
    ) -> Result<(u64, usize), BatchError> {
        let common = match &self.text {
            Text::Apart(column) => column.check("text", self.len)?,
            Text::InPlace => common_slot,
        };
        // One operation stands for all where they take as much from the input.
        let op = match self.ops {
            Ops::All(op) => Some(op),
            Ops::Each(_) => Some(Op::Seal).filter(|_| self.appended_bytes() == 0),
        };
        if let (Some(common), Some(op)) = (common, op) {
            if self.len == 0 {
                return Ok((0, 0));
            }
            let bytes = self.judge_text(0, op, common)?;
            return Ok((times(bytes, self.len)?, bytes));
        }
        if let (Text::Apart(column), Some(op)) = (&self.text, op) {
            let behind = if op == Op::Seal { 0 } else { self.appended_bytes() };
            let (mut total, mut longest) = (0u64, 0);
            by_chunks(self.len, column, &Column::Empty, |lengths, _| {
                for length in lengths {
                    let bytes = length.saturating_sub(behind);
                    total = total.saturating_add(bytes as u64);
                    longest = bytes.max(longest);
                }
            });
            if longest as u64 <= MAX_TEXT_BYTES {
                return Ok((total, longest));
            }
        }
        (0..self.len).try_fold((0, 0), |(total, longest), message| {
            let bytes = self.check_text(message, slot(message))?;
            Ok((bytes as u64 + total, bytes.max(longest)))
        })
    }

    fn check_text(&self, message: usize, slot: usize) -> Result<usize, BatchError> {
        let bytes = match &self.text {
            Text::Apart(column) => column.get(message).len(),
            Text::InPlace => slot,
        };
        self.judge_text(message, self.ops.get(message), bytes)
    }

    /// The length of a message's text, given that of its input.
    #[inline(always)]
    fn judge_text(&self, message: usize, op: Op, bytes: usize) -> Result<usize, BatchError> {
        let text = self.text_bytes(op, bytes);
        match text {
            None if op == Op::Seal => Err(BatchError::NoRoom {
                column: "out",
                message,
                room: bytes,
                needed: self.tag_length.bytes(),
            }),
            Some(bytes) if bytes as u64 > MAX_TEXT_BYTES => {
                Err(BatchError::TextLength { message, bytes, limit: MAX_TEXT_BYTES })
            }
            _ => Ok(text.unwrap_or(0)),
        }
    }
}

impl Layout<'_> {
    /// Checks that no two messages share a byte.
    #[inline(always)]
    pub(crate) fn check_apart(
        &self,
        column: &'static str,
        messages: usize,
    ) -> Result<(), BatchError> {
        match *self {
            Self::Fixed { stride, len } if messages > 1 && stride < len => {
                Err(BatchError::OutputsOverlap { column, stride, len })
            }
            _ => Ok(()),
        }
    }
}

/// Bytes of `messages` times the same `bytes`.
fn times(bytes: usize, messages: usize) -> Result<u64, BatchError> {
    (bytes as u64).checked_mul(messages as u64).ok_or(BatchError::TooMuch { messages, bytes })
}

fn count(column: &'static str, found: usize, expected: usize) -> Result<(), BatchError> {
    if found == expected { Ok(()) } else { Err(BatchError::Count { column, found, expected }) }
}

/// Checks that the length of every message fits; all have the `common` one, where there is one.
#[inline(always)]
fn each_length(
    column: &Column<'_>,
    common: Option<usize>,
    messages: usize,
    mut fits: impl FnMut(usize) -> bool,
    wrong: impl Fn(usize, usize) -> BatchError,
) -> Result<(), BatchError> {
    match common {
        Some(bytes) if messages == 0 || fits(bytes) => return Ok(()),
        Some(bytes) => return Err(wrong(0, bytes)),
        None => {}
    }
    let mut do_fit = true;
    by_chunks(messages, column, &Column::Empty, |lengths, _| {
        for bytes in lengths {
            do_fit &= fits(*bytes);
        }
    });
    if do_fit {
        return Ok(());
    }
    let bytes_of = |message| column.get(message).len();
    let message = (0..messages).find(|message| !fits(bytes_of(*message))).unwrap_or(0);
    Err(wrong(message, bytes_of(message)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SessionId;

    const SESSION: SessionId = SessionId { slot: 0, generation: 1 };

    #[test]
    fn each_algorithm_takes_its_own_nonces_rule_keys_and_tags() {
        let batch = |algorithm, nonce: usize, key: usize| Batch {
            algorithm,
            keys: Keys::Raw(Column::Same(vec![1; key].into())),
            ..Batch::seal(1, SESSION, Column::Same(vec![0; nonce].into()), Column::Empty)
        };
        for (algorithm, key) in [(Algorithm::Xaes256Gcm, 32), (Algorithm::AesGcmSiv, 16)] {
            let right = batch(algorithm, algorithm.nonce_bytes(), key);
            assert_eq!(right.shape().unwrap().algorithm, algorithm);
            let wrong = [
                batch(algorithm, 13, key),
                batch(algorithm, algorithm.nonce_bytes(), 24),
                Batch { nonce_rule: NonceRule::Counted, ..right.clone() },
                Batch { nonce_rule: NonceRule::HazmatAnyLength, ..right.clone() },
                Batch { tag_length: TagLength::new(12).unwrap(), ..right },
            ];
            for wrong in wrong {
                let error = wrong.shape().unwrap_err().to_string();
                assert!(error.contains(algorithm.name()), "{error}");
            }
        }
    }
}
