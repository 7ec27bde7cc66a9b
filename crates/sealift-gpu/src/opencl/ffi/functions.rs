//! The functions of OpenCL 1.2 that are used, found at run time.

use crate::GpuError;
use libloading::Library;
use std::ffi::{c_char, c_void};

/// An object of the library.
pub(super) type Raw = *mut c_void;
/// What the library calls back, which is nothing here.
type Callback = Option<unsafe extern "C" fn()>;

macro_rules! functions {
    ($($name:ident($($argument:ty),*) -> $result:ty;)*) => {
        /// The functions, with the library for as long as the process lives: it has threads of its own.
        #[expect(non_snake_case, reason = "these are the library's names")]
        #[derive(Debug)]
        pub(super) struct Functions {
            $(pub(super) $name: unsafe extern "C" fn($($argument),*) -> $result,)*
        }

        impl Functions {
            /// Opens the library.
            pub(super) fn open(file: &str) -> Result<Self, GpuError> {
                // SAFETY: the library's constructors set up its own tables and nothing of this process.
                let library = unsafe { Library::new(file) }.map_err(|error| absent(file, &error))?;
                let functions = Self {
                    $($name: {
                        let name = concat!(stringify!($name), "\0");
                        // SAFETY: the type is what the standard's header declares for this name.
                        let found = unsafe {
                            library.get::<unsafe extern "C" fn($($argument),*) -> $result>(name.as_bytes())
                        };
                        *found.map_err(|_| lacks(file, stringify!($name)))?
                    },)*
                };
                std::mem::forget(library);
                Ok(functions)
            }
        }
    };
}

functions! {
    clGetPlatformIDs(u32, *mut Raw, *mut u32) -> i32;
    clGetPlatformInfo(Raw, u32, usize, *mut c_void, *mut usize) -> i32;
    clGetDeviceIDs(Raw, u64, u32, *mut Raw, *mut u32) -> i32;
    clGetDeviceInfo(Raw, u32, usize, *mut c_void, *mut usize) -> i32;
    clCreateContext(*const isize, u32, *const Raw, Callback, *mut c_void, *mut i32) -> Raw;
    clReleaseContext(Raw) -> i32;
    clCreateCommandQueue(Raw, Raw, u64, *mut i32) -> Raw;
    clReleaseCommandQueue(Raw) -> i32;
    clFlush(Raw) -> i32;
    clCreateProgramWithSource(Raw, u32, *const *const c_char, *const usize, *mut i32) -> Raw;
    clBuildProgram(Raw, u32, *const Raw, *const c_char, Callback, *mut c_void) -> i32;
    clGetProgramBuildInfo(Raw, Raw, u32, usize, *mut c_void, *mut usize) -> i32;
    clReleaseProgram(Raw) -> i32;
    clCreateKernel(Raw, *const c_char, *mut i32) -> Raw;
    clGetKernelWorkGroupInfo(Raw, Raw, u32, usize, *mut c_void, *mut usize) -> i32;
    clSetKernelArg(Raw, u32, usize, *const c_void) -> i32;
    clReleaseKernel(Raw) -> i32;
    clCreateBuffer(Raw, u64, usize, *mut c_void, *mut i32) -> Raw;
    clReleaseMemObject(Raw) -> i32;
    clEnqueueWriteBuffer(Raw, Raw, u32, usize, usize, *const c_void, u32, *const Raw, *mut Raw) -> i32;
    clEnqueueReadBuffer(Raw, Raw, u32, usize, usize, *mut c_void, u32, *const Raw, *mut Raw) -> i32;
    clEnqueueFillBuffer(Raw, Raw, *const c_void, usize, usize, usize, u32, *const Raw, *mut Raw) -> i32;
    clEnqueueMapBuffer(Raw, Raw, u32, u64, usize, usize, u32, *const Raw, *mut Raw, *mut i32) -> *mut c_void;
    clEnqueueUnmapMemObject(Raw, Raw, *mut c_void, u32, *const Raw, *mut Raw) -> i32;
    clEnqueueNDRangeKernel(Raw, Raw, u32, *const usize, *const usize, *const usize, u32, *const Raw, *mut Raw) -> i32;
    clWaitForEvents(u32, *const Raw) -> i32;
    clGetEventInfo(Raw, u32, usize, *mut c_void, *mut usize) -> i32;
    clGetEventProfilingInfo(Raw, u32, usize, *mut c_void, *mut usize) -> i32;
    clReleaseEvent(Raw) -> i32;
}

fn absent(file: &str, error: &libloading::Error) -> GpuError {
    // The loader's own words begin with the file's name, which stands before them here.
    let reason = match std::error::Error::source(error) {
        Some(cause) => cause.to_string(),
        None => error.to_string(),
    };
    let reason = reason.strip_prefix(&format!("{file}: ")).unwrap_or(&reason).to_owned();
    let hint = "install the OpenCL loader (Debian: ocl-icd-libopencl1) and the device's driver";
    GpuError::NoLibrary { library: file.to_owned(), reason, hint }
}

fn lacks(file: &str, function: &str) -> GpuError {
    GpuError::NoFunction { library: file.to_owned(), function: function.to_owned() }
}
