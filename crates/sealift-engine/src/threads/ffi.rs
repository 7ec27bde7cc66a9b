//! What a call lends to other threads, and the pool that they are of.
#![allow(unsafe_code)]

use super::{Gate, new_pool};
use crate::ffi::forks;
use rayon_core::ThreadPool;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The pool of this process; none where it has no cores or no threads for one.
pub(super) fn pool() -> Option<&'static ThreadPool> {
    let newest = NEWEST.load(Ordering::Acquire);
    // SAFETY: it is null, or of a box that was leaked whole before it was stored here.
    let newest_pool = unsafe { newest.as_ref() };
    if let Some(own) = newest_pool.filter(|pool| pool.forks == forks()) {
        return own.threads.as_ref();
    }
    let made = Box::new(Pool { forks: forks(), threads: new_pool() });
    let made = Box::into_raw(made);
    match NEWEST.compare_exchange(newest, made, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => {}
        Err(_) => {
            // SAFETY: it comes from a box and nobody else was given it. Its threads end by themselves.
            drop(unsafe { Box::from_raw(made) });
        }
    }
    // SAFETY: as above, and not null any more, since a pool is never taken out.
    let newest_pool = unsafe { NEWEST.load(Ordering::Acquire).as_ref() };
    newest_pool.and_then(|pool| pool.threads.as_ref())
}

/// Of a parent its threads are not there: it is left alone and another one made.
static NEWEST: AtomicPtr<Pool> = AtomicPtr::new(ptr::null_mut());

struct Pool {
    forks: u32,
    threads: Option<ThreadPool>,
}

/// Lets others call `work` while `run` runs, and waits for them afterwards.
pub(super) fn share(work: &(dyn Fn() + Sync), run: impl FnOnce(&Arc<Shared>)) {
    // SAFETY: only the lifetime changes. Who is inside the gate calls it, and this function does not end,
    // by a panic neither, before the gate is closed and nobody is inside.
    let work = unsafe { mem::transmute::<&(dyn Fn() + Sync), &'static (dyn Fn() + Sync)>(work) };
    let shared = Arc::new(Shared { work, gate: Gate::new() });
    let closing = Closing(&shared);
    run(&shared);
    drop(closing);
}

/// A call that others may help with until it is closed.
pub(super) struct Shared {
    /// Lives until the gate is closed and nobody is inside.
    work: *const (dyn Fn() + Sync),
    gate: Gate,
}

// SAFETY: the pointer is to something that may be called from every thread, and is followed inside the gate only.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl Shared {
    /// Helps, unless it is too late.
    pub(super) fn help(&self) {
        if !self.gate.enter() {
            return;
        }
        // SAFETY: this thread is inside the gate until it leaves below, so the caller waits for it.
        let work = unsafe { &*self.work };
        // What it did not do is missed by the caller; the panic was printed.
        let _ = catch_unwind(AssertUnwindSafe(work));
        self.gate.leave();
    }
}

struct Closing<'c>(&'c Shared);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.gate.close();
    }
}
