//! Building blocks that protect nothing by themselves.
//!
//! Counter mode authenticates nothing: whoever can change a ciphertext can flip any bit of the plaintext,
//! and nobody notices. And two texts whose counters meet under one key give away what they differ in. Seal
//! with [`Session`](crate::Session) or a [`Batch`](crate::Batch) instead; this is for protocols that need
//! counter mode and authenticate by other means.

use sealift_core::Key;
use sealift_drivers::kernels::{CtrError, Kernels, PathError};

/// Encrypts or decrypts a text with AES in counter mode (SP 800-38A, section 6.5).
///
/// The counter block is a big-endian number of 128 bits: each 16 bytes of text take the next one, and behind
/// the last comes 0. Never let counters of two texts meet under the same key.
///
/// ```
/// use sealift::{Key, hazmat};
///
/// let (key, counter) = (Key::new(&[7; 16])?, [0; 16]);
/// let mut ciphertext = [0; 5];
/// hazmat::aes_ctr(&key, counter, b"hello", &mut ciphertext)?;
/// hazmat::aes_ctr_in_place(&key, counter, &mut ciphertext)?;
/// assert_eq!(&ciphertext, b"hello");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// `output` is not as long as `input`, or `SEALIFT_ISA` names nothing; nothing is written then.
pub fn aes_ctr(
    key: &Key,
    counter: [u8; 16],
    input: &[u8],
    output: &mut [u8],
) -> Result<(), HazmatError> {
    Ok(kernels()?.ctr(key, counter, input, output)?)
}

/// The same over the text itself.
///
/// # Errors
/// `SEALIFT_ISA` names nothing.
pub fn aes_ctr_in_place(key: &Key, counter: [u8; 16], text: &mut [u8]) -> Result<(), HazmatError> {
    kernels()?.ctr_in_place(key, counter, text);
    Ok(())
}

/// Why nothing was computed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HazmatError {
    /// The result has another length than the text.
    #[error(transparent)]
    Ctr(#[from] CtrError),
    /// The environment variable `SEALIFT_ISA` names no instruction set.
    #[error(transparent)]
    Path(#[from] PathError),
}

fn kernels() -> Result<Kernels, PathError> {
    Kernels::best(String::new())
}
