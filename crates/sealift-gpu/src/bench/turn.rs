//! Bytes that are looked at part by part.

use std::ops::Range;

/// Which part of some bytes is looked at next: one after the other, and all of them again.
#[derive(Clone, Debug)]
pub(super) struct Turn {
    all: usize,
    step: usize,
    at: usize,
}

impl Turn {
    /// Over so many bytes, up to `step` at once.
    pub(super) fn new(all: usize, step: usize) -> Self {
        Self { all, step: step.max(1), at: 0 }
    }

    /// The part.
    pub(super) fn part(&self) -> Range<usize> {
        self.at..self.all.min(self.at + self.step)
    }

    /// Goes on to the next one.
    pub(super) fn go_on(&mut self) {
        self.at += self.step;
        if self.at >= self.all {
            self.at = 0;
        }
    }
}

/// A megabyte of results of so many bytes, or one where they are longer: copied and compared within a millisecond, and a
/// sample takes up to a hundred.
pub(super) fn megabyte_of(result_bytes: usize) -> usize {
    let result_bytes = result_bytes.max(1);
    (PART_BYTES / result_bytes).max(1) * result_bytes
}

const PART_BYTES: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_whole_results_and_come_to_all_bytes_before_they_begin_anew() {
        let mut turn = Turn::new(3 * PART_BYTES, megabyte_of(160));
        let step = PART_BYTES / 160 * 160;
        for begin in [0, step, 2 * step, 3 * step, 0] {
            assert_eq!(turn.part(), begin..(begin + step).min(3 * PART_BYTES));
            turn.go_on();
        }
        let mut long = Turn::new(4 * PART_BYTES, megabyte_of(2 * PART_BYTES));
        long.go_on();
        assert_eq!(long.part(), 2 * PART_BYTES..4 * PART_BYTES);
        let mut small = Turn::new(64, megabyte_of(16));
        small.go_on();
        assert_eq!(small.part(), 0..64);
    }
}
