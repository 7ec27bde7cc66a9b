//! Instructions as text.

use super::{Instruction, Operand};
use crate::program::{Program, Region, Symbol};
use std::fmt::{self, Write};

/// Names of the read-only registers, from number 24 on.
const CONSTANTS: [&str; 8] = ["zero", "one", "lneg", "mneg", "id", "id2", "id4", "id8"];

/// What a register's name stands for: its number, and whether it is a pair.
#[must_use]
pub fn register(name: &str) -> Option<(i64, bool)> {
    if let Some(number) = CONSTANTS.iter().position(|constant| *constant == name) {
        return Some((24 + i64::try_from(number).ok()?, false));
    }
    let digits = name.strip_prefix(['r', 'd'])?;
    let plain = digits == "0" || digits.starts_with(|c: char| c.is_ascii_digit() && c != '0');
    if !plain || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    // A register that does not exist is one all the same: its range is told where it stands.
    Some((digits.parse().unwrap_or(i64::MAX), name.starts_with('d')))
}

/// The name of a read-only register.
pub(crate) fn constant(number: i64) -> Option<&'static str> {
    CONSTANTS.get(usize::try_from(number.checked_sub(24)?).ok()?).copied()
}

/// A program's instructions as text, with their numbers, words and labels.
#[must_use]
pub fn disassemble(program: &Program) -> String {
    let mut out = String::new();
    for (number, &word) in program.instructions().iter().enumerate() {
        let here = |symbol: &&Symbol| {
            symbol.region == Region::Iram && symbol.offset as usize == 8 * number
        };
        for symbol in program.symbols().iter().filter(here) {
            let _ = writeln!(out, "{}:", symbol.name);
        }
        let _ = match Instruction::decode(word) {
            Some(instruction) => writeln!(out, "{number:6}: {word:012x}  {instruction}"),
            None => writeln!(out, "{number:6}: {word:012x}  (no instruction)"),
        };
    }
    out
}

impl fmt::Display for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.form().mnemonic())?;
        let mut separator = " ";
        if self.form().drops_result() {
            f.write_str(" zero")?;
            separator = ", ";
        }
        for (slot, &value) in self.form().slots().iter().zip(self.operands()) {
            f.write_str(separator)?;
            separator = ", ";
            match slot.operand {
                Operand::Destination | Operand::SourceA | Operand::SourceB => {
                    match constant(value) {
                        Some(name) => f.write_str(name)?,
                        None => write!(f, "r{value}")?,
                    }
                }
                Operand::DestinationPair | Operand::PairB => write!(f, "d{value}")?,
                Operand::Condition(class) => match class.condition(value) {
                    Some(condition) => f.write_str(condition.name())?,
                    None => write!(f, "?{value}")?,
                },
                Operand::Endian => f.write_str(if value == 0 { "!little" } else { "!big" })?,
                _ => write!(f, "{value}")?,
            }
        }
        if self.form().ends_with_false() {
            write!(f, "{separator}false")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_shown_with_its_labels() {
        let program =
            crate::assemble("add r0, id, 1\nagain: jneq r0, 4, again\nlw !big, r1, zero, 8")
                .unwrap();
        let lines: Vec<String> = disassemble(&program)
            .lines()
            .map(|line| line.split("  ").last().unwrap_or("").to_owned())
            .collect();
        assert_eq!(lines, ["add r0, id, 1", "again:", "jneq r0, 4, 1", "lw !big, r1, zero, 8"]);
    }
}
