//! A device under test, and how much is asked of it.

use crate::bell::Bell;
use crate::counted::Counts;
use sealift_core::{Algorithm, Capabilities, Device, TagLength};
use std::sync::Arc;
use std::time::Duration;

/// Tests one thing of a device: a line about what was done, or the first fault.
pub(crate) type Check = fn(&Subject) -> Result<String, String>;

/// A device under test.
pub(crate) struct Subject {
    pub(crate) device: Arc<dyn Device>,
    /// What it has worked so far.
    pub(crate) counts: Arc<Counts>,
    /// What the device rings.
    pub(crate) bell: Arc<Bell>,
    /// Another device, which is trusted.
    pub(crate) oracle: Arc<dyn Device>,
    pub(crate) effort: Effort,
    pub(crate) seed: u64,
    /// Of the large numbers: 1 for all.
    pub(crate) scale: f64,
}

/// How much a device can do in a test's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    Full,
    /// Some MB/s: it does the small numbers.
    Slow,
}

impl Subject {
    pub(crate) fn capabilities(&self) -> &Capabilities {
        self.device.capabilities()
    }

    pub(crate) fn is_slow(&self) -> bool {
        self.effort == Effort::Slow
    }

    /// A large number to scale, `slow` for slow devices; at any scale so many as have every kind.
    pub(crate) fn count_at_least(&self, least: usize, full: usize, slow: usize) -> usize {
        self.count(full, slow).max(least)
    }

    /// A large number to scale, `slow` for slow devices; one at least.
    pub(crate) fn count(&self, full: usize, slow: usize) -> usize {
        let count = if self.is_slow() { slow } else { full };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss
        )]
        let scaled = (count as f64 * self.scale).ceil() as usize;
        scaled.clamp(1, count)
    }

    /// A time to scale.
    pub(crate) fn time(&self, full: Duration) -> Duration {
        full.mul_f64(self.scale.clamp(0.05, 1.0))
    }

    /// A number of messages, or as many as fit into a batch.
    pub(crate) fn messages(&self, count: usize) -> usize {
        count.min(self.capabilities().messages_max)
    }

    /// A length of texts in bytes, or the longest that the device takes.
    pub(crate) fn text_bytes(&self, len: usize) -> usize {
        len.min(self.capabilities().text_bytes_max)
    }

    /// Algorithms that device and oracle take.
    pub(crate) fn algorithms(&self) -> Vec<Algorithm> {
        let oracle = &self.oracle.capabilities().algorithms;
        let both = |algorithm: &Algorithm| oracle.contains(algorithm);
        self.capabilities().algorithms.iter().copied().filter(both).collect()
    }

    /// Nonce lengths that device and oracle take of AES-GCM.
    pub(crate) fn nonce_lengths(&self) -> Vec<usize> {
        let oracle: Vec<_> = self.oracle.capabilities().nonce_lengths.iter().collect();
        self.capabilities().nonce_lengths.iter().filter(|bytes| oracle.contains(bytes)).collect()
    }

    /// Tag lengths that device and oracle take.
    pub(crate) fn tag_lengths(&self) -> Vec<TagLength> {
        let oracle = &self.oracle.capabilities().tag_lengths;
        let both = |length: &TagLength| oracle.contains(length);
        self.capabilities().tag_lengths.iter().copied().filter(both).collect()
    }
}
