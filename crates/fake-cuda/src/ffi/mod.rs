//! CUDA's functions, as C calls them.
//!
//! A place for a result is an `Option<&mut T>`, which is a pointer that may be null; handles and addresses of the host are
//! numbers, which nobody follows.
#![allow(unsafe_code)]

mod control;
mod device;
mod host;
mod program;

pub use control::{Fake, Report};
pub(crate) use host::Pinned;

use crate::code::{Code, INVALID_VALUE, SUCCESS};
use crate::world::{Scope, Transfer, World, world};
use std::ffi::{c_uchar, c_uint};

/// Answers a call: with what is ordered for it, or with what comes of the work.
fn answer(
    function: &'static str,
    scope: Scope,
    work: impl FnOnce(&mut World) -> Result<(), Code>,
) -> Code {
    let mut world = world();
    match world.enter(function, scope) {
        Ok(()) => work(&mut world).err().unwrap_or(SUCCESS),
        Err(code) => {
            if scope == Scope::Closing {
                let _ = work(&mut world);
            }
            code
        }
    }
}

fn put<T>(place: Option<&mut T>, value: T) -> Result<(), Code> {
    *place.ok_or(INVALID_VALUE)? = value;
    Ok(())
}

#[unsafe(no_mangle)]
extern "C" fn cuMemAlloc_v2(address: Option<&mut u64>, bytes: usize) -> Code {
    answer("cuMemAlloc_v2", Scope::Device, |world| put(address, world.allocate(bytes)?))
}

#[unsafe(no_mangle)]
extern "C" fn cuMemFree_v2(address: u64) -> Code {
    answer("cuMemFree_v2", Scope::Closing, |world| world.free(address))
}

#[unsafe(no_mangle)]
extern "C" fn cuMemHostAlloc(address: Option<&mut usize>, bytes: usize, _flags: c_uint) -> Code {
    answer("cuMemHostAlloc", Scope::Device, |world| put(address, world.pin(bytes)?))
}

#[unsafe(no_mangle)]
extern "C" fn cuMemFreeHost(address: usize) -> Code {
    answer("cuMemFreeHost", Scope::Closing, |world| world.unpin(address))
}

#[unsafe(no_mangle)]
extern "C" fn cuMemcpyHtoDAsync_v2(device: u64, host: usize, bytes: usize, stream: u64) -> Code {
    let transfer = Transfer { host, device, bytes };
    answer("cuMemcpyHtoDAsync_v2", Scope::Device, |world| world.upload(transfer, stream))
}

#[unsafe(no_mangle)]
extern "C" fn cuMemcpyDtoHAsync_v2(host: usize, device: u64, bytes: usize, stream: u64) -> Code {
    let transfer = Transfer { host, device, bytes };
    answer("cuMemcpyDtoHAsync_v2", Scope::Device, |world| world.download(transfer, stream))
}

#[unsafe(no_mangle)]
extern "C" fn cuMemsetD8Async(address: u64, byte: c_uchar, bytes: usize, stream: u64) -> Code {
    answer("cuMemsetD8Async", Scope::Device, |world| world.fill(address, byte, bytes, stream))
}

#[unsafe(no_mangle)]
extern "C" fn cuStreamCreate(stream: Option<&mut u64>, _flags: c_uint) -> Code {
    answer("cuStreamCreate", Scope::Device, |world| put(stream, world.stream()?))
}

#[unsafe(no_mangle)]
extern "C" fn cuStreamDestroy_v2(stream: u64) -> Code {
    answer("cuStreamDestroy_v2", Scope::Closing, |world| world.close_stream(stream))
}

#[unsafe(no_mangle)]
extern "C" fn cuEventCreate(event: Option<&mut u64>, _flags: c_uint) -> Code {
    answer("cuEventCreate", Scope::Device, |world| put(event, world.event()?))
}

#[unsafe(no_mangle)]
extern "C" fn cuEventDestroy_v2(event: u64) -> Code {
    answer("cuEventDestroy_v2", Scope::Closing, |world| world.close_event(event))
}

#[unsafe(no_mangle)]
extern "C" fn cuEventRecord(event: u64, stream: u64) -> Code {
    answer("cuEventRecord", Scope::Device, |world| world.record(event, stream))
}

#[unsafe(no_mangle)]
extern "C" fn cuEventQuery(event: u64) -> Code {
    answer("cuEventQuery", Scope::Device, |world| world.query(event))
}

#[unsafe(no_mangle)]
extern "C" fn cuEventElapsedTime(milliseconds: Option<&mut f32>, start: u64, end: u64) -> Code {
    answer("cuEventElapsedTime", Scope::Device, |world| {
        put(milliseconds, world.elapsed(start, end)?)
    })
}
