//! From ELF.

use super::{
    EM_DPU, ElfError, HEADER, LOADED, MRAM_END, NAME_MAX, NAMES_MAX, SECTION, SEGMENT, SYMBOL,
    SYMBOL_TABLE,
};
use crate::program::{Program, Region, Symbol};
use std::collections::HashMap;

/// Reads a program.
///
/// # Errors
/// The first thing that is wrong, and at which byte of the file.
pub fn read(file: &[u8]) -> Result<Program, ElfError> {
    let file = File(file);
    file.check_machine()?;
    let mut program = Program::new();
    let (mut loaded, mut bytes) = (0, HashMap::new());
    let (segments, count) = (file.word(28, HEADER_NAME)?, file.half(44, HEADER_NAME)?);
    for number in 0..u64::from(count) {
        let offset = u64::from(segments) + number * u64::from(SEGMENT);
        let segment = file.segment(offset)?;
        if segment.kind == LOADED {
            let region = file.load(offset, &segment, &mut program)?;
            loaded += 1;
            let bytes: &mut u64 = bytes.entry(region).or_default();
            *bytes += u64::from(segment.bytes);
            let capacity = region.capacity();
            if *bytes > capacity {
                return Err(ElfError::Segments { offset, region, capacity });
            }
        }
    }
    if loaded == 0 {
        return Err(ElfError::Empty);
    }
    file.symbols(&mut program)?;
    Ok(program)
}

const HEADER_NAME: &str = "the header";

struct File<'a>(&'a [u8]);

struct Segment {
    kind: u32,
    start: u32,
    address: u32,
    bytes: u32,
    size: u32,
}

impl<'a> File<'a> {
    fn check_machine(&self) -> Result<(), ElfError> {
        self.bytes(0, u64::from(HEADER), HEADER_NAME)?;
        // Magic, 32 bits, little-endian.
        for (offset, wanted) in [0x7f, b'E', b'L', b'F', 1, 1].into_iter().enumerate() {
            let found = self.0[offset];
            if found != wanted {
                return Err(ElfError::Format { offset, found, wanted });
            }
        }
        match self.half(18, HEADER_NAME)? {
            EM_DPU => Ok(()),
            other => Err(ElfError::Machine(other)),
        }
    }

    fn segment(&self, offset: u64) -> Result<Segment, ElfError> {
        const NAME: &str = "a program header";
        self.bytes(offset, u64::from(SEGMENT), NAME)?;
        Ok(Segment {
            kind: self.word(offset, NAME)?,
            start: self.word(offset + 4, NAME)?,
            address: self.word(offset + 8, NAME)?,
            bytes: self.word(offset + 16, NAME)?,
            size: self.word(offset + 20, NAME)?,
        })
    }

    fn load(&self, at: u64, segment: &Segment, program: &mut Program) -> Result<Region, ElfError> {
        let address = segment.address;
        let found = Region::of(address);
        let (region, start) = found.ok_or(ElfError::Address { offset: at, address })?;
        if region == Region::Iram && start % 8 != 0 {
            return Err(ElfError::Address { offset: at, address });
        }
        let size = segment.size.max(segment.bytes);
        let (end, capacity) = (u64::from(start) + u64::from(size), region.capacity());
        if end > capacity {
            return Err(ElfError::Overflow { offset: at, address, size, region, capacity });
        }
        let data =
            self.bytes(u64::from(segment.start), u64::from(segment.bytes), "a segment's data")?;
        match region {
            Region::Iram => {
                for (number, slot) in (start as usize / 8..).zip(data.chunks(8)) {
                    let mut word = [0; 8];
                    word[..slot.len()].copy_from_slice(slot);
                    program.set_instruction(number, u64::from_le_bytes(word) & WORD);
                }
            }
            Region::Wram | Region::Mram => program.put(region, (u64::from(start), data), end),
            Region::Atomic => program.take_atomic(u32::try_from(end).unwrap_or(u32::MAX)),
        }
        Ok(region)
    }

