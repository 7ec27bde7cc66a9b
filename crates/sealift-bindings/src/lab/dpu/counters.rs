//! What a run took, and what ended it.

use dpu_sim::isa::Instruction;
use dpu_sim::{Counters, Fault, FaultKind, Preset, Program, Region, Symbol};
use pyo3::prelude::*;

/// What a DPU did. The times are simulated.
#[pyclass(frozen, get_all, module = "sealift._sealift")]
pub(crate) struct DpuCounters {
    /// All cycles.
    cycles: u64,
    /// What they take at the system's clock: simulated.
    seconds: f64,
    /// Instructions issued.
    instructions: u64,
    /// Instructions by mnemonic, most frequent first.
    mnemonics: Vec<(String, u64)>,
    /// Cycles in which each runnable tasklet had issued an instruction too short a time before.
    idle_revolver: u64,
    /// Cycles in which tasklets waited for transfers, too.
    idle_dma: u64,
    /// Cycles lost because registers met in one bank.
    idle_hazard: u64,
    /// Bytes that went out of MRAM.
    mram_read_bytes: u64,
    /// Bytes that went into MRAM.
    mram_written_bytes: u64,
    /// Transfers between MRAM and the local memories, both ways.
    transfers: u64,
}

impl DpuCounters {
    pub(crate) fn new(counters: &Counters, system: &Preset) -> Self {
        Self {
            cycles: counters.cycles,
            seconds: system.seconds(counters.cycles),
            instructions: counters.instructions,
            mnemonics: counters.mnemonics.clone(),
            idle_revolver: counters.idle.revolver,
            idle_dma: counters.idle.dma,
            idle_hazard: counters.idle.hazard,
            mram_read_bytes: counters.mram_read_bytes,
            mram_written_bytes: counters.mram_written_bytes,
            transfers: counters.transfers,
        }
    }
}

/// What a tasklet did that a DPU can't.
#[pyclass(frozen, get_all, module = "sealift._sealift")]
pub(crate) struct DpuFault {
    /// What it did.
    what: String,
    /// The number of the instruction.
    pc: u16,
    /// The label before it and how many instructions behind that, as in "loop+3"; "" without one.
    place: String,
    /// The instruction as text; "" where the word is none.
    instruction: String,
    /// The tasklet, from 0.
    tasklet: u8,
    /// The cycle in which the instruction was issued.
    cycle: u64,
    /// The tasklet's registers r0 to r23.
    registers: Vec<u32>,
}

impl DpuFault {
    pub(super) fn new(fault: &Fault, program: &Program) -> Self {
        let word = program.instructions().get(usize::from(fault.pc));
        let instruction = word.and_then(|word| Instruction::decode(*word));
        let there = program.instructions().len();
        let why = match usize::from(fault.pc) {
            _ if !matches!(fault.kind, FaultKind::Invalid { .. }) => String::new(),
            pc if pc == there => {
                ": the program went on behind its last one, where no stop is".into()
            }
            pc if pc > there => format!(": the program has {there}"),
            _ => String::new(),
        };
        Self {
            what: format!("{}{why}", fault.kind),
            pc: fault.pc,
            place: place(u32::from(fault.pc), program.symbols()),
            instruction: instruction.map(|found| found.to_string()).unwrap_or_default(),
            tasklet: fault.tasklet,
            cycle: fault.cycle,
            registers: fault.registers.to_vec(),
        }
    }
}

/// Where an instruction stands, by the label before it.
pub(super) fn place(pc: u32, symbols: &[Symbol]) -> String {
    let labels = symbols.iter().filter(|symbol| symbol.region == Region::Iram);
    let before = labels.filter(|symbol| symbol.offset / 8 <= pc).max_by_key(|found| found.offset);
    match before {
        None => String::new(),
        Some(label) if label.offset / 8 == pc => label.name.clone(),
        Some(label) => format!("{}+{}", label.name, pc - label.offset / 8),
    }
}
