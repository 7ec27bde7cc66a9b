//! What a call lends to other threads, and the pool that they are of.
#![allow(unsafe_code)]

use super::Gate;
use super::pool::Pool;
use crate::ffi::forks;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The pool of this process; none where it has one core only.
pub(super) fn pool() -> Option<&'static Pool> {
    let newest = NEWEST.load(Ordering::Acquire);
    if let Some(own) = own(newest) {
        return own.pool.as_ref();
    }
    let made = Box::into_raw(Box::new(ProcessPool { forks: forks(), pool: Pool::new() }));
    match NEWEST.compare_exchange(newest, made, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => own(made)?.pool.as_ref().inspect(|pool| pool.start()),
        Err(other) => {
            // SAFETY: it comes from a box, and nobody else was given it.
            drop(unsafe { Box::from_raw(made) });
            own(other)?.pool.as_ref()
        }
    }
}

/// The pool of this process, if it was needed before.
pub(super) fn pool_there_is() -> Option<&'static Pool> {
    own(NEWEST.load(Ordering::Acquire))?.pool.as_ref()
}

/// What it points to, unless that is of a parent of this process: its threads are not here.
fn own(newest: *const ProcessPool) -> Option<&'static ProcessPool> {
    // SAFETY: it is null, or of a box that was made whole before it was stored, and is never dropped then.
    unsafe { newest.as_ref() }.filter(|newest| newest.forks == forks())
}

static NEWEST: AtomicPtr<ProcessPool> = AtomicPtr::new(ptr::null_mut());

struct ProcessPool {
    forks: u32,
    pool: Option<Pool>,
}

/// Lets others call `work` while `run` runs, and waits for them afterwards.
pub(super) fn share(work: &(dyn Fn() + Sync), run: impl FnOnce(&Arc<SharedCall>)) {
    // SAFETY: only the lifetime changes. Who is inside the gate calls it, and this function does not end,
    // by a panic neither, before the gate is closed and nobody is inside.
    let work = unsafe { mem::transmute::<&(dyn Fn() + Sync), &'static (dyn Fn() + Sync)>(work) };
    let shared = Arc::new(SharedCall { work, gate: Gate::new() });
    let closing = Closing(&shared);
    run(&shared);
    drop(closing);
}

/// A call that others may help with until it is closed.
pub(super) struct SharedCall {
    /// Lives until the gate is closed and nobody is inside.
    work: *const (dyn Fn() + Sync),
    gate: Gate,
}

// SAFETY: the pointer is to something that may be called from every thread, and is followed inside the gate only.
unsafe impl Send for SharedCall {}
// SAFETY: threads that share it only pass the gate, which counts with an atomic, and call what all may call at once.
unsafe impl Sync for SharedCall {}

impl SharedCall {
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

struct Closing<'c>(&'c SharedCall);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.gate.close();
    }
}
