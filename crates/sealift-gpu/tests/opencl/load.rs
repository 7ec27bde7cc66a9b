//! Work, and what is right.

use sealift_core::{
    Batch, Column, Key, KeySource, NonceRule, Op, Ops, Output, Place, SessionId, Slot, SlotTag,
    SlotText, Status, Tags, Work,
};
use sealift_gpu::Worker;
use sealift_gpu::opencl::{self, OpenCl};
use sealift_kernels::{Path, Schedule};
use std::sync::Arc;

/// The first device; none where there is none, unless `SEALIFT_REQUIRE` names it.
pub(crate) fn device() -> Option<Arc<OpenCl>> {
    match opencl::open(opencl::LIBRARY, Some(0)) {
        Ok(device) => {
            sealift_testing::ran("opencl");
            Some(device)
        }
        Err(error) => {
            sealift_testing::skip("opencl", &error.to_string()).unwrap();
            None
        }
    }
}

/// Keys of all three lengths.
struct KeyRing;

impl KeySource for KeyRing {
    fn key(&self, session: SessionId) -> Option<Arc<Key>> {
        let seed = session.slot.to_le_bytes()[0];
        let bytes: Vec<u8> = (0..32).map(|at| seed.wrapping_mul(41) ^ (7 * at)).collect();
        Key::new(&bytes[..[16, 24, 32][usize::from(seed) % 3]]).ok().map(Arc::new)
    }
}

fn session(slot: usize) -> SessionId {
    SessionId { slot: u32::try_from(slot).unwrap(), generation: 1 }
}

/// Bytes that differ from place to place and from seed to seed.
pub(crate) fn bytes(count: usize, seed: usize) -> Vec<u8> {
    (0..count).map(|at| (at * 7 + at / 251 + seed * 13).to_le_bytes()[0]).collect()
}

/// What this processor's kernels make of a message.
fn sealed(key: &Key, nonce: &[u8], aad: &[u8], text: &[u8]) -> (Vec<u8>, [u8; 16]) {
    let path = Path::best().unwrap().unwrap_or(Path::Model);
    let (mut out, mut tag) = (text.to_vec(), [0; 16]);
    let slot = Slot {
        op: Op::Seal,
        nonce,
        aad,
        text: SlotText::InPlace(&mut out),
        tag: SlotTag::Write(&mut tag),
    };
    assert_eq!(sealift_kernels::process(path, &Schedule::new(path, key), slot), Status::Ok);
    (out, tag)
}

/// How work is done.
pub(crate) type Run<'r> = &'r dyn Fn(&mut Work<'_>);

/// In rounds of a worker.
pub(crate) fn in_rounds(worker: &Worker) -> impl Fn(&mut Work<'_>) {
    |work| {
        let took = worker.run(work).unwrap();
        assert!(took.copy_in_ns > 0 && took.compute_ns > 0 && took.copy_out_ns > 0, "{took:?}");
    }
}

/// Seals a message for each length under some sessions in turn, and opens and verifies them with one tag of seven wrong.
pub(crate) fn seal_and_open(run: Run<'_>, lengths: &[usize], slots: &[usize], nonce_bytes: usize) {
    let shapes: Vec<_> = lengths.iter().enumerate().map(|(n, length)| (n % 40, *length)).collect();
    seal_and_open_all(run, &shapes, slots, nonce_bytes);
}

/// The same for lengths of aads and texts.
pub(crate) fn seal_and_open_all(
    run: Run<'_>,
    shapes: &[(usize, usize)],
    slots: &[usize],
    nonce_bytes: usize,
) {
    let count = shapes.len();
    let nonces = bytes(nonce_bytes * count, 3);
    let parts = shapes.iter().enumerate().map(|(n, (aad, text))| (bytes(*aad, n), bytes(*text, n)));
    let (aads, texts): (Vec<_>, Vec<_>) = parts.unzip();
    let sessions: Vec<_> = (0..count).map(|number| session(slots[number % slots.len()])).collect();
    let truths = (0..count).map(|number| {
        let key = KeyRing.key(sessions[number]).unwrap();
        let nonce = &nonces[nonce_bytes * number..][..nonce_bytes];
        sealed(&key, nonce, &aads[number], &texts[number])
    });
    let (ciphertexts, mut tags): (Vec<_>, Vec<_>) = truths.unzip();
    let made_by = |op: Op, input: &[Vec<u8>], tags: Tags<'_>| {
        let scattered = |parts: &[Vec<u8>]| {
            Column::Scattered(parts.iter().map(|part| part.clone().into()).collect())
        };
        let batch = Batch {
            ops: Ops::All(op),
            aad: scattered(&aads),
            tags,
            nonce_rule: NonceRule::HazmatAnyLength,
            ..Batch::seal(
                count,
                sessions.clone(),
                Column::fixed(&nonces, nonce_bytes),
                scattered(input),
            )
        };
        let room = |text: &Vec<u8>| if op == Op::Verify { 0 } else { text.len() };
        let mut made: Vec<_> = input.iter().map(|text| vec![0xee; room(text)]).collect();
        let (mut made_tags, mut status) = (vec![0xee; 16 * count], vec![Status::Ok; count]);
        let output = Output {
            text: Place::Scattered(made.iter_mut().map(Vec::as_mut_slice).collect()),
            tags: Place::fixed(&mut made_tags, 16),
            status: &mut status,
        };
        run(&mut Work::new(&batch, output, &KeyRing).unwrap());
        (made, made_tags, status)
    };
    let (made, made_tags, status) = made_by(Op::Seal, &texts, Tags::Apart(Column::Empty));
    assert!(made == ciphertexts);
    assert_eq!(made_tags.as_chunks().0, tags);
    assert_eq!(status, vec![Status::Ok; count]);
    tags.iter_mut().step_by(7).for_each(|tag| tag[3] ^= 4);
    let given = tags.concat();
    let given = || Tags::Apart(Column::fixed(&given, 16));
    let (made, _, status) = made_by(Op::Open, &ciphertexts, given());
    for number in 0..count {
        let fails = number % 7 == 0;
        assert_eq!(status[number], if fails { Status::AuthFailed } else { Status::Ok });
        let zeros = vec![0; texts[number].len()];
        assert!(made[number] == if fails { zeros } else { texts[number].clone() }, "{number}");
    }
    assert_eq!(made_by(Op::Verify, &ciphertexts, given()).2, status);
}
