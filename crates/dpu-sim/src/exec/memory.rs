//! WRAM and MRAM.

use super::fault::FaultKind;
use crate::program::{MRAM_BYTES, Region, WRAM_BYTES};
use zeroize::Zeroize;

/// MRAM, of which only those parts take memory that something was written to.
#[derive(Clone)]
pub(super) struct Mram {
    pages: Vec<Option<Box<[u8; PAGE]>>>,
}

const PAGE: usize = 64 * 1024;
/// What is wiped is likely to be used again.
const PAGES_KEPT: usize = 16;

impl Mram {
    pub(super) fn new() -> Self {
        Self { pages: Vec::new() }
    }

    /// Reads from an offset that was checked.
    pub(super) fn read(&self, offset: usize, out: &mut [u8]) {
        let mut done = 0;
        while done < out.len() {
            let (page, within) = ((offset + done) / PAGE, (offset + done) % PAGE);
            let part = (PAGE - within).min(out.len() - done);
            let to = &mut out[done..done + part];
            match self.pages.get(page).and_then(Option::as_ref) {
                Some(page) => to.copy_from_slice(&page[within..within + part]),
                None => to.fill(0),
            }
            done += part;
        }
    }

    /// Overwrites everything with zeros; most of the memory is given back.
    pub(super) fn wipe(&mut self) {
        for page in self.pages.iter_mut().flatten() {
            page.as_mut_slice().zeroize();
        }
        self.pages.truncate(PAGES_KEPT);
    }

    pub(super) fn write(&mut self, offset: usize, data: &[u8]) {
        let mut done = 0;
        while done < data.len() {
            let (page, within) = ((offset + done) / PAGE, (offset + done) % PAGE);
            let part = (PAGE - within).min(data.len() - done);
            if self.pages.len() <= page {
                self.pages.resize(page + 1, None);
            }
            let page = self.pages[page].get_or_insert_with(|| Box::new([0; PAGE]));
            page[within..within + part].copy_from_slice(&data[done..done + part]);
            done += part;
        }
    }
}

/// WRAM, and the checks of its addresses.
#[derive(Clone)]
pub(super) struct Wram {
    pub(super) bytes: Box<[u8; WRAM_BYTES]>,
}

impl Wram {
    pub(super) fn new() -> Self {
        Self { bytes: Box::new([0; WRAM_BYTES]) }
    }

    #[inline(always)]
    pub(super) fn load<const N: usize>(&self, address: u32) -> Result<[u8; N], FaultKind> {
        let start = place::<N>(address)?;
        let mut value = [0; N];
        value.copy_from_slice(&self.bytes[start..start + N]);
        Ok(value)
    }

    #[inline(always)]
    pub(super) fn store<const N: usize>(
        &mut self,
        address: u32,
        value: [u8; N],
    ) -> Result<(), FaultKind> {
        let start = place::<N>(address)?;
        self.bytes[start..start + N].copy_from_slice(&value);
        Ok(())
    }
}

/// Where an access starts: aligned, so it also ends within.
#[inline(always)]
fn place<const N: usize>(address: u32) -> Result<usize, FaultKind> {
    let start = address as usize;
    if start >= WRAM_BYTES || !start.is_multiple_of(N) {
        return Err(wrong::<N>(address));
    }
    Ok(start)
}

#[cold]
fn wrong<const N: usize>(address: u32) -> FaultKind {
    let width = u32::try_from(N).unwrap_or(u32::MAX);
    if address as usize >= WRAM_BYTES {
        FaultKind::OutOfBounds { address, width }
    } else {
        FaultKind::Misaligned { address, width }
    }
}

/// Where in MRAM an address lies; a DPU takes those from 0 on, too.
pub(super) fn in_mram(address: u32) -> u32 {
    address.checked_sub(Region::Mram.base()).unwrap_or(address)
}

/// Do so many bytes end within a memory?
pub(super) fn within(start: u32, length: u32, capacity: u64) -> bool {
    u64::from(start) + u64::from(length) <= capacity
}

/// A checked transfer between a local memory and MRAM, all in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transfer {
    pub(super) local: usize,
    pub(super) mram: usize,
    pub(super) length: usize,
}

impl Transfer {
    /// What `ldma a, b, words` and its like ask for. The upper eight bits of `a` add to the length.
    pub(super) fn new(a: u32, b: u32, words: u32, local: Region) -> Result<Self, FaultKind> {
        let words = words + (a >> 24);
        let length = 8 * (1 + words);
        if words > 255 {
            return Err(FaultKind::DmaLength { length });
        }
        let start = a & 0x00ff_ffff;
        let mram = in_mram(b);
        if !start.is_multiple_of(8) || !mram.is_multiple_of(8) {
            return Err(FaultKind::DmaMisaligned { local: start, mram: b });
        }
        if !within(start, length, local.capacity()) || !within(mram, length, MRAM_BYTES) {
            return Err(FaultKind::DmaOutOfBounds { local: start, mram: b, length });
        }
        Ok(Self { local: start as usize, mram: mram as usize, length: length as usize })
    }
}
