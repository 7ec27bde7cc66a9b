//! To ELF.

use super::{EM_DPU, HEADER, LOADED, SECTION, SEGMENT, SYMBOL, SYMBOL_TABLE};
use crate::program::{Program, Region};

/// Writes a program as the vendor's tools lay it out. Whether the vendor's loader takes it was never tried.
#[must_use]
pub fn write(program: &Program) -> Vec<u8> {
    let text = program.instructions().iter().flat_map(|word| word.to_le_bytes()).collect();
    let data = |region| {
        let mut whole = Vec::new();
        for (start, bytes) in program.data(region) {
            let start = usize::try_from(start).unwrap_or(usize::MAX);
            whole.resize(whole.len().max(start + bytes.len()), 0);
            whole[start..start + bytes.len()].copy_from_slice(bytes);
        }
        whole
    };
    let all = [
        (".text", Region::Iram, text, EXECUTABLE),
        (".data", Region::Wram, data(Region::Wram), WRITABLE),
        (".mram", Region::Mram, data(Region::Mram), WRITABLE),
        (".atomic", Region::Atomic, Vec::new(), WRITABLE),
    ];
    let used = all.into_iter().filter(|(_, region, ..)| program.size(*region) > 0);
    let parts: Vec<Part> = used.map(|part| Part::new(part, program)).collect();
    Writer::default().write(program, &parts)
}

/// A section that is also a segment.
struct Part {
    name: &'static str,
    region: Region,
    bytes: Vec<u8>,
    flags: u32,
    size: u32,
}

impl Part {
    fn new(
        (name, region, bytes, flags): (&'static str, Region, Vec<u8>, u32),
        program: &Program,
    ) -> Self {
        let size = narrow(program.size(region));
        Self { name, region, bytes, flags, size }
    }

    fn kind(&self) -> u32 {
        if self.bytes.is_empty() { NOBITS } else { PROGBITS }
    }
}

/// A header of a section: everything but its name.
struct Header {
    kind: u32,
    flags: u32,
    address: u32,
    start: u32,
    size: u32,
    link: u32,
    entry: u32,
}

#[derive(Default)]
struct Writer {
    file: Vec<u8>,
}

impl Writer {
    fn write(mut self, program: &Program, parts: &[Part]) -> Vec<u8> {
        let segments = narrow(parts.len() as u64);
        self.file.resize((HEADER + SEGMENT * segments) as usize, 0);
        let mut headers = vec![(String::new(), Header::none())];
        for (number, part) in parts.iter().enumerate() {
            let start = self.append(&part.bytes);
            self.segment(number, part, start);
            let (kind, address) = (part.kind(), part.region.base());
            let flags = part.flags | ALLOCATED;
            let header = Header { kind, flags, address, start, size: part.size, link: 0, entry: 0 };
            headers.push((part.name.to_owned(), header));
        }
        let (symbols, names) = symbols(program, parts);
        let strings = segments + 2;
        let start = self.append(&symbols);
        let mut table = Header::plain(SYMBOL_TABLE, start, symbols.len());
        (table.link, table.entry) = (strings, SYMBOL);
        headers.push((".symtab".to_owned(), table));
        let start = self.append(&names);
        headers.push((".strtab".to_owned(), Header::plain(STRINGS, start, names.len())));
        self.sections(headers, segments);
        self.file
    }

    fn append(&mut self, bytes: &[u8]) -> u32 {
        self.file.resize(self.file.len().next_multiple_of(8), 0);
        let start = narrow(self.file.len() as u64);
        self.file.extend_from_slice(bytes);
        start
    }

    fn segment(&mut self, number: usize, part: &Part, start: u32) {
        let rights = if part.flags == EXECUTABLE { 5 } else { 6 };
        let (address, bytes) = (part.region.base(), narrow(part.bytes.len() as u64));
        let words = [LOADED, start, address, address, bytes, part.size, rights, 8];
        let at = HEADER as usize + number * SEGMENT as usize;
        for (place, word) in self.file[at..].chunks_exact_mut(4).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
    }

    fn sections(&mut self, mut headers: Vec<(String, Header)>, segments: u32) {
        let mut names = vec![0];
        headers.push((".shstrtab".to_owned(), Header::none()));
        let starts: Vec<u32> = headers.iter().map(|(name, _)| intern(&mut names, name)).collect();
        let start = self.append(&names);
        if let Some((_, last)) = headers.last_mut() {
            *last = Header::plain(STRINGS, start, names.len());
        }
        let at = self.append(&[]);
        for ((_, header), name) in headers.iter().zip(starts) {
            let Header { kind, flags, address, start, size, link, entry } = *header;
            for word in [name, kind, flags, address, start, size, link, 1, 4, entry] {
                self.file.extend_from_slice(&word.to_le_bytes());
            }
        }
        self.header(at, segments, narrow(headers.len() as u64));
    }

    fn header(&mut self, sections: u32, segments: u32, count: u32) {
        let mut header = vec![0x7f, b'E', b'L', b'F', 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        // An executable for this machine.
        header.extend([2_u16, EM_DPU].iter().flat_map(|half| half.to_le_bytes()));
        let words = [1, Region::Iram.base(), HEADER, sections, 0];
        header.extend(words.iter().flat_map(|word: &u32| word.to_le_bytes()));
        let halves = [HEADER, SEGMENT, segments, SECTION, count, count - 1];
        header.extend(halves.iter().flat_map(|half| half.to_le_bytes().into_iter().take(2)));
        self.file[..HEADER as usize].copy_from_slice(&header);
    }
}

impl Header {
    fn none() -> Self {
        Self { kind: 0, flags: 0, address: 0, start: 0, size: 0, link: 0, entry: 0 }
    }

    fn plain(kind: u32, start: u32, size: usize) -> Self {
        Self { kind, start, size: narrow(size as u64), ..Self::none() }
    }
}

/// The symbol table and its names.
fn symbols(program: &Program, parts: &[Part]) -> (Vec<u8>, Vec<u8>) {
    let (mut table, mut names) = (vec![0; SYMBOL as usize], vec![0]);
    for symbol in program.symbols() {
        let part = parts.iter().position(|part| part.region == symbol.region);
        // A symbol of an empty memory still has to name a section.
        let section = part.map_or(1, |part| part + 1);
        let kind = match symbol.region {
            _ if !symbol.whole => 0,
            Region::Iram => 2,
            _ => 1,
        };
        let name = intern(&mut names, &symbol.name);
        for word in [name, symbol.region.base() + symbol.offset, symbol.size] {
            table.extend_from_slice(&word.to_le_bytes());
        }
        table.extend_from_slice(&[GLOBAL | kind, 0]);
        table.extend(narrow(section as u64).to_le_bytes().into_iter().take(2));
    }
    (table, names)
}

/// Adds a text and says where it starts.
fn intern(names: &mut Vec<u8>, text: &str) -> u32 {
    let start = narrow(names.len() as u64);
    names.extend_from_slice(text.as_bytes());
    names.push(0);
    start
}

fn narrow(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

const PROGBITS: u32 = 1;
const STRINGS: u32 = 3;
const NOBITS: u32 = 8;
const WRITABLE: u32 = 1;
const ALLOCATED: u32 = 2;
const EXECUTABLE: u32 = 4;
const GLOBAL: u8 = 0x10;
