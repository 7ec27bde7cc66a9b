//! The functions of `nvml.h` that are used here, found at run time.
#![allow(unsafe_code)]

use std::error::Error;
use std::ffi::{CStr, c_char, c_uint};
use std::fmt;
use std::ptr;

/// An `nvmlReturn_t`.
type Code = c_uint;

/// An `nvmlDevice_t`: a pointer that is handed back and never followed.
type Handle = usize;

macro_rules! functions {
    ($($name:ident($($argument:ident: $of:ty),*);)*) => {
        /// NVML's functions by their names.
        #[expect(non_snake_case, reason = "NVML's names")]
        struct Functions {
            $($name: unsafe extern "C" fn($($argument: $of),*) -> Code,)*
        }

        impl Functions {
            fn find(library: &libloading::Library, file: &str) -> Result<Self, String> {
                Ok(Self {
                    $($name: {
                        // SAFETY: the function of this name has this type in `nvml.h`.
                        let found = unsafe { library.get(stringify!($name)) };
                        *found.map_err(|_| format!("{file} has no function {}", stringify!($name)))?
                    },)*
                })
            }
        }
    };
}

functions! {
    nvmlInit_v2();
    nvmlShutdown();
    nvmlSystemGetDriverVersion(text: *mut c_char, len: c_uint);
    nvmlDeviceGetCount_v2(count: *mut c_uint);
    nvmlDeviceGetHandleByIndex_v2(index: c_uint, device: *mut Handle);
    nvmlDeviceGetName(device: Handle, text: *mut c_char, len: c_uint);
    nvmlDeviceGetClockInfo(device: Handle, clock: c_uint, mhz: *mut c_uint);
    nvmlDeviceGetMaxClockInfo(device: Handle, clock: c_uint, mhz: *mut c_uint);
    nvmlDeviceGetTemperature(device: Handle, sensor: c_uint, celsius: *mut c_uint);
    nvmlDeviceGetPowerUsage(device: Handle, milliwatts: *mut c_uint);
    nvmlDeviceGetCurrPcieLinkGeneration(device: Handle, generation: *mut c_uint);
    nvmlDeviceGetCurrPcieLinkWidth(device: Handle, lanes: *mut c_uint);
}

/// NVML, opened and initialised.
pub(super) struct Library {
    functions: Functions,
    /// Keeps the functions where they are.
    _library: libloading::Library,
}

impl Library {
    /// Opens a file, or a name that the loader finds.
    pub(super) fn open(file: &str) -> Result<Self, String> {
        // SAFETY: the library's constructors set up its own tables and nothing of this process.
        let library = unsafe { libloading::Library::new(file) };
        let library = library.map_err(|error| {
            let why = error.source().map_or_else(|| error.to_string(), ToString::to_string);
            format!("{file} is not on this machine ({why})")
        })?;
        let opened = Self { functions: Functions::find(&library, file)?, _library: library };
        // SAFETY: it takes nothing.
        done("nvmlInit_v2", unsafe { (opened.functions.nvmlInit_v2)() })?;
        Ok(opened)
    }

    pub(super) fn driver_version(&self) -> Result<String, String> {
        let function = self.functions.nvmlSystemGetDriverVersion;
        text("nvmlSystemGetDriverVersion", |at, len| {
            // SAFETY: `at` has `len` bytes, which is all that the function writes.
            unsafe { function(at, len) }
        })
    }

    pub(super) fn count(&self) -> Result<u32, String> {
        let function = self.functions.nvmlDeviceGetCount_v2;
        number("nvmlDeviceGetCount_v2", |at| {
            // SAFETY: `at` is a number that the function writes.
            unsafe { function(at) }
        })
    }

    pub(super) fn name(&self, gpu: u32) -> Result<String, String> {
        let (device, function) = (self.device(gpu)?, self.functions.nvmlDeviceGetName);
        text("nvmlDeviceGetName", |at, len| {
            // SAFETY: the handle is of a device, and `at` has `len` bytes, which is all that the function writes.
            unsafe { function(device, at, len) }
        })
    }

