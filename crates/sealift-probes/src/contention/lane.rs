//! A thread that encrypts from memory into memory.

use super::ContendedSpec;
use super::pool::{Pool, lock};
use crate::ArmError;
use crate::crew::{Done, Part};
use crate::memory::Memory;
use crate::random::Random;
use sealift::{
    Batch, Column, DeviceId, Engine, Key, Options, Output, Place, Session, Status, hazmat,
};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// What one operation encrypts.
pub(super) const CHUNK_BYTES: usize = 1 << 20;

/// Who encrypts, and AWS-LC beside it, whose ciphertexts under GCM are those of counter mode.
pub(super) struct Cipher {
    engine: Engine,
    session: Session,
    key: Key,
    checker: DeviceId,
    /// Nothing for counter mode, which is no device's.
    device: Option<DeviceId>,
}

impl Cipher {
    pub(super) fn new(name: &str, seed: u64) -> Result<Self, ArmError> {
        let (engine, device) = match name {
            "gcm" => {
                let engine = crate::open("cpu")?;
                let device = engine.device("cpu")?;
                (engine, Some(device))
            }
            "ctr" => (crate::open("library")?, None),
            other => {
                return Err(ArmError::Spec {
                    what: "cipher",
                    value: format!("{other:?}"),
                    right: "gcm or ctr".to_owned(),
                });
            }
        };
        let bytes = Random::new(seed, 0).bytes(16);
        let key = Key::new(&bytes).map_err(|error| ArmError::Spec {
            what: "a key",
            value: "16".to_owned(),
            right: error.to_string(),
        })?;
        let (session, checker) = (engine.session(key.clone())?, engine.device("library")?);
        Ok(Self { engine, session, key, checker, device })
    }

    /// Which instructions, for people.
    pub(super) fn detail(&self) -> String {
        let devices = self.engine.devices();
        let found = devices.filter(|(id, _)| Some(*id) == self.device).map(|(_, found)| found);
        let detail = found.map(|found| found.detail.as_str()).next();
        detail.map_or_else(|| "AES-128-CTR".to_owned(), |detail| format!("AES-128-GCM: {detail}"))
    }

    fn encrypt(&self, at: usize, from: &[u8], to: &mut [u8]) -> Result<[u8; 16], ArmError> {
        if let Some(device) = self.device {
            return self.seal(device, at, from, to);
        }
        // Where GCM begins, so that both have the same ciphertext.
        let mut counter = [0; 16];
        counter[..12].copy_from_slice(&nonce(at));
        counter[15] = 2;
        let done = hazmat::aes_ctr(&self.key, counter, from, to);
        done.map(|()| [0; 16]).map_err(|error| ArmError::Absent {
            what: "counter mode".to_owned(),
            reason: error.to_string(),
        })
    }

    fn seal(
        &self,
        on: DeviceId,
        at: usize,
        from: &[u8],
        to: &mut [u8],
    ) -> Result<[u8; 16], ArmError> {
        let (nonce, len) = (nonce(at), from.len());
        let (nonces, texts) = (Column::fixed(&nonce, 12), Column::fixed(from, len));
        let batch = Batch::seal(1, self.session.id(), nonces, texts);
        let (mut tag, mut status) = ([0; 16], [Status::NotProcessed]);
        let output = Output {
            text: Place::fixed(to, len),
            tags: Place::fixed(&mut tag, 16),
            status: &mut status,
        };
        self.engine.run(&batch, output, &Options { on: Some(on), ..Options::default() })?;
        Ok(tag)
    }
}

/// A thread's plaintexts and ciphertexts.
struct Texts {
    source: Memory,
    target: Memory,
}

/// A thread that encrypts.
pub(super) struct Lane {
    cipher: Cipher,
    texts: Arc<Mutex<Texts>>,
    chunks: usize,
    /// What AWS-LC makes of a chunk.
    truth: Memory,
    tag: [u8; 16],
    next: usize,
    busy: Arc<AtomicUsize>,
    pub(super) compared: u64,
}

