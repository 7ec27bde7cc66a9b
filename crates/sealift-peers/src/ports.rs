//! What the units for AES and multiplication allow: no arm that encrypts by the same instructions is faster.

use crate::messages::{MessageKeys, PreparedMessages};
use crate::timed::{self, Timed};
use sealift_probes::{Arm, ArmError, Done, Load, Part, Ports};
use std::hint::black_box;

/// The rounds of AES and the products of GHASH that messages have, on registers alone; none where the
/// processor has no such units.
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
        (0..set.len()).for_each(|at| add(&mut load, set, at, keys));
    }
    let lanes = ports.lanes as u64;
    let load = Load { rounds: load.rounds / lanes, products: load.products / lanes };
    let pass = Pass { ports, load, done: timed::done(messages, 1) };
    let arm = Timed::unchecked(ports.detail.to_owned(), vec![pass]);
    Some(arm.map(|arm| Box::new(arm) as Box<dyn Arm>))
}

struct Pass {
    ports: Ports,
    load: Load,
    done: Done,
}

/// Adds those of a message, as if blocks filled registers: of its first counter, and of the hash key where
/// the key is fresh; four products a block that is hashed, the lengths too, and one for the remainder.
fn add(load: &mut Load, set: &PreparedMessages, at: usize, keys: &[Vec<u8>]) {
    let blocks = |bytes: usize| bytes.div_ceil(16) as u64;
    let text = blocks(set.texts.get(at).len());
    let (key_bytes, of_key) = match &set.keys {
        MessageKeys::Installed(of) => (keys[of[at] as usize].len(), 0),
        MessageKeys::Fresh(raw) => (raw.get(at).len(), 1),
    };
    load.rounds += (text + 1 + of_key) * (key_bytes as u64 / 4 + 6);
    load.products += 4 * (blocks(set.aads.get(at).len()) + text + 1) + 1;
}

impl Part for Pass {
    fn work(&mut self, times: usize) -> Result<Done, ArmError> {
        let many = times as u64;
        let Load { rounds, products } = self.load;
        let load = Load { rounds: rounds * many, products: products * many };
        black_box(self.ports.work(load));
        let Done { operations, bytes } = self.done;
        Ok(Done { operations: operations * many, bytes: bytes * many })
    }

    fn check(&mut self) -> Result<(), ArmError> {
        Ok(())
    }
}
