//! Decisions that stand for a while.

use super::HERE_MAX_NS;
use super::quote::{Because, Decision};
use crate::route;
use sealift_core::{Device, Shape};
use std::sync::Arc;

/// A decision that stands for the next batches like it: asking anew would take as long as the work.
#[derive(Clone, Copy, Debug)]
pub(super) struct Standing {
    shape: Shape,
    decision: Decision,
    left: u32,
}

impl Standing {
    /// What a decision on a small batch stands for: work as usual, or a trial.
    pub(super) fn new(shape: &Shape, decision: &Decision) -> Option<Self> {
        let left = match decision.because {
            Because::LastResort => return None,
            Because::Explored => TRIAL_BATCHES - 1,
            _ => USUAL_BATCHES - 1,
        };
        let is_small = decision.predicted_ns <= HERE_MAX_NS;
        is_small.then_some(Self { shape: *shape, decision: *decision, left })
    }

    /// The decision.
    pub(super) fn decision(&self) -> Decision {
        self.decision
    }

    /// The decision, for one batch more.
    pub(super) fn use_once(&mut self) -> Decision {
        self.left -= 1;
        self.decision
    }

    /// Whether it stands for a batch of this shape, too.
    pub(super) fn is_for(&self, devices: &[Arc<dyn Device>], shape: &Shape) -> bool {
        let takes_it = || {
            let device = devices[self.decision.device.0].capabilities();
            route::accept(device, shape, true).is_ok()
        };
        let is_like = || {
            let (bytes, known_bytes) = (shape.bytes(), self.shape.bytes());
            let is_as_large = bytes / 2 <= known_bytes && known_bytes / 2 <= bytes;
            shape.messages == self.shape.messages && is_as_large && takes_it()
        };
        self.left > 0 && (*shape == self.shape || is_like())
    }
}

/// So many small batches go by one decision.
const USUAL_BATCHES: u32 = 32;
/// So many does a device get that is tried again. The first one finds nothing in its caches, and one may
/// be interrupted.
pub(super) const TRIAL_BATCHES: u32 = 8;
