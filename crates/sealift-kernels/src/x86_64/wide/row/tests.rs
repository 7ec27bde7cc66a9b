//! The kernel against the model.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use core::ptr;
use std::sync::Arc;

use sealift_core::{Key, Op, Slot, SlotTag, SlotText, Span, Status};

use super::super::item::{Ahead, Class, Item, KeyForm};
use crate::{Path, Schedule, process, x86_64::cpu::HaveVaes512};

/// Messages of one class under one key: plain as they were made, and as they were sealed by the model.
struct Messages {
    schedule: Schedule,
    class: Class,
    all: Vec<Message>,
}

struct Message {
    nonce: Vec<u8>,
    /// Perhaps the same for all messages, at one address.
    aad: Arc<[u8]>,
    plain: Vec<u8>,
    sealed: Vec<u8>,
    tag: Vec<u8>,
}

/// What the kernel made of a message.
#[derive(Debug, PartialEq)]
struct Outcome {
    text: Vec<u8>,
    tag: Vec<u8>,
    status: Status,
}

#[derive(Clone, Copy, Debug)]
enum Place {
    Apart,
    InPlace,
}

const PLACES: [Place; 2] = [Place::Apart, Place::InPlace];
const TAGS: [usize; 7] = [16, 12, 4, 8, 13, 14, 15];

#[test]
fn sealing_gives_what_the_model_gives() {
    each_shape(|messages, place| {
        let got = messages.work(Op::Seal, place);
        for (got, message) in got.iter().zip(&messages.all) {
            let expected = Outcome {
                text: message.sealed.clone(),
                tag: message.tag.clone(),
                status: Status::Ok,
            };
            assert_eq!(*got, expected, "{:?} {place:?}", messages.class);
        }
    });
}

#[test]
fn opening_gives_the_plain_texts_back() {
    each_shape(|messages, place| {
        let got = messages.work(Op::Open, place);
        for (got, message) in got.iter().zip(&messages.all) {
            let right = got.text == message.plain && got.status == Status::Ok;
            assert!(right, "{:?} {place:?} {got:?}", messages.class);
        }
        let verified = messages.work(Op::Verify, place);
        assert!(verified.iter().all(|got| got.status == Status::Ok), "{:?}", messages.class);
    });
}

#[test]
fn of_messages_that_were_changed_nothing_is_left() {
    each_shape(|messages, place| {
        let number = messages.all.len();
        for (seed, message) in messages.all.iter_mut().enumerate().filter(|(i, _)| i % 3 != 1) {
            message.change(seed * 7 + number);
        }
        let opened = messages.work(Op::Open, place);
        let verified = messages.work(Op::Verify, place);
        for (i, ((opened, verified), message)) in
            opened.iter().zip(&verified).zip(&messages.all).enumerate()
        {
            let (text, status) = match i % 3 {
                1 => (message.plain.clone(), Status::Ok),
                _ => (vec![0; message.plain.len()], Status::AuthFailed),
            };
            let what = (&messages.class, place, i);
            assert_eq!(
                (&opened.text, opened.status, verified.status),
                (&text, status, status),
                "{what:?}"
            );
        }
    });
}

#[test]
fn a_change_of_any_byte_is_found() {
    let Some(mut random) = random(11) else { return };
    for (text, aad) in [(1, 0), (64, 17), (65, 48), (128, 33)] {
        for tag_bytes in TAGS {
            for byte in 0..12 + aad + text + tag_bytes {
                let parts = [0, 1].map(|_| (text, random.bytes(aad).into()));
                let mut messages = Messages::new(&mut random, 16, tag_bytes, &parts);
                drop(parts);
                messages.all[1].change(byte);
                let statuses: Vec<_> =
                    messages.work(Op::Open, Place::Apart).iter().map(|got| got.status).collect();
                assert_eq!(
                    statuses,
                    [Status::Ok, Status::AuthFailed],
                    "{text} {aad} {tag_bytes} {byte}"
                );
            }
        }
    }
}

/// Every number of blocks, of texts and aads whose lengths differ or don't, in calls of 1 to 40 messages.
fn each_shape(mut check: impl FnMut(&mut Messages, Place)) {
    let Some(mut random) = random(7) else { return };
    let mut number = 0;
    for (text, aad) in (0..=8).flat_map(|text| (0..=3).map(move |aad| (text, aad))) {
        for key in [16, 24, 32] {
            for place in PLACES {
                let alike = random.below(2) == 0;
                let within = |blocks: usize, random: &mut Random| match blocks {
                    0 => 0,
                    _ if alike => 16 * blocks,
                    _ => 16 * blocks - random.below(16),
                };
                let aad_bytes = within(aad, &mut random);
                let one: Arc<[u8]> = random.bytes(aad_bytes).into();
                let is_one_aad = random.below(2) == 0;
                let mut parts = vec![];
                for _ in 0..1 + number % 40 {
                    let own_bytes = within(aad, &mut random);
                    let own = random.bytes(own_bytes).into();
                    let aad = if is_one_aad { Arc::clone(&one) } else { own };
                    parts.push((within(text, &mut random), aad));
                }
                let tag_bytes = TAGS[number % TAGS.len()];
                let mut messages = Messages::new(&mut random, key, tag_bytes, &parts);
                drop(parts);
                check(&mut messages, place);
                number += 1;
            }
        }
    }
}

