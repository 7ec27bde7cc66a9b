//! What one instruction does.

use super::alu::{self, Sum};
use super::fault::FaultKind;
use super::memory::Wram;
use super::op::{Kind, Op, Simple, Stored};
use super::result::{finish, put, put_pair};
use super::{Dpu, Tasklet};
use crate::program::WRAM_BYTES;

/// How a tasklet goes on.
pub(super) enum Effect {
    Next,
    /// Not before this cycle.
    Wait(u64),
    Stopped,
}

/// A fault, before it is known whose it is.
pub(super) struct Stop {
    pub(super) kind: FaultKind,
    pub(super) pc: u16,
}

impl Dpu {
    #[inline(always)]
    pub(super) fn step(&mut self, tasklet: usize, op: &Op, at: u64) -> Result<Effect, Stop> {
        let state = &mut self.tasklets[tasklet];
        let a = state.registers[usize::from(op.a) & 63];
        // Where there is a number there is no second register, and the other way round.
        let b = state.registers[usize::from(op.b) & 63].wrapping_add(op.immediate);
        let place = state.pc;
        let wrong = |kind| Stop { kind, pc: place };
        state.pc = place.wrapping_add(1) & 4095;
        if op.simple != Simple::No && simply(state, &self.wram, op, a, b) {
            return Ok(Effect::Next);
        }
        let by = u32::from(op.shift) & 31;
        let result = match op.kind {
            Kind::Xor => a ^ b,
            Kind::Lw => {
                let value = u32::from_le_bytes(self.wram.load(a.wrapping_add(b)).map_err(wrong)?);
                put(state, op, if op.big { value.swap_bytes() } else { value });
                return Ok(Effect::Next);
            }
            Kind::MulUlUl => alu::low_unsigned(a) * alu::low_unsigned(b),
            Kind::MulUhUl => alu::high_unsigned(a) * alu::low_unsigned(b),
            Kind::Lsl => alu::lsl(a, b.wrapping_add(by) & 31, false),
            Kind::Lsr => alu::lsr(a, b.wrapping_add(by) & 31, false),
            Kind::Add | Kind::AddC | Kind::Sub | Kind::SubC | Kind::RSub | Kind::RSubC => {
                let Some(sum) = Sum::of(op.kind, a, b, state.carry) else {
                    return Ok(Effect::Next);
                };
                return Ok(finish(state, op, (a, b), sum.result, Some(sum.carry)));
            }
            Kind::And => a & b,
            Kind::Andn => !a & b,
            Kind::Nand => !(a & b),
            Kind::Or => a | b,
            Kind::Orn => !a | b,
            Kind::Nor => !(a | b),
            Kind::Nxor => !(a ^ b),
            Kind::Hash => alu::hash(a, b),
            Kind::Cmpb4 => alu::cmpb4(a, b),
            Kind::Asr => a.cast_signed().wrapping_shr(b.wrapping_add(by) & 31).cast_unsigned(),
            Kind::Lsl1 => alu::lsl(a, b.wrapping_add(by) & 31, true),
            Kind::Lsl1x => alu::lslx(a, b.wrapping_add(by) & 31, true),
            Kind::Lslx => alu::lslx(a, b.wrapping_add(by) & 31, false),
            Kind::Lsr1 => alu::lsr(a, b.wrapping_add(by) & 31, true),
            Kind::Lsr1x => alu::lsrx(a, b.wrapping_add(by) & 31, true),
            Kind::Lsrx => alu::lsrx(a, b.wrapping_add(by) & 31, false),
            Kind::Rol => a.rotate_left(b.wrapping_add(by) & 31),
            Kind::Ror => a.rotate_right(b.wrapping_add(by) & 31),
            Kind::LslAdd | Kind::LslSub | Kind::LsrAdd | Kind::RolAdd => {
                let shifted = match op.kind {
                    Kind::LslAdd | Kind::LslSub => a << by,
                    Kind::LsrAdd => a >> by,
                    _ => a.rotate_left(by),
                };
                let subtracts = op.kind == Kind::LslSub;
                let added = if subtracts { shifted.wrapping_neg() } else { shifted };
                let effect = finish(state, op, (a, b), b.wrapping_add(added), None);
                // The flag tells of what was shifted, conditions of the sum.
                state.zero = shifted == 0;
                return Ok(effect);
            }
            Kind::Cao => a.count_ones(),
            Kind::Clo => a.leading_ones(),
            Kind::Clz => a.leading_zeros(),
            // The sign itself does not count.
            Kind::Cls => (a ^ a << 1 | 1).leading_zeros(),
            Kind::Extsb => alu::low_signed(a),
            Kind::Extsh => (a << 16).cast_signed().wrapping_shr(16).cast_unsigned(),
            Kind::Extub => a & 0xff,
            Kind::Extuh => a & 0xffff,
            Kind::Sats => alu::sats(a),
            Kind::MulUlUh => alu::low_unsigned(a) * alu::high_unsigned(b),
            Kind::MulUhUh => alu::high_unsigned(a) * alu::high_unsigned(b),
            Kind::MulSlUl => alu::low_signed(a).wrapping_mul(alu::low_unsigned(b)),
            Kind::MulSlUh => alu::low_signed(a).wrapping_mul(alu::high_unsigned(b)),
            Kind::MulShUl => alu::high_signed(a).wrapping_mul(alu::low_unsigned(b)),
            Kind::MulShUh => alu::high_signed(a).wrapping_mul(alu::high_unsigned(b)),
            Kind::MulSlSl => alu::low_signed(a).wrapping_mul(alu::low_signed(b)),
            Kind::MulSlSh => alu::low_signed(a).wrapping_mul(alu::high_signed(b)),
            Kind::MulShSl => alu::high_signed(a).wrapping_mul(alu::low_signed(b)),
            Kind::MulShSh => alu::high_signed(a).wrapping_mul(alu::high_signed(b)),
            Kind::Lbs | Kind::Lbu => {
                let [byte] = self.wram.load(a.wrapping_add(b)).map_err(wrong)?;
                let byte = u32::from(byte);
                let signed = op.kind == Kind::Lbs;
                put(state, op, if signed { alu::low_signed(byte) } else { byte });
                return Ok(Effect::Next);
            }
            Kind::Ld => {
                let value = u64::from_le_bytes(self.wram.load(a.wrapping_add(b)).map_err(wrong)?);
                put_pair(state, op.destination, if op.big { value.swap_bytes() } else { value });
                return Ok(Effect::Next);
            }
            Kind::Sw | Kind::Sd | Kind::Sb | Kind::Sh => {
                return self.store(tasklet, op, a).map_err(wrong).map(|()| Effect::Next);
            }
            _ => return self.rarely(tasklet, op, (a, b), at).map_err(wrong),
        };
        Ok(finish(state, op, (a, b), result, None))
    }

