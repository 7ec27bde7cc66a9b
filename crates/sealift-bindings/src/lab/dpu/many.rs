//! Messages with a key each on one simulated DPU, compared with AWS-LC's.

use super::check::{NONCE, sealed_by};
use super::input;
use super::kernels::{DpuKernelRun, finish, loaded, wrong};
use crate::errors::{Failure, Outcome};
use crate::gil;
use dpu_sim::kernels::Division;
use dpu_sim::kernels::many::{self, Layout, Message, Operation};
use dpu_sim::{Region, Timing};
use pyo3::prelude::*;
use sealift::Engine;

/// Which messages, and how they are worked.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Asked {
    key_bits: usize,
    decrypts: bool,
    tasklets: u32,
    chunk_bytes: u32,
    messages: usize,
    message_bytes: usize,
    hazard: bool,
}

/// Seals or opens messages with a key each on one simulated DPU and compares what it gives.
///
/// Keys are expanded on the DPU. It looks for Ctrl-C ten times a second.
///
/// Args:
///     asked: A mapping with all of key_bits (128, 192, 256), decrypts, tasklets (1 to 24),
///         chunk_bytes (a power of two from 32 to 2,048), messages, message_bytes (of each text),
///         hazard (whether registers that meet in a bank cost a cycle).
///
/// Raises:
///     InputError: If a number can't be, or the messages don't fit into 64 MiB.
///     WrongResultError: If a text or a tag is wrong.
#[pyfunction]
pub(crate) fn run_dpu_messages(py: Python<'_>, asked: Bound<'_, PyAny>) -> Outcome<DpuKernelRun> {
    let asked: Asked = asked.extract()?;
    let Asked { key_bits, messages, message_bytes, .. } = asked;
    if ![128, 192, 256].contains(&key_bits) {
        let told = format!("key_bits is {key_bits}: give 128, 192 or 256");
        return Err(Failure::Input(told));
    }
    // A message of no bytes takes room, too.
    let bytes = messages.saturating_mul(message_bytes.saturating_add(TAG_BYTES)) as u64;
    if messages == 0 || bytes > dpu_sim::MRAM_BYTES {
        let told = format!(
            "{messages} messages of {message_bytes} bytes: give 1 to 64 MiB in all, with tags of {TAG_BYTES}"
        );
        return Err(Failure::Input(told));
    }
    let division = Division::new(asked.tasklets, asked.chunk_bytes).map_err(input)?;
    gil::leave(py, || asked.run(division))
}

impl Asked {
    fn run(&self, division: Division) -> Outcome<DpuKernelRun> {
        let plain: Vec<u8> = (0..self.message_bytes).map(|at| (at * 7).to_le_bytes()[0]).collect();
        let keys: Vec<_> = (0..self.messages).map(|number| self.key(number)).collect();
        let engine = Engine::with(&["library"]).map_err(input)?;
        let truth = keys.iter().map(|key| sealed_by(&engine, key, &[], &plain));
        let truth = truth.collect::<Result<Vec<_>, _>>().map_err(Failure::Input)?;
        let texts = |number: usize| truth[number].split_at(self.message_bytes);
        let operation = if self.decrypts { Operation::Open } else { Operation::Seal };
        let asked: Vec<_> = (0..self.messages)
            .map(|key| {
                let text = if self.decrypts { texts(key).0 } else { plain.as_slice() };
                Message { operation, key, nonce: &NONCE, aad: &[], text }
            })
            .collect();
        let keys: Vec<_> = keys.iter().map(Vec::as_slice).collect();
        let layout = Layout::new(&keys, &asked).map_err(input)?;
        let timing = Timing { hazard: self.hazard, ..Timing::default() };
        let mut dpu = loaded(&many::program(division), timing)?;
        dpu.write(Region::Mram, 0, layout.image()).map_err(input)?;
        finish(&mut dpu)?;
        let places = layout.places();
        let mut results = vec![0; places.results_bytes()];
        dpu.read(Region::Mram, many::RESULTS_AT.into(), &mut results).map_err(input)?;
        for number in 0..self.messages {
            let (ciphertext, tag) = texts(number);
            let right = if self.decrypts { plain.as_slice() } else { ciphertext };
            if &results[places.text(number)] != right || places.tag(number, &results) != tag {
                return Err(wrong(format!("message {number}, or its tag, is wrong")));
            }
        }
        let mut run = DpuKernelRun::of(&dpu);
        run.checked_against = "AWS-LC".to_owned();
        Ok(run)
    }

    fn key(&self, number: usize) -> Vec<u8> {
        let number = (number as u64).to_le_bytes();
        (0..self.key_bits / 8).map(|at| number.get(at).copied().unwrap_or(0x5a)).collect()
    }
}

const TAG_BYTES: usize = 16;
