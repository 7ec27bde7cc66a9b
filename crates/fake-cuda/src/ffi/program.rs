//! Programs and launches.

use super::{answer, put};
use crate::code::{Code, INVALID_VALUE};
use crate::world::Scope;
use std::ffi::{CStr, c_char, c_int, c_uint};
use std::{ptr, slice};

/// # Safety
/// `image` is a text that ends with a zero; `names` and `values` aren't null and have as many places as there are `options`,
/// and the place for the log has the bytes that the option for its size says.
#[unsafe(no_mangle)]
unsafe extern "C" fn cuModuleLoadDataEx(
    module: Option<&mut u64>,
    image: *const c_char,
    options: c_uint,
    names: *const c_uint,
    values: *const usize,
) -> Code {
    answer("cuModuleLoadDataEx", Scope::Device, |world| {
        // SAFETY: the caller promises that the image is a text that ends with a zero.
        let text = unsafe { CStr::from_ptr(image) };
        let text = text.to_str().map_err(|_| INVALID_VALUE)?;
        let loaded = world.load(text).map_err(|refusal| {
            // SAFETY: the caller promises a place of names, as many as there are options.
            let names = unsafe { slice::from_raw_parts(names, options as usize) };
            // SAFETY: the caller promises a place of values, as many as there are options.
            let values = unsafe { slice::from_raw_parts(values, options as usize) };
            let value = |name| names.iter().position(|of| *of == name).map(|at| values[at]);
            if let (Some(log), Some(room)) = (value(ERROR_LOG), value(ERROR_LOG_BYTES)) {
                let mut bytes = refusal.log.into_bytes();
                bytes.truncate(room.saturating_sub(1));
                bytes.push(0);
                let place = ptr::with_exposed_provenance_mut(log);
                // SAFETY: the caller's; the bytes are somewhere else.
                unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), place, bytes.len()) };
            }
            refusal.code
        })?;
        put(module, loaded)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuModuleUnload(module: u64) -> Code {
    answer("cuModuleUnload", Scope::Closing, |world| world.unload(module))
}

/// # Safety
/// The name ends with a zero.
#[unsafe(no_mangle)]
unsafe extern "C" fn cuModuleGetFunction(
    function: Option<&mut u64>,
    module: u64,
    name: *const c_char,
) -> Code {
    answer("cuModuleGetFunction", Scope::Device, |world| {
        // SAFETY: the caller promises a name that ends with a zero.
        let name = unsafe { CStr::from_ptr(name) };
        put(function, world.function(module, &name.to_string_lossy())?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuFuncSetAttribute(function: u64, attribute: c_uint, value: c_int) -> Code {
    answer("cuFuncSetAttribute", Scope::Device, |world| match u32::try_from(value) {
        Ok(bytes) if attribute == DYNAMIC_SHARED_BYTES_MAX => world.allow_shared(function, bytes),
        _ => Err(INVALID_VALUE),
    })
}

/// # Safety
/// `extra` is two pairs of a name and a value, and a zero.
#[unsafe(no_mangle)]
unsafe extern "C" fn cuLaunchKernel(
    function: u64,
    blocks: c_uint,
    _blocks_y: c_uint,
    _blocks_z: c_uint,
    threads: c_uint,
    _threads_y: c_uint,
    _threads_z: c_uint,
    shared_bytes: c_uint,
    stream: u64,
    _arguments: usize,
    extra: *const [usize; 5],
) -> Code {
    answer("cuLaunchKernel", Scope::Device, |world| {
        // SAFETY: the caller promises two pairs and a zero, which are five words.
        let [ARGUMENTS, place, ARGUMENTS_BYTES, bytes, 0] = (unsafe { extra.read() }) else {
            return Err(INVALID_VALUE);
        };
        let bytes = ptr::with_exposed_provenance::<usize>(bytes);
        // SAFETY: the value of this name is the place of a number.
        let bytes = unsafe { bytes.read() };
        // SAFETY: the value of the other name is the place of so many bytes.
        let packed = unsafe { slice::from_raw_parts(ptr::with_exposed_provenance(place), bytes) };
        world.launch(function, (blocks, threads, shared_bytes), stream, packed.to_vec())
    })
}

// `CUjit_option`.
const ERROR_LOG: c_uint = 5;
const ERROR_LOG_BYTES: c_uint = 6;
// `CUfunction_attribute`.
const DYNAMIC_SHARED_BYTES_MAX: c_uint = 8;
// `CU_LAUNCH_PARAM_BUFFER_POINTER` and `CU_LAUNCH_PARAM_BUFFER_SIZE`.
const ARGUMENTS: usize = 1;
const ARGUMENTS_BYTES: usize = 2;
