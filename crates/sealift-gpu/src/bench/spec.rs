//! What is to be measured.

use crate::GpuError;
use crate::gpu::About;
use crate::message::{GROUP_MAX, LANES, Operation};
use crate::pack::PART_BYTES_MAX;
use crate::variant::Tables;
use sealift_core::KeyLength;

/// A measurement of AES-GCM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BenchSpec {
    /// Whose kernels.
    pub code: Code,
    /// Who works which messages.
    pub mode: Mode,
    /// How work is spread; none: as the drivers do.
    pub grid: Option<Grid>,
    /// What is worked.
    pub shape: Shape,
    /// Keys and texts are of this seed.
    pub seed: u64,
}

/// Whose kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// As the program of document 003: each work-item makes AES's tables for itself and keeps them in private memory,
    /// beside a table of 16 multiples for GHASH. It leaks by time.
    Published,
    /// Those that drivers use.
    Ours(Tables),
}

/// Who works which messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Each work-item works all messages for itself, and nothing is left of it but a checksum over texts, tags and
    /// statuses, each of which is checked. Only [`Code::Published`].
    Replicated,
    /// Each message is worked once, and its results are stored.
    Partitioned,
}

/// Messages that are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// How many.
    pub messages: usize,
    /// Length of each text.
    pub text_bytes: usize,
    /// Length of what is authenticated and not encrypted.
    pub aad_bytes: usize,
    /// Length of their keys.
    pub key: KeyLength,
    /// What is done.
    pub plan: Plan,
    /// Whether each message has a key of its own, or all have the same.
    pub own_keys: bool,
}

/// What is done to messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plan {
    /// The same to each; tags to compare are right.
    All(Operation),
    /// The first half is sealed, the next quarter opened, and the last one verified: no text comes of it.
    Verified,
    /// The same, but the last quarter is opened with wrong tags: zeros come of it.
    Refused,
}

impl Plan {
    /// What is done to a message of so many, and whether the tag to compare is wrong.
    pub(super) fn of(self, number: usize, messages: usize) -> (Operation, bool) {
        match (self, 4 * number / messages) {
            (Self::All(operation), _) => (operation, false),
            (_, 0 | 1) => (Operation::Seal, false),
            (_, 2) => (Operation::Open, false),
            (Self::Verified, _) => (Operation::Verify, false),
            (Self::Refused, _) => (Operation::Open, true),
        }
    }

    /// Whether tags are compared.
    pub(super) fn compares(self) -> bool {
        !matches!(self, Self::All(Operation::Seal | Operation::CounterMode))
    }

    /// Whether some messages are opened.
    pub(super) fn opens(self) -> bool {
        !matches!(self, Self::All(operation) if operation != Operation::Open)
    }
}

/// How work is spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Work-groups, which CUDA calls blocks.
    pub groups: usize,
    /// Work-items of each, which CUDA calls threads.
    pub group_items: usize,
}

impl Grid {
    /// Work-items of all groups.
    #[must_use]
    pub fn items(self) -> usize {
        self.groups.saturating_mul(self.group_items)
    }

    /// That a kernel can be spread so, in groups of up to so many.
    pub(super) fn check(self, group_items_max: usize) -> Result<(), GpuError> {
        let Self { groups, group_items } = self;
        if !(1..=GROUPS_MAX).contains(&groups) {
            return Err(refused(format!("a grid has 1 to {GROUPS_MAX} groups, and not {groups}")));
        }
        if !(1..=group_items_max).contains(&group_items) {
            let reason = format!(
                "a group has 1 to {group_items_max} work-items here, and not {group_items}"
            );
            return Err(refused(reason));
        }
        Ok(())
    }

    /// That its groups are of whole warps, which some kernels ask for.
    pub(super) fn check_warps(self, who: &str) -> Result<(), GpuError> {
        if self.group_items.is_multiple_of(LANES) {
            return Ok(());
        }
        let items = self.group_items;
        Err(refused(format!("{who} works in groups of a multiple of {LANES}, and not of {items}")))
    }
}

impl BenchSpec {
    /// That it can be measured on a device.
    pub(super) fn check(&self, about: &About) -> Result<(), GpuError> {
        let Shape { messages, text_bytes, aad_bytes, .. } = self.shape;
        if messages == 0 {
            return Err(refused("there are no messages: give one at least".to_owned()));
        }
        if text_bytes.max(aad_bytes) > PART_BYTES_MAX {
            let reason = format!(
                "texts and aads have at most {PART_BYTES_MAX} bytes, and not {text_bytes} and {aad_bytes}"
            );
            return Err(refused(reason));
        }
        let is_ours = matches!(self.code, Code::Ours(_));
        if is_ours && self.mode == Mode::Replicated {
            let reason = "only the code as published is worked replicated: take it, or partitioned";
            return Err(refused(reason.to_owned()));
        }
        let Some(grid) = self.grid else { return Ok(()) };
        if is_ours {
            grid.check(GROUP_MAX.min(about.group_items_max))?;
            grid.check_warps("our code")
        } else {
            grid.check(lab_group_max(about))
        }
    }
}

/// Work-items of a group of the lab's programs, at most.
pub(super) fn lab_group_max(about: &About) -> usize {
    about.group_items_max.min(LAB_GROUP_MAX)
}

pub(super) fn refused(reason: String) -> GpuError {
    GpuError::NoSuchBench { reason }
}

/// As `kernels/lab/lab.h` has it.
const LAB_GROUP_MAX: usize = 1_024;
/// Work-items are counted in 32 bits.
const GROUPS_MAX: usize = 1 << 20;
