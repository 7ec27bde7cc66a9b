//! One batch on several cores gives what one core gives.

#![allow(clippy::unwrap_used, reason = "a test's helpers may panic")]
#![allow(
    clippy::cast_possible_truncation,
    reason = "patterns of bytes, and lengths far under 2^32"
)]

use proptest::prelude::*;
use sealift::{
    Batch, Column, Engine, EngineError, Key, NonceRule, Op, Ops, Options, Output, Place, Session,
    SessionId, Settings, Status, Tags, Text,
};
use std::num::NonZeroUsize;

fn on(threads: usize) -> Options {
    Options { threads: NonZeroUsize::new(threads), ..Options::default() }
}

/// A processor without kernels here has no `cpu`.
fn engine(device: &str) -> (Engine, Vec<Session>) {
    let open = |device| Engine::open(&[device], &[], Settings::default());
    let engine = open(device).or_else(|_| open("library")).unwrap();
    let sessions = (0..40).map(|n| engine.session(Key::new(&[n; 16]).unwrap()).unwrap()).collect();
    (engine, sessions)
}

/// Texts, tags and statuses of a batch over so many threads.
fn run(engine: &Engine, batch: &Batch<'_>, room: &[usize], threads: usize) -> Results {
    let mut texts: Vec<_> = room.iter().map(|bytes| vec![0xaa; *bytes]).collect();
    let mut tags = vec![0xaa; 16 * batch.len];
    let mut status = vec![Status::NotProcessed; batch.len];
    let output = Output {
        text: Place::Scattered(texts.iter_mut().map(|text| &mut text[..]).collect()),
        tags: Place::fixed(&mut tags, 16),
        status: &mut status,
    };
    engine.run(batch, output, &on(threads)).unwrap();
    (texts, tags, status)
}

type Results = (Vec<Vec<u8>>, Vec<u8>, Vec<Status>);

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn bytes_tags_and_statuses_are_those_of_one_thread(
        lengths in prop::collection::vec(prop_oneof![0..40usize, 0..3_000usize, Just(40_000)], 200..900),
        device in prop_oneof![Just("cpu"), Just("library")],
        seed in any::<u8>(),
    ) {
        let (engine, sessions) = engine(device);
        let len = lengths.len();
        let ends = lengths.iter().scan(0, |end, length| { *end += *length as u64; Some(*end) });
        let offsets: Vec<u64> = std::iter::once(0).chain(ends).collect();
        let bytes: Vec<u8> = (0..*offsets.last().unwrap()).map(|n| (n as u8).wrapping_mul(seed)).collect();
        let nonces: Vec<u8> = (0..12 * len).map(|n| (n / 12) as u8 ^ (n as u8)).collect();
        let keys: Vec<SessionId> = (0..len).map(|n| sessions[n * 7 % 40].id()).collect();
        let aad = [seed; 5];
        let batch = Batch {
            aad: Column::Same((&aad).into()),
            ..Batch::seal(len, &keys, Column::fixed(&nonces, 12), Column::offsets64(&bytes, offsets.clone()))
        };
        let alone = run(&engine, &batch, &lengths, 1);
        prop_assert_eq!(&run(&engine, &batch, &lengths, 4), &alone);
        // What is opened on several threads, two of its tags being wrong, is what was sealed.
        let (sealed, mut tags, _) = alone;
        let wrong = [usize::from(seed) % (len - 1), len - 1];
        wrong.iter().for_each(|message| tags[16 * message] ^= 1);
        let sealed = sealed.concat();
        let text = Column::offsets64(&sealed, offsets.clone());
        let opening = Batch {
            ops: Ops::All(Op::Open),
            text: Text::Apart(text),
            tags: Tags::Apart(Column::fixed(&tags, 16)),
            ..batch.clone()
        };
        let (opened, _, statuses) = run(&engine, &opening, &lengths, 4);
        for (message, (text, status)) in opened.iter().zip(statuses).enumerate() {
            let (start, end) = (offsets[message] as usize, offsets[message + 1] as usize);
            if wrong.contains(&message) {
                prop_assert_eq!((status, text.iter().all(|byte| *byte == 0)), (Status::AuthFailed, true));
            } else {
                prop_assert_eq!((status, &text[..]), (Status::Ok, &bytes[start..end]));
            }
        }
    }
}

