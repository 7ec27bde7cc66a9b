//! The functions of `cuda.h` that are used here, found at run time, and safe types over them.
#![allow(unsafe_code)]

mod context;
mod memory;
mod module;
mod queue;

pub(super) use context::Context;
pub(super) use module::{Function, Module, NotLoaded};
pub(super) use queue::{Address, Buffer, Grid, Queue, Value};

use crate::GpuError;
use libloading::Library;
use std::error::Error;
use std::ffi::{CStr, OsStr, c_char, c_int, c_uchar, c_uint, c_void};
use std::mem::ManuallyDrop;
use std::ptr;

/// A `CUresult`.
pub(super) type Code = c_uint;

/// Something of CUDA's: a pointer that is handed back and never followed.
type Handle = usize;

/// What CUDA calls a device's memory.
type DevicePointer = u64;

macro_rules! functions {
    ($($name:ident($($argument:ident: $of:ty),*);)*) => {
        /// CUDA's functions by their names.
        #[expect(non_snake_case, reason = "CUDA's names")]
        struct Functions {
            $($name: unsafe extern "C" fn($($argument: $of),*) -> Code,)*
        }

        impl Functions {
            fn find(library: &Library, file: &str) -> Result<Self, GpuError> {
                let lacks = |function: &str| GpuError::NoFunction {
                    library: file.to_owned(),
                    function: function.to_owned(),
                };
                Ok(Self {
                    $($name: {
                        // SAFETY: the function of this name has this type in `cuda.h`.
                        let found = unsafe { library.get(stringify!($name)) };
                        *found.map_err(|_| lacks(stringify!($name)))?
                    },)*
                })
            }
        }
    };
}

functions! {
    cuInit(flags: c_uint);
    cuGetErrorName(code: Code, name: *mut *const c_char);
    cuGetErrorString(code: Code, text: *mut *const c_char);
    cuDriverGetVersion(version: *mut c_int);
    cuDeviceGetCount(count: *mut c_int);
    cuDeviceGet(device: *mut c_int, number: c_int);
    cuDeviceGetName(name: *mut c_char, len: c_int, device: c_int);
    cuDeviceGetAttribute(value: *mut c_int, attribute: c_uint, device: c_int);
    cuDeviceTotalMem_v2(bytes: *mut usize, device: c_int);
    cuDeviceGetPCIBusId(text: *mut c_char, len: c_int, device: c_int);
    cuDevicePrimaryCtxRetain(context: *mut Handle, device: c_int);
    cuDevicePrimaryCtxRelease_v2(device: c_int);
    cuCtxPushCurrent_v2(context: Handle);
    cuCtxPopCurrent_v2(context: *mut Handle);
    cuModuleLoadDataEx(
        module: *mut Handle,
        image: *const c_void,
        options: c_uint,
        names: *mut c_uint,
        values: *mut *mut c_void
    );
    cuModuleUnload(module: Handle);
    cuModuleGetFunction(function: *mut Handle, module: Handle, name: *const c_char);
    cuFuncSetAttribute(function: Handle, attribute: c_uint, value: c_int);
    cuMemAlloc_v2(address: *mut DevicePointer, bytes: usize);
    cuMemFree_v2(address: DevicePointer);
    cuMemHostAlloc(address: *mut *mut c_void, bytes: usize, flags: c_uint);
    cuMemFreeHost(address: *mut c_void);
    cuMemcpyHtoDAsync_v2(to: DevicePointer, from: *const c_void, bytes: usize, stream: Handle);
    cuMemcpyDtoHAsync_v2(to: *mut c_void, from: DevicePointer, bytes: usize, stream: Handle);
    cuMemsetD8Async(at: DevicePointer, byte: c_uchar, bytes: usize, stream: Handle);
    cuStreamCreate(stream: *mut Handle, flags: c_uint);
    cuStreamDestroy_v2(stream: Handle);
    cuEventCreate(event: *mut Handle, flags: c_uint);
    cuEventDestroy_v2(event: Handle);
    cuEventRecord(event: Handle, stream: Handle);
    cuEventQuery(event: Handle);
    cuEventElapsedTime(milliseconds: *mut f32, start: Handle, end: Handle);
    cuLaunchKernel(
        function: Handle,
        blocks_x: c_uint,
        blocks_y: c_uint,
        blocks_z: c_uint,
        threads_x: c_uint,
        threads_y: c_uint,
        threads_z: c_uint,
        shared_bytes: c_uint,
        stream: Handle,
        arguments: *mut *mut c_void,
        extra: *mut *mut c_void
    );
}

