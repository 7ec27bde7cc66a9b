//! The functions of `intel-ipsec-mb.h`, found at run time.
#![allow(unsafe_code)]

use crate::peers::{Direction, Message, why};
use libloading::Library;
use std::ffi::{CStr, OsStr, c_char, c_void};
use zeroize::{DefaultIsZeroes, Zeroize};

/// The functions that the library's manager chose for this processor.
pub(super) struct Functions {
    /// For keys of 128, 192 and 256 bits.
    sizes: [Size; 3],
    /// Cache lines of the longest expanded key, which differ between versions and instruction sets.
    key_lines: usize,
    version: String,
    suffix: &'static str,
    /// Keeps the functions where they are.
    _library: Library,
}

/// An expanded key with room for the message being worked. Wiped on drop.
pub struct Key {
    size: usize,
    data: Box<[Line]>,
    context: Box<[Line; 4]>,
}

impl Functions {
    /// Opens the library and lets it choose its code.
    ///
    /// # Errors
    /// What is missing.
    pub(super) fn open(file: &OsStr) -> Result<Self, String> {
        // SAFETY: the library's constructors set up its own tables and nothing of this process.
        let library = unsafe { Library::new(file) }.map_err(|error| why(&error))?;
        let suffix = chosen(&library)?;
        let sizes = [
            Size::find(&library, 128, suffix)?,
            Size::find(&library, 192, suffix)?,
            Size::find(&library, 256, suffix)?,
        ];
        let key_lines = sizes.iter().map(Size::lines_written).max().unwrap_or(KEY_LINES_MAX);
        Ok(Self { sizes, key_lines, version: version(&library)?, suffix, _library: library })
    }

    /// Version and instruction set.
    pub(super) fn detail(&self) -> String {
        format!("intel-ipsec-mb {}, direct calls, {}", self.version, self.suffix)
    }

    /// Expands a key; nothing when its length is none of the standard's.
    #[inline(always)]
    pub(super) fn expand(&self, key: &mut Key, raw: &[u8]) -> Option<()> {
        key.size = match raw.len() {
            16 => 0,
            24 => 1,
            32 => 2,
            _ => return None,
        };
        // SAFETY: the raw key is as long as this size's function reads. The room is aligned to a cache line
        // and has a line more than the expansions of all three sizes wrote when this library was opened.
        unsafe { (self.sizes[key.size].expand)(raw.as_ptr(), key.data.as_mut_ptr().cast()) };
        Some(())
    }

    /// Encrypts or decrypts and writes the tag.
    #[inline(always)]
    pub(super) fn crypt(&self, direction: Direction, key: &mut Key, of: Message<'_>) {
        let size = &self.sizes[key.size];
        if of.nonce.len() != NONCE_BYTES {
            return size.by_parts(direction, key, of);
        }
        let whole = match direction {
            Direction::Encrypt => size.encrypt,
            Direction::Decrypt => size.decrypt,
        };
        // SAFETY: the key was expanded for this size, the context has room, and each pointer is valid for
        // the length beside it; the nonce has 12 bytes and the output is as long as the input.
        unsafe {
            whole(
                key.data.as_ptr().cast(),
                key.context.as_mut_ptr().cast(),
                of.output.as_mut_ptr(),
                of.input.as_ptr(),
                of.input.len().min(of.output.len()) as u64,
                of.nonce.as_ptr(),
                of.aad.as_ptr(),
                of.aad.len() as u64,
                of.tag.as_mut_ptr(),
                of.tag.len() as u64,
            );
        }
    }
}

impl Key {
    /// Room without a key.
    pub(super) fn new(functions: &Functions) -> Self {
        Self {
            size: 0,
            // The last line is a guard: what a version writes for some keys only would land there.
            data: vec![Line::default(); functions.key_lines + 1].into_boxed_slice(),
            context: Box::new([Line::default(); 4]),
        }
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        self.data.zeroize();
        self.context.zeroize();
    }
}