#[test]
fn texts_in_place_and_appended_tags_are_worked_on_several_threads() {
    let (engine, sessions) = engine("cpu");
    let (len, slot) = (2_000, 1_040);
    let nonces: Vec<u8> = (0..12 * len).map(|n| (n / 12 * 31 + n % 12) as u8).collect();
    let plain: Vec<u8> = (0..len * slot).map(|n| n as u8).collect();
    let batch = Batch {
        tags: Tags::Appended,
        ..Batch::seal(len, sessions[0].id(), Column::fixed(&nonces, 12), Text::InPlace)
    };
    let work = |batch: &Batch<'_>, bytes: &mut [u8], threads| {
        let mut status = vec![Status::NotProcessed; len];
        let (text, tags) = (Place::fixed(bytes, slot), Place::Empty);
        let report = engine.run(batch, Output { text, tags, status: &mut status }, &on(threads));
        assert_eq!(report.unwrap().auth_failed, 0);
        assert!(status.iter().all(|status| *status == Status::Ok));
    };
    let (mut one, mut many) = (plain.clone(), plain.clone());
    work(&batch, &mut one, 1);
    work(&batch, &mut many, 3);
    assert_eq!(one, many);
    let opening = Batch { ops: Ops::All(Op::Open), ..batch };
    work(&opening, &mut many, 3);
    let texts = |bytes: &[u8]| -> Vec<u8> {
        bytes.chunks(slot).flat_map(|slot| &slot[..1_024]).copied().collect()
    };
    assert_eq!(texts(&many), texts(&plain));
}

#[test]
fn what_is_wrong_with_a_batch_is_the_same_error_on_several_threads() {
    let (engine, sessions) = engine("cpu");
    let (nonces, texts) = (vec![0; 11 * 4_096], vec![0; 4_096 * 256]);
    let batch = Batch {
        nonce_rule: NonceRule::Standard,
        ..Batch::seal(
            4_096,
            sessions[0].id(),
            Column::fixed(&nonces, 11),
            Column::fixed(&texts, 256),
        )
    };
    let (mut out, mut tags) = (vec![7; 4_096 * 256], vec![0; 4_096 * 16]);
    let mut status = vec![Status::NotProcessed; 4_096];
    let (text, made) = (Place::fixed(&mut out, 256), Place::fixed(&mut tags, 16));
    let output = Output { text, tags: made, status: &mut status };
    let error = engine.run(&batch, output, &on(4)).unwrap_err();
    assert!(error.to_string().contains("11"), "{error}");
    assert!(out.iter().all(|byte| *byte == 7));
}

#[test]
fn a_batch_that_is_stopped_has_done_whole_messages_and_touched_no_other() {
    let (engine, sessions) = engine("cpu");
    let (len, bytes) = (16_384, 1_024);
    let nonces: Vec<u8> = (0..12 * len).map(|n| (n / 12 * 31 + n % 12) as u8).collect();
    let plain: Vec<u8> = (0..len * bytes).map(|n| n as u8).collect();
    let texts = Column::fixed(&plain, bytes);
    let batch = Batch::seal(len, sessions[0].id(), Column::fixed(&nonces, 12), texts);
    let room = vec![bytes; len];
    let (whole, whole_tags, _) = run(&engine, &batch, &room, 1);
    for threads in [1, 2, 4] {
        let (mut out, mut tags) = (vec![0xaa; len * bytes], vec![0xaa; 16 * len]);
        let mut status = vec![Status::NotProcessed; len];
        // Helpers may finish a batch before its caller is asked.
        let is_stopped = (0..100).any(|_| {
            out.fill(0xaa);
            tags.fill(0xaa);
            let output = Output {
                text: Place::fixed(&mut out, bytes),
                tags: Place::fixed(&mut tags, 16),
                status: &mut status,
            };
            match engine.run_until(&batch, output, &on(threads), &mut || true) {
                Err(error) => error == EngineError::Stopped,
                Ok(_) => threads == 1,
            }
        });
        assert!(is_stopped, "never on {threads} threads");
        let done = status.iter().filter(|status| **status == Status::Ok).count();
        assert!(done > 0 && done < len, "{done} of {len} on {threads} threads");
        for (message, status) in status.iter().enumerate() {
            let text = &out[message * bytes..][..bytes];
            let tag = &tags[message * 16..][..16];
            if *status == Status::Ok {
                assert_eq!((text, tag), (&whole[message][..], &whole_tags[message * 16..][..16]));
            } else {
                assert!(text.iter().chain(tag).all(|byte| *byte == 0xaa), "{message}");
            }
        }
    }
}

