//! One message of a peer: where its bytes come from and go to, and whether its tag was right.

use sealift::{DeviceError, Slot, SlotTag, SlotText, Stability, Status};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

/// What is done to a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From plaintext to ciphertext.
    Encrypt,
    /// Back.
    Decrypt,
}

/// AES-GCM under one key.
pub(super) trait Cipher {
    /// Encrypts or decrypts `input` to `output`, which is as long, and returns the full tag.
    fn crypt(
        &mut self,
        direction: Direction,
        nonce: &[u8],
        aad: &[u8],
        input: &[u8],
        output: &mut [u8],
    ) -> Result<[u8; 16], DeviceError>;

    /// The full tag of a ciphertext without decrypting it, where the peer can.
    fn tag(&mut self, _nonce: &[u8], _aad: &[u8], _ciphertext: &[u8]) -> Option<[u8; 16]> {
        None
    }
}

/// Works a message; the output of one that does not open is zeros.
pub(super) fn work(
    cipher: &mut impl Cipher,
    slot: Slot<'_>,
    stability: Stability,
) -> Result<Status, DeviceError> {
    let Slot { nonce, aad, text, tag, .. } = slot;
    match (text, tag) {
        (SlotText::Apart { input, output }, SlotTag::Write(tag)) => {
            let full = cipher.crypt(Direction::Encrypt, nonce, aad, input, output)?;
            tag.copy_from_slice(&full[..tag.len()]);
            Ok(Status::Ok)
        }
        (SlotText::Apart { input, output }, SlotTag::Check(tag)) => {
            let copied;
            let input = match stability {
                Stability::Frozen => input,
                Stability::Shared => {
                    copied = private(input);
                    &copied
                }
            };
            let full = cipher.crypt(Direction::Decrypt, nonce, aad, input, output)?;
            Ok(verdict(&full, tag, output))
        }
        (SlotText::Read(input), SlotTag::Check(tag)) => {
            if let Some(full) = cipher.tag(nonce, aad, input) {
                return Ok(verdict(&full, tag, &mut []));
            }
            let mut unwanted = Zeroizing::new(vec![0; input.len()]);
            let full = cipher.crypt(Direction::Decrypt, nonce, aad, input, &mut unwanted)?;
            Ok(verdict(&full, tag, &mut unwanted))
        }
        (SlotText::Apart { output, .. }, SlotTag::Missing) => {
            output.fill(0);
            Ok(Status::AuthFailed)
        }
        (_, SlotTag::Missing) => Ok(Status::AuthFailed),
        // Peers say that they don't work in place, and nothing that is only read is sealed.
        (SlotText::InPlace(_), _) | (SlotText::Read(_), SlotTag::Write(_)) => {
            Ok(Status::NotProcessed)
        }
    }
}

fn verdict(full: &[u8; 16], tag: &[u8], output: &mut [u8]) -> Status {
    if full[..tag.len()].ct_eq(tag).into() {
        return Status::Ok;
    }
    output.fill(0);
    Status::AuthFailed
}

/// A copy that nobody writes to while it is hashed and decrypted.
fn private(input: &[u8]) -> Zeroizing<Vec<u8>> {
    Zeroizing::new(input.to_vec())
}
