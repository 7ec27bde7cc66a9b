//! XAES-256-GCM on every path: C2SP's vectors, batches under keys of each form, and long messages in parts.

use crate::common::Random;
use sealift_core::{
    Algorithm, Batch, Column, Keys, LongMessage, Op, Output, Place, SessionId, Slot, SlotTag,
    SlotText, Status, Tags, Work,
};
use sealift_kernels::{Parts, Path, Schedule, Schedules, process_xaes, run};
use std::ops::Range;

/// Key byte, aad, ciphertext and tag of the specification's two vectors.
const VECTORS: [(u8, &[u8], u128, u128); 2] = [
    (1, b"", 0xce54_6ef6_3c9c_c607_6592_3609, 0xb33a_9a19_74e9_6e52_daf2_fcf7_075e_2271),
    (
        3,
        b"c2sp.org/XAES-256-GCM",
        0x986e_c183_2593_df54_43a1_7943,
        0x7fd0_83bf_3fdb_41ab_d740_a21f_71eb_769d,
    ),
];

#[test]
fn every_path_gives_the_vectors_of_the_specification() {
    for (path, (key, aad, ciphertext, tag)) in
        Path::available().into_iter().flat_map(|path| VECTORS.map(|vector| (path, vector)))
    {
        let schedule = Schedule::from_raw(path, &[key; 32]).unwrap();
        let nonce = b"ABCDEFGHIJKLMNOPQRSTUVWX";
        let sealed = seal_one(path, &schedule, nonce, aad, b"XAES-256-GCM");
        let expected = [&ciphertext.to_be_bytes()[4..], &tag.to_be_bytes()].concat();
        assert_eq!(sealed, expected, "{path:?}");
    }
}

#[test]
fn a_message_with_a_nonce_of_another_length_is_not_processed() {
    let schedule = Schedule::from_raw(Path::Model, &[1; 32]).unwrap();
    for nonce in [0, 12, 23, 25].map(|bytes| vec![7; bytes]) {
        let (mut output, mut tag) = ([0xee; 4], [0xee; 16]);
        let text = SlotText::Apart { input: b"text", output: &mut output };
        let tag = SlotTag::Write(&mut tag);
        let slot = Slot { op: Op::Seal, nonce: &nonce, aad: &[], text, tag };
        assert_eq!(process_xaes(Path::Model, &schedule, slot), Status::NotProcessed);
        assert_eq!(output, [0xee; 4]);
    }
}

#[test]
fn a_batch_for_an_algorithm_without_kernels_is_not_processed() {
    let (nonce, text, mut output, mut tag) = ([7; 12], *b"text", [0xee; 4], [0xee; 16]);
    let keys = Keys::Raw(Column::Same((&[1; 32]).into()));
    let (nonces, texts) = (Column::Same((&nonce).into()), Column::Same((&text).into()));
    let batch = Batch { algorithm: Algorithm::AesGcmSiv, ..Batch::seal(1, keys, nonces, texts) };
    let mut status = [Status::Ok];
    let (text, tags) = (Place::fixed(&mut output, 4), Place::fixed(&mut tag, 16));
    let places = Output { text, tags, status: &mut status };
    run(Path::Model, &mut Work::new(&batch, places, &()).unwrap(), 0..1, Schedules::Raw);
    assert_eq!((status, output, tag), ([Status::NotProcessed], [0xee; 4], [0xee; 16]));
}

#[test]
fn batches_under_keys_of_each_form_are_as_the_model_has_their_messages() {
    for path in Path::available() {
        // More than a window of keys; the model is slow.
        let messages = if path == Path::Model { 20 } else { 2_100 };
        let load = Load::new(messages);
        let schedules: Vec<_> =
            (0..messages).map(|n| Schedule::from_raw(path, load.key(n)).unwrap()).collect();
        let range = 3..messages - 2;
        let each: Vec<_> = schedules[range.clone()].iter().collect();
        load.expect(path, range.clone(), Schedules::Each(&each), |message| load.key(message));
        load.expect(path, range.clone(), Schedules::Raw, |message| load.key(message));
        load.expect(path, range, Schedules::One(&schedules[1]), |_| load.key(1));
    }
}

