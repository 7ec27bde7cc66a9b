//! The vector instructions of messages alone: no arm that encrypts by the same ones is faster.

use crate::messages::{MessageKeys, PreparedMessages};
use crate::timed::{self, Timed};
use sealift_probes::{Arm, ArmError, Done, Load, Part, Ports};
use std::hint::black_box;

/// What encrypting and hashing messages takes, without memory; none where the processor has no such units.
///
/// # Errors
/// The thread couldn't be started.
pub fn arm(
    messages: &[PreparedMessages],
    keys: &[Vec<u8>],
) -> Option<Result<Box<dyn Arm>, ArmError>> {
    let ports = Ports::widest()?;
    // For keys of each length, in quarters of a block.
    let mut loads = [10, 12, 14].map(|rounds| Load { rounds, ..Load::default() });
    for set in messages {
        (0..set.len()).for_each(|at| add(&mut loads, set, at, keys));
    }
    let registers = |quarters| quarters / (4 * ports.lanes as u64);
    for load in &mut loads {
        (load.encrypted, load.hashed) = (registers(load.encrypted), registers(load.hashed));
    }
    let pass = Pass { ports, loads, done: timed::done(messages, 1) };
    let arm = Timed::unchecked(ports.detail.to_owned(), vec![pass]);
    Some(arm.map(|arm| Box::new(arm) as Box<dyn Arm>))
}

struct Pass {
    ports: Ports,
    loads: [Load; 3],
    done: Done,
}

/// Adds the quarters of blocks of a message, as if blocks filled registers. Its first counter is encrypted too, and of a fresh
/// key a block of zeros; the lengths are hashed too, and the last product, for the remainder, is a quarter of a block.
fn add(loads: &mut [Load; 3], set: &PreparedMessages, at: usize, keys: &[Vec<u8>]) {
    let blocks = |bytes: usize| bytes.div_ceil(16) as u64;
    let text = blocks(set.texts.get(at).len());
    let (key_bytes, of_key) = match &set.keys {
        MessageKeys::Installed(of) => (keys[of[at] as usize].len(), 0),
        MessageKeys::Fresh(raw) => (raw.get(at).len(), 1),
    };
    let load = &mut loads[key_bytes / 8 - 2];
    load.encrypted += 4 * (text + 1 + of_key);
    load.hashed += 4 * (blocks(set.aads.get(at).len()) + text + 1) + 1;
}

impl Part for Pass {
    fn work(&mut self, times: usize) -> Result<Done, ArmError> {
        let many = times as u64;
        for Load { rounds, encrypted, hashed } in self.loads {
            let load = Load { rounds, encrypted: encrypted * many, hashed: hashed * many };
            black_box(self.ports.work(load));
        }
        let Done { operations, bytes } = self.done;
        Ok(Done { operations: operations * many, bytes: bytes * many })
    }

    fn check(&mut self) -> Result<(), ArmError> {
        Ok(())
    }
}
