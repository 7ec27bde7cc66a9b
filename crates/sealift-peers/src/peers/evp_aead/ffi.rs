//! The functions of `aead.h`, which AWS-LC and BoringSSL share: linked, or found at run time.
#![allow(unsafe_code)]

use crate::cipher::{Opening, Sealing};
use crate::peers::why;
use aws_lc_sys::{
    AWSLC_VERSION_NUMBER_STRING, ENGINE, ERR_clear_error, EVP_AEAD, EVP_AEAD_CTX,
    EVP_AEAD_CTX_cleanup, EVP_AEAD_CTX_init, EVP_AEAD_CTX_open_gather, EVP_AEAD_CTX_seal_scatter,
    EVP_AEAD_CTX_zero, EVP_aead_aes_128_gcm, EVP_aead_aes_192_gcm, EVP_aead_aes_256_gcm,
};
use libloading::Library;
use std::ffi::{CStr, OsStr, c_int};
use std::mem::ManuallyDrop;
use std::ptr;
use std::sync::Arc;

/// One library's functions. What a context looks like is the library's affair: here it is only room.
pub(super) struct Functions {
    zero: unsafe extern "C" fn(*mut EVP_AEAD_CTX),
    init: Init,
    cleanup: unsafe extern "C" fn(*mut EVP_AEAD_CTX),
    seal: Seal,
    open: Open,
    clear_errors: unsafe extern "C" fn(),
    /// For keys of 128, 192 and 256 bits.
    algorithms: [unsafe extern "C" fn() -> *const EVP_AEAD; 3],
    /// Where they are not linked. It is never closed: when a thread ends, BoringSSL's code still runs.
    _library: Option<ManuallyDrop<Library>>,
}

impl Functions {
    /// Those of AWS-LC, which is linked.
    pub(super) fn linked() -> Self {
        Self {
            zero: EVP_AEAD_CTX_zero,
            init: EVP_AEAD_CTX_init,
            cleanup: EVP_AEAD_CTX_cleanup,
            seal: EVP_AEAD_CTX_seal_scatter,
            open: EVP_AEAD_CTX_open_gather,
            clear_errors: ERR_clear_error,
            algorithms: [EVP_aead_aes_128_gcm, EVP_aead_aes_192_gcm, EVP_aead_aes_256_gcm],
            _library: None,
        }
    }

    /// Those of a library in a file.
    ///
    /// # Errors
    /// What is missing.
    pub(super) fn open(file: &OsStr) -> Result<Self, String> {
        // SAFETY: the library's constructors set up its own tables and nothing of this process.
        let library = unsafe { Library::new(file) }.map_err(|error| why(&error))?;
        macro_rules! find {
            ($name:literal) => {{
                // SAFETY: the function of this name is of the type of the field it goes into.
                let found = unsafe { library.get($name) };
                *found.map_err(|error| why(&error))?
            }};
        }
        Ok(Self {
            zero: find!("EVP_AEAD_CTX_zero"),
            init: find!("EVP_AEAD_CTX_init"),
            cleanup: find!("EVP_AEAD_CTX_cleanup"),
            seal: find!("EVP_AEAD_CTX_seal_scatter"),
            open: find!("EVP_AEAD_CTX_open_gather"),
            clear_errors: find!("ERR_clear_error"),
            algorithms: [
                find!("EVP_aead_aes_128_gcm"),
                find!("EVP_aead_aes_192_gcm"),
                find!("EVP_aead_aes_256_gcm"),
            ],
            _library: Some(ManuallyDrop::new(library)),
        })
    }

    fn algorithm(&self, key_bytes: usize) -> Option<*const EVP_AEAD> {
        let size = match key_bytes {
            16 => 0,
            24 => 1,
            32 => 2,
            _ => return None,
        };
        // SAFETY: it takes nothing and returns a static of the library's.
        Some(unsafe { (self.algorithms[size])() })
    }
}

/// An expanded key for tags of one length. It stays where it is, because AWS-LC aligns what it writes
/// into it.
pub struct ExpandedKey {
    functions: Arc<Functions>,
    room: Box<Room>,
}

