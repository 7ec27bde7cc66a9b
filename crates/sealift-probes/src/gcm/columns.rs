//! What an arm runs, as columns with one value a message.

use crate::ArmError;
use sealift::{KeyLength, MAX_NONCE_BYTES, MAX_TEXT_BYTES, TagLength};

/// One device's piece of work.
#[derive(Clone, Debug)]
pub struct ArmSpec {
    /// The messages, in the order in which they run.
    pub columns: Columns,
    /// Under which keys.
    pub regime: Regime,
    /// Messages handed to the engine at once, at most. A batch has one tag length, so messages are
    /// parted by tag length first and then cut into batches.
    pub batch: usize,
    /// Threads that each run all messages, from memory of their own and under the same keys.
    pub threads: usize,
    /// Of keys, nonces, aads and texts.
    pub seed: u64,
}

/// What is done to a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Planned {
    /// Seal.
    Seal,
    /// Open, and it opens.
    Open,
    /// Open, and it must not: one bit of the tag is wrong.
    Bad,
    /// Compare the tag, and write no text.
    Verify,
}

/// Under which keys messages are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Regime {
    /// One installed key for each key length.
    One,
    /// So many installed keys, shared out over the key lengths by their messages, used in turn; as
    /// many as messages at most.
    Sessions(usize),
    /// A raw key for each message, expanded for it alone.
    Fresh,
}

/// The messages, one value each.
#[derive(Clone, Debug, Default)]
pub struct Columns {
    /// What is done.
    pub planned: Vec<Planned>,
    /// Key lengths in bytes.
    pub key_bytes: Vec<u8>,
    /// Nonce lengths in bytes.
    pub nonce_bytes: Vec<u8>,
    /// Lengths of the additional data in bytes.
    pub aad_bytes: Vec<u32>,
    /// Text lengths in bytes.
    pub text_bytes: Vec<u64>,
    /// Tag lengths in bytes.
    pub tag_bytes: Vec<u8>,
}

/// The lengths of a message, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Of the key.
    pub key_bytes: u8,
    /// Of the nonce.
    pub nonce_bytes: u8,
    /// Of the additional data.
    pub aad_bytes: u32,
    /// Of the text.
    pub text_bytes: u64,
    /// Of the tag.
    pub tag_bytes: u8,
}

impl Default for Shape {
    /// AES-128, a nonce of 12 bytes, a tag of 16, nothing else.
    fn default() -> Self {
        Self { key_bytes: 16, nonce_bytes: 12, aad_bytes: 0, text_bytes: 0, tag_bytes: 16 }
    }
}

impl Columns {
    /// So many messages of one shape, with the given operations in turn.
    #[must_use]
    pub fn cycle(messages: usize, planned: &[Planned], shape: Shape) -> Self {
        Self {
            planned: planned.iter().copied().cycle().take(messages).collect(),
            key_bytes: vec![shape.key_bytes; messages],
            nonce_bytes: vec![shape.nonce_bytes; messages],
            aad_bytes: vec![shape.aad_bytes; messages],
            text_bytes: vec![shape.text_bytes; messages],
            tag_bytes: vec![shape.tag_bytes; messages],
        }
    }

    /// Number of messages.
    #[must_use]
    pub fn len(&self) -> usize {
        self.planned.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.planned.is_empty()
    }
}

impl ArmSpec {
    /// Checks everything that would be wrong on any device.
    ///
    /// # Errors
    /// The first thing that is wrong, with what would be right.
    pub fn check(&self) -> Result<(), ArmError> {
        let columns = &self.columns;
        let messages = columns.len();
        ArmError::check("messages", messages, 1, usize::MAX)?;
        ArmError::check("batch", self.batch, 1, usize::MAX)?;
        ArmError::check("threads", self.threads, 1, crate::THREADS_MAX)?;
        for (what, found) in [
            ("entries in the column key_bytes", columns.key_bytes.len()),
            ("entries in the column nonce_bytes", columns.nonce_bytes.len()),
            ("entries in the column aad_bytes", columns.aad_bytes.len()),
            ("entries in the column text_bytes", columns.text_bytes.len()),
            ("entries in the column tag_bytes", columns.tag_bytes.len()),
        ] {
            ArmError::check(what, found, messages, messages)?;
        }
        self.check_lengths()?;
        if let Regime::Sessions(sessions) = self.regime {
            // More would not all be used, and fewer keys measured than were asked for.
            let most = messages.min(u32::MAX as usize);
            ArmError::check("sessions", sessions, self.key_lengths().len(), most)?;
        }
        Ok(())
    }

