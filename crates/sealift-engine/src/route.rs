//! Devices by their place, and why none takes a batch.

use crate::EngineError;
use sealift_core::{Capabilities, Device, LimitError, Shape};
use std::sync::Arc;

/// One of an engine's devices, by its place in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DeviceId(pub(crate) usize);

impl DeviceId {
    /// Its place in [`Engine::devices`](crate::Engine::devices).
    #[must_use]
    pub fn index(self) -> usize {
        self.0
    }
}

/// The error for an id of another engine.
pub(crate) fn unknown(DeviceId(at): DeviceId, devices: &[Arc<dyn Device>]) -> EngineError {
    EngineError::UnknownDevice { name: format!("#{at}"), known: names(devices) }
}

/// The device of this name; its driver is enough where only one device is of that.
pub(crate) fn named(devices: &[Arc<dyn Device>], name: &str) -> Result<DeviceId, EngineError> {
    let of_driver = |device: &Arc<dyn Device>| device.capabilities().driver == name;
    let found = devices.iter().position(|device| device.capabilities().name == name);
    let only = || {
        let first = devices.iter().position(of_driver)?;
        (!devices[first + 1..].iter().any(of_driver)).then_some(first)
    };
    let unknown = || EngineError::UnknownDevice { name: name.to_owned(), known: names(devices) };
    found.or_else(only).map(DeviceId).ok_or_else(unknown)
}

/// The error when no device may be chosen without being named.
pub(crate) fn none_is_real(devices: &[Arc<dyn Device>]) -> EngineError {
    let example = devices.first().map_or("", |device| device.capabilities().name.as_str());
    let reason = format!(
        "none of {} is real hardware, so each call has to name the one it wants: device={example:?}",
        names(devices)
    );
    EngineError::NoDevice { reason }
}

/// The error when every device has given wrong results.
pub(crate) fn all_quarantined() -> EngineError {
    let reason = "all that take this batch have given wrong results and are out of use; look into it, \
                  then `reinstate` them";
    EngineError::NoDevice { reason: reason.to_owned() }
}

/// Whether a device takes a batch of this shape.
pub(crate) fn accept(
    capabilities: &Capabilities,
    shape: &Shape,
    on_calling_thread: bool,
) -> Result<(), LimitError> {
    if on_calling_thread && !capabilities.runs_on_calling_thread {
        return Err(LimitError::CallingThread { device: capabilities.name.clone() });
    }
    capabilities.accept(shape)
}

/// The devices' names in a row, for errors.
pub(crate) fn names(devices: &[Arc<dyn Device>]) -> String {
    devices.iter().map(|d| d.capabilities().name.as_str()).collect::<Vec<_>>().join(", ")
}
