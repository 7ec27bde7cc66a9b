//! Queues, programs, kernels and events.

use super::functions::{Functions, Raw};
use super::{Context, Failed, NO_EVENTS, done, text};
use std::ffi::{CStr, CString, c_char};
use std::ptr::{NonNull, null, null_mut};
use std::sync::Arc;

/// An object that is released when it is dropped. What was begun with it goes on: the library keeps what it needs.
#[derive(Debug)]
pub(super) struct Handle {
    raw: NonNull<std::ffi::c_void>,
    release: unsafe extern "C" fn(Raw) -> i32,
}

// SAFETY: the library's objects may be used and released on any thread.
unsafe impl Send for Handle {}
// SAFETY: its calls are safe from many threads but for a kernel's arguments, which only `&mut Kernel` sets.
unsafe impl Sync for Handle {}

impl Handle {
    pub(super) fn new(
        call: &'static str,
        raw: Raw,
        status: i32,
        release: unsafe extern "C" fn(Raw) -> i32,
    ) -> Result<Self, Failed> {
        done(call, status)?;
        NonNull::new(raw).map(|raw| Self { raw, release }).ok_or(Failed { call, status: NOTHING })
    }

    pub(super) fn raw(&self) -> Raw {
        self.raw.as_ptr()
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: it was made by the library for us, and is released once.
        unsafe { (self.release)(self.raw()) };
    }
}

/// A queue that works in order and keeps times.
#[derive(Debug)]
pub(in crate::opencl) struct Queue {
    pub(super) context: Arc<Context>,
    pub(super) handle: Handle,
}

impl Queue {
    pub(in crate::opencl) fn new(context: &Arc<Context>) -> Result<Self, Failed> {
        let mut status = 0;
        let (raw, device) = (context.handle.raw(), context.device.device);
        let create = context.functions().clCreateCommandQueue;
        // SAFETY: the context is of this device.
        let made = unsafe { create(raw, device, PROFILING, &raw mut status) };
        let release = context.functions().clReleaseCommandQueue;
        let handle = Handle::new("clCreateCommandQueue", made, status, release)?;
        Ok(Self { context: Arc::clone(context), handle })
    }

    /// Begins a kernel, whose arguments are set.
    pub(in crate::opencl) fn launch(
        &self,
        kernel: &Kernel,
        groups: usize,
        group_items: usize,
    ) -> Result<Event, Failed> {
        let all = groups * group_items;
        self.begun("clEnqueueNDRangeKernel", |functions, queue, event| {
            // SAFETY: one dimension has one number each. What the kernel reaches is what its messages name, which were
            // laid out within the buffers that are its arguments, and those live until it ends.
            unsafe {
                (functions.clEnqueueNDRangeKernel)(
                    queue,
                    kernel.handle.raw(),
                    1,
                    null(),
                    &raw const all,
                    &raw const group_items,
                    NO_EVENTS.0,
                    NO_EVENTS.1,
                    event,
                )
            }
        })
    }

    pub(in crate::opencl) fn flush(&self) -> Result<(), Failed> {
        // SAFETY: the queue is open.
        done("clFlush", unsafe { (self.context.functions().clFlush)(self.handle.raw()) })
    }

    /// Does what puts something into the queue, and gives its event.
    pub(super) fn begun(
        &self,
        call: &'static str,
        enqueue: impl FnOnce(&Functions, Raw, *mut Raw) -> i32,
    ) -> Result<Event, Failed> {
        let mut event = null_mut();
        let functions = self.context.functions();
        let status = enqueue(functions, self.handle.raw(), &raw mut event);
        let handle = Handle::new(call, event, status, functions.clReleaseEvent)?;
        Ok(Event { context: Arc::clone(&self.context), handle: Arc::new(handle) })
    }
}

/// A compiled program.
#[derive(Debug)]
pub(in crate::opencl) struct Program {
    context: Arc<Context>,
    handle: Handle,
}

impl Program {
    /// Compiles a source. An error comes with what the compiler said.
    pub(in crate::opencl) fn build(
        context: &Arc<Context>,
        source: &str,
        options: &str,
    ) -> Result<Self, (Failed, String)> {
        let quiet = |failed| (failed, String::new());
        let no_text = Failed { call: "clCreateProgramWithSource", status: NOTHING };
        let options = CString::new(options).map_err(|_| quiet(no_text))?;
        let functions = context.functions();
        let (text, bytes, mut status) = (source.as_ptr().cast::<c_char>(), source.len(), 0);
        // SAFETY: there is one source of so many bytes.
        let made = unsafe {
            (functions.clCreateProgramWithSource)(
                context.handle.raw(),
                1,
                &raw const text,
                &raw const bytes,
                &raw mut status,
            )
        };
        let release = functions.clReleaseProgram;
        let handle =
            Handle::new("clCreateProgramWithSource", made, status, release).map_err(quiet)?;
        let device = context.device.device;
        // SAFETY: there is one device, the options end with 0, and nothing is called back.
        let status = unsafe {
            (functions.clBuildProgram)(
                handle.raw(),
                1,
                &raw const device,
                options.as_ptr(),
                None,
                null_mut(),
            )
        };
        let program = Self { context: Arc::clone(context), handle };
        done("clBuildProgram", status).map_err(|failed| (failed, program.log()))?;
        Ok(program)
    }

