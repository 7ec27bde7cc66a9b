//! The library, its devices and their contexts.

use super::{answer, put};
use crate::code::{Code, INVALID_VALUE, SUCCESS, named};
use crate::world::Scope;
use std::ffi::{c_char, c_int, c_uint};
use std::ptr;

#[unsafe(no_mangle)]
extern "C" fn cuInit(_flags: c_uint) -> Code {
    answer("cuInit", Scope::Library, |world| world.init())
}

#[unsafe(no_mangle)]
extern "C" fn cuGetErrorName(code: Code, name: Option<&mut *const c_char>) -> Code {
    words(name, named(code).map(|(name, _)| name.as_ptr()))
}

#[unsafe(no_mangle)]
extern "C" fn cuGetErrorString(code: Code, text: Option<&mut *const c_char>) -> Code {
    words(text, named(code).map(|(_, text)| text.as_ptr()))
}

fn words(place: Option<&mut *const c_char>, words: Option<*const c_char>) -> Code {
    let is_put = put(place, words.unwrap_or(ptr::null())).is_ok();
    if is_put && words.is_some() { SUCCESS } else { INVALID_VALUE }
}

#[unsafe(no_mangle)]
extern "C" fn cuDriverGetVersion(version: Option<&mut c_int>) -> Code {
    answer("cuDriverGetVersion", Scope::Library, |world| put(version, small(world.plan.driver)))
}

#[unsafe(no_mangle)]
extern "C" fn cuDeviceGetCount(count: Option<&mut c_int>) -> Code {
    answer("cuDeviceGetCount", Scope::Machine, |world| put(count, small(world.plan.devices)))
}

#[unsafe(no_mangle)]
extern "C" fn cuDeviceGet(device: Option<&mut c_int>, number: c_int) -> Code {
    answer("cuDeviceGet", Scope::Machine, |world| {
        world.device(number)?;
        put(device, number)
    })
}

/// # Safety
/// The place has `room` bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn cuDeviceGetName(place: *mut u8, room: c_int, device: c_int) -> Code {
    answer("cuDeviceGetName", Scope::Machine, |world| {
        world.device(device)?;
        // SAFETY: the caller promises a place of `room` bytes for the name.
        unsafe { put_text(place, room, "fake") }
    })
}

/// # Safety
/// The place has `room` bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn cuDeviceGetPCIBusId(place: *mut u8, room: c_int, device: c_int) -> Code {
    answer("cuDeviceGetPCIBusId", Scope::Machine, |world| {
        let number = world.device(device)?;
        // SAFETY: the caller promises a place of `room` bytes for the id.
        unsafe { put_text(place, room, &format!("0000:{number:02x}:00.0")) }
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuDeviceTotalMem_v2(bytes: Option<&mut usize>, device: c_int) -> Code {
    answer("cuDeviceTotalMem_v2", Scope::Machine, |world| {
        world.device(device)?;
        put(bytes, usize::try_from(world.plan.memory).unwrap_or(usize::MAX))
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuDeviceGetAttribute(
    value: Option<&mut c_int>,
    attribute: c_uint,
    device: c_int,
) -> Code {
    answer("cuDeviceGetAttribute", Scope::Machine, |world| {
        world.device(device)?;
        let known = match attribute {
            // Threads of a block, clock in kHz, multiprocessors.
            1 => 1_024,
            13 => 1_000_000,
            16 => 2,
            75 => world.plan.capability / 10,
            76 => world.plan.capability % 10,
            97 => world.plan.shared,
            _ => return Err(INVALID_VALUE),
        };
        put(value, small(known))
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuDevicePrimaryCtxRetain(context: Option<&mut u64>, device: c_int) -> Code {
    answer("cuDevicePrimaryCtxRetain", Scope::Machine, |world| put(context, world.retain(device)?))
}

#[unsafe(no_mangle)]
extern "C" fn cuDevicePrimaryCtxRelease_v2(device: c_int) -> Code {
    answer("cuDevicePrimaryCtxRelease_v2", Scope::Closing, |world| world.release(device))
}

#[unsafe(no_mangle)]
extern "C" fn cuCtxPushCurrent_v2(context: u64) -> Code {
    answer("cuCtxPushCurrent_v2", Scope::Machine, |world| world.push(context))
}

#[unsafe(no_mangle)]
extern "C" fn cuCtxPopCurrent_v2(context: Option<&mut u64>) -> Code {
    answer("cuCtxPopCurrent_v2", Scope::Closing, |world| put(context, world.pop()?))
}

fn small(number: u32) -> c_int {
    c_int::try_from(number).unwrap_or(c_int::MAX)
}

/// Writes as much of a text as fits, and a zero.
///
/// # Safety
/// The place has `room` bytes.
unsafe fn put_text(place: *mut u8, room: c_int, text: &str) -> Result<(), Code> {
    let room = usize::try_from(room).ok().filter(|room| *room > 0).ok_or(INVALID_VALUE)?;
    let mut bytes = text.as_bytes()[..text.len().min(room - 1)].to_vec();
    bytes.push(0);
    // SAFETY: there is room for them, and they are somewhere else.
    unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), place, bytes.len()) };
    Ok(())
}