impl Lane {
    /// Fills the texts and compares the ciphertext of each chunk.
    pub(super) fn new(
        cipher: Cipher,
        spec: &ContendedSpec,
        thread: usize,
        busy: &Arc<AtomicUsize>,
        go_on: &mut dyn FnMut() -> Result<(), ArmError>,
    ) -> Result<Self, ArmError> {
        let chunks = spec.text_bytes / CHUNK_BYTES;
        let make = || Texts::filled(chunks, (spec.seed, thread), &mut *go_on);
        let texts = TEXTS.get((chunks, spec.seed, thread), make)?;
        let mut lane = Self {
            cipher,
            texts,
            chunks,
            truth: Memory::zeroed(CHUNK_BYTES),
            tag: [0; 16],
            next: 0,
            busy: Arc::clone(busy),
            compared: 0,
        };
        for _ in 0..chunks {
            go_on()?;
            lane.go(1)?;
            lane.check()?;
        }
        Ok(lane)
    }

    /// Encrypts the next chunks.
    fn go(&mut self, times: usize) -> Result<(), ArmError> {
        let Texts { source, target } = &mut *lock(&self.texts);
        for _ in 0..times {
            let place = place(self.next);
            self.tag =
                self.cipher.encrypt(self.next, &source[place.clone()], &mut target[place])?;
            self.next = (self.next + 1) % self.chunks;
        }
        Ok(())
    }

    /// The chunk that was encrypted last.
    fn last(&self) -> usize {
        (self.next + self.chunks - 1) % self.chunks
    }

    #[cfg(test)]
    pub(super) fn spoil_source(&mut self) {
        let at = self.last() * CHUNK_BYTES + 777;
        lock(&self.texts).source[at] ^= 1;
    }
}

impl Part for Lane {
    /// Wipes what will be compared, a byte a page: what an earlier sample wrote would be right, too.
    fn ready(&mut self, times: usize) {
        let last = (self.next + times.max(1) - 1) % self.chunks;
        for byte in lock(&self.texts).target[place(last)].iter_mut().step_by(PAGE_BYTES) {
            *byte = !*byte;
        }
    }

    fn work(&mut self, times: usize) -> Result<Done, ArmError> {
        let _through = Through(Arc::clone(&self.busy));
        self.go(times)?;
        let operations = times as u64;
        Ok(Done { operations, bytes: operations * CHUNK_BYTES as u64 })
    }

    fn check(&mut self) -> Result<(), ArmError> {
        let last = self.last();
        let Self { cipher, texts, truth, tag, .. } = self;
        let Texts { source, target } = &*lock(texts);
        let right = cipher.seal(cipher.checker, last, &source[place(last)], truth)?;
        let is_tag_right = cipher.device.is_none() || right == *tag;
        if target[place(last)] != truth[..] || !is_tag_right {
            let what = format!("chunk {last} of {CHUNK_BYTES} bytes, or its tag, differs");
            return Err(ArmError::Wrong { device: cipher.detail(), what });
        }
        self.compared += 1;
        Ok(())
    }
}

/// Says that a lane is through, whatever became of it.
struct Through(Arc<AtomicUsize>);

impl Drop for Through {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Texts {
    fn filled(
        chunks: usize,
        (seed, thread): (u64, usize),
        go_on: &mut dyn FnMut() -> Result<(), ArmError>,
    ) -> Result<Self, ArmError> {
        let bytes = chunks * CHUNK_BYTES;
        let mut texts = Self { source: Memory::zeroed(bytes), target: Memory::zeroed(bytes) };
        let mut random = Random::new(seed, 1 + thread as u64);
        for chunk in texts.source.chunks_exact_mut(CHUNK_BYTES) {
            go_on()?;
            chunk.copy_from_slice(&random.bytes(CHUNK_BYTES));
        }
        Ok(texts)
    }
}

fn place(chunk: usize) -> Range<usize> {
    chunk * CHUNK_BYTES..(chunk + 1) * CHUNK_BYTES
}

fn nonce(at: usize) -> [u8; 12] {
    let mut nonce = [0; 12];
    nonce[..8].copy_from_slice(&(at as u64).to_le_bytes());
    nonce
}

static TEXTS: Pool<Texts> = Pool::new();

const PAGE_BYTES: usize = 4_096;