#[test]
fn a_device_tells_how_long_it_expanded_keys_that_it_keeps() {
    for device in ["cpu", "library"] {
        let (engine, sessions) = engine(device);
        let keys: Vec<SessionId> = sessions.iter().map(Session::id).collect();
        let (nonces, texts) = (vec![1; 12 * 40], vec![2; 64 * 40]);
        let batch = Batch::seal(40, &keys, Column::fixed(&nonces, 12), Column::fixed(&texts, 64));
        let prepared_ns = || {
            let (mut out, mut tags) = (vec![0; 64 * 40], vec![0; 16 * 40]);
            let mut status = vec![Status::NotProcessed; 40];
            let (text, tags) = (Place::fixed(&mut out, 64), Place::fixed(&mut tags, 16));
            let output = Output { text, tags, status: &mut status };
            let timing = engine.run(&batch, output, &on(1)).unwrap().timing;
            assert!(timing.cost_ns() > 0);
            timing.prepared_ns
        };
        assert!(prepared_ns() > 0);
        assert_eq!(prepared_ns(), 0, "they are there");
    }
}

/// Few messages, some of them long, each sealed, opened or verified, and what is right for each.
struct Long {
    lengths: Vec<usize>,
    ops: Vec<Op>,
    keys: Vec<SessionId>,
    /// Input, with room for a tag behind each where tags are appended.
    texts: Vec<Vec<u8>>,
    tags: Vec<u8>,
    wrong: Vec<bool>,
}

/// All threads are asked to help with a batch of more than 4 MiB that may be stopped, and on one thread it is cut, too.
fn run_long(
    engine: &Engine,
    long: &Long,
    threads: usize,
    in_place: bool,
    stop: &mut dyn FnMut() -> bool,
) -> (Result<(), EngineError>, Results) {
    let len = long.lengths.len();
    let nonces: Vec<u8> = (0..12 * len).map(|n| n as u8).collect();
    let batch = Batch {
        ops: Ops::Each((&long.ops[..]).into()),
        aad: Column::Same((&[9; 21]).into()),
        tags: Tags::Apart(Column::fixed(&long.tags, 16)),
        text: match in_place {
            true => Text::InPlace,
            false => Text::Apart(Column::Scattered(
                long.texts.iter().map(|text| (&text[..]).into()).collect(),
            )),
        },
        ..Batch::seal(len, &long.keys, Column::fixed(&nonces, 12), Column::Empty)
    };
    let mut texts = match in_place {
        true => long.texts.clone(),
        false => long.lengths.iter().map(|length| vec![0xaa; *length]).collect(),
    };
    let (mut tags, mut status) = (long.tags.clone(), vec![Status::NotProcessed; len]);
    let output = Output {
        text: Place::Scattered(texts.iter_mut().map(|text| &mut text[..]).collect()),
        tags: Place::fixed(&mut tags, 16),
        status: &mut status,
    };
    let ran = engine.run_until(&batch, output, &on(threads), stop).map(|_| ());
    (ran, (texts, tags, status))
}

impl Long {
    /// `kinds`: 0 seal, 1 open, 2 verify, 3 open with a wrong tag.
    fn new(engine: &Engine, sessions: &[Session], kinds: &[(usize, u8)]) -> Self {
        let mut long = Self {
            lengths: kinds.iter().map(|(length, _)| *length).collect(),
            ops: vec![Op::Seal; kinds.len()],
            keys: (0..kinds.len()).map(|n| sessions[n % 3].id()).collect(),
            texts: vec![],
            tags: vec![0; 16 * kinds.len()],
            wrong: kinds.iter().map(|(_, kind)| *kind == 3).collect(),
        };
        let text = |length: &usize| (0..*length).map(|n| (n ^ (n >> 8) ^ length) as u8).collect();
        long.texts = long.lengths.iter().map(text).collect();
        let (sealed, tags, _) = run_whole(engine, &long);
        for (message, (_, kind)) in kinds.iter().enumerate() {
            if *kind > 0 {
                long.ops[message] = if *kind == 2 { Op::Verify } else { Op::Open };
                long.texts[message].clone_from(&sealed[message]);
                let tag = 16 * message..16 * message + 16;
                long.tags[tag.clone()].copy_from_slice(&tags[tag.clone()]);
                long.tags[tag.start] ^= u8::from(*kind == 3);
            }
        }
        long
    }
}

