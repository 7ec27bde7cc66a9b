use super::Memory;
use crate::bytes::Lent;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sealift::Buffer;
use std::mem;
use std::slice;
use std::sync::{Mutex, PoisonError};

/// Bytes of a Python object that outlive the call: the object is held as long as a batch needs them.
pub(crate) fn outliving(lent: Lent<'_>) -> Buffer<'static> {
    let held = match lent {
        Lent::Bytes(bytes) => {
            let all = bytes.as_bytes();
            let (start, len) = (all.as_ptr(), all.len());
            Held { start, len, owner: Some(Owner::Bytes(bytes.unbind())) }
        }
        Lent::Buffer(memory) => return outliving_memory(memory),
    };
    bytes::Bytes::from_owner(held).into()
}

/// The same for memory behind the buffer protocol.
pub(crate) fn outliving_memory(memory: Memory) -> Buffer<'static> {
    let (start, len) = (memory.bytes().as_ptr(), memory.len());
    bytes::Bytes::from_owner(Held { start, len, owner: Some(Owner::Memory(memory)) }).into()
}

/// Lets go of the objects that batches need no more.
pub(crate) fn let_go(_py: Python<'_>) {
    let gone = mem::take(&mut *UNNEEDED.lock().unwrap_or_else(PoisonError::into_inner));
    // Without the lock: what is dropped may run any Python code.
    drop(gone);
}

struct Held {
    start: *const u8,
    len: usize,
    owner: Option<Owner>,
}

enum Owner {
    Bytes(#[expect(dead_code, reason = "held")] Py<PyBytes>),
    Memory(#[expect(dead_code, reason = "held")] Memory),
}

/// A worker that needs an object no more has no GIL, and who has it may wait for the worker: the object is left here
/// until [`let_go`].
static UNNEEDED: Mutex<Vec<Owner>> = Mutex::new(vec![]);

// SAFETY: the bytes are only read, and objects are let go with the GIL.
unsafe impl Send for Held {}
// SAFETY: a shared one lets any thread read the bytes, and does nothing with the owner.
unsafe impl Sync for Held {}
// SAFETY: owners are moved to where they are let go, and nothing else is done with them.
unsafe impl Send for Owner {}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        if self.len == 0 {
            return &[];
        }
        // SAFETY: the owner holds so many bytes from there until this is dropped.
        unsafe { slice::from_raw_parts(self.start, self.len) }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        UNNEEDED.lock().unwrap_or_else(PoisonError::into_inner).extend(self.owner.take());
    }
}
