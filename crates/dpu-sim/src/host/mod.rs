//! The host's side: DPUs by rank, programs, transfers, launches.
//!
//! The calls are those of the vendor's library under their own names, less the prefix. Transfers move and interleave real
//! bytes; how long that took here and how long the bus would take are told apart.

mod error;
mod interleave;
mod launch;
mod transfer;

pub use error::HostError;
pub use interleave::{CHIPS, LINE_BYTES, deinterleave, interleave};
pub use launch::{Launch, Status};
pub use transfer::{Push, Transferred};

use crate::exec::{Dpu, Loadable};
use crate::preset::Preset;
use crate::program::{Program, Region, Symbol};
use launch::Running;

/// DPUs that were allocated together.
pub struct DpuSet {
    dpus: Vec<Dpu>,
    /// Where the DPUs are while they run on other threads.
    running: Option<Running>,
    status: Status,
    prepared: Vec<Option<Vec<u8>>>,
    preset: Preset,
    loaded: bool,
    instructions_max: u64,
    threads: usize,
    /// The longest times of all launches since loading, one after the other.
    cycles: u64,
}

impl DpuSet {
    /// Allocates DPUs of a system.
    ///
    /// # Errors
    /// None, or more than the system has.
    pub fn alloc(dpus: usize, preset: &Preset) -> Result<Self, HostError> {
        let available = preset.dpus();
        if dpus == 0 || dpus > available {
            return Err(HostError::Allocation { wanted: dpus, available });
        }
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Self {
            dpus: (0..dpus).map(|_| Dpu::new(preset.timing.clone())).collect(),
            running: None,
            status: Status { done: true, faults: Vec::new() },
            prepared: vec![None; dpus],
            preset: preset.clone(),
            loaded: false,
            instructions_max: u64::MAX,
            threads,
            cycles: 0,
        })
    }

    /// Allocates whole ranks.
    ///
    /// # Errors
    /// None, or more than the system has.
    pub fn alloc_ranks(ranks: usize, preset: &Preset) -> Result<Self, HostError> {
        Self::alloc(ranks.saturating_mul(preset.dpus_per_rank as usize), preset)
    }

    /// How many DPUs there are.
    #[must_use]
    pub fn dpus(&self) -> usize {
        self.prepared.len()
    }

    /// How many ranks they are on.
    #[must_use]
    pub fn ranks(&self) -> usize {
        self.dpus().div_ceil(self.preset.dpus_per_rank as usize)
    }

    /// The system they belong to.
    #[must_use]
    pub fn preset(&self) -> &Preset {
        &self.preset
    }

    /// On how many host threads DPUs run; at least one, at most one for each DPU.
    pub fn set_threads(&mut self, threads: usize) {
        self.threads = threads.max(1);
    }

    /// After how many instructions a DPU that is still running is stopped; a launch that ends so is an error. At first there is
    /// no such number, and a launch of a program that does not end goes on until it is cancelled.
    pub fn set_instructions_max(&mut self, instructions: u64) {
        self.instructions_max = instructions;
    }

    /// Puts a program into all DPUs.
    ///
    /// # Errors
    /// They are running.
    pub fn load(&mut self, program: &Program) -> Result<(), HostError> {
        self.idle()?;
        let loadable = Loadable::new(program);
        for dpu in &mut self.dpus {
            dpu.load_shared(&loadable, program);
        }
        self.loaded = true;
        self.cycles = 0;
        Ok(())
    }

    /// Puts a program into all DPUs, from an ELF file.
    ///
    /// # Errors
    /// They are running, or the file is no program.
    pub fn load_from_memory(&mut self, elf: &[u8]) -> Result<(), HostError> {
        let program = crate::elf::read(elf)?;
        self.load(&program)
    }

    /// A DPU, between launches.
    ///
    /// # Errors
    /// They are running, or there is no such DPU.
    pub fn dpu(&self, number: usize) -> Result<&Dpu, HostError> {
        self.idle()?;
        let dpus = self.dpus();
        self.dpus.get(number).ok_or(HostError::Dpu { number, dpus })
    }

    /// What a name stands for in the program that is loaded.
    ///
    /// # Errors
    /// No program is loaded, or it has no such name.
    pub fn symbol(&self, name: &str) -> Result<Symbol, HostError> {
        self.idle()?;
        if !self.loaded {
            return Err(HostError::NotLoaded);
        }
        let found = self.dpus.first().and_then(|dpu| dpu.symbol(name));
        found.cloned().ok_or_else(|| HostError::Symbol { name: name.to_owned() })
    }

    /// Writes to one DPU.
    ///
    /// # Errors
    /// No such DPU or name, or the bytes do not fit or are not aligned.
    pub fn copy_to(
        &mut self,
        dpu: usize,
        symbol: &str,
        offset: u32,
        data: &[u8],
    ) -> Result<(), HostError> {
        let (region, start) = self.place(symbol, offset, data.len())?;
        let dpus = self.dpus();
        let target = self.dpus.get_mut(dpu).ok_or(HostError::Dpu { number: dpu, dpus })?;
        Ok(target.write(region, start, data)?)
    }

    /// Reads from one DPU.
    ///
    /// # Errors
    /// No such DPU or name, or the bytes are not there or not aligned.
    pub fn copy_from(
        &self,
        dpu: usize,
        symbol: &str,
        offset: u32,
        out: &mut [u8],
    ) -> Result<(), HostError> {
        let (region, start) = self.place(symbol, offset, out.len())?;
        Ok(self.dpu(dpu)?.read(region, start, out)?)
    }

    /// Writes the same to all DPUs.
    ///
    /// # Errors
    /// No such name, or the bytes do not fit or are not aligned.
    pub fn broadcast_to(
        &mut self,
        symbol: &str,
        offset: u32,
        data: &[u8],
    ) -> Result<(), HostError> {
        let (region, start) = self.place(symbol, offset, data.len())?;
        for dpu in &mut self.dpus {
            dpu.write(region, start, data)?;
        }
        Ok(())
    }

    /// What a DPU's program printed: see [`Dpu::log`].
    ///
    /// # Errors
    /// They are running, there is no such DPU, or what it printed cannot be read.
    pub fn log_read(&self, dpu: usize) -> Result<String, HostError> {
        self.dpu(dpu)?.log().map_err(|error| HostError::Log { dpu, error })
    }

    /// Overwrites what a DPU's memories hold beside the program that is loaded; see [`Dpu::wipe`].
    ///
    /// # Errors
    /// They are running, or there is no such DPU.
    pub fn wipe(&mut self, dpu: usize, program: &Program) -> Result<(), HostError> {
        self.idle()?;
        let dpus = self.dpus();
        self.dpus.get_mut(dpu).ok_or(HostError::Dpu { number: dpu, dpus })?.wipe(program);
        Ok(())
    }

    /// What all launches since loading took, one after the other, each as long as its longest DPU: in seconds of the system's
    /// clock.
    ///
    /// # Errors
    /// They are running.
    pub fn simulated_seconds(&self) -> Result<f64, HostError> {
        self.idle()?;
        Ok(self.preset.seconds(self.cycles))
    }

    fn idle(&self) -> Result<(), HostError> {
        if self.running.is_some() { Err(HostError::Running) } else { Ok(()) }
    }

    /// Where bytes at an offset from a name lie, checked as the vendor's library does.
    fn place(&self, name: &str, offset: u32, length: usize) -> Result<(Region, u64), HostError> {
        let symbol = self.symbol(name)?;
        let align = if symbol.region == Region::Mram { 8 } else { 4 };
        let length = length as u64;
        let start = u64::from(symbol.offset) + u64::from(offset);
        if u64::from(offset) + length > u64::from(symbol.size) {
            let (name, size) = (name.to_owned(), symbol.size);
            return Err(HostError::Bounds { name, offset, length, size });
        }
        if !start.is_multiple_of(align) || !length.is_multiple_of(align) {
            let name = name.to_owned();
            return Err(HostError::Alignment { name, offset, length, align });
        }
        Ok((symbol.region, start))
    }
}