/// CUDA's library, opened and initialised.
pub(super) struct Cuda {
    functions: Functions,
    file: String,
    /// Keeps the functions where they are. The library has threads of its own, so it is never closed.
    library: ManuallyDrop<Library>,
}

/// What a device says of itself.
#[derive(Clone, Debug)]
pub(super) struct Facts {
    pub(super) name: String,
    /// Where it is plugged in, as in `0000:19:00.0`.
    pub(super) pci: String,
    /// Major and minor compute capability.
    pub(super) capability: (usize, usize),
    pub(super) multiprocessors: usize,
    pub(super) clock_khz: usize,
    pub(super) threads_max: usize,
    /// Dynamic shared memory that a block may ask for.
    pub(super) shared_bytes: usize,
    pub(super) memory_bytes: usize,
}

impl Cuda {
    /// Opens the library of a file, or of a name that the loader finds, and initialises it. Where it is not, the hint says
    /// what to do.
    pub(super) fn open(file: &OsStr, hint: &'static str) -> Result<Self, GpuError> {
        let name = file.to_string_lossy().into_owned();
        // SAFETY: the library's constructors set up its own tables and nothing of this process.
        let library = unsafe { Library::new(file) }.map_err(|error| GpuError::NoLibrary {
            library: name.clone(),
            reason: why(&error),
            hint,
        })?;
        let functions = Functions::find(&library, &name)?;
        let cuda = Self { functions, file: name, library: ManuallyDrop::new(library) };
        // SAFETY: it takes a number that has to be zero.
        cuda.found("cuInit", unsafe { (cuda.functions.cuInit)(0) })?;
        Ok(cuda)
    }

    /// The version of CUDA that the driver is for: major and minor.
    pub(super) fn version(&self) -> Result<(usize, usize), GpuError> {
        let mut version = 0;
        // SAFETY: the place is a whole integer.
        let code = unsafe { (self.functions.cuDriverGetVersion)(&raw mut version) };
        self.found("cuDriverGetVersion", code)?;
        let version = usize::try_from(version).unwrap_or(0);
        Ok((version / 1_000, version % 1_000 / 10))
    }

    /// Whether it is the library of tests, crate `fake-cuda`, which has no GPU.
    pub(super) fn is_simulated(&self) -> bool {
        // SAFETY: what has this name is not called.
        unsafe { self.library.get::<*const c_void>(OF_TESTS) }.is_ok()
    }

    /// How many devices there are.
    pub(super) fn devices(&self) -> Result<usize, GpuError> {
        let mut count = 0;
        // SAFETY: the place is a whole integer.
        let code = unsafe { (self.functions.cuDeviceGetCount)(&raw mut count) };
        self.found("cuDeviceGetCount", code)?;
        Ok(usize::try_from(count).unwrap_or(0))
    }

    /// What device `number` says of itself.
    pub(super) fn facts(&self, number: usize) -> Result<Facts, GpuError> {
        let device = self.device(number)?;
        let attribute = |attribute| self.attribute(device, attribute);
        let mut memory_bytes = 0;
        // SAFETY: the place is a whole integer, and the device is the library's.
        let code = unsafe { (self.functions.cuDeviceTotalMem_v2)(&raw mut memory_bytes, device) };
        self.found("cuDeviceTotalMem_v2", code)?;
        Ok(Facts {
            name: self.text("cuDeviceGetName", self.functions.cuDeviceGetName, device)?,
            pci: self.text("cuDeviceGetPCIBusId", self.functions.cuDeviceGetPCIBusId, device)?,
            capability: (attribute(CAPABILITY_MAJOR)?, attribute(CAPABILITY_MINOR)?),
            multiprocessors: attribute(MULTIPROCESSORS)?,
            clock_khz: attribute(CLOCK_KHZ)?,
            threads_max: attribute(THREADS_MAX)?,
            shared_bytes: attribute(SHARED_OPTIN_BYTES)?,
            memory_bytes,
        })
    }

