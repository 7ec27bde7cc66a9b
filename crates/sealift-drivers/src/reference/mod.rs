//! RustCrypto's ciphers: the oracle that other devices are compared with.
//!
//! Written for trust, not for speed: it keeps nothing between batches, works message by message, and
//! always opens in a private copy.

mod cipher;

use crate::workers::{self, Crew, Software};
use cipher::{Cipher, NONCE_LENGTHS};
use sealift_core::{
    Algorithm, Capabilities, Context, Device, DeviceError, Driver, NonceLengths, OpenError, Probe,
    Role, SessionId, Slot, SlotTag, SlotText, Spec, Status, Work,
};
use sealift_kernels::{copy::copy, stack::wipe_after};
use std::sync::Arc;
use zeroize::Zeroizing;

/// The driver `reference`.
#[derive(Debug)]
pub struct Reference;

impl Driver for Reference {
    fn name(&self) -> &'static str {
        NAME
    }

    fn summary(&self) -> &'static str {
        "RustCrypto's aes-gcm, xaes-256-gcm and aes-gcm-siv, which the others are checked against (workers=, cores=)"
    }

    fn probe(&self) -> Probe {
        Probe::Present { role: Role::Oracle, detail: DETAIL.to_owned() }
    }

    fn open(&self, spec: &Spec, context: &Context) -> Result<Arc<dyn Device>, OpenError> {
        workers::only(spec, &["workers", "cores"])?;
        let all = workers::capabilities(spec, NAME, Role::Oracle, DETAIL.to_owned());
        let nonce_lengths = NonceLengths::of(&NONCE_LENGTHS);
        let algorithms = Algorithm::ALL.to_vec();
        let capabilities = Capabilities { algorithms, nonce_lengths, ..all };
        Ok(workers::open(Oracle, capabilities, Crew::of(spec)?, context))
    }
}

#[derive(Debug)]
struct Oracle;

impl Software for Oracle {
    fn run(&self, work: &mut Work<'_>) -> Result<(), DeviceError> {
        wipe_after(|| messages(work))
    }

    fn retire(&self, _: SessionId) {}
}

fn messages(work: &mut Work<'_>) -> Result<(), DeviceError> {
    let mut kept = None;
    for message in 0..work.len() {
        let (session, cipher) = match work.batch().session_of(message) {
            None => {
                let key = work.batch().raw_key(message).unwrap_or_default();
                (None, Cipher::new(work.batch().algorithm, key)?)
            }
            Some(session) => (Some(session), cipher_of(work, session, kept.take())?),
        };
        let status = process(&cipher, work.slot(message))?;
        work.set_status(message, status);
        kept = Some((session, cipher));
    }
    Ok(())
}

/// The expanded key of a session: the one of the message before, if that has the same session.
fn cipher_of(
    work: &Work<'_>,
    session: SessionId,
    kept: Option<(Option<SessionId>, Box<Cipher>)>,
) -> Result<Box<Cipher>, DeviceError> {
    match kept {
        Some((Some(known), cipher)) if known == session => Ok(cipher),
        _ => {
            let key = work.key(session, NAME)?;
            Cipher::new(key.algorithm(), key.as_bytes())
        }
    }
}

fn process(cipher: &Cipher, slot: Slot<'_>) -> Result<Status, DeviceError> {
    let Slot { nonce, aad, text, tag, .. } = slot;
    match tag {
        SlotTag::Write(tag) => seal(cipher, nonce, aad, text, tag),
        SlotTag::Check(tag) => open(cipher, nonce, aad, text, tag),
        SlotTag::Missing => Ok(fail(text)),
    }
}

#[expect(clippy::disallowed_methods, reason = "a tag of a few bytes is no payload")]
fn seal(
    cipher: &Cipher,
    nonce: &[u8],
    aad: &[u8],
    text: SlotText<'_>,
    tag: &mut [u8],
) -> Result<Status, DeviceError> {
    let text = match text {
        SlotText::Apart { input, output } => {
            copy(output, input);
            output
        }
        SlotText::InPlace(text) => text,
        SlotText::Read(_) => return Ok(Status::NotProcessed),
    };
    let full = cipher.seal(nonce, aad, text).inspect_err(|_| text.fill(0))?;
    tag.copy_from_slice(&full[..tag.len()]);
    Ok(Status::Ok)
}

/// Opens in a copy that nobody else writes to: the ciphertext is read once, so that the bytes which
/// are authenticated and those which are decrypted are the same, whoever rewrites the input meanwhile.
fn open(
    cipher: &Cipher,
    nonce: &[u8],
    aad: &[u8],
    text: SlotText<'_>,
    tag: &[u8],
) -> Result<Status, DeviceError> {
    match text {
        SlotText::Apart { input, output } => {
            copy(output, input);
            if cipher.open(nonce, aad, output, tag).inspect_err(|_| output.fill(0))? {
                return Ok(Status::Ok);
            }
            Ok(fail(SlotText::InPlace(output)))
        }
        SlotText::InPlace(text) => {
            let mut scratch = private(text);
            if cipher.open(nonce, aad, &mut scratch, tag)? {
                copy(text, &scratch);
                return Ok(Status::Ok);
            }
            Ok(fail(SlotText::InPlace(text)))
        }
        SlotText::Read(text) => match cipher.open(nonce, aad, &mut private(text), tag)? {
            true => Ok(Status::Ok),
            false => Ok(Status::AuthFailed),
        },
    }
}

fn fail(text: SlotText<'_>) -> Status {
    match text {
        SlotText::Apart { output, .. } => output.fill(0),
        SlotText::InPlace(text) => text.fill(0),
        SlotText::Read(_) => {}
    }
    Status::AuthFailed
}

fn private(text: &[u8]) -> Zeroizing<Vec<u8>> {
    let mut scratch = Zeroizing::new(vec![0; text.len()]);
    copy(&mut scratch, text);
    scratch
}

const NAME: &str = "reference";
const DETAIL: &str = if cfg!(feature = "wipe-reference") {
    "RustCrypto aes-gcm"
} else {
    "RustCrypto aes-gcm, whose expanded keys are not wiped in this build"
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_users_get_wipes_its_keys() {
        assert_eq!(DETAIL, "RustCrypto aes-gcm");
    }
    use sealift_core::Op;

    #[test]
    fn what_the_crate_refuses_leaves_zeros() {
        let cipher = Cipher::new(Algorithm::AesGcm, &[7; 16]).unwrap();
        let (nonce, input) = ([1; 11], [3; 40]);
        for op in [Op::Seal, Op::Open] {
            for tag_bytes in [16, 12] {
                let (mut output, mut made) = ([5; 40], [0; 16]);
                let tag = match op {
                    Op::Seal => SlotTag::Write(&mut made[..tag_bytes]),
                    _ => SlotTag::Check(&[0; 16][..tag_bytes]),
                };
                let text = SlotText::Apart { input: &input, output: &mut output };
                process(&cipher, Slot { op, nonce: &nonce, aad: b"aad", text, tag }).unwrap_err();
                assert_eq!(output, [0; 40], "{op:?}");
            }
        }
        let (mut text, mut made) = (input, [0; 16]);
        let (place, tag) = (SlotText::InPlace(&mut text), SlotTag::Write(&mut made));
        process(&cipher, Slot { op: Op::Seal, nonce: &nonce, aad: &[], text: place, tag })
            .unwrap_err();
        assert_eq!(text, [0; 40]);
    }
}
