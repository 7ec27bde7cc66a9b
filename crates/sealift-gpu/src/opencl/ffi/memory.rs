//! Memory of the device, and pinned memory of the host.

use super::objects::{Event, Handle, Queue, State};
use super::{Context, Failed, NO_EVENTS};
use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::ops::Range;
use std::ptr::{NonNull, null_mut, write_bytes};
use std::slice;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// Memory of the device.
#[derive(Debug)]
pub(in crate::opencl) struct Buffer {
    handle: Handle,
    bytes: usize,
}

impl Buffer {
    pub(in crate::opencl) fn new(context: &Context, bytes: usize) -> Result<Self, Failed> {
        Self::with(context, bytes, READ_WRITE)
    }

    fn with(context: &Context, bytes: usize, flags: u64) -> Result<Self, Failed> {
        let functions = context.functions();
        let mut status = 0;
        let raw = context.handle.raw();
        // SAFETY: no memory of ours is handed over.
        let made =
            unsafe { (functions.clCreateBuffer)(raw, flags, bytes, null_mut(), &raw mut status) };
        let release = functions.clReleaseMemObject;
        let handle = Handle::new("clCreateBuffer", made, status, release)?;
        Ok(Self { handle, bytes })
    }

    pub(in crate::opencl) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn raw(&self) -> *mut c_void {
        self.handle.raw()
    }
}

/// Memory of the host that the device copies from and to by itself.
#[derive(Debug)]
pub(in crate::opencl) struct Pinned {
    /// Released only when nothing is under way.
    buffer: ManuallyDrop<Buffer>,
    /// Where it is unmapped.
    queue: Arc<Queue>,
    begin: NonNull<u8>,
    /// The last copy, which may be under way.
    last: Option<Event>,
}

// SAFETY: the memory belongs to it alone, as a box's does.
unsafe impl Send for Pinned {}

impl Pinned {
    /// So many bytes of zeros.
    pub(in crate::opencl) fn new(queue: &Arc<Queue>, bytes: usize) -> Result<Self, Failed> {
        let buffer = Buffer::with(&queue.context, bytes, READ_WRITE | HOST_MEMORY)?;
        let functions = queue.context.functions();
        let mut status = 0;
        // SAFETY: the whole buffer is mapped, and waited for.
        let begin = unsafe {
            (functions.clEnqueueMapBuffer)(
                queue.handle.raw(),
                buffer.raw(),
                BLOCKING,
                MAP_READ_WRITE,
                0,
                bytes,
                NO_EVENTS.0,
                NO_EVENTS.1,
                null_mut(),
                &raw mut status,
            )
        };
        let failed = Failed { call: "clEnqueueMapBuffer", status };
        let begin = NonNull::new(begin.cast::<u8>()).filter(|_| status == 0).ok_or(failed)?;
        // SAFETY: so many bytes are mapped, and nobody else has them.
        unsafe { write_bytes(begin.as_ptr(), 0, bytes) };
        let (buffer, queue) = (ManuallyDrop::new(buffer), Arc::clone(queue));
        Ok(Self { buffer, queue, begin, last: None })
    }

    pub(in crate::opencl) fn len(&self) -> usize {
        self.buffer.bytes
    }

    /// The bytes, once no copy touches them any more.
    pub(in crate::opencl) fn bytes(&mut self) -> &mut [u8] {
        while self.is_under_way() {
            thread::sleep(Duration::from_micros(50));
        }
        self.last = None;
        // SAFETY: so many bytes are mapped and set, nothing is under way, and the borrow of `self` keeps it so.
        unsafe { slice::from_raw_parts_mut(self.begin.as_ptr(), self.buffer.bytes) }
    }

    /// Overwrites a part, as far as it is there. A copy that may be under way is of no use any more.
    pub(in crate::opencl) fn zero(&mut self, part: Range<usize>) {
        let end = part.end.min(self.len());
        let begin = part.start.min(end);
        // SAFETY: these bytes are mapped, and no reference of this process points to them.
        unsafe { write_bytes(self.begin.as_ptr().wrapping_add(begin), 0, end - begin) };
    }

    /// Where a part begins, if it and a buffer of the device have it.
    fn place(&self, part: &Range<usize>, other: &Buffer) -> Option<*mut u8> {
        let is_there = part.start <= part.end && part.end <= self.len().min(other.bytes);
        is_there.then(|| self.begin.as_ptr().wrapping_add(part.start))
    }