    fn device(&self, number: usize) -> Result<c_int, GpuError> {
        let found = self.devices()?;
        let wanted = c_int::try_from(number).ok().filter(|_| number < found);
        let library = || self.file.clone();
        let wanted = wanted.ok_or_else(|| GpuError::NoSuchDevice {
            library: library(),
            number,
            found,
            opens: "cuda:0",
        })?;
        let mut device = 0;
        // SAFETY: the place is a whole integer.
        let code = unsafe { (self.functions.cuDeviceGet)(&raw mut device, wanted) };
        self.found("cuDeviceGet", code)?;
        Ok(device)
    }

    fn attribute(&self, device: c_int, attribute: c_uint) -> Result<usize, GpuError> {
        let mut value = 0;
        let get = self.functions.cuDeviceGetAttribute;
        // SAFETY: the place is a whole integer, and the device is the library's.
        let code = unsafe { get(&raw mut value, attribute, device) };
        self.found("cuDeviceGetAttribute", code)?;
        Ok(usize::try_from(value).unwrap_or(0))
    }

    fn text(
        &self,
        call: &'static str,
        get: unsafe extern "C" fn(*mut c_char, c_int, c_int) -> Code,
        device: c_int,
    ) -> Result<String, GpuError> {
        let mut text = [0_u8; TEXT_BYTES];
        let len = c_int::try_from(text.len()).unwrap_or(0);
        // SAFETY: the place has `len` bytes, and the device is the library's.
        let code = unsafe { get(text.as_mut_ptr().cast(), len, device) };
        self.found(call, code)?;
        let text = CStr::from_bytes_until_nul(&text).unwrap_or_default();
        Ok(text.to_string_lossy().into_owned())
    }

    /// What fails before a device is open says that there is none to open.
    fn found(&self, call: &'static str, code: Code) -> Result<(), GpuError> {
        if code == SUCCESS {
            return Ok(());
        }
        let reason = self.told(call, code);
        Err(GpuError::NoDevice {
            library: self.file.clone(),
            reason,
            install: "the device's driver",
        })
    }

    /// A failed call in CUDA's words: `cuInit: CUDA_ERROR_NO_DEVICE (100), no CUDA-capable device is detected`.
    fn told(&self, call: &'static str, code: Code) -> String {
        let name = self.words(self.functions.cuGetErrorName, code);
        let text = self.words(self.functions.cuGetErrorString, code);
        match (name, text) {
            (Some(name), Some(text)) => format!("{call}: {name} ({code}), {text}"),
            _ => format!("{call}: error {code}, which this driver has no name for"),
        }
    }

    fn words(
        &self,
        get: unsafe extern "C" fn(Code, *mut *const c_char) -> Code,
        code: Code,
    ) -> Option<String> {
        let mut words = ptr::null();
        // SAFETY: the place is a whole pointer.
        let known = unsafe { get(code, &raw mut words) } == SUCCESS;
        if !known || words.is_null() {
            return None;
        }
        // SAFETY: it is a text of the library's own, which ends with a zero.
        Some(unsafe { CStr::from_ptr(words) }.to_string_lossy().into_owned())
    }
}

/// What the loader says, which its error keeps behind the name of the call that failed.
fn why(error: &libloading::Error) -> String {
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}

/// A function that the library of tests alone has.
const OF_TESTS: &str = "fake_cuda_plan";
const SUCCESS: Code = 0;
const TEXT_BYTES: usize = 256;
// `CUdevice_attribute`.
const THREADS_MAX: c_uint = 1;
const CLOCK_KHZ: c_uint = 13;
const MULTIPROCESSORS: c_uint = 16;
const CAPABILITY_MAJOR: c_uint = 75;
const CAPABILITY_MINOR: c_uint = 76;
const SHARED_OPTIN_BYTES: c_uint = 97;
