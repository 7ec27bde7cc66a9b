//! Makes the messages of an arm: seeded bytes, and true ciphertexts from another device.

use super::lot::{Lot, SPOILT, column, layout};
use super::ring::{KeyOf, Ring};
use super::verify::{Checkers, Expected};
use super::{ArmSpec, Planned};
use crate::ArmError;
use crate::random::Random;
use sealift::{
    Algorithm, Batch, Column, Engine, Keys, NONCE_BYTES, NonceRule, Op, Ops, Stability, Status,
    TagLength, Tags, Text,
};

/// Makes batches out of a spec, one thread after the other.
pub(crate) struct Maker<'m> {
    pub(crate) engine: &'m Engine,
    pub(crate) spec: &'m ArmSpec,
    pub(crate) ring: &'m Ring,
    pub(crate) key_of: &'m KeyOf,
    pub(crate) checkers: &'m mut Checkers,
}

/// The bytes of some messages before they become a batch.
struct Raw {
    tag_length: TagLength,
    keys: Keys<'static>,
    nonce: Column<'static>,
    nonce_rule: NonceRule,
    aad: Column<'static>,
    text: Vec<u8>,
    text_lengths: Vec<usize>,
}

impl Maker<'_> {
    /// The batches that a thread runs: messages of one tag length together, at most `batch` each.
    pub(crate) fn members(&self) -> Vec<Vec<usize>> {
        let tag_bytes = &self.spec.columns.tag_bytes;
        let mut members = vec![];
        for length in TagLength::ALL {
            let same = |message: &usize| usize::from(tag_bytes[*message]) == length.bytes();
            let of_length: Vec<_> = (0..tag_bytes.len()).filter(same).collect();
            members.extend(of_length.chunks(self.spec.batch).map(<[usize]>::to_vec));
        }
        members
    }

    /// One batch, and what must come of it.
    pub(crate) fn lot(
        &mut self,
        members: Vec<usize>,
        random: &mut Random,
    ) -> Result<(Lot, Expected), ArmError> {
        let raw = self.raw(&members, random)?;
        let mut truth = self.truth(&raw, &members);
        self.checkers.seal(self.engine, &mut truth)?;
        let planned: Vec<_> = members.iter().map(|at| self.spec.columns.planned[*at]).collect();
        let expected = expect(&truth, &raw, &planned);
        let layout = layout(&raw.text_lengths);
        let batch = planned_batch(raw, &truth, &planned, random);
        let failures = planned.iter().filter(|planned| **planned == Planned::Bad).count();
        Ok((Lot::new(batch, members, layout, failures), expected))
    }

    fn raw(&self, members: &[usize], random: &mut Random) -> Result<Raw, ArmError> {
        let columns = &self.spec.columns;
        let nonces = lengths(members, |at| columns.nonce_bytes[at].into());
        let aads = lengths(members, |at| columns.aad_bytes[at] as usize);
        let text_lengths = text_lengths(members, &columns.text_bytes)?;
        let keys = match self.key_of {
            Some(key_of) => {
                self.ring.column(&members.iter().map(|at| key_of[*at]).collect::<Vec<_>>())
            }
            None => {
                let keys = lengths(members, |at| columns.key_bytes[at].into());
                Keys::Raw(drawn(&keys, random))
            }
        };
        let plain = nonces.iter().all(|bytes| *bytes == NONCE_BYTES);
        Ok(Raw {
            tag_length: tag_length(columns.tag_bytes[members[0]])?,
            keys,
            nonce: drawn(&nonces, random),
            nonce_rule: if plain { NonceRule::Standard } else { NonceRule::HazmatAnyLength },
            aad: drawn(&aads, random),
            text: random.bytes(text_lengths.iter().sum()),
            text_lengths,
        })
    }

    /// All messages as seals, to learn their ciphertexts and tags.
    fn truth(&self, raw: &Raw, members: &[usize]) -> Lot {
        let text = column(&raw.text, &raw.text_lengths);
        let batch = Batch {
            len: members.len(),
            algorithm: Algorithm::AesGcm,
            ops: Ops::All(Op::Seal),
            keys: raw.keys.clone(),
            nonce: raw.nonce.clone(),
            aad: raw.aad.clone(),
            text: Text::Apart(text),
            tags: Tags::Apart(Column::Empty),
            tag_length: raw.tag_length,
            nonce_rule: raw.nonce_rule,
            stability: Stability::Frozen,
        };
        Lot::new(batch, members.to_vec(), layout(&raw.text_lengths), 0)
    }
}

