//! Intel's AES-GCM behind safe types: the functions of `ippcp.h`, found at run time.
#![allow(unsafe_code)]

use crate::peers::message::Direction;
use libloading::Library;
use std::error::Error;
use std::ffi::{CStr, OsStr, c_char, c_int};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use zeroize::{DefaultIsZeroes, Zeroize};

/// The library with the functions that are called here.
pub struct Ipp {
    functions: Functions,
    /// Bytes of a state.
    state_bytes: c_int,
    version: String,
    /// Keeps the functions where they are.
    _library: Library,
}

impl Ipp {
    /// Opens the library of a file, or of a name that the loader finds, and lets it choose its code for
    /// this processor.
    ///
    /// # Errors
    /// What is missing, for people.
    pub fn open(file: &OsStr) -> Result<Arc<Self>, String> {
        // SAFETY: the library's constructors set up its own tables and nothing of this process.
        let library = unsafe { Library::new(file) }.map_err(|error| why(&error))?;
        let functions = Functions::find(&library)?;
        functions.dispatch().map_err(|error| error.to_string())?;
        let mut state_bytes = 0;
        // SAFETY: the pointer is to a whole integer, which the call writes.
        let code = unsafe { (functions.state_size)(&raw mut state_bytes) };
        functions.checked("ippsAES_GCMGetSize", code).map_err(|error| error.to_string())?;
        if !(1..=STATE_BYTES_MAX).contains(&state_bytes) {
            return Err(format!("its AES-GCM state has {state_bytes} bytes, which can't be"));
        }
        let version = functions.version();
        Ok(Arc::new(Self { functions, state_bytes, version, _library: library }))
    }

    /// The library's version and the instruction sets of the code that it chose.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }
}

impl fmt::Debug for Ipp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ipp({})", self.version)
    }
}

/// An expanded key with room for the message being worked. Wiped on drop.
pub struct State {
    ipp: Arc<Ipp>,
    room: Box<[Line]>,
}

/// The library refused.
#[derive(Debug)]
pub struct Refused {
    function: &'static str,
    status: String,
}

impl State {
    /// Room without a key.
    #[must_use]
    pub fn new(ipp: &Arc<Ipp>) -> Self {
        let bytes = usize::try_from(ipp.state_bytes).unwrap_or(0);
        let room = vec![Line::default(); bytes.div_ceil(size_of::<Line>())].into_boxed_slice();
        Self { ipp: Arc::clone(ipp), room }
    }

    /// Expands a key of 16, 24 or 32 bytes.
    ///
    /// # Errors
    /// The library refused it.
    pub fn set_key(&mut self, key: &[u8]) -> Result<(), Refused> {
        let (place, len) = (self.place(), length("ippsAES_GCMInit", key)?);
        let Ipp { functions, state_bytes, .. } = &*self.ipp;
        // SAFETY: the key has `len` readable bytes, and the room has at least the bytes that the library
        // asked for.
        let code = unsafe { (functions.set_key)(key.as_ptr(), len, place, *state_bytes) };
        functions.checked("ippsAES_GCMInit", code)
    }

    /// Encrypts or decrypts `input` to `output` and returns the full tag.
    ///
    /// # Errors
    /// The library refused.
    ///
    /// # Panics
    /// If they aren't of one length.
    pub fn crypt(
        &mut self,
        direction: Direction,
        nonce: &[u8],
        aad: &[u8],
        input: &[u8],
        output: &mut [u8],
    ) -> Result<[u8; 16], Refused> {
        assert_eq!(input.len(), output.len(), "a text and its place");
        let (nonce_len, aad_len) = (length(START, nonce)?, length(START, aad)?);
        let (state, len) = (self.place(), length(direction.function(), input)?);
        let functions = &self.ipp.functions;
        // SAFETY: the state is one of this library's, which looks for its own mark in it and refuses one
        // without a key; nonce and aad have the readable bytes that stand beside them.
        let code =
            unsafe { (functions.start)(nonce.as_ptr(), nonce_len, aad.as_ptr(), aad_len, state) };
        functions.checked(START, code)?;
        if len > 0 {
            let crypt = match direction {
                Direction::Encrypt => functions.encrypt,
                Direction::Decrypt => functions.decrypt,
            };
            // SAFETY: as above; the texts have `len` bytes each, and the borrows keep them apart.
            let code = unsafe { crypt(input.as_ptr(), output.as_mut_ptr(), len, state) };
            functions.checked(direction.function(), code)?;
        }
        let mut tag = [0; 16];
        // SAFETY: as above; the tag has the 16 bytes that are written.
        let code = unsafe { (functions.tag)(tag.as_mut_ptr(), 16, state) };
        functions.checked("ippsAES_GCMGetTag", code)?;
        Ok(tag)
    }

    fn place(&mut self) -> *mut u8 {
        self.room.as_mut_ptr().cast()
    }
}

impl Drop for State {
    fn drop(&mut self) {
        self.room.zeroize();
    }
}

