//! Why something is not measured.

use sealift_gpu::GpuError;
use sealift_probes::ArmError;

/// What kept an arm from being measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// It can't be had here, and that is no fault.
    Skip(String),
    /// Something failed.
    Failed(String),
    /// Something was computed wrong.
    Wrong(String),
}

impl From<GpuError> for Trouble {
    fn from(error: GpuError) -> Self {
        let said = error.to_string();
        match error {
            GpuError::Wrong { .. } => Self::Wrong(said),
            GpuError::NoSuchBench { .. }
            | GpuError::Unfit { .. }
            | GpuError::TooLong { .. }
            | GpuError::OutOfMemory { .. } => Self::Skip(said),
            _ => Self::Failed(said),
        }
    }
}

impl From<ArmError> for Trouble {
    fn from(error: ArmError) -> Self {
        let said = error.to_string();
        match error {
            ArmError::Wrong { .. } => Self::Wrong(said),
            _ => Self::Failed(said),
        }
    }
}
