//! One message at a time.

use sealift_core::{
    Algorithm, DeviceError, Key, MAX_NONCE_BYTES, MAX_TEXT_BYTES, Op, OpenError, Slot, SlotTag,
    SlotText, Stability, Status, TagLength,
};
use sealift_drivers::single::Single;
use sealift_engine::SEALS_MAX;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

/// One key, of any algorithm, a message at a time on the calling thread: without an engine, and with less to do before each
/// message than one has. Many messages in a call are faster by an [`Engine`](crate::Engine).
///
/// It works on in a forked child; each process counts its own seals.
///
/// ```
/// let cipher = sealift::Cipher::new(&sealift::Key::new(&[7; 16])?)?;
/// let mut sealed = [0; 5 + 16];
/// cipher.seal(&[1; 12], b"header", b"hello", &mut sealed)?;
///
/// let mut text = [0; 5];
/// let status = cipher.open(&[1; 12], b"header", &sealed, &mut text)?;
/// assert_eq!((status, &text), (sealift::Status::Ok, b"hello"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Cipher {
    algorithm: Algorithm,
    single: Single,
    sealed: AtomicU64,
}

impl Cipher {
    /// Expands a key.
    ///
    /// # Errors
    /// The environment variable `SEALIFT_ISA` names no instruction set.
    pub fn new(key: &Key) -> Result<Self, OpenError> {
        Ok(Self {
            algorithm: key.algorithm(),
            single: Single::new(key)?,
            sealed: AtomicU64::new(0),
        })
    }

    /// Seals: `out` gets the ciphertext and the tag of 16 bytes behind it. Never use a nonce twice.
    ///
    /// # Errors
    /// `out` has another length; a nonce that has not its algorithm's length, of which AES-GCM takes 1 to 128 bytes (12 are
    /// usual); a text that is too long; [`Algorithm::seals_max`] messages were sealed.
    pub fn seal(
        &self,
        nonce: &[u8],
        aad: &[u8],
        text: &[u8],
        out: &mut [u8],
    ) -> Result<(), CipherError> {
        let (room, needed) = (out.len(), text.len().saturating_add(TAG_BYTES));
        if room != needed {
            return Err(CipherError::Room { room, needed });
        }
        let (output, tag) = out.split_at_mut(text.len());
        let text = SlotText::Apart { input: text, output };
        let slot = Slot { op: Op::Seal, nonce, aad, text, tag: SlotTag::Write(tag) };
        self.process(slot, Stability::Frozen).map(|_| ())
    }

    /// Opens ciphertext and tag: `out` gets the text, or zeros where the tag is wrong, which is no error but a status.
    ///
    /// # Errors
    /// As [`seal`](Self::seal).
    pub fn open(
        &self,
        nonce: &[u8],
        aad: &[u8],
        sealed: &[u8],
        out: &mut [u8],
    ) -> Result<Status, CipherError> {
        let Some((input, tag)) = sealed.split_last_chunk::<TAG_BYTES>() else {
            out.fill(0);
            return Ok(Status::AuthFailed);
        };
        let (room, needed) = (out.len(), input.len());
        if room != needed {
            return Err(CipherError::Room { room, needed });
        }
        let text = SlotText::Apart { input, output: out };
        let slot = Slot { op: Op::Open, nonce, aad, text, tag: SlotTag::Check(tag) };
        self.process(slot, Stability::Frozen)
    }

    /// A message taken apart, in place for example; a tag has 16 bytes. `stability` says whether somebody may write to it
    /// meanwhile.
    ///
    /// # Errors
    /// As [`seal`](Self::seal); parts that don't fit the operation.
    #[inline]
    pub fn process(&self, slot: Slot<'_>, stability: Stability) -> Result<Status, CipherError> {
        let (algorithm, bytes) = (self.algorithm, slot.nonce.len());
        let takes = match algorithm {
            Algorithm::AesGcm => (1..=MAX_NONCE_BYTES).contains(&bytes),
            _ => bytes == algorithm.nonce_bytes(),
        };
        if !takes {
            return Err(CipherError::Nonce { algorithm, bytes });
        }
        let text_bytes = match &slot.text {
            SlotText::Apart { input, .. } => input.len(),
            SlotText::InPlace(text) => text.len(),
            SlotText::Read(text) => text.len(),
        };
        if text_bytes as u64 > MAX_TEXT_BYTES {
            return Err(CipherError::Text { bytes: text_bytes });
        }
        if !fits(&slot) {
            return Err(CipherError::Parts);
        }
        if slot.op == Op::Seal
            && self.sealed.fetch_add(1, Ordering::Relaxed) >= algorithm.seals_max()
        {
            self.sealed.fetch_sub(1, Ordering::Relaxed);
            return Err(CipherError::SealLimit);
        }
        match self.single.process(slot, stability)? {
            Status::NotProcessed | Status::Wiped => Err(CipherError::Parts),
            status => Ok(status),
        }
    }
}

