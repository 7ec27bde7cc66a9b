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
    /// Over so many bytes, of which each result has `stride`.
    pub(super) fn new(all: usize, stride: usize) -> Self {
        let stride = stride.max(1);
        Self { all, step: (PART_BYTES / stride).max(1) * stride, at: 0 }
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

/// Copied and compared within a millisecond, and a sample takes up to a hundred.
const PART_BYTES: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_whole_results_and_come_to_all_bytes_before_they_begin_anew() {
        let mut turn = Turn::new(3 * PART_BYTES, 160);
        let step = PART_BYTES / 160 * 160;
        for begin in [0, step, 2 * step, 3 * step, 0] {
            assert_eq!(turn.part(), begin..(begin + step).min(3 * PART_BYTES));
            turn.go_on();
        }
        let mut long = Turn::new(4 * PART_BYTES, 2 * PART_BYTES);
        long.go_on();
        assert_eq!(long.part(), 2 * PART_BYTES..4 * PART_BYTES);
        let mut small = Turn::new(64, 16);
        small.go_on();
        assert_eq!(small.part(), 0..64);
    }
}
