//! A batch whose secrets can be exchanged while everything else stays where it is.

use std::sync::Arc;

use sealift_core::{
    Algorithm, Batch, Column, Key, KeySource, Keys, NonceRule, Op, Ops, Output, Place, SessionId,
    Status, Tags, Work,
};
use sealift_kernels::{Path, Schedule, Schedules, run};

use crate::common::Random;

/// What is done to messages of one length.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job {
    pub(crate) algorithm: Algorithm,
    pub(crate) path: Path,
    pub(crate) how: How,
    pub(crate) what: What,
    pub(crate) messages: usize,
    pub(crate) text_bytes: usize,
    pub(crate) key_bytes: usize,
    pub(crate) nonce_bytes: usize,
    pub(crate) aad_bytes: usize,
}

/// Where keys come from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum How {
    One,
    Each,
    Raw,
}

/// What becomes of the messages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum What {
    Sealed,
    Opened,
    /// Ciphertexts and tags that were made under no key.
    Refused,
}

/// A job's buffers.
pub(crate) struct Buffers {
    job: Job,
    keys: Vec<u8>,
    nonces: Vec<u8>,
    aad: Vec<u8>,
    texts: Vec<u8>,
    tags: Vec<u8>,
    pub(crate) output: Vec<u8>,
    made: Vec<u8>,
    pub(crate) status: Vec<Status>,
}

impl Buffers {
    pub(crate) fn new(job: Job) -> Buffers {
        let mut random = Random(50);
        let Job { messages, text_bytes, key_bytes, nonce_bytes, aad_bytes, .. } = job;
        let texts = random.bytes(messages * text_bytes);
        Buffers {
            job,
            keys: vec![0; messages * key_bytes],
            nonces: random.bytes(nonce_bytes * messages),
            aad: random.bytes(aad_bytes),
            output: texts.clone(),
            texts,
            tags: random.bytes(16 * messages),
            made: vec![0; 16 * messages],
            status: vec![Status::NotProcessed; messages],
        }
    }

    /// Other keys, and other plaintexts where there are any.
    pub(crate) fn exchange_secrets(&mut self, seed: u64) {
        let mut random = Random(seed);
        let same = self.job.how == How::One;
        let keys = random.bytes(self.job.key_bytes * if same { 1 } else { self.job.messages });
        self.keys.chunks_mut(keys.len()).for_each(|place| place.copy_from_slice(&keys));
        if self.job.what == What::Refused {
            return;
        }
        let texts = random.bytes(self.texts.len());
        self.texts.copy_from_slice(&texts);
        if self.job.what == What::Opened {
            self.work(Op::Seal, |work| work());
            self.texts.copy_from_slice(&self.output);
            self.tags.copy_from_slice(&self.made);
        }
    }

    /// Does the job, the call of the kernels inside `within`.
    pub(crate) fn done(&mut self, within: impl FnOnce(&mut dyn FnMut())) {
        self.work(if self.job.what == What::Sealed { Op::Seal } else { Op::Open }, within);
        let expected = if self.job.what == What::Refused { Status::AuthFailed } else { Status::Ok };
        assert!(self.status.iter().all(|status| *status == expected), "{:?}", self.job);
    }

    /// What may be known to anybody.
    pub(crate) fn public(&self) -> Vec<Vec<u8>> {
        let (ciphertext, tags) = match self.job.what {
            What::Sealed => (&self.output, &self.made),
            What::Opened | What::Refused => (&self.texts, &self.tags),
        };
        vec![ciphertext.clone(), tags.clone()]
    }

    fn work(&mut self, op: Op, within: impl FnOnce(&mut dyn FnMut())) {
        let Job { path, how, messages, text_bytes, key_bytes, nonce_bytes, .. } = self.job;
        let expand = |key| Schedule::from_raw(path, key).unwrap();
        let schedules: Vec<Schedule> = self.keys.chunks(key_bytes).map(expand).collect();
        let each: Vec<&Schedule> = schedules.iter().collect();
        let keys = match how {
            How::Raw => Keys::Raw(Column::fixed(&self.keys, key_bytes)),
            How::One | How::Each => Keys::Session(SESSION),
        };
        let text = Column::fixed(&self.texts, text_bytes);
        let batch = Batch {
            algorithm: self.job.algorithm,
            ops: Ops::All(op),
            tags: Tags::Apart(Column::fixed(&self.tags, 16)),
            aad: Column::Same((&self.aad).into()),
            nonce_rule: match self.job.algorithm {
                Algorithm::AesGcm => NonceRule::HazmatAnyLength,
                _ => NonceRule::Standard,
            },
            ..Batch::seal(messages, keys, Column::fixed(&self.nonces, nonce_bytes), text)
        };
        let output = Output {
            text: Place::fixed(&mut self.output, text_bytes),
            tags: Place::fixed(&mut self.made, 16),
            status: &mut self.status,
        };
        let mut work = Work::new(&batch, output, &NoKeys).unwrap();
        let schedules = match how {
            How::One => Schedules::One(&schedules[0]),
            How::Each => Schedules::Each(&each),
            How::Raw => Schedules::Raw,
        };
        within(&mut || run(path, &mut work, 0..messages, schedules));
    }
}

struct NoKeys;

impl KeySource for NoKeys {
    fn key(&self, _session: SessionId) -> Option<Arc<Key>> {
        None
    }
}

const SESSION: SessionId = SessionId { slot: 0, generation: 0 };
