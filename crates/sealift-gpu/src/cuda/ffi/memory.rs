//! Memory of a device, and memory of the host that the device copies by itself.

use super::{Code, Context, DevicePointer};
use crate::GpuError;
use std::ffi::c_void;
use std::ptr::{self, NonNull};
use std::slice;
use std::sync::Arc;

/// Memory of a device. Who drops it has it wiped.
pub(super) struct Memory {
    context: Arc<Context>,
    pub(super) address: DevicePointer,
    pub(super) bytes: usize,
}

/// Pinned memory of the host. Its drop wipes.
pub(super) struct Pinned {
    context: Arc<Context>,
    address: NonNull<u8>,
    bytes: usize,
}

impl Memory {
    pub(super) fn new(
        context: &Arc<Context>,
        bytes: usize,
        what: &'static str,
    ) -> Result<Self, GpuError> {
        let _current = context.current()?;
        let mut address = 0;
        // SAFETY: the place is a whole address.
        let code = unsafe { (context.cuda.functions.cuMemAlloc_v2)(&raw mut address, bytes) };
        context.check_as("cuMemAlloc_v2", code, no_memory(context, what, bytes))?;
        Ok(Self { context: Arc::clone(context), address, bytes })
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if let Some(_current) = self.context.leave() {
            // An error is one of earlier work, or says that the memory is gone with the device.
            // SAFETY: it was allocated in this context and is freed once.
            let _ = unsafe { (self.context.cuda.functions.cuMemFree_v2)(self.address) };
        }
    }
}

impl Pinned {
    /// Memory that holds zeros.
    pub(super) fn new(
        context: &Arc<Context>,
        bytes: usize,
        what: &'static str,
    ) -> Result<Self, GpuError> {
        let _current = context.current()?;
        let mut place: *mut c_void = ptr::null_mut();
        // SAFETY: the place is a whole pointer.
        let code =
            unsafe { (context.cuda.functions.cuMemHostAlloc)(&raw mut place, bytes, PORTABLE) };
        context.check_as("cuMemHostAlloc", code, no_memory(context, what, bytes))?;
        let device = || context.name().to_owned();
        let address = NonNull::new(place.cast()).ok_or_else(|| GpuError::OutOfMemory {
            device: device(),
            what,
            bytes,
        })?;
        let mut pinned = Self { context: Arc::clone(context), address, bytes };
        pinned.zero(0, bytes);
        Ok(pinned)
    }

    pub(super) fn address(&self) -> *mut c_void {
        self.address.as_ptr().cast()
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The memory; no copy is under way.
    pub(super) fn as_slice(&mut self) -> &mut [u8] {
        // SAFETY: there are so many bytes, written when they were allocated; the borrow keeps others away, and whoever
        // asks has waited for every copy.
        unsafe { slice::from_raw_parts_mut(self.address.as_ptr(), self.bytes) }
    }

    /// Overwrites bytes from a place on. The memory is CUDA's, so that the compiler can't leave that out.
    pub(super) fn zero(&mut self, at: usize, bytes: usize) {
        let at = at.min(self.bytes);
        let bytes = bytes.min(self.bytes - at);
        let place = self.address.as_ptr().wrapping_add(at);
        // SAFETY: there are so many bytes from there on, which no reference points to.
        unsafe { ptr::write_bytes(place, 0, bytes) };
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        self.zero(0, self.bytes);
        if let Some(_current) = self.context.leave() {
            let free = self.context.cuda.functions.cuMemFreeHost;
            // An error is one of earlier work, or says that the device is lost.
            // SAFETY: it was allocated in this context and is freed once.
            let _ = unsafe { free(self.address()) };
        }
    }
}

// SAFETY: memory belongs to no thread; it is written through a `&mut` alone.
unsafe impl Send for Pinned {}

// SAFETY: a shared reference gives nothing but its address and length.
unsafe impl Sync for Pinned {}

/// What a failed allocation is told as.
fn no_memory(
    context: &Context,
    what: &'static str,
    bytes: usize,
) -> impl FnOnce(Code, String) -> GpuError + use<> {
    let device = context.name().to_owned();
    move |code, told| match code {
        OUT_OF_MEMORY => GpuError::OutOfMemory { device, what, bytes },
        _ => GpuError::Call { device, code: told },
    }
}

const OUT_OF_MEMORY: Code = 2;
/// `CU_MEMHOSTALLOC_PORTABLE`: pinned for every context.
const PORTABLE: u32 = 1;
