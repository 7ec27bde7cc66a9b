//! One DPU with a program of one's own.

use super::counters::{DpuCounters, DpuFault, place};
use super::input;
use super::program::DpuProgram;
use super::system::DpuSystem;
use crate::errors::{Failure, Outcome};
use crate::gil;
use dpu_sim::{Dpu, Fault, Outcome as Ended, Preset, Program, Region, Symbol, TASKLETS};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::time::{Duration, Instant};

/// A simulated DPU that runs a program.
#[pyclass(module = "sealift._sealift")]
pub(crate) struct DpuRun {
    dpu: Dpu,
    program: Program,
    system: Preset,
    ended: Option<&'static str>,
    fault: Option<Box<Fault>>,
}

#[pymethods]
impl DpuRun {
    /// Loads a program and starts tasklet 0 at its first instruction; `run` goes on from there.
    ///
    /// Args:
    ///     program: What it runs.
    ///     system: Whose DPU it is, for its timing.
    #[new]
    fn new(program: &DpuProgram, system: &DpuSystem) -> Self {
        let mut dpu = Dpu::new(system.0.timing.clone());
        dpu.load(&program.0);
        dpu.boot();
        let (program, system) = (program.0.clone(), system.0.clone());
        Self { dpu, program, system, ended: None, fault: None }
    }

    /// Writes to what a symbol names, from its first byte on.
    ///
    /// Raises:
    ///     InputError: If there is no such symbol in WRAM or MRAM, or it has fewer bytes.
    fn write(&mut self, symbol: &str, data: &[u8]) -> Outcome<()> {
        let (region, offset) = self.place(symbol, data.len())?;
        self.dpu.write(region, offset, data).map_err(input)
    }

    /// Bytes of the number that a symbol names.
    ///
    /// Raises:
    ///     InputError: If there is no such symbol in WRAM or MRAM, or it names no number: it has
    ///         not 1, 2, 4 or 8 bytes, or no size of its own and several data before the next
    ///         symbol.
    fn number_bytes(&self, symbol: &str) -> Outcome<u32> {
        let found = self.data(symbol)?;
        let size = found.size;
        if !matches!(size, 1 | 2 | 4 | 8) {
            return Err(Failure::Input(format!(
                "{symbol} has {size} bytes, and a number takes 1, 2, 4 or 8"
            )));
        }
        if !found.whole {
            return Err(Failure::Input(format!(
                "{symbol} names several data of {size} bytes together, up to the next symbol"
            )));
        }
        Ok(size)
    }

