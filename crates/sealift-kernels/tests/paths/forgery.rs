//! What does not belong together does not open, and leaves nothing behind.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU8, Ordering},
    },
    thread,
};

use crate::common::{KEY_LENGTHS, Message, PLACES, Place, Random, Sealed};
use sealift_core::{
    Batch, Column, Key, KeySource, Keys, NonceRule, Op, Ops, Output, Place as At, SessionId, Slot,
    SlotTag, SlotText, Status, Tags, Text, Work,
};
use sealift_kernels::{Path, Schedules, process, run};

#[test]
fn no_flipped_bit_opens_and_the_output_is_zeros() {
    let mut random = Random(10);
    for path in Path::available() {
        for text in [0, 1, 15, 16, 17, 31, 64, 65] {
            let (key, nonce) = (random.pick(&KEY_LENGTHS), random.pick(&[12, 12, 13]));
            let message = random.message(key, nonce, 20, text);
            let sealed = message.seal(path, Place::Apart);
            for_each_flip(&message.aad, |aad| {
                refuses(path, &Message { aad, ..message.clone() }, &sealed);
            });
            for_each_flip(&message.nonce, |nonce| {
                refuses(path, &Message { nonce, ..message.clone() }, &sealed);
            });
            for_each_flip(&sealed.text, |text| {
                refuses(path, &message, &Sealed { text, ..sealed.clone() });
            });
            for_each_flip(&sealed.tag, |tag| {
                refuses(path, &message, &Sealed { tag, ..sealed.clone() });
            });
        }
    }
}

#[test]
fn a_long_forged_message_leaves_only_zeros() {
    let mut random = Random(11);
    for path in Path::available() {
        for text in [511, 512, 513, 2_047, 4_113] {
            let message = random.message(32, 12, 5, text);
            let mut sealed = message.seal(path, Place::Apart);
            let (byte, bit) = (random.below(text), random.below(8));
            sealed.text[byte] ^= 1 << bit;
            refuses(path, &message, &sealed);
        }
    }
}

#[test]
fn a_missing_tag_fails_and_the_output_is_zeros() {
    for path in Path::available() {
        let message = Random(12).message(16, 12, 0, 0);
        let schedule = message.schedule(path);
        let mut output = [7; 40];
        let text = SlotText::Apart { input: &[1; 40], output: &mut output };
        let (nonce, aad, tag) = (&message.nonce[..], &[][..], SlotTag::Missing);
        let status = process(path, &schedule, Slot { op: Op::Open, nonce, aad, text, tag });
        assert_eq!((status, output), (Status::AuthFailed, [0; 40]));
        let (text, tag) = (SlotText::Read(&[1; 40]), SlotTag::Missing);
        let status = process(path, &schedule, Slot { op: Op::Verify, nonce, aad, text, tag });
        assert_eq!(status, Status::AuthFailed);
    }
}

#[test]
fn parts_that_do_not_fit_are_not_processed() {
    for path in Path::available() {
        let message = Random(13).message(16, 12, 0, 0);
        let schedule = message.schedule(path);
        let (input, mut output, mut tag) = ([1; 20], [2; 19], [3; 16]);
        let refused = |slot: Slot<'_>| {
            assert_eq!(process(path, &schedule, slot), Status::NotProcessed);
        };
        let nonce = &message.nonce;
        let text = SlotText::Apart { input: &input, output: &mut output };
        refused(Slot { op: Op::Seal, nonce, aad: &[], text, tag: SlotTag::Write(&mut tag) });
        let text = SlotText::Read(&input);
        refused(Slot { op: Op::Seal, nonce, aad: &[], text, tag: SlotTag::Write(&mut tag) });
        for len in [0, 1, 3, 5, 7, 9, 11] {
            let text = SlotText::Read(&input);
            refused(Slot {
                op: Op::Verify,
                nonce,
                aad: &[],
                text,
                tag: SlotTag::Check(&tag[..len]),
            });
        }
        for nonce in [&[][..], &[0; 129]] {
            let text = SlotText::Read(&input);
            refused(Slot { op: Op::Verify, nonce, aad: &[], text, tag: SlotTag::Check(&tag) });
        }
        assert_eq!((output, tag), ([2; 19], [3; 16]));
    }
}

#[test]
fn a_buffer_rewritten_during_an_open_opens_right_or_not_at_all() {
    let mut random = Random(14);
    for path in Path::available() {
        // In the end of a short text and of a long one, in a text that is an end, in the steps of long ones.
        for (text, target) in
            [(24, 21), (64, 5), (261, 258), (300, 5), (600, 597), (600, 300), (3_000, 700)]
        {
            let message = Message { tag_len: 16, ..random.message(16, 12, 0, text) };
            race(path, &message, target);
        }
    }
}

