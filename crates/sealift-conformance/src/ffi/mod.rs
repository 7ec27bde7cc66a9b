//! Memory between inaccessible pages, memory that two threads write, and a child that may die.
#![allow(unsafe_code)]

mod wired;

pub(crate) use wired::Wired;

use std::cell::Cell;
use std::io::Error;
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};
use std::sync::OnceLock;

/// Bytes with an inaccessible page before and behind the pages they lie in.
pub(crate) struct Guarded {
    map: NonNull<u8>,
    map_len: usize,
    start: usize,
    len: usize,
}

// SAFETY: it owns its mapping alone, like a Vec.
unsafe impl Send for Guarded {}
// SAFETY: shared references only read.
unsafe impl Sync for Guarded {}

impl Guarded {
    /// The byte behind the last is inaccessible.
    pub(crate) fn ending_at_guard(len: usize) -> Self {
        Self::new(len, |pages_len, page| page + pages_len - len)
    }

    /// The byte before the first is inaccessible.
    pub(crate) fn starting_behind_guard(len: usize) -> Self {
        Self::new(len, |_, page| page)
    }

    /// From now on a write kills the process.
    pub(crate) fn forbid_writing(&mut self) {
        let page = page_bytes();
        // SAFETY: the first page of the mapping is the guard, so the next one is inside it.
        let inner = unsafe { self.map.add(page) };
        protect(inner, self.map_len - 2 * page, libc::PROT_READ);
    }

    pub(crate) fn as_mut(&mut self) -> &mut [u8] {
        let first = self.first();
        // SAFETY: `first` starts `len` bytes of this mapping, which nobody else has.
        unsafe { std::slice::from_raw_parts_mut(first, self.len) }
    }

    /// Where the first byte is.
    pub(crate) fn first(&self) -> *mut u8 {
        // SAFETY: `start` is inside the mapping.
        unsafe { self.map.as_ptr().add(self.start) }
    }

    fn new(len: usize, start: impl Fn(usize, usize) -> usize) -> Self {
        let page = page_bytes();
        let pages_len = len.next_multiple_of(page).max(page);
        let map_len = pages_len + 2 * page;
        let map = map_inaccessible(map_len);
        // SAFETY: one page is less than the mapping has.
        let inner = unsafe { map.add(page) };
        protect(inner, pages_len, libc::PROT_READ | libc::PROT_WRITE);
        Self { map, map_len, start: start(pages_len, page), len }
    }
}

impl AsRef<[u8]> for Guarded {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: `first` starts `len` bytes of this mapping, which live as long as `self`.
        unsafe { std::slice::from_raw_parts(self.first(), self.len) }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: this mapping was made with this length and is used by nobody any more.
        let failed = unsafe { libc::munmap(self.map.as_ptr().cast(), self.map_len) };
        debug_assert_eq!(failed, 0, "{}", Error::last_os_error());
    }
}

/// Memory that one thread rewrites while a device reads it, like memory shared with a process.
///
/// It is mapped, not allocated by Rust, and written by volatile writes through a pointer only.
pub(crate) struct Contested(Guarded);

impl Contested {
    pub(crate) fn holding(bytes: &[u8]) -> Self {
        let mut memory = Guarded::ending_at_guard(bytes.len());
        memory.as_mut().copy_from_slice(bytes);
        Self(memory)
    }

    /// What a front of another language hands to a device: bytes that may change.
    pub(crate) fn as_input(&self) -> &[u8] {
        self.0.as_ref()
    }

    /// Rewrites one byte from any thread.
    pub(crate) fn write(&self, at: usize, byte: u8) {
        assert!(at < self.0.len, "byte {at} of {}", self.0.len);
        // SAFETY: `at` is inside.
        let target = unsafe { self.0.first().add(at) };
        // SAFETY: the mapping is writable and outlives `self`; readers expect that it changes.
        unsafe { ptr::write_volatile(target, byte) };
    }
}

