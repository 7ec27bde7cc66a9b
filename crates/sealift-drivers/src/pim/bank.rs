//! The DPUs, what is loaded into them, and what they took.

use super::settings::Settings;
use dpu_sim::host::{CHIPS, DpuSet, HostError, Launch, Push, Transferred};
use dpu_sim::kernels::{KeySize, Mode, gcm, many};
use dpu_sim::{Preset, Program, assemble};
use std::fmt;
use std::time::Instant;
use zeroize::Zeroizing;

/// What a device did: what DPUs would take, which is simulated, apart from what was measured here.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tally {
    /// Transfers to the DPUs on the system's bus: simulated.
    pub bus_in_seconds: f64,
    /// The longest DPU of each launch at the system's clock: simulated.
    pub compute_seconds: f64,
    /// Transfers back: simulated.
    pub bus_out_seconds: f64,
    /// Instructions that DPUs executed.
    pub instructions: u64,
    /// Launches of the DPUs.
    pub launches: u64,
    /// Bytes that went to and came from DPUs.
    pub transferred_bytes: u64,
    /// Copying and interleaving these bytes on this machine: measured.
    pub copy_seconds: f64,
    /// Executing the DPUs' instructions on this machine: measured.
    pub simulating_seconds: f64,
}

impl Tally {
    /// What was done between two of them.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        Self {
            bus_in_seconds: self.bus_in_seconds - before.bus_in_seconds,
            compute_seconds: self.compute_seconds - before.compute_seconds,
            bus_out_seconds: self.bus_out_seconds - before.bus_out_seconds,
            instructions: self.instructions - before.instructions,
            launches: self.launches - before.launches,
            transferred_bytes: self.transferred_bytes - before.transferred_bytes,
            copy_seconds: self.copy_seconds - before.copy_seconds,
            simulating_seconds: self.simulating_seconds - before.simulating_seconds,
        }
    }
}

/// A program that DPUs can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kernel {
    /// For messages under many keys.
    Many,
    /// For one long message.
    Long(Mode, KeySize),
}

/// Simulated DPUs with a program.
pub(super) struct Bank {
    set: DpuSet,
    settings: Settings,
    loaded: Option<(Kernel, Program)>,
    tally: Tally,
}

/// What goes to DPUs or comes from them, with their numbers.
pub(super) type Buffers = Vec<(usize, Zeroizing<Vec<u8>>)>;

impl Bank {
    pub(super) fn new(settings: &Settings) -> Result<Self, String> {
        let set = DpuSet::alloc(settings.dpus, &settings.system);
        let set = set.map_err(|error| error.to_string())?;
        Ok(Self { set, settings: settings.clone(), loaded: None, tally: Tally::default() })
    }

    pub(super) fn settings(&self) -> &Settings {
        &self.settings
    }

    pub(super) fn tally(&self) -> Tally {
        self.tally
    }

    pub(super) fn dpus(&self) -> usize {
        self.settings.dpus
    }

    /// Puts a program into all DPUs, unless they have it.
    pub(super) fn load(&mut self, kernel: Kernel) -> Result<(), String> {
        if self.loaded.as_ref().is_some_and(|(loaded, _)| *loaded == kernel) {
            return Ok(());
        }
        let source = match kernel {
            Kernel::Many => many::program(self.settings.many()?),
            Kernel::Long(mode, size) => gcm(self.settings.long()?, (mode, size)),
        };
        let program = assemble(&source).map_err(|error| error.to_string())?;
        self.set.load(&program).map_err(|error| error.to_string())?;
        self.loaded = Some((kernel, program));
        Ok(())
    }

    /// Sends each DPU its bytes, to all at once; those that share a rank's lines are brought to one length.
    pub(super) fn push(&mut self, buffers: Buffers) -> Result<(), String> {
        let (dpus, mut bytes) = (buffers.len(), 0);
        for (number, group) in groups(buffers) {
            let length = group.iter().map(|(_, buffer)| buffer.len()).max().unwrap_or(0);
            let group = group.into_iter().map(|(dpu, buffer)| (dpu, padded(buffer, length)));
            let done = self.transfer(Push::ToDpus, group.collect(), (0, length));
            let (sent, _) = done.map_err(|error| format!("DPUs from {number}: {error}"))?;
            bytes += sent.bytes;
            self.tally.copy_seconds += sent.copy_seconds;
        }
        self.count(Push::ToDpus, dpus, bytes);
        Ok(())
    }

    /// Fetches bytes behind an offset, from all at once; each DPU has as many as are wanted of it, or more.
    pub(super) fn pull(
        &mut self,
        offset: u32,
        wanted: &[(usize, usize)],
    ) -> Result<Buffers, String> {
        let room = wanted.iter().map(|&(dpu, bytes)| (dpu, Zeroizing::new(vec![0; bytes])));
        let (mut all, mut bytes) = (Vec::with_capacity(wanted.len()), 0);
        for (number, group) in groups(room.collect()) {
            let length = group.iter().map(|(_, buffer)| buffer.len()).max().unwrap_or(0);
            let group = group.into_iter().map(|(dpu, buffer)| (dpu, padded(buffer, length)));
            let done = self.transfer(Push::FromDpus, group.collect(), (offset, length));
            let (came, group) = done.map_err(|error| format!("DPUs from {number}: {error}"))?;
            bytes += came.bytes;
            self.tally.copy_seconds += came.copy_seconds;
            all.extend(group);
        }
        self.count(Push::FromDpus, wanted.len(), bytes);
        Ok(all)
    }

