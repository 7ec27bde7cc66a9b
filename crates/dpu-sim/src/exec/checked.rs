//! Instructions that check their pointer.
//!
//! A pointer's lower half is the address, its upper half the end of what it points into. What is checked is what the vendor's
//! emulator checks (upmem/qemu 05622054): a byte has to lie before the end, of more bytes the next one, too.

use super::Dpu;
use super::alu::{self, Sum};
use super::fault::FaultKind;
use super::op::{Kind, Op};
use super::result::{finish, put, put_pair};

impl Dpu {
    pub(super) fn checked(
        &mut self,
        tasklet: usize,
        op: &Op,
        (a, b): (u32, u32),
    ) -> Result<(), FaultKind> {
        let plain = Op { kind: op.inner, ..*op };
        let low = a & LOW;
        match op.inner {
            Kind::Add | Kind::Sub => {
                let adds = op.inner == Kind::Add;
                let moved = if adds { low.wrapping_add(b) } else { low.wrapping_sub(b) };
                let sum = Sum::of(op.inner, a, b, false).filter(|_| moved <= LOW);
                let sum = sum.ok_or(FaultKind::Pointer { pointer: a, by: b })?;
                let state = &mut self.tasklets[tasklet];
                finish(state, &plain, (a, b), sum.result, Some(sum.carry));
            }
            Kind::Sb | Kind::Sh | Kind::Sw | Kind::Sd => {
                within(op.inner, low.wrapping_add(op.immediate), a >> 16)?;
                self.store(tasklet, &plain, low)?;
            }
            _ => {
                let address = low.wrapping_add(b);
                within(op.inner, address, a >> 16)?;
                self.load_checked(tasklet, &plain, address)?;
            }
        }
        Ok(())
    }

    fn load_checked(&mut self, tasklet: usize, op: &Op, address: u32) -> Result<(), FaultKind> {
        let state = &mut self.tasklets[tasklet];
        let value = match op.kind {
            Kind::Lbs | Kind::Lbu => {
                let [byte] = self.wram.load(address)?;
                let byte = u32::from(byte);
                if op.kind == Kind::Lbs { alu::low_signed(byte) } else { byte }
            }
            Kind::Lhs | Kind::Lhu => {
                let bytes = self.wram.load(address)?;
                let half =
                    if op.big { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) };
                let signed = i32::from(half.cast_signed()).cast_unsigned();
                if op.kind == Kind::Lhs { signed } else { u32::from(half) }
            }
            Kind::Lw => {
                let value = u32::from_le_bytes(self.wram.load(address)?);
                if op.big { value.swap_bytes() } else { value }
            }
            _ => {
                let value = u64::from_le_bytes(self.wram.load(address)?);
                put_pair(state, op.destination, if op.big { value.swap_bytes() } else { value });
                return Ok(());
            }
        };
        put(state, op, value);
        Ok(())
    }
}

/// Does an access end before the end?
fn within(kind: Kind, address: u32, limit: u32) -> Result<(), FaultKind> {
    let width = match kind {
        Kind::Lbs | Kind::Lbu | Kind::Sb => 1,
        Kind::Lhs | Kind::Lhu | Kind::Sh => 2,
        Kind::Lw | Kind::Sw => 4,
        _ => 8,
    };
    let reached = if width == 1 { address } else { address.wrapping_add(width) };
    if reached.wrapping_sub(limit).cast_signed() < 0 {
        Ok(())
    } else {
        Err(FaultKind::Limit { address, width, limit })
    }
}

const LOW: u32 = 0xffff;

#[cfg(test)]
mod tests {
    use crate::{Dpu, FaultKind, Outcome, Timing, assemble};

    fn run(source: &str) -> (Outcome, [u32; 24]) {
        let source = source.to_owned() + "\nstop\n.data\nplace: .long 0x80, 0xfedcba98, 7, 8";
        let mut dpu = Dpu::new(Timing::default());
        dpu.load(&assemble(&source).unwrap());
        dpu.boot();
        (dpu.run(100), dpu.registers(0).unwrap())
    }

    #[test]
    fn accesses_before_the_end_are_done() {
        let (outcome, r) = run("move r0, 0x100000
            lbss r1, r0, 0
            lws r2, r0, 4
            lhus !big, r3, r0, 4
            lds d4, r0, 0
            sbs r0, 15, 9
            lbus r6, r0, 15
            adds r7, r6, r0
            subs r8, r6, r7
            sws r0, 8, r2
            lws r9, r0, 8");
        assert_eq!(outcome, Outcome::Done);
        assert_eq!((r[1], r[2], r[3]), (0xffff_ff80, 0xfedc_ba98, 0x98ba));
        assert_eq!((r[4], r[5], r[6]), (0xfedc_ba98, 0x80, 9));
        assert_eq!((r[7], r[8], r[9]), (0x0010_0009, 0x0010_0000, 0xfedc_ba98));
    }

    fn fault_of(outcome: Outcome) -> crate::Fault {
        match outcome {
            Outcome::Fault(fault) => *fault,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_reaches_the_end_or_leaves_the_pointer_faults() {
        let limit = |address, width| FaultKind::Limit { address, width, limit: 16 };
        for (body, expected) in [
            ("lbus r1, r0, 16", limit(16, 1)),
            ("lws r1, r0, 12", limit(12, 4)),
            ("lds d2, r0, 8", limit(8, 8)),
            ("shs r0, 14, 1", limit(14, 2)),
            ("sds r0, 8, d2", limit(8, 8)),
            ("adds r1, r0, -1", FaultKind::Pointer { pointer: 0x10_0000, by: u32::MAX }),
            ("subs r1, r0, 1", FaultKind::Pointer { pointer: 0x10_0000, by: 1 }),
        ] {
            let (outcome, _) = run(&format!("move r0, 0x100000\n{body}"));
            assert_eq!(fault_of(outcome).kind, expected, "{body}");
        }
    }
}
