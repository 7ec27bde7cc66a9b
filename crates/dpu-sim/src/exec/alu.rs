//! Results, carries and conditions.

use super::op::Kind;
use crate::isa::Condition;

/// An addition of two words and a carry, which every sum and difference is.
#[derive(Clone, Copy)]
pub(super) struct Sum {
    pub(super) result: u32,
    pub(super) carry: bool,
    overflow: bool,
    x: u32,
    y: u32,
    carried: bool,
}

impl Sum {
    fn new(x: u32, y: u32, carried: bool) -> Self {
        let (partial, first) = x.overflowing_add(y);
        let (result, second) = partial.overflowing_add(u32::from(carried));
        let overflow = (x ^ result) & (y ^ result) >> 31 << 31 != 0;
        Self { result, carry: first || second, overflow, x, y, carried }
    }

    /// The sum that an instruction computes; none, if it computes something else.
    pub(super) fn of(kind: Kind, a: u32, b: u32, carry: bool) -> Option<Self> {
        Some(match kind {
            Kind::Add => Self::new(a, b, false),
            Kind::AddC => Self::new(a, b, carry),
            Kind::Sub => Self::new(a, !b, true),
            Kind::SubC => Self::new(a, !b, carry),
            Kind::RSub => Self::new(b, !a, true),
            Kind::RSubC => Self::new(b, !a, carry),
            _ => return None,
        })
    }

    /// No carry into this bit.
    fn no_carry_into(&self, bit: u32) -> bool {
        let low = (1 << bit) - 1;
        (self.x & low) + (self.y & low) + u32::from(self.carried) <= low
    }
}

/// What conditions look at.
pub(super) struct Seen {
    pub(super) kind: Kind,
    pub(super) a: u32,
    pub(super) b: u32,
    pub(super) result: u32,
    /// The flags before this instruction.
    pub(super) zero: bool,
    pub(super) carry: bool,
}

/// Does a condition hold?
pub(super) fn holds(condition: Condition, seen: &Seen) -> bool {
    use Condition::*;
    let (result, source) = (seen.result, seen.a);
    let zero = result == 0;
    let (zero_before, negative) = (seen.zero, result.cast_signed() < 0);
    let sum = || {
        let none = Sum::new(result, 0, false);
        Sum::of(seen.kind, seen.a, seen.b, seen.carry).unwrap_or(none)
    };
    let less = || negative != sum().overflow;
    match condition {
        False => false,
        True => true,
        Z => zero,
        Nz => !zero,
        Xz => zero && zero_before,
        Xnz => !(zero && zero_before),
        Pl => !negative,
        Mi => negative,
        Sz => source == 0,
        Snz => source != 0,
        Spl => source.cast_signed() >= 0,
        Smi => source.cast_signed() < 0,
        Ov => sum().overflow,
        Nov => !sum().overflow,
        C | Geu => sum().carry,
        Nc | Ltu => !sum().carry,
        Lts => less(),
        Ges => !less(),
        Les => less() || zero,
        Gts => !(less() || zero),
        Leu => !sum().carry || zero,
        Gtu => sum().carry && !zero,
        Xles => less() || zero && zero_before,
        Xgts => !(less() || zero && zero_before),
        Xleu => !sum().carry || zero && zero_before,
        Xgtu => sum().carry && !(zero && zero_before),
        Max => result == count_max(seen.kind),
        Nmax => result != count_max(seen.kind),
        E => result & 1 == 0,
        O => result & 1 == 1,
        Se => source & 1 == 0,
        So => source & 1 == 1,
        Nsh32 => seen.b & 32 == 0,
        Sh32 => seen.b & 32 != 0,
        Small => (seen.a | seen.b) >> 8 & 0xff == 0,
        Large => (seen.a | seen.b) >> 8 & 0xff != 0,
        Nc5 => sum().no_carry_into(5),
        Nc6 => sum().no_carry_into(6),
        Nc7 => sum().no_carry_into(7),
        Nc8 => sum().no_carry_into(8),
        Nc9 => sum().no_carry_into(9),
        Nc10 => sum().no_carry_into(10),
        Nc11 => sum().no_carry_into(11),
        Nc12 => sum().no_carry_into(12),
        Nc13 => sum().no_carry_into(13),
        Nc14 => sum().no_carry_into(14),
    }
}

fn count_max(kind: Kind) -> u32 {
    if kind == Kind::Cls { 31 } else { 32 }
}

