//! Works on batches whose instructions `tools/instruction_counts.py` counts with callgrind.
//!
//! Callgrind counts in [`measured`] alone and writes its sum down after each call. Each call's case and its
//! number of messages go to standard output in the same order, with a tab between. The functions of all instruction sets
//! are in this program, so `tools/weave.py` takes it apart too.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark")]

use std::hint::black_box;
use std::sync::Arc;

use sealift_core::{
    Batch, Column, Key, KeySource, Keys, Op, Ops, Output, Place, SessionId, Status, Tags, Work,
};
use sealift_kernels::{Path, Schedule, Schedules, run};

fn main() {
    let arguments: Vec<_> = std::env::args().skip(1).filter(|one| one != "--bench").collect();
    if arguments.iter().any(|one| one == "--test") {
        return;
    }
    let name = arguments.first().map_or("aesni", |name| name);
    let path = Path::parse(name).unwrap();
    for key_bytes in [16, 32] {
        let bits = 8 * key_bytes;
        for case in CASES {
            let mut load = Load::new(path, case, key_bytes);
            load.work(path);
            measured(&mut || load.work(path));
            assert!(load.status.iter().all(|status| *status == Status::Ok));
            println!("{}, AES-{bits}\t{}", case.name, case.messages);
        }
        let keys = bytes(1, KEYS * key_bytes);
        // Into memory that is there: what an allocator takes depends on the machine.
        let mut schedule = Schedule::from_raw(path, &keys[..key_bytes]).unwrap();
        let mut expand = || {
            for key in keys.chunks(key_bytes) {
                black_box(&mut schedule).replace(path, key).unwrap();
            }
        };
        expand();
        measured(&mut expand);
        println!("expand a key, AES-{bits}\t{KEYS}");
    }
}

/// What callgrind looks for.
#[inline(never)]
fn measured(work: &mut dyn FnMut()) {
    work();
}

/// A batch of messages of one length.
struct Case {
    name: &'static str,
    op: Op,
    messages: usize,
    text_bytes: usize,
    keys: How,
}

/// Where its keys come from.
#[derive(Clone, Copy, PartialEq)]
enum How {
    One,
    Cached,
    Fresh,
}

struct Load {
    case: &'static Case,
    keys: Vec<u8>,
    key_bytes: usize,
    schedules: Vec<Schedule>,
    nonces: Vec<u8>,
    texts: Vec<u8>,
    tags: Vec<u8>,
    output: Vec<u8>,
    made: Vec<u8>,
    status: Vec<Status>,
}

impl Load {
    fn new(path: Path, case: &'static Case, key_bytes: usize) -> Load {
        let Case { messages, text_bytes, .. } = *case;
        let keys = bytes(1, key_bytes * if case.keys == How::One { 1 } else { messages });
        let expand = |key| Schedule::from_raw(path, key).unwrap();
        let schedules = keys.chunks(key_bytes).map(expand).collect();
        let (nonces, texts) = (bytes(2, 12 * messages), bytes(3, text_bytes * messages));
        let (tags, made) = (vec![0; 16 * messages], vec![0; 16 * messages]);
        let (output, status) = (texts.clone(), vec![Status::Ok; messages]);
        let mut load =
            Load { case, keys, key_bytes, schedules, nonces, texts, tags, output, made, status };
        if case.op != Op::Seal {
            load.run(path, Op::Seal);
            load.texts.copy_from_slice(&load.output);
            load.tags.copy_from_slice(&load.made);
        }
        load
    }

    fn work(&mut self, path: Path) {
        self.run(path, self.case.op);
    }

    fn run(&mut self, path: Path, op: Op) {
        let Case { messages, text_bytes, keys, .. } = *self.case;
        let batch_keys = match keys {
            How::Fresh => Keys::Raw(Column::fixed(&self.keys, self.key_bytes)),
            How::One | How::Cached => Keys::Session(SESSION),
        };
        let nonce = Column::fixed(&self.nonces, 12);
        let text = Column::fixed(&self.texts, text_bytes);
        let batch = Batch {
            ops: Ops::All(op),
            tags: Tags::Apart(Column::fixed(&self.tags, 16)),
            ..Batch::seal(messages, batch_keys, nonce, text)
        };
        let cached = if keys == How::Cached { &self.schedules[..] } else { &[] };
        let each: Vec<&Schedule> = cached.iter().collect();
        let output = Output {
            text: Place::fixed(&mut self.output, text_bytes),
            tags: Place::fixed(&mut self.made, 16),
            status: &mut self.status,
        };
        let mut work = Work::new(&batch, output, &NoKeys).unwrap();
        let schedules = match keys {
            How::One => Schedules::One(&self.schedules[0]),
            How::Cached => Schedules::Each(&each),
            How::Fresh => Schedules::Raw,
        };
        run(path, &mut work, 0..messages, schedules);
    }
}

struct NoKeys;

impl KeySource for NoKeys {
    fn key(&self, _session: SessionId) -> Option<Arc<Key>> {
        None
    }
}

/// The same bytes for the same seed.
fn bytes(seed: u64, len: usize) -> Vec<u8> {
    let next = |state: &mut u64| {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        Some(state.to_be_bytes()[0])
    };
    (0..len).scan(seed, |state, _| next(state)).collect()
}

const KEYS: usize = 256;
const SESSION: SessionId = SessionId { slot: 0, generation: 0 };
const fn case(name: &'static str, op: Op, messages: usize, text_bytes: usize, keys: How) -> Case {
    Case { name, op, messages, text_bytes, keys }
}
static CASES: &[Case] = &[
    case("seal 128 B, one key", Op::Seal, 1_024, 128, How::One),
    case("open 128 B, one key", Op::Open, 1_024, 128, How::One),
    case("verify 128 B, one key", Op::Verify, 1_024, 128, How::One),
    case("seal 128 B, 1024 keys", Op::Seal, 1_024, 128, How::Cached),
    case("open 128 B, 1024 keys", Op::Open, 1_024, 128, How::Cached),
    case("seal 128 B, fresh keys", Op::Seal, 1_024, 128, How::Fresh),
    case("seal 16 B, one key", Op::Seal, 1_024, 16, How::One),
    case("open 16 B, fresh keys", Op::Open, 1_024, 16, How::Fresh),
    case("seal 64 B, one key", Op::Seal, 1_024, 64, How::One),
    case("open 100 B, 1024 keys", Op::Open, 1_024, 100, How::Cached),
    case("seal 16 KiB, one key", Op::Seal, 8, 16_384, How::One),
    case("open 16 KiB, one key", Op::Open, 8, 16_384, How::One),
    case("a batch of one: seal 128 B", Op::Seal, 1, 128, How::One),
];