impl Direction {
    fn function(self) -> &'static str {
        match self {
            Self::Encrypt => "ippsAES_GCMEncrypt",
            Self::Decrypt => "ippsAES_GCMDecrypt",
        }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} refused: {}", self.function, self.status)
    }
}

/// What the loader says, which its error keeps behind the name of the call that failed.
fn why(error: &libloading::Error) -> String {
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}

/// A length as the library takes it.
fn length(function: &'static str, bytes: &[u8]) -> Result<c_int, Refused> {
    c_int::try_from(bytes.len()).map_err(|_| {
        let status = format!("{} bytes are more than it takes", bytes.len());
        Refused { function, status }
    })
}

/// As `ippcp.h` declares them; a context is a pointer to bytes here.
#[derive(Clone, Copy)]
struct Functions {
    init: unsafe extern "C" fn() -> c_int,
    enabled_features: unsafe extern "C" fn() -> u64,
    lib_version: unsafe extern "C" fn() -> *const Version,
    status_text: unsafe extern "C" fn(c_int) -> *const c_char,
    state_size: unsafe extern "C" fn(*mut c_int) -> c_int,
    set_key: unsafe extern "C" fn(*const u8, c_int, *mut u8, c_int) -> c_int,
    start: unsafe extern "C" fn(*const u8, c_int, *const u8, c_int, *mut u8) -> c_int,
    encrypt: unsafe extern "C" fn(*const u8, *mut u8, c_int, *mut u8) -> c_int,
    decrypt: unsafe extern "C" fn(*const u8, *mut u8, c_int, *mut u8) -> c_int,
    tag: unsafe extern "C" fn(*mut u8, c_int, *const u8) -> c_int,
}

impl Functions {
    fn find(library: &Library) -> Result<Self, String> {
        macro_rules! find {
            ($name:literal) => {{
                // SAFETY: the function of this name is of the type of the field it goes into.
                let found = unsafe { library.get($name) };
                *found.map_err(|error| why(&error))?
            }};
        }
        Ok(Self {
            init: find!("ippcpInit"),
            enabled_features: find!("ippcpGetEnabledCpuFeatures"),
            lib_version: find!("ippcpGetLibVersion"),
            status_text: find!("ippcpGetStatusString"),
            state_size: find!("ippsAES_GCMGetSize"),
            set_key: find!("ippsAES_GCMInit"),
            start: find!("ippsAES_GCMStart"),
            encrypt: find!("ippsAES_GCMEncrypt"),
            decrypt: find!("ippsAES_GCMDecrypt"),
            tag: find!("ippsAES_GCMGetTag"),
        })
    }

    /// Lets the library choose its code, once: it is one for the whole process, and may be at work.
    fn dispatch(&self) -> Result<(), Refused> {
        static ALONE: Mutex<()> = Mutex::new(());
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: it only returns a number of the library's.
        let enabled = unsafe { (self.enabled_features)() };
        if enabled != 0 {
            return Ok(());
        }
        // SAFETY: nobody else calls it meanwhile, and nobody works with a library that was not ready.
        let code = unsafe { (self.init)() };
        self.checked("ippcpInit", code)
    }

    /// Below 0 are errors, above are warnings.
    #[inline]
    fn checked(&self, function: &'static str, code: c_int) -> Result<(), Refused> {
        if code >= 0 { Ok(()) } else { Err(self.refused(function, code)) }
    }

    #[cold]
    fn refused(&self, function: &'static str, code: c_int) -> Refused {
        // SAFETY: it takes any number and returns a text of its own.
        let text = unsafe { (self.status_text)(code) };
        // SAFETY: the text is the library's own, which is still open.
        let text = unsafe { text_of(text) };
        Refused { function, status: format!("status {code}, {text}") }
    }

    fn version(&self) -> String {
        // SAFETY: it returns a structure of its own, or null.
        let version = unsafe { (self.lib_version)() };
        // SAFETY: a pointer that isn't null is to a whole structure that is never changed.
        let Some(version) = (unsafe { version.as_ref() }) else {
            return "of an unknown version".to_owned();
        };
        // SAFETY: both texts are the library's own, which is still open.
        let text = |pointer| unsafe { text_of(pointer) };
        format!("{}: {}", text(version.version), text(version.name))
    }
}

/// # Safety
/// The pointer is null or to a text that ends with a zero.
unsafe fn text_of(pointer: *const c_char) -> String {
    if pointer.is_null() {
        return "no text".to_owned();
    }
    // SAFETY: it is not null, so that the caller promises a text that ends with a zero.
    unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned()
}

/// `IppLibraryVersion` of `ippcpdefs.h`.
#[repr(C)]
struct Version {
    _numbers: [c_int; 4],
    _target_cpu: [u8; 4],
    name: *const c_char,
    version: *const c_char,
    _build_date: *const c_char,
}

/// A cache line of a state.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; 64]);

impl Default for Line {
    fn default() -> Self {
        Self([0; 64])
    }
}

impl DefaultIsZeroes for Line {}

const START: &str = "ippsAES_GCMStart";
/// It is 1,311 in version 2.3.
const STATE_BYTES_MAX: c_int = 1 << 20;
