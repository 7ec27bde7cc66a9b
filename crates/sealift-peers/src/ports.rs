//! What the vector units allow: no arm that encrypts by the same instructions is faster.

use crate::messages::{MessageKeys, PreparedMessages};
use crate::timed::{self, Timed};
use sealift_probes::{Arm, ArmError, Done, Load, Part, Ports};
use std::hint::black_box;

/// The rounds of AES and the products of GHASH that messages have, and the sums and shuffles that go with them, on registers
/// alone; none where the processor has no such units.
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
    let [rounds, products, others] =
        [load.rounds, load.products, load.others].map(|blocks| blocks / ports.lanes as u64);
    let load = Load { rounds, products, others };
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
/// the key is fresh; four products a block that is hashed, the lengths too, and one for the remainder. A block that is
/// encrypted takes a sum for its counter, one for the first round key and one for the text; a block that is hashed is turned
/// around and its products are summed.
fn add(load: &mut Load, ports: Ports, set: &PreparedMessages, at: usize, keys: &[Vec<u8>]) {
    let blocks = |bytes: usize| bytes.div_ceil(16) as u64;
    let text = blocks(set.texts.get(at).len());
    let (key_bytes, of_key) = match &set.keys {
        MessageKeys::Installed(of) => (keys[of[at] as usize].len(), 0),
        MessageKeys::Fresh(raw) => (raw.get(at).len(), 1),
    };
    let (encrypted, hashed) = (text + 1 + of_key, blocks(set.aads.get(at).len()) + text + 1);
    load.rounds += encrypted * (key_bytes as u64 / 4 + 6);
    load.products += 4 * hashed + 1;
    load.others += 3 * encrypted + (1 + ports.sums_of_products) * hashed;
}

impl Part for Pass {
    fn work(&mut self, times: usize) -> Result<Done, ArmError> {
        let many = times as u64;
        let Load { rounds, products, others } = self.load;
        let load = Load { rounds: rounds * many, products: products * many, others: others * many };
        black_box(self.ports.work(load));
        let Done { operations, bytes } = self.done;
        Ok(Done { operations: operations * many, bytes: bytes * many })
    }

    fn check(&mut self) -> Result<(), ArmError> {
        Ok(())
    }
}