    #[inline(always)]
    pub(super) fn store(&mut self, tasklet: usize, op: &Op, a: u32) -> Result<(), FaultKind> {
        let registers = &self.tasklets[tasklet].registers;
        let address = a.wrapping_add(op.immediate);
        let low = registers[usize::from(op.b) & 63];
        let number = i64::from(op.target.cast_signed()).cast_unsigned();
        let value = match op.stored {
            Stored::Register if op.kind == Kind::Sd => {
                u64::from(low) << 32 | u64::from(registers[(usize::from(op.b) + 1) & 63])
            }
            Stored::Register => u64::from(low),
            Stored::Number => number,
            Stored::WithId => number | tasklet as u64,
        };
        let bytes = value.to_le_bytes();
        let [b0, b1, b2, b3, ..] = bytes;
        match (op.kind, op.big) {
            (Kind::Sb, _) => self.wram.store(address, [b0]),
            (Kind::Sh, false) => self.wram.store(address, [b0, b1]),
            (Kind::Sh, true) => self.wram.store(address, [b1, b0]),
            (Kind::Sw, false) => self.wram.store(address, [b0, b1, b2, b3]),
            (Kind::Sw, true) => self.wram.store(address, [b3, b2, b1, b0]),
            (_, false) => self.wram.store(address, bytes),
            (_, true) => self.wram.store(address, value.to_be_bytes()),
        }
    }
}

/// Does what `Simple` says; nothing, if that is a load that faults.
#[inline(always)]
fn simply(state: &mut Tasklet, wram: &Wram, op: &Op, a: u32, b: u32) -> bool {
    let (is_load, is_add) = (op.simple == Simple::Load, op.simple == Simple::Add);
    let (sum, carry) = a.overflowing_add(b);
    if u32::from(is_load) * (sum & MISPLACED) != 0 {
        return false;
    }
    let by = b.wrapping_add(u32::from(op.shift)) & 31;
    let [from_a, from_b] = op.target.to_le_bytes().map(|from| u32::from(from) & 31);
    let words = wram.bytes.as_chunks::<4>().0;
    let results = [
        a ^ b,
        a & b,
        a | b,
        (a >> from_a & 0xff) * (b >> from_b & 0xff),
        a >> by,
        a << by,
        u32::from_le_bytes(words[(sum as usize >> 2) % WORDS]),
        sum,
    ];
    let result = results[op.simple as usize % 8];
    state.registers[usize::from(op.destination) & 63] = result;
    state.zero = if is_load { state.zero } else { result == 0 };
    state.carry = if is_add { carry } else { state.carry };
    true
}

/// Bits that the address of a word in WRAM does not have.
const MISPLACED: u32 = 0xffff_0003;
const WORDS: usize = WRAM_BYTES / 4;
