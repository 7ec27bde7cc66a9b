use core::{ptr, slice};

use sealift_core::{Op, Slot, SlotTag, SlotText, Status};

use super::{
    super::item::{Ahead, Class, Item, KeyForm},
    SCRATCH, run, takes, wipe,
};
use crate::{Path, Schedule, process, x86_64::cpu::HaveVaes512};

const OPS: [Op; 3] = [Op::Seal, Op::Open, Op::Verify];
const FORMS: [KeyForm; 2] = [KeyForm::Each, KeyForm::Raw];
const TAG_BYTES: [usize; 7] = [4, 8, 12, 13, 14, 15, 16];

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
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

#[derive(Clone)]
struct Message {
    key: Vec<u8>,
    nonce: Vec<u8>,
    aad: Vec<u8>,
    text: Vec<u8>,
    sealed: Vec<u8>,
    tag: Vec<u8>,
}

impl Message {
    fn new(random: &mut Random, class: &Class) -> Message {
        let aad = random.length(class.aad_blocks);
        let text = random.length(class.text_blocks);
        let mut message = Message {
            key: random.bytes(4 * (class.rounds - 6)),
            nonce: random.bytes(12),
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

    /// One bit of one of its parts is another.
    fn spoilt(&self, random: &mut Random) -> Message {
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

/// What the kernel makes of messages.
fn work(class: &Class, messages: &[Message], in_place: bool) -> Option<Vec<Worked>> {
    let token = HaveVaes512::check().ok()?;
    let path = Path::Vaes512(token);
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
    let items: Vec<_> = messages
        .iter()
        .zip(&schedules)
        .zip(&mut results)
        .map(|((message, schedule), (output, tag, status))| {
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
                    _ => schedule.address(),
                },
                status,
                text_bytes: u32::try_from(input.len()).unwrap(),
                aad_bytes: u16::try_from(message.aad.len()).unwrap(),
                nonce_bytes: 12,
                op: class.op,
            }
        })
        .collect();
    assert!(takes(class), "{class:?}");
    // SAFETY: addresses of buffers of those lengths.
    unsafe { run(token, class, &items, &mut Ahead::nothing()) };
    assert!(holds_something(), "what messages were worked with is not where it is looked for");
    wipe();
    assert!(!holds_something(), "something is left of {class:?}");
    Some(results)
}

/// Whether there is something in what messages are worked with.
fn holds_something() -> bool {
    SCRATCH.with_borrow(|scratch| {
        let (between, keys) = (&scratch.between, &scratch.keys);
        let places = [
            bytes_of(&between.secret),
            bytes_of(&between.hashed),
            bytes_of(&keys.schedules),
            bytes_of(&keys.words),
        ];
        places.iter().any(|place| place.iter().any(|byte| *byte != 0))
    })
}

/// The bytes of registers.
fn bytes_of<T>(registers: &T) -> &[u8] {
    // SAFETY: a reference; registers have no padding.
    unsafe { slice::from_raw_parts(ptr::from_ref(registers).cast(), size_of::<T>()) }
}

fn skip() {
    eprintln!("skipped: this processor lacks the instructions");
}

fn check(class: &Class, messages: &[Message], wrong: &[bool], in_place: bool) -> bool {
    let Some(results) = work(class, messages, in_place) else { return false };
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
    true
}

/// All shapes of a class that this kernel takes, with a tag length each.
fn classes(random: &mut Random) -> Vec<Class> {
    let mut classes = vec![];
    for keys in FORMS {
        for rounds in [10, 12, 14] {
            for (text_blocks, aad_blocks) in (0..=8).flat_map(|t| (0..=3).map(move |a| (t, a))) {
                for op in OPS {
                    let tag_bytes = TAG_BYTES[random.below(TAG_BYTES.len())];
                    classes.push(Class {
                        op,
                        keys,
                        rounds,
                        tag_bytes,
                        has_plain_nonces: true,
                        text_blocks,
                        aad_blocks,
                    });
                }
            }
        }
    }
    classes
}

#[test]
fn every_shape_gives_what_the_model_gives() {
    let mut random = Random(50);
    for class in classes(&mut random) {
        let count = 1 + random.below(9);
        let messages: Vec<_> = (0..count).map(|_| Message::new(&mut random, &class)).collect();
        for in_place in [false, true] {
            if !check(&class, &messages, &[false; 9], in_place) {
                return skip();
            }
        }
    }
}

#[test]
fn any_number_of_messages_is_worked() {
    let mut random = Random(51);
    for (count, keys) in (1..=40).flat_map(|count| FORMS.map(|keys| (count, keys))) {
        for rounds in [10, 12, 14] {
            let op = OPS[random.below(3)];
            let class = Class {
                op,
                keys,
                rounds,
                tag_bytes: 16,
                has_plain_nonces: true,
                text_blocks: 2,
                aad_blocks: 0,
            };
            let messages: Vec<_> = (0..count).map(|_| Message::new(&mut random, &class)).collect();
            if !check(&class, &messages, &[false; 40], false) {
                return skip();
            }
        }
    }
}

#[test]
fn a_message_with_a_flipped_bit_fails_alone_and_leaves_zeros() {
    let mut random = Random(52);
    for mut class in classes(&mut random).into_iter().filter(|class| class.op != Op::Seal) {
        class.tag_bytes = TAG_BYTES[random.below(TAG_BYTES.len())];
        let count = 1 + random.below(9);
        let wrong: Vec<_> = (0..count).map(|_| random.below(2) == 0).collect();
        let messages: Vec<_> = wrong
            .iter()
            .map(|wrong| {
                let message = Message::new(&mut random, &class);
                if *wrong { message.spoilt(&mut random) } else { message }
            })
            .collect();
        for in_place in [false, true] {
            if !check(&class, &messages, &wrong, in_place) {
                return skip();
            }
        }
    }
}

#[test]
fn whichever_messages_of_a_group_fail_the_others_open() {
    let mut random = Random(54);
    for (choice, keys) in (0..16).flat_map(|choice| FORMS.map(|keys| (choice, keys))) {
        for (text_blocks, op) in
            [0, 1, 2, 4, 5, 8].into_iter().flat_map(|t| [Op::Open, Op::Verify].map(|op| (t, op)))
        {
            let tag_bytes = TAG_BYTES[random.below(TAG_BYTES.len())];
            let class = Class {
                op,
                keys,
                rounds: 10,
                tag_bytes,
                has_plain_nonces: true,
                text_blocks,
                aad_blocks: 0,
            };
            // Two groups that fail alike, and one that isn't whole.
            let wrong: Vec<_> = (0..11).map(|i| (choice >> (i % 4)) & 1 == 1).collect();
            let messages: Vec<_> = wrong
                .iter()
                .map(|wrong| {
                    let mut message = Message::new(&mut random, &class);
                    message.tag[random.below(tag_bytes)] ^= u8::from(*wrong) << random.below(8);
                    message
                })
                .collect();
            for in_place in [false, true] {
                if !check(&class, &messages, &wrong, in_place) {
                    return skip();
                }
            }
        }
    }
}

#[test]
fn every_byte_of_a_tag_counts() {
    let mut random = Random(53);
    for (tag_bytes, keys) in TAG_BYTES.into_iter().flat_map(|bytes| FORMS.map(|keys| (bytes, keys)))
    {
        let class = Class {
            op: Op::Verify,
            keys,
            rounds: 10,
            tag_bytes,
            has_plain_nonces: true,
            text_blocks: 1,
            aad_blocks: 1,
        };
        let right = Message::new(&mut random, &class);
        let messages: Vec<_> = (0..tag_bytes)
            .map(|byte| {
                let mut message = right.clone();
                message.tag[byte] ^= 0x80 >> (byte % 8);
                message
            })
            .collect();
        if !check(&class, &messages, &[true; 16], false) {
            return skip();
        }
    }
}
