//! What stops a DPU.

use super::memory::{in_mram, within};
use crate::program::{MRAM_BYTES, Region};
use std::fmt;

/// A tasklet did what the DPU cannot do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("tasklet {tasklet} at instruction {pc}: {kind}")]
pub struct Fault {
    /// What it did.
    pub kind: FaultKind,
    /// The number of the instruction, from 0.
    pub pc: u16,
    /// The tasklet, from 0.
    pub tasklet: u8,
    /// The cycle in which the instruction was issued.
    pub cycle: u64,
    /// The tasklet's registers r0 to r23.
    pub registers: [u32; 24],
}

/// What is wrong.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// A load or store whose address is no multiple of its width.
    Misaligned {
        /// The address.
        address: u32,
        /// In bytes.
        width: u32,
    },
    /// A load or store beyond WRAM.
    OutOfBounds {
        /// The address.
        address: u32,
        /// In bytes.
        width: u32,
    },
    /// A transfer that starts between two words of eight bytes. A real DPU drops the last three bits of both addresses, and moves
    /// other bytes than were meant.
    DmaMisaligned {
        /// The address in WRAM or IRAM.
        local: u32,
        /// That in MRAM, as the program has it.
        mram: u32,
    },
    /// A transfer that leaves its memories.
    DmaOutOfBounds {
        /// The address in WRAM or IRAM.
        local: u32,
        /// That in MRAM, as the program has it.
        mram: u32,
        /// In bytes.
        length: u32,
    },
    /// A transfer of more than 2,048 bytes. On a real DPU the length wraps around.
    DmaLength {
        /// What was asked for, in bytes.
        length: u32,
    },
    /// A word that is no instruction.
    Invalid {
        /// The word.
        word: u64,
    },
    /// A checked load or store that reaches the end of what its pointer points into. The pointer's upper half is that end; of more
    /// than one byte the last must lie two before it.
    Limit {
        /// The address.
        address: u32,
        /// In bytes.
        width: u32,
        /// The end.
        limit: u32,
    },
    /// `adds` or `subs` that would move an address out of the pointer's lower half.
    Pointer {
        /// The pointer.
        pointer: u32,
        /// What is added or subtracted.
        by: u32,
    },
    /// `boot` of a number that no tasklet has. On a real DPU the numbers from 24 to 63 are bits that notify, and nothing starts;
    /// `resume`, `clr_run` and `read_run` reach these bits.
    NoTasklet {
        /// The number.
        number: u32,
    },
    /// `boot` of a tasklet that runs, without a condition that looks for that. A real DPU leaves such a tasklet as it is and says
    /// so by the condition only: `boot r0, 0, nz, LABEL` jumps where it ran. `resume` of one that runs is no fault: programs wake
    /// whoever may sleep.
    Booted {
        /// The tasklet.
        number: u32,
    },
    /// A run bit that does not exist.
    RunBit {
        /// Its number.
        number: u32,
    },
    /// `fault`.
    Raised {
        /// Its number.
        number: u32,
    },
    /// `bkp`.
    Breakpoint,
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Misaligned { address, width } => {
                write!(f, "{width} bytes at {address:#x}, which is no multiple of {width}")
            }
            Self::OutOfBounds { address, width } => {
                write!(f, "{width} bytes at {address:#x}, beyond the 64 KiB of WRAM")
            }
            Self::DmaMisaligned { local, mram } => {
                let which = match (local % 8, mram % 8) {
                    (0, _) => "the one in MRAM is not",
                    (_, 0) => "the local one is not",
                    _ => "neither is",
                };
                write!(
                    f,
                    "a transfer between the local address {local:#x} and {mram:#x} in MRAM: {which} a multiple of 8"
                )
            }
            Self::DmaOutOfBounds { local, mram, length } => {
                write!(f, "a transfer of {length} bytes at ")?;
                if within(in_mram(mram), length, MRAM_BYTES) {
                    write!(f, "the local address {local:#x}, beyond the end of that memory")
                } else {
                    let first = u64::from(Region::Mram.base());
                    let last = first + MRAM_BYTES - 1;
                    write!(f, "{mram:#x}, beyond MRAM, which is {first:#x} to {last:#x}")
                }
            }
            Self::DmaLength { length } => {
                write!(f, "a transfer of {length} bytes; 2,048 are the most")
            }
            Self::Invalid { word } => write!(f, "{word:#014x} is no instruction"),
            Self::Limit { address, width, limit } => {
                write!(f, "{width} bytes at {address:#x} through a pointer whose end is {limit:#x}")
            }
            Self::Pointer { pointer, by } => {
                write!(f, "{by:#x} moves the pointer {pointer:#x} out of its lower half")
            }
            Self::NoTasklet { number } => {
                write!(f, "it boots tasklet {number}, and there are 0 to 23")
            }
            Self::Booted { number } => {
                write!(
                    f,
                    "it boots tasklet {number}, which runs already; `boot` with nz and a label jumps then"
                )
            }
            Self::RunBit { number } => write!(f, "there is no run bit {number}: 0 to 63 are"),
            Self::Raised { number } => write!(f, "fault {number}"),
            Self::Breakpoint => f.write_str("a breakpoint"),
        }
    }
}