/// Opens a text while another thread flips a byte of it to and fro.
fn race(path: Path, message: &Message, target: usize) {
    let sealed = message.seal(path, Place::Apart);
    let schedule = message.schedule(path);
    let shared: Vec<AtomicU8> = sealed.text.iter().copied().map(AtomicU8::new).collect();
    let target = &shared[target];
    let stop = AtomicBool::new(false);
    let mut counts = (0, 0);
    thread::scope(|scope| {
        let _stopper = Stopper(&stop);
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                target.fetch_xor(0x10, Ordering::Relaxed);
            }
        });
        for _ in 0..if path == Path::Model { 500 } else { 20_000 } {
            let mut output = vec![0xee; shared.len()];
            let text = SlotText::Apart { input: as_bytes(&shared), output: &mut output };
            let tag = SlotTag::Check(&sealed.tag);
            let slot = Slot { op: Op::Open, nonce: &message.nonce, aad: &[], text, tag };
            if process(path, &schedule, slot) == Status::Ok {
                assert!(output == message.text, "{}: unverified plaintext", path.name());
                counts.0 += 1;
            } else {
                assert!(output.iter().all(|byte| *byte == 0), "{}: not zeros", path.name());
                counts.1 += 1;
            }
        }
    });
    println!("{} {}: {} right, {} failed", path.name(), shared.len(), counts.0, counts.1);
}

#[test]
fn a_batch_rewritten_while_it_is_opened_opens_right_or_not_at_all() {
    let mut random = Random(15);
    for path in Path::available() {
        // For each kernel: the first block, the end of a register, a part of a block.
        for (text, target, nonce) in [
            (24, 21, 12),
            (64, 5, 12),
            (100, 97, 12),
            (128, 127, 12),
            (128, 40, 13),
            (300, 290, 12),
            (600, 300, 12),
            (1_500, 2, 12),
        ] {
            let message = Message { tag_len: 16, ..random.message(32, nonce, 0, text) };
            for form in [Form::One, Form::Each, Form::Raw] {
                race_batch(path, &message, target, form);
            }
        }
    }
}

/// Where keys come from.
#[derive(Clone, Copy, Debug)]
enum Form {
    One,
    Each,
    Raw,
}

/// Opens one text as every message of a batch while another thread flips a byte of it to and fro.
fn race_batch(path: Path, message: &Message, target: usize, form: Form) {
    const MESSAGES: usize = 21;
    let (sealed, len) = (message.seal(path, Place::Apart), message.text.len());
    let schedule = message.schedule(path);
    let session = SessionId { slot: 0, generation: 0 };
    let (keys, schedules) = match form {
        Form::One => (session.into(), Schedules::One(&schedule)),
        Form::Each => (session.into(), Schedules::Each(&[&schedule; MESSAGES])),
        Form::Raw => (Keys::Raw(Column::Same((&message.key).into())), Schedules::Raw),
    };
    let shared: Vec<AtomicU8> = sealed.text.iter().copied().map(AtomicU8::new).collect();
    let texts = Text::Apart(Column::Same(as_bytes(&shared).into()));
    let batch = Batch {
        ops: Ops::All(Op::Open),
        tags: Tags::Apart(Column::Same((&sealed.tag).into())),
        nonce_rule: NonceRule::HazmatAnyLength,
        ..Batch::seal(MESSAGES, keys, Column::Same((&message.nonce).into()), texts)
    };
    let (target, stop, zeros) = (&shared[target], AtomicBool::new(false), vec![0; len]);
    thread::scope(|scope| {
        let _stopper = Stopper(&stop);
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                target.fetch_xor(0x10, Ordering::Relaxed);
            }
        });
        for _ in 0..if path == Path::Model { 10 } else { 500 } {
            let mut status = [Status::NotProcessed; MESSAGES];
            let mut opened = vec![0xee; MESSAGES * len];
            let text = At::fixed(&mut opened, len);
            let output = Output { text, tags: At::Empty, status: &mut status };
            let mut work = Work::new(&batch, output, &NoKeys).unwrap();
            run(path, &mut work, 0..MESSAGES, schedules);
            for (text, status) in opened.chunks(len).zip(status) {
                let expected = if status == Status::Ok { &message.text } else { &zeros };
                assert!(text == expected, "{} {form:?} {len}: {status:?}", path.name());
            }
        }
    });
}

struct NoKeys;

impl KeySource for NoKeys {
    fn key(&self, _session: SessionId) -> Option<Arc<Key>> {
        None
    }
}

/// Stops the other thread also when an assertion fails: the scope waits for it.
struct Stopper<'s>(&'s AtomicBool);

impl Drop for Stopper<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The bytes as the kernels get foreign memory: a slice that changes under them.
#[expect(unsafe_code, reason = "this is what is tested")]
fn as_bytes(shared: &[AtomicU8]) -> &[u8] {
    // SAFETY: readable for its length. That it changes meanwhile is what the kernels' single
    // loads are for.
    unsafe { std::slice::from_raw_parts(shared.as_ptr().cast(), shared.len()) }
}

/// Calls `try_it` with the bytes once for each bit, with that bit flipped.
fn for_each_flip(bytes: &[u8], mut try_it: impl FnMut(Vec<u8>)) {
    for bit in 0..8 * bytes.len() {
        let mut flipped = bytes.to_vec();
        flipped[bit / 8] ^= 1 << (bit % 8);
        try_it(flipped);
    }
}

fn refuses(path: Path, message: &Message, sealed: &Sealed) {
    let zeros = vec![0; sealed.text.len()];
    for place in PLACES {
        let opened = message.open(path, place, sealed);
        assert!(opened == (Status::AuthFailed, zeros.clone()), "{} {place:?}", path.name());
    }
    assert_eq!(message.verify(path, sealed), Status::AuthFailed, "{}", path.name());
}
