//! A stream with memory on both sides: copies, kernels, and waiting for them.

use super::memory::{Memory, Pinned};
use super::{Context, DevicePointer, Function, Handle, SUCCESS};
use crate::GpuError;
use crate::gpu::poll_patiently;
use std::ffi::{c_uint, c_void};
use std::fmt;
use std::ops::Range;
use std::ptr;
use std::sync::Arc;
use std::time::Duration;

/// A stream and the buffers that it works on. The host's sides are lent only while nothing is under way.
pub(in crate::cuda) struct Queue {
    context: Arc<Context>,
    stream: Handle,
    buffers: Vec<Buffer>,
    /// Events, of which the first so many are recorded since the last wait, and one more for its end.
    events: Vec<Handle>,
    marks: usize,
    end: Handle,
    /// A copy or a kernel may be under way.
    busy: bool,
}

/// Memory of the device, and of the host where both have it.
#[derive(Default)]
pub(in crate::cuda) struct Buffer {
    memory: Option<Memory>,
    pinned: Option<Pinned>,
}

/// Where a buffer is on the device.
#[derive(Clone, Copy)]
pub(in crate::cuda) struct Address(DevicePointer);

impl Address {
    /// As CUDA has it.
    pub(in crate::cuda) fn number(self) -> u64 {
        self.0
    }
}

/// An argument of a kernel.
#[derive(Clone, Copy)]
pub(in crate::cuda) enum Value {
    /// A buffer.
    Address(Address),
    /// A number.
    Number(u32),
}

/// How a kernel is spread.
#[derive(Clone, Copy)]
pub(in crate::cuda) struct Grid {
    /// Blocks.
    pub(in crate::cuda) blocks: usize,
    /// Threads of each.
    pub(in crate::cuda) threads: usize,
    /// Dynamic shared memory of each, in bytes.
    pub(in crate::cuda) shared_bytes: usize,
}

impl Buffer {
    /// So many bytes on the device, and on the host, too, if that is wanted.
    pub(in crate::cuda) fn new(
        context: &Arc<Context>,
        bytes: usize,
        is_on_host: bool,
        what: &'static str,
    ) -> Result<Self, GpuError> {
        let pinned = is_on_host.then(|| Pinned::new(context, bytes, what)).transpose()?;
        Ok(Self { memory: Some(Memory::new(context, bytes, what)?), pinned })
    }

    fn bytes(&self) -> usize {
        self.memory.as_ref().map_or(0, |memory| memory.bytes)
    }
}

impl Queue {
    /// A stream with so many buffers, all of them empty.
    pub(in crate::cuda) fn new(context: &Arc<Context>, buffers: usize) -> Result<Self, GpuError> {
        let _current = context.current()?;
        let functions = &context.cuda.functions;
        let mut stream = 0;
        // SAFETY: the place is a whole pointer.
        let code = unsafe { (functions.cuStreamCreate)(&raw mut stream, NON_BLOCKING) };
        context.check("cuStreamCreate", code)?;
        let end = event(context).inspect_err(|_| {
            // SAFETY: it was just made, and nothing is in it.
            let _ = unsafe { (functions.cuStreamDestroy_v2)(stream) };
        })?;
        let buffers = (0..buffers).map(|_| Buffer::default()).collect();
        let context = Arc::clone(context);
        Ok(Self { context, stream, buffers, events: vec![], marks: 0, end, busy: false })
    }

    /// Bytes of a buffer.
    pub(in crate::cuda) fn room(&self, buffer: usize) -> usize {
        self.buffers[buffer].bytes()
    }

    /// Where a buffer is on the device; none while it is empty.
    pub(in crate::cuda) fn address(&self, buffer: usize) -> Option<Address> {
        self.buffers[buffer].memory.as_ref().map(|memory| Address(memory.address))
    }

    /// The host's sides of all buffers in order. Those that have none are empty, and so are all of them while copies may
    /// be under way.
    pub(in crate::cuda) fn hosts(&mut self) -> impl Iterator<Item = &mut [u8]> {
        let busy = self.busy;
        self.buffers.iter_mut().map(move |buffer| match &mut buffer.pinned {
            Some(pinned) if !busy => pinned.as_slice(),
            _ => &mut [],
        })
    }

    /// Puts other buffers in the place of some, which are wiped.
    pub(in crate::cuda) fn replace(
        &mut self,
        fresh: Vec<(usize, Buffer)>,
        patience: Duration,
    ) -> Result<(), GpuError> {
        if fresh.is_empty() {
            return Ok(());
        }
        for (buffer, _) in &fresh {
            self.zero(*buffer, usize::MAX)?;
        }
        self.wait(patience)?;
        for (buffer, fresh) in fresh {
            self.buffers[buffer] = fresh;
        }
        Ok(())
    }

