//! Against the model.

use sealift_core::{Op, Slot, SlotTag, SlotText, Status};

use super::{
    super::item::{Ahead, Class, Item, KeyForm, LONG_AAD, LONG_TEXT},
    run,
};
use crate::{HaveVaes512, Path, Schedule, process};

/// A message, and what the model makes of it.
struct Message {
    key: Vec<u8>,
    schedule: Schedule,
    nonce: [u8; 12],
    aad: Vec<u8>,
    plain: Vec<u8>,
    sealed: Vec<u8>,
    tag: [u8; 16],
}

/// A call of the kernel.
#[derive(Clone, Copy, Debug)]
struct Call {
    op: Op,
    keys: KeyForm,
    rounds: usize,
    tag_bytes: usize,
    in_place: bool,
}

/// What a call left of a message.
#[derive(Debug, PartialEq)]
struct Left {
    output: Vec<u8>,
    tag: Vec<u8>,
    status: Status,
}

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }

    fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| u8::try_from(self.below(256)).unwrap()).collect()
    }
}

impl Message {
    fn new(random: &mut Random, key: &[u8], text_bytes: usize, aad_bytes: usize) -> Message {
        let path = Path::Vaes512(HaveVaes512::check().unwrap());
        let nonce: [u8; 12] = random.bytes(12).try_into().unwrap();
        let (aad, plain) = (random.bytes(aad_bytes), random.bytes(text_bytes));
        let (mut sealed, mut tag) = (vec![0; text_bytes], [0; 16]);
        let slot = Slot {
            op: Op::Seal,
            nonce: &nonce,
            aad: &aad,
            text: SlotText::Apart { input: &plain, output: &mut sealed },
            tag: SlotTag::Write(&mut tag),
        };
        let model = Schedule::from_raw(Path::Model, key).unwrap();
        assert_eq!(process(Path::Model, &model, slot), Status::Ok);
        let schedule = Schedule::from_raw(path, key).unwrap();
        Message { key: key.to_vec(), schedule, nonce, aad, plain, sealed, tag }
    }

    /// What should be left: everything right, or for a wrong tag nothing.
    fn expected(&self, call: Call, right: bool) -> Left {
        let tag = match (call.op, right) {
            (_, true) => self.tag[..call.tag_bytes].to_vec(),
            (_, false) => vec![],
        };
        let output = match call.op {
            Op::Seal => self.sealed.clone(),
            _ if right => self.plain.clone(),
            _ => vec![0; self.plain.len()],
        };
        Left { output, tag, status: if right { Status::Ok } else { Status::AuthFailed } }
    }
}

