//! What a reader has read, in figures that another reader can be held to.

use crate::ArmError;

/// Sequences, their bases, and a sum over their ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) sequences: u64,
    pub(super) bases: u64,
    pub(super) sum: u64,
}

impl Tally {
    pub(super) fn sequence(&mut self, bases: &[u8]) {
        self.sequences += 1;
        self.bases += bases.len() as u64;
        let first = bases.first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
        let last = bases.last_chunk().map_or(0, |word| u64::from_le_bytes(*word));
        self.sum = self.sum.wrapping_add(first).wrapping_add(last.wrapping_mul(3));
    }

    /// Refuses another tally than the one of the file's maker.
    pub(super) fn check(self, expected: Self, reader: &str, part: usize) -> Result<(), ArmError> {
        if self == expected {
            return Ok(());
        }
        let what = format!("part {part} of the file: {self:?} was read, {expected:?} was written");
        Err(ArmError::Wrong { device: reader.to_owned(), what })
    }
}

/// Takes lines of FASTQ: a name, the sequence, a plus, the qualities.
#[derive(Default)]
pub(super) struct Lines {
    pub(super) tally: Tally,
    line: u64,
}

impl Lines {
    /// Takes a line without its end.
    #[inline]
    pub(super) fn line(&mut self, line: &[u8]) {
        if self.line % LINES_A_SEQUENCE == 1 {
            self.tally.sequence(line);
        }
        self.line += 1;
    }

    /// Whether so many sequences were read to their ends.
    #[inline]
    pub(super) fn has(&self, sequences: u64) -> bool {
        self.line >= sequences * LINES_A_SEQUENCE
    }
}

const LINES_A_SEQUENCE: u64 = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_more_or_less_or_another_one_at_either_end_is_another_tally() {
        let tally = |bases: &[u8]| {
            let mut tally = Tally::default();
            tally.sequence(bases);
            tally
        };
        let whole = tally(b"ACGTACGTACGT");
        for other in [&b"ACGTACGTACG"[..], b"TCGTACGTACGT", b"ACGTACGTACGA", b""] {
            assert_ne!(tally(other), whole);
            assert!(tally(other).check(whole, "getc", 3).is_err());
        }
        let error = tally(b"").check(whole, "getc", 3).unwrap_err().to_string();
        assert!(error.starts_with("getc gave a wrong result: part 3"), "{error}");
    }

    #[test]
    fn the_second_of_four_lines_is_the_sequence() {
        let mut lines = Lines::default();
        for line in [&b"@one"[..], b"ACGT", b"+", b"IIII", b"@two"] {
            lines.line(line);
        }
        assert_eq!((lines.tally.sequences, lines.tally.bases), (1, 4));
        assert!(lines.has(1) && !lines.has(2));
    }
}
