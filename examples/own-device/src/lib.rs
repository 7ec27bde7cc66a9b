//! A device in a crate of its own: RustCrypto's AES-GCM, for nonces of 12 bytes and whole tags.

use aes_gcm::aead::consts::U12;
use aes_gcm::aead::{Nonce, Tag};
use aes_gcm::{AeadInOut, Aes128Gcm, Aes256Gcm, AesGcm, KeyInit, aes::Aes192};
use sealift::software::{self, Crew, Software};
use sealift::{
    Capabilities, Context, Device, DeviceError, Driver, Key, NonceLengths, OpenError, Probe, Role,
    SessionId, Slot, SlotTag, SlotText, Spec, Status, TagLength, Work,
};
use std::sync::Arc;
use zeroize::Zeroizing;

const NAME: &str = "own";
const DETAIL: &str = "RustCrypto, keys expanded anew for each message";

/// The driver: says what is here and opens it.
#[derive(Debug)]
pub struct Own;

impl Driver for Own {
    fn name(&self) -> &'static str {
        NAME
    }

    fn summary(&self) -> &'static str {
        "an example of a device (workers=, cores=)"
    }

    fn probe(&self) -> Probe {
        Probe::Present { role: Role::Real, detail: DETAIL.to_owned() }
    }

    fn open(&self, spec: &Spec, context: &Context) -> Result<Arc<dyn Device>, OpenError> {
        software::only(spec, &["workers", "cores"])?;
        let capabilities = Capabilities {
            in_place: false,
            nonce_lengths: NonceLengths::of(&[12]),
            tag_lengths: vec![TagLength::FULL],
            ..software::capabilities(spec, NAME, Role::Real, DETAIL.to_owned())
        };
        // The queue and the threads behind `submit` are everybody's; how to work a batch is ours.
        Ok(software::open(Worker, capabilities, Crew::of(spec)?, context))
    }
}

#[derive(Debug)]
struct Worker;

impl Software for Worker {
    fn run(&self, work: &mut Work<'_>) -> Result<(), DeviceError> {
        for message in 0..work.len() {
            let key = key_of(work, message)?;
            let slot = work.slot(message);
            let status = match &*key {
                Key::Aes128(key) => process(&Aes128Gcm::new(key.into()), slot)?,
                Key::Aes192(key) => process(&AesGcm::<Aes192, U12>::new(key.into()), slot)?,
                Key::Aes256(key) => process(&Aes256Gcm::new(key.into()), slot)?,
                // Not listed in the capabilities, so that no batch comes with such a key.
                other => return Err(failed(format!("it has no {}", other.algorithm()))),
            };
            work.set_status(message, status);
        }
        Ok(())
    }

    /// It keeps nothing of a session.
    fn retire(&self, _: SessionId) {}
}

fn key_of(work: &Work<'_>, message: usize) -> Result<Arc<Key>, DeviceError> {
    match work.batch().session_of(message) {
        Some(session) => work.key(session, NAME),
        None => {
            let raw = work.batch().raw_key(message).unwrap_or_default();
            Key::new(raw).map(Arc::new).map_err(|error| failed(error.to_string()))
        }
    }
}

/// Works a message where nobody else writes: what was authenticated is what gets decrypted.
fn process<A: AeadInOut>(cipher: &A, slot: Slot<'_>) -> Result<Status, DeviceError> {
    let Slot { nonce, aad, text, tag, .. } = slot;
    let nonce = <&Nonce<A>>::try_from(nonce).map_err(|_| failed("a nonce's length".to_owned()))?;
    let mut scratch = Zeroizing::new(vec![]);
    let text = match text {
        SlotText::Apart { input, output } => {
            output.copy_from_slice(input);
            output
        }
        SlotText::Read(text) => {
            scratch.extend_from_slice(text);
            &mut scratch[..]
        }
        SlotText::InPlace(_) => return Err(failed("it does not work in place".to_owned())),
    };
    let is_right = match tag {
        SlotTag::Write(tag) => {
            let sealed = cipher.encrypt_inout_detached(nonce, aad, (&mut *text).into());
            tag.copy_from_slice(&sealed.map_err(|error| failed(error.to_string()))?);
            true
        }
        SlotTag::Check(tag) => <&Tag<A>>::try_from(tag).is_ok_and(|tag| {
            cipher.decrypt_inout_detached(nonce, aad, (&mut *text).into(), tag).is_ok()
        }),
        SlotTag::Missing => false,
    };
    if is_right {
        return Ok(Status::Ok);
    }
    text.fill(0);
    Ok(Status::AuthFailed)
}

fn failed(reason: String) -> DeviceError {
    DeviceError::Failed { device: NAME.to_owned(), reason }
}