    fn is_under_way(&self) -> bool {
        let state = self.last.as_ref().map(Event::state);
        matches!(state, Some(Ok(State::UnderWay)))
    }
}

/// Wipes. Memory that the device may still write to is left to it, with zeros for now.
impl Drop for Pinned {
    fn drop(&mut self) {
        self.zero(0..self.len());
        if !self.is_under_way() {
            self.queue.unmap(&self.buffer, self.begin);
            // SAFETY: it is dropped here only, and not used afterwards.
            unsafe { ManuallyDrop::drop(&mut self.buffer) };
        }
    }
}

impl Queue {
    /// Gives up the host's side of a buffer. Where the device takes nothing more, the buffer's release does.
    fn unmap(&self, buffer: &Buffer, begin: NonNull<u8>) {
        let (functions, queue) = (self.context.functions(), self.handle.raw());
        let (unmap, place) = (functions.clEnqueueUnmapMemObject, begin.as_ptr().cast());
        // SAFETY: the buffer is mapped there, and whoever calls this uses it no more.
        let status =
            unsafe { unmap(queue, buffer.raw(), place, NO_EVENTS.0, NO_EVENTS.1, null_mut()) };
        if status == 0 {
            let _ = self.flush();
        }
    }

    /// Begins to copy a part to the same place on the device.
    pub(in crate::opencl) fn write(
        &self,
        to: &Buffer,
        from: &mut Pinned,
        part: Range<usize>,
    ) -> Result<Event, Failed> {
        let call = "clEnqueueWriteBuffer";
        let begin = from.place(&part, to).ok_or(Failed { call, status: INVALID_VALUE })?;
        let event = self.begun(call, |functions, queue, event| {
            let (write, to) = (functions.clEnqueueWriteBuffer, to.raw());
            let (at, bytes, from) = (part.start, part.len(), begin.cast_const().cast());
            // SAFETY: both sides have these bytes; `from` keeps them until the event is over.
            unsafe { write(queue, to, 0, at, bytes, from, NO_EVENTS.0, NO_EVENTS.1, event) }
        })?;
        from.last = Some(event.clone());
        Ok(event)
    }

    /// Begins to copy a part back.
    pub(in crate::opencl) fn read(
        &self,
        from: &Buffer,
        to: &mut Pinned,
        part: Range<usize>,
    ) -> Result<Event, Failed> {
        let call = "clEnqueueReadBuffer";
        let begin = to.place(&part, from).ok_or(Failed { call, status: INVALID_VALUE })?;
        let event = self.begun(call, |functions, queue, event| {
            let (read, from) = (functions.clEnqueueReadBuffer, from.raw());
            let (at, bytes, to) = (part.start, part.len(), begin.cast());
            // SAFETY: both sides have these bytes; `to` gives nobody its own until the event is over.
            unsafe { read(queue, from, 0, at, bytes, to, NO_EVENTS.0, NO_EVENTS.1, event) }
        })?;
        to.last = Some(event.clone());
        Ok(event)
    }

    /// Begins to overwrite the first bytes with zeros.
    pub(in crate::opencl) fn clear(&self, buffer: &Buffer, bytes: usize) -> Result<Event, Failed> {
        let bytes = bytes.next_multiple_of(ZEROS.len()).min(buffer.bytes);
        self.begun("clEnqueueFillBuffer", |functions, queue, event| {
            let (fill, raw, zeros) = (functions.clEnqueueFillBuffer, buffer.raw(), &ZEROS);
            let (pattern, pattern_bytes) = (zeros.as_ptr().cast(), zeros.len());
            // SAFETY: the buffer has so many bytes, a multiple of the pattern's, which is copied.
            unsafe {
                fill(queue, raw, pattern, pattern_bytes, 0, bytes, NO_EVENTS.0, NO_EVENTS.1, event)
            }
        })
    }
}

/// Buffers have a multiple of this.
static ZEROS: [u8; 16] = [0; 16];
const READ_WRITE: u64 = 1;
const HOST_MEMORY: u64 = 16;
const MAP_READ_WRITE: u64 = 3;
const BLOCKING: u32 = 1;
const INVALID_VALUE: i32 = -30;
