//! How long things take.

/// The cycles of a DPU.
///
/// A tasklet issues at most one instruction every `revolver` cycles, the DPU one a cycle. Transfers are done one at a time,
/// while other tasklets go on.
#[derive(Clone, Debug, PartialEq)]
pub struct Timing {
    /// Cycles between two instructions of one tasklet.
    pub revolver: u32,
    /// Does an instruction take longer whose registers, with those just written, meet in one bank?
    pub hazard: bool,
    /// Transfers between MRAM and the local memories.
    pub dma: Dma,
    /// The steps in which the timer counts, in cycles. The vendor's runtime takes them for 16 whatever this is.
    pub timer_granularity: u32,
}

/// A transfer takes a set-up, a time for each byte and one for each row of memory after the first.
#[derive(Clone, Debug, PartialEq)]
pub struct Dma {
    /// Cycles before the first byte out of MRAM.
    pub read_setup: u32,
    /// Cycles before the first byte into MRAM.
    pub write_setup: u32,
    /// Bytes a cycle; less than a thousandth is taken for that.
    pub bytes_per_cycle: f64,
    /// Bytes of a row.
    pub row_bytes: u32,
    /// Cycles for each further row.
    pub row_cycles: u32,
}

/// Which way a transfer goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Out of MRAM.
    Read,
    /// Into MRAM.
    Write,
}

impl Default for Timing {
    fn default() -> Self {
        Self { revolver: 11, hazard: false, dma: Dma::default(), timer_granularity: 16 }
    }
}

impl Default for Dma {
    /// What published latencies of two machines have in common: read 77 cycles, write 61, half a cycle a byte, 32 for each
    /// further row of 1 KiB.
    fn default() -> Self {
        Self {
            read_setup: 77,
            write_setup: 61,
            bytes_per_cycle: 2.0,
            row_bytes: 1024,
            row_cycles: 32,
        }
    }
}

impl Dma {
    /// Cycles from the transfer's instruction to the tasklet's next one.
    #[must_use]
    pub fn cycles(&self, direction: Direction, mram_offset: u32, bytes: u32) -> u64 {
        let setup = match direction {
            Direction::Read => self.read_setup,
            Direction::Write => self.write_setup,
        };
        let row = self.row_bytes.max(1);
        let last = mram_offset.saturating_add(bytes.saturating_sub(1));
        let further = last / row - mram_offset / row;
        let moving = (f64::from(bytes) / self.bytes_per_cycle.max(0.001)).ceil();
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small")]
        let moving = moving as u64;
        u64::from(setup) + moving + u64::from(further) * u64::from(self.row_cycles)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transfers_take_what_was_published_less_the_timer() {
        // Document 000 timed 272, 400, 656 and 1,200 with six more instructions, 66 cycles, in between.
        for (bytes, cycles) in [(256, 271), (512, 399), (1024, 655), (2048, 1199)] {
            assert_eq!(Dma::default().cycles(Direction::Read, 0, bytes) + 66, cycles);
            assert_eq!(Dma::default().cycles(Direction::Write, 0, bytes) + 66, cycles - 16);
        }
    }

    #[test]
    fn a_transfer_across_a_row_waits_for_the_second_row() {
        let dma = Dma::default();
        let beside = dma.cycles(Direction::Read, 0, 1024);
        assert_eq!(dma.cycles(Direction::Read, 8, 1024), beside + 32);
    }
}
