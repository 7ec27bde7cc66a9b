//! How operands lie in a 48-bit instruction word.

use super::condition::Class;

/// What an operand is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// The register that is written, 0 to 23.
    Destination,
    /// The register pair that is written: an even number, 0 to 22.
    DestinationPair,
    /// The first source: 0 to 23, or one of the read-only registers 24 to 31.
    SourceA,
    /// The second source, 0 to 23.
    SourceB,
    /// The second source, a register pair.
    PairB,
    /// When the instruction jumps, or what it sets.
    Condition(Class),
    /// The instruction that is jumped to, counted from 0.
    Target,
    /// A number.
    Immediate,
    /// A number of bytes from the address in the first source; of instructions, for calls.
    Offset,
    /// By how many bits, 0 to 31.
    Shift,
    /// 0 for little, 1 for big.
    Endian,
    /// Eight-byte words of a transfer, less one.
    DmaLength,
}

/// An operand in its place: its range, and which of its bits lie where.
#[derive(Clone, Debug)]
pub struct Slot {
    /// What it is.
    pub operand: Operand,
    /// The least and the largest value.
    pub range: (i64, i64),
    pub(super) pieces: &'static [Piece],
    signed_bits: u32,
}

/// Bits of a value, where they start in it, how many, and where in the word they go.
type Piece = (u32, u32, u32);

impl Slot {
    /// Reads a word of the table of forms.
    pub(super) fn named(token: &str) -> Option<Self> {
        let (place, class) = token.split_once('.').unwrap_or((token, ""));
        let class = Class::named(class);
        let (operand, pieces): (Operand, &'static [Piece]) = match place {
            "rc" => (Operand::Destination, &[(0, 5, 39)]),
            "rc3" => (Operand::Destination, &[(0, 3, 39), (3, 2, 44)]),
            "dc" => (Operand::DestinationPair, &[(1, 4, 40)]),
            "dc2" => (Operand::DestinationPair, &[(1, 2, 40), (3, 2, 44)]),
            "dcl" => (Operand::DestinationPair, &[(0, 5, 39)]),
            "ra" => (Operand::SourceA, A),
            "rg" | "rk" => (Operand::SourceA, A),
            "rab" => (Operand::SourceB, B),
            "rb" => (Operand::SourceB, B),
            "rba" => (Operand::SourceA, A),
            "db" => (Operand::PairB, B),
            "cc2" => (Operand::Condition(class?), &[(0, 2, 24)]),
            "cc4" => (Operand::Condition(class?), &[(0, 4, 24)]),
            "cc5" => (Operand::Condition(class?), &[(0, 5, 24)]),
            "cc5s" => (Operand::Condition(class?), &[(0, 4, 24), (4, 1, 29)]),
            "cc6" => (Operand::Condition(class?), &[(0, 5, 24), (5, 1, 30)]),
            "pc" => (Operand::Target, &[(0, 16, 0)]),
            "sh" => (Operand::Shift, &[(0, 4, 20), (4, 1, 28)]),
            "e" => (Operand::Endian, &[(0, 1, 27)]),
            "dma" => (Operand::DmaLength, &[(0, 8, 24)]),
            "o12" => (Operand::Offset, OFFSET_12),
            "o24" => (Operand::Offset, LOW_24),
            "o24s" => (Operand::Offset, OFFSET_24),
            "o28" => (Operand::Offset, LOW_28),
            "i8" => (Operand::Immediate, &[(0, 4, 20), (4, 4, 16)]),
            "i8s" => (Operand::Immediate, &[(0, 4, 16), (4, 4, 0)]),
            "i11" => (Operand::Immediate, &[(0, 4, 20), (4, 4, 16), (8, 3, 39)]),
            "i12" => (Operand::Immediate, &[(0, 4, 20), (4, 4, 16), (8, 3, 39), (11, 1, 44)]),
            "i16a" => (Operand::Immediate, &[(0, 4, 20), (4, 4, 16), (8, 5, 26), (13, 3, 39)]),
            "i16s" => (Operand::Immediate, &[(0, 4, 16), (4, 12, 0)]),
            "i17" => (Operand::Immediate, SAFE_17),
            "i24" => (Operand::Immediate, LOW_24),
            "i27" => (Operand::Immediate, LOW_27),
            "i28" => (Operand::Immediate, LOW_28),
            "i32" => (Operand::Immediate, LOW_32),
            "i32b" => (Operand::Immediate, LOW_32_BESIDE_B),
            "i32z" => (Operand::Immediate, LOW_32_BESIDE_B_ZERO),
            _ => return None,
        };
        let (range, signed_bits) = range(operand, place, pieces);
        Some(Self { operand, range, pieces, signed_bits })
    }

    /// Leaves out those numbers of sixteen bits that only an unsigned half could be.
    pub(super) fn only_signed_halves(&mut self) {
        if self.operand == Operand::Immediate && self.range == (-(1 << 15), (1 << 16) - 1) {
            self.range.1 = (1 << 15) - 1;
        }
    }

    /// The bits of the word that belong to this operand.
    pub(super) fn mask(&self) -> u64 {
        self.put(-1)
    }

