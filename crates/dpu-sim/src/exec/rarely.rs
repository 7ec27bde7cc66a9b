//! What programs seldom do: halves, calls, pairs, transfers, tasklets, time.

use super::alu;
use super::fault::FaultKind;
use super::memory::Transfer;
use super::op::{Kind, Op, Then};
use super::result::{finish, put, put_pair, seen};
use super::step::Effect;
use super::{Counts, Dpu, TASKLETS, Told};
use crate::isa::Condition;
use crate::program::Region;
use crate::timing::Direction;

impl Dpu {
    /// Everything that `step` leaves.
    #[inline(never)]
    pub(super) fn rarely(
        &mut self,
        tasklet: usize,
        op: &Op,
        (a, b): (u32, u32),
        at: u64,
    ) -> Result<Effect, FaultKind> {
        let pc = self.tasklets[tasklet].pc.wrapping_sub(1) & 4095;
        match op.kind {
            Kind::Lhs | Kind::Lhu => {
                let bytes = self.wram.load(a.wrapping_add(b))?;
                let half =
                    if op.big { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) };
                let signed = i32::from(half.cast_signed()).cast_unsigned();
                let value = if op.kind == Kind::Lhs { signed } else { u32::from(half) };
                put(&mut self.tasklets[tasklet], op, value);
            }
            Kind::Call => {
                let state = &mut self.tasklets[tasklet];
                let next = u32::from(state.pc);
                state.pc = instruction(a.wrapping_add(b));
                put(state, op, next);
            }
            Kind::Movd | Kind::Swapd | Kind::MulStep | Kind::DivStep => self.pairs(tasklet, op, a),
            Kind::Ldma | Kind::Sdma | Kind::Ldmai => return self.transfer(tasklet, op, a, at),
            Kind::Acquire | Kind::Release => {
                let bit = &mut self.atomic[folded(a, op.immediate)];
                let before = std::mem::replace(bit, op.kind == Kind::Acquire);
                let state = &mut self.tasklets[tasklet];
                return Ok(finish(state, op, (a, 0), u32::from(before), None));
            }
            Kind::Boot | Kind::Resume | Kind::ClrRun | Kind::ReadRun => {
                let before = self.run_bit(op, folded(a, op.immediate))?;
                let state = &mut self.tasklets[tasklet];
                finish(state, op, (a, 0), u32::from(before), None);
                if self.running >> tasklet & 1 == 0 {
                    return Ok(Effect::Stopped);
                }
            }
            Kind::Stop => {
                self.running &= !(1 << tasklet);
                let state = &mut self.tasklets[tasklet];
                let then = alu::holds(op.condition, &seen(state, op, (a, 0), 1));
                if op.then == Then::JumpIf && then {
                    state.pc = op.target & 4095;
                }
                return Ok(Effect::Stopped);
            }
            Kind::Time | Kind::TimeCfg => {
                let value = self.time(at);
                if op.kind == Kind::TimeCfg {
                    self.configure_timer(a, at);
                }
                let state = &mut self.tasklets[tasklet];
                let then = alu::holds(op.condition, &seen(state, op, (a, 0), value));
                put(state, op, value);
                if op.then == Then::JumpIf && then {
                    state.pc = op.target & 4095;
                }
            }
            Kind::Checked => self.checked(tasklet, op, (a, b))?,
            Kind::Tell => self.tell(tasklet, op.immediate, a, at),
            Kind::Fault => return Err(FaultKind::Raised { number: op.immediate }),
            Kind::Breakpoint => return Err(FaultKind::Breakpoint),
            _ if op.is_foreign() => {
                return Err(FaultKind::Invalid { word: self.code.word(pc) });
            }
            _ => {}
        }
        Ok(Effect::Next)
    }

    /// Does what is asked of a run bit, and says what it was.
    ///
    /// A real DPU has 64: those of the tasklets, and 40 that only notify. It starts a tasklet only where the bit was clear, and an
    /// instruction may jump on what it was; that is how the vendor's runtime waits with `resume` for one that is about to stop.
    fn run_bit(&mut self, op: &Op, number: usize) -> Result<bool, FaultKind> {
        let told = low(number);
        if number >= RUN_BITS {
            return Err(FaultKind::RunBit { number: told });
        }
        let before = self.running >> number & 1 == 1;
        match op.kind {
            Kind::Boot if number >= TASKLETS => return Err(FaultKind::NoTasklet { number: told }),
            Kind::Boot if before && !looks(op) => {
                return Err(FaultKind::Booted { number: told });
            }
            Kind::Boot => self.start(number, true),
            Kind::Resume => self.start(number, false),
            Kind::ClrRun => self.running &= !(1 << number),
            _ => {}
        }
        Ok(before)
    }

    fn tell(&mut self, tasklet: usize, number: u32, value: u32, cycle: u64) {
        if self.told.len() >= TOLD_MAX {
            return;
        }
        let text = (number == 1).then(|| {
            let bytes = self.wram.bytes.get(value as usize..).unwrap_or_default();
            let bytes = bytes.iter().copied().take(TEXT_MAX).take_while(|byte| *byte != 0);
            String::from_utf8_lossy(&bytes.collect::<Vec<u8>>()).into_owned()
        });
        let pc = self.tasklets[tasklet].pc.wrapping_sub(1) & 4095;
        let tasklet = tasklet.to_le_bytes()[0];
        self.told.push(Told { tasklet, pc, cycle, value, number, text });
    }

    fn pairs(&mut self, tasklet: usize, op: &Op, a: u32) {
        let state = &mut self.tasklets[tasklet];
        let even = state.registers[usize::from(op.b) & 63];
        let odd = state.registers[(usize::from(op.b) + 1) & 63];
        let by = u32::from(op.shift) & 31;
        let destination = usize::from(op.destination) & 63;
        let result = match op.kind {
            Kind::Swapd => {
                put_pair(state, op.destination, u64::from(odd) << 32 | u64::from(even));
                0
            }
            // The even register is what is left of the factor, the odd one the sum; without a bit to add, it is left alone.
            Kind::MulStep => {
                if even & 1 == 1 {
                    state.registers[(destination + 1) & 63] = odd.wrapping_add(a << by);
                }
                state.registers[destination] = even >> 1;
                even >> 1
            }
            // A step that does not subtract leaves the odd register of the destination alone.
            Kind::DivStep if odd < a << by => {
                state.registers[destination] = even << 1;
                even << 1
            }
            Kind::DivStep => {
                let rest = odd - (a << by);
                let quotient = even << 1 | 1;
                put_pair(state, op.destination, u64::from(quotient) << 32 | u64::from(rest));
                rest
            }
            _ => {
                put_pair(state, op.destination, u64::from(even) << 32 | u64::from(odd));
                0
            }
        };
        let then = op.then == Then::JumpIf;
        if then && alu::holds(op.condition, &seen(state, op, (a, 0), result)) {
            state.pc = op.target & 4095;
        }
        if op.kind == Kind::MulStep {
            state.zero = result == 0;
        }
    }

    fn transfer(&mut self, tasklet: usize, op: &Op, a: u32, at: u64) -> Result<Effect, FaultKind> {
        let b = self.tasklets[tasklet].registers[usize::from(op.b) & 63];
        let local = if op.kind == Kind::Ldmai { Region::Iram } else { Region::Wram };
        let Transfer { local, mram, length } = Transfer::new(a, b, op.immediate & 0xff, local)?;
        let clock = &mut self.clock;
        let direction = match op.kind {
            Kind::Sdma => {
                self.mram.write(mram, &self.wram.bytes[local..local + length]);
                clock.written_bytes += length as u64;
                Direction::Write
            }
            _ => {
                clock.read_bytes += length as u64;
                Direction::Read
            }
        };
        match op.kind {
            Kind::Ldma => self.mram.read(mram, &mut self.wram.bytes[local..local + length]),
            Kind::Ldmai => {
                let mut bytes = [0; 2048];
                self.mram.read(mram, &mut bytes[..length]);
                let code = std::sync::Arc::make_mut(&mut self.code);
                for (number, slot) in (local / 8..).zip(bytes[..length].as_chunks::<8>().0) {
                    code.set(number, u64::from_le_bytes(*slot) & WORD);
                }
            }
            _ => {}
        }
        let cycles = self.timing.dma.cycles(direction, low(mram), low(length));
        let until = at.max(clock.dma_free) + cycles;
        clock.dma_free = until;
        clock.transfers += 1;
        Ok(Effect::Wait(until))
    }

    fn counted(&self, counts: Counts, at: u64) -> u64 {
        match counts {
            Counts::Nothing => 0,
            Counts::Cycles => at,
            Counts::Instructions => self.clock.instructions,
        }
    }

    fn time(&self, at: u64) -> u32 {
        let timer = self.clock.timer;
        let value = timer.kept + self.counted(timer.counts, at).saturating_sub(timer.since);
        let steps = value / u64::from(self.timing.timer_granularity.max(1));
        u32::try_from(steps & u64::from(u32::MAX)).unwrap_or(u32::MAX)
    }

    /// Bit 0 resets; the bits above say what is counted from now on, 0 for the same as before.
    fn configure_timer(&mut self, configuration: u32, at: u64) {
        let mut timer = self.clock.timer;
        timer.kept += self.counted(timer.counts, at).saturating_sub(timer.since);
        timer.counts = match configuration >> 1 & 3 {
            0 => timer.counts,
            1 => Counts::Cycles,
            2 => Counts::Instructions,
            _ => Counts::Nothing,
        };
        timer.since = self.counted(timer.counts, at);
        if configuration & 1 == 1 {
            timer.kept = 0;
        }
        self.clock.timer = timer;
    }
}

/// The number of an instruction; addresses wrap around.
fn instruction(address: u32) -> u16 {
    let [low, high, ..] = (address & PC_MASK).to_le_bytes();
    u16::from_le_bytes([low, high])
}

fn low(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

/// Instructions have 48 bits.
const WORD: u64 = (1 << 48) - 1;

/// Which bit or tasklet a register and a number name: two bytes of their sum, folded.
fn folded(a: u32, number: u32) -> usize {
    let sum = a.wrapping_add(number);
    ((sum >> 8 ^ sum) & 0xff) as usize
}

/// Does the program ask whether the tasklet it boots ran already? Conditions on the source ask for the register.
fn looks(op: &Op) -> bool {
    use Condition::{Nz, Xnz, Xz, Z};
    op.then == Then::JumpIf && matches!(op.condition, Z | Nz | Xz | Xnz)
}

/// Bits that say who runs, and those that only notify.
const RUN_BITS: usize = 64;
/// How many words of `tell` are kept.
const TOLD_MAX: usize = 4096;
/// How many bytes of a text are.
const TEXT_MAX: usize = 1024;
const PC_MASK: u32 = 4095;
