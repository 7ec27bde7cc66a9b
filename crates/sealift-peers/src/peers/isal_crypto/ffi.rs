//! The functions of `isa-l_crypto/aes_gcm.h`, found at run time.
#![allow(unsafe_code)]

use crate::cipher::Refused;
use crate::peers::{Direction, Message, why};
use libloading::Library;
use std::ffi::{CStr, OsStr, c_char, c_int, c_void};
use zeroize::Zeroize;

/// The library with the functions that are called here.
pub(super) struct Functions {
    /// For keys of 128 and 256 bits.
    sizes: [Size; 2],
    version: String,
    /// Keeps the functions where they are.
    _library: Library,
}

/// An expanded key with room for the message being worked. Wiped on drop.
#[derive(Default)]
pub struct Key {
    size: usize,
    data: Box<Room<KEY_LINES>>,
    context: Box<Room<CONTEXT_LINES>>,
}

impl Functions {
    /// Opens the library.
    ///
    /// # Errors
    /// What is missing.
    pub(super) fn open(file: &OsStr) -> Result<Self, String> {
        // SAFETY: the library has no constructors; its own tables are set up by relocations.
        let library = unsafe { Library::new(file) }.map_err(|error| why(&error))?;
        let sizes = [Size::find(&library, 128)?, Size::find(&library, 256)?];
        Ok(Self { sizes, version: version(&library)?, _library: library })
    }

    /// Name and version.
    pub(super) fn detail(&self) -> String {
        format!("ISA-L crypto {}", self.version)
    }

    /// Expands a key of 16 or 32 bytes.
    ///
    /// # Errors
    /// Another length.
    #[inline(always)]
    pub(super) fn expand(&self, key: &mut Key, raw: &[u8]) -> Result<(), Refused> {
        key.size = match raw.len() {
            16 => 0,
            32 => 1,
            other => return Err(Refused(format!("{other} bytes of key"))),
        };
        let place = (&raw mut *key.data).cast();
        // SAFETY: the raw key is as long as this size's function reads, and the room is aligned and at least as large
        // as the header's structure.
        let code = unsafe { (self.sizes[key.size].expand)(raw.as_ptr().cast(), place) };
        checked("isal_aes_gcm_pre", code)
    }

    /// Encrypts or decrypts and writes the tag.
    ///
    /// # Errors
    /// The library refused.
    #[inline(always)]
    pub(super) fn crypt(
        &self,
        direction: Direction,
        key: &mut Key,
        of: Message<'_>,
    ) -> Result<(), Refused> {
        if of.nonce.len() != NONCE_BYTES {
            return Err(Refused(format!("a nonce of {} bytes", of.nonce.len())));
        }
        let size = &self.sizes[key.size];
        let (whole, function) = match direction {
            Direction::Encrypt => (size.encrypt, "isal_aes_gcm_enc"),
            Direction::Decrypt => (size.decrypt, "isal_aes_gcm_dec"),
        };
        // SAFETY: the key was expanded for this size, the context has room for the header's structure, and each pointer
        // is valid for the length beside it; the nonce has 12 bytes and the output is as long as the input.
        let code = unsafe {
            whole(
                (&raw const *key.data).cast(),
                (&raw mut *key.context).cast(),
                of.output.as_mut_ptr(),
                of.input.as_ptr(),
                of.input.len().min(of.output.len()) as u64,
                of.nonce.as_ptr(),
                of.aad.as_ptr(),
                of.aad.len() as u64,
                of.tag.as_mut_ptr(),
                of.tag.len() as u64,
            )
        };
        checked(function, code)
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        self.data.0.zeroize();
        self.context.0.zeroize();
    }
}

/// The functions for keys of one size.
struct Size {
    expand: unsafe extern "C" fn(*const c_void, *mut c_void) -> c_int,
    encrypt: Whole,
    decrypt: Whole,
}

/// Key, context, output, input, length, nonce, aad, its length, tag, its length.
type Whole = unsafe extern "C" fn(
    *const c_void,
    *mut c_void,
    *mut u8,
    *const u8,
    u64,
    *const u8,
    *const u8,
    u64,
    *mut u8,
    u64,
) -> c_int;

impl Size {
    fn find(library: &Library, bits: usize) -> Result<Self, String> {
        macro_rules! find {
            ($name:literal) => {{
                let name = format!("isal_aes_gcm_{}_{bits}", $name);
                // SAFETY: the function of this name is of the type of the field it goes into.
                let found = unsafe { library.get(name.as_bytes()) };
                *found.map_err(|error| why(&error))?
            }};
        }
        Ok(Self { expand: find!("pre"), encrypt: find!("enc"), decrypt: find!("dec") })
    }
}

#[inline(always)]
fn checked(function: &str, code: c_int) -> Result<(), Refused> {
    if code == 0 { Ok(()) } else { Err(Refused(format!("{function} returned {code}"))) }
}

fn version(library: &Library) -> Result<String, String> {
    type Version = unsafe extern "C" fn() -> *const c_char;
    // SAFETY: the type is that of the header.
    let text = unsafe { library.get::<Version>("isal_crypto_get_version_str") };
    let text = text.map_err(|error| why(&error))?;
    // SAFETY: it takes nothing and returns a text of the library's own.
    let text = unsafe { text() };
    if text.is_null() {
        return Err("isal_crypto_get_version_str returned nothing".to_owned());
    }
    // SAFETY: the text ends with a zero and is never changed.
    Ok(unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}

/// Room for a structure, in cache lines.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Room<const LINES: usize>([[u8; 64]; LINES]);

impl<const LINES: usize> Default for Room<LINES> {
    fn default() -> Self {
        Self([[0; 64]; LINES])
    }
}

/// `struct isal_gcm_key_data` has 1,264 bytes: 15 round keys and 64 values of the hash key.
const KEY_LINES: usize = 20;
/// `struct isal_gcm_context_data` has 88 bytes.
const CONTEXT_LINES: usize = 2;
const NONCE_BYTES: usize = 12;

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
        assert!(reason("libc.so.6").contains("isal_aes_gcm_pre_128"), "{}", reason("libc.so.6"));
    }
}