/// Shifts left, ones or zeros coming in.
pub(super) fn lsl(value: u32, by: u32, ones: bool) -> u32 {
    let filled = if ones { (1_u32 << by) - 1 } else { 0 };
    value << by | filled
}

/// Shifts right, ones or zeros coming in.
pub(super) fn lsr(value: u32, by: u32, ones: bool) -> u32 {
    let filled = if ones { !(u32::MAX >> by) } else { 0 };
    value >> by | filled
}

/// The word above, of a shift left over 64 bits.
pub(super) fn lslx(value: u32, by: u32, ones: bool) -> u32 {
    if by == 0 { if ones { u32::MAX } else { 0 } } else { lsr(value, 32 - by, ones) }
}

/// The word below, of a shift right over 64 bits.
pub(super) fn lsrx(value: u32, by: u32, ones: bool) -> u32 {
    if by == 0 { if ones { u32::MAX } else { 0 } } else { lsl(value, 32 - by, ones) }
}

/// Folds a word to the number of bits that the last four bits of `how` ask for.
pub(super) fn hash(value: u32, how: u32) -> u32 {
    let how = how & 15;
    let bits = (how >> 2).wrapping_add(7);
    let mask = 1_u32.checked_shl(bits).map_or(u32::MAX, |end| end - 1);
    let part = |shift: u32| value.checked_shr(shift).unwrap_or(0) & mask;
    let third = if how & 1 == 1 { part(bits.saturating_mul(2)) } else { 0 };
    value & mask ^ part(bits) ^ third
}

/// One in each byte in which two words agree.
pub(super) fn cmpb4(a: u32, b: u32) -> u32 {
    let same = a.to_le_bytes().into_iter().zip(b.to_le_bytes()).map(|(a, b)| u8::from(a == b));
    same.rev().fold(0, |word, byte| word << 8 | u32::from(byte))
}

/// The largest or smallest number, opposite to the sign of a result that overflowed.
pub(super) fn sats(value: u32) -> u32 {
    if value.cast_signed() < 0 { 0x7fff_ffff } else { 0x8000_0000 }
}

pub(super) fn low_unsigned(value: u32) -> u32 {
    value & 0xff
}

pub(super) fn high_unsigned(value: u32) -> u32 {
    value >> 8 & 0xff
}

pub(super) fn low_signed(value: u32) -> u32 {
    (value << 24).cast_signed().wrapping_shr(24).cast_unsigned()
}

pub(super) fn high_signed(value: u32) -> u32 {
    (value << 16).cast_signed().wrapping_shr(24).cast_unsigned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_carry_and_overflow_as_arithmetic_does() {
        let values = [0, 1, 2, 0x7fff_ffff, 0x8000_0000, 0xffff_fffe, 0xffff_ffff];
        for a in values {
            for b in values {
                let sub = Sum::of(Kind::Sub, a, b, false).unwrap();
                assert_eq!((sub.result, sub.carry), (a.wrapping_sub(b), a >= b));
                assert_eq!(sub.overflow, a.cast_signed().checked_sub(b.cast_signed()).is_none());
                let add = Sum::of(Kind::Add, a, b, false).unwrap();
                assert_eq!((add.result, add.carry), a.overflowing_add(b));
                assert_eq!(add.overflow, a.cast_signed().checked_add(b.cast_signed()).is_none());
                let seen =
                    |result| Seen { kind: Kind::Sub, a, b, result, zero: false, carry: false };
                let seen = seen(sub.result);
                assert_eq!(holds(Condition::Lts, &seen), a.cast_signed() < b.cast_signed());
                assert_eq!(holds(Condition::Gts, &seen), a.cast_signed() > b.cast_signed());
                assert_eq!(holds(Condition::Leu, &seen), a <= b);
            }
        }
    }

    #[test]
    fn shifts_over_two_words_give_the_bits_that_leave_one() {
        assert_eq!(lslx(0x8000_0001, 4, false), 8);
        assert_eq!(lsrx(0x8000_0001, 4, false), 0x1000_0000);
        assert_eq!(lslx(5, 0, true), u32::MAX);
        assert_eq!(lsr(0, 1, true), 0x8000_0000);
        assert_eq!(lsl(0, 3, true), 7);
        assert_eq!(cmpb4(0x0102_0304, 0xff02_ff04), 0x0001_0001);
        assert_eq!(low_signed(0x80), 0xffff_ff80);
        assert_eq!(high_signed(0x80ff), 0xffff_ff80);
    }
}
