//! Instructions as the interpreter wants them.

use crate::isa::{Condition, Instruction, Operand};

/// A decoded instruction, as small as that goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Op {
    pub(super) kind: Kind,
    /// What `Kind::Checked` does once it has checked.
    pub(super) inner: Kind,
    /// Which of `Simple` it is.
    pub(super) simple: Simple,
    /// What happens with the condition.
    pub(super) then: Then,
    pub(super) condition: Condition,
    /// How the result is extended.
    pub(super) extend: Extend,
    /// Numbers of registers; see `Tasklet::registers`.
    pub(super) destination: u8,
    pub(super) a: u8,
    pub(super) b: u8,
    pub(super) shift: u8,
    pub(super) big: bool,
    /// What a store writes.
    pub(super) stored: Stored,
    /// Where a jump goes; what a store writes, where that is a number; from which bits on a product takes its bytes.
    pub(super) target: u16,
    pub(super) immediate: u32,
}

/// What most instructions of most programs are: a word out of two, no jump.
///
/// IMPLEMENTATION NOTE: tasklets are out of step, so which instruction comes next cannot be predicted, and a jump to the code
/// for it is mostly mispredicted. These are all computed, and one result taken, without a jump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Simple {
    Xor,
    And,
    Or,
    Product,
    Right,
    Left,
    Load,
    Add,
    /// Something else.
    No,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Then {
    Next,
    JumpIf,
    SetIf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extend {
    /// One register.
    No,
    /// A pair: the even register takes the sign.
    Signed,
    /// A pair: the even register is zero.
    Unsigned,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stored {
    Register,
    Number,
    /// The number, or'ed with the tasklet's.
    WithId,
}

/// The register that is always zero.
pub(super) const ZERO: u8 = 24;
/// Where dropped results go; takes a pair.
pub(super) const SINK: u8 = 32;

/// What an instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[rustfmt::skip]
pub(super) enum Kind {
    Add, AddC, Sub, SubC, RSub, RSubC, And, Andn, Nand, Or, Orn, Nor, Xor, Nxor, Hash, Cmpb4,
    Asr, Lsl, Lsl1, Lsl1x, Lslx, Lsr, Lsr1, Lsr1x, Lsrx, Rol, Ror, LslAdd, LslSub, LsrAdd, RolAdd,
    Cao, Clo, Cls, Clz, Extsb, Extsh, Extub, Extuh, Sats,
    MulUlUl, MulUlUh, MulUhUl, MulUhUh, MulSlUl, MulSlUh, MulShUl, MulShUh, MulSlSl, MulSlSh, MulShSl, MulShSh,
    MulStep, DivStep, Movd, Swapd,
    Lbs, Lbu, Lhs, Lhu, Lw, Ld, Sb, Sh, Sw, Sd, Ldma, Ldmai, Sdma,
    Call, Acquire, Release, Boot, Resume, ClrRun, ReadRun, Stop, Time, TimeCfg, Tell, Nop, Fault, Breakpoint,
    /// One of the others, with a pointer whose upper half says where what it points into ends.
    Checked,
    /// No instruction at all.
    Invalid,
}

impl Op {
    /// A word that is no instruction.
    pub(super) const INVALID: Self = Self::plain(Kind::Invalid);

    const fn plain(kind: Kind) -> Self {
        Self {
            kind,
            inner: Kind::Nop,
            simple: Simple::No,
            then: Then::Next,
            condition: Condition::False,
            extend: Extend::No,
            destination: SINK,
            a: ZERO,
            b: ZERO,
            shift: 0,
            big: false,
            stored: Stored::Register,
            target: 0,
            immediate: 0,
        }
    }

    /// Prepares an instruction.
    pub(super) fn new(instruction: &Instruction) -> Self {
        let form = instruction.form();
        let (name, extension) = split(form.mnemonic());
        let mut op = Self::INVALID;
        op.extend = extension;
        let mut only_b = true;
        let stores = name.starts_with('s') && form.suffix().contains("ii");
        for (slot, &value) in form.slots().iter().zip(instruction.operands()) {
            let byte = value.to_le_bytes()[0];
            match slot.operand {
                Operand::Destination | Operand::DestinationPair => op.destination = byte,
                Operand::SourceA => (op.a, only_b) = (byte, false),
                Operand::SourceB | Operand::PairB => op.b = byte,
                Operand::Condition(_) if form.suffix().ends_with('i') => op.then = Then::JumpIf,
                Operand::Condition(_) => op.then = Then::SetIf,
                Operand::Immediate if stores => {
                    (op.target, op.stored) = (half(value), Stored::Number);
                }
                Operand::Target => op.target = half(value),
                Operand::Immediate | Operand::Offset | Operand::DmaLength => {
                    op.immediate = low(value);
                }
                Operand::Shift => op.shift = byte,
                Operand::Endian => op.big = byte == 1,
            }
        }
        if only_b && takes_b_for_a(name) {
            (op.a, op.b) = (op.b, ZERO);
        }
        op.conditions(instruction, name);
        op.finish(instruction, name);
        op.simplify();
        op
    }

    fn simplify(&mut self) {
        if self.then != Then::Next || self.extend != Extend::No || self.big {
            return;
        }
        let product = |a: u16, b: u16| (Simple::Product, b << 8 | a);
        (self.simple, self.target) = match self.kind {
            Kind::Xor => (Simple::Xor, 0),
            Kind::And => (Simple::And, 0),
            Kind::Or => (Simple::Or, 0),
            Kind::Lsr => (Simple::Right, 0),
            Kind::Lsl => (Simple::Left, 0),
            Kind::Lw => (Simple::Load, 0),
            Kind::Add => (Simple::Add, 0),
            Kind::MulUlUl => product(0, 0),
            Kind::MulUhUl => product(8, 0),
            Kind::MulUlUh => product(0, 8),
            Kind::MulUhUh => product(8, 8),
            _ => (Simple::No, self.target),
        };
    }

    fn conditions(&mut self, instruction: &Instruction, name: &str) {
        if let Some(condition) = instruction.condition() {
            self.condition = condition;
        }
        if let Some(condition) = name.strip_prefix('j').and_then(Condition::named) {
            (self.condition, self.then) = (condition, Then::JumpIf);
        }
    }

    fn finish(&mut self, instruction: &Instruction, name: &str) {
        let reversed = instruction.form().suffix().contains("ir");
        self.kind = kind(name).unwrap_or(Kind::Invalid);
        if let Some(inner) = checked(name) {
            (self.kind, self.inner) = (Kind::Checked, inner);
        }
        match (name, self.kind) {
            ("sub", _) if reversed => self.kind = Kind::RSub,
            ("subc", _) if reversed => self.kind = Kind::RSubC,
            ("not", _) => self.immediate = u32::MAX,
            (_, Kind::Sb | Kind::Sh | Kind::Sw | Kind::Sd) if name.ends_with("_id") => {
                self.stored = Stored::WithId;
            }
            _ => {}
        }
    }
}

/// `add.s` is `add`, extended.
fn split(mnemonic: &str) -> (&str, Extend) {
    match mnemonic.rsplit_once('.') {
        Some((name, "s")) => (name, Extend::Signed),
        Some((name, _)) => (name, Extend::Unsigned),
        None => (mnemonic, Extend::No),
    }
}

/// The forms whose only register is encoded where the second one usually is.
fn takes_b_for_a(name: &str) -> bool {
    !matches!(name, "movd" | "swapd")
}

fn low(value: i64) -> u32 {
    let [a, b, c, d, ..] = value.to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}

fn half(value: i64) -> u16 {
    let [a, b, ..] = value.to_le_bytes();
    u16::from_le_bytes([a, b])
}

/// What an instruction with a checked pointer does besides.
fn checked(name: &str) -> Option<Kind> {
    let plain = name.strip_suffix('s')?;
    let is = matches!(
        plain,
        "add" | "sub" | "lbs" | "lbu" | "lhs" | "lhu" | "lw" | "ld" | "sb" | "sh" | "sw" | "sd"
    );
    if is { kind(plain) } else { None }
}

#[rustfmt::skip]
fn kind(name: &str) -> Option<Kind> {
    Some(match name {
        "add" => Kind::Add, "addc" => Kind::AddC, "sub" => Kind::Sub, "subc" => Kind::SubC,
        "rsub" | "neg" => Kind::RSub, "rsubc" => Kind::RSubC,
        "and" => Kind::And, "andn" => Kind::Andn, "nand" => Kind::Nand, "or" | "move" => Kind::Or, "orn" => Kind::Orn,
        "nor" => Kind::Nor, "xor" | "not" => Kind::Xor, "nxor" => Kind::Nxor, "hash" => Kind::Hash, "cmpb4" => Kind::Cmpb4,
        "asr" => Kind::Asr, "lsl" => Kind::Lsl, "lsl1" => Kind::Lsl1, "lsl1x" => Kind::Lsl1x, "lslx" => Kind::Lslx,
        "lsr" => Kind::Lsr, "lsr1" => Kind::Lsr1, "lsr1x" => Kind::Lsr1x, "lsrx" => Kind::Lsrx, "rol" => Kind::Rol,
        "ror" => Kind::Ror, "lsl_add" => Kind::LslAdd, "lsl_sub" => Kind::LslSub, "lsr_add" => Kind::LsrAdd,
        "rol_add" => Kind::RolAdd, "cao" => Kind::Cao, "clo" => Kind::Clo, "cls" => Kind::Cls, "clz" => Kind::Clz,
        "extsb" => Kind::Extsb, "extsh" => Kind::Extsh, "extub" => Kind::Extub, "extuh" => Kind::Extuh,
        "sats" => Kind::Sats, "mul_ul_ul" => Kind::MulUlUl, "mul_ul_uh" => Kind::MulUlUh, "mul_uh_ul" => Kind::MulUhUl,
        "mul_uh_uh" => Kind::MulUhUh, "mul_sl_ul" => Kind::MulSlUl, "mul_sl_uh" => Kind::MulSlUh,
        "mul_sh_ul" => Kind::MulShUl, "mul_sh_uh" => Kind::MulShUh, "mul_sl_sl" => Kind::MulSlSl,
        "mul_sl_sh" => Kind::MulSlSh, "mul_sh_sl" => Kind::MulShSl, "mul_sh_sh" => Kind::MulShSh,
        "mul_step" => Kind::MulStep, "div_step" => Kind::DivStep, "movd" => Kind::Movd, "swapd" => Kind::Swapd,
        "lbs" => Kind::Lbs, "lbu" => Kind::Lbu, "lhs" => Kind::Lhs, "lhu" => Kind::Lhu, "lw" => Kind::Lw, "ld" => Kind::Ld,
        "sb" | "sb_id" => Kind::Sb, "sh" | "sh_id" => Kind::Sh, "sw" | "sw_id" => Kind::Sw, "sd" | "sd_id" => Kind::Sd,
        "ldma" => Kind::Ldma, "ldmai" => Kind::Ldmai, "sdma" => Kind::Sdma, "call" | "jump" => Kind::Call,
        "acquire" => Kind::Acquire, "release" => Kind::Release, "boot" => Kind::Boot, "resume" => Kind::Resume,
        "clr_run" => Kind::ClrRun, "read_run" => Kind::ReadRun, "stop" => Kind::Stop, "time" => Kind::Time,
        "time_cfg" => Kind::TimeCfg, "tell" => Kind::Tell, "nop" => Kind::Nop, "fault" => Kind::Fault,
        "bkp" => Kind::Breakpoint,
        _ if name.starts_with('j') => Kind::Sub,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::forms;

    #[test]
    fn every_instruction_of_the_table_is_executed() {
        for form in forms() {
            let least: Vec<i64> = form.slots().iter().map(|slot| slot.range.0.max(0)).collect();
            let instruction = Instruction::new(form, &least).unwrap();
            assert_ne!(Op::new(&instruction).kind, Kind::Invalid, "{}", form.name());
        }
    }
}
