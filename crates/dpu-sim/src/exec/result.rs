//! Where results go, and what they decide.

use super::Tasklet;
use super::alu::{self, Seen};
use super::op::{Extend, Op, Then};
use super::step::Effect;

/// Puts a result where it belongs, sets flags, and jumps.
#[inline(always)]
pub(super) fn finish(
    state: &mut Tasklet,
    op: &Op,
    (a, b): (u32, u32),
    result: u32,
    carry: Option<bool>,
) -> Effect {
    let mut value = result;
    if op.then != Then::Next {
        let holds = alu::holds(op.condition, &seen(state, op, (a, b), result));
        match op.then {
            Then::JumpIf if holds => state.pc = op.target & 4095,
            Then::SetIf => value = u32::from(holds),
            _ => {}
        }
    }
    put(state, op, value);
    state.zero = result == 0;
    if let Some(carry) = carry {
        state.carry = carry;
    }
    Effect::Next
}

/// What a condition may look at.
pub(super) fn seen(state: &Tasklet, op: &Op, (a, b): (u32, u32), result: u32) -> Seen {
    Seen { kind: op.kind, a, b, result, zero: state.zero, carry: state.carry }
}

/// Writes a register, or a pair with the sign or zero above.
#[inline(always)]
pub(super) fn put(state: &mut Tasklet, op: &Op, value: u32) {
    let destination = usize::from(op.destination) & 63;
    match op.extend {
        Extend::No => state.registers[destination] = value,
        Extend::Signed => {
            put_pair(state, op.destination, i64::from(value.cast_signed()).cast_unsigned());
        }
        Extend::Unsigned => put_pair(state, op.destination, u64::from(value)),
    }
}

/// Writes a pair: the even register is the upper word.
#[inline(always)]
pub(super) fn put_pair(state: &mut Tasklet, number: u8, value: u64) {
    let [b0, b1, b2, b3, b4, b5, b6, b7] = value.to_le_bytes();
    state.registers[usize::from(number) & 63] = u32::from_le_bytes([b4, b5, b6, b7]);
    state.registers[(usize::from(number) + 1) & 63] = u32::from_le_bytes([b0, b1, b2, b3]);
}