/// The functions for keys of one size.
struct Size {
    expand: unsafe extern "C" fn(*const u8, *mut c_void),
    encrypt: Whole,
    decrypt: Whole,
    start: Start,
    encrypt_part: Part,
    decrypt_part: Part,
    encrypt_end: End,
    decrypt_end: End,
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
);
/// Key, context, nonce, its length, aad, its length.
type Start = unsafe extern "C" fn(*const c_void, *mut c_void, *const u8, u64, *const u8, u64);
/// Key, context, output, input, length.
type Part = unsafe extern "C" fn(*const c_void, *mut c_void, *mut u8, *const u8, u64);
/// Key, context, tag, its length.
type End = unsafe extern "C" fn(*const c_void, *mut c_void, *mut u8, u64);

impl Size {
    fn find(library: &Library, bits: usize, suffix: &str) -> Result<Self, String> {
        macro_rules! find {
            ($($name:tt)*) => {{
                let name = format!("aes_gcm_{}_{suffix}", format_args!($($name)*));
                // SAFETY: the function of this name is of the type of the field it goes into.
                let found = unsafe { library.get(name.as_bytes()) };
                *found.map_err(|error| why(&error))?
            }};
        }
        Ok(Self {
            expand: find!("pre_{bits}"),
            encrypt: find!("enc_{bits}"),
            decrypt: find!("dec_{bits}"),
            start: find!("init_var_iv_{bits}"),
            encrypt_part: find!("enc_{bits}_update"),
            decrypt_part: find!("dec_{bits}_update"),
            encrypt_end: find!("enc_{bits}_finalize"),
            decrypt_end: find!("dec_{bits}_finalize"),
        })
    }

    /// How many cache lines the expansion of a key writes: more would spread keys over more of the caches
    /// than the library's own structure does.
    fn lines_written(&self) -> usize {
        let last = |fill: u8| {
            let mut room = vec![Line([fill; 64]); KEY_LINES_MAX];
            // SAFETY: at most 256 bits are read, and the room is larger than any version's structure.
            unsafe { (self.expand)([0; 32].as_ptr(), room.as_mut_ptr().cast()) };
            room.iter().rposition(|line| line.0 != [fill; 64]).map_or(0, |at| at + 1)
        };
        // A byte that happens to be written with one fill differs from the other.
        last(0xA5).max(last(0x5A))
    }

    /// A message whose nonce hasn't 12 bytes.
    fn by_parts(&self, direction: Direction, key: &mut Key, of: Message<'_>) {
        let (data, context) = (key.data.as_ptr().cast(), key.context.as_mut_ptr().cast());
        let (nonce, aad, len) = (of.nonce, of.aad, of.input.len().min(of.output.len()));
        let (part, end) = match direction {
            Direction::Encrypt => (self.encrypt_part, self.encrypt_end),
            Direction::Decrypt => (self.decrypt_part, self.decrypt_end),
        };
        let (nonce_len, aad_len) = (nonce.len() as u64, aad.len() as u64);
        // SAFETY: the key was expanded for this size, the context has room, nonce and aad have the readable
        // bytes that stand beside them.
        unsafe { (self.start)(data, context, nonce.as_ptr(), nonce_len, aad.as_ptr(), aad_len) };
        // SAFETY: the key is expanded, the context was started just now, and both texts have `len` bytes.
        unsafe { part(data, context, of.output.as_mut_ptr(), of.input.as_ptr(), len as u64) };
        // SAFETY: the key is expanded, the context was started above, and the tag has the bytes that are written.
        unsafe { end(data, context, of.tag.as_mut_ptr(), of.tag.len() as u64) };
    }
}

