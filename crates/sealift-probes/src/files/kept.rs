//! Memory that a process holds and leaves alone.
#![allow(unsafe_code)]

use crate::smaps::check_huge;
use memmap2::{Advice, MmapMut, MmapOptions};
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use std::ffi::c_void;
use std::io::{Error, Result};

/// Memory that is given back when this is dropped.
pub(super) enum Memory {
    Own { _map: MmapMut },
    Shared { _map: SharedMap },
}

/// What a rank's runtime maps.
pub(super) fn shared() -> Result<Memory> {
    Ok(Memory::Shared { _map: SharedMap::new(RANK_BYTES)? })
}

pub(super) fn reserved() -> Result<Memory> {
    let map = MmapOptions::new().len(RANK_BYTES).no_reserve_swap().map_anon()?;
    Ok(Memory::Own { _map: map })
}

pub(super) fn touched() -> Result<Memory> {
    let mut map = MmapOptions::new().len(FILLED_BYTES).map_anon()?;
    // A kernel without huge pages refuses, and has small ones then anyway.
    drop(map.advise(Advice::NoHugePage));
    touch(&mut map);
    Ok(Memory::Own { _map: map })
}

pub(super) fn locked() -> Result<Memory> {
    let mut map = MmapOptions::new().len(FILLED_BYTES).map_anon()?;
    map.lock().map_err(|error| {
        Error::other(format!(
            "{FILLED_BYTES} bytes can't be locked ({error}): `ulimit -l` is the limit, in KiB, and an \
             administrator may raise it"
        ))
    })?;
    touch(&mut map);
    Ok(Memory::Own { _map: map })
}

pub(super) fn huge() -> Result<Memory> {
    let mut map = MmapOptions::new().len(FILLED_BYTES).map_anon()?;
    map.advise(Advice::HugePage)?;
    touch(&mut map);
    check_huge(map.as_ptr(), map.len()).map_err(Error::other)?;
    Ok(Memory::Own { _map: map })
}

fn touch(map: &mut MmapMut) {
    map.iter_mut().step_by(PAGE_BYTES).for_each(|byte| *byte = 1);
}

/// A mapping that other processes could share, of which nothing was touched.
pub(super) struct SharedMap {
    start: *mut c_void,
    len: usize,
}

// SAFETY: nobody reads or writes it, and it has one owner.
unsafe impl Send for SharedMap {}

impl SharedMap {
    fn new(len: usize) -> Result<Self> {
        let flags = MapFlags::SHARED | MapFlags::NORESERVE;
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: the system chooses where, so that nothing else is replaced.
        let start = unsafe { mmap_anonymous(std::ptr::null_mut(), len, access, flags)? };
        Ok(Self { start, len })
    }
}

impl Drop for SharedMap {
    fn drop(&mut self) {
        // SAFETY: it was mapped with this length, and nobody has a pointer into it.
        let _ = unsafe { munmap(self.start, self.len) };
    }
}

/// What the vendor's library maps for a rank: `xeon_sp_init_region` of its sources, version 2020.2.1.
const RANK_BYTES: usize = 8 << 30;
const FILLED_BYTES: usize = 512 << 20;
const PAGE_BYTES: usize = 4_096;
