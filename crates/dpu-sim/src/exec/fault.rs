//! What stops a DPU.

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
    /// A transfer that starts between two words of eight bytes.
    DmaMisaligned {
        /// In WRAM or IRAM.
        local: u32,
        /// In MRAM.
        mram: u32,
    },
    /// A transfer that leaves its memories.
    DmaOutOfBounds {
        /// In WRAM or IRAM.
        local: u32,
        /// In MRAM.
        mram: u32,
        /// In bytes.
        length: u32,
    },
    /// A transfer of more than 2,048 bytes: the length would wrap around.
    DmaLength {
        /// What was asked for, in bytes.
        length: u32,
    },
    /// A word that is no instruction.
    Invalid {
        /// The word.
        word: u64,
    },
    /// An instruction that this simulator does not execute.
    Unsupported {
        /// The word.
        word: u64,
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
                write!(f, "a transfer between {local:#x} and MRAM {mram:#x}, not multiples of 8")
            }
            Self::DmaOutOfBounds { local, mram, length } => {
                write!(
                    f,
                    "a transfer of {length} bytes between {local:#x} and MRAM {mram:#x}, beyond the end"
                )
            }
            Self::DmaLength { length } => {
                write!(f, "a transfer of {length} bytes; 2,048 are the most")
            }
            Self::Invalid { word } => write!(f, "{word:#014x} is no instruction"),
            Self::Unsupported { word } => match crate::isa::Instruction::decode(word) {
                Some(instruction) => write!(f, "{instruction} is not simulated"),
                None => write!(f, "{word:#014x} is not simulated"),
            },
            Self::Raised { number } => write!(f, "fault {number}"),
            Self::Breakpoint => f.write_str("a breakpoint"),
        }
    }
}
