//! True bytes that cost little. **This is no encryption**: it mixes key, nonce, aad and text so that a
//! wrong byte anywhere shows, and anyone can undo it.

use super::random::mix;
use sealift_core::{DeviceError, Slot, SlotTag, SlotText, Status, Work};

/// The text of a message with its keystream over it, and the tag; what a [`Machine`](super::Machine)
/// gives for a seal.
pub fn seal(key: &[u8], nonce: &[u8], aad: &[u8], text: &[u8]) -> (Vec<u8>, [u8; 16]) {
    let mut out = text.to_vec();
    let tag = seal_in_place(key, nonce, aad, &mut out);
    (out, tag)
}

pub(super) fn seal_in_place(key: &[u8], nonce: &[u8], aad: &[u8], text: &mut [u8]) -> [u8; 16] {
    let mut toy = Toy::new(key, nonce, aad);
    toy.seal(text);
    toy.tag()
}

/// Works one message. A wrong tag gives zeros.
pub(super) fn work_message(
    work: &mut Work<'_>,
    message: usize,
    device: &str,
) -> Result<(), DeviceError> {
    let status = match (work.batch().raw_key(message), work.batch().session_of(message)) {
        (Some(raw), _) => one(work.slot(message), raw),
        (None, Some(session)) => {
            let key = work.key(session, device)?;
            one(work.slot(message), key.as_bytes())
        }
        (None, None) => {
            let reason = format!("message {message} has neither a session nor a raw key");
            return Err(DeviceError::Failed { device: device.to_owned(), reason });
        }
    };
    work.set_status(message, status);
    Ok(())
}

fn one(slot: Slot<'_>, key: &[u8]) -> Status {
    let Slot { nonce, aad, text, tag, .. } = slot;
    let mut toy = Toy::new(key, nonce, aad);
    match (text, tag) {
        (text, SlotTag::Write(tag)) => {
            toy.seal(written(text).unwrap_or_default());
            tag.copy_from_slice(&toy.tag()[..tag.len()]);
            Status::Ok
        }
        (SlotText::Read(text), SlotTag::Check(tag)) => {
            toy.read(text);
            toy.check(tag)
        }
        (text, SlotTag::Check(tag)) => {
            let text = written(text).unwrap_or_default();
            toy.open(text);
            let status = toy.check(tag);
            if status != Status::Ok {
                text.fill(0);
            }
            status
        }
        (_, SlotTag::Missing) => Status::AuthFailed,
    }
}

/// The place of the result, with the input in it: each input byte is read once.
fn written(text: SlotText<'_>) -> Option<&mut [u8]> {
    match text {
        SlotText::Apart { input, output } => {
            output.copy_from_slice(input);
            Some(output)
        }
        SlotText::InPlace(text) => Some(text),
        SlotText::Read(_) => None,
    }
}

struct Toy {
    stream: u64,
    hash: u64,
}

impl Toy {
    fn new(key: &[u8], nonce: &[u8], aad: &[u8]) -> Self {
        let stream = fold(fold(0, key), nonce);
        Self { stream, hash: fold(mix(stream ^ 1), aad) }
    }

    fn seal(&mut self, text: &mut [u8]) {
        for (at, chunk) in (0u64..).zip(text.chunks_mut(8)) {
            self.mask(at, chunk);
            self.absorb(word(chunk));
        }
        self.absorb(text.len() as u64);
    }

    fn open(&mut self, text: &mut [u8]) {
        for (at, chunk) in (0u64..).zip(text.chunks_mut(8)) {
            self.absorb(word(chunk));
            self.mask(at, chunk);
        }
        self.absorb(text.len() as u64);
    }

    fn read(&mut self, text: &[u8]) {
        text.chunks(8).for_each(|chunk| self.absorb(word(chunk)));
        self.absorb(text.len() as u64);
    }

    fn mask(&self, at: u64, chunk: &mut [u8]) {
        let keystream = mix(self.stream.wrapping_add(at)).to_le_bytes();
        chunk.iter_mut().zip(keystream).for_each(|(byte, mask)| *byte ^= mask);
    }

    fn absorb(&mut self, word: u64) {
        self.hash = mix(self.hash ^ word).rotate_left(17);
    }

    fn tag(&self) -> [u8; 16] {
        let halves = [mix(self.hash), mix(self.hash ^ self.stream)];
        let mut tag = [0; 16];
        tag.chunks_mut(8)
            .zip(halves)
            .for_each(|(to, half)| to.copy_from_slice(&half.to_le_bytes()));
        tag
    }

    fn check(&self, tag: &[u8]) -> Status {
        if self.tag()[..tag.len()] == *tag { Status::Ok } else { Status::AuthFailed }
    }
}

fn word(chunk: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    bytes[..chunk.len()].copy_from_slice(chunk);
    u64::from_le_bytes(bytes)
}

fn fold(start: u64, bytes: &[u8]) -> u64 {
    let folded = bytes.chunks(8).fold(start, |hash, chunk| mix(hash ^ word(chunk)).rotate_left(9));
    mix(folded ^ bytes.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_input_byte_changes_the_tag() {
        let base = [&b"key"[..], b"nonce", b"aad", b"a text of twenty one"];
        let tag = |parts: &[Vec<u8>]| seal(&parts[0], &parts[1], &parts[2], &parts[3]).1;
        let owned: Vec<Vec<u8>> = base.map(<[u8]>::to_vec).into();
        for part in 0..4 {
            for at in 0..base[part].len() {
                let mut changed = owned.clone();
                changed[part][at] ^= 1;
                assert_ne!(tag(&changed), tag(&owned), "byte {at} of part {part}");
            }
            let mut longer = owned.clone();
            longer[part].push(0);
            assert_ne!(tag(&longer), tag(&owned), "a zero behind part {part}");
        }
        let tags = [b"sealed".as_slice(), b"sealed\0"].map(|text| {
            let mut toy = Toy::new(b"key", b"nonce", b"aad");
            toy.read(text);
            toy.tag()
        });
        assert_ne!(tags[0], tags[1], "a zero behind a sealed text");
    }

    #[test]
    fn what_was_sealed_opens_and_anything_else_is_zeros() {
        for bytes in [0, 1, 7, 8, 9, 40] {
            let plain: Vec<u8> = (0..bytes).collect();
            let (sealed, tag) = seal(b"key", b"nonce", b"aad", &plain);
            assert!(bytes == 0 || sealed != plain);
            let open = |tag: &[u8]| {
                let mut text = sealed.clone();
                let slot = Slot {
                    op: sealift_core::Op::Open,
                    nonce: b"nonce",
                    aad: b"aad",
                    text: SlotText::InPlace(&mut text),
                    tag: SlotTag::Check(tag),
                };
                (one(slot, b"key"), text)
            };
            assert_eq!(open(&tag), (Status::Ok, plain.clone()));
            assert_eq!(open(&tag[..4]), (Status::Ok, plain));
            assert_eq!(open(&[0; 16]), (Status::AuthFailed, vec![0; bytes.into()]));
        }
    }
}