    /// Writes a few bytes to what a name stands for on the first DPUs, to all of them at once.
    pub(super) fn put<B: AsRef<[u8]>>(&mut self, symbol: &str, each: &[B]) -> Result<(), String> {
        let started = Instant::now();
        for (dpu, bytes) in each.iter().enumerate() {
            let written = self.set.copy_to(dpu, symbol, 0, bytes.as_ref());
            written.map_err(|error| error.to_string())?;
        }
        self.tally.copy_seconds += started.elapsed().as_secs_f64();
        let bytes: usize = each.iter().map(|bytes| bytes.as_ref().len()).sum();
        self.count(Push::ToDpus, each.len(), bytes as u64);
        Ok(())
    }

    /// Reads a few bytes of what a name stands for on the first DPUs, from all of them at once.
    pub(super) fn get(
        &mut self,
        symbol: &str,
        dpus: usize,
        bytes: usize,
    ) -> Result<Vec<Vec<u8>>, String> {
        let started = Instant::now();
        let mut each = vec![vec![0; bytes]; dpus];
        for (dpu, out) in each.iter_mut().enumerate() {
            let read = self.set.copy_from(dpu, symbol, 0, out);
            read.map_err(|error| error.to_string())?;
        }
        self.tally.copy_seconds += started.elapsed().as_secs_f64();
        self.count(Push::FromDpus, dpus, (dpus * bytes) as u64);
        Ok(each)
    }

    /// Starts all DPUs and waits for them.
    pub(super) fn launch(&mut self) -> Result<(), String> {
        let before = self.counts()?;
        let started = Instant::now();
        let launched = self.set.launch(Launch::Synchronous);
        self.tally.simulating_seconds += started.elapsed().as_secs_f64();
        launched.map_err(|error| error.to_string())?;
        let after = self.counts()?;
        let took = before.iter().zip(&after);
        let cycles = took.clone().map(|(before, after)| after.0 - before.0).max().unwrap_or(0);
        self.tally.instructions += took.map(|(before, after)| after.1 - before.1).sum::<u64>();
        self.tally.compute_seconds += self.system().seconds(cycles);
        self.tally.launches += 1;
        Ok(())
    }

    /// Overwrites what was written into DPUs' memories; their program stays.
    pub(super) fn wipe(&mut self, dpus: impl IntoIterator<Item = usize>) -> Result<(), String> {
        let Some((_, program)) = &self.loaded else { return Ok(()) };
        for dpu in dpus {
            self.set.wipe(dpu, program).map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    fn system(&self) -> &Preset {
        &self.settings.system
    }

    /// Cycles and instructions of each DPU.
    fn counts(&self) -> Result<Vec<(u64, u64)>, String> {
        let count = |dpu| self.set.dpu(dpu).map(|dpu| (dpu.cycles(), dpu.instructions()));
        let counts = (0..self.dpus()).map(count).collect::<Result<_, HostError>>();
        counts.map_err(|error| error.to_string())
    }

    /// What a transfer with so many DPUs at once takes.
    fn count(&mut self, push: Push, dpus: usize, bytes: u64) {
        let seconds = self.system().transfers.seconds(push, dpus, bytes);
        match push {
            Push::ToDpus => self.tally.bus_in_seconds += seconds,
            Push::FromDpus => self.tally.bus_out_seconds += seconds,
        }
        self.tally.transferred_bytes += bytes;
    }

    /// One transfer; the buffers come back whatever became of it.
    fn transfer(
        &mut self,
        push: Push,
        buffers: Buffers,
        (offset, length): (u32, usize),
    ) -> Result<(Transferred, Buffers), HostError> {
        let dpus: Vec<_> = buffers.iter().map(|(dpu, _)| *dpu).collect();
        for (dpu, mut buffer) in buffers {
            self.set.prepare_xfer(dpu, std::mem::take(&mut *buffer))?;
        }
        let done = self.set.push_xfer(push, MRAM, offset, length);
        let take = |dpu| Some((dpu, Zeroizing::new(self.set.take_xfer(dpu)?)));
        let buffers = dpus.into_iter().filter_map(take).collect();
        Ok((done?, buffers))
    }
}

/// Whatever was in the middle when work failed is overwritten.
impl Drop for Bank {
    fn drop(&mut self) {
        // It fails for numbers that no DPU has only.
        let _ = self.wipe(0..self.dpus());
    }
}

impl fmt::Debug for Bank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bank({} DPUs, secret)", self.dpus())
    }
}

/// Buffers by the chips that share lines, with the first DPU of each.
fn groups(buffers: Buffers) -> Vec<(usize, Buffers)> {
    let mut groups: Vec<(usize, Buffers)> = vec![];
    for (dpu, buffer) in buffers {
        let first = dpu / CHIPS * CHIPS;
        match groups.last_mut() {
            Some((group, buffers)) if *group == first => buffers.push((dpu, buffer)),
            _ => groups.push((first, vec![(dpu, buffer)])),
        }
    }
    groups
}

/// The same bytes with zeros behind them. Where they have to move, what they leave is overwritten.
fn padded(buffer: Zeroizing<Vec<u8>>, length: usize) -> Zeroizing<Vec<u8>> {
    if buffer.len() == length {
        return buffer;
    }
    let mut longer = Zeroizing::new(vec![0; length]);
    sealift_kernels::copy::copy(&mut longer[..buffer.len()], &buffer);
    longer
}

/// The first byte of MRAM that no program takes.
const MRAM: &str = "__sys_used_mram_end";

#[cfg(test)]
impl Bank {
    pub(super) fn read_mram(&self, dpu: usize, out: &mut [u8]) {
        self.set.dpu(dpu).unwrap().read(dpu_sim::Region::Mram, 0, out).unwrap();
    }
}