/// What a call leaves. Before each output and behind it, and behind each tag, are bytes that stay
/// as they are.
fn left(call: Call, messages: &[Message]) -> Vec<Left> {
    let mut inputs: Vec<_> = messages
        .iter()
        .map(|m| if call.op == Op::Seal { m.plain.clone() } else { m.sealed.clone() })
        .collect();
    let mut outputs: Vec<_> = messages.iter().map(|m| vec![GUARD; m.plain.len() + 128]).collect();
    if call.in_place {
        for (output, input) in outputs.iter_mut().zip(&inputs) {
            output[64..64 + input.len()].copy_from_slice(input);
        }
    }
    let mut tags: Vec<_> = messages
        .iter()
        .map(|m| {
            let mut tag = [GUARD; 17];
            if call.op != Op::Seal {
                tag[..call.tag_bytes].copy_from_slice(&m.tag[..call.tag_bytes]);
            }
            tag
        })
        .collect();
    let mut status = vec![Status::Ok; messages.len()];
    let items: Vec<_> = (0..messages.len())
        .map(|i| {
            let message = &messages[i];
            let output = outputs[i][64..].as_mut_ptr();
            Item {
                input: if call.in_place { output } else { inputs[i].as_mut_ptr() },
                output,
                tag: tags[i].as_mut_ptr(),
                nonce: message.nonce.as_ptr(),
                aad: message.aad.as_ptr(),
                key: match call.keys {
                    KeyForm::Raw => message.key.as_ptr(),
                    KeyForm::Each => message.schedule.address(),
                    KeyForm::One => messages[0].schedule.address(),
                },
                status: &raw mut status[i],
                text_bytes: u32::try_from(message.plain.len()).unwrap(),
                aad_bytes: u16::try_from(message.aad.len()).unwrap(),
                nonce_bytes: 12,
                op: call.op,
            }
        })
        .collect();
    let Call { op, keys, rounds, tag_bytes, .. } = call;
    let class = Class {
        op,
        keys,
        rounds,
        tag_bytes,
        has_plain_nonces: true,
        text_blocks: LONG_TEXT,
        aad_blocks: LONG_AAD,
    };
    // SAFETY: the items were made of buffers that are borrowed nowhere else.
    unsafe { run(HaveVaes512::check().unwrap(), &class, &items, &mut Ahead::nothing()) };
    (0..messages.len())
        .map(|i| {
            let len = messages[i].plain.len();
            let (front, rest) = outputs[i].split_at(64);
            let (output, behind) = rest.split_at(len);
            assert!(front.iter().chain(behind).all(|byte| *byte == GUARD), "{call:?}: message {i}");
            assert!(tags[i][tag_bytes..].iter().all(|byte| *byte == GUARD), "{call:?}: tag {i}");
            let right = status[i] == Status::Ok;
            Left {
                output: output.to_vec(),
                tag: if right { tags[i][..tag_bytes].to_vec() } else { vec![] },
                status: status[i],
            }
        })
        .collect()
}

fn skip() {
    eprintln!("skipped: this processor lacks the instructions");
}

fn calls(random: &mut Random) -> Vec<Call> {
    let mut calls = vec![];
    for op in [Op::Seal, Op::Open] {
        for keys in [KeyForm::One, KeyForm::Each, KeyForm::Raw] {
            for rounds in [10, 12, 14] {
                let tag_bytes = [16, 4, 8, 12, 13, 14, 15][random.below(7)];
                calls.push(Call { op, keys, rounds, tag_bytes, in_place: random.below(2) == 0 });
            }
        }
    }
    calls
}

fn messages(random: &mut Random, call: Call, lens: &[(usize, usize)]) -> Vec<Message> {
    let same = random.bytes(4 * (call.rounds - 6));
    lens.iter()
        .map(|(text, aad)| {
            let own = random.bytes(same.len());
            let key = if call.keys == KeyForm::One { &same } else { &own };
            Message::new(random, key, *text, *aad)
        })
        .collect()
}

fn agree(call: Call, messages: &[Message]) {
    let lens: Vec<_> = messages.iter().map(|m| (m.plain.len(), m.aad.len())).collect();
    for (i, (left, message)) in left(call, messages).iter().zip(messages).enumerate() {
        assert!(*left == message.expected(call, true), "{call:?}: message {i} of {lens:?}");
    }
}

#[test]
fn messages_of_every_length_are_as_the_model_makes_them() {
    if HaveVaes512::check().is_err() {
        return skip();
    }
    let mut random = Random(1);
    for text in (129..=5_120)
        .step_by(7)
        .chain([255, 256, 257, 304, 305, 512, 528, 529, 1_024, 4_096, 5_119, 5_120])
    {
        let calls = calls(&mut random);
        let call = calls[random.below(calls.len())];
        let messages = messages(&mut random, call, &[(text, 0), (text, 20), (text, 0)]);
        agree(call, &messages);
    }
}

#[test]
fn messages_of_every_length_are_right_beside_those_of_any_other() {
    if HaveVaes512::check().is_err() {
        return skip();
    }
    let mut random = Random(5);
    for first in 129..=159 {
        let calls = calls(&mut random);
        for _ in 0..3 {
            let call = calls[random.below(calls.len())];
            let mut lens: Vec<_> = (first..=640).step_by(31).map(|text| (text, 0)).collect();
            for i in 0..lens.len() {
                lens.swap(i, random.below(i + 1));
            }
            lens.truncate(lens.len() - random.below(5));
            let messages = messages(&mut random, call, &lens);
            agree(call, &messages);
        }
    }
}

