//! Which device gets a batch.

use crate::EngineError;
use sealift_core::{Device, LimitError, Role, Shape};
use std::sync::Arc;

/// One of an engine's devices, by its place in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DeviceId(pub usize);

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
        let device = devices.get(at).ok_or_else(|| EngineError::UnknownDevice {
            name: format!("#{at}"),
            known: names(devices),
        })?;
        let accepted = device.capabilities().accept(shape);
        return accepted.map(|()| DeviceId(at)).map_err(|limit| EngineError::Limits(vec![limit]));
    }
    let mut limits: Vec<LimitError> = vec![];
    for (at, device) in devices.iter().enumerate() {
        let capabilities = device.capabilities();
        if capabilities.role != Role::Real {
            continue;
        }
        if on_calling_thread && !capabilities.runs_on_calling_thread {
            continue;
        }
        match capabilities.accept(shape) {
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

/// The devices' names in a row, for errors.
pub(crate) fn names(devices: &[Arc<dyn Device>]) -> String {
    devices.iter().map(|d| d.capabilities().name.as_str()).collect::<Vec<_>>().join(", ")
}
