//! Nothing of a key, a plaintext or a key stream is left on the stack and in the vector registers of a thread that worked.
//!
//! A job is done twice with each of three kinds of secrets, everything else being the same bytes in the
//! same places, on a stack that is painted before and read after. A word that is the same both times with
//! the same secrets and another one with each of the others has come from them, in whatever
//! form: a round key, a power of the hash key, a counter's encryption. Where public results differ as
//! well, because secrets do, words of these are left out.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "tests may panic")]

#[path = "../common/mod.rs"]
mod common;
mod job;
mod stack;

use std::hint::black_box;

use job::{Buffers, How, Job, What};
use sealift_core::{Algorithm, LongMessage, Op, Slot, SlotTag, SlotText, Status};
use sealift_kernels::{Parts, Path, Schedule, ctr_in_place};
use stack::Stack;

#[test]
fn a_planted_copy_of_a_key_is_found() {
    let mut stack = Stack::new();
    let mut key = [0; 32];
    let found = residue(&mut stack, |seed, stack| {
        key.fill(u8::try_from(seed).unwrap());
        let left = stack.after(&mut || leave_on_the_stack(&key));
        (left, vec![])
    });
    // Registers that copied it have it, too.
    let on_stack = found.iter().filter(|(place, _)| *place <= stack::BYTES - stack::DISTANCE);
    assert_eq!(on_stack.count(), 4, "a key of 32 bytes, and nothing else: {found:?}");
}

#[test]
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "a register is planted")]
fn a_key_that_is_planted_in_a_register_is_found() {
    let mut stack = Stack::new();
    let found = residue(&mut stack, |seed, stack| {
        let key = common::Random(seed).bytes(16);
        let left = stack.after(&mut || {
            // SAFETY: the key has as many readable bytes.
            unsafe {
                core::arch::asm!("movdqu xmm13, [{}]", in(reg) key.as_ptr(), out("xmm13") _);
            }
        });
        (left, vec![])
    });
    assert_eq!(found.len(), 2, "a key of 16 bytes, and nothing else: {found:?}");
}

#[test]
#[cfg_attr(debug_assertions, ignore = "of release builds: cargo test --release --test residue")]
fn a_batch_leaves_nothing_of_its_secrets_on_the_stack() {
    let mut stack = Stack::new();
    let mut told = vec![];
    for job in jobs() {
        let mut buffers = Buffers::new(job);
        let found = residue(&mut stack, |seed, stack| {
            buffers.exchange_secrets(seed);
            let mut left = vec![];
            buffers.done(|work| {
                // Twice: what a thread makes for itself at its first call would lie over what that leaves.
                left = stack.after(&mut || {
                    work();
                    stack::repaint();
                    work();
                });
            });
            (left, buffers.public())
        });
        if !found.is_empty() {
            told.push(format!("{job:?}: {}", shown(&found)));
        }
        if job.what == What::Refused {
            assert!(buffers.output.iter().all(|byte| *byte == 0), "{job:?}");
        }
    }
    assert!(told.is_empty(), "{} jobs left something:\n{}", told.len(), told.join("\n"));
}

#[test]
#[cfg_attr(debug_assertions, ignore = "of release builds: cargo test --release --test residue")]
fn expanding_a_key_leaves_nothing_of_it_on_the_stack() {
    let mut stack = Stack::new();
    for path in Path::available() {
        for key_bytes in common::KEY_LENGTHS {
            let mut key = vec![0; key_bytes];
            let found = residue(&mut stack, |seed, stack| {
                key.copy_from_slice(&common::Random(seed).bytes(key_bytes));
                let mut schedule = None;
                let left = stack.after(&mut || schedule = Schedule::from_raw(path, &key).ok());
                (left, vec![])
            });
            assert!(found.is_empty(), "{}, {key_bytes}: {}", path.name(), shown(&found));
        }
    }
}

