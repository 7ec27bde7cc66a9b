//! Transfers to and from many DPUs at once.

use super::interleave::{CHIPS, deinterleave, interleave};
use super::{DpuSet, HostError};
use std::time::Instant;
use zeroize::Zeroize;

/// Which way a transfer goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Push {
    /// From host memory.
    ToDpus,
    /// To host memory.
    FromDpus,
}

/// A transfer that was done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transferred {
    /// All bytes of all DPUs that took part.
    pub bytes: u64,
    /// What the system would take: simulated, by published rates and times of transfers as long with as many DPUs at once.
    pub bus_seconds: f64,
    /// What copying, interleaving and taking apart again took here: measured. A real host interleaves only.
    pub copy_seconds: f64,
}

/// Bytes of each DPU that are interleaved at a time, so that they stay in the cache.
const CHUNK_BYTES: usize = 4096;

impl DpuSet {
    /// Says what a DPU gets in the next transfer, or how much room what comes from it has. It stays prepared until `take_xfer`; what
    /// another buffer takes the place of is overwritten with zeros.
    ///
    /// # Errors
    /// There is no such DPU.
    pub fn prepare_xfer(&mut self, dpu: usize, buffer: Vec<u8>) -> Result<(), HostError> {
        let dpus = self.dpus();
        let place = self.prepared.get_mut(dpu).ok_or(HostError::Dpu { number: dpu, dpus })?;
        // What nobody took back may be a secret.
        place.replace(buffer).zeroize();
        Ok(())
    }

    /// Takes back what was prepared for a DPU, or what came from it.
    pub fn take_xfer(&mut self, dpu: usize) -> Option<Vec<u8>> {
        self.prepared.get_mut(dpu)?.take()
    }

    /// Transfers the first bytes of all that is prepared, and leaves it prepared; DPUs without anything are left out.
    ///
    /// # Errors
    /// No such name, a length that does not fit or is not aligned, or less prepared than that.
    pub fn push_xfer(
        &mut self,
        push: Push,
        symbol: &str,
        offset: u32,
        length: usize,
    ) -> Result<Transferred, HostError> {
        let (region, start) = self.place(symbol, offset, length)?;
        let short = |(_, buffer): &(usize, &Option<Vec<u8>>)| {
            buffer.as_ref().is_some_and(|buffer| buffer.len() < length)
        };
        if let Some((dpu, buffer)) = self.prepared.iter().enumerate().find(short) {
            let prepared = buffer.as_ref().map_or(0, Vec::len);
            return Err(HostError::Prepared { dpu, prepared, length });
        }
        let count = self.prepared.iter().flatten().count();
        if count == 0 {
            return Err(HostError::NothingPrepared);
        }
        let started = Instant::now();
        let mut staging = Staging::new();
        let groups = self.dpus.chunks_mut(CHIPS).zip(self.prepared.chunks_mut(CHIPS));
        let groups = groups.filter(|(_, buffers)| buffers.iter().any(Option::is_some));
        for (dpus, buffers) in groups {
            for at in (0..length).step_by(CHUNK_BYTES) {
                let part = at..length.min(at + CHUNK_BYTES);
                let place = (region, start + at as u64);
                match push {
                    Push::ToDpus => staging.send(dpus, buffers, part, place)?,
                    Push::FromDpus => staging.fetch(dpus, buffers, part, place)?,
                }
            }
        }
        let copy_seconds = started.elapsed().as_secs_f64();
        let bytes = count as u64 * length as u64;
        let bus_seconds = self.preset.transfers.seconds(push, count, bytes);
        Ok(Transferred { bytes, bus_seconds, copy_seconds })
    }
}

type Place = (crate::program::Region, u64);
type Part = std::ops::Range<usize>;

/// What is under way: lines as the bus has them, and what each chip gets or gives.
struct Staging {
    lines: Vec<u8>,
    chips: Box<[[u8; CHUNK_BYTES]; CHIPS]>,
}

impl Drop for Staging {
    fn drop(&mut self) {
        self.lines.zeroize();
        self.chips.as_flattened_mut().zeroize();
    }
}

impl Staging {
    fn new() -> Self {
        let chips = Box::new([[0; CHUNK_BYTES]; CHIPS]);
        Self { lines: vec![0; CHUNK_BYTES * CHIPS], chips }
    }

    /// Host buffers to lines, lines to the memories of eight chips.
    fn send(
        &mut self,
        dpus: &mut [crate::Dpu],
        buffers: &[Option<Vec<u8>>],
        part: Part,
        (region, start): Place,
    ) -> Result<(), HostError> {
        for (stage, buffer) in self.chips.iter_mut().zip(buffers) {
            if let Some(buffer) = buffer {
                stage[..part.len()].copy_from_slice(&buffer[part.clone()]);
                stage[part.len()..part.len().next_multiple_of(8)].fill(0);
            }
        }
        let sources = std::array::from_fn(|chip| {
            let present = buffers.get(chip).is_some_and(Option::is_some);
            present.then_some(self.chips[chip].as_slice())
        });
        let lines = &mut self.lines[..part.len().next_multiple_of(8) * CHIPS];
        interleave(&sources, lines);
        let mut places = self.chips.iter_mut();
        let mut chips =
            std::array::from_fn(|_| places.next().map(<[u8; CHUNK_BYTES]>::as_mut_slice));
        deinterleave(lines, &mut chips);
        for ((dpu, buffer), stage) in dpus.iter_mut().zip(buffers).zip(self.chips.iter()) {
            if buffer.is_some() {
                dpu.write(region, start, &stage[..part.len()])?;
            }
        }
        Ok(())
    }

    /// The memories of eight chips to lines, lines to host buffers.
    fn fetch(
        &mut self,
        dpus: &[crate::Dpu],
        buffers: &mut [Option<Vec<u8>>],
        part: Part,
        (region, start): Place,
    ) -> Result<(), HostError> {
        for ((dpu, buffer), stage) in dpus.iter().zip(buffers.iter()).zip(self.chips.iter_mut()) {
            if buffer.is_some() {
                dpu.read(region, start, &mut stage[..part.len()])?;
            }
        }
        let lines = &mut self.lines[..part.len().next_multiple_of(8) * CHIPS];
        interleave(&std::array::from_fn(|chip| Some(self.chips[chip].as_slice())), lines);
        let mut places = self.chips.iter_mut();
        let mut chips =
            std::array::from_fn(|_| places.next().map(<[u8; CHUNK_BYTES]>::as_mut_slice));
        deinterleave(lines, &mut chips);
        for (buffer, stage) in buffers.iter_mut().zip(self.chips.iter()) {
            if let Some(buffer) = buffer {
                buffer[part.clone()].copy_from_slice(&stage[..part.len()]);
            }
        }
        Ok(())
    }
}