    fn log(&self) -> String {
        let said = text("clGetProgramBuildInfo", |bytes, place, length| {
            let (program, device) = (self.handle.raw(), self.context.device.device);
            let ask = self.context.functions().clGetProgramBuildInfo;
            // SAFETY: the program was built for this device, and `place` has `bytes` bytes.
            unsafe { ask(program, device, BUILD_LOG, bytes, place, length) }
        });
        said.unwrap_or_default()
    }
}

/// A kernel with arguments of its own.
#[derive(Debug)]
pub(in crate::opencl) struct Kernel {
    context: Arc<Context>,
    handle: Handle,
    /// Most work-items of a group.
    pub(in crate::opencl) group_items_max: usize,
}

/// An argument of a kernel.
#[derive(Clone, Copy, Debug)]
pub(in crate::opencl) enum Argument<'b> {
    Buffer(&'b super::Buffer),
    Number(u32),
    /// Bytes of local memory.
    Local(usize),
}

impl Kernel {
    pub(in crate::opencl) fn new(program: &Program, name: &CStr) -> Result<Self, Failed> {
        let context = Arc::clone(&program.context);
        let functions = context.functions();
        let mut status = 0;
        // SAFETY: the program is built, and the name ends with 0.
        let made = unsafe {
            (functions.clCreateKernel)(program.handle.raw(), name.as_ptr(), &raw mut status)
        };
        let handle = Handle::new("clCreateKernel", made, status, functions.clReleaseKernel)?;
        let mut group_items_max = 0_usize;
        let place = (&raw mut group_items_max).cast();
        let ask = functions.clGetKernelWorkGroupInfo;
        let device = context.device.device;
        // SAFETY: the kernel was built for this device, and the number has 8 bytes.
        let status = unsafe { ask(handle.raw(), device, KERNEL_GROUP_ITEMS, 8, place, null_mut()) };
        done("clGetKernelWorkGroupInfo", status)?;
        Ok(Self { context, handle, group_items_max })
    }

    /// Sets an argument for the launches to come.
    pub(in crate::opencl) fn set(&mut self, at: u32, argument: Argument<'_>) -> Result<(), Failed> {
        let raw;
        let (bytes, value) = match &argument {
            Argument::Buffer(buffer) => {
                raw = buffer.raw();
                (size_of::<Raw>(), (&raw const raw).cast())
            }
            Argument::Number(number) => (size_of::<u32>(), std::ptr::from_ref(number).cast()),
            Argument::Local(bytes) => (*bytes, null()),
        };
        let set = self.context.functions().clSetKernelArg;
        // SAFETY: the value has so many bytes and is copied; local memory has none.
        done("clSetKernelArg", unsafe { set(self.handle.raw(), at, bytes, value) })
    }
}

/// Something that was put into a queue.
#[derive(Clone, Debug)]
pub(in crate::opencl) struct Event {
    context: Arc<Context>,
    handle: Arc<Handle>,
}

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::opencl) enum State {
    UnderWay,
    Done,
    Failed(i32),
}

impl Event {
    pub(in crate::opencl) fn state(&self) -> Result<State, Failed> {
        let mut state = 0_i32;
        let place = (&raw mut state).cast();
        let ask = self.context.functions().clGetEventInfo;
        // SAFETY: the event is ours, and `state` has 4 bytes.
        let status = unsafe { ask(self.handle.raw(), EVENT_STATUS, 4, place, null_mut()) };
        done("clGetEventInfo", status)?;
        Ok(match state {
            0 => State::Done,
            1.. => State::UnderWay,
            failed => State::Failed(failed),
        })
    }

    /// How long it took on the device, once it is done; 0 where its driver can't tell. NVIDIA's knows that of a command
    /// which is said to be over only once that was waited for.
    pub(in crate::opencl) fn took_ns(&self) -> Result<u64, Failed> {
        let mut took_ns = self.told_ns()?;
        if took_ns.is_none() {
            let (wait, raw) = (self.context.functions().clWaitForEvents, self.handle.raw());
            // SAFETY: there is one event, and it is ours.
            done("clWaitForEvents", unsafe { wait(1, &raw const raw) })?;
            took_ns = self.told_ns()?;
        }
        Ok(took_ns.unwrap_or(0))
    }

    fn told_ns(&self) -> Result<Option<u64>, Failed> {
        let [start, end] = [PROFILING_START, PROFILING_END].map(|what| {
            let mut ns = 0_u64;
            let ask = self.context.functions().clGetEventProfilingInfo;
            let place = (&raw mut ns).cast();
            // SAFETY: the event is ours, and `ns` has 8 bytes.
            match unsafe { ask(self.handle.raw(), what, 8, place, null_mut()) } {
                NO_TIMES => Ok(None),
                status => done("clGetEventProfilingInfo", status).map(|()| Some(ns)),
            }
        });
        Ok(end?.zip(start?).map(|(end, start)| end.saturating_sub(start)))
    }
}

/// `CL_PROFILING_INFO_NOT_AVAILABLE`.
const NO_TIMES: i32 = -7;
/// A call that says it worked, and gave nothing.
const NOTHING: i32 = i32::MIN;
const PROFILING: u64 = 2;
const BUILD_LOG: u32 = 0x1183;
const KERNEL_GROUP_ITEMS: u32 = 0x11b0;
const EVENT_STATUS: u32 = 0x11d3;
const PROFILING_START: u32 = 0x1282;
const PROFILING_END: u32 = 0x1283;
