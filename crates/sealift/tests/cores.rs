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
        let wrong = [usize::from(seed) % len, len - 1];
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