    pub(super) fn clock(&self, gpu: u32, clock: c_uint) -> Result<u32, String> {
        let (device, function) = (self.device(gpu)?, self.functions.nvmlDeviceGetClockInfo);
        number("nvmlDeviceGetClockInfo", |at| {
            // SAFETY: the handle is of a device, and `at` is a number that the function writes.
            unsafe { function(device, clock, at) }
        })
    }

    pub(super) fn clock_max(&self, gpu: u32, clock: c_uint) -> Result<u32, String> {
        let (device, function) = (self.device(gpu)?, self.functions.nvmlDeviceGetMaxClockInfo);
        number("nvmlDeviceGetMaxClockInfo", |at| {
            // SAFETY: the handle is of a device, and `at` is a number that the function writes.
            unsafe { function(device, clock, at) }
        })
    }

    pub(super) fn temperature(&self, gpu: u32) -> Result<u32, String> {
        let (device, function) = (self.device(gpu)?, self.functions.nvmlDeviceGetTemperature);
        number("nvmlDeviceGetTemperature", |at| {
            // SAFETY: the handle is of a device, and `at` is a number that the function writes.
            unsafe { function(device, CHIP, at) }
        })
    }

    pub(super) fn power_mw(&self, gpu: u32) -> Result<u32, String> {
        let function = self.functions.nvmlDeviceGetPowerUsage;
        self.of_device(gpu, "nvmlDeviceGetPowerUsage", function)
    }

    pub(super) fn pcie_generation(&self, gpu: u32) -> Result<u32, String> {
        let function = self.functions.nvmlDeviceGetCurrPcieLinkGeneration;
        self.of_device(gpu, "nvmlDeviceGetCurrPcieLinkGeneration", function)
    }

    pub(super) fn pcie_lanes(&self, gpu: u32) -> Result<u32, String> {
        let function = self.functions.nvmlDeviceGetCurrPcieLinkWidth;
        self.of_device(gpu, "nvmlDeviceGetCurrPcieLinkWidth", function)
    }

    fn of_device(
        &self,
        gpu: u32,
        name: &str,
        function: unsafe extern "C" fn(Handle, *mut c_uint) -> Code,
    ) -> Result<u32, String> {
        let device = self.device(gpu)?;
        number(name, |at| {
            // SAFETY: the handle is of a device, and `at` is a number that the function writes.
            unsafe { function(device, at) }
        })
    }

    fn device(&self, gpu: u32) -> Result<Handle, String> {
        let mut device: Handle = 0;
        let function = self.functions.nvmlDeviceGetHandleByIndex_v2;
        // SAFETY: `device` is a handle that the function writes.
        let code = unsafe { function(gpu, &raw mut device) };
        done("nvmlDeviceGetHandleByIndex_v2", code).map(|()| device)
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        // SAFETY: it was initialised, and its handles are not kept.
        let _ = unsafe { (self.functions.nvmlShutdown)() };
    }
}

impl fmt::Debug for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Library")
    }
}

fn number(name: &str, ask: impl FnOnce(*mut c_uint) -> Code) -> Result<u32, String> {
    let mut value = 0;
    done(name, ask(ptr::from_mut(&mut value))).map(|()| value)
}

fn text(name: &str, ask: impl FnOnce(*mut c_char, c_uint) -> Code) -> Result<String, String> {
    // The last byte stays zero, whatever is written.
    let mut bytes = [0u8; TEXT_BYTES as usize + 1];
    done(name, ask(bytes.as_mut_ptr().cast(), TEXT_BYTES))?;
    let text = CStr::from_bytes_until_nul(&bytes).unwrap_or_default();
    Ok(text.to_string_lossy().into_owned())
}

fn done(name: &str, code: Code) -> Result<(), String> {
    match code {
        0 => Ok(()),
        3 => Err(format!("{name}: this GPU or machine does not tell")),
        code => Err(format!("{name}: error {code}")),
    }
}

const TEXT_BYTES: c_uint = 96;
/// The sensor on the chip itself.
const CHIP: c_uint = 0;
