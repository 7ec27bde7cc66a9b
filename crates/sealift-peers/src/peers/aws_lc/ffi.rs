//! AWS-LC's `EVP_AEAD` behind a safe type.
#![allow(unsafe_code)]

use crate::cipher::{Opening, Sealing};
use aws_lc_sys::{
    AWSLC_VERSION_NUMBER_STRING, ERR_clear_error, EVP_AEAD, EVP_AEAD_CTX, EVP_AEAD_CTX_cleanup,
    EVP_AEAD_CTX_init, EVP_AEAD_CTX_open_gather, EVP_AEAD_CTX_seal_scatter, EVP_AEAD_CTX_zero,
    EVP_aead_aes_128_gcm, EVP_aead_aes_192_gcm, EVP_aead_aes_256_gcm,
};
use std::ffi::CStr;
use std::ptr;

/// An expanded key for tags of one length. It stays where it is, because the library aligns what it
/// writes into it.
pub struct Aead(Box<EVP_AEAD_CTX>);

impl Aead {
    /// Expands a key of 16, 24 or 32 bytes.
    pub(super) fn new(raw: &[u8], tag_bytes: usize) -> Option<Self> {
        let mut context = Box::new_uninit();
        // SAFETY: it writes a whole context.
        unsafe { EVP_AEAD_CTX_zero(context.as_mut_ptr()) };
        // SAFETY: just written.
        let mut aead = Self(unsafe { context.assume_init() });
        aead.set(raw, tag_bytes).then_some(aead)
    }

    /// Expands another key in the same place; false when the library refused.
    #[inline(always)]
    pub(super) fn renew(&mut self, raw: &[u8], tag_bytes: usize) -> bool {
        // SAFETY: the context is whole, and the next call writes it anew.
        unsafe { EVP_AEAD_CTX_cleanup(&raw mut *self.0) };
        self.set(raw, tag_bytes)
    }

    #[inline(always)]
    fn set(&mut self, raw: &[u8], tag_bytes: usize) -> bool {
        let Some(algorithm) = algorithm(raw.len()) else { return false };
        let (place, no_engine) = (&raw mut *self.0, ptr::null_mut());
        // SAFETY: the context is a zeroed or a cleaned one, the key has `len` readable bytes.
        let done = unsafe {
            EVP_AEAD_CTX_init(place, algorithm, raw.as_ptr(), raw.len(), tag_bytes, no_engine)
        };
        done == 1
    }

    /// Encrypts and writes the tag; false when the library refused.
    #[inline(always)]
    pub(super) fn seal(&self, of: Sealing<'_>) -> bool {
        let mut tag_bytes = 0;
        debug_assert_eq!(of.input.len(), of.output.len());
        // SAFETY: the context is whole, each pointer is valid for the length beside it, the output is as
        // long as the input, and the borrows keep them apart. There is no extra input.
        let sealed = unsafe {
            EVP_AEAD_CTX_seal_scatter(
                &raw const *self.0,
                of.output.as_mut_ptr(),
                of.tag.as_mut_ptr(),
                &raw mut tag_bytes,
                of.tag.len(),
                of.nonce.as_ptr(),
                of.nonce.len(),
                of.input.as_ptr(),
                of.input.len().min(of.output.len()),
                ptr::null(),
                0,
                of.aad.as_ptr(),
                of.aad.len(),
            )
        };
        sealed == 1 && tag_bytes == of.tag.len()
    }

    /// Decrypts and says whether the tag was right.
    #[inline(always)]
    pub(super) fn open(&self, of: Opening<'_>) -> bool {
        debug_assert_eq!(of.input.len(), of.output.len());
        // SAFETY: as in `seal`; the tag is only read.
        let opened = unsafe {
            EVP_AEAD_CTX_open_gather(
                &raw const *self.0,
                of.output.as_mut_ptr(),
                of.nonce.as_ptr(),
                of.nonce.len(),
                of.input.as_ptr(),
                of.input.len().min(of.output.len()),
                of.tag.as_ptr(),
                of.tag.len(),
                of.aad.as_ptr(),
                of.aad.len(),
            )
        };
        if opened != 1 {
            // SAFETY: it touches only the calling thread's queue of errors.
            unsafe { ERR_clear_error() };
        }
        opened == 1
    }
}

impl Drop for Aead {
    fn drop(&mut self) {
        // SAFETY: the context is whole and not used again.
        unsafe { EVP_AEAD_CTX_cleanup(&raw mut *self.0) };
    }
}

// SAFETY: a context belongs to no thread.
unsafe impl Send for Aead {}

/// The library's version, as in `5.12.0`.
pub(super) fn version() -> &'static str {
    let version = CStr::from_bytes_until_nul(AWSLC_VERSION_NUMBER_STRING).unwrap_or_default();
    version.to_str().unwrap_or_default()
}

fn algorithm(key_bytes: usize) -> Option<*const EVP_AEAD> {
    match key_bytes {
        // SAFETY: it returns a static.
        16 => Some(unsafe { EVP_aead_aes_128_gcm() }),
        // SAFETY: it returns a static.
        24 => Some(unsafe { EVP_aead_aes_192_gcm() }),
        // SAFETY: it returns a static.
        32 => Some(unsafe { EVP_aead_aes_256_gcm() }),
        _ => None,
    }
}