/// What the device must give: ciphertext and tag of seals, plaintext of opens, zeros of failures, and nothing where a tag
/// is only verified.
fn expect(truth: &Lot, raw: &Raw, planned: &[Planned]) -> Expected {
    let mut output = truth.output.to_vec();
    let mut status = vec![Status::Ok; planned.len()];
    let mut start = 0;
    for (message, len) in raw.text_lengths.iter().enumerate() {
        let range = start..start + len;
        start += len;
        match planned[message] {
            Planned::Seal => {}
            Planned::Open => output[range.clone()].copy_from_slice(&raw.text[range]),
            Planned::Bad => {
                output[range].fill(0);
                status[message] = Status::AuthFailed;
            }
            Planned::Verify => output[range].fill(SPOILT),
        }
    }
    Expected { output, tags: truth.tags.to_vec(), status }
}

/// The batch that is measured: opens get the true ciphertext and tag, or a tag with a wrong bit.
fn planned_batch(
    raw: Raw,
    truth: &Lot,
    planned: &[Planned],
    random: &mut Random,
) -> Batch<'static> {
    let tag_bytes = raw.tag_length.bytes();
    let (mut text, mut tags) = (raw.text, truth.tags.to_vec());
    let mut start = 0;
    for (message, len) in raw.text_lengths.iter().enumerate() {
        let range = start..start + len;
        start += len;
        if planned[message] != Planned::Seal {
            text[range.clone()].copy_from_slice(&truth.output[range]);
        }
        if planned[message] == Planned::Bad {
            let bit = random.next_u64() % (tag_bytes as u64 * 8);
            flip(&mut tags[message * tag_bytes..][..tag_bytes], bit);
        }
    }
    let sealing = planned.iter().all(|planned| *planned == Planned::Seal);
    Batch {
        ops: ops(planned),
        text: Text::Apart(column(&text, &raw.text_lengths)),
        tags: Tags::Apart(if sealing {
            Column::Empty
        } else {
            column(&tags, &vec![tag_bytes; planned.len()])
        }),
        ..truth.batch.clone()
    }
}

fn flip(tag: &mut [u8], bit: u64) {
    for (at, byte) in (0..).zip(tag) {
        if bit / 8 == at {
            *byte ^= 1 << (bit % 8);
        }
    }
}

fn ops(planned: &[Planned]) -> Ops<'static> {
    let op = |planned: &Planned| match planned {
        Planned::Seal => Op::Seal,
        Planned::Open | Planned::Bad => Op::Open,
        Planned::Verify => Op::Verify,
    };
    let ops: Vec<_> = planned.iter().map(op).collect();
    if ops.iter().all(|op| *op == ops[0]) { Ops::All(ops[0]) } else { Ops::Each(ops.into()) }
}

fn drawn(lengths: &[usize], random: &mut Random) -> Column<'static> {
    column(&random.bytes(lengths.iter().sum()), lengths)
}

fn lengths(members: &[usize], length: impl Fn(usize) -> usize) -> Vec<usize> {
    members.iter().map(|at| length(*at)).collect()
}

fn text_lengths(members: &[usize], text_bytes: &[u64]) -> Result<Vec<usize>, ArmError> {
    let length = |at: &usize| usize::try_from(text_bytes[*at]).ok();
    let lengths: Option<Vec<_>> = members.iter().map(length).collect();
    let total =
        |lengths: &Vec<usize>| lengths.iter().try_fold(0usize, |sum, len| sum.checked_add(*len));
    lengths.filter(|lengths| total(lengths).is_some()).ok_or_else(|| ArmError::Spec {
        what: "texts of a batch",
        value: "more bytes than this machine can address".to_owned(),
        right: "smaller batches or shorter texts".to_owned(),
    })
}

fn tag_length(bytes: u8) -> Result<TagLength, ArmError> {
    TagLength::new(bytes.into()).map_err(|error| ArmError::Spec {
        what: "a tag",
        value: bytes.to_string(),
        right: error.to_string(),
    })
}