/// Each message by itself, so that nothing is cut.
fn run_whole(engine: &Engine, long: &Long) -> Results {
    let len = long.lengths.len();
    let nonces: Vec<u8> = (0..12 * len).map(|n| n as u8).collect();
    let (mut texts, mut tags, mut status) = (vec![], vec![], vec![]);
    for n in 0..len {
        let (tag, nonce) = (&long.tags[16 * n..][..16], &nonces[12 * n..][..12]);
        let batch = Batch {
            ops: Ops::All(long.ops[n]),
            aad: Column::Same((&[9; 21]).into()),
            tags: Tags::Apart(Column::fixed(tag, 16)),
            ..Batch::seal(
                1,
                long.keys[n],
                Column::fixed(nonce, 12),
                Column::Same((&long.texts[n]).into()),
            )
        };
        let (mut text, mut made) = (vec![0xaa; long.lengths[n]], tag.to_vec());
        let mut own = [Status::NotProcessed];
        let output = Output {
            text: Place::fixed(&mut text, long.lengths[n]),
            tags: Place::fixed(&mut made, 16),
            status: &mut own,
        };
        engine.run(&batch, output, &on(1)).unwrap();
        texts.push(text);
        tags.extend(made);
        status.extend(own);
    }
    (texts, tags, status)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn long_texts_that_are_cut_give_what_whole_ones_give(
        kinds in prop::collection::vec(
            (prop_oneof![0..100usize, 60_000..300_000usize, 1_000_000..3_000_000usize], 0..4u8),
            1..6,
        ),
        in_place in any::<bool>(),
    ) {
        let (engine, sessions) = engine("cpu");
        // Enough to be cut for certain.
        let kinds: Vec<_> = kinds.into_iter().chain([(5_000_003, 0), (5_000_016, 1)]).collect();
        let long = Long::new(&engine, &sessions, &kinds);
        let (expected, tags, status) = run_whole(&engine, &long);
        for threads in [1, 4] {
            let (ran, found) = run_long(&engine, &long, threads, in_place, &mut || false);
            prop_assert_eq!(ran, Ok(()));
            prop_assert!(found.1 == tags && found.2 == status, "{:?} {:?}", found.2, status);
            for (message, (text, expected)) in found.0.iter().zip(&expected).enumerate() {
                // Nothing is written where something is only verified.
                let is_right = long.ops[message] == Op::Verify || text == expected;
                prop_assert!(is_right, "message {message} of {:?}", kinds);
            }
            let failed = long.wrong.iter().zip(&found.2);
            prop_assert!(failed.into_iter().all(|(wrong, status)| *wrong == (*status == Status::AuthFailed)));
        }
    }
}

#[test]
fn a_long_message_that_is_stopped_is_wiped_and_those_behind_it_are_untouched() {
    let (engine, sessions) = engine("cpu");
    if engine.device("cpu").is_err() {
        // AWS-LC finishes a message that is begun.
        return;
    }
    let long = Long::new(&engine, &sessions, &[(6_000_000, 0), (6_000_000, 1), (40, 0)]);
    for in_place in [false, true] {
        let mut asked = 0;
        let mut stop = || {
            asked += 1;
            asked == 3
        };
        let (ran, (texts, _, status)) = run_long(&engine, &long, 1, in_place, &mut stop);
        assert_eq!(ran, Err(EngineError::Stopped));
        assert_eq!(status, [Status::Wiped, Status::NotProcessed, Status::NotProcessed]);
        assert!(texts[0].iter().all(|byte| *byte == 0), "in place: {in_place}");
        let untouched = if in_place { long.texts[1].clone() } else { vec![0xaa; 6_000_000] };
        assert!(texts[1] == untouched, "in place: {in_place}");
    }
}