#[test]
#[cfg_attr(debug_assertions, ignore = "of release builds: cargo test --release --test residue")]
fn counter_mode_leaves_nothing_of_its_key_on_the_stack() {
    let mut stack = Stack::new();
    for path in Path::available() {
        for (key_bytes, len) in [(16, 5), (24, 100), (32, 128), (32, 1_420), (16, 9_000)] {
            let (mut key, mut text) = (vec![0; key_bytes], vec![0; len]);
            let found = residue(&mut stack, |seed, stack| {
                let mut random = common::Random(seed);
                key.copy_from_slice(&random.bytes(key_bytes));
                text.copy_from_slice(&random.bytes(len));
                let schedule = Schedule::from_raw(path, &key).unwrap();
                let left = stack.after(&mut || ctr_in_place(path, &schedule, [7; 16], &mut text));
                (left, vec![text.clone()])
            });
            assert!(found.is_empty(), "{}, {key_bytes} {len}: {}", path.name(), shown(&found));
        }
    }
}

#[test]
#[cfg_attr(debug_assertions, ignore = "of release builds: cargo test --release --test residue")]
fn parts_of_a_text_leave_nothing_of_its_key_on_the_stack() {
    let mut stack = Stack::new();
    for path in Path::available() {
        for (key_bytes, nonce_bytes, len) in
            [(16, 12, 5), (16, 12, 544), (24, 12, 700), (32, 13, 9_000)]
        {
            let mut text = vec![0; len];
            let cut = len / 32 * 16;
            let blocks = u32::try_from(cut / 16).unwrap();
            let nonce = vec![5; nonce_bytes];
            let found = residue(&mut stack, |seed, stack| {
                let mut random = common::Random(seed);
                let key = random.bytes(key_bytes);
                text.copy_from_slice(&random.bytes(len));
                let parts = Parts::new(path, Algorithm::AesGcm, &key, Op::Seal, &nonce).unwrap();
                let (mut hashes, mut tag) = ([const { None }; 2], [0; 16]);
                let left = stack.after(&mut || {
                    let (first, second) = text.split_at_mut(cut);
                    hashes[0] = Some(parts.work_part(0, SlotText::InPlace(first)));
                    hashes[1] = Some(parts.work_part(blocks, SlotText::InPlace(second)));
                });
                let hashes = hashes.map(Option::unwrap);
                let concluded = stack.after(&mut || {
                    let (text, tag) = (SlotText::InPlace(&mut text), SlotTag::Write(&mut tag));
                    let slot = Slot { op: Op::Seal, nonce: &nonce, aad: &[9; 20], text, tag };
                    assert_eq!(parts.conclude(slot, &hashes), Status::Ok);
                });
                ([left, concluded].concat(), vec![text.clone(), tag.to_vec()])
            });
            assert!(found.is_empty(), "{}, {key_bytes} {len}: {}", path.name(), shown(&found));
        }
    }
}

/// A word that came from a secret: how far it lies below the work in bytes, registers below the stack, and the word.
type Found = (usize, u64);

/// What is left of secrets. `left` works with those of a seed and gives the stack and what is public.
fn residue(
    stack: &mut Stack,
    mut left: impl FnMut(u64, &mut Stack) -> (Vec<u64>, Vec<Vec<u8>>),
) -> Vec<Found> {
    // In this order, so that an address that changes each other time is not taken for a secret.
    let [a, b, c, c_again, b_again, a_again] = [1, 2, 3, 3, 2, 1].map(|seed| left(seed, stack));
    let (lefts, again) = ([&a, &b, &c], [&a_again, &b_again, &c_again]);
    let mut found = vec![];
    for place in 0..a.0.len() {
        let words = lefts.map(|left| left.0[place]);
        let is_steady = words == again.map(|left| left.0[place]);
        // The allocator's words are one of two in most places, whatever the secrets.
        let are_three = words[0] != words[1] && words[1] != words[2] && words[2] != words[0];
        let are_public = || lefts.iter().zip(words).all(|(left, word)| is_public(word, &left.1));
        if is_steady && are_three && !words.into_iter().any(is_place) && !are_public() {
            found.push((8 * (a.0.len() - place), words[0]));
        }
    }
    found
}

/// Whether a word can be an address or the distance of two: keys lie elsewhere each time. Next to no eight
/// bytes of a secret look like that.
fn is_place(word: u64) -> bool {
    let distance = word.cast_signed().unsigned_abs();
    (distance < 1 << 24 && distance.is_multiple_of(16)) || (1 << 40..1 << 47).contains(&word)
}