impl Messages {
    /// Messages with texts of these lengths, in bytes, and these aads.
    fn new(random: &mut Random, key: usize, tag: usize, parts: &[(usize, Arc<[u8]>)]) -> Messages {
        let key = Key::new(&random.bytes(key)).unwrap();
        let best = Path::parse("vaes512").unwrap();
        let class = Class {
            op: Op::Seal,
            keys: KeyForm::One,
            rounds: key.as_bytes().len() / 4 + 6,
            tag_bytes: tag,
            has_plain_nonces: true,
            text_blocks: parts[0].0.div_ceil(16),
            aad_blocks: parts[0].1.len().div_ceil(16),
        };
        let model = Schedule::new(Path::Model, &key);
        let message = |(text, aad): &(usize, Arc<[u8]>)| {
            Message::new(random, &model, *text, Arc::clone(aad), tag)
        };
        let all = parts.iter().map(message).collect();
        Messages { schedule: Schedule::new(best, &key), class, all }
    }

    fn work(&self, op: Op, place: Place) -> Vec<Outcome> {
        let mut outcomes: Vec<_> =
            self.all.iter().map(|message| message.before(op, place)).collect();
        let items: Vec<_> = self
            .all
            .iter()
            .zip(&mut outcomes)
            .map(|(message, outcome)| self.item(op, place, message, outcome))
            .collect();
        let class = Class { op, ..self.class };
        assert!(super::takes(&class));
        let token = HaveVaes512::check().unwrap();
        // SAFETY: the items are of buffers that live, one for each.
        unsafe { super::run(token, &class, &items, &mut Ahead::nothing()) };
        outcomes
    }

    fn item(&self, op: Op, place: Place, message: &Message, outcome: &mut Outcome) -> Item {
        let apart = if op == Op::Seal { &message.plain } else { &message.sealed };
        let output = outcome.text.as_mut_ptr();
        let in_place = matches!(place, Place::InPlace) && op != Op::Verify;
        let span = Span {
            op,
            nonce: message.nonce.as_ptr(),
            nonce_bytes: message.nonce.len(),
            aad: message.aad.as_ptr(),
            aad_bytes: message.aad.len(),
            input: if in_place { output } else { apart.as_ptr() },
            output: if op == Op::Verify { ptr::null_mut() } else { output },
            text_bytes: message.plain.len(),
            tag: outcome.tag.as_mut_ptr(),
            status: &raw mut outcome.status,
        };
        Item::new(&span, self.schedule.address()).unwrap()
    }
}

impl Message {
    fn new(
        random: &mut Random,
        model: &Schedule,
        text: usize,
        aad: Arc<[u8]>,
        tag: usize,
    ) -> Message {
        let (nonce, plain) = (random.bytes(12), random.bytes(text));
        let (mut sealed, mut tag) = (vec![0; text], vec![0; tag]);
        let slot = Slot {
            op: Op::Seal,
            nonce: &nonce,
            aad: &aad,
            text: SlotText::Apart { input: &plain, output: &mut sealed },
            tag: SlotTag::Write(&mut tag),
        };
        assert_eq!(process(Path::Model, model, slot), Status::Ok);
        Message { nonce, aad, plain, sealed, tag }
    }

    fn before(&self, op: Op, place: Place) -> Outcome {
        let input = if op == Op::Seal { &self.plain } else { &self.sealed };
        let text = match place {
            Place::Apart => vec![0xee; input.len()],
            Place::InPlace => input.clone(),
        };
        let tag = if op == Op::Seal { vec![0xee; self.tag.len()] } else { self.tag.clone() };
        Outcome { text, tag, status: Status::Ok }
    }

    /// Flips a bit of a byte, counted over nonce, an aad of its own, text and tag.
    fn change(&mut self, byte: usize) {
        let aad = Arc::get_mut(&mut self.aad).unwrap_or_default();
        let parts: [&mut [u8]; 4] = [&mut self.nonce, aad, &mut self.sealed, &mut self.tag];
        let bytes: usize = parts.iter().map(|part| part.len()).sum();
        let mut all = parts.into_iter().flatten();
        *all.nth(byte % bytes).unwrap() ^= 1 << (byte % 8);
    }
}

/// A small generator (SplitMix64), where the processor has this kernel's instructions.
struct Random(u64);

fn random(seed: u64) -> Option<Random> {
    let missing = HaveVaes512::check().err();
    missing.is_none().then_some(Random(seed)).or_else(|| {
        println!("skipped: this processor lacks {}", missing.unwrap_or_default().join(", "));
        None
    })
}

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) >> 33).unwrap() % end
    }

    fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| u8::try_from(self.below(256)).unwrap()).collect()
    }
}
