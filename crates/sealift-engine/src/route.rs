//! Which device gets a batch.

use crate::EngineError;
use sealift_core::{Capabilities, Device, LimitError, Role, Shape};
use std::sync::Arc;

/// One of an engine's devices, by its place in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DeviceId(pub(crate) usize);

impl DeviceId {
    /// Its place in [`Engine::devices`](crate::Engine::devices).
    #[must_use]
    pub fn index(self) -> usize {
        self.0
    }
}

/// The named device, or the first real one that takes a batch of this shape.
///
/// The list is in order of preference; costs that are measured come with the scheduler.
pub(crate) fn choose(
    devices: &[Arc<dyn Device>],
    named: Option<DeviceId>,
    shape: &Shape,
    on_calling_thread: bool,
) -> Result<DeviceId, EngineError> {
    if let Some(DeviceId(at)) = named {
        let device = devices.get(at).ok_or_else(|| unknown(DeviceId(at), devices))?;
        let accepted = accept(device.capabilities(), shape, on_calling_thread);
        return accepted.map(|()| DeviceId(at)).map_err(|limit| EngineError::Limits(vec![limit]));
    }
    let mut limits: Vec<LimitError> = vec![];
    for (at, device) in devices.iter().enumerate() {
        let capabilities = device.capabilities();
        if capabilities.role != Role::Real {
            continue;
        }
        match accept(capabilities, shape, on_calling_thread) {
            Ok(()) => return Ok(DeviceId(at)),
            Err(limit) => limits.push(limit),
        }
    }
    if limits.is_empty() {
        let reason = format!("none of {} is real hardware, name the one you want", names(devices));
        return Err(EngineError::NoDevice { reason });
    }
    Err(EngineError::Limits(limits))
}

/// The error for an id of another engine.
pub(crate) fn unknown(DeviceId(at): DeviceId, devices: &[Arc<dyn Device>]) -> EngineError {
    EngineError::UnknownDevice { name: format!("#{at}"), known: names(devices) }
}

fn accept(
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