fn shown(found: &[Found]) -> String {
    let places = found.iter().map(|(place, _)| *place);
    let (nearest, deepest) = (places.clone().min(), places.max());
    let some = &found[..found.len().min(3)];
    format!("{} words, {nearest:x?} to {deepest:x?}, as {some:x?}", found.len())
}

/// Whether a word is 3 to 8 public bytes in a row, in either order, with zeros around them as at the end
/// of a text in a register.
fn is_public(word: u64, public: &[Vec<u8>]) -> bool {
    let bytes = word.to_le_bytes();
    let start = bytes.iter().take_while(|byte| **byte == 0).count();
    let behind = bytes.iter().rev().take_while(|byte| **byte == 0).count();
    let Some(bytes) = bytes.get(start..8 - behind).filter(|bytes| bytes.len() >= 3) else {
        return false;
    };
    let reversed: Vec<u8> = bytes.iter().rev().copied().collect();
    let holds = |public: &Vec<u8>| {
        public.windows(bytes.len()).any(|window| window == bytes || window == reversed)
    };
    public.iter().any(holds)
}

/// As many messages as are worked alike and as few as are not, of lengths that take every kernel.
fn jobs() -> Vec<Job> {
    let mut jobs = vec![];
    let gcm = SHAPES.map(|shape| (Algorithm::AesGcm, shape));
    let xaes = XAES_SHAPES.map(|shape| (Algorithm::Xaes256Gcm, shape));
    for (algorithm, shape) in gcm.into_iter().chain(xaes) {
        let (messages, text_bytes, key_bytes, nonce_bytes, aad_bytes) = shape;
        for path in Path::available() {
            for how in [How::One, How::Each, How::Raw] {
                for what in [What::Sealed, What::Opened, What::Refused] {
                    if path != Path::Model || text_bytes <= 128 {
                        jobs.push(Job {
                            algorithm,
                            path,
                            how,
                            what,
                            messages,
                            text_bytes,
                            key_bytes,
                            nonce_bytes,
                            aad_bytes,
                        });
                    }
                }
            }
        }
    }
    jobs
}

/// Messages; bytes of text, of key, of nonce and of aad.
const SHAPES: [(usize, usize, usize, usize, usize); 35] = [
    (1, 5, 32, 12, 17),
    (1, 128, 16, 12, 17),
    (1, 128, 32, 16, 300),
    (1, 129, 16, 12, 17),
    (1, 150, 24, 12, 17),
    (1, 200, 16, 12, 17),
    (1, 250, 32, 12, 17),
    (1, 255, 32, 60, 100),
    (1, 300, 32, 12, 17),
    (1, 1_420, 24, 12, 0),
    (1, 9_000, 32, 12, 17),
    (5, 16, 24, 12, 17),
    (5, 9_000, 16, 12, 17),
    (5, 300, 32, 12, 17),
    (6, 300, 16, 12, 0),
    (7, 16, 24, 12, 17),
    (7, 128, 32, 12, 17),
    (7, 128, 32, 12, 128),
    (7, 100, 16, 13, 20),
    (7, 300, 32, 12, 17),
    (7, 600, 16, 12, 17),
    (23, 5, 16, 12, 17),
    (23, 128, 16, 12, 17),
    (23, 128, 32, 12, 17),
    (23, 128, 32, 12, 70),
    (23, 100, 16, 13, 20),
    (23, 100, 32, 12, 70),
    (23, 200, 16, 12, 17),
    (23, 256, 32, 12, 0),
    (23, 300, 24, 12, 17),
    (23, 500, 32, 12, 17),
    (23, 600, 24, 12, 17),
    (23, 1_420, 32, 12, 17),
    (23, 1_420, 32, 12, 300),
    (23, 9_000, 32, 12, 17),
];

const XAES_SHAPES: [(usize, usize, usize, usize, usize); 6] = [
    (1, 128, 32, 24, 17),
    (1, 9_000, 32, 24, 17),
    (7, 128, 32, 24, 17),
    (7, 300, 32, 24, 17),
    (23, 128, 32, 24, 17),
    (23, 1_420, 32, 24, 17),
];

#[inline(never)]
fn leave_on_the_stack(key: &[u8; 32]) {
    let mut copy = [0; 32];
    copy.copy_from_slice(key);
    black_box(&copy);
}
