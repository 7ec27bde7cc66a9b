//! Decisions that stand for a while.

use super::quote::Decision;
use crate::route;
use sealift_core::{Device, Shape};
use std::sync::Arc;

/// A decision that stands for a while: asking anew would take as long as the work.
#[derive(Clone, Copy, Debug)]
pub(super) struct Standing {
    pub(super) shape: Shape,
    pub(super) decision: Decision,
    pub(super) left: u32,
}

impl Standing {
    /// Whether it stands for a batch of this shape, too.
    pub(super) fn is_for(&self, devices: &[Arc<dyn Device>], shape: &Shape) -> bool {
        let takes_it = || {
            let device = devices[self.decision.device.0].capabilities();
            route::accept(device, shape, true).is_ok()
        };
        let is_like = || {
            let is_as_large = shape.bytes() / 2 <= self.shape.bytes();
            shape.messages == self.shape.messages && is_as_large && takes_it()
        };
        self.left > 0 && (*shape == self.shape || is_like())
    }
}
