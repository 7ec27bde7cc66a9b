//! Ranges of checked batches under one key, many keys and raw keys.

use crate::common::{Message, Place as At, Random};
use sealift_core::{
    Batch, Column, Key, KeySource, Keys, Op, Ops, Output, Place, SessionId, Status, Tags, Work,
};
use sealift_kernels::{Path, Schedule, Schedules, run};

const MESSAGES: usize = 14;
const TEXT: usize = 37;
const SESSION: SessionId = SessionId { slot: 0, generation: 0 };

struct NoKeys;

impl KeySource for NoKeys {
    fn key(&self, _session: SessionId) -> Option<std::sync::Arc<Key>> {
        None
    }
}

#[test]
fn one_key_seals_a_range_and_leaves_the_rest() {
    for path in Path::available() {
        let mut messages = messages();
        let key = messages[0].key.clone();
        messages.iter_mut().for_each(|message| message.key.clone_from(&key));
        let schedule = messages[0].schedule(path);
        let keys = Keys::Session(SESSION);
        let sealed = seal(path, &messages, keys, 2..12, Schedules::One(&schedule));
        expect(&messages, &sealed, 2..12);
    }
}

#[test]
fn each_message_of_a_range_gets_its_own_key() {
    for path in Path::available() {
        let messages = messages();
        let schedules: Vec<Schedule> = messages[3..].iter().map(|m| m.schedule(path)).collect();
        let schedules: Vec<&Schedule> = schedules.iter().collect();
        let keys = Keys::Session(SESSION);
        let sealed = seal(path, &messages, keys, 3..MESSAGES, Schedules::Each(&schedules));
        expect(&messages, &sealed, 3..MESSAGES);
    }
}

#[test]
fn raw_keys_are_expanded_message_by_message() {
    for path in Path::available() {
        let messages = messages();
        let raw = messages.iter().flat_map(|message| message.key.clone()).collect::<Vec<u8>>();
        let keys = Keys::Raw(Column::fixed(&raw, 24));
        let sealed = seal(path, &messages, keys, 0..MESSAGES, Schedules::Raw);
        expect(&messages, &sealed, 0..MESSAGES);
    }
}

#[test]
fn without_raw_keys_in_the_batch_nothing_is_processed() {
    let messages = messages();
    let sealed = seal(Path::Model, &messages, Keys::Session(SESSION), 0..3, Schedules::Raw);
    assert_eq!(sealed.status, [Status::NotProcessed; MESSAGES]);
}

#[test]
fn a_failed_message_leaves_the_others_unharmed() {
    for path in Path::available() {
        let messages = messages();
        let raw = messages.iter().flat_map(|message| message.key.clone()).collect::<Vec<u8>>();
        let mut sealed =
            seal(path, &messages, Keys::Raw(Column::fixed(&raw, 24)), 0..MESSAGES, Schedules::Raw);
        sealed.tags[16 * 4] ^= 1;
        let nonces = nonces(&messages);
        let batch = Batch {
            ops: Ops::All(Op::Open),
            tags: Tags::Apart(Column::fixed(&sealed.tags, 16)),
            keys: Keys::Raw(Column::fixed(&raw, 24)),
            ..Batch::seal(
                MESSAGES,
                SESSION,
                Column::fixed(&nonces, 12),
                Column::fixed(&sealed.text, TEXT),
            )
        };
        let (mut opened, mut status) = (vec![0xee; MESSAGES * TEXT], [Status::Ok; MESSAGES]);
        let text = Place::fixed(&mut opened, TEXT);
        let output = Output { text, tags: Place::Empty, status: &mut status };
        let mut work = Work::new(&batch, output, &NoKeys).unwrap();
        run(path, &mut work, 0..MESSAGES, Schedules::Raw);
        for (i, message) in messages.iter().enumerate() {
            let (expected, text) = match i {
                4 => (Status::AuthFailed, &[0; TEXT][..]),
                _ => (Status::Ok, &message.text[..]),
            };
            assert_eq!((status[i], &opened[i * TEXT..][..TEXT]), (expected, text), "{i}");
        }
    }
}

struct Sealed {
    text: Vec<u8>,
    tags: Vec<u8>,
    status: [Status; MESSAGES],
}

fn messages() -> Vec<Message> {
    let mut random = Random(30);
    let message = |_| Message { tag_len: 16, ..random.message(24, 12, 0, TEXT) };
    (0..MESSAGES).map(message).collect()
}

fn nonces(messages: &[Message]) -> Vec<u8> {
    messages.iter().flat_map(|message| message.nonce.clone()).collect()
}

fn seal(
    path: Path,
    messages: &[Message],
    keys: Keys<'_>,
    range: std::ops::Range<usize>,
    schedules: Schedules<'_>,
) -> Sealed {
    let texts: Vec<u8> = messages.iter().flat_map(|message| message.text.clone()).collect();
    let nonces = nonces(messages);
    let batch =
        Batch::seal(MESSAGES, keys, Column::fixed(&nonces, 12), Column::fixed(&texts, TEXT));
    let (mut text, mut tags) = (vec![0xee; MESSAGES * TEXT], vec![0xee; MESSAGES * 16]);
    let mut status = [Status::Ok; MESSAGES];
    let places = (Place::fixed(&mut text, TEXT), Place::fixed(&mut tags, 16));
    let output = Output { text: places.0, tags: places.1, status: &mut status };
    let mut work = Work::new(&batch, output, &NoKeys).unwrap();
    run(path, &mut work, range, schedules);
    Sealed { text, tags, status }
}

fn expect(messages: &[Message], sealed: &Sealed, range: std::ops::Range<usize>) {
    for (i, message) in messages.iter().enumerate() {
        let (text, tag) = (&sealed.text[i * TEXT..][..TEXT], &sealed.tags[i * 16..][..16]);
        if range.contains(&i) {
            let expected = message.seal(Path::Model, At::Apart);
            assert_eq!((text, tag), (&expected.text[..], &expected.tag[..]), "{i}");
            assert_eq!(sealed.status[i], Status::Ok);
        } else {
            assert!(text.iter().chain(tag).all(|byte| *byte == 0xee), "{i}");
            assert_eq!(sealed.status[i], Status::NotProcessed);
        }
    }
}
