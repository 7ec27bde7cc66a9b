//! What a host can do wrong.

use crate::elf::ElfError;
use crate::exec::{AccessError, Fault};
use crate::log::LogError;

/// Why a call did nothing, or a launch did not end well.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HostError {
    /// As many DPUs as there are not.
    #[error("{wanted} DPUs cannot be allocated: 1 to {available} can")]
    Allocation {
        /// How many were asked for.
        wanted: usize,
        /// How many the system has.
        available: usize,
    },
    /// A number that no DPU has.
    #[error("there is no DPU {number}; the set has {dpus}")]
    Dpu {
        /// The number.
        number: usize,
        /// How many there are.
        dpus: usize,
    },
    /// No program is loaded.
    #[error("no program is loaded")]
    NotLoaded,
    /// The DPUs are running.
    #[error("the DPUs are running: sync first")]
    Running,
    /// A name that the program does not have.
    #[error("the program has no symbol {name}")]
    Symbol {
        /// The name.
        name: String,
    },
    /// More bytes than the symbol has.
    #[error("{length} bytes at {offset} of {name}, which has {size}")]
    Bounds {
        /// The symbol.
        name: String,
        /// From its start.
        offset: u32,
        /// How many.
        length: u64,
        /// How many it has.
        size: u32,
    },
    /// An address or a length between words.
    #[error(
        "{length} bytes at {offset} of {name}: address and length have to be multiples of {align}"
    )]
    Alignment {
        /// The symbol.
        name: String,
        /// From its start.
        offset: u32,
        /// How many.
        length: u64,
        /// What both have to be multiples of.
        align: u64,
    },
    /// Fewer bytes were prepared than are to be pushed.
    #[error("{prepared} bytes are prepared for DPU {dpu}, and {length} are to be pushed")]
    Prepared {
        /// The DPU.
        dpu: usize,
        /// How many there are.
        prepared: usize,
        /// How many there have to be.
        length: usize,
    },
    /// Nothing was prepared.
    #[error("nothing is prepared for any DPU")]
    NothingPrepared,
    /// DPUs faulted.
    #[error("DPU {dpu}: {fault}")]
    Fault {
        /// The first of them.
        dpu: usize,
        /// What it did.
        fault: Box<Fault>,
    },
    /// A DPU did not end.
    #[error("DPU {dpu} was still running after {instructions} instructions")]
    Endless {
        /// The first of them.
        dpu: usize,
        /// How many it was allowed.
        instructions: u64,
    },
    /// What a DPU printed cannot be read.
    #[error("DPU {dpu}: {error}")]
    Log {
        /// The DPU.
        dpu: usize,
        /// What is wrong.
        error: LogError,
    },
    /// The launch was cancelled.
    #[error("cancelled")]
    Cancelled,
    /// The system gives no thread.
    #[error(
        "no thread can be started to run the DPUs: {reason}; end other programs, or raise the limit"
    )]
    NoThread {
        /// What the system said.
        reason: String,
    },
    /// A thread that ran DPUs ended early.
    #[error("a thread that ran DPUs ended early")]
    Thread,
    /// A memory ends before.
    #[error(transparent)]
    Access(#[from] AccessError),
    /// No program.
    #[error(transparent)]
    Elf(#[from] ElfError),
}