/// Whether text and tag are those of the operation: kernels and AWS-LC take others differently.
fn fits(slot: &Slot<'_>) -> bool {
    let has_text = match (slot.op, &slot.text) {
        (Op::Seal | Op::Open, SlotText::Apart { input, output }) => input.len() == output.len(),
        (Op::Seal | Op::Open, SlotText::InPlace(_)) | (Op::Verify, SlotText::Read(_)) => true,
        _ => false,
    };
    has_text
        && match (slot.op, &slot.tag) {
            (Op::Seal, SlotTag::Write(tag)) => tag.len() == TAG_BYTES,
            (Op::Open | Op::Verify, SlotTag::Check(tag)) => tag.len() == TAG_BYTES,
            (Op::Open | Op::Verify, SlotTag::Missing) => true,
            _ => false,
        }
}

impl fmt::Debug for Cipher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Cipher(secret)")
    }
}

/// Why a message was not worked. Nothing was written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CipherError {
    /// The place for the result has another length.
    #[error("the result takes {needed} bytes, and its place has {room}")]
    Room {
        /// Its length in bytes.
        room: usize,
        /// What would be right.
        needed: usize,
    },
    /// A nonce of a length that the algorithm does not take here.
    #[error("a nonce of {bytes} bytes for {algorithm}: give {}", nonce_lengths(*.algorithm))]
    Nonce {
        /// What the key is for.
        algorithm: Algorithm,
        /// Its length.
        bytes: usize,
    },
    /// A text longer than the standard allows.
    #[error("a text of {bytes} bytes: a message takes at most {MAX_TEXT_BYTES}")]
    Text {
        /// Its length.
        bytes: usize,
    },
    /// Text and tag are not those of the operation.
    #[error("text and tag don't fit the operation, or the tag has not 16 bytes")]
    Parts,
    /// The key has sealed as much as it may.
    #[error(
        "this key has sealed {SEALS_MAX} messages, the most that SP 800-38D section 8.3 allows: take a new one"
    )]
    SealLimit,
    /// AWS-LC refused.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

fn nonce_lengths(algorithm: Algorithm) -> String {
    match algorithm {
        Algorithm::AesGcm => format!("1 to {MAX_NONCE_BYTES}, 12 are usual"),
        _ => algorithm.nonce_bytes().to_string(),
    }
}

const TAG_BYTES: usize = TagLength::FULL.bytes();

#[cfg(test)]
mod tests {
    use super::*;

    fn cipher() -> Cipher {
        Cipher::new(&Key::new(&[7; 32]).unwrap()).unwrap()
    }

    #[test]
    fn it_gives_what_a_session_gives() {
        let key = Key::new(&[7; 32]).unwrap();
        let engine = crate::Engine::detect().unwrap();
        let (cipher, session) = (cipher(), engine.session(key).unwrap());
        for bytes in [0, 1, 15, 16, 17, 255, 1_000, 70_000] {
            let text: Vec<_> = (0..bytes).map(|n: usize| n.to_le_bytes()[0]).collect();
            let (mut one, mut other) = (vec![0; bytes + 16], vec![0; bytes + 16]);
            let nonce = [3; 12];
            cipher.seal(&nonce, &text[..bytes.min(40)], &text, &mut one).unwrap();
            session.seal(&nonce, &text[..bytes.min(40)], &text, &mut other).unwrap();
            assert_eq!(one, other);
            let mut opened = vec![1; bytes];
            let status = cipher.open(&nonce, &text[..bytes.min(40)], &one, &mut opened).unwrap();
            assert_eq!((status, &opened), (Status::Ok, &text));
            one[bytes / 2] ^= 1;
            let status = cipher.open(&nonce, &text[..bytes.min(40)], &one, &mut opened).unwrap();
            assert_eq!((status, opened), (Status::AuthFailed, vec![0; bytes]));
        }
    }