    fn symbols(&self, program: &mut Program) -> Result<(), ElfError> {
        const NAME: &str = "a section header";
        let (sections, count) = (self.word(32, HEADER_NAME)?, self.half(48, HEADER_NAME)?);
        let mut read = false;
        let header = |number: u32| u64::from(sections) + u64::from(number) * u64::from(SECTION);
        for number in 0..u32::from(count) {
            let at = header(number);
            self.bytes(at, u64::from(SECTION), NAME)?;
            // There is one such table; others would be of something else.
            if self.word(at + 4, NAME)? != SYMBOL_TABLE || read {
                continue;
            }
            read = true;
            let (first, size) = (self.word(at + 16, NAME)?, self.word(at + 20, NAME)?);
            let table = self.bytes(u64::from(first), u64::from(size), "the symbol table")?;
            let texts = header(self.word(at + 24, NAME)?);
            let (start, size) = (self.word(texts + 16, NAME)?, self.word(texts + 20, NAME)?);
            let names = self.bytes(u64::from(start), u64::from(size), "the names of symbols")?;
            let (mut bytes, bytes_max) = (0, self.0.len().saturating_mul(NAMES_MAX));
            for (number, entry) in (0..).zip(table.chunks_exact(SYMBOL as usize)) {
                let name =
                    || ElfError::Name { offset: u64::from(start) + u64::from(word(entry, 0)) };
                if let Some(symbol) = symbol(entry, names).map_err(|Endless| name())? {
                    bytes += symbol.name.len();
                    if bytes > bytes_max {
                        let offset = u64::from(first) + u64::from(SYMBOL) * number;
                        return Err(ElfError::Names { offset });
                    }
                    program.define(symbol);
                }
            }
        }
        Ok(())
    }

    fn half(&self, offset: u64, what: &'static str) -> Result<u16, ElfError> {
        let bytes = self.bytes(offset, 2, what)?;
        Ok(u16::from_le_bytes([bytes[0], bytes[1]]))
    }

    fn word(&self, offset: u64, what: &'static str) -> Result<u32, ElfError> {
        Ok(word(self.bytes(offset, 4, what)?, 0))
    }

    fn bytes(&self, offset: u64, needed: u64, what: &'static str) -> Result<&'a [u8], ElfError> {
        let length = self.0.len();
        let start = usize::try_from(offset).ok();
        let end = usize::try_from(offset.saturating_add(needed)).ok();
        let found = start.zip(end).and_then(|(start, end)| self.0.get(start..end));
        found.ok_or(ElfError::Truncated { what, offset, needed, length })
    }
}

/// A name without an end.
struct Endless;

/// A symbol that lies in a memory and has a name.
fn symbol(entry: &[u8], names: &[u8]) -> Result<Option<Symbol>, Endless> {
    let (name, address, size) = (word(entry, 0), word(entry, 4), word(entry, 8));
    let section = u16::from_le_bytes([entry[14], entry[15]]);
    let kind = entry[12] & 0xf;
    let place = Region::of(address);
    let name = usize::try_from(name).ok().and_then(|start| names.get(start..));
    let (Some((region, offset)), Some(name)) = (place, name) else { return Ok(None) };
    if section == 0 || section >= RESERVED || kind > FUNCTION || name.is_empty() {
        return Ok(None);
    }
    let end = name.iter().take(NAME_MAX).position(|byte| *byte == 0).ok_or(Endless)?;
    if end == 0 {
        return Ok(None);
    }
    let name = String::from_utf8_lossy(&name[..end]);
    let heap = region == Region::Mram && name == MRAM_END;
    let rest = region.capacity().saturating_sub(u64::from(offset));
    let size = if heap { rest } else { u64::from(size) };
    // Compilers say of what is data or a function; what has no kind is a label before several things.
    let whole = kind != NO_KIND;
    Ok(Some(Symbol::new(&name, region, u64::from(offset), size, whole)))
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// Instructions have 48 bits; their slots eight bytes.
const WORD: u64 = (1 << 48) - 1;
/// Section numbers from here on name none.
const RESERVED: u16 = 0xff00;
/// Kinds above are those of sections and files.
const FUNCTION: u8 = 2;
/// Neither data of one size nor a function.
const NO_KIND: u8 = 0;