/// Whether reading a byte is a segmentation fault: a child tries.
#[cfg(test)]
pub(crate) fn reading_kills(address: *const u8) -> bool {
    // SAFETY: the child does only what is allowed after a fork: `signal`, a read, `_exit`.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "fork: {}", Error::last_os_error());
    if child == 0 {
        // SAFETY: no handler is installed, one that would print is taken away.
        unsafe { libc::signal(libc::SIGSEGV, libc::SIG_DFL) };
        // SAFETY: the read is inside a mapping; when it is a guard, this child ends here.
        unsafe { ptr::read_volatile(address) };
        // SAFETY: ends the child without running the parent's destructors.
        unsafe { libc::_exit(0) };
    }
    let mut status = 0;
    // SAFETY: waits for this function's own child and writes to a local.
    let waited = unsafe { libc::waitpid(child, &raw mut status, 0) };
    assert_eq!(waited, child, "waitpid: {}", Error::last_os_error());
    assert!(status == 0 || libc::WTERMSIG(status) == libc::SIGSEGV, "the child: {status:#x}");
    status != 0
}

/// While it lives, a segmentation fault on this thread says what was being tested before it ends
/// the process as it would have.
pub(crate) struct Named(#[expect(dead_code, reason = "kept alive for the handler")] String);

impl Named {
    pub(crate) fn new(what: String) -> Self {
        install_handler();
        let line = format!("segmentation fault: {what}\n");
        WHAT.set((line.as_ptr(), line.len()));
        Self(line)
    }
}

impl Drop for Named {
    fn drop(&mut self) {
        WHAT.set((ptr::null(), 0));
    }
}

thread_local! {
    static WHAT: Cell<(*const u8, usize)> = const { Cell::new((ptr::null(), 0)) };
}
/// What a segmentation fault did before.
static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

/// Each time, since a compiler in a driver may have put its own in front, which takes any fault for its end and deletes
/// the files that it is writing.
fn install_handler() {
    let before = install();
    BEFORE.get_or_init(|| before);
}

fn install() -> libc::sigaction {
    let (mut action, mut before) = (zeroed_action(), zeroed_action());
    action.sa_sigaction = on_fault as *const () as libc::sighandler_t;
    action.sa_flags = libc::SA_ONSTACK | libc::SA_SIGINFO;
    // SAFETY: both are whole, and the handler does only what a handler may.
    let failed = unsafe { libc::sigaction(libc::SIGSEGV, &raw const action, &raw mut before) };
    assert_eq!(failed, 0, "sigaction: {}", Error::last_os_error());
    before
}

/// Returning runs the faulty instruction again.
extern "C" fn on_fault(_: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the system gives a handler of this kind the fault's information.
    let info = unsafe { &*info };
    // SAFETY: a segmentation fault has an address.
    let address = unsafe { info.si_addr() };
    if !wired::spring(address as usize) {
        say_and_give_back();
    }
}

/// Whoever faults again does so under the handler from before.
fn say_and_give_back() {
    let (line, len) = WHAT.get();
    // SAFETY: the line lives while it is named, and nothing is written when there is none.
    unsafe { libc::write(2, line.cast(), len) };
    let default = zeroed_action();
    let before = BEFORE.get().unwrap_or(&default);
    // SAFETY: it was the action before, or is the default.
    unsafe { libc::sigaction(libc::SIGSEGV, before, ptr::null_mut()) };
}

fn zeroed_action() -> libc::sigaction {
    // SAFETY: zeros are the default action without flags.
    unsafe { MaybeUninit::zeroed().assume_init() }
}

fn map_inaccessible(len: usize) -> NonNull<u8> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: a new anonymous mapping at an address of the kernel's choice.
    let map = unsafe { libc::mmap(ptr::null_mut(), len, libc::PROT_NONE, flags, -1, 0) };
    assert_ne!(map, libc::MAP_FAILED, "mmap of {len} bytes: {}", Error::last_os_error());
    NonNull::new(map.cast()).expect("a mapping is never at address zero")
}

fn protect(start: NonNull<u8>, len: usize, protection: libc::c_int) {
    // SAFETY: the pages belong to the caller's mapping.
    let failed = unsafe { libc::mprotect(start.as_ptr().cast(), len, protection) };
    assert_eq!(failed, 0, "mprotect of {len} bytes: {}", Error::last_os_error());
}

fn page_bytes() -> usize {
    // SAFETY: asks for a constant of the system.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(bytes).expect("a page size is positive")
}
