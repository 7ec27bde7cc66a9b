//! What can be wrong with assembly, and where.

use crate::program::Region;

/// Something wrong at a place in the text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{reason}", place(*line, *column))]
pub struct AsmError {
    /// From 1; 0 for a name that was given beside the text.
    pub line: usize,
    /// In bytes, from 1; 0 for such a name.
    pub column: usize,
    /// What is wrong.
    pub reason: Reason,
}

/// What is wrong.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// No instruction is called so.
    #[error("there is no instruction {mnemonic}{}", among("; there are ", near))]
    Mnemonic {
        /// What stands in its place.
        mnemonic: String,
        /// Instructions that are called nearly so, separated by commas.
        near: String,
    },
    /// The instruction exists, with other operands.
    #[error("{mnemonic} does not take these operands; it takes {takes}")]
    Operands {
        /// The instruction.
        mnemonic: String,
        /// What it takes, its forms separated by `or`.
        takes: String,
    },
    /// A register that does not exist.
    #[error(
        "{0} is no register: r0 to r23, pairs d0, d2 to d22, zero, one, lneg, mneg, id, id2, id4, id8 are"
    )]
    Register(String),
    /// A read-only register where only others can stand.
    #[error(
        "{0} is read-only and cannot stand here: r0 to r23 can. It may be the first register that an instruction reads"
    )]
    ReadOnly(&'static str),
    /// A number that does not fit.
    #[error("{value} does not fit here: {least} to {most} do")]
    Range {
        /// What it is.
        value: i64,
        /// The least that fits.
        least: i64,
        /// The largest that fits.
        most: i64,
    },
    /// A name that nothing defines.
    #[error("nothing defines {0}")]
    Symbol(String),
    /// A name whose value is not known yet where it is needed at once.
    #[error("{0} has no value yet: here, only numbers and what .set gave a value before can stand")]
    Early(String),
    /// A name that is defined twice.
    #[error("{name} is defined twice{}", before(*first))]
    Duplicate {
        /// The name.
        name: String,
        /// The line where it was defined before; 0 if it was given beside the text.
        first: usize,
    },
    /// A register where a number gets a name.
    #[error("{0} is a register, and no number can be called so")]
    Called(String),
    /// What is wrong with a name that was given beside the text.
    #[error("{name}, given from outside: {reason}")]
    Outside {
        /// The name.
        name: String,
        /// What is wrong with it.
        reason: Box<Reason>,
    },
    /// A directive that is not known, or not so.
    #[error("{directive}: {reason}")]
    Directive {
        /// Which.
        directive: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// Text that is no statement.
    #[error("{0}")]
    Syntax(&'static str),
    /// An expression whose value is no number of 64 bits.
    #[error("this expression has no value of 64 bits")]
    Value,
    /// An instruction outside text, or data in it.
    #[error("{what} does not belong into section {section}")]
    Misplaced {
        /// An instruction or data.
        what: &'static str,
        /// Where it stands.
        section: String,
    },
    /// A section that belongs into no memory.
    #[error(
        "there is no section {0}: .text takes instructions, .data, .rodata, .bss and .dpu_host WRAM, .mram MRAM, .atomic locks; \
         each may have an ending, as in .data.table, and .debug sections are left out"
    )]
    Section(String),
    /// A program without an instruction.
    #[error("there is no instruction; the shortest program is `stop`, which ends a tasklet")]
    Empty,
    /// More than a memory holds.
    #[error("section {section} overflows {region}: {}", of(*region, *size, *capacity))]
    Overflow {
        /// The section that no longer fits.
        section: String,
        /// The memory.
        region: Region,
        /// With all before it, in bytes.
        size: u64,
        /// What the memory holds, in bytes.
        capacity: u64,
    },
}

/// Where it is wrong, before what is.
fn place(line: usize, column: usize) -> String {
    match line {
        0 => String::new(),
        line => format!("line {line}, column {column}: "),
    }
}

/// How much of a memory is too much.
fn of(region: Region, size: u64, capacity: u64) -> String {
    let (bytes, unit) = if region == Region::Iram { (8, "instructions") } else { (1, "bytes") };
    format!("{} {unit} of {}", grouped(size / bytes), grouped(capacity / bytes))
}

/// A number with a comma before each three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev();
    groups.map(String::from_utf8_lossy).collect::<Vec<_>>().join(",")
}

/// Where a name was defined before.
fn before(line: usize) -> String {
    match line {
        0 => ": it was given from outside, too".to_owned(),
        line => format!("; first in line {line}"),
    }
}

/// What is told besides, if there is something.
fn among(before: &str, what: &str) -> String {
    if what.is_empty() { String::new() } else { format!("{before}{what}") }
}

/// A place in the text, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) line: usize,
    pub(super) column: usize,
}

impl Place {
    pub(super) fn error(self, reason: Reason) -> AsmError {
        AsmError { line: self.line, column: self.column, reason }
    }
}
