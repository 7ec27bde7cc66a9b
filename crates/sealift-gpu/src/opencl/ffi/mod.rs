//! OpenCL's functions behind types.
#![allow(unsafe_code)]

mod functions;
mod memory;
mod objects;

pub(super) use memory::{Buffer, Pinned};
pub(super) use objects::{Argument, Event, Kernel, Program, Queue, State};

use crate::GpuError;
use functions::{Functions, Raw};
use objects::Handle;
use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::Arc;

/// A call that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Failed {
    pub(super) call: &'static str,
    pub(super) status: i32,
}

/// The open library.
#[derive(Clone, Debug)]
pub(super) struct Api(Arc<Functions>);

/// A device and its platform, which live as long as the library.
#[derive(Clone, Copy, Debug)]
pub(super) struct DeviceId {
    platform: Raw,
    device: Raw,
}

// SAFETY: it is a name, good on all threads.
unsafe impl Send for DeviceId {}
// SAFETY: threads that share it can only copy the name, which nobody follows on this side.
unsafe impl Sync for DeviceId {}

impl Api {
    /// Opens the library.
    pub(super) fn open(file: &str) -> Result<Self, GpuError> {
        Functions::open(file).map(|functions| Self(Arc::new(functions)))
    }

    /// All devices of all platforms, and why platforms fail to list theirs.
    pub(super) fn devices(&self) -> Result<(Vec<DeviceId>, Vec<Failed>), Failed> {
        let platforms = listed("clGetPlatformIDs", |room, names, count| {
            // SAFETY: `names` has `room` places, or both are none, and `count` is one.
            unsafe { (self.0.clGetPlatformIDs)(room, names, count) }
        })?;
        let (mut devices, mut failures) = (vec![], vec![]);
        for platform in platforms {
            let listed = listed("clGetDeviceIDs", |room, names, count| {
                // SAFETY: as above, and the library named the platform.
                unsafe { (self.0.clGetDeviceIDs)(platform, ALL_DEVICES, room, names, count) }
            });
            match listed {
                Ok(here) => {
                    devices.extend(here.into_iter().map(|device| DeviceId { platform, device }));
                }
                Err(Failed { status: NO_DEVICE, .. }) => {}
                Err(failed) => failures.push(failed),
            }
        }
        Ok((devices, failures))
    }

    /// What a device says of itself in a number of at most 8 bytes.
    pub(super) fn number(&self, of: DeviceId, what: u32) -> Result<u64, Failed> {
        let mut number = 0_u64;
        let place = (&raw mut number).cast();
        // SAFETY: the library named the device, and `number` has 8 bytes; fewer are its low ones.
        let status = unsafe { (self.0.clGetDeviceInfo)(of.device, what, 8, place, null_mut()) };
        done("clGetDeviceInfo", status).map(|()| number)
    }

    /// What a device says of itself in words.
    pub(super) fn text(&self, of: DeviceId, what: u32) -> Result<String, Failed> {
        text("clGetDeviceInfo", |bytes, place, length| {
            // SAFETY: the library named the device, and `place` has `bytes` bytes.
            unsafe { (self.0.clGetDeviceInfo)(of.device, what, bytes, place, length) }
        })
    }

    /// What its platform says of itself.
    pub(super) fn platform_text(&self, of: DeviceId, what: u32) -> Result<String, Failed> {
        text("clGetPlatformInfo", |bytes, place, length| {
            // SAFETY: the library named the platform, and `place` has `bytes` bytes.
            unsafe { (self.0.clGetPlatformInfo)(of.platform, what, bytes, place, length) }
        })
    }

    /// Makes a device ready.
    pub(super) fn context(&self, of: DeviceId) -> Result<Context, Failed> {
        let properties = [CONTEXT_PLATFORM, of.platform.addr().cast_signed(), 0];
        let mut status = 0;
        // SAFETY: the properties end with 0, there is one device, and nothing is called back.
        let made = unsafe {
            (self.0.clCreateContext)(
                properties.as_ptr(),
                1,
                &raw const of.device,
                None,
                null_mut(),
                &raw mut status,
            )
        };
        let handle = Handle::new("clCreateContext", made, status, self.0.clReleaseContext)?;
        Ok(Context { api: self.clone(), handle, device: of })
    }
}

/// A device that is ready.
#[derive(Debug)]
pub(super) struct Context {
    api: Api,
    handle: Handle,
    device: DeviceId,
}

impl Context {
    fn functions(&self) -> &Functions {
        &self.api.0
    }
}

/// Asks for a list: first how long it is, then for its entries.
fn listed(
    call: &'static str,
    ask: impl Fn(u32, *mut Raw, *mut u32) -> i32,
) -> Result<Vec<Raw>, Failed> {
    let mut count = 0;
    done(call, ask(0, null_mut(), &raw mut count))?;
    let mut names = vec![null_mut(); count as usize];
    if count > 0 {
        done(call, ask(count, names.as_mut_ptr(), null_mut()))?;
    }
    names.retain(|name| !name.is_null());
    Ok(names)
}

/// Asks for words: first how long they are.
fn text(
    call: &'static str,
    ask: impl Fn(usize, *mut c_void, *mut usize) -> i32,
) -> Result<String, Failed> {
    let mut bytes = 0;
    done(call, ask(0, null_mut(), &raw mut bytes))?;
    let mut text = vec![0_u8; bytes];
    done(call, ask(bytes, text.as_mut_ptr().cast(), null_mut()))?;
    let words = String::from_utf8_lossy(&text);
    Ok(words.trim_matches(|c: char| c == '\0' || c.is_whitespace()).to_owned())
}

fn done(call: &'static str, status: i32) -> Result<(), Failed> {
    if status == 0 { Ok(()) } else { Err(Failed { call, status }) }
}

/// `CL_DEVICE_NOT_FOUND`: a platform that has none.
const NO_DEVICE: i32 = -1;
const ALL_DEVICES: u64 = 0xffff_ffff;
const CONTEXT_PLATFORM: isize = 0x1084;
/// No event is waited for: queues are in order.
const NO_EVENTS: (u32, *const Raw) = (0, null());