    /// Begins to copy a part of a buffer to the same place on the device.
    pub(in crate::cuda) fn upload(
        &mut self,
        buffer: usize,
        part: Range<usize>,
    ) -> Result<(), GpuError> {
        let _current = self.context.current()?;
        let bytes = part.len();
        let (device, host) = self.sides(buffer, part)?;
        let copy = self.context.cuda.functions.cuMemcpyHtoDAsync_v2;
        // SAFETY: both sides have the bytes, which nobody is lent before the copy was waited for.
        let code = unsafe { copy(device, host, bytes, self.stream) };
        self.busy |= code == SUCCESS;
        self.context.check("cuMemcpyHtoDAsync_v2", code)
    }

    /// Begins to copy a part of a buffer back.
    pub(in crate::cuda) fn download(
        &mut self,
        buffer: usize,
        part: Range<usize>,
    ) -> Result<(), GpuError> {
        let _current = self.context.current()?;
        let bytes = part.len();
        let (device, host) = self.sides(buffer, part)?;
        let copy = self.context.cuda.functions.cuMemcpyDtoHAsync_v2;
        // SAFETY: both sides have the bytes, which nobody is lent before the copy was waited for.
        let code = unsafe { copy(host, device, bytes, self.stream) };
        self.busy |= code == SUCCESS;
        self.context.check("cuMemcpyDtoHAsync_v2", code)
    }

    /// Begins to overwrite the first bytes of a buffer on the device.
    pub(in crate::cuda) fn zero(&mut self, buffer: usize, bytes: usize) -> Result<(), GpuError> {
        let Some(memory) = &self.buffers[buffer].memory else { return Ok(()) };
        let bytes = bytes.min(memory.bytes);
        if bytes == 0 {
            return Ok(());
        }
        let _current = self.context.current()?;
        let set = self.context.cuda.functions.cuMemsetD8Async;
        // SAFETY: the memory has the bytes, and no reference of the host points to them.
        let code = unsafe { set(memory.address, 0, bytes, self.stream) };
        self.context.check("cuMemsetD8Async", code)
    }

    /// Overwrites bytes of a buffer on the host, from a place on. What may be under way there is of no use any more.
    pub(in crate::cuda) fn zero_host(&mut self, buffer: usize, at: usize, bytes: usize) {
        if let Some(pinned) = &mut self.buffers[buffer].pinned {
            pinned.zero(at, bytes);
        }
    }

    /// Begins a kernel.
    pub(in crate::cuda) fn launch(
        &mut self,
        function: &Function,
        grid: Grid,
        values: &[Value],
    ) -> Result<(), GpuError> {
        let failed = |code| GpuError::Launch {
            device: self.context.name().to_owned(),
            kernel: function.name,
            code,
        };
        if !Arc::ptr_eq(function.context(), &self.context) {
            return Err(failed("it is of another device".to_owned()));
        }
        let _current = self.context.current()?;
        let mut arguments = packed(values);
        let mut bytes = size_of_val(arguments.as_slice());
        let mut extra: [*mut c_void; 5] = [
            ptr::without_provenance_mut(ARGUMENTS),
            arguments.as_mut_ptr().cast(),
            ptr::without_provenance_mut(ARGUMENTS_BYTES),
            (&raw mut bytes).cast(),
            ptr::null_mut(),
        ];
        let number = |number: usize| c_uint::try_from(number).unwrap_or(c_uint::MAX);
        // SAFETY: the function is of a loaded program of this context; the arguments lie packed where `extra` says, with
        // their length; addresses among them are of device memory, to which no reference of the host points.
        let code = unsafe {
            (self.context.cuda.functions.cuLaunchKernel)(
                function.handle,
                number(grid.blocks),
                1,
                1,
                number(grid.threads),
                1,
                1,
                number(grid.shared_bytes),
                self.stream,
                ptr::null_mut(),
                extra.as_mut_ptr(),
            )
        };
        self.busy |= code == SUCCESS;
        self.context.check_as("cuLaunchKernel", code, |_, told| failed(told))
    }

    /// Marks the time when all before is done.
    pub(in crate::cuda) fn mark(&mut self) -> Result<(), GpuError> {
        let _current = self.context.current()?;
        if self.marks == self.events.len() {
            self.events.push(event(&self.context)?);
        }
        self.record(self.events[self.marks])?;
        self.marks += 1;
        Ok(())
    }

    /// Waits for all that was begun. Where that can't be told, or takes longer than `patience`, the device is lost.
    ///
    /// Returns the nanoseconds from each mark to the next, or to the end.
    pub(in crate::cuda) fn wait(&mut self, patience: Duration) -> Result<Vec<u64>, GpuError> {
        let waited = self.wait_for_end(patience);
        let waited = waited.map_err(|error| self.context.give_up(error));
        let marks = std::mem::take(&mut self.marks);
        waited?;
        self.busy = false;
        let _current = self.context.current()?;
        let ends = self.events[..marks].iter().copied().skip(1).chain([self.end]);
        self.events[..marks]
            .iter()
            .zip(ends)
            .map(|(start, end)| self.elapsed(*start, end))
            .collect()
    }

