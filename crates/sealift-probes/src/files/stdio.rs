//! C's own streams.
#![allow(unsafe_code)]

use std::ffi::CString;
use std::io::{Error, Result};
use std::os::fd::{BorrowedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::NonNull;

unsafe extern "C" {
    pub(super) fn getc(stream: *mut libc::FILE) -> libc::c_int;
    pub(super) fn getc_unlocked(stream: *mut libc::FILE) -> libc::c_int;
    pub(super) fn putc(byte: libc::c_int, stream: *mut libc::FILE) -> libc::c_int;
}

/// A stream of the C library, as `fopen` gives it: its buffer is the library's.
pub(super) struct Stream(NonNull<libc::FILE>);

// SAFETY: the C library locks its streams, and a stream has one owner here, who is moved as a whole.
unsafe impl Send for Stream {}

impl Stream {
    /// Opens a file, in a mode of C such as `r`.
    pub(super) fn open(path: &Path, mode: &std::ffi::CStr) -> Result<Self> {
        let path = CString::new(path.as_os_str().as_bytes())?;
        // SAFETY: both are strings that end with a zero and live until the call is over.
        let stream = unsafe { libc::fopen(path.as_ptr(), mode.as_ptr()) };
        NonNull::new(stream).map(Self).ok_or_else(Error::last_os_error)
    }

    /// For the calls of the C library, as long as this lives.
    pub(super) fn as_ptr(&mut self) -> *mut libc::FILE {
        self.0.as_ptr()
    }

    /// Goes to the beginning.
    pub(super) fn rewind(&mut self) -> Result<()> {
        // SAFETY: the stream is open until this is dropped.
        let code = unsafe { libc::fseek(self.as_ptr(), 0, libc::SEEK_SET) };
        if code == 0 { Ok(()) } else { Err(Error::last_os_error()) }
    }

    /// Hands what is in the buffer to the system.
    pub(super) fn flush(&mut self) -> Result<()> {
        // SAFETY: the stream is open until this is dropped.
        let code = unsafe { libc::fflush(self.as_ptr()) };
        if code == 0 { Ok(()) } else { Err(Error::last_os_error()) }
    }

    /// The file below.
    pub(super) fn file(&mut self) -> BorrowedFd<'_> {
        // SAFETY: the stream is open until this is dropped.
        let file: RawFd = unsafe { libc::fileno(self.as_ptr()) };
        // SAFETY: the stream owns it as long as the borrow of the stream lasts.
        unsafe { BorrowedFd::borrow_raw(file) }
    }

    /// Why the last call gave the end of the file or an error.
    pub(super) fn end(&mut self) -> Result<()> {
        // SAFETY: the stream is open until this is dropped.
        let failed = unsafe { libc::ferror(self.as_ptr()) };
        if failed == 0 { Ok(()) } else { Err(Error::last_os_error()) }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: it was open, nobody else has it, and nobody uses it after this.
        unsafe { libc::fclose(self.as_ptr()) };
    }
}