    #[test]
    fn a_key_of_another_algorithm_takes_its_nonces_and_gives_what_its_session_gives() {
        for algorithm in [Algorithm::Xaes256Gcm, Algorithm::AesGcmSiv] {
            let key = || Key::with_algorithm(algorithm, &[7; 32]).unwrap();
            let engine = crate::Engine::detect().unwrap();
            let (cipher, session) = (Cipher::new(&key()).unwrap(), engine.session(key()).unwrap());
            let nonce = vec![3; algorithm.nonce_bytes()];
            let (mut one, mut other, mut opened) = ([0; 21], [0; 21], [0; 5]);
            cipher.seal(&nonce, b"aad", b"hello", &mut one).unwrap();
            session.seal(&nonce, b"aad", b"hello", &mut other).unwrap();
            assert_eq!(one, other, "{algorithm}");
            assert_eq!(cipher.open(&nonce, b"aad", &one, &mut opened).unwrap(), Status::Ok);
            assert_eq!(&opened, b"hello");
            assert_eq!(cipher.open(&nonce, b"", &one, &mut opened).unwrap(), Status::AuthFailed);
            assert_eq!(opened, [0; 5]);
            let error = cipher.seal(&[3; 13], b"", b"hello", &mut one).unwrap_err().to_string();
            assert!(error.contains(algorithm.name()), "{error}");
        }
    }

    #[test]
    fn what_does_not_fit_is_an_error_and_writes_nothing() {
        let (cipher, mut out) = (cipher(), [9; 21]);
        let said = |error: CipherError| error.to_string();
        let nonces = [&[][..], &[1; 129]];
        for nonce in nonces {
            let error = said(cipher.seal(nonce, b"", b"hello", &mut out).unwrap_err());
            assert!(error.contains("give 1 to 128"), "{error}");
        }
        let error = said(cipher.seal(&[1; 12], b"", b"hell", &mut out).unwrap_err());
        assert_eq!(error, "the result takes 20 bytes, and its place has 21");
        let error = cipher.open(&[1; 12], b"", &[0; 16], &mut out).unwrap_err();
        assert!(matches!(error, CipherError::Room { needed: 0, .. }));
        assert_eq!(out, [9; 21]);
        let short = cipher.open(&[1; 12], b"", &[0; 15], &mut out).unwrap();
        assert_eq!((short, out), (Status::AuthFailed, [0; 21]));
        let text = SlotText::Read(b"hello");
        let slot =
            Slot { op: Op::Open, nonce: &[1; 12], aad: &[], text, tag: SlotTag::Check(&[0; 16]) };
        assert!(matches!(cipher.process(slot, Stability::Frozen), Err(CipherError::Parts)));
        for tag in [SlotTag::Write(&mut [0; 12]), SlotTag::Check(&[0; 16]), SlotTag::Missing] {
            let mut text = *b"hello";
            let place = SlotText::InPlace(&mut text);
            let slot = Slot { op: Op::Seal, nonce: &[1; 12], aad: &[], text: place, tag };
            assert!(matches!(cipher.process(slot, Stability::Frozen), Err(CipherError::Parts)));
            assert_eq!(&text, b"hello");
        }
    }

    #[test]
    fn a_key_seals_as_many_messages_as_it_may() {
        let (cipher, mut out) = (cipher(), [0; 21]);
        cipher.sealed.store(SEALS_MAX - 1, Ordering::Relaxed);
        let mut seal = || cipher.seal(&[1; 12], b"", b"hello", &mut out);
        assert!(seal().is_ok());
        assert!(matches!(seal(), Err(CipherError::SealLimit)));
        assert!(matches!(seal(), Err(CipherError::SealLimit)));
        let mut text = [0; 5];
        assert!(cipher.open(&[1; 12], b"", &out, &mut text).is_ok(), "opening is not limited");
    }
}
