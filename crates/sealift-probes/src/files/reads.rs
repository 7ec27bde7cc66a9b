//! Makes a file of short reads.

use super::tally::Tally;
use crate::ArmError;
use crate::random::Random;
use std::io::{BufWriter, Write};

/// Sequences of one operation.
pub const SEQUENCES: usize = 1_000;

/// Bytes of a record: a name of 39, a sequence and qualities of 150 each, and the ends of lines.
pub const RECORD_BYTES: usize = NAME_BYTES + 1 + BASES + 1 + 2 + BASES + 1;

/// Writes so many short reads as FASTQ, and gives a sum for each [`SEQUENCES`] of them.
///
/// The same seed gives the same bytes.
///
/// # Errors
/// A number of reads that is no multiple of [`SEQUENCES`], or has too many digits for a name; a file that
/// can't be written; [`ArmError::Stopped`].
pub fn write_reads(
    file: impl Write,
    reads: usize,
    seed: u64,
    wanted: &mut dyn FnMut() -> bool,
) -> Result<Vec<u64>, ArmError> {
    if reads == 0 || !reads.is_multiple_of(SEQUENCES) || reads > READS_MAX {
        return Err(ArmError::Spec {
            what: "short reads",
            value: reads.to_string(),
            right: format!("a multiple of {SEQUENCES} up to {READS_MAX}"),
        });
    }
    let failed = |error: std::io::Error| ArmError::File {
        doing: "write short reads",
        reason: error.to_string(),
    };
    let mut file = BufWriter::with_capacity(1 << 20, file);
    let mut random = Random::new(seed, 0);
    let mut sums = Vec::with_capacity(reads / SEQUENCES);
    for first in (0..reads).step_by(SEQUENCES) {
        if !wanted() {
            return Err(ArmError::Stopped { device: "a file of short reads".to_owned() });
        }
        let mut tally = Tally::default();
        for number in first..first + SEQUENCES {
            let record = record(number, &mut random);
            tally.sequence(&record[NAME_BYTES + 1..][..BASES]);
            file.write_all(&record).map_err(failed)?;
        }
        sums.push(tally.sum);
    }
    file.flush().map_err(failed)?;
    Ok(sums)
}

/// What each [`SEQUENCES`] of them come to.
pub(super) fn expected(sum: u64) -> Tally {
    Tally { sequences: SEQUENCES as u64, bases: (SEQUENCES * BASES) as u64, sum }
}

fn record(number: usize, random: &mut Random) -> [u8; RECORD_BYTES] {
    let mut record = [b'\n'; RECORD_BYTES];
    let name = format!("@sealift.{number:09} {number:09} length={BASES}");
    record[..NAME_BYTES].copy_from_slice(name.as_bytes());
    drawn(&mut record[NAME_BYTES + 1..][..BASES], *b"ACGT", random);
    record[NAME_BYTES + 1 + BASES + 1] = b'+';
    drawn(&mut record[RECORD_BYTES - 1 - BASES..][..BASES], *b"#,:F", random);
    record
}

/// Letters by two bits each.
fn drawn(place: &mut [u8], letters: [u8; 4], random: &mut Random) {
    for piece in place.chunks_mut(32) {
        let mut bits = random.next_u64();
        for byte in piece {
            *byte = letters[usize::from(bits.to_le_bytes()[0] & 3)];
            bits >>= 2;
        }
    }
}

const BASES: usize = 150;
const NAME_BYTES: usize = 39;
const READS_MAX: usize = 999_999_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn made(reads: usize, seed: u64) -> (Vec<u8>, Vec<u64>) {
        let mut bytes = vec![];
        let sums = write_reads(&mut bytes, reads, seed, &mut || true).unwrap();
        (bytes, sums)
    }

    #[test]
    fn a_seed_gives_the_same_records_and_another_one_others() {
        let (bytes, sums) = made(2_000, 1);
        assert_eq!(bytes.len(), 2_000 * RECORD_BYTES);
        assert_eq!(sums.len(), 2);
        assert_eq!(made(2_000, 1), (bytes.clone(), sums.clone()));
        assert_ne!(made(2_000, 2).1, sums);
        let lines: Vec<_> = bytes.split(|byte| *byte == b'\n').take(4).collect();
        assert_eq!(lines[0], b"@sealift.000000000 000000000 length=150");
        assert!(lines[1].len() == BASES && lines[1].iter().all(|base| b"ACGT".contains(base)));
        assert_eq!((lines[2], lines[3].len()), (&b"+"[..], BASES));
    }

    #[test]
    fn a_number_of_reads_that_can_not_be_is_refused_and_a_wish_to_stop_heard() {
        for reads in [0, 1, 1_500, READS_MAX + SEQUENCES] {
            let error = write_reads(&mut vec![], reads, 1, &mut || true).unwrap_err().to_string();
            assert!(error.contains("right would be a multiple of 1000"), "{error}");
        }
        let stopped = write_reads(&mut vec![], 1_000, 1, &mut || false);
        assert!(matches!(stopped, Err(ArmError::Stopped { .. })));
    }
}
