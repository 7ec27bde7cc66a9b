//! `std::ifstream`, in a library that was built of [`SOURCE`] on this machine.
#![allow(unsafe_code)]

use super::tally::Tally;
use libloading::Library;
use std::ffi::{CString, c_char, c_int, c_void};
use std::io::{Error, Result};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::NonNull;

/// An open `std::ifstream`.
pub(super) struct Ifstream {
    calls: Calls,
    reader: NonNull<c_void>,
    // Last, so that the code is there until the reader is closed.
    _library: Library,
}

// SAFETY: the reader has one owner, who is moved as a whole, and keeps nothing of a thread's own.
unsafe impl Send for Ifstream {}

struct Calls {
    read: unsafe extern "C" fn(*mut c_void, u64, *mut u64) -> c_int,
    rewind: unsafe extern "C" fn(*mut c_void) -> c_int,
    close: unsafe extern "C" fn(*mut c_void),
}

type Open = unsafe extern "C" fn(*const c_char) -> *mut c_void;

impl Ifstream {
    /// Opens a file with the reader in a library.
    pub(super) fn open(path: &Path, library: &Path) -> Result<Self> {
        // SAFETY: it was built of our own source, and its constructors are the standard library's.
        let library = unsafe { Library::new(library) }.map_err(Error::other)?;
        // SAFETY: the source declares it so.
        let open = unsafe { library.get::<Open>(b"sealift_open\0") }.map_err(Error::other)?;
        // SAFETY: the source declares it so.
        let read = unsafe { library.get(b"sealift_read\0") }.map_err(Error::other)?;
        // SAFETY: the source declares it so.
        let rewind = unsafe { library.get(b"sealift_rewind\0") }.map_err(Error::other)?;
        // SAFETY: the source declares it so.
        let close = unsafe { library.get(b"sealift_close\0") }.map_err(Error::other)?;
        let calls = Calls { read: *read, rewind: *rewind, close: *close };
        let name = CString::new(path.as_os_str().as_bytes())?;
        // SAFETY: the name ends with a zero and lives until the call is over.
        let reader = unsafe { open(name.as_ptr()) };
        let reader = NonNull::new(reader).ok_or_else(|| Error::other("the stream did not open"))?;
        Ok(Self { calls, reader, _library: library })
    }

    pub(super) fn read(&mut self, sequences: u64) -> Result<Tally> {
        let mut read = [0; 3];
        // SAFETY: the reader is open, and there is room for the three figures.
        let code = unsafe { (self.calls.read)(self.reader.as_ptr(), sequences, read.as_mut_ptr()) };
        let [sequences, bases, sum] = read;
        ended(code, Tally { sequences, bases, sum })
    }

    pub(super) fn rewind(&mut self) -> Result<()> {
        // SAFETY: the reader is open.
        ended(unsafe { (self.calls.rewind)(self.reader.as_ptr()) }, ())
    }
}

fn ended<T>(code: c_int, value: T) -> Result<T> {
    if code == 0 { Ok(value) } else { Err(Error::other("the stream failed")) }
}

impl Drop for Ifstream {
    fn drop(&mut self) {
        // SAFETY: it is open, and nobody uses it after this.
        unsafe { (self.calls.close)(self.reader.as_ptr()) };
    }
}

/// Reads lines of short reads with `std::getline`, for a C++ compiler of 2011 or later.
pub const SOURCE: &str = include_str!("stream.cc");
