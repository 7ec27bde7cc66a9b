//! How an engine notices that it lives in a forked child.
#![allow(unsafe_code)]

use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

static FORKS: AtomicU32 = AtomicU32::new(0);

/// How many forks lie between the program's start and this process.
///
/// A number of its own instead of the process id: asking for that is a system call a message.
pub(crate) fn forks() -> u32 {
    FORKS.load(Ordering::Relaxed)
}

/// Starts counting; without it [`forks`] stays zero.
pub(crate) fn watch_forks() {
    static WATCH: Once = Once::new();
    WATCH.call_once(|| {
        // SAFETY: the handler only adds to an atomic, which is allowed in a forked child.
        let code = unsafe { libc::pthread_atfork(None, None, Some(count_fork)) };
        // Out of memory at the program's first engine: nothing better is possible than to say so.
        assert_eq!(code, 0, "pthread_atfork failed with code {code}");
    });
}

extern "C" fn count_fork() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}