#[test]
fn messages_of_one_length_are_right_however_many_they_are() {
    if HaveVaes512::check().is_err() {
        return skip();
    }
    let mut random = Random(6);
    for (text, aad) in [(256, 0), (192, 0), (512, 0), (512, 17), (768, 0), (1_024, 0), (1_420, 20)]
    {
        for call in calls(&mut random) {
            let number = 1 + random.below(37);
            let messages = messages(&mut random, call, &vec![(text, aad); number]);
            agree(call, &messages);
        }
    }
}

#[test]
fn aad_of_every_length_is_as_the_model_takes_it() {
    if HaveVaes512::check().is_err() {
        return skip();
    }
    let mut random = Random(2);
    for aad in (0..=80).chain([127, 128, 129, 255, 256, 257, 300, 512, 1_000, 65_535]) {
        let calls = calls(&mut random);
        let call = calls[random.below(calls.len())];
        let messages = messages(&mut random, call, &[(200, aad), (700, aad)]);
        agree(call, &messages);
    }
}

#[test]
fn any_number_of_messages_of_mixed_lengths_is_right_for_all_operations_and_keys() {
    if HaveVaes512::check().is_err() {
        return skip();
    }
    let mut random = Random(3);
    for number in 1..=40 {
        let calls = calls(&mut random);
        for _ in 0..3 {
            let call = calls[random.below(calls.len())];
            let lens: Vec<_> = (0..number)
                .map(|_| {
                    let text = [128, 256, 600, 1_500][random.below(4)];
                    (129 + random.below(text), [0, 0, 13, 33, 90][random.below(5)])
                })
                .collect();
            let messages = messages(&mut random, call, &lens);
            agree(call, &messages);
        }
    }
    for call in calls(&mut random) {
        let messages =
            messages(&mut random, call, &[(256, 0), (129, 17), (512, 0), (1_420, 0), (300, 16)]);
        for tag_bytes in [4, 8, 12, 13, 14, 15, 16] {
            for in_place in [false, true] {
                agree(Call { tag_bytes, in_place, ..call }, &messages);
            }
        }
    }
}

#[test]
fn a_bit_that_is_flipped_anywhere_fails_its_message_alone() {
    if HaveVaes512::check().is_err() {
        return skip();
    }
    let mut random = Random(4);
    for mut call in calls(&mut random).into_iter().filter(|call| call.op != Op::Seal) {
        call.tag_bytes = [4, 16][random.below(2)];
        let lens: Vec<_> =
            (0..5).map(|_| (129 + random.below(400), 1 + random.below(40))).collect();
        let mut messages = messages(&mut random, call, &lens);
        let wrong = random.below(5);
        let flips = call.tag_bytes + 12 + lens[wrong].0 + lens[wrong].1;
        for at in 0..flips {
            let bit = 1 << random.below(8);
            *byte(&mut messages[wrong], call, at) ^= bit;
            for (i, left) in left(call, &messages).iter().enumerate() {
                assert!(
                    *left == messages[i].expected(call, i != wrong),
                    "{call:?}: byte {at}, message {i}"
                );
            }
            *byte(&mut messages[wrong], call, at) ^= bit;
        }
    }
}

/// A byte of a message's tag, nonce, aad and ciphertext, in this order.
fn byte(message: &mut Message, call: Call, mut at: usize) -> &mut u8 {
    for part in [
        &mut message.tag[..call.tag_bytes],
        &mut message.nonce,
        &mut message.aad,
        &mut message.sealed,
    ] {
        if at < part.len() {
            return &mut part[at];
        }
        at -= part.len();
    }
    unreachable!("a byte behind the message")
}

const GUARD: u8 = 0xa5;