    /// The key lengths among the messages, with how many messages have each.
    pub(crate) fn key_lengths(&self) -> Vec<(u8, usize)> {
        let count = |bytes: &u8| self.columns.key_bytes.iter().filter(|b| *b == bytes).count();
        let counted = [16, 24, 32].into_iter().map(|bytes| (bytes, count(&bytes)));
        counted.filter(|(_, messages)| *messages > 0).collect()
    }

    fn check_lengths(&self) -> Result<(), ArmError> {
        let columns = &self.columns;
        for &bytes in &columns.key_bytes {
            let right = "16, 24 or 32 bytes";
            KeyLength::from_bytes(bytes.into()).map_err(|_| wrong("a key", bytes, right))?;
        }
        for &bytes in &columns.nonce_bytes {
            ArmError::check("bytes of a nonce", bytes.into(), 1, MAX_NONCE_BYTES)?;
        }
        for &bytes in &columns.tag_bytes {
            let right = "4, 8 or 12 to 16 bytes";
            TagLength::new(bytes.into()).map_err(|_| wrong("a tag", bytes, right))?;
        }
        match columns.text_bytes.iter().find(|bytes| **bytes > MAX_TEXT_BYTES) {
            Some(bytes) => Err(wrong("a text", bytes, &format!("at most {MAX_TEXT_BYTES} bytes"))),
            None => Ok(()),
        }
    }
}

fn wrong(what: &'static str, value: impl ToString, right: &str) -> ArmError {
    ArmError::Spec { what, value: value.to_string(), right: right.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(columns: Columns) -> ArmSpec {
        ArmSpec { columns, regime: Regime::One, batch: 1, threads: 1, seed: 1 }
    }

    fn error(change: impl FnOnce(&mut ArmSpec)) -> String {
        let mut spec = spec(Columns::cycle(2, &[Planned::Seal], Shape::default()));
        spec.check().unwrap();
        change(&mut spec);
        spec.check().unwrap_err().to_string()
    }

    #[test]
    fn a_wrong_spec_is_refused_with_what_would_be_right() {
        assert_eq!(error(|spec| spec.batch = 0), "batch of 0: right would be 1 or more");
        assert_eq!(error(|spec| spec.threads = 0), "threads of 0: right would be 1 to 1024");
        assert_eq!(
            error(|spec| spec.columns.tag_bytes[1] = 7),
            "a tag of 7: right would be 4, 8 or 12 to 16 bytes"
        );
        assert_eq!(
            error(|spec| spec.columns.key_bytes[0] = 17),
            "a key of 17: right would be 16, 24 or 32 bytes"
        );
        assert_eq!(
            error(|spec| spec.columns.nonce_bytes[1] = 0),
            "bytes of a nonce of 0: right would be 1 to 128"
        );
        assert_eq!(
            error(|spec| spec.columns.aad_bytes.clear()),
            "entries in the column aad_bytes of 0: right would be 2"
        );
        assert_eq!(
            error(|spec| {
                spec.columns.key_bytes[0] = 32;
                spec.regime = Regime::Sessions(1);
            }),
            "sessions of 1: right would be 2"
        );
        assert_eq!(
            error(|spec| spec.regime = Regime::Sessions(3)),
            "sessions of 3: right would be 1 to 2"
        );
        assert!(error(|spec| spec.columns.text_bytes[0] = u64::MAX).starts_with("a text of 1844"));
        assert!(spec(Columns::default()).check().is_err());
    }
}
