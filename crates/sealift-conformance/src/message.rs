//! Messages, what must become of them, and the keys behind them.

use sealift_core::{Algorithm, Device, Key, KeySource, Op, SessionId, Status, TagLength};
use std::collections::HashSet;
use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// One message of a group.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) op: Op,
    /// Which key of the group's ring.
    pub(crate) key: usize,
    pub(crate) nonce: Vec<u8>,
    pub(crate) aad: Vec<u8>,
    /// Plaintext of a seal, ciphertext of an open or verify.
    pub(crate) text: Vec<u8>,
    /// The tag to check; empty for a seal.
    pub(crate) tag: Vec<u8>,
}

/// What must become of a message.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Truth {
    pub(crate) status: Status,
    /// What is written: ciphertext, plaintext, zeros, nothing.
    pub(crate) text: Vec<u8>,
    /// The tag that a seal writes.
    pub(crate) tag: Vec<u8>,
}

impl Truth {
    /// A message that opens.
    pub(crate) fn opened(text: &[u8]) -> Self {
        Self { status: Status::Ok, text: text.to_vec(), tag: vec![] }
    }

    /// A message that is sealed.
    pub(crate) fn sealed(text: &[u8], tag: &[u8]) -> Self {
        Self { status: Status::Ok, text: text.to_vec(), tag: tag.to_vec() }
    }

    /// A message whose tag is right and that is only verified.
    pub(crate) fn verified() -> Self {
        Self::opened(&[])
    }

    /// A message that does not open: as many zeros as it would have written bytes.
    pub(crate) fn failed(message: &Message) -> Self {
        let zeros = if message.op == Op::Open { message.text.len() } else { 0 };
        Self { status: Status::AuthFailed, text: vec![0; zeros], tag: vec![] }
    }
}

impl fmt::Debug for Truth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {} tag {}", self.status, Hex(&self.text), Hex(&self.tag))
    }
}

/// Messages that go into one batch, with what must become of them.
pub(crate) struct Group {
    pub(crate) ring: Arc<Ring>,
    pub(crate) tag_length: TagLength,
    pub(crate) messages: Vec<Message>,
    /// One for each message.
    pub(crate) truths: Vec<Truth>,
}

impl Group {
    /// The group that opens what this group seals.
    pub(crate) fn opening(&self) -> Self {
        let open = |(message, sealed): (&Message, &Truth)| {
            let opened = Truth::opened(&message.text);
            let (text, tag) = (sealed.text.clone(), sealed.tag.clone());
            (Message { op: Op::Open, text, tag, ..message.clone() }, opened)
        };
        let (messages, truths) = self.messages.iter().zip(&self.truths).map(open).unzip();
        Self { ring: self.ring.clone(), tag_length: self.tag_length, messages, truths }
    }
}

/// Cuts a group into batches of so many messages; one of none stays one.
pub(crate) fn parts(group: &Group, messages_max: usize) -> impl Iterator<Item = Group> {
    let len = group.messages.len();
    (0..len.max(1)).step_by(messages_max).map(move |start| {
        let part = start..start.saturating_add(messages_max).min(len);
        Group {
            ring: group.ring.clone(),
            tag_length: group.tag_length,
            messages: group.messages[part.clone()].to_vec(),
            truths: group.truths[part].to_vec(),
        }
    })
}

/// Keys and the sessions that name them; keys can be taken out.
#[derive(Debug)]
pub(crate) struct Ring {
    keys: Vec<Key>,
    /// From one session's slot to the next one's.
    stride: u32,
    generation: u32,
    gone: Mutex<HashSet<u32>>,
}

impl Ring {
    /// A session for each key, different from those of every other ring.
    pub(crate) fn new(keys: Vec<Key>) -> Arc<Self> {
        Self::spread(keys, 1)
    }

    /// With slots far from each other, which meet where a device keeps few.
    pub(crate) fn spread(keys: Vec<Key>, stride: u32) -> Arc<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let generation = NEXT.fetch_add(1, Ordering::Relaxed);
        Arc::new(Self { keys, stride, generation, gone: Mutex::default() })
    }

    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    /// What the keys are for: all for the same.
    pub(crate) fn algorithm(&self) -> Algorithm {
        self.keys.first().map_or(Algorithm::AesGcm, Key::algorithm)
    }

    pub(crate) fn session(&self, key: usize) -> SessionId {
        let slot = u32::try_from(key).map_or(u32::MAX, |key| key * self.stride);
        SessionId { slot, generation: self.generation }
    }

    pub(crate) fn key_bytes(&self, key: usize) -> &[u8] {
        self.keys[key].as_bytes()
    }

    /// Takes a key out and has the device forget it, as an engine does when a session ends.
    pub(crate) fn retire(&self, key: usize, device: &dyn Device) {
        let session = self.session(key);
        self.gone.lock().unwrap_or_else(PoisonError::into_inner).insert(session.slot);
        device.retire(session);
    }

    /// Has the device forget all.
    pub(crate) fn retire_all(&self, device: &dyn Device) {
        (0..self.len()).for_each(|key| self.retire(key, device));
    }
}

impl KeySource for Ring {
    fn key(&self, session: SessionId) -> Option<Arc<Key>> {
        let gone = self.gone.lock().unwrap_or_else(PoisonError::into_inner);
        if session.generation != self.generation || gone.contains(&session.slot) {
            return None;
        }
        self.keys.get((session.slot / self.stride) as usize).cloned().map(Arc::new)
    }
}

/// The first bytes of something, for failures.
pub(crate) struct Hex<'a>(pub(crate) &'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} B ", self.0.len())?;
        self.0.iter().take(24).try_for_each(|byte| write!(f, "{byte:02x}"))?;
        f.write_str(if self.0.len() > 24 { "…" } else { "" })
    }
}
