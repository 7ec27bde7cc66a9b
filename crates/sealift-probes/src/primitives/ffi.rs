//! AWS-LC's hashes and signatures behind safe types.
#![allow(unsafe_code)]

use aws_lc_sys::{
    AWSLC_VERSION_NUMBER_STRING, EC_KEY, EC_KEY_free, EC_KEY_generate_key,
    EC_KEY_new_by_curve_name, ECDSA_sign, ECDSA_size, ECDSA_verify, ERR_clear_error,
    NID_X9_62_prime256v1, NID_secp384r1, SHA256, SHA384,
};
use std::ffi::CStr;
use std::ptr::NonNull;

/// A digest of up to 48 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Digest {
    bytes: [u8; 48],
    len: usize,
}

impl Digest {
    pub(super) fn sha256(message: &[u8]) -> Self {
        let mut bytes = [0; 48];
        // SAFETY: the message has `len` readable bytes, and the place has more than the 32 written ones.
        unsafe { SHA256(message.as_ptr(), message.len(), bytes.as_mut_ptr()) };
        Self { bytes, len: 32 }
    }

    pub(super) fn sha384(message: &[u8]) -> Self {
        let mut bytes = [0; 48];
        // SAFETY: the message has `len` readable bytes, and the place has the 48 written ones.
        unsafe { SHA384(message.as_ptr(), message.len(), bytes.as_mut_ptr()) };
        Self { bytes, len: 48 }
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    pub(super) fn with_a_flipped_bit(mut self) -> Self {
        self.bytes[0] ^= 1;
        self
    }
}

/// A curve of NIST's with the hash that goes with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Curve {
    P256,
    P384,
}

impl Curve {
    /// What is signed of a message.
    pub(super) fn digest(self, message: &[u8]) -> Digest {
        match self {
            Self::P256 => Digest::sha256(message),
            Self::P384 => Digest::sha384(message),
        }
    }
}

/// A DER signature.
#[derive(Clone, Copy, Debug)]
pub(super) struct Signature {
    bytes: [u8; SIGNATURE_BYTES_MAX],
    len: usize,
}

/// A key that signs and verifies. `EC_KEY_free` wipes its scalar.
pub(super) struct SigningKey(NonNull<EC_KEY>);

impl SigningKey {
    /// A new key; nothing when the library makes none.
    pub(super) fn generate(curve: Curve) -> Option<Self> {
        let name = match curve {
            Curve::P256 => NID_X9_62_prime256v1,
            Curve::P384 => NID_secp384r1,
        };
        // SAFETY: it makes a key without a value, or null.
        let key = Self(NonNull::new(unsafe { EC_KEY_new_by_curve_name(name) })?);
        // SAFETY: the key is whole, and nobody else has it.
        let made = unsafe { EC_KEY_generate_key(key.0.as_ptr()) };
        // SAFETY: the key is whole.
        let longest = unsafe { ECDSA_size(key.0.as_ptr()) };
        if made != 1 || longest > SIGNATURE_BYTES_MAX {
            clear_errors();
            return None;
        }
        Some(key)
    }

    /// Signs a digest; nothing when the library refuses.
    pub(super) fn sign(&self, digest: &Digest) -> Option<Signature> {
        let mut signature = Signature { bytes: [0; SIGNATURE_BYTES_MAX], len: 0 };
        let (mut len, bytes) = (0, digest.as_bytes());
        // SAFETY: the digest has `len` readable bytes; `generate` has looked that the place is long
        // enough for every signature of this key.
        let signed = unsafe {
            ECDSA_sign(
                0,
                bytes.as_ptr(),
                bytes.len(),
                signature.bytes.as_mut_ptr(),
                &raw mut len,
                self.0.as_ptr(),
            )
        };
        signature.len = usize::try_from(len).ok().filter(|len| *len <= SIGNATURE_BYTES_MAX)?;
        if signed != 1 {
            clear_errors();
            return None;
        }
        Some(signature)
    }

    /// Whether a signature is one of a digest.
    pub(super) fn verify(&self, digest: &Digest, signature: &Signature) -> bool {
        let bytes = digest.as_bytes();
        // SAFETY: digest and signature have the readable bytes that stand beside them.
        let verified = unsafe {
            ECDSA_verify(
                0,
                bytes.as_ptr(),
                bytes.len(),
                signature.bytes.as_ptr(),
                signature.len,
                self.0.as_ptr(),
            )
        };
        if verified != 1 {
            clear_errors();
        }
        verified == 1
    }
}

impl Drop for SigningKey {
    fn drop(&mut self) {
        // SAFETY: made by `EC_KEY_new_by_curve_name` and freed once.
        unsafe { EC_KEY_free(self.0.as_ptr()) }
    }
}

// SAFETY: a key belongs to no thread.
unsafe impl Send for SigningKey {}

/// The library's version, as in `5.12.0`.
pub(crate) fn version() -> &'static str {
    let version = CStr::from_bytes_until_nul(AWSLC_VERSION_NUMBER_STRING).unwrap_or_default();
    version.to_str().unwrap_or_default()
}

/// Empties this thread's queue of the library's errors, so that nobody else finds ours.
fn clear_errors() {
    // SAFETY: it touches only the calling thread's queue.
    unsafe { ERR_clear_error() };
}

/// P-384's longest has 104.
const SIGNATURE_BYTES_MAX: usize = 112;
