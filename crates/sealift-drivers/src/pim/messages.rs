//! What a batch brings, copied once, and where results go.

use dpu_sim::kernels::many::{Message, Operation};
use sealift_core::{
    DeviceError, Key, MAX_TAG_BYTES, Op, SessionId, Slot, SlotTag, SlotText, Status, Work,
};
use sealift_kernels::copy::copy;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

/// Messages that are worked together, in memory of their own: what somebody else may rewrite was read once.
pub(super) struct Round {
    pub(super) items: Vec<Item>,
    /// The first message of the batch that is not in it.
    pub(super) end: usize,
    pub(super) keys: Vec<Arc<Key>>,
    bytes: Zeroizing<Vec<u8>>,
}

/// A message of a round.
pub(super) struct Item {
    /// Its number in the batch.
    pub(super) message: usize,
    pub(super) operation: Operation,
    /// Its number among the round's keys.
    pub(super) key: usize,
    pub(super) nonce: Range<usize>,
    pub(super) aad: Range<usize>,
    pub(super) text: Range<usize>,
    expected: [u8; MAX_TAG_BYTES],
}

impl Round {
    /// Takes messages from one on, as many as are worked together. One that is shorter than its tag fails here.
    pub(super) fn take(
        work: &mut Work<'_>,
        from: usize,
        keys: &mut KeysOf,
        device: &str,
    ) -> Result<Self, DeviceError> {
        let (end, room) = extent(work, from);
        let mut bytes = Zeroizing::new(vec![0; room]);
        let mut items = Vec::with_capacity(end - from);
        keys.begin();
        let mut at = 0;
        for message in from..end {
            if matches!(work.slot(message).tag, SlotTag::Missing) {
                fail(work.slot(message).text);
                work.set_status(message, Status::AuthFailed);
                continue;
            }
            let key = keys.of(work, message, device)?;
            let item = Item::copied(work.slot(message), (message, key), &mut bytes, &mut at);
            items.push(item);
        }
        Ok(Self { items, end, keys: keys.used(), bytes })
    }

    /// What the kernel for many keys is given of a message, whose key it knows by this number.
    pub(super) fn message(&self, item: &Item, key: usize) -> Message<'_> {
        let [nonce, aad, text] =
            [&item.nonce, &item.aad, &item.text].map(|range| self.bytes(range));
        Message { operation: item.operation, key, nonce, aad, text }
    }

    pub(super) fn bytes(&self, range: &Range<usize>) -> &[u8] {
        &self.bytes[range.clone()]
    }
}

/// Where a round that begins here ends, and how many bytes it has.
fn extent(work: &mut Work<'_>, from: usize) -> (usize, usize) {
    let mut room = 0;
    for message in from..work.len() {
        let slot = work.slot(message);
        let more = slot.nonce.len() + slot.aad.len() + text(&slot.text).len();
        if message > from && room + more > ROUND_BYTES {
            return (message, room);
        }
        room += more;
    }
    (work.len(), room)
}

impl Item {
    fn copied(
        slot: Slot<'_>,
        (message, key): (usize, usize),
        bytes: &mut [u8],
        at: &mut usize,
    ) -> Self {
        let mut put = |part: &[u8]| {
            let range = *at..*at + part.len();
            *at = range.end;
            copy(&mut bytes[range.clone()], part);
            range
        };
        let mut expected = [0; MAX_TAG_BYTES];
        if let SlotTag::Check(tag) = slot.tag {
            copy(&mut expected[..tag.len()], tag);
        }
        Self {
            message,
            operation: match slot.op {
                Op::Seal => Operation::Seal,
                Op::Open => Operation::Open,
                Op::Verify => Operation::Verify,
            },
            key,
            nonce: put(slot.nonce),
            aad: put(slot.aad),
            text: put(text(&slot.text)),
            expected,
        }
    }

    /// Gives out what DPUs made of the message: its text and tag, or zeros if that is not the tag it should have.
    pub(super) fn give(&self, work: &mut Work<'_>, made: &[u8], tag: &[u8; MAX_TAG_BYTES]) {
        let slot = work.slot(self.message);
        let status = match (slot.text, slot.tag) {
            (SlotText::Read(_), SlotTag::Write(_)) => Status::NotProcessed,
            (text, SlotTag::Write(place)) => {
                write(text, made);
                let bytes = place.len();
                copy(place, &tag[..bytes]);
                Status::Ok
            }
            (text, SlotTag::Check(given)) => {
                let bytes = given.len();
                if bool::from(self.expected[..bytes].ct_eq(&tag[..bytes])) {
                    write(text, made);
                    Status::Ok
                } else {
                    fail(text);
                    Status::AuthFailed
                }
            }
            (text, SlotTag::Missing) => {
                fail(text);
                Status::AuthFailed
            }
        };
        work.set_status(self.message, status);
    }
}

fn text<'s>(text: &'s SlotText<'_>) -> &'s [u8] {
    match text {
        SlotText::Apart { input, .. } => input,
        SlotText::InPlace(text) => text,
        SlotText::Read(text) => text,
    }
}

fn write(text: SlotText<'_>, made: &[u8]) {
    match text {
        SlotText::Apart { output, .. } => copy(output, made),
        SlotText::InPlace(text) => copy(text, made),
        SlotText::Read(_) => {}
    }
}

fn fail(text: SlotText<'_>) {
    match text {
        SlotText::Apart { output, .. } => output.fill(0),
        SlotText::InPlace(text) => text.fill(0),
        SlotText::Read(_) => {}
    }
}

/// The keys of a batch, each asked for once a round.
#[derive(Default)]
pub(super) struct KeysOf {
    known: HashMap<SessionId, usize>,
    used: Vec<Arc<Key>>,
}

impl KeysOf {
    fn begin(&mut self) {
        self.known.clear();
        self.used.clear();
    }

    /// The number of a message's key.
    fn of(&mut self, work: &Work<'_>, message: usize, device: &str) -> Result<usize, DeviceError> {
        let next = self.used.len();
        let key = match work.batch().session_of(message) {
            Some(session) => {
                if let Some(known) = self.known.get(&session) {
                    return Ok(*known);
                }
                self.known.insert(session, next);
                work.key(session, device)?
            }
            None => {
                let raw = Key::new(work.batch().raw_key(message).unwrap_or_default());
                Arc::new(raw.map_err(|error| DeviceError::Failed {
                    device: device.to_owned(),
                    reason: error.to_string(),
                })?)
            }
        };
        self.used.push(key);
        Ok(next)
    }

    fn used(&mut self) -> Vec<Arc<Key>> {
        std::mem::take(&mut self.used)
    }
}

/// Bytes of messages that are worked together, so that any of their spreadings fits the DPUs; a longer message is
/// worked alone.
const ROUND_BYTES: usize = 8 << 20;
