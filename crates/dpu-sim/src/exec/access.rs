//! Memories as a host sees them.

use super::Dpu;
use crate::program::{Region, WRAM_BYTES};

impl Dpu {
    /// Reads from a memory of data.
    ///
    /// # Errors
    /// The memory ends before, or is not one of data.
    pub fn read(&self, region: Region, offset: u64, out: &mut [u8]) -> Result<(), AccessError> {
        let start = check(region, offset, out.len())?;
        match region {
            Region::Wram => out.copy_from_slice(&self.wram.bytes[start..start + out.len()]),
            _ => self.mram.read(start, out),
        }
        Ok(())
    }

    /// Writes to a memory of data.
    ///
    /// # Errors
    /// The memory ends before, or is not one of data.
    pub fn write(&mut self, region: Region, offset: u64, data: &[u8]) -> Result<(), AccessError> {
        let start = check(region, offset, data.len())?;
        match region {
            Region::Wram => self.wram.bytes[start..start + data.len()].copy_from_slice(data),
            _ => self.mram.write(start, data),
        }
        Ok(())
    }
}

/// An access from outside that a memory does not allow.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{length} bytes at {offset:#x} are not within {region}, {capacity} bytes of data")]
pub struct AccessError {
    /// The memory.
    pub region: Region,
    /// Where, in bytes.
    pub offset: u64,
    /// How much, in bytes.
    pub length: u64,
    /// What the memory holds.
    pub capacity: u64,
}

fn check(region: Region, offset: u64, length: usize) -> Result<usize, AccessError> {
    let length = length as u64;
    let capacity = match region {
        Region::Wram => WRAM_BYTES as u64,
        Region::Mram => region.capacity(),
        Region::Iram | Region::Atomic => 0,
    };
    let within = offset.checked_add(length).is_some_and(|end| end <= capacity);
    let start = usize::try_from(offset).ok().filter(|_| within);
    start.ok_or(AccessError { region, offset, length, capacity })
}
