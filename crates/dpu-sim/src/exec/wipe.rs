//! Leaving nothing behind.

use super::{Dpu, Queue, Tasklet};
use crate::program::{Program, Region};
use zeroize::Zeroize;

impl Dpu {
    /// Overwrites with zeros what a program and a host have left in WRAM, MRAM, registers and messages, and puts the data of the
    /// program back that is loaded. Counters stay.
    pub fn wipe(&mut self, program: &Program) {
        self.wram.bytes.as_mut_slice().zeroize();
        self.mram.wipe();
        for (number, tasklet) in self.tasklets.iter_mut().enumerate() {
            tasklet.registers.zeroize();
            *tasklet = Tasklet::new(number);
        }
        for told in &mut self.told {
            told.value.zeroize();
            told.text.zeroize();
        }
        self.told.clear();
        if let Some(fault) = &mut self.faulted {
            fault.registers.zeroize();
        }
        self.faulted = None;
        self.atomic = [false; 256];
        self.running = 0;
        self.queue = Queue::default();
        self.put_data(program);
    }

    /// Writes what the program has to be in the memories before it starts.
    pub(super) fn put_data(&mut self, program: &Program) {
        for region in [Region::Wram, Region::Mram] {
            for (start, bytes) in program.data(region) {
                // Whoever made the program checked that it fits.
                let _ = self.write(region, start, bytes);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Dpu, Outcome, Region, Timing, assemble};

    #[test]
    fn a_wiped_dpu_is_as_if_it_had_just_been_loaded_but_for_its_counters() {
        let program = assemble(
            "move r0, place
             lw r1, r0, 0
             sw r0, 4, r1
             tell r1, 0
             ldma r0, r2, 0
             sdma r0, r3, 0
             stop
             .data
             place: .long 7, 8",
        )
        .unwrap();
        let mut dpu = Dpu::new(Timing::default());
        dpu.load(&program);
        for offset in [0, 5_000_000] {
            dpu.write(Region::Mram, offset, &[9; 64]).unwrap();
        }
        for _ in 0..2 {
            dpu.boot();
            assert_eq!(dpu.run(100), Outcome::Done);
            dpu.wipe(&program);
            let mut bytes = [1; 64];
            for offset in [0, 5_000_000] {
                dpu.read(Region::Mram, offset, &mut bytes).unwrap();
                assert_eq!(bytes, [0; 64]);
            }
            dpu.read(Region::Wram, 0, &mut bytes).unwrap();
            assert_eq!(bytes[..8], [7, 0, 0, 0, 8, 0, 0, 0]);
            assert_eq!(bytes[8..], [0; 56]);
            assert_eq!(dpu.registers(0).unwrap(), [0; 24]);
            assert!(dpu.told().is_empty());
        }
        assert_eq!(dpu.instructions(), 14);
    }
}
