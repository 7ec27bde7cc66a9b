//! What the library's numbers mean.

use super::ffi::Failed;
use crate::GpuError;
use std::fmt;

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} gave {}", self.call, self.status)?;
        NAMES
            .iter()
            .find(|(status, _)| *status == self.status)
            .map_or(Ok(()), |(_, name)| write!(f, ", {name}"))
    }
}

impl Failed {
    /// As an error of a device.
    pub(super) fn of(self, device: &str) -> GpuError {
        let (device, code) = (device.to_owned(), self.to_string());
        if LOSSES.contains(&self.status) {
            GpuError::Lost { device, code }
        } else {
            GpuError::Call { device, code }
        }
    }

    /// As an error of a device that was asked for memory.
    pub(super) fn of_memory(self, device: &str, what: &'static str, bytes: usize) -> GpuError {
        if NO_MEMORY.contains(&self.status) {
            GpuError::OutOfMemory { device: device.to_owned(), what, bytes }
        } else {
            self.of(device)
        }
    }

    /// As an error of a device that was to start a kernel.
    pub(super) fn of_launch(self, device: &str, kernel: &'static str) -> GpuError {
        match self.of(device) {
            GpuError::Call { device, code } => GpuError::Launch { device, kernel, code },
            other => other,
        }
    }
}

/// Device not available, invalid context, invalid queue, an event before failed; and NVIDIA's own for a kernel that
/// reached beyond its memory.
const LOSSES: [i32; 5] = [-2, -34, -36, -14, -9999];
const NO_MEMORY: [i32; 4] = [-4, -5, -6, -61];
const NAMES: [(i32, &str); 24] = [
    (-1, "device not found"),
    (-2, "device not available"),
    (-3, "compiler not available"),
    (-4, "memory object allocation failure"),
    (-5, "out of resources"),
    (-6, "out of host memory"),
    (-7, "profiling info not available"),
    (-11, "build program failure"),
    (-12, "map failure"),
    (-14, "an event in the list before failed"),
    (-30, "invalid value"),
    (-34, "invalid context"),
    (-36, "invalid command queue"),
    (-38, "invalid memory object"),
    (-43, "invalid build options"),
    (-45, "invalid program executable"),
    (-46, "invalid kernel name"),
    (-50, "invalid argument value"),
    (-51, "invalid argument size"),
    (-52, "invalid kernel arguments"),
    (-54, "invalid work-group size"),
    (-61, "invalid buffer size"),
    (-1001, "no platform is installed"),
    (-9999, "illegal access by a kernel"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_told_with_its_name_and_becomes_the_error_that_it_means() {
        let failed = |status| Failed { call: "clFlush", status };
        assert_eq!(failed(-36).to_string(), "clFlush gave -36, invalid command queue");
        assert_eq!(failed(-999).to_string(), "clFlush gave -999");
        assert!(failed(-36).of("d").is_loss());
        assert!(matches!(failed(-30).of("d"), GpuError::Call { .. }));
        assert!(matches!(
            failed(-4).of_memory("d", "input", 9),
            GpuError::OutOfMemory { bytes: 9, .. }
        ));
        assert!(failed(-2).of_memory("d", "input", 9).is_loss());
        assert!(matches!(
            failed(-54).of_launch("d", "many"),
            GpuError::Launch { kernel: "many", .. }
        ));
        assert!(failed(-14).of_launch("d", "many").is_loss());
    }
}
