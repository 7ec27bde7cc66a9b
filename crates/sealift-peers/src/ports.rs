//! The vector instructions of messages alone: no arm that encrypts by the same ones is faster.

use crate::messages::{MessageKeys, PreparedMessages};
use crate::timed::{self, Timed};
use sealift_probes::{Arm, ArmError, Done, Load, Part, Ports};
use std::hint::black_box;

/// The rounds of AES and the products of GHASH that messages have, and the sums and shuffles that go with them, without
/// memory; none where the processor has no such units.
///
/// # Errors
/// The thread couldn't be started.
pub fn arm(
    messages: &[PreparedMessages],
    keys: &[Vec<u8>],
) -> Option<Result<Box<dyn Arm>, ArmError>> {
    let ports = Ports::widest()?;
    let mut load = Load::default();
    for set in messages {
        (0..set.len()).for_each(|at| add(&mut load, ports, set, at, keys));
    }
    let lanes = ports.lanes as u64;
    let load = each(load, |blocks| blocks / lanes);
    let pass = Pass { ports, load, done: timed::done(messages, 1) };
    let arm = Timed::unchecked(ports.detail.to_owned(), vec![pass]);
    Some(arm.map(|arm| Box::new(arm) as Box<dyn Arm>))
}

struct Pass {
    ports: Ports,
    load: Load,
    done: Done,
}

/// Adds those of a message, as if blocks filled registers. A block that is encrypted has its counter added, the first round
/// key and the text; of a fresh key the block of zeros has none of these. The block of lengths is hashed too, and the hash has
/// one product more, for the remainder.
fn add(load: &mut Load, ports: Ports, set: &PreparedMessages, at: usize, keys: &[Vec<u8>]) {
    let blocks = |bytes: usize| bytes.div_ceil(16) as u64;
    let text = blocks(set.texts.get(at).len());
    let (key_bytes, of_key) = match &set.keys {
        MessageKeys::Installed(of) => (keys[of[at] as usize].len(), 0),
        MessageKeys::Fresh(raw) => (raw.get(at).len(), 1),
    };
    let hashed = blocks(set.aads.get(at).len()) + text + 1;
    load.rounds += (text + 1 + of_key) * (key_bytes as u64 / 4 + 6);
    load.products += hashed * ports.hashed.products + 1;
    load.sums += hashed * ports.hashed.sums + 3 * (text + 1);
    load.shuffles += hashed * ports.hashed.shuffles;
}

fn each(load: Load, number: impl Fn(u64) -> u64) -> Load {
    let Load { rounds, products, sums, shuffles } = load;
    let [rounds, products, sums, shuffles] = [rounds, products, sums, shuffles].map(number);
    Load { rounds, products, sums, shuffles }
}

impl Part for Pass {
    fn work(&mut self, times: usize) -> Result<Done, ArmError> {
        let many = times as u64;
        let load = each(self.load, |instructions| instructions * many);
        black_box(self.ports.work(load));
        let Done { operations, bytes } = self.done;
        Ok(Done { operations: operations * many, bytes: bytes * many })
    }

    fn check(&mut self) -> Result<(), ArmError> {
        Ok(())
    }
}
