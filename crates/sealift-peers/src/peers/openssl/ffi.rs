//! The functions of OpenSSL's `evp.h`, found at run time.
#![allow(unsafe_code)]

use crate::cipher::{Opening, Sealing};
use crate::peers::why;
use libloading::Library;
use std::ffi::{CStr, OsStr, c_char, c_int, c_uint, c_void};
use std::mem::ManuallyDrop;
use std::ptr;
use std::ptr::NonNull;
use std::sync::Arc;
use zeroize::Zeroizing;

/// The library with the functions that are called here.
pub(super) struct Functions {
    new: unsafe extern "C" fn() -> *mut c_void,
    free: unsafe extern "C" fn(*mut c_void),
    /// Context, cipher, key, nonce, whether to encrypt, parameters to set.
    init: unsafe extern "C" fn(
        *mut c_void,
        *const c_void,
        *const u8,
        *const u8,
        c_int,
        *const Parameter,
    ) -> c_int,
    /// Context, output, its length, input, its length.
    update: unsafe extern "C" fn(*mut c_void, *mut u8, *mut c_int, *const u8, c_int) -> c_int,
    end: unsafe extern "C" fn(*mut c_void, *mut u8, *mut c_int) -> c_int,
    control: unsafe extern "C" fn(*mut c_void, c_int, c_int, *mut c_void) -> c_int,
    /// Context, parameters to read.
    get: unsafe extern "C" fn(*mut c_void, *mut Parameter) -> c_int,
    clear_errors: unsafe extern "C" fn(),
    /// For keys of 128, 192 and 256 bits: fetched once, because looking them up takes long.
    ciphers: [NonNull<c_void>; 3],
    version: String,
    /// Never closed: when a thread ends, the library's code still runs.
    _library: ManuallyDrop<Library>,
}

// SAFETY: the ciphers are statics of the library's, which any thread may read.
unsafe impl Send for Functions {}

// SAFETY: the functions may be called from any thread, and nothing here changes after opening.
unsafe impl Sync for Functions {}

impl Functions {
    /// Opens the library.
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
            new: find!("EVP_CIPHER_CTX_new"),
            free: find!("EVP_CIPHER_CTX_free"),
            init: find!("EVP_CipherInit_ex2"),
            update: find!("EVP_CipherUpdate"),
            end: find!("EVP_CipherFinal_ex"),
            control: find!("EVP_CIPHER_CTX_ctrl"),
            get: find!("EVP_CIPHER_CTX_get_params"),
            clear_errors: find!("ERR_clear_error"),
            ciphers: [
                fetched(&library, c"AES-128-GCM")?,
                fetched(&library, c"AES-192-GCM")?,
                fetched(&library, c"AES-256-GCM")?,
            ],
            version: version(&library)?,
            _library: ManuallyDrop::new(library),
        })
    }

    /// Name and version.
    pub(super) fn detail(&self) -> String {
        format!("{}, EVP", self.version)
    }
}

/// An expanded key with room for the message being worked; the library wipes it.
pub struct Context {
    functions: Arc<Functions>,
    place: NonNull<c_void>,
    /// Bytes of the nonces that it is set for.
    nonce_bytes: usize,
    /// A key that the next message brings along: one call for both takes less than two.
    raw: Zeroizing<[u8; 32]>,
    raw_bytes: usize,
    is_set: bool,
}

// SAFETY: a context belongs to no thread.
unsafe impl Send for Context {}

impl Context {
    /// Room without a key.
    pub(super) fn new(functions: &Arc<Functions>) -> Option<Self> {
        // SAFETY: it takes nothing and returns a context or null.
        let place = NonNull::new(unsafe { (functions.new)() })?;
        let raw = Zeroizing::new([0; 32]);
        let functions = Arc::clone(functions);
        Some(Self { functions, place, nonce_bytes: 12, raw, raw_bytes: 0, is_set: false })
    }

    /// Takes a key; the cipher is set anew only when the key's length changes.
    #[inline(always)]
    pub(super) fn set_key(&mut self, raw: &[u8]) -> Option<()> {
        let size = match raw.len() {
            16 => 0,
            24 => 1,
            32 => 2,
            _ => return None,
        };
        self.raw[..raw.len()].copy_from_slice(raw);
        self.is_set = false;
        if self.raw_bytes == raw.len() {
            return Some(());
        }
        (self.nonce_bytes, self.raw_bytes) = (12, raw.len());
        let (place, cipher) = (self.place.as_ptr(), self.functions.ciphers[size].as_ptr());
        let (none, nothing) = (ptr::null(), ptr::null());
        // SAFETY: the context and the cipher are the library's.
        let done = unsafe { (self.functions.init)(place, cipher, none, none, 1, nothing) };
        (done == 1).then_some(())
    }

    /// Expands the key now, ahead of the first message.
    pub(super) fn expand(&mut self) -> Option<()> {
        self.start(&[0; 12], 1, None)
    }

    /// Encrypts and writes the tag; nothing when the library refused.
    #[inline(always)]
    pub(super) fn seal(&mut self, of: Sealing<'_>) -> Option<()> {
        self.start(of.nonce, 1, None)?;
        self.update(of.aad, None)?;
        self.update(of.input, Some(of.output))?;
        let (mut none, mut len) = ([0; 16], 0);
        // SAFETY: the context is the library's; nothing is left to write.
        let ended =
            unsafe { (self.functions.end)(self.place.as_ptr(), none.as_mut_ptr(), &raw mut len) };
        if ended != 1 {
            return None;
        }
        // With EVP_CIPHER_CTX_ctrl a message of 128 bytes takes a tenth longer (OpenSSL 4.0.3).
        let mut tag = Parameter::tag(of.tag.as_mut_ptr(), of.tag.len());
        // SAFETY: the context is the library's; the tag has the bytes that the parameter says.
        let done = unsafe { (self.functions.get)(self.place.as_ptr(), tag.as_mut_ptr()) };
        (done == 1).then_some(())
    }