    /// Reads what a symbol names.
    ///
    /// Args:
    ///     symbol: Its name.
    ///     length: How many bytes from its first on; None for all.
    ///
    /// Raises:
    ///     InputError: If there is no such symbol in WRAM or MRAM, or it has fewer bytes.
    #[pyo3(signature = (symbol, length=None))]
    fn read<'py>(
        &self,
        py: Python<'py>,
        symbol: &str,
        length: Option<usize>,
    ) -> Outcome<Bound<'py, PyBytes>> {
        let length = match length {
            Some(length) => length,
            None => self.data(symbol)?.size as usize,
        };
        let (region, offset) = self.place(symbol, length)?;
        let mut bytes = vec![0; length];
        self.dpu.read(region, offset, &mut bytes).map_err(input)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Runs for a while, without the interpreter's lock.
    ///
    /// Args:
    ///     cycles_max: The cycle, counted from the start, in which to stop at the latest.
    ///     seconds: How long to run at most, in seconds of this machine.
    ///
    /// Returns:
    ///     "done" when all tasklets have stopped, "fault" when one did what it can't, "limit" when
    ///     the cycles are used up, "running" when only the seconds are.
    fn run(&mut self, py: Python<'_>, cycles_max: u64, seconds: f64) -> &'static str {
        gil::leave(py, || self.run_until(cycles_max, seconds))
    }

    /// A tasklet's registers r0 to r23.
    ///
    /// Raises:
    ///     InputError: If there is no such tasklet.
    fn registers(&self, tasklet: usize) -> Outcome<Vec<u32>> {
        let found = self.dpu.registers(tasklet).map(|registers| registers.to_vec());
        found.ok_or_else(|| {
            Failure::Input(format!("there is no tasklet {tasklet}: 0 to {} are", TASKLETS - 1))
        })
    }

    /// What a tasklet did that it can't; None when none did.
    #[getter]
    fn fault(&self) -> Option<DpuFault> {
        self.fault.as_ref().map(|fault| DpuFault::new(fault, &self.program))
    }

    /// What the DPU did so far.
    #[getter]
    fn counters(&self) -> DpuCounters {
        DpuCounters::new(&self.dpu.counters(), &self.system)
    }

    /// Cycles so far.
    #[getter]
    fn cycles(&self) -> u64 {
        self.dpu.cycles()
    }

    /// What its tasklets printed, with the vendor's `printf` or with `tell`.
    ///
    /// Raises:
    ///     InputError: If what lies in the buffer for that can't be read.
    #[getter]
    fn log(&self) -> Outcome<String> {
        self.dpu.log().map_err(input)
    }

    /// Tasklets that have not stopped: number, next instruction, and where that is by its label.
    #[getter]
    fn running(&self) -> Vec<(usize, u16, String)> {
        let at = |tasklet| {
            let pc = self.dpu.next_instruction(tasklet).filter(|_| self.dpu.runs(tasklet))?;
            Some((tasklet, pc, place(u32::from(pc), self.program.symbols())))
        };
        (0..TASKLETS).filter_map(at).collect()
    }
}

impl DpuRun {
    fn run_until(&mut self, cycles_max: u64, seconds: f64) -> &'static str {
        let limit =
            Duration::try_from_secs_f64(seconds.clamp(0.0, SECONDS_MAX)).unwrap_or_default();
        let started = Instant::now();
        while self.ended.is_none() {
            let left = cycles_max.saturating_sub(self.dpu.cycles());
            if left == 0 {
                return "limit";
            }
            // An instruction takes a cycle at least, and a transfer many; near the end they come one by one.
            match self.dpu.run((left / LEFT_SHARE).clamp(1, SLICE)) {
                Ended::Done => self.ended = Some("done"),
                Ended::Fault(fault) => {
                    self.ended = Some("fault");
                    self.fault = Some(fault);
                }
                Ended::Limit if started.elapsed() >= limit => return "running",
                Ended::Limit => {}
            }
        }
        self.ended.unwrap_or("running")
    }

    fn place(&self, name: &str, length: usize) -> Outcome<(Region, u64)> {
        let symbol = self.data(name)?;
        if length as u64 > u64::from(symbol.size) {
            return Err(Failure::Input(format!(
                "{length} bytes at {name}, which has {}",
                symbol.size
            )));
        }
        Ok((symbol.region, u64::from(symbol.offset)))
    }

    fn data(&self, name: &str) -> Outcome<&Symbol> {
        let is_data = |symbol: &&Symbol| matches!(symbol.region, Region::Wram | Region::Mram);
        match self.program.symbol(name) {
            Some(symbol) if is_data(&symbol) => Ok(symbol),
            Some(symbol) => Err(Failure::Input(format!(
                "{name} names a place in {}: only data in WRAM and MRAM can be read and written",
                symbol.region
            ))),
            None => {
                let names = self.program.symbols().iter().filter(is_data);
                let names: Vec<_> = names.map(|symbol| symbol.name.as_str()).collect();
                Err(Failure::Input(format!(
                    "the program has no symbol {name} for data; it has {}",
                    names.join(", ")
                )))
            }
        }
    }
}

/// Instructions between two looks at clock and cycles.
const SLICE: u64 = 1 << 18;
/// A DPU's instruction takes so many cycles at most, unless it waits for transfers.
const LEFT_SHARE: u64 = 16;
const SECONDS_MAX: f64 = 3_600.0;
