//! How bytes lie on the memory bus.
//!
//! A line of 64 bytes holds eight bytes for each of a rank's eight chips: byte `i` of chip `j` lies at `8 * i + j`. So the
//! host transposes blocks of 8x8 bytes on the way to and from DPUs.

/// Bytes of a line.
pub const LINE_BYTES: usize = 64;
/// Chips that share a line.
pub const CHIPS: usize = 8;

/// Makes lines of what eight chips get. Lengths are those of the shortest source, in whole words of eight bytes; chips
/// without one get zeros.
pub fn interleave(chips: &[Option<&[u8]>; CHIPS], lines: &mut [u8]) {
    for (number, line) in lines.as_chunks_mut::<LINE_BYTES>().0.iter_mut().enumerate() {
        let word = |chip: &Option<&[u8]>| {
            let at = number * 8;
            let bytes = chip.and_then(|bytes| bytes.get(at..at + 8)?.try_into().ok());
            bytes.map_or(0, u64::from_le_bytes)
        };
        let block = transpose(std::array::from_fn(|chip| word(&chips[chip])));
        for (place, word) in line.as_chunks_mut::<8>().0.iter_mut().zip(block) {
            *place = word.to_le_bytes();
        }
    }
}

/// Takes lines apart again.
pub fn deinterleave(lines: &[u8], chips: &mut [Option<&mut [u8]>; CHIPS]) {
    for (number, line) in lines.as_chunks::<LINE_BYTES>().0.iter().enumerate() {
        let words = line.as_chunks::<8>().0;
        let block = transpose(std::array::from_fn(|word| u64::from_le_bytes(words[word])));
        for (chip, word) in chips.iter_mut().zip(block) {
            let at = number * 8;
            if let Some(place) = chip.as_mut().and_then(|bytes| bytes.get_mut(at..at + 8)) {
                place.copy_from_slice(&word.to_le_bytes());
            }
        }
    }
}

/// Swaps rows and columns of 8x8 bytes: quarters, then their quarters, then single bytes.
fn transpose(mut rows: [u64; 8]) -> [u64; 8] {
    const STEPS: [(usize, u64); 3] =
        [(4, 0x0000_0000_ffff_ffff), (2, 0x0000_ffff_0000_ffff), (1, 0x00ff_00ff_00ff_00ff)];
    for (apart, mask) in STEPS {
        let bits = 8 * apart;
        for row in (0..8).filter(|row| row & apart == 0) {
            let other = row + apart;
            let swapped = (rows[row] >> bits ^ rows[other]) & mask;
            rows[row] ^= swapped << bits;
            rows[other] ^= swapped;
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_of_a_chip_lies_where_the_bus_has_it() {
        let sources: Vec<Vec<u8>> =
            (0..8_u8).map(|chip| (0..16_u8).map(|byte| chip << 4 | byte).collect()).collect();
        let chips = std::array::from_fn(|chip| Some(sources[chip].as_slice()));
        let mut lines = [0; 128];
        interleave(&chips, &mut lines);
        for (chip, source) in sources.iter().enumerate() {
            for (byte, value) in source.iter().enumerate() {
                assert_eq!(lines[byte / 8 * 64 + byte % 8 * 8 + chip], *value);
            }
        }
        let mut back = vec![vec![0; 16]; 8];
        let mut places = back.iter_mut();
        let mut chips = std::array::from_fn(|_| places.next().map(Vec::as_mut_slice));
        deinterleave(&lines, &mut chips);
        assert_eq!(back, sources);
    }
}
