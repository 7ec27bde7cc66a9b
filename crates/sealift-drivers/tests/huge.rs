//! A message of more bytes than 32 bits can count, on every instruction set, beside AWS-LC.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use sealift_core::{
    Batch, Column, Context, Device, Key, KeySource, Keys, Notify, Op, Ops, Output, Place,
    SessionId, Status, SystemClock, Tags, Text, Work,
};
use sealift_kernels::Path;
use std::sync::Arc;

#[test]
#[ignore = "takes 5 GiB of memory and a minute: make huge"]
fn a_message_of_five_gibibytes_is_what_aws_lc_makes_of_it() {
    let library = device("library");
    let mut text = vec![0; BYTES];
    for path in Path::available().into_iter().filter(|path| *path != Path::Model) {
        println!("{}", path.name());
        let ours = device(&format!("cpu:isa={}", path.name()));
        fill(&mut text);
        for (sealing, opening) in [(&ours, &library), (&library, &ours)] {
            let tag = seal(sealing, &mut text);
            assert_eq!(open(opening, &mut text, &tag), Status::Ok, "{}", path.name());
            assert!(is_filled(&text), "{}: another plaintext", path.name());
        }
        let tag = seal(&ours, &mut text);
        text[BYTES - 100] ^= 1;
        assert_eq!(open(&ours, &mut text, &tag), Status::AuthFailed, "{}", path.name());
        assert!(text.iter().all(|byte| *byte == 0), "{}: not zeros", path.name());
    }
}

/// Behind the last whole step of every path comes a part of each kind.
const BYTES: usize = (5 << 30) + 1_023;
const KEY: [u8; 32] = [0x42; 32];
const NONCE: [u8; 12] = [0x17; 12];

fn device(spec: &str) -> Arc<dyn Device> {
    let context = Context { clock: Arc::new(SystemClock::new()), notify: Arc::new(Unheard) };
    sealift_drivers::open(&spec.parse().unwrap(), &context).unwrap()
}

fn seal(device: &Arc<dyn Device>, text: &mut [u8]) -> [u8; 16] {
    let mut tag = [0; 16];
    assert_eq!(work(device, Op::Seal, text, &[0; 16], &mut tag), Status::Ok);
    tag
}

fn open(device: &Arc<dyn Device>, text: &mut [u8], tag: &[u8; 16]) -> Status {
    work(device, Op::Open, text, tag, &mut [])
}

fn work(
    device: &Arc<dyn Device>,
    op: Op,
    text: &mut [u8],
    tag: &[u8; 16],
    made: &mut [u8],
) -> Status {
    let bytes = text.len();
    let batch = Batch {
        ops: Ops::All(op),
        aad: Column::Same(b"header"[..].into()),
        tags: Tags::Apart(Column::fixed(tag, 16)),
        text: Text::InPlace,
        ..Batch::seal(
            1,
            Keys::Raw(Column::fixed(&KEY, KEY.len())),
            Column::fixed(&NONCE, NONCE.len()),
            Column::fixed(&[], 0),
        )
    };
    let mut status = [Status::NotProcessed];
    let tags = if op == Op::Seal { Place::fixed(made, 16) } else { Place::Empty };
    let output = Output { text: Place::fixed(text, bytes), tags, status: &mut status };
    let mut work = Work::new(&batch, output, &NoKeys).unwrap();
    device.run(&mut work).unwrap();
    status[0]
}

/// Writes bytes of which no two stretches are alike.
fn fill(text: &mut [u8]) {
    for (i, word) in (0..).zip(text.chunks_mut(8)) {
        word.copy_from_slice(&filling(i)[..word.len()]);
    }
}

fn is_filled(text: &[u8]) -> bool {
    (0..).zip(text.chunks(8)).all(|(i, word)| *word == filling(i)[..word.len()])
}

fn filling(word: u64) -> [u8; 8] {
    (word.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (word >> 29)).to_le_bytes()
}

#[derive(Debug)]
struct Unheard;

impl Notify for Unheard {
    fn ring(&self) {}
}

struct NoKeys;

impl KeySource for NoKeys {
    fn key(&self, _session: SessionId) -> Option<Arc<Key>> {
        None
    }
}
