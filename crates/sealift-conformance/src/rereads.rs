//! Bytes that change between two reads: a byte is flipped at the moment a later one is read first. Who reads each byte
//! once doesn't notice; who authenticates and then reads again to decrypt gives wrong plaintext.
//!
//! `race` sees the same only when a thread happens to write at the right moment.

use crate::compare::{grouped, seal_truths};
use crate::ffi::Wired;
use crate::message_bytes::MessageBytes;
use crate::random::Random;
use crate::recipe::{Longest, Recipe};
use crate::subject::Subject;
use bytes::Bytes;
use sealift_core::{Output, Place, Status, TagLength, Work};
use std::sync::Arc;

/// Shorter and longer than what devices read in one go, the longer with a part of a block behind whole steps.
const SIZES: [usize; 2] = [300, 8_204];
const AAD: usize = 40;
const MESSAGES: [usize; 2] = [1, 9];
/// How far before the byte whose reading changes it a byte is: within and beyond registers, loops, and the stretches that
/// libraries hash at a time.
const DISTANCES: [usize; 12] = [1, 16, 17, 33, 64, 65, 96, 130, 200, 250, 1_000, 3_000];

/// Opens while a byte goes from right to wrong, and from wrong to right.
pub(crate) fn check(subject: &Subject) -> Result<String, String> {
    let (mut opened, mut failed) = (0, 0);
    let mut random = Random::new(subject.seed, 10);
    let (sizes, counts) = if subject.is_slow() { (1, 1) } else { (SIZES.len(), MESSAGES.len()) };
    for size in SIZES.into_iter().take(sizes).map(|size| subject.text_bytes(size)) {
        let recipe = Recipe::new(subject, 1, &mut random);
        let mut seals = recipe.seals(1, Longest { text: 0, aad: 0 }, &mut random);
        let message = &mut seals.messages[0];
        (message.text, message.aad) = (random.bytes(size), random.bytes(AAD));
        (message.nonce, seals.tag_length) = (random.bytes(12), TagLength::FULL);
        seal_truths(&*subject.oracle, &mut seals)?;
        let message = MessageBytes::new(&seals.opening());
        for trial in trials(&message, &MESSAGES[..counts]) {
            let oks = open(subject, &message, trial)
                .map_err(|fault| format!("{size} B, {trial:?}: {fault}"))?;
            (opened, failed) = (opened + oks, failed + trial.messages - oks);
        }
        recipe.ring.retire_all(&*subject.device);
    }
    Ok(format!("{} right, {} failed", grouped(opened), grouped(failed)))
}

#[derive(Clone, Copy, Debug)]
struct Trial {
    messages: usize,
    raw_keys: bool,
    /// The byte whose reading changes another, counted from the key's first.
    wire: usize,
    changes: usize,
    /// Whether the change makes it right.
    mends: bool,
}

fn trials(message: &MessageBytes, counts: &[usize]) -> Vec<Trial> {
    let mut trials = vec![];
    for (wire, changes) in wires(message) {
        for &messages in counts {
            for raw_keys in [false, true] {
                for mends in [false, true] {
                    trials.push(Trial { messages, raw_keys, wire, changes, mends });
                }
            }
        }
    }
    trials
}

/// Pairs of bytes: in the text, and one of key, nonce and aad each with the text's first.
fn wires(message: &MessageBytes) -> Vec<(usize, usize)> {
    let [key, nonce, aad, text, tag] = message.parts.clone();
    let first = [key, nonce, aad].map(|part| (text.start, part.start));
    let size = text.len();
    let within = [size / 3, size / 2, size - size / 5, size - 1].map(|at| text.start + at);
    let mut wires = first.to_vec();
    for wire in within.into_iter().chain([tag.start]) {
        let before = DISTANCES.into_iter().filter_map(|distance| wire.checked_sub(distance));
        wires.extend(before.filter(|at| text.contains(at)).map(|changes| (wire, changes)));
    }
    wires
}

/// How many of a batch opened.
fn open(subject: &Subject, message: &MessageBytes, trial: Trial) -> Result<usize, String> {
    const MASK: u8 = 0x10;
    let Trial { messages, raw_keys, wire, changes, mends } = trial;
    let mut bytes = message.bytes.clone();
    if mends {
        bytes[changes] ^= MASK;
    }
    let memory = Arc::new(Wired::holding(&bytes, wire));
    let input = Bytes::from_owner(Shared(memory.clone()));
    let batch = message.batch(&input, raw_keys, subject.messages(messages));
    let size = message.text_bytes();
    let (mut out, mut status) =
        (vec![0xa5; size * batch.len], vec![Status::NotProcessed; batch.len]);
    let output =
        Output { text: Place::fixed(&mut out, size), tags: Place::Empty, status: &mut status };
    let mut work = Work::new(&batch, output, &*message.ring).map_err(|error| error.to_string())?;
    let armed = memory.arm(changes, MASK);
    let ran = subject.device.run(&mut work);
    let is_sprung = armed.is_sprung();
    drop(armed);
    ran.map_err(|error| error.to_string())?;
    if !is_sprung {
        return Err(format!("byte {wire} was not read by the process itself"));
    }
    let results = status.iter().zip(out.chunks(size));
    let opened: Result<Vec<_>, _> =
        results.map(|(status, text)| message.opened(*status, text)).collect();
    Ok(opened?.into_iter().filter(|opened| *opened).count())
}

/// Keeps the memory for as long as a batch has it.
struct Shared(Arc<Wired>);

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        (*self.0).as_ref()
    }
}
