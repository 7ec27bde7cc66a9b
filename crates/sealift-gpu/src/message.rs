//! What kernels are told of each message, as `kernels/message.h` has it.
//!
//! All places are in units of 16 bytes from the begin of their slab.

/// What a kernel does to a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Operation {
    /// Encrypt, and make the tag.
    Seal = 0,
    /// Decrypt, or write zeros where the tag is wrong.
    Open = 1,
    /// Compare the tag, write no text.
    Verify = 2,
    /// Add the key stream of a counter block; nothing is authenticated.
    CounterMode = 3,
}

/// A message's descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// In the keys: its record.
    pub key: u32,
    /// In the input: the nonce, or the counter block.
    pub nonce: u32,
    /// In the input: authenticated and not encrypted.
    pub aad: u32,
    /// In the input: the text.
    pub text: u32,
    /// In the input: one unit, the tag that is to be.
    pub expected: u32,
    /// In the output: the resulting text, in whole units.
    pub out: u32,
    /// In the output: [`Verdict::UNITS`], tag and status.
    pub result: u32,
    /// What is done.
    pub operation: Operation,
    /// Length of the text.
    pub text_bytes: u32,
    /// Length of the aad.
    pub aad_bytes: u32,
    /// Length of the nonce.
    pub nonce_bytes: u32,
    /// Length of the tag.
    pub tag_bytes: u32,
    /// A long message's first piece.
    pub first_piece: u32,
    /// How many pieces it has.
    pub pieces: u32,
}

impl Message {
    /// As it lies in [`Slab::Messages`](crate::gpu::Slab::Messages).
    #[must_use]
    pub fn bytes(&self) -> [u8; MESSAGE_BYTES] {
        let words = [
            self.key,
            self.nonce,
            self.aad,
            self.text,
            self.expected,
            self.out,
            self.result,
            self.operation as u32,
            self.text_bytes,
            self.aad_bytes,
            self.nonce_bytes,
            self.tag_bytes,
            self.first_piece,
            self.pieces,
            0,
            0,
        ];
        in_order(&words)
    }
}

/// What a kernel says of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Sealed, opened or verified.
    Ok,
    /// The tag is another one.
    TagWrong,
}

impl Verdict {
    /// Units of a result: the tag, then the status.
    pub const UNITS: usize = 2;

    /// Reads a result; nothing if no kernel wrote it.
    #[must_use]
    pub fn read(result: &[u8]) -> Option<(Self, &[u8; 16])> {
        let (tag, status) = result.split_first_chunk::<16>()?;
        let verdict = match u32::from_le_bytes(*status.first_chunk()?) {
            1 => Self::Ok,
            2 => Self::TagWrong,
            _ => return None,
        };
        Some((verdict, tag))
    }
}

/// Numbers in little-endian bytes.
pub(crate) fn in_order<const BYTES: usize>(words: &[u32]) -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    for (place, word) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(words) {
        *place = word.to_le_bytes();
    }
    bytes
}

/// Bytes of a unit, which all places are counted in.
pub const UNIT_BYTES: usize = 16;
/// Bytes of a [`Message`].
pub const MESSAGE_BYTES: usize = 64;
/// Scratch for each long message.
pub const PREPARED_BYTES: usize = 1_376;
/// Scratch for each [`Piece`](crate::piece::Piece).
pub const PARTIAL_BYTES: usize = 512;
/// Longest text, and longest aad, that one work-item works, in bytes.
pub const MANY_BYTES: usize = 2_048;
/// Blocks of the slots that pieces are cut into, so the most that a piece has.
pub const PIECE_BLOCKS: usize = 1_024;
/// Work-items that share a piece, of which a work-group has a multiple.
pub const LANES: usize = 32;
/// Most work-items of a work-group.
pub const GROUP_MAX: usize = 384;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::piece::Part;

    #[test]
    fn numbers_are_those_of_the_header() {
        let header = include_str!("../kernels/message.h");
        let defined = |name: &str| {
            let mut lines = header.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
            let line = lines.find(|words| words.len() > 2 && words[..2] == ["#define", name]);
            line.unwrap_or_else(|| panic!("no {name} in the header"))[2].parse::<usize>().unwrap()
        };
        for (name, ours) in [
            ("GROUP_MAX", GROUP_MAX),
            ("MANY_BYTES", MANY_BYTES),
            ("PIECE_BLOCKS", PIECE_BLOCKS),
            ("LANES", LANES),
            ("SEAL", Operation::Seal as usize),
            ("OPEN", Operation::Open as usize),
            ("VERIFY", Operation::Verify as usize),
            ("COUNTER", Operation::CounterMode as usize),
            ("TEXT", Part::Text as usize),
            ("AAD", Part::Aad as usize),
            ("PREPARED_BYTES", PREPARED_BYTES),
            ("PARTIAL_BYTES", PARTIAL_BYTES),
        ] {
            assert_eq!(defined(name), ours, "{name}");
        }
    }

    #[test]
    fn a_message_is_sixteen_words_in_the_order_of_the_header() {
        let message = Message {
            key: 1,
            nonce: 2,
            aad: 3,
            text: 4,
            expected: 5,
            out: 6,
            result: 7,
            operation: Operation::CounterMode,
            text_bytes: 9,
            aad_bytes: 10,
            nonce_bytes: 11,
            tag_bytes: 12,
            first_piece: 13,
            pieces: 14,
        };
        let words: Vec<u32> =
            message.bytes().as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
        assert_eq!(words, [1, 2, 3, 4, 5, 6, 7, 3, 9, 10, 11, 12, 13, 14, 0, 0]);
    }

    #[test]
    fn a_result_that_no_kernel_wrote_is_no_verdict() {
        let mut result = [0; 32];
        assert_eq!(Verdict::read(&result), None);
        result[..16].fill(7);
        result[16] = 1;
        assert_eq!(Verdict::read(&result), Some((Verdict::Ok, &[7; 16])));
        result[16] = 2;
        assert_eq!(Verdict::read(&result).unwrap().0, Verdict::TagWrong);
        result[19] = 1;
        assert_eq!(Verdict::read(&result), None);
        assert_eq!(Verdict::read(&result[..18]), None);
    }
}
