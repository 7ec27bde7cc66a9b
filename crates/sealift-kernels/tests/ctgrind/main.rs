//! No branch and no address depends on a secret: `make ctgrind` runs this under valgrind's memcheck.
//!
//! Keys and plaintexts are marked as undefined memory, so memcheck reports every jump and every
//! address that is computed from them, in the very code that ships. Public, and so not marked:
//! lengths, nonces, aad, ciphertexts and tags that are given, statuses. What is computed from a secret
//! is made public by design in two places: the verdict on a tag, inside the kernels
//! (`verdict::public`), and here what a seal has made, before it is compared.
//!
//! Memcheck of valgrind 3.19 knows AES-NI and PCLMULQDQ and no wider registers than AVX2's, so this is
//! about the path `aesni`, the dispatch and the comparison of tags; `make dudect` looks at the others.
#![cfg(sealift_ctgrind)]
#![allow(clippy::unwrap_used, reason = "tests may panic")]

#[path = "../common/mod.rs"]
mod common;
mod mixed;

use std::hint::black_box;

use common::{KEY_LENGTHS, Message, PLACES, Place, Random, Sealed};
use sealift_core::{
    Algorithm, Clock, LongMessage, Op, Slot, SlotTag, SlotText, Status, SystemClock,
};
use sealift_kernels::{Parts, Path, Schedule, ctr_in_place, process, valgrind};

const TEXT_LENGTHS: [usize; 12] = [0, 1, 15, 16, 17, 31, 64, 100, 128, 130, 256, 1_420];

#[test]
fn a_planted_branch_on_a_secret_is_reported() {
    let secret = secret(&[3; 16]);
    let found = errors_in(|| {
        if black_box(secret[5]) & 1 == 1 {
            black_box(one_way());
        }
    });
    assert!(found > 0, "memcheck has seen no branch on a secret: what passes here proves nothing");
}

#[test]
fn a_planted_table_look_up_by_a_secret_is_reported() {
    let (secret, table) = (secret(&[3; 16]), black_box([7_u8; 256]));
    let found = errors_in(|| {
        black_box(table[usize::from(secret[5])]);
    });
    assert!(
        found > 0,
        "memcheck has seen no address from a secret: what passes here proves nothing"
    );
}

#[test]
fn the_verdict_on_a_tag_is_a_branch_that_would_be_reported_were_it_not_declared_public() {
    let (secret, given) = (secret(&[3; 16]), [3_u8; 16]);
    let found = errors_in(|| {
        let sum = secret.iter().zip(given).fold(0, |sum, (a, b)| sum | (a ^ b));
        if black_box(sum) == 0 {
            black_box(one_way());
        }
    });
    assert!(found > 0);
}

#[test]
fn an_engines_clock_works_under_valgrind_which_hides_the_systems_fast_one() {
    let clock = SystemClock::new();
    assert!(clock.now_ns() <= clock.now_ns());
}

#[test]
fn sealing_and_expanding_follow_no_secret() {
    for_each_message(|path, message, place| {
        let (key, text) = (secret(&message.key), secret(&message.text));
        let (mut output, mut tag) = (output(place, &text), vec![0xee; message.tag_len]);
        nothing_follows(|| {
            let schedule = Schedule::from_raw(path, &key).unwrap();
            let slot = Slot {
                op: Op::Seal,
                nonce: &message.nonce,
                aad: &message.aad,
                text: slot_text(place, &text, &mut output),
                tag: SlotTag::Write(&mut tag),
            };
            assert_eq!(process(path, &schedule, slot), Status::Ok);
        });
        // Were they not marked, the marks on the key would have been lost on the way.
        assert_eq!(valgrind::secret_bytes(&output), output.len());
        assert_eq!(valgrind::secret_bytes(&tag), tag.len());
        let made = Sealed { text: public(output), tag: public(tag) };
        assert_eq!(made, message.seal(Path::Model, Place::Apart));
    });
}

#[test]
fn opening_follows_no_secret_and_shows_plaintext_only_when_the_tag_is_right() {
    for_each_message(|path, message, place| {
        let sealed = message.seal(Path::Model, Place::Apart);
        let key = secret(&message.key);
        for wrong_byte in [None, Some(0), Some(message.tag_len - 1)] {
            let mut tag = sealed.tag.clone();
            if let Some(byte) = wrong_byte {
                tag[byte] ^= 0x80;
            }
            let mut output = output(place, &sealed.text);
            let mut status = Status::NotProcessed;
            nothing_follows(|| {
                let schedule = Schedule::from_raw(path, &key).unwrap();
                let slot = Slot {
                    op: Op::Open,
                    nonce: &message.nonce,
                    aad: &message.aad,
                    text: slot_text(place, &sealed.text, &mut output),
                    tag: SlotTag::Check(&tag),
                };
                status = process(path, &schedule, slot);
            });
            if wrong_byte.is_none() {
                assert_eq!(status, Status::Ok);
                assert_eq!(valgrind::secret_bytes(&output), output.len());
                assert_eq!(public(output), message.text);
            } else {
                assert_eq!(status, Status::AuthFailed);
                assert_eq!(valgrind::secret_bytes(&output), 0, "zeros that depend on nothing");
                assert!(output.iter().all(|byte| *byte == 0));
            }
        }
    });
}