    fn wait_for_end(&self, patience: Duration) -> Result<(), GpuError> {
        let _current = self.context.current()?;
        self.record(self.end)?;
        let query = self.context.cuda.functions.cuEventQuery;
        let is_over = || {
            // SAFETY: the event is of this context.
            let code = unsafe { query(self.end) };
            if code == NOT_READY {
                return Ok(false);
            }
            self.context.check("cuEventQuery", code).map(|()| true)
        };
        match poll_patiently(patience, is_over)? {
            true => Ok(()),
            false => Err(self.context.lose_patience(patience)),
        }
    }

    fn record(&self, event: Handle) -> Result<(), GpuError> {
        let record = self.context.cuda.functions.cuEventRecord;
        // SAFETY: the event and the stream are of this context.
        let code = unsafe { record(event, self.stream) };
        self.context.check("cuEventRecord", code)
    }

    fn elapsed(&self, start: Handle, end: Handle) -> Result<u64, GpuError> {
        let (mut milliseconds, get) = (0.0, self.context.cuda.functions.cuEventElapsedTime);
        // SAFETY: the place is a whole number, and both events are of this context.
        let code = unsafe { get(&raw mut milliseconds, start, end) };
        self.context.check("cuEventElapsedTime", code)?;
        let time = Duration::try_from_secs_f32(milliseconds / 1e3).unwrap_or_default();
        Ok(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
    }

    /// Where a part of a buffer begins on both sides.
    fn sides(
        &self,
        buffer: usize,
        part: Range<usize>,
    ) -> Result<(DevicePointer, *mut c_void), GpuError> {
        let sides = &self.buffers[buffer];
        let limit = sides.pinned.as_ref().map_or(0, Pinned::bytes).min(sides.bytes());
        let is_there = part.start <= part.end && part.end <= limit;
        match (&sides.memory, &sides.pinned) {
            (Some(memory), Some(pinned)) if is_there => {
                let host = pinned.address().wrapping_byte_add(part.start);
                Ok((memory.address + part.start as u64, host))
            }
            _ => Err(GpuError::TooLong {
                device: self.context.name().to_owned(),
                what: "copies",
                found: part.end,
                limit,
            }),
        }
    }
}

/// Waits for what is under way, and wipes both sides. Where the device is lost, its memory is gone with it.
impl Drop for Queue {
    fn drop(&mut self) {
        if self.busy {
            let _ = self.wait(PATIENCE);
        }
        let Some(_current) = self.context.leave() else { return };
        let functions = &self.context.cuda.functions;
        for memory in self.buffers.iter().filter_map(|buffer| buffer.memory.as_ref()) {
            let set = functions.cuMemsetD8Async;
            // SAFETY: the memory has so many bytes, and no reference of the host points to them.
            let _ = unsafe { set(memory.address, 0, memory.bytes, self.stream) };
        }
        let _ = self.wait_for_end(PATIENCE);
        for event in self.events.iter().chain([&self.end]) {
            // SAFETY: it was made in this context and is destroyed once.
            let _ = unsafe { (functions.cuEventDestroy_v2)(*event) };
        }
        // SAFETY: it was made in this context and is destroyed once.
        let _ = unsafe { (functions.cuStreamDestroy_v2)(self.stream) };
    }
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes: usize = self.buffers.iter().map(Buffer::bytes).sum();
        write!(f, "Queue({bytes} bytes, secret, busy: {})", self.busy)
    }
}

/// An event that takes times. The context is current.
fn event(context: &Context) -> Result<Handle, GpuError> {
    let mut event = 0;
    // SAFETY: the place is a whole pointer.
    let code = unsafe { (context.cuda.functions.cuEventCreate)(&raw mut event, 0) };
    context.check("cuEventCreate", code)?;
    Ok(event)
}

/// Arguments as a kernel finds them: each at a multiple of its size.
fn packed(values: &[Value]) -> Vec<u32> {
    let mut words = vec![];
    for value in values {
        match *value {
            Value::Number(number) => words.push(number),
            Value::Address(Address(address)) => {
                words.resize(words.len().next_multiple_of(2), 0);
                let [low, high] = [address & u64::from(u32::MAX), address >> 32];
                words.extend([low, high].map(|half| u32::try_from(half).unwrap_or(0)));
            }
        }
    }
    words
}

/// How long a queue that is dropped waits for its work.
const PATIENCE: Duration = Duration::from_secs(30);
const NOT_READY: u32 = 600;
/// `CU_STREAM_NON_BLOCKING`: it does not wait for work of others in this process.
const NON_BLOCKING: c_uint = 1;
// `CU_LAUNCH_PARAM_BUFFER_POINTER` and `CU_LAUNCH_PARAM_BUFFER_SIZE`.
const ARGUMENTS: usize = 1;
const ARGUMENTS_BYTES: usize = 2;