/// The suffix of the functions that the library's manager chooses for this processor.
///
/// The manager is a table of pointers whose place differs between versions, so it is searched for the
/// one that encrypts under 128 bits.
fn chosen(library: &Library) -> Result<&'static str, String> {
    // SAFETY: the type is that of the header.
    let make = unsafe { library.get::<unsafe extern "C" fn(u64) -> *mut c_void>("alloc_mb_mgr") };
    let make = make.map_err(|error| why(&error))?;
    // SAFETY: the type is that of the header.
    let choose =
        unsafe { library.get::<unsafe extern "C" fn(*mut c_void, *mut u32)>("init_mb_mgr_auto") };
    let choose = choose.map_err(|error| why(&error))?;
    // SAFETY: the type is that of the header.
    let free = unsafe { library.get::<unsafe extern "C" fn(*mut c_void)>("free_mb_mgr") };
    let free = free.map_err(|error| why(&error))?;
    // SAFETY: no flags, as the header allows.
    let manager = unsafe { make(0) };
    if manager.is_null() {
        return Err("alloc_mb_mgr had no memory".to_owned());
    }
    let mut architecture = 0;
    // SAFETY: the manager is the library's own, and the number is written.
    unsafe { choose(manager, &raw mut architecture) };
    let mut table = [0; TABLE_WORDS];
    // SAFETY: every version's manager is aligned and far larger: it holds queues of jobs.
    unsafe { manager.cast::<usize>().copy_to_nonoverlapping(table.as_mut_ptr(), TABLE_WORDS) };
    // SAFETY: made by `alloc_mb_mgr` and freed once.
    unsafe { free(manager) };
    let is_chosen = |suffix: &&&str| {
        let name = format!("aes_gcm_enc_128_{suffix}");
        // SAFETY: only the function's address is looked at.
        let found = unsafe { library.get::<unsafe extern "C" fn()>(name.as_bytes()) };
        found.is_ok_and(|function| table.contains(&(*function as usize)))
    };
    let found = SUFFIXES.iter().find(is_chosen);
    found.copied().ok_or_else(|| "its manager chose code that isn't known here".to_owned())
}

fn version(library: &Library) -> Result<String, String> {
    // SAFETY: the type is that of the header.
    let text =
        unsafe { library.get::<unsafe extern "C" fn() -> *const c_char>("imb_get_version_str") };
    let text = text.map_err(|error| why(&error))?;
    // SAFETY: it takes nothing and returns a text of its own.
    let text = unsafe { text() };
    if text.is_null() {
        return Err("imb_get_version_str returned nothing".to_owned());
    }
    // SAFETY: the text ends with a zero and is never changed.
    Ok(unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}

/// A cache line.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; 64]);

impl Default for Line {
    fn default() -> Self {
        Self([0; 64])
    }
}

impl DefaultIsZeroes for Line {}

/// `avx512` is the last of those with vectors: in version 3 it is another name for `avx_gen4`.
const SUFFIXES: [&str; 9] = [
    "vaes_avx512",
    "vaes_avx2",
    "avx2_vaes",
    "avx_gen4",
    "avx512",
    "avx_gen2",
    "sse",
    "vaes_avx10",
    "avx10_vaes",
];
const KEY_LINES_MAX: usize = 64;
/// Among the first fields of every version.
const TABLE_WORDS: usize = 160;
const NONCE_BYTES: usize = 12;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_size_of_key_is_expanded_into_the_guard_line() {
        let functions =
            match crate::peers::first_that_opens(None, &super::super::LIBRARIES, Functions::open) {
                Ok(functions) => functions,
                Err(reason) => {
                    let required = std::env::var("SEALIFT_REQUIRE").unwrap_or_default();
                    assert!(!required.contains("ipsec-mb"), "ipsec-mb is required: {reason}");
                    return;
                }
            };
        let mut written = vec![];
        for bytes in [16, 24, 32] {
            let mut key = Key::new(&functions);
            key.data.fill(Line([0xA5; 64]));
            assert!(functions.expand(&mut key, &vec![7; bytes]).is_some());
            let is_fresh = |line: &Line| line.0 == [0xA5; 64];
            assert!(key.data.last().is_some_and(is_fresh), "{bytes} bytes of key");
            written.push(key.data.iter().filter(|line| !is_fresh(line)).count());
        }
        assert_eq!(written.iter().max(), Some(&functions.key_lines), "{written:?}");
    }

    #[test]
    fn a_library_that_is_not_there_or_is_another_one_says_so() {
        let reason = |file: &str| Functions::open(file.as_ref()).err().unwrap_or_default();
        assert!(
            reason("libnowhere.so.1").contains("libnowhere.so.1"),
            "{}",
            reason("libnowhere.so.1")
        );
        assert!(reason("libc.so.6").contains("alloc_mb_mgr"), "{}", reason("libc.so.6"));
    }
}
