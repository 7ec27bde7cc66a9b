//! Memory of devices and pinned memory of the host.

use super::World;
use crate::code::{Code, ILLEGAL_ADDRESS, INVALID_VALUE, NOT_READY, OUT_OF_MEMORY};
use crate::ffi::Pinned;
use std::collections::BTreeMap;

/// What is allocated on all devices, by address.
#[derive(Default)]
pub(crate) struct Memory {
    regions: BTreeMap<u64, Region>,
    /// Bytes of address space that were given out.
    given: u64,
}

struct Region {
    context: u64,
    bytes: Vec<u8>,
}

impl Memory {
    fn allocate(&mut self, context: u64, bytes: usize) -> u64 {
        let address = FIRST_ADDRESS + self.given;
        self.given += (bytes as u64).next_multiple_of(GAP) + GAP;
        self.regions.insert(address, Region { context, bytes: vec![FRESH; bytes] });
        address
    }

    /// Reads so many bytes from an address on.
    pub(crate) fn read(&self, address: u64, bytes: usize) -> Result<&[u8], Code> {
        let (start, region) = self.regions.range(..=address).next_back().ok_or(ILLEGAL_ADDRESS)?;
        let at = usize::try_from(address - start).map_err(|_| ILLEGAL_ADDRESS)?;
        let end = at.checked_add(bytes).ok_or(ILLEGAL_ADDRESS)?;
        region.bytes.get(at..end).ok_or(ILLEGAL_ADDRESS)
    }

    /// Writes bytes from an address on.
    pub(crate) fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), Code> {
        let last = self.regions.range_mut(..=address).next_back();
        let (start, region) = last.ok_or(ILLEGAL_ADDRESS)?;
        let at = usize::try_from(address - start).map_err(|_| ILLEGAL_ADDRESS)?;
        let end = at.checked_add(bytes.len()).ok_or(ILLEGAL_ADDRESS)?;
        region.bytes.get_mut(at..end).ok_or(ILLEGAL_ADDRESS)?.copy_from_slice(bytes);
        Ok(())
    }

    pub(super) fn len(&self) -> usize {
        self.regions.len()
    }

    pub(super) fn bytes_in_all(&self) -> u64 {
        self.regions.values().map(|region| region.bytes.len() as u64).sum()
    }

    /// Bytes that were written and not overwritten yet.
    pub(super) fn held_bytes(&self) -> u64 {
        self.regions.values().map(|region| dirty(&region.bytes)).sum()
    }
}

impl World {
    pub(crate) fn allocate(&mut self, bytes: usize) -> Result<u64, Code> {
        let context = self.current()?;
        if bytes == 0 {
            return Err(self.wrong(INVALID_VALUE));
        }
        if self.memory.bytes_in_all() + bytes as u64 > self.plan.memory {
            return Err(OUT_OF_MEMORY);
        }
        Ok(self.memory.allocate(context, bytes))
    }

    /// Waits for everything, as CUDA does before it gives memory back.
    pub(crate) fn free(&mut self, address: u64) -> Result<(), Code> {
        let context = self.memory.regions.get(&address).map(|region| region.context);
        self.own(context)?;
        let waited = self.run_all();
        if let Some(region) = self.memory.regions.remove(&address)
            && self.lost.is_none()
        {
            self.found.dirty_device_bytes += dirty(&region.bytes);
        }
        waited
    }

    pub(crate) fn pin(&mut self, bytes: usize) -> Result<usize, Code> {
        self.current()?;
        if bytes == 0 {
            return Err(self.wrong(INVALID_VALUE));
        }
        let pinned = Pinned::new(bytes, FRESH);
        let address = pinned.address();
        self.pinned.insert(address, pinned);
        Ok(address)
    }

    /// Waits for everything, as CUDA does. Pinned memory is the host's, and is there to be wiped even when the
    /// device is lost.
    pub(crate) fn unpin(&mut self, address: usize) -> Result<(), Code> {
        self.current()?;
        let waited = self.run_all();
        match self.pinned.remove(&address) {
            Some(pinned) => self.found.dirty_pinned_bytes += dirty(&pinned.read(0, pinned.len())),
            None => return Err(self.wrong(INVALID_VALUE)),
        }
        waited
    }

    /// The pinned memory that holds so many bytes from an address on, and where in it they begin.
    pub(super) fn pinned(&self, address: usize, bytes: usize) -> Result<(&Pinned, usize), Code> {
        let last = self.pinned.range(..=address).next_back();
        let (start, pinned) = last.ok_or(INVALID_VALUE)?;
        let at = address - start;
        let end = at.checked_add(bytes).ok_or(INVALID_VALUE)?;
        if end <= pinned.len() { Ok((pinned, at)) } else { Err(INVALID_VALUE) }
    }

    /// Bytes of pinned memory that were not overwritten yet.
    pub(super) fn held_bytes(&self) -> u64 {
        self.pinned.values().map(|pinned| dirty(&pinned.read(0, pinned.len()))).sum()
    }

    fn run_all(&mut self) -> Result<(), Code> {
        let streams: Vec<_> = self.streams.keys().copied().collect();
        let ran = streams.into_iter().try_for_each(|stream| self.run(stream, u64::MAX));
        if ran == Err(NOT_READY) {
            self.found.hangs += 1;
        }
        ran
    }
}

/// How many bytes somebody wrote and did not overwrite with zeros.
fn dirty(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|byte| ![0, FRESH].contains(byte)).count() as u64
}

/// What memory holds that nobody wrote yet.
const FRESH: u8 = 0xa5;
/// Where no memory of the host is.
const FIRST_ADDRESS: u64 = 0x7000_0000_0000_0000;
/// Between two allocations nothing can be read.
const GAP: u64 = 4096;
