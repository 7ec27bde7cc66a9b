//! Issuing instructions, one a cycle at most.

use super::step::{Effect, Stop};
use super::{Dpu, Fault, Outcome, TASKLETS};
use crate::program::IRAM_INSTRUCTIONS;
use std::sync::Arc;

impl Dpu {
    /// Starts tasklet 0 at the first instruction, as a host does. Registers and memories stay as they are, atomic bits too: what a
    /// launch before left held stays held.
    pub fn boot(&mut self) {
        self.faulted = None;
        self.running = 0;
        self.queue = super::Queue::default();
        self.start(0, true);
    }

    /// Runs until all tasklets have stopped, one faults, or so many instructions were issued. After a fault it says the same again
    /// until the DPU is booted.
    pub fn run(&mut self, instructions_max: u64) -> Outcome {
        if let Some(fault) = &self.faulted {
            return Outcome::Fault(fault.clone());
        }
        let outcome = if self.timing.hazard {
            self.issue::<true>(instructions_max)
        } else {
            self.issue::<false>(instructions_max)
        };
        match outcome {
            Ok(outcome) => outcome,
            Err(fault) => Outcome::Fault(fault),
        }
    }

    fn issue<const HAZARD: bool>(&mut self, most: u64) -> Result<Outcome, Box<Fault>> {
        let revolver = u64::from(self.timing.revolver);
        // A reference of its own, so that instructions can be looked at while the DPU changes.
        let mut code = Arc::clone(&self.code);
        for _ in 0..most {
            let waits = self.queue.waits();
            let Some((tasklet, ready)) = self.queue.pop() else { return Ok(Outcome::Done) };
            if self.running >> tasklet & 1 == 0 {
                continue;
            }
            let mut at = self.clock.now.max(ready);
            let idle = at - self.clock.now;
            if waits {
                self.clock.idle.dma += idle;
            } else {
                self.clock.idle.revolver += idle;
            }
            let pc = usize::from(self.tasklets[tasklet].pc) % IRAM_INSTRUCTIONS;
            if HAZARD {
                let lost = self.hazard(tasklet, code.registers[pc]);
                self.clock.idle.hazard += lost;
                at += lost;
            }
            self.clock.now = at + 1;
            self.clock.instructions += 1;
            self.executed[pc] += 1;
            match self.step(tasklet, &code.ops[pc], at) {
                Ok(Effect::Next) => self.queue.push(tasklet, at + revolver),
                Ok(Effect::Wait(until)) => {
                    self.queue.wait(tasklet, until.max(at + revolver));
                    // The transfer may have been one of instructions.
                    if !Arc::ptr_eq(&code, &self.code) {
                        code = Arc::clone(&self.code);
                    }
                }
                Ok(Effect::Stopped) => {}
                Err(stop) => return Err(self.fault(tasklet, at, stop)),
            }
        }
        Ok(if self.running & ALL == 0 { Outcome::Done } else { Outcome::Limit })
    }

    /// Cycles lost because registers meet in a bank: those read, and those that the tasklet's last instruction wrote. Even
    /// and odd registers have a bank each, which gives two a cycle.
    fn hazard(&mut self, tasklet: usize, (reads, writes): (u32, u32)) -> u64 {
        let written = std::mem::replace(&mut self.tasklets[tasklet].written, writes);
        let used = reads | written;
        // An instruction and the one before use at most three of a bank.
        let meet = |bank: u32| u64::from(bank & bank.wrapping_sub(1) != 0);
        meet(used & EVEN) + meet(used & !EVEN)
    }

    /// Sets one of the 64 run bits; a tasklet that did not run starts to.
    pub(super) fn start(&mut self, number: usize, from_the_first: bool) {
        let before = self.running >> number & 1 == 1;
        self.running |= 1 << number;
        if before || number >= TASKLETS {
            return;
        }
        if from_the_first {
            self.tasklets[number].pc = 0;
        }
        if !self.queue.holds(number) {
            let revolver = u64::from(self.timing.revolver);
            let ready = if self.clock.now == 0 { 0 } else { self.clock.now - 1 + revolver };
            self.queue.push(number, ready);
        }
    }

    #[cold]
    fn fault(&mut self, number: usize, cycle: u64, Stop { kind, pc }: Stop) -> Box<Fault> {
        self.running = 0;
        self.queue = super::Queue::default();
        let registers = self.tasklets[number].general();
        let tasklet = number.to_le_bytes()[0];
        let fault = Box::new(Fault { kind, pc, tasklet, cycle, registers });
        self.faulted = Some(fault.clone());
        fault
    }
}

/// The run bits of tasklets.
const ALL: u64 = (1 << TASKLETS) - 1;
const EVEN: u32 = 0x5555_5555;
