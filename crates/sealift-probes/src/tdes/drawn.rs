//! Triple DES for a board in virtual time, whose messages are more than one would wait for.

use super::{Blocks, encrypted, initial_vector, three_keys};
use crate::Random;
use sealift::software::{Cipher, Software};
use sealift::{DeviceError, Key, Keys, SessionId, SlotTag, SlotText, Status, Work};
use std::sync::atomic::{AtomicU64, Ordering};

/// Encrypts the first message and one in so many of the others, drawn by their nonces: on the cards by
/// RustCrypto, where they are expected by AWS-LC. The others pass as they are.
#[derive(Debug)]
pub struct Drawn {
    one_in: u64,
    blocks: Blocks,
    encrypted: AtomicU64,
}

impl Drawn {
    /// One in so many, at least 1.
    #[must_use]
    pub fn one_in(one_in: u64) -> Self {
        let blocks = Blocks::new("3des".to_owned());
        Self { one_in: one_in.max(1), blocks, encrypted: AtomicU64::new(0) }
    }

    /// Messages that cards have encrypted so far.
    #[must_use]
    pub fn encrypted(&self) -> u64 {
        self.encrypted.load(Ordering::Relaxed)
    }

    fn draws(&self, nonce: &[u8]) -> bool {
        let number =
            |bytes: &[u8]| bytes.iter().fold(0, |number: u64, byte| number << 8 | u64::from(*byte));
        let (client, message) = nonce.split_at(nonce.len().saturating_sub(8));
        let is_first = nonce.iter().all(|byte| *byte == 0);
        let drawn = Random::new(number(message), number(client)).next_u64();
        is_first || drawn.is_multiple_of(self.one_in)
    }

    fn one(&self, work: &mut Work<'_>, message: usize) -> Result<(), DeviceError> {
        if !self.draws(work.slot(message).nonce) {
            let slot = work.slot(message);
            if let (SlotText::Apart { input, output }, SlotTag::Write(tag)) = (slot.text, slot.tag)
            {
                output.copy_from_slice(input);
                tag.fill(0);
                work.set_status(message, Status::Ok);
            }
            return Ok(());
        }
        let session = match &work.batch().keys {
            Keys::Session(session) => *session,
            Keys::Sessions(sessions) => sessions[message],
            Keys::Raw(_) => return Err(self.blocks.failed("it takes sessions, no raw keys")),
        };
        self.encrypted.fetch_add(1, Ordering::Relaxed);
        let key = work.key(session, &self.blocks.name)?;
        let key = sealift::software::Expander::expand(&self.blocks, &key)?;
        self.blocks.one(&key, work, message)
    }
}

impl Software for Drawn {
    fn run(&self, work: &mut Work<'_>) -> Result<(), DeviceError> {
        (0..work.len()).try_for_each(|message| self.one(work, message))
    }

    fn retire(&self, _: SessionId) {}
}

impl Cipher for Drawn {
    fn seal(&self, key: &Key, nonce: &[u8], _: &[u8], text: &mut [u8]) -> [u8; 16] {
        if self.draws(nonce)
            && let (Some(three), Some(iv)) = (three_keys(key), initial_vector(nonce))
            && let Some(sealed) = encrypted(&three, &iv, text)
        {
            text.copy_from_slice(&sealed);
        }
        [0; 16]
    }

    fn work(&self, work: &mut Work<'_>, _: &str) -> Result<(), DeviceError> {
        Software::run(self, work)
    }

    fn retire(&self, _: SessionId) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use sealift::cards::{Board, bundled};
    use sealift::{ClosedLoad, RehearsalError, play_with};
    use std::sync::Arc;

    fn load(batches: u64, message_bytes: u64) -> ClosedLoad {
        ClosedLoad { clients: 4, messages: 2, message_bytes, batches, policy: None, seed: 3 }
    }

    #[test]
    fn a_board_encrypts_by_one_library_what_another_one_expects() {
        let quad = Board::of(&bundled()[0]).unwrap();
        let every = Arc::new(Drawn::one_in(1));
        let found = play_with(quad.clone(), &load(50, 64), &every, &mut || true).unwrap();
        assert_eq!((found.lost, every.encrypted()), (0, 100));
        let some = Arc::new(Drawn::one_in(10));
        play_with(quad.clone(), &load(500, 64), &some, &mut || true).unwrap();
        assert!((60..=150).contains(&some.encrypted()), "{} of 1,000", some.encrypted());
        let first = Arc::new(Drawn::one_in(u64::MAX));
        play_with(quad, &load(50, 64), &first, &mut || true).unwrap();
        assert_eq!(first.encrypted(), 1);
    }

    #[test]
    fn what_a_board_encrypts_wrong_is_noticed() {
        /// Expects what nobody encrypts.
        #[derive(Debug)]
        struct Wrong(Drawn);

        impl Software for Wrong {
            fn run(&self, work: &mut Work<'_>) -> Result<(), DeviceError> {
                Software::run(&self.0, work)
            }

            fn retire(&self, _: SessionId) {}
        }

        impl Cipher for Wrong {
            fn seal(&self, key: &Key, nonce: &[u8], aad: &[u8], text: &mut [u8]) -> [u8; 16] {
                let tag = self.0.seal(key, nonce, aad, text);
                text[0] ^= u8::from(self.0.draws(nonce));
                tag
            }

            fn work(&self, work: &mut Work<'_>, _: &str) -> Result<(), DeviceError> {
                Software::run(&self.0, work)
            }
        }

        let wrong = Arc::new(Wrong(Drawn::one_in(u64::MAX)));
        let found =
            play_with(Board::of(&bundled()[0]).unwrap(), &load(50, 64), &wrong, &mut || true);
        assert_eq!(found, Err(RehearsalError::Wrong { messages: 1 }));
    }
}
