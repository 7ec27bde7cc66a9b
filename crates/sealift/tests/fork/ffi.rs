//! A forked child, and how it ended.
#![allow(unsafe_code)]

use std::io::Error;

/// Does something in a forked child. True when the child says so; false when it says no, panics, is
/// killed, or has not ended after twenty seconds.
pub(crate) fn in_child(what: impl FnOnce() -> bool) -> bool {
    // SAFETY: the child runs Rust code after a fork of a process with threads, which is what is tested:
    // it takes no lock but the allocator's, which is ready in a child.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "fork: {}", Error::last_os_error());
    if child == 0 {
        // SAFETY: sets a timer of this process, whose signal ends it.
        unsafe { libc::alarm(20) };
        let is_right =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(what)).unwrap_or(false);
        // SAFETY: ends the child without running the parent's destructors.
        unsafe { libc::_exit(i32::from(!is_right)) };
    }
    let mut status = 0;
    // SAFETY: waits for this function's own child and writes to a local.
    let waited = unsafe { libc::waitpid(child, &raw mut status, 0) };
    assert_eq!(waited, child, "waitpid: {}", Error::last_os_error());
    status == 0
}
