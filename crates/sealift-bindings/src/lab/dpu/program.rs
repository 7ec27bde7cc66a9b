//! Programs, from assembly and from ELF.

use super::input;
use crate::errors::{Failure, Outcome};
use crate::gil;
use dpu_sim::isa::{Instruction, disassemble};
use dpu_sim::{IRAM_INSTRUCTIONS, Program, Region, Symbol, assemble_with, elf};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// A program for a DPU.
#[pyclass(frozen, module = "sealift._sealift")]
pub(crate) struct DpuProgram(pub(crate) Program);

#[pymethods]
impl DpuProgram {
    /// Assembles a program.
    ///
    /// Args:
    ///     source: Assembly as the vendor's tools spell it.
    ///     names: Numbers that the program may name beside its own.
    ///
    /// Raises:
    ///     InputError: The first thing that is wrong, with line and column.
    #[staticmethod]
    #[pyo3(signature = (source, *, names=vec![]))]
    fn assemble(py: Python<'_>, source: &str, names: Vec<(String, i64)>) -> Outcome<Self> {
        let names: Vec<_> = names.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        gil::leave(py, || assemble_with(source, &names)).map(Self).map_err(input)
    }

    /// Reads a program that was assembled, here or by the vendor's tools.
    ///
    /// Raises:
    ///     InputError: The first thing that is wrong, and at which byte.
    #[staticmethod]
    fn read_elf(py: Python<'_>, file: &[u8]) -> Outcome<Self> {
        gil::leave(py, || elf::read(file)).map(Self).map_err(input)
    }

    /// The program as an ELF file.
    fn elf<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &gil::leave(py, || elf::write(&self.0)))
    }

    /// Its instructions as text, with numbers, words and labels.
    fn disassemble(&self, py: Python<'_>) -> String {
        gil::leave(py, || disassemble(&self.0))
    }

    /// How many instructions it has.
    #[getter]
    fn instructions(&self) -> usize {
        self.0.instructions().len()
    }

    /// Its symbols: name, memory ("IRAM", "WRAM", "MRAM" or "atomic"), offset and size in bytes.
    #[getter]
    fn symbols(&self) -> Vec<(String, &'static str, u32, u32)> {
        let symbol = |symbol: &Symbol| {
            (symbol.name.clone(), memory(symbol.region), symbol.offset, symbol.size)
        };
        self.0.symbols().iter().map(symbol).collect()
    }

    /// Bytes that it takes of a memory, by the memory's name.
    #[getter]
    fn sizes(&self) -> Vec<(&'static str, u64)> {
        let regions = [Region::Iram, Region::Wram, Region::Mram, Region::Atomic];
        regions.map(|region| (memory(region), self.0.size(region))).to_vec()
    }
}

/// Instructions that are not in an ELF file, as text: eight bytes each, as in a DPU's IRAM.
///
/// Raises:
///     InputError: If none is an instruction, they end within one or have more than its 48 bits, or
///         are more than IRAM holds.
#[pyfunction]
pub(crate) fn dpu_disassemble(py: Python<'_>, words: &[u8]) -> Outcome<String> {
    let (slots, rest) = words.as_chunks::<8>();
    if !rest.is_empty() {
        return Err(Failure::Input(format!(
            "at byte {}: {} bytes are left, and an instruction has 8",
            words.len() - rest.len(),
            rest.len()
        )));
    }
    let slots: Vec<u64> = slots.iter().map(|slot| u64::from_le_bytes(*slot)).collect();
    if let Some(number) = slots.iter().position(|slot| *slot > WORD) {
        let (at, slot) = (8 * number, slots[number]);
        return Err(Failure::Input(format!(
            "at byte {at}: {slot:#018x} is no word of IRAM, which has 48 bits"
        )));
    }
    if !slots.iter().any(|slot| Instruction::decode(*slot).is_some()) {
        return Err(Failure::Input("there is no instruction in it".to_owned()));
    }
    let program = Program::from_words(&slots).ok_or_else(|| {
        Failure::Input(format!(
            "at byte {}: {} instructions, and IRAM holds {IRAM_INSTRUCTIONS}",
            8 * IRAM_INSTRUCTIONS,
            slots.len()
        ))
    })?;
    Ok(gil::leave(py, || disassemble(&program)))
}

pub(super) fn memory(region: Region) -> &'static str {
    match region {
        Region::Iram => "IRAM",
        Region::Wram => "WRAM",
        Region::Mram => "MRAM",
        Region::Atomic => "atomic",
    }
}

/// An instruction has 48 bits.
const WORD: u64 = (1 << 48) - 1;
