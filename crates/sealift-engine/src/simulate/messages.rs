//! A client's messages, with what must come back.

use super::random::Random;
use super::{Load, SimulationError};
use crate::{Engine, Session};
use sealift_core::{Batch, Column, Key, Op, Ops, OwnedOutput, SessionId, Status, Tags};

/// A session with its key.
pub(super) struct Known {
    session: Session,
    key: Key,
}

/// What must come back for one message.
pub(super) struct Expected {
    op: Op,
    status: Status,
    /// Bytes of the text that was sent.
    given_bytes: u64,
    text: Vec<u8>,
    tag: [u8; 16],
}

impl Known {
    pub(super) fn install(
        engine: &Engine,
        seed: u64,
        number: usize,
    ) -> Result<Self, SimulationError> {
        let mut random = Random::stream(!seed, number as u64);
        let mut key = [0; 16];
        key.chunks_mut(8).for_each(|half| half.copy_from_slice(&random.bits().to_le_bytes()));
        let key = Key::Aes128(key);
        let session = engine.session(key.clone()).map_err(SimulationError::Engine)?;
        Ok(Self { session, key })
    }
}

/// Draws batch number `sent` of a client, of `count` messages.
pub(super) fn batch(
    load: &Load,
    sessions: &[Known],
    (client, sent): (u32, u64),
    count: usize,
    random: &mut Random,
) -> (Batch<'static>, Vec<Expected>) {
    let mut columns = Columns::default();
    for message in 0..count {
        let at = usize::try_from(random.below(sessions.len() as u64)).unwrap_or(0);
        columns.push(load, &sessions[at], nonce(client, sent, message), random);
    }
    columns.into_batch()
}

/// How many messages did not come back as they should.
pub(super) fn count_wrong(output: &OwnedOutput, expected: &[Expected]) -> u64 {
    if output.status().len() != expected.len() {
        return expected.len() as u64;
    }
    let wrong = (0..expected.len()).filter(|&at| !expected[at].came_back(output, at));
    wrong.count() as u64
}

impl Expected {
    pub(super) fn given_bytes(&self) -> u64 {
        self.given_bytes
    }

    fn came_back(&self, output: &OwnedOutput, message: usize) -> bool {
        output.status()[message] == self.status
            && output.text_of(message) == self.text
            && (self.op != Op::Seal || output.tag_of(message) == self.tag)
    }
}

#[derive(Default)]
struct Columns {
    sessions: Vec<SessionId>,
    ops: Vec<Op>,
    nonces: Vec<u8>,
    aads: (Vec<u8>, Vec<u64>),
    texts: (Vec<u8>, Vec<u64>),
    tags: Vec<u8>,
    expected: Vec<Expected>,
}

impl Columns {
    fn push(&mut self, load: &Load, known: &Known, nonce: [u8; 12], random: &mut Random) {
        let shapes = &load.shapes;
        let aad = bytes(shapes.aad_bytes.whole(0, random), random);
        let plain = bytes(shapes.text_bytes.whole(0, random), random);
        let mut sealed = plain.clone();
        let tag = load.cipher.seal(&known.key, &nonce, &aad, &mut sealed);
        let given_bytes = plain.len() as u64;
        let kind = random.unit();
        let op = match (kind < shapes.opened, kind < shapes.opened + shapes.verified) {
            (true, _) => Op::Open,
            (false, true) => Op::Verify,
            (false, false) => Op::Seal,
        };
        self.sessions.push(known.session.id());
        self.ops.push(op);
        self.nonces.extend(nonce);
        append(&mut self.aads, &aad);
        let (given, shown, expected) = if op == Op::Seal {
            (plain, [0; 16], Expected { op, status: Status::Ok, given_bytes, text: sealed, tag })
        } else {
            let tampered = random.happens(shapes.tampered);
            let (given, shown) = if tampered { spoil(sealed, tag, random) } else { (sealed, tag) };
            let status = if tampered { Status::AuthFailed } else { Status::Ok };
            let text = match (op, tampered) {
                (Op::Open, false) => plain,
                (Op::Open, true) => vec![0; plain.len()],
                _ => vec![],
            };
            (given, shown, Expected { op, status, given_bytes, text, tag })
        };
        append(&mut self.texts, &given);
        self.tags.extend(shown);
        self.expected.push(expected);
    }

    fn into_batch(self) -> (Batch<'static>, Vec<Expected>) {
        let column = |(bytes, mut ends): (Vec<u8>, Vec<u64>)| {
            ends.insert(0, 0);
            Column::offsets64(bytes, ends)
        };
        let (count, nonces) = (self.ops.len(), Column::fixed(self.nonces, 12));
        let batch = Batch {
            ops: Ops::Each(self.ops.into()),
            aad: column(self.aads),
            tags: Tags::Apart(Column::fixed(self.tags, 16)),
            ..Batch::seal(count, self.sessions, nonces, column(self.texts))
        };
        (batch, self.expected)
    }
}

fn append((bytes, ends): &mut (Vec<u8>, Vec<u64>), more: &[u8]) {
    bytes.extend(more);
    ends.push(bytes.len() as u64);
}

fn bytes(count: usize, random: &mut Random) -> Vec<u8> {
    let mut bytes = vec![0; count];
    for chunk in bytes.chunks_mut(8) {
        chunk.copy_from_slice(&random.bits().to_le_bytes()[..chunk.len()]);
    }
    bytes
}

/// Flips a bit of the ciphertext or of the tag.
fn spoil(mut sealed: Vec<u8>, mut tag: [u8; 16], random: &mut Random) -> (Vec<u8>, [u8; 16]) {
    let bit = random.below(8 * (sealed.len() + tag.len()) as u64);
    let (at, mask) = (usize::try_from(bit / 8).unwrap_or(0), 1 << (bit % 8));
    match sealed.len() {
        texts if at < texts => sealed[at] ^= mask,
        texts => tag[at - texts] ^= mask,
    }
    (sealed, tag)
}

/// One that no other message of the load has.
fn nonce(client: u32, sent: u64, message: usize) -> [u8; 12] {
    let number = u128::from(client) << 64 | u128::from(sent) << 24 | message as u128;
    let mut nonce = [0; 12];
    nonce.copy_from_slice(&number.to_be_bytes()[4..]);
    nonce
}
