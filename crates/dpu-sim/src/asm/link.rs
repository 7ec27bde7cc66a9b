//! Addresses for sections, values for symbols, words for instructions.

use super::error::{AsmError, Place, Reason};
use super::expression::Expression;
use super::section::Section;
use super::{Assembly, Defined};
use crate::program::{Program, Region, Symbol};
use std::collections::HashMap;

/// The section whose instructions are executed first.
const BOOTSTRAP: &str = ".text.__bootstrap";
/// The first byte of MRAM that no section takes.
const MRAM_END: &str = "__sys_used_mram_end";

const REGIONS: [Region; 4] = [Region::Iram, Region::Wram, Region::Mram, Region::Atomic];

impl Assembly {
    pub(super) fn link(mut self) -> Result<Program, AsmError> {
        let mut ends = [0; REGIONS.len()];
        for (region, end) in REGIONS.iter().zip(&mut ends) {
            *end = self.arrange(*region)?;
        }
        let mut program = Program::new();
        for index in 0..self.sections.len() {
            self.fill(index)?;
            self.instructions(index, &mut program)?;
        }
        for section in &self.sections {
            if let Some(region @ (Region::Wram | Region::Mram)) = section.region {
                let data = (section.start, section.bytes.as_slice());
                program.put(region, data, section.start + section.size);
            }
        }
        program.take_atomic(u32::try_from(ends[3]).unwrap_or(u32::MAX));
        for symbol in self.exported(ends[2])? {
            program.define(symbol);
        }
        Ok(program)
    }

    /// Lays out a memory's sections one after the other and says where they end.
    fn arrange(&mut self, region: Region) -> Result<u64, AsmError> {
        let belongs = |section: &&mut Section| section.region == Some(region);
        let mut sections: Vec<_> = self.sections.iter_mut().filter(belongs).collect();
        sections.sort_by_key(|section| section.name != BOOTSTRAP);
        let mut end = 0_u64;
        for section in sections {
            let align = if region == Region::Atomic { 1 } else { section.align };
            section.start = end.next_multiple_of(align);
            end = section.start + section.size;
            if end > region.capacity() {
                let (size, capacity) = (end, region.capacity());
                let section_name = section.name.clone();
                let reason = Reason::Overflow { section: section_name, region, size, capacity };
                return Err(section.first.error(reason));
            }
        }
        Ok(end)
    }

    /// Puts values into a section's data.
    fn fill(&mut self, index: usize) -> Result<(), AsmError> {
        let values = std::mem::take(&mut self.sections[index].values);
        for value in values {
            let here = (index, value.offset);
            let number = value.expression.value(value.place, &|name| self.lookup(name, here))?;
            let bits = 8 * u32::from(value.width);
            let half = 1_i128 << (bits - 1);
            if !(-half..2 * half).contains(&i128::from(number)) && value.width < 8 {
                let (least, most) = (-(1_i64 << (bits - 1)), (1_i64 << bits) - 1);
                return Err(value.place.error(Reason::Range { value: number, least, most }));
            }
            self.sections[index].patch(value.offset, value.width, number);
        }
        Ok(())
    }

    fn instructions(&self, index: usize, program: &mut Program) -> Result<(), AsmError> {
        let section = &self.sections[index];
        let first = section.start / 8;
        for (number, pending) in (0_u64..).zip(&section.code) {
            let here = (index, number * 8);
            let word = pending.encode(&|name| self.lookup(name, here))?;
            program.set_instruction(usize::try_from(first + number).unwrap_or(usize::MAX), word);
        }
        Ok(())
    }

    /// A symbol's value for a statement that stands `here`.
    fn lookup(&self, name: &str, here: (usize, u64)) -> Option<i64> {
        if name == "." {
            return Some(self.value_of(here));
        }
        match self.symbols.get(name) {
            Some((_, Defined::Constant(value))) => Some(*value),
            Some((_, Defined::Label { section, offset })) => {
                Some(self.value_of((*section, *offset)))
            }
            None if name == MRAM_END => Some(self.mram_end()),
            None => None,
        }
    }

    /// The number of an instruction, or an address in data.
    fn value_of(&self, (section, offset): (usize, u64)) -> i64 {
        let section = &self.sections[section];
        let address = section.start + offset;
        let value = match section.region {
            Some(Region::Iram) => address / 8,
            Some(Region::Mram) => u64::from(Region::Mram.base()) + address,
            _ => address,
        };
        value.cast_signed()
    }

    fn mram_end(&self) -> i64 {
        let sections = self.sections.iter();
        let in_mram = sections.filter(|section| section.region == Some(Region::Mram));
        let end = in_mram.map(|section| section.start + section.size).max().unwrap_or(0);
        (u64::from(Region::Mram.base()) + end.next_multiple_of(8)).cast_signed()
    }

    /// Symbols with addresses and sizes, for hosts and ELF.
    fn exported(&self, mram_end: u64) -> Result<Vec<Symbol>, AsmError> {
        let mut labels: Vec<(usize, u64, &str)> = Vec::new();
        for (name, (_, defined)) in &self.symbols {
            let private = name.contains(':') || name.starts_with(".L");
            if let (Defined::Label { section, offset }, false) = (defined, private) {
                labels.push((*section, *offset, name));
            }
        }
        labels.sort_unstable();
        let stated: HashMap<&str, _> =
            self.sizes.iter().rev().map(|stated| (stated.1.as_str(), stated)).collect();
        let mut symbols = Vec::with_capacity(labels.len());
        // Without `.size`, a symbol reaches to the next one that starts behind it, or to the end of its section.
        let (mut section_before, mut start_before, mut next) = (usize::MAX, 0, 0);
        for (section, offset, name) in labels.into_iter().rev() {
            let within = &self.sections[section];
            if section != section_before {
                next = within.size;
            } else if offset < start_before {
                next = start_before;
            }
            (section_before, start_before) = (section, offset);
            let Some(region) = within.region else { continue };
            let (size, whole) = match stated.get(name) {
                Some(stated) => (self.stated_size(stated)?, true),
                None => (next - offset, !within.has_datum_within(offset, next)),
            };
            symbols.push(Symbol::new(name, region, within.start + offset, size, whole));
        }
        symbols.reverse();
        if !self.symbols.contains_key(MRAM_END) {
            let end = mram_end.next_multiple_of(8).min(Region::Mram.capacity());
            let size = Region::Mram.capacity() - end;
            symbols.push(Symbol::new(MRAM_END, Region::Mram, end, size, true));
        }
        Ok(symbols)
    }

    fn stated_size(
        &self,
        (place, _, expression, section, offset): &(Place, String, Expression, usize, u64),
    ) -> Result<u64, AsmError> {
        let value = expression.value(*place, &|name| self.lookup(name, (*section, *offset)))?;
        let unit = if self.sections[*section].is_text() { 8 } else { 1 };
        let size = value.checked_mul(unit).and_then(|size| u64::try_from(size).ok());
        let (least, most) = (0, i64::from(u32::MAX));
        let wrong = || place.error(Reason::Range { value, least, most });
        size.filter(|size| *size <= u64::from(u32::MAX)).ok_or_else(wrong)
    }
}
