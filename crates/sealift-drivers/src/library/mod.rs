//! AWS-LC's `EVP_AEAD`: a good general library, message by message.
//!
//! The honest peer of our own kernels, and what serves where they don't run.

mod ffi;

use crate::keys::{Expander, KeyTable, Lent};
use crate::workers::{self, Crew, Software};
use ffi::{Aead, Xaes};
use sealift_core::{
    Algorithm, Capabilities, Context, Device, DeviceError, Driver, Key, Keys, OpenError, Probe,
    Role, SessionId, Slot, SlotTag, SlotText, Slots, Spec, Stability, Status, TagLength, Work,
};
use sealift_kernels::{copy::copy, stack::wipe_after};
use std::ops::Range;
use std::sync::Arc;
use zeroize::Zeroizing;

/// The driver `library`.
#[derive(Debug)]
pub struct Library;

impl Driver for Library {
    fn name(&self) -> &'static str {
        "library"
    }

    fn summary(&self) -> &'static str {
        "AWS-LC, a general library, message by message (workers=, cores=)"
    }

    fn probe(&self) -> Probe {
        Probe::Present { role: Role::Real, detail: detail() }
    }

    fn open(&self, spec: &Spec, context: &Context) -> Result<Arc<dyn Device>, OpenError> {
        workers::only(spec, &["workers", "cores"])?;
        let algorithms = Algorithm::ALL.to_vec();
        let capabilities = workers::capabilities(spec, self.name(), Role::Real, detail());
        let capabilities = Capabilities { algorithms, ..capabilities };
        let software = AwsLc { name: spec.to_string(), contexts: KeyTable::new() };
        Ok(workers::open(software, capabilities, Crew::of(spec)?, context))
    }
}

/// A session used with several tag lengths keeps the context of the last.
#[derive(Debug)]
struct AwsLc {
    name: String,
    contexts: KeyTable<Cipher>,
}

impl Software for AwsLc {
    fn run(&self, work: &mut Work<'_>) -> Result<(), DeviceError> {
        wipe_after(|| self.messages(work))
    }

    fn retire(&self, session: SessionId) {
        self.contexts.retire(session);
    }
}

impl AwsLc {
    fn messages(&self, work: &mut Work<'_>) -> Result<(), DeviceError> {
        let batch = work.batch();
        let expander = Contexts { device: &self.name, tag_length: batch.tag_length };
        let stability = batch.stability;
        let step = |work: &mut Work<'_>, range: Range<usize>, lent: Lent<'_, Cipher>| {
            let mut slots = work.slots();
            match lent {
                Lent::One(cipher) => range.into_iter().try_for_each(|i| {
                    let worked = cipher.process(slots.slot(i), stability);
                    self.record(&mut slots, i, worked)
                }),
                Lent::Each(each) => range.zip(each).try_for_each(|(i, cipher)| {
                    let worked = cipher.process(slots.slot(i), stability);
                    self.record(&mut slots, i, worked)
                }),
            }
        };
        match &batch.keys {
            Keys::Session(session) => self.contexts.run_one(*session, work, &expander, step),
            Keys::Sessions(sessions) => self.contexts.run_each(sessions, work, &expander, step),
            Keys::Raw(keys) => {
                // One room for the keys of all messages, one after the other.
                let (mut room, mut slots) = (Aead::new(), work.slots());
                (0..batch.len).try_for_each(|i| {
                    let (raw, slot) = (keys.get(i), slots.slot(i));
                    let worked = match batch.algorithm {
                        Algorithm::Xaes256Gcm => {
                            Xaes::new(raw).and_then(|xaes| process_xaes(&xaes, slot, stability))
                        }
                        algorithm => room
                            .set(algorithm, raw, batch.tag_length)
                            .and_then(|()| process(&room, slot, stability)),
                    };
                    self.record(&mut slots, i, worked)
                })
            }
        }
    }

    /// Writes down what became of a message.
    #[inline(always)]
    fn record(
        &self,
        slots: &mut Slots<'_, '_>,
        message: usize,
        worked: Result<Status, ffi::Refused>,
    ) -> Result<(), DeviceError> {
        let status = worked.map_err(|ffi::Refused| {
            self.failed(format!("AWS-LC did not work message {message}"))
        })?;
        slots.set_status(message, status);
        Ok(())
    }

    #[cold]
    fn failed(&self, reason: String) -> DeviceError {
        DeviceError::Failed { device: self.name.clone(), reason }
    }
}

/// Makes contexts for the tag length of a batch.
struct Contexts<'a> {
    device: &'a str,
    tag_length: TagLength,
}

impl Expander for Contexts<'_> {
    type Expanded = Cipher;

    fn device(&self) -> &str {
        self.device
    }

    fn expand(&self, key: &Key) -> Result<Cipher, DeviceError> {
        Cipher::new(key, self.tag_length).map_err(|ffi::Refused| DeviceError::Failed {
            device: self.device.to_owned(),
            reason: NO_CONTEXT.to_owned(),
        })
    }

    fn serves(&self, cipher: &Cipher) -> bool {
        match cipher {
            Cipher::Aead(aead) => aead.tag_length() == Some(self.tag_length),
            Cipher::Xaes(_) => true,
        }
    }
}

/// An expanded key, behind a pointer, so that a move leaves no copy.
#[derive(Debug)]
enum Cipher {
    Aead(Box<Aead>),
    /// For XAES-256-GCM, which AWS-LC has not: its blocks derive each message's key.
    Xaes(Xaes),
}