/// Room for a context of either library.
#[repr(C, align(64))]
struct Room([u8; ROOM_BYTES]);

impl ExpandedKey {
    /// Expands a key of 16, 24 or 32 bytes.
    pub(super) fn new(functions: &Arc<Functions>, raw: &[u8], tag_bytes: usize) -> Option<Self> {
        let room = Box::new(Room([0; ROOM_BYTES]));
        let mut key = Self { functions: Arc::clone(functions), room };
        // SAFETY: the room is larger than either library's context.
        unsafe { (key.functions.zero)(key.place()) };
        key.set(raw, tag_bytes).then_some(key)
    }

    /// Expands another key in the same place; false when the library refused.
    #[inline(always)]
    pub(super) fn renew(&mut self, raw: &[u8], tag_bytes: usize) -> bool {
        // SAFETY: the context is whole, and the next call writes it anew.
        unsafe { (self.functions.cleanup)(self.place()) };
        self.set(raw, tag_bytes)
    }

    #[inline(always)]
    fn set(&mut self, raw: &[u8], tag_bytes: usize) -> bool {
        let Some(algorithm) = self.functions.algorithm(raw.len()) else { return false };
        let (place, no_engine) = (self.place(), ptr::null_mut());
        // SAFETY: the context is a zeroed or a cleaned one, the key has `len` readable bytes.
        let done = unsafe {
            (self.functions.init)(place, algorithm, raw.as_ptr(), raw.len(), tag_bytes, no_engine)
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
            (self.functions.seal)(
                (&raw const *self.room).cast(),
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
        // SAFETY: the context is whole, each pointer is valid for the length beside it, the output is as
        // long as the input, and the tag is only read.
        let opened = unsafe {
            (self.functions.open)(
                (&raw const *self.room).cast(),
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
            unsafe { (self.functions.clear_errors)() };
        }
        opened == 1
    }

    fn place(&mut self) -> *mut EVP_AEAD_CTX {
        (&raw mut *self.room).cast()
    }
}

impl Drop for ExpandedKey {
    fn drop(&mut self) {
        // SAFETY: the context is whole and not used again.
        unsafe { (self.functions.cleanup)(self.place()) };
    }
}

/// AWS-LC's version, as in `5.12.0`.
pub(super) fn linked_version() -> &'static str {
    let version = CStr::from_bytes_until_nul(AWSLC_VERSION_NUMBER_STRING).unwrap_or_default();
    version.to_str().unwrap_or_default()
}

/// Context, algorithm, key, its length, the tag's length, engine.
type Init = unsafe extern "C" fn(
    *mut EVP_AEAD_CTX,
    *const EVP_AEAD,
    *const u8,
    usize,
    usize,
    *mut ENGINE,
) -> c_int;
/// Context, output, tag, its length, room for it, nonce, its length, input, its length, extra input, its
/// length, aad, its length.
type Seal = unsafe extern "C" fn(
    *const EVP_AEAD_CTX,
    *mut u8,
    *mut u8,
    *mut usize,
    usize,
    *const u8,
    usize,
    *const u8,
    usize,
    *const u8,
    usize,
    *const u8,
    usize,
) -> c_int;
/// Context, output, nonce, its length, input, its length, tag, its length, aad, its length.
type Open = unsafe extern "C" fn(
    *const EVP_AEAD_CTX,
    *mut u8,
    *const u8,
    usize,
    *const u8,
    usize,
    *const u8,
    usize,
    *const u8,
    usize,
) -> c_int;

/// Their contexts have under 600 bytes.
const ROOM_BYTES: usize = 1_024;
const _: () = assert!(size_of::<EVP_AEAD_CTX>() <= ROOM_BYTES);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_is_not_there_or_is_another_one_says_so() {
        let reason = |file: &str| Functions::open(file.as_ref()).err().unwrap_or_default();
        assert!(
            reason("libnowhere.so.1").contains("libnowhere.so.1"),
            "{}",
            reason("libnowhere.so.1")
        );
        assert!(reason("libc.so.6").contains("EVP_AEAD_CTX_zero"), "{}", reason("libc.so.6"));
    }
}