    pub(super) fn put(&self, value: i64) -> u64 {
        let value = value.cast_unsigned();
        let piece = |&(from, bits, to): &Piece| (value >> from & ones(bits)) << to;
        self.pieces.iter().map(piece).fold(0, |word, bits| word | bits)
    }

    pub(super) fn take(&self, word: u64) -> i64 {
        let piece = |&(from, bits, to): &Piece| (word >> to & ones(bits)) << from;
        let value = self.pieces.iter().map(piece).fold(0, |value, bits| value | bits);
        match self.signed_bits {
            0 => value.cast_signed(),
            bits => (value << (64 - bits)).cast_signed() >> (64 - bits),
        }
    }

    /// The least and the largest value that its bits can hold. Five bits name a register, of which some places take part.
    pub(super) fn encodable(&self) -> (i64, i64) {
        match self.operand {
            Operand::SourceA | Operand::SourceB => (0, 31),
            _ => self.range,
        }
    }

    /// Is this what the operand may be?
    pub(super) fn holds(&self, value: i64) -> bool {
        let fits = self.range.0 <= value && value <= self.range.1;
        fits && match self.operand {
            Operand::DestinationPair | Operand::PairB => value % 2 == 0,
            Operand::Condition(class) => class.condition(value).is_some(),
            _ => true,
        }
    }
}

/// The least and largest value, and the width a negative one is extended from.
fn range(operand: Operand, place: &str, pieces: &[Piece]) -> ((i64, i64), u32) {
    let bits = pieces.iter().map(|&(from, bits, _)| from + bits).max().unwrap_or(0);
    let half = 1_i64 << (bits.max(1) - 1);
    match operand {
        Operand::Destination | Operand::SourceB => ((0, 23), 0),
        // `and` with a number of 32 bits has one code for both: general registers give a word, constants a pair.
        Operand::SourceA if place == "rg" => ((0, 23), 0),
        Operand::SourceA if place == "rk" => ((24, 31), 0),
        Operand::DestinationPair | Operand::PairB => ((0, 22), 0),
        Operand::Immediate if matches!(place, "i32" | "i32b" | "i32z" | "i8s" | "i16s") => {
            ((-half, 2 * half - 1), bits)
        }
        Operand::Offset if place == "o28" => ((-half, 2 * half - 1), 0),
        Operand::Immediate | Operand::Offset => ((-half, half - 1), bits),
        _ => ((0, 2 * half - 1), 0),
    }
}

fn ones(bits: u32) -> u64 {
    (1 << bits) - 1
}

const A: &[Piece] = &[(0, 5, 34)];
const B: &[Piece] = &[(0, 3, 17), (3, 2, 32)];
const LOW_24: &[Piece] =
    &[(0, 4, 20), (4, 4, 16), (8, 1, 15), (9, 1, 14), (10, 1, 13), (11, 1, 12), (12, 12, 0)];
const LOW_27: &[Piece] = &[
    (0, 4, 20),
    (4, 4, 16),
    (8, 1, 15),
    (9, 1, 14),
    (10, 1, 13),
    (11, 1, 12),
    (12, 12, 0),
    (24, 3, 39),
];
const LOW_28: &[Piece] = &[
    (0, 4, 20),
    (4, 4, 16),
    (8, 1, 15),
    (9, 1, 14),
    (10, 1, 13),
    (11, 1, 12),
    (12, 12, 0),
    (24, 3, 39),
    (27, 1, 44),
];
const LOW_32: &[Piece] = &[
    (0, 4, 20),
    (4, 4, 16),
    (8, 1, 15),
    (9, 1, 14),
    (10, 1, 13),
    (11, 1, 12),
    (12, 12, 0),
    (24, 8, 24),
];
const LOW_32_BESIDE_B: &[Piece] = &[
    (0, 4, 20),
    (4, 3, 34),
    (7, 1, 44),
    (8, 1, 15),
    (9, 1, 14),
    (10, 1, 13),
    (11, 1, 12),
    (12, 12, 0),
    (24, 8, 24),
];
const LOW_32_BESIDE_B_ZERO: &[Piece] = &[
    (0, 4, 20),
    (4, 3, 34),
    (7, 1, 39),
    (8, 1, 15),
    (9, 1, 14),
    (10, 1, 13),
    (11, 1, 12),
    (12, 12, 0),
    (24, 8, 24),
];
/// 17 bits of which the last is repeated up to bit 23.
const SAFE_17: &[Piece] = &[
    (0, 4, 20),
    (4, 4, 16),
    (8, 1, 15),
    (9, 1, 14),
    (10, 1, 13),
    (11, 1, 12),
    (12, 5, 0),
    (16, 1, 5),
    (16, 1, 6),
    (16, 1, 7),
    (16, 1, 8),
    (16, 1, 9),
    (16, 1, 10),
    (16, 1, 11),
];
const OFFSET_12: &[Piece] =
    &[(0, 4, 20), (4, 3, 39), (7, 1, 24), (8, 1, 15), (9, 1, 14), (10, 1, 13), (11, 1, 12)];
const OFFSET_24: &[Piece] = &[
    (0, 4, 20),
    (4, 3, 39),
    (7, 1, 24),
    (8, 1, 15),
    (9, 1, 14),
    (10, 1, 13),
    (11, 1, 12),
    (12, 12, 0),
];