impl Cipher {
    fn new(key: &Key, tag_length: TagLength) -> Result<Self, ffi::Refused> {
        match key {
            Key::Xaes256(bytes) => Xaes::new(bytes).map(Self::Xaes),
            _ => {
                let mut aead = Box::new(Aead::new());
                aead.set(key.algorithm(), key.as_bytes(), tag_length)?;
                Ok(Self::Aead(aead))
            }
        }
    }

    /// Works one message.
    #[inline(always)]
    fn process(&self, slot: Slot<'_>, stability: Stability) -> Result<Status, ffi::Refused> {
        match self {
            Self::Aead(aead) => process(aead, slot, stability),
            Self::Xaes(xaes) => process_xaes(xaes, slot, stability),
        }
    }
}

/// One key without a device around it, for tags of 16 bytes.
#[derive(Debug)]
pub(crate) struct OneKey(Cipher);

impl OneKey {
    pub(crate) fn new(key: &Key) -> Result<Self, OpenError> {
        let device = || "library".to_owned();
        let none = |ffi::Refused| OpenError::Absent { device: device(), reason: NO_CONTEXT.into() };
        wipe_after(|| Cipher::new(key, TagLength::FULL)).map(Self).map_err(none)
    }

    pub(crate) fn process(
        &self,
        slot: Slot<'_>,
        stability: Stability,
    ) -> Result<Status, DeviceError> {
        let worked = wipe_after(|| self.0.process(slot, stability));
        worked.map_err(|ffi::Refused| DeviceError::Failed {
            device: "library".to_owned(),
            reason: "AWS-LC did not seal the message".to_owned(),
        })
    }
}

const NO_CONTEXT: &str = "AWS-LC did not expand the key";

/// Inlined, so that the parts of a slot stay in registers and are not written to memory and read again.
#[inline(always)]
fn process(aead: &Aead, slot: Slot<'_>, stability: Stability) -> Result<Status, ffi::Refused> {
    let Slot { nonce, aad, text, tag, .. } = slot;
    match (text, tag) {
        (SlotText::Apart { input, output }, SlotTag::Write(tag)) => {
            aead.seal(nonce, aad, input, output, tag)?;
        }
        (SlotText::InPlace(text), SlotTag::Write(tag)) => {
            aead.seal_in_place(nonce, aad, text, tag)?;
        }
        (text, SlotTag::Check(tag)) => {
            let is_right = match stability {
                Stability::Frozen => open(aead, nonce, aad, text, tag),
                Stability::Shared => open_copied(aead, nonce, aad, text, tag),
            };
            return Ok(if is_right { Status::Ok } else { Status::AuthFailed });
        }
        (text, SlotTag::Missing) => {
            zero(text);
            return Ok(Status::AuthFailed);
        }
        (SlotText::Read(_), SlotTag::Write(_)) => return Ok(Status::NotProcessed),
    }
    Ok(Status::Ok)
}

/// Derives the key of a message and works it.
fn process_xaes(xaes: &Xaes, slot: Slot<'_>, stability: Stability) -> Result<Status, ffi::Refused> {
    let Some((head, nonce)) = slot.nonce.split_first_chunk() else {
        return Ok(Status::NotProcessed);
    };
    let mut derived = Aead::new();
    derived.set(Algorithm::AesGcm, xaes.derive(head).as_bytes(), TagLength::FULL)?;
    process(&derived, Slot { nonce, ..slot }, stability)
}

#[inline(always)]
fn open(aead: &Aead, nonce: &[u8], aad: &[u8], text: SlotText<'_>, tag: &[u8]) -> bool {
    match text {
        SlotText::Apart { input, output } => aead.open(nonce, aad, input, output, tag),
        SlotText::InPlace(text) => aead.open_in_place(nonce, aad, text, tag),
        SlotText::Read(text) => aead.open(nonce, aad, text, &mut scratch(text.len()), tag),
    }
}

/// Opens in a copy that nobody else writes to. AWS-LC hashes a stretch of ciphertext and then reads it
/// again to decrypt; were it rewritten in between, unverified plaintext would come out as verified.
fn open_copied(aead: &Aead, nonce: &[u8], aad: &[u8], text: SlotText<'_>, tag: &[u8]) -> bool {
    match text {
        SlotText::Apart { input, output } => {
            copy(output, input);
            aead.open_in_place(nonce, aad, output, tag)
        }
        SlotText::InPlace(text) => {
            let mut copied = copy_of(text);
            let is_right = aead.open_in_place(nonce, aad, &mut copied, tag);
            // Zeros, if it was wrong.
            copy(text, &copied);
            is_right
        }
        SlotText::Read(text) => aead.open_in_place(nonce, aad, &mut copy_of(text), tag),
    }
}

fn zero(text: SlotText<'_>) {
    match text {
        SlotText::Apart { output, .. } => output.fill(0),
        SlotText::InPlace(text) => text.fill(0),
        SlotText::Read(_) => {}
    }
}

/// Room for a plaintext that nobody asked for. Wiped.
fn scratch(bytes: usize) -> Zeroizing<Vec<u8>> {
    Zeroizing::new(vec![0; bytes])
}

fn copy_of(text: &[u8]) -> Zeroizing<Vec<u8>> {
    let mut copied = scratch(text.len());
    copy(&mut copied, text);
    copied
}

fn detail() -> String {
    format!("AWS-LC {} EVP_AEAD", ffi::version())
}
