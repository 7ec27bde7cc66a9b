//! Programs: what is in a DPU's memories before it starts.

use std::fmt;

/// One of a DPU's memories.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Region {
    /// Instructions: 4,096 of them, eight bytes apart.
    Iram,
    /// Working memory, 64 KiB.
    Wram,
    /// Main memory, 64 MiB.
    Mram,
    /// Atomic bits, 256 of them.
    Atomic,
}

impl Region {
    /// Where the memory starts in the addresses of ELF files.
    #[must_use]
    pub fn base(self) -> u32 {
        match self {
            Self::Iram => 0x8000_0000,
            Self::Wram => 0,
            Self::Mram => 0x0800_0000,
            Self::Atomic => 0xf000_0000,
        }
    }

    /// What it holds, in bytes.
    #[must_use]
    pub fn capacity(self) -> u64 {
        match self {
            Self::Iram => 4096 * 8,
            Self::Wram => WRAM_BYTES as u64,
            Self::Mram => MRAM_BYTES,
            Self::Atomic => 256,
        }
    }

    /// The memory an ELF address lies in, and where in it.
    #[must_use]
    pub fn of(address: u32) -> Option<(Self, u32)> {
        let regions = [Self::Atomic, Self::Iram, Self::Mram, Self::Wram];
        let region = regions.into_iter().find(|region| region.base() <= address)?;
        let offset = address - region.base();
        (u64::from(offset) <= region.capacity()).then_some((region, offset))
    }
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Iram => "IRAM",
            Self::Wram => "WRAM",
            Self::Mram => "MRAM",
            Self::Atomic => "the atomic bits",
        })
    }
}

/// Bytes of WRAM.
pub const WRAM_BYTES: usize = 64 * 1024;
/// Bytes of MRAM.
pub const MRAM_BYTES: u64 = 64 * 1024 * 1024;
/// Instructions that IRAM holds.
pub const IRAM_INSTRUCTIONS: usize = 4096;

/// A name in a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// What it is called.
    pub name: String,
    /// The memory it lies in.
    pub region: Region,
    /// Where in that memory, in bytes.
    pub offset: u32,
    /// Its size, in bytes.
    pub size: u32,
    /// Whether that is the size of one thing: it was stated, or one datum fills it. Else the symbol reaches over several data to
    /// the next one.
    pub whole: bool,
}

impl Symbol {
    pub(crate) fn new(name: &str, region: Region, offset: u64, size: u64, whole: bool) -> Self {
        let narrow = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
        Self { name: name.to_owned(), region, offset: narrow(offset), size: narrow(size), whole }
    }
}

/// A program: instructions, initial data, symbols.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    instructions: Vec<u64>,
    wram: Image,
    mram: Image,
    atomic: u32,
    symbols: Vec<Symbol>,
}

/// Initial data of a memory: pieces of it, and how much the program takes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Image {
    pieces: Vec<(u64, Vec<u8>)>,
    size: u64,
}

impl Program {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// A program of instructions only; none, if there are more than IRAM holds. Of each word the lower 48 bits count.
    #[must_use]
    pub fn from_words(words: &[u64]) -> Option<Self> {
        let mut program = Self::new();
        program.instructions = words.iter().map(|word| word & ((1 << 48) - 1)).collect();
        (words.len() <= IRAM_INSTRUCTIONS).then_some(program)
    }

    /// The words of IRAM, 48 bits each.
    #[must_use]
    pub fn instructions(&self) -> &[u64] {
        &self.instructions
    }

    /// What is written to WRAM or MRAM before the program starts: offsets and bytes. The rest of WRAM becomes zeros, that of MRAM
    /// stays as it was.
    pub fn data(&self, region: Region) -> impl Iterator<Item = (u64, &[u8])> {
        let pieces: &[(u64, Vec<u8>)] = match region {
            Region::Wram => &self.wram.pieces,
            Region::Mram => &self.mram.pieces,
            Region::Iram | Region::Atomic => &[],
        };
        pieces.iter().map(|(start, bytes)| (*start, bytes.as_slice()))
    }

    /// Bytes of a memory that the program takes.
    #[must_use]
    pub fn size(&self, region: Region) -> u64 {
        match region {
            Region::Iram => 8 * self.instructions.len() as u64,
            Region::Wram => self.wram.size,
            Region::Mram => self.mram.size,
            Region::Atomic => u64::from(self.atomic),
        }
    }

    /// All names.
    #[must_use]
    pub fn symbols(&self) -> &[Symbol] {
        &self.symbols
    }

    /// What a name stands for.
    #[must_use]
    pub fn symbol(&self, name: &str) -> Option<&Symbol> {
        self.symbols.iter().find(|symbol| symbol.name == name)
    }

    pub(crate) fn set_instruction(&mut self, number: usize, word: u64) {
        if number >= self.instructions.len() {
            self.instructions.resize((number + 1).min(IRAM_INSTRUCTIONS), 0);
        }
        if let Some(place) = self.instructions.get_mut(number) {
            *place = word;
        }
    }

    /// Puts data into WRAM or MRAM; the memory is taken up to `end`.
    pub(crate) fn put(&mut self, region: Region, (start, bytes): (u64, &[u8]), end: u64) {
        let image = if region == Region::Wram { &mut self.wram } else { &mut self.mram };
        image.size = image.size.max(end);
        if bytes.is_empty() {
            return;
        }
        match image.pieces.last_mut() {
            // Sections mostly follow each other.
            Some((first, before)) if *first + before.len() as u64 == start => {
                before.extend_from_slice(bytes);
            }
            _ => image.pieces.push((start, bytes.to_vec())),
        }
    }

    pub(crate) fn take_atomic(&mut self, bits: u32) {
        self.atomic = self.atomic.max(bits);
    }

    pub(crate) fn define(&mut self, symbol: Symbol) {
        self.symbols.push(symbol);
    }
}