    /// Decrypts and says whether the tag was right; nothing when the library refused.
    #[inline(always)]
    pub(super) fn open(&mut self, of: Opening<'_>) -> Option<bool> {
        let tag = Parameter::tag(of.tag.as_ptr().cast_mut(), of.tag.len());
        self.start(of.nonce, 0, Some(&tag))?;
        self.update(of.aad, None)?;
        self.update(of.input, Some(of.output))?;
        let (mut none, mut len) = ([0; 16], 0);
        // SAFETY: the context is the library's; nothing is left to write.
        let ended =
            unsafe { (self.functions.end)(self.place.as_ptr(), none.as_mut_ptr(), &raw mut len) };
        if ended != 1 {
            // SAFETY: it touches only the calling thread's queue of errors.
            unsafe { (self.functions.clear_errors)() };
        }
        Some(ended == 1)
    }

    #[inline(always)]
    fn start(
        &mut self,
        nonce: &[u8],
        encrypt: c_int,
        parameters: Option<&[Parameter; 2]>,
    ) -> Option<()> {
        if nonce.len() != self.nonce_bytes {
            self.set_nonce_length(nonce.len())?;
        }
        let (place, none) = (self.place.as_ptr(), ptr::null());
        let key = if self.is_set { ptr::null() } else { self.raw.as_ptr() };
        self.is_set = true;
        let (nonce, set) = (nonce.as_ptr(), parameters.map_or(ptr::null(), |list| list.as_ptr()));
        // SAFETY: the context is the library's and has a cipher, the key is as long as that reads or null,
        // the nonce is as long as was set, and the parameters are a tag and an empty one, or null.
        let done = unsafe { (self.functions.init)(place, none, key, nonce, encrypt, set) };
        (done == 1).then_some(())
    }

    /// Hands over aad, or a text with the place for its result.
    #[inline(always)]
    fn update(&mut self, input: &[u8], output: Option<&mut [u8]>) -> Option<()> {
        if input.is_empty() {
            return Some(());
        }
        let (mut done, len) = (0, c_int::try_from(input.len()).ok()?);
        let output = match output {
            Some(output) if output.len() < input.len() => return None,
            Some(output) => output.as_mut_ptr(),
            None => ptr::null_mut(),
        };
        let (place, input) = (self.place.as_ptr(), input.as_ptr());
        // SAFETY: the context is the library's; the input has `len` bytes, the output as many or is null.
        let code = unsafe { (self.functions.update)(place, output, &raw mut done, input, len) };
        (code == 1 && done == len).then_some(())
    }

    fn set_nonce_length(&mut self, bytes: usize) -> Option<()> {
        let (len, none) = (c_int::try_from(bytes).ok()?, ptr::null_mut());
        // SAFETY: the context is the library's; a length needs no place.
        let code =
            unsafe { (self.functions.control)(self.place.as_ptr(), SET_NONCE_LENGTH, len, none) };
        self.nonce_bytes = bytes;
        (code == 1).then_some(())
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: made by `EVP_CIPHER_CTX_new` and freed once.
        unsafe { (self.functions.free)(self.place.as_ptr()) };
    }
}

/// `OSSL_PARAM`: a name, the type of its value, where that is, its bytes, and how many were written.
#[repr(C)]
struct Parameter {
    name: *const c_char,
    kind: c_uint,
    place: *mut c_void,
    bytes: usize,
    written: usize,
}

impl Parameter {
    /// A tag, and the empty parameter that ends a list.
    #[inline(always)]
    fn tag(place: *mut u8, bytes: usize) -> [Self; 2] {
        let (none, place) = (ptr::null_mut(), place.cast());
        [
            Self { name: c"tag".as_ptr(), kind: OCTETS, place, bytes, written: usize::MAX },
            Self { name: ptr::null(), kind: 0, place: none, bytes: 0, written: 0 },
        ]
    }
}

type Fetch = unsafe extern "C" fn(*mut c_void, *const c_char, *const c_char) -> *mut c_void;

/// A cipher of the default library context; it stays for as long as the process.
fn fetched(library: &Library, name: &CStr) -> Result<NonNull<c_void>, String> {
    // SAFETY: the type is that of the header.
    let fetch = unsafe { library.get::<Fetch>("EVP_CIPHER_fetch") }.map_err(|error| why(&error))?;
    // SAFETY: the default context and no properties; the name ends with a zero.
    let cipher = unsafe { fetch(ptr::null_mut(), name.as_ptr(), ptr::null()) };
    NonNull::new(cipher).ok_or_else(|| format!("it has no {}", name.to_string_lossy()))
}

fn version(library: &Library) -> Result<String, String> {
    // SAFETY: the type is that of the header.
    let text =
        unsafe { library.get::<unsafe extern "C" fn(c_int) -> *const c_char>("OpenSSL_version") };
    let text = text.map_err(|error| why(&error))?;
    // SAFETY: 0 asks for the version, a text of the library's own.
    let text = unsafe { text(0) };
    // SAFETY: it ends with a zero.
    let text = unsafe { CStr::from_ptr(text) }.to_string_lossy();
    // "OpenSSL 3.0.19 27 Jan 2026 (Library: …)"
    Ok(text.split(' ').take(2).collect::<Vec<_>>().join(" "))
}

const SET_NONCE_LENGTH: c_int = 0x9;
/// `OSSL_PARAM_OCTET_STRING`.
const OCTETS: c_uint = 5;

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
        assert!(reason("libc.so.6").contains("EVP_CIPHER_CTX_new"), "{}", reason("libc.so.6"));
    }
}
