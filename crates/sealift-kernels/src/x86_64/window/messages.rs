//! Messages for tests of kernels, with what the model makes of them.

use core::ptr;

use sealift_core::{MAX_NONCE_BYTES, Op, Slot, SlotTag, SlotText, Status};

use super::item::{Class, Item, KeyForm};
use crate::{Path, Schedule, process};

/// SplitMix64.
pub(in crate::x86_64) struct Random(pub(in crate::x86_64) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below another.
    pub(in crate::x86_64) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() >> 32).unwrap() % end
    }

    fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.next().to_le_bytes()[0]).collect()
    }

    /// A length of so many blocks, the last of them whole or in part.
    fn length(&mut self, blocks: usize) -> usize {
        if self.below(3) == 0 { 16 * blocks } else { (16 * blocks).saturating_sub(self.below(16)) }
    }
}

/// A message with what the model makes of it.
#[derive(Clone)]
pub(in crate::x86_64) struct Message {
    key: Vec<u8>,
    nonce: Vec<u8>,
    aad: Vec<u8>,
    text: Vec<u8>,
    sealed: Vec<u8>,
    pub(in crate::x86_64) tag: Vec<u8>,
}

impl Message {
    /// One of a class.
    pub(in crate::x86_64) fn new(random: &mut Random, class: &Class) -> Message {
        let key = random.bytes(4 * (class.rounds - 6));
        Message::under(key, random, class)
    }

    /// The same under a key.
    fn under(key: Vec<u8>, random: &mut Random, class: &Class) -> Message {
        let aad = random.length(class.aad_blocks);
        let text = random.length(class.text_blocks);
        let nonce = if class.has_plain_nonces { 12 } else { 1 + random.below(MAX_NONCE_BYTES) };
        let mut message = Message {
            key,
            nonce: random.bytes(nonce),
            aad: random.bytes(aad),
            text: random.bytes(text),
            sealed: vec![0; text],
            tag: vec![0; class.tag_bytes],
        };
        let schedule = Schedule::from_raw(Path::Model, &message.key).unwrap();
        let text = SlotText::Apart { input: &message.text, output: &mut message.sealed };
        let (nonce, aad) = (&message.nonce, &message.aad);
        let tag = SlotTag::Write(&mut message.tag);
        assert_eq!(
            process(Path::Model, &schedule, Slot { op: Op::Seal, nonce, aad, text, tag }),
            Status::Ok
        );
        message
    }

    /// Another one of a class under its key.
    pub(in crate::x86_64) fn another(&self, random: &mut Random, class: &Class) -> Message {
        Message::under(self.key.clone(), random, class)
    }

    /// One bit of one of its parts is another.
    pub(in crate::x86_64) fn spoilt(&self, random: &mut Random) -> Message {
        let mut message = self.clone();
        let parts = [&mut message.tag, &mut message.sealed, &mut message.aad, &mut message.nonce];
        let mut parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        let part = random.below(parts.len());
        let byte = random.below(parts[part].len());
        parts[part][byte] ^= 1 << random.below(8);
        message
    }
}

/// Output, tag and status of a message.
type Worked = (Vec<u8>, Vec<u8>, Status);

/// What a kernel makes of messages, given their items; keys are expanded for a path.
fn work(
    path: Path,
    kernel: impl FnOnce(&[Item]),
    class: &Class,
    messages: &[Message],
    in_place: bool,
) -> Vec<Worked> {
    let schedules: Vec<_> =
        messages.iter().map(|message| Schedule::from_raw(path, &message.key).unwrap()).collect();
    let seals = class.op == Op::Seal;
    let mut results: Vec<_> = messages
        .iter()
        .map(|message| {
            let input = if seals { &message.text } else { &message.sealed };
            let output = if in_place { input.clone() } else { vec![0xee; input.len()] };
            let tag = if seals { vec![0xee; class.tag_bytes] } else { message.tag.clone() };
            (output, tag, Status::Ok)
        })
        .collect();
    let place_of = |key: &Vec<u8>| messages.iter().position(|message| message.key == *key).unwrap();
    let items: Vec<_> = messages
        .iter()
        .zip(&mut results)
        .map(|(message, (output, tag, status))| {
            let input = if seals { &message.text } else { &message.sealed };
            let output = output.as_mut_ptr();
            Item {
                input: if in_place { output } else { input.as_ptr() },
                output: if class.op == Op::Verify { ptr::null_mut() } else { output },
                tag: tag.as_mut_ptr(),
                nonce: message.nonce.as_ptr(),
                aad: message.aad.as_ptr(),
                key: match class.keys {
                    KeyForm::Raw => message.key.as_ptr(),
                    _ => schedules[place_of(&message.key)].address(),
                },
                status,
                text_bytes: u32::try_from(input.len()).unwrap(),
                aad_bytes: u16::try_from(message.aad.len()).unwrap(),
                nonce_bytes: u8::try_from(message.nonce.len()).unwrap(),
                op: class.op,
            }
        })
        .collect();
    kernel(&items);
    results
}

/// Lets a kernel work messages, of which some are wrong, and compares what becomes of them.
pub(in crate::x86_64) fn check(
    path: Path,
    kernel: impl FnOnce(&[Item]),
    class: &Class,
    messages: &[Message],
    wrong: &[bool],
    in_place: bool,
) {
    let results = work(path, kernel, class, messages, in_place);
    for (i, ((output, tag, status), message)) in results.iter().zip(messages).enumerate() {
        let of = || format!("message {i} of {}, in place {in_place}, {class:?}", messages.len());
        assert_eq!(*status, if wrong[i] { Status::AuthFailed } else { Status::Ok }, "{}", of());
        let untouched = if in_place { &message.sealed } else { &vec![0xee; message.text.len()] };
        let (text, expected_tag) = match class.op {
            Op::Seal => (&message.sealed, &message.tag),
            Op::Verify => (untouched, &message.tag),
            Op::Open if wrong[i] => (&vec![0; message.text.len()], &message.tag),
            Op::Open => (&message.text, &message.tag),
        };
        assert!(output == text, "text of {}", of());
        assert!(tag == expected_tag, "tag of {}", of());
    }
}