#[test]
fn verifying_follows_no_secret() {
    for_each_message(|path, message, _| {
        let sealed = message.seal(Path::Model, Place::Apart);
        let key = secret(&message.key);
        for (flip, expected) in [(0, Status::Ok), (1, Status::AuthFailed)] {
            let mut tag = sealed.tag.clone();
            tag[0] ^= flip;
            let mut status = Status::NotProcessed;
            nothing_follows(|| {
                let schedule = Schedule::from_raw(path, &key).unwrap();
                let (text, tag) = (SlotText::Read(&sealed.text), SlotTag::Check(&tag));
                let (nonce, aad) = (&message.nonce[..], &message.aad[..]);
                status = process(path, &schedule, Slot { op: Op::Verify, nonce, aad, text, tag });
            });
            assert_eq!(status, expected);
        }
    });
}

#[test]
fn parts_of_a_text_follow_no_secret() {
    for_each_message(|path, message, place| {
        let (key, text) = (secret(&message.key), secret(&message.text));
        let (mut output, mut tag) = (output(place, &text), vec![0xee; message.tag_len]);
        let cut = text.len() / 32 * 16;
        nothing_follows(|| {
            let parts =
                Parts::new(path, Algorithm::AesGcm, &key, Op::Seal, &message.nonce).unwrap();
            let (first, second) = output.split_at_mut(cut);
            let blocks = u32::try_from(cut / 16).unwrap();
            let hashes = [
                parts.work_part(0, slot_text(place, &text[..cut], first)),
                parts.work_part(blocks, slot_text(place, &text[cut..], second)),
            ];
            let slot = Slot {
                op: Op::Seal,
                nonce: &message.nonce,
                aad: &message.aad,
                text: slot_text(place, &text, &mut output),
                tag: SlotTag::Write(&mut tag),
            };
            assert_eq!(parts.conclude(slot, &hashes), Status::Ok);
        });
        let made = Sealed { text: public(output), tag: public(tag) };
        assert_eq!(made, message.seal(Path::Model, Place::Apart));
    });
}

#[test]
fn counter_mode_follows_no_secret() {
    let mut random = Random(42);
    for path in paths() {
        for len in TEXT_LENGTHS {
            let key_len = random.pick(&KEY_LENGTHS);
            let (key, text) = (random.bytes(key_len), random.bytes(len));
            // The last 32 bits wrap in the longer ones.
            let counter = (u128::MAX << 32 | 0xffff_fff9).to_be_bytes();
            let (hidden, mut output) = (secret(&key), secret(&text));
            nothing_follows(|| {
                let schedule = Schedule::from_raw(path, &hidden).unwrap();
                ctr_in_place(path, &schedule, counter, &mut output);
            });
            assert_eq!(valgrind::secret_bytes(&output), output.len());
            let mut expected = text;
            let schedule = Schedule::from_raw(Path::Model, &key).unwrap();
            ctr_in_place(Path::Model, &schedule, counter, &mut expected);
            assert_eq!(public(output), expected);
        }
    }
}

fn for_each_message(mut work: impl FnMut(Path, &Message, Place)) {
    let mut random = Random(41);
    for path in paths() {
        for (text, nonce) in TEXT_LENGTHS.into_iter().flat_map(|text| [(text, 12), (text, 13)]) {
            let key = random.pick(&KEY_LENGTHS);
            let aad = random.pick(&[0, 17, 100]);
            let message = random.message(key, nonce, aad, text);
            PLACES.into_iter().for_each(|place| work(path, &message, place));
        }
    }
}

/// The fast paths that valgrind can run.
pub(crate) fn paths() -> Vec<Path> {
    assert!(valgrind::is_running(), "valgrind does not run this: call `make ctgrind`");
    let paths: Vec<Path> =
        Path::available().into_iter().filter(|path| *path != Path::Model).collect();
    assert!(!paths.is_empty(), "valgrind shows a processor without AES-NI, or this one has none");
    paths
}

pub(crate) fn nothing_follows(work: impl FnOnce()) {
    assert_eq!(
        errors_in(work),
        0,
        "a branch or an address depends on a secret; see the report above"
    );
}

fn errors_in(work: impl FnOnce()) -> usize {
    assert!(valgrind::is_running(), "valgrind does not run this: call `make ctgrind`");
    let before = valgrind::errors();
    work();
    valgrind::errors() - before
}

pub(crate) fn secret(bytes: &[u8]) -> Vec<u8> {
    let mut secret = bytes.to_vec();
    valgrind::make_secret(&mut secret);
    secret
}

pub(crate) fn public(bytes: Vec<u8>) -> Vec<u8> {
    valgrind::make_public(&bytes);
    bytes
}

fn output(place: Place, input: &[u8]) -> Vec<u8> {
    match place {
        Place::Apart => vec![0xee; input.len()],
        Place::InPlace => input.to_vec(),
    }
}

fn slot_text<'t>(place: Place, input: &'t [u8], output: &'t mut [u8]) -> SlotText<'t> {
    match place {
        Place::Apart => SlotText::Apart { input, output },
        Place::InPlace => SlotText::InPlace(output),
    }
}

#[inline(never)]
fn one_way() -> u64 {
    black_box(1)
}
