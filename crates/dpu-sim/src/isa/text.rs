//! Instructions as text.

use super::{Instruction, Operand};
use crate::program::{Program, Region, Symbol};
use std::collections::HashMap;
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

/// A program's instructions as text, with their numbers, words and labels. Jumps have the labels that they go to; addresses in
/// memory are numbers, with the name of what lies there behind them.
#[must_use]
pub fn disassemble(program: &Program) -> String {
    let labels = Labels::of(program);
    let mut out = String::new();
    for (number, &word) in (0_i64..).zip(program.instructions()) {
        for name in labels.at(Region::Iram, number) {
            let _ = writeln!(out, "{name}:");
        }
        let _ = write!(out, "{number:6}: {word:012x}  ");
        let _ = match Instruction::decode(word) {
            Some(instruction) => {
                let address = instruction.address();
                let name = address.and_then(|(region, at)| labels.at(region, at).first());
                let behind = name.map(|name| format!("  // {name}")).unwrap_or_default();
                let shown = instruction.write(&mut out, &|target| labels.target(target));
                shown.and_then(|()| writeln!(out, "{behind}"))
            }
            None => writeln!(out, "(no instruction)"),
        };
    }
    out
}

/// Names by where they stand.
struct Labels<'a>(HashMap<(Region, i64), Vec<&'a str>>);

impl<'a> Labels<'a> {
    fn of(program: &'a Program) -> Self {
        let mut labels: HashMap<_, Vec<&str>> = HashMap::new();
        for Symbol { name, region, offset, .. } in program.symbols() {
            let at = match region {
                Region::Iram if offset % 8 != 0 => continue,
                Region::Iram => offset / 8,
                _ => *offset,
            };
            labels.entry((*region, i64::from(at))).or_default().push(name);
        }
        Self(labels)
    }

    fn at(&self, region: Region, place: i64) -> &[&'a str] {
        self.0.get(&(region, place)).map_or(&[], Vec::as_slice)
    }

    /// What the assembler would read as the label of an instruction.
    fn target(&self, number: i64) -> Option<&'a str> {
        self.at(Region::Iram, number).iter().copied().find(|name| register(name).is_none())
    }
}

impl Instruction {
    /// The address in memory that it seems to name.
    fn address(&self) -> Option<(Region, i64)> {
        let slots = || self.form().slots().iter().zip(self.operands());
        let base = i64::from(Region::Mram.base());
        let in_mram = slots().find(|(slot, value)| {
            matches!(slot.operand, Operand::Immediate | Operand::Offset) && **value >= base
        });
        if let Some((_, value)) = in_mram {
            return Some((Region::Mram, value - base));
        }
        let mut sources = slots().filter(|(slot, _)| slot.operand == Operand::SourceA);
        let from_zero = sources.any(|(_, value)| *value == ZERO);
        let offset = slots().find(|(slot, _)| slot.operand == Operand::Offset);
        offset.filter(|_| from_zero && !self.goes()).map(|(_, value)| (Region::Wram, *value))
    }

    /// Is it a call or a jump, whose offset counts instructions?
    fn goes(&self) -> bool {
        matches!(self.form().mnemonic(), "call" | "jump")
    }

    /// As text, with labels for targets that have some.
    fn write<'a>(
        &self,
        f: &mut dyn fmt::Write,
        label: &dyn Fn(i64) -> Option<&'a str>,
    ) -> fmt::Result {
        let alone = !self.form().slots().iter().any(|slot| slot.operand == Operand::SourceA);
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
                Operand::Target => target(f, value, label)?,
                Operand::Offset if alone && self.goes() => target(f, value, label)?,
                _ => write!(f, "{value}")?,
            }
        }
        if self.form().ends_with_false() {
            write!(f, "{separator}false")?;
        }
        Ok(())
    }
}

impl fmt::Display for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, &|_| None)
    }
}

fn target<'a>(
    f: &mut dyn fmt::Write,
    value: i64,
    label: &dyn Fn(i64) -> Option<&'a str>,
) -> fmt::Result {
    match label(value) {
        Some(label) => f.write_str(label),
        None => write!(f, "{value}"),
    }
}

/// The number of the register `zero`.
const ZERO: i64 = 24;

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
        assert_eq!(lines, ["add r0, id, 1", "again:", "jneq r0, 4, again", "lw !big, r1, zero, 8"]);
    }

    #[test]
    fn jumps_have_their_labels_and_addresses_the_names_of_what_lies_there() {
        let source = "start: jeq id, 0, end
            call r23, end
            jump r3, 1
            jump 1
            lw r1, zero, count
            sw zero, count, r1
            lw r1, r2, 8
            add r4, r2, table
            move r5, 8
            jump end
            d0: end: stop
            .data\nfirst: .quad 1\ncount: .long 2\n.section .mram\ntable: .long 1";
        let program = crate::assemble(source).unwrap();
        let shown = disassemble(&program);
        let lines = shown.lines().filter_map(|line| Some(line.split_once(": ")?.1.split_at(14).1));
        let lines: Vec<&str> = lines.collect();
        assert_eq!(
            lines,
            [
                "jz id, end",
                "call r23, end",
                "jump r3, 1",
                "jump 1",
                "lw r1, zero, 8  // count",
                "sw zero, 8, r1  // count",
                "lw r1, r2, 8",
                "add r4, r2, 134217728  // table",
                "move r5, 8",
                "jump end",
                "stop",
            ]
        );
        // What was shown is assembly of the same program.
        let again = lines.iter().zip(0..).map(|(line, number)| match number {
            0 => format!("start: {line}\n"),
            10 => format!("end: {line}\n"),
            _ => format!("{line}\n"),
        });
        let again = crate::assemble(&again.collect::<String>()).unwrap();
        assert_eq!(again.instructions(), program.instructions());
    }
}
