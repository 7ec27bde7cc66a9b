//! IRAM, decoded.

use super::op::{Kind, Op};
use crate::isa::{Instruction, Operand};
use crate::program::IRAM_INSTRUCTIONS;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

/// The instructions of a program.
#[derive(Clone)]
pub(super) struct Code {
    pub(super) ops: [Op; IRAM_INSTRUCTIONS],
    /// Registers each one reads and writes, one bit each.
    pub(super) registers: Box<[(u32, u32); IRAM_INSTRUCTIONS]>,
    pub(super) words: Vec<u64>,
}

impl Code {
    pub(super) fn new(words: &[u64]) -> Self {
        let mut code = Self {
            ops: [Op::INVALID; IRAM_INSTRUCTIONS],
            registers: Box::new([(0, 0); IRAM_INSTRUCTIONS]),
            words: Vec::new(),
        };
        for (number, word) in words.iter().enumerate().take(IRAM_INSTRUCTIONS) {
            code.set(number, *word);
        }
        code
    }

    /// The code of a DPU without a program, which all of those share.
    pub(super) fn none() -> Arc<Self> {
        static NONE: LazyLock<Arc<Code>> = LazyLock::new(|| Arc::new(Code::new(&[])));
        Arc::clone(&NONE)
    }

    pub(super) fn set(&mut self, number: usize, word: u64) {
        if self.words.len() <= number {
            self.words.resize(number + 1, 0);
        }
        self.words[number] = word;
        let instruction = Instruction::decode(word);
        self.ops[number] = instruction.as_ref().map_or(Op::INVALID, Op::new);
        self.registers[number] = instruction.as_ref().map_or((0, 0), registers);
    }

    pub(super) fn word(&self, number: u16) -> u64 {
        self.words.get(usize::from(number)).copied().unwrap_or(0)
    }

    /// Counts by mnemonic, most frequent first.
    pub(super) fn mnemonics(&self, executed: &[u64]) -> Vec<(String, u64)> {
        let mut counts: HashMap<&str, u64> = HashMap::new();
        for (word, count) in self.words.iter().zip(executed).filter(|(_, count)| **count > 0) {
            if let Some(instruction) = Instruction::decode(*word) {
                *counts.entry(instruction.form().mnemonic()).or_default() += count;
            }
        }
        let named = counts.into_iter().map(|(name, count)| (name.to_owned(), count));
        let mut counts: Vec<(String, u64)> = named.collect();
        counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        counts
    }
}

/// Which of r0 to r23 an instruction reads, and which it writes.
fn registers(instruction: &Instruction) -> (u32, u32) {
    let (mut reads, mut writes) = (0, 0);
    for (slot, &value) in instruction.form().slots().iter().zip(instruction.operands()) {
        let bit = u32::try_from(value).ok().and_then(|number| 1_u32.checked_shl(number));
        let bit = bit.unwrap_or(0) & GENERAL;
        match slot.operand {
            Operand::Destination => writes |= bit,
            Operand::DestinationPair => writes |= bit | bit << 1,
            Operand::SourceA | Operand::SourceB => reads |= bit,
            Operand::PairB => reads |= bit | bit << 1,
            _ => {}
        }
    }
    (reads, writes)
}

const GENERAL: u32 = 0x00ff_ffff;

impl Op {
    /// Does this need its word to say what is wrong?
    pub(super) fn is_foreign(&self) -> bool {
        self.kind == Kind::Invalid
    }
}