#[test]
fn a_message_in_parts_is_as_the_model_has_it_whole() {
    let mut random = Random(7);
    let (key, nonce, text) = (random.bytes(32), random.bytes(24), random.bytes(500));
    let whole = {
        let schedule = Schedule::from_raw(Path::Model, &key).unwrap();
        seal_one(Path::Model, &schedule, &nonce, b"aad", &text)
    };
    for path in Path::available() {
        let parts = Parts::new(path, Algorithm::Xaes256Gcm, &key, Op::Seal, &nonce).unwrap();
        let (mut output, mut tag) = (vec![0; 500], [0; 16]);
        let mut hashes = vec![];
        for (at, output) in output.chunks_mut(256).enumerate() {
            let text = SlotText::Apart { input: &text[256 * at..][..output.len()], output };
            hashes.push(parts.work_part(u32::try_from(16 * at).unwrap(), text));
        }
        let slot_text = SlotText::InPlace(&mut output);
        let slot = Slot {
            op: Op::Seal,
            nonce: &nonce,
            aad: b"aad",
            text: slot_text,
            tag: SlotTag::Write(&mut tag),
        };
        assert_eq!(parts.conclude(slot, &hashes), Status::Ok);
        assert_eq!([&output[..], &tag].concat(), whole, "{path:?}");
    }
    for (key, nonce) in [(&key[..16], &nonce[..]), (&key, &nonce[..12])] {
        assert!(Parts::new(Path::Model, Algorithm::Xaes256Gcm, key, Op::Seal, nonce).is_err());
    }
}

fn seal_one(path: Path, schedule: &Schedule, nonce: &[u8], aad: &[u8], text: &[u8]) -> Vec<u8> {
    let (mut output, mut tag) = (vec![0xee; text.len()], [0xee; 16]);
    let slot_text = SlotText::Apart { input: text, output: &mut output };
    let slot = Slot { op: Op::Seal, nonce, aad, text: slot_text, tag: SlotTag::Write(&mut tag) };
    assert_eq!(process_xaes(path, schedule, slot), Status::Ok);
    [&output[..], &tag].concat()
}

/// Messages of unequal lengths with tags behind them.
struct Load {
    keys: Vec<u8>,
    nonces: Vec<u8>,
    texts: Vec<u8>,
    offsets: Vec<u32>,
}

impl Load {
    fn new(messages: usize) -> Self {
        let mut random = Random(11);
        let longest = |message| if message % 4 == 0 { 1_500 } else { 200 };
        let lengths: Vec<_> = (0..messages).map(|n| random.below(longest(n))).collect();
        let mut offsets = vec![0];
        offsets.extend(lengths.iter().scan(0, |end, bytes| {
            *end += u32::try_from(*bytes).unwrap();
            Some(*end)
        }));
        let texts = random.bytes(lengths.iter().sum());
        Self {
            keys: random.bytes(32 * messages),
            nonces: random.bytes(24 * messages),
            texts,
            offsets,
        }
    }

    fn key(&self, message: usize) -> &[u8] {
        &self.keys[32 * message..][..32]
    }

    fn text(&self, message: usize) -> &[u8] {
        &self.texts[self.offsets[message] as usize..self.offsets[message + 1] as usize]
    }

    /// Seals a range, whose messages have to be as the model has them, and leaves the others.
    fn expect<'k>(
        &self,
        path: Path,
        range: Range<usize>,
        schedules: Schedules<'_>,
        key: impl Fn(usize) -> &'k [u8],
    ) {
        let messages = self.offsets.len() - 1;
        let batch = Batch {
            algorithm: Algorithm::Xaes256Gcm,
            tags: Tags::Appended,
            ..Batch::seal(
                messages,
                match schedules {
                    Schedules::Raw => Keys::Raw(Column::fixed(&self.keys, 32)),
                    _ => SessionId { slot: 0, generation: 1 }.into(),
                },
                Column::fixed(&self.nonces, 24),
                Column::offsets(&self.texts, self.offsets.clone()),
            )
        };
        let mut slots: Vec<_> =
            (0..messages).map(|n| vec![0xee; self.text(n).len() + 16]).collect();
        let mut status = vec![Status::Ok; messages];
        let text = Place::Scattered(slots.iter_mut().map(|slot| &mut slot[..]).collect());
        let output = Output { text, tags: Place::Empty, status: &mut status };
        run(path, &mut Work::new(&batch, output, &()).unwrap(), range.clone(), schedules);
        for (message, (slot, status)) in slots.iter().zip(status).enumerate() {
            if !range.contains(&message) {
                assert_eq!(status, Status::NotProcessed);
                assert!(slot.iter().all(|byte| *byte == 0xee), "{message}");
                continue;
            }
            // The model takes a millisecond a message.
            if message % 100 < 10 {
                let schedule = Schedule::from_raw(Path::Model, key(message)).unwrap();
                let nonce = &self.nonces[24 * message..][..24];
                let expected = seal_one(Path::Model, &schedule, nonce, &[], self.text(message));
                assert_eq!(slot, &expected, "{path:?}, message {message}");
            }
            assert_eq!(status, Status::Ok);
        }
    }
}
