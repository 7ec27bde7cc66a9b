//! Programs as ELF files of the vendor's machine, `EM_DPU`.

mod read;
mod write;

pub use read::read;
pub use write::write;

use crate::program::Region;

/// The number of the machine.
pub const EM_DPU: u16 = 245;

/// Why bytes are no program.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ElfError {
    /// Not an ELF file of 32 bits, little-endian.
    #[error(
        "at byte {offset}: {found:#04x} where {wanted:#04x} belongs; this is no ELF file of 32 bits, little-endian"
    )]
    Format {
        /// Where.
        offset: usize,
        /// The byte there.
        found: u8,
        /// What belongs there.
        wanted: u8,
    },
    /// Made for another machine.
    #[error("at byte 18: this program is for machine {0}; a DPU is machine 245")]
    Machine(u16),
    /// The file ends too early.
    #[error("at byte {offset}: {what} needs {needed} bytes, and the file ends after {length}")]
    Truncated {
        /// What would stand there.
        what: &'static str,
        /// Where it starts.
        offset: u64,
        /// Its size.
        needed: u64,
        /// The file's.
        length: usize,
    },
    /// A segment that no memory has room for.
    #[error(
        "at byte {offset}: a segment of {size} bytes at {address:#010x} overflows {region}, which holds {capacity}"
    )]
    Overflow {
        /// Where the segment is described.
        offset: u64,
        /// Its address.
        address: u32,
        /// Its size in memory.
        size: u32,
        /// Where it starts.
        region: Region,
        /// What that memory holds.
        capacity: u64,
    },
    /// A segment at an address of no memory, or not at a multiple of eight.
    #[error(
        "at byte {offset}: a segment at {address:#010x}, where no memory of a DPU is, or between its words"
    )]
    Address {
        /// Where the segment is described.
        offset: u64,
        /// Its address.
        address: u32,
    },
    /// Segments with more data than a memory holds.
    #[error(
        "at byte {offset}: with this segment, {region} gets more bytes than the {capacity} it holds"
    )]
    Segments {
        /// Where the segment is described.
        offset: u64,
        /// Where it goes.
        region: Region,
        /// What that memory holds.
        capacity: u64,
    },
    /// A name that does not end, or is longer than any.
    #[error("at byte {offset}: the name of a symbol does not end within {NAME_MAX} bytes")]
    Name {
        /// Where it begins.
        offset: u64,
    },
    /// Symbols that all have the same long name, or the ends of one.
    #[error("at byte {offset}: with this symbol, names are longer than {NAMES_MAX} times the file")]
    Names {
        /// Where the symbol is described.
        offset: u64,
    },
    /// Nothing to load.
    #[error("no segment of this file is to be loaded")]
    Empty,
}

/// The longest name of a symbol, in bytes.
const NAME_MAX: usize = 4096;
/// How many times the file's bytes the names of all symbols may be, which share what they have in common.
const NAMES_MAX: usize = 4;
/// The first byte of MRAM that a program does not take; the vendor's tools give it no size.
const MRAM_END: &str = "__sys_used_mram_end";
const HEADER: u32 = 52;
const SEGMENT: u32 = 32;
const SECTION: u32 = 40;
const SYMBOL: u32 = 16;
const LOADED: u32 = 1;
const SYMBOL_TABLE: u32 = 2;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assemble;

    const PROGRAM: &str = "
        .text
        start: move r0, value
               stop
        .data
        value: .long 7, 8
        .bss
        room: .zero 24
        .section .mram
        table: .quad 1
        .section .atomic
        lock: .byte 0
    ";

    #[test]
    fn a_written_program_is_read_back() {
        let program = assemble(PROGRAM).unwrap();
        let read = read(&write(&program)).unwrap();
        assert_eq!(read.instructions(), program.instructions());
        for region in [Region::Wram, Region::Mram, Region::Atomic] {
            let pieces = |program: &crate::Program| -> Vec<(u64, Vec<u8>)> {
                program.data(region).map(|(start, bytes)| (start, bytes.to_vec())).collect()
            };
            assert_eq!(pieces(&read), pieces(&program));
            assert_eq!(read.size(region), program.size(region));
        }
        assert_eq!(read.symbol("room"), program.symbol("room"));
        assert_eq!(read.symbol("value"), program.symbol("value"));
        assert!(read.symbol("room").unwrap().whole && !read.symbol("value").unwrap().whole);
        assert_eq!(read.symbol("table").unwrap().size, 8);
        assert_eq!(read.symbol("start"), program.symbol("start"));
    }

    #[test]
    fn the_heap_has_the_rest_of_mram_though_the_file_says_nothing() {
        let mut bytes = write(&assemble(PROGRAM).unwrap());
        let heap = assemble(PROGRAM).unwrap().symbol(MRAM_END).unwrap().clone();
        let size = heap.size.to_le_bytes();
        let address = (Region::Mram.base() + heap.offset).to_le_bytes();
        let entry = [address, size].concat();
        let at = bytes.windows(8).position(|window| window == entry).unwrap();
        bytes[at + 4..at + 8].fill(0);
        assert_eq!(read(&bytes).unwrap().symbol(MRAM_END), Some(&heap));
    }

    #[test]
    fn a_program_for_another_machine_is_refused() {
        let mut bytes = write(&assemble(PROGRAM).unwrap());
        bytes[18..20].copy_from_slice(&243_u16.to_le_bytes());
        assert_eq!(read(&bytes), Err(ElfError::Machine(243)));
    }

    #[test]
    fn a_program_cut_anywhere_is_refused_or_read_without_its_end() {
        let bytes = write(&assemble(PROGRAM).unwrap());
        for length in 0..bytes.len() {
            let error = read(&bytes[..length]).unwrap_err();
            assert!(matches!(error, ElfError::Truncated { .. }), "{length}: {error}");
        }
    }

    #[test]
    fn segments_that_overflow_a_memory_are_refused() {
        for (address, region) in [(0x8000_0000_u32, Region::Iram), (0, Region::Wram)] {
            let mut bytes = write(&assemble(PROGRAM).unwrap());
            let segment = HEADER as usize;
            bytes[segment + 8..segment + 12].copy_from_slice(&address.to_le_bytes());
            bytes[segment + 20..segment + 24].copy_from_slice(&0x0002_0000_u32.to_le_bytes());
            let error = read(&bytes).unwrap_err();
            assert!(matches!(error, ElfError::Overflow { region: of, .. } if of == region));
        }
    }
}
