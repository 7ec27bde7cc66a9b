//! A batch that is prepared for a class and then timed.

use std::{hint::black_box, sync::Arc};

use sealift_core::{
    Batch, Column, Key, KeySource, Keys, NonceRule, Op, Ops, Output, Place, SessionId, Status,
    Tags, Work,
};
use sealift_kernels::{Path, Schedule, Schedules, ctr_in_place, run};

use crate::{
    cases::{Case, Differ, How, Job},
    clock,
};

/// The two classes that are compared.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Class {
    /// Fixed secrets, or the first byte of a tag wrong.
    Fixed,
    /// Secrets drawn each time, or the last byte of a tag wrong.
    Drawn,
}

/// One batch with its memory.
pub(crate) struct Lane {
    path: Path,
    case: Case,
    class: Class,
    keys: Vec<u8>,
    schedules: Vec<Schedule>,
    nonces: Vec<u8>,
    texts: Vec<u8>,
    tags: Vec<u8>,
    right_tags: Vec<u8>,
    output: Vec<u8>,
    made: Vec<u8>,
    status: Vec<Status>,
}

impl Lane {
    pub(crate) fn new(path: Path, case: Case) -> Lane {
        let keys = vec![0; case.key_bytes * MESSAGES];
        let texts = vec![0; case.text_bytes * MESSAGES];
        let (tags, nonces) = (vec![0; 16 * MESSAGES], vec![7; case.nonce_bytes * MESSAGES]);
        let mut lane = Lane {
            path,
            case,
            class: Class::Fixed,
            schedules: vec![],
            keys,
            nonces,
            output: texts.clone(),
            texts,
            right_tags: tags.clone(),
            made: tags.clone(),
            tags,
            status: vec![Status::NotProcessed; MESSAGES],
        };
        lane.ready();
        lane
    }

    /// Expands the keys, and makes what is to be opened of the plaintexts.
    fn ready(&mut self) {
        self.expand();
        if self.case.job == Job::Open {
            self.work(Op::Seal, |work| work());
            self.texts.copy_from_slice(&self.output);
            self.right_tags.copy_from_slice(&self.made);
            self.tags.copy_from_slice(&self.made);
        }
    }

    pub(crate) fn class(&self) -> Class {
        self.class
    }

    /// Writes the inputs of a class: always draws, and keeps what the class has.
    pub(crate) fn prepare(&mut self, class: Class, random: &mut Random) {
        self.class = class;
        let keep = |class| if class == Class::Drawn { u8::MAX } else { 0 };
        match self.case.differ {
            Differ::WrongByte | Differ::EarlyExit => {
                self.tags.copy_from_slice(&self.right_tags);
                let last = keep(class);
                for tag in self.tags.chunks_mut(16) {
                    tag[0] ^= 0x10 & !last;
                    tag[15] ^= 0x10 & last;
                }
            }
            Differ::Secrets | Differ::LoopByKey | Differ::Nothing | Differ::Delay(_) => {
                let differ = matches!(self.case.differ, Differ::Secrets | Differ::LoopByKey);
                let mask = if differ { keep(class) } else { u8::MAX };
                random.fill(&mut self.keys, mask);
                random.fill(&mut self.texts, mask);
                self.ready();
            }
        }
    }

    /// The ticks that the batch took.
    pub(crate) fn timed(&mut self) -> u64 {
        let (differ, key, class) = (self.case.differ, self.keys[0], self.class);
        let compared = (self.tags.clone(), self.right_tags.clone());
        let mut ticks = 0;
        let within = |work: &mut dyn FnMut()| {
            ticks = clock::ticks(|| {
                work();
                match differ {
                    Differ::LoopByKey => (0..key.count_ones()).for_each(|bit| {
                        black_box(bit);
                    }),
                    Differ::EarlyExit => early_exit(&compared.0, &compared.1),
                    Differ::Delay(cycles) => clock::spend(cycles * (class as u64)),
                    _ => {}
                }
            });
        };
        match self.case.job {
            Job::Seal => self.work(Op::Seal, within),
            Job::Open => self.work(Op::Open, within),
            Job::Ctr => self.add_key_streams(within),
        }
        ticks
    }

    fn add_key_streams(&mut self, within: impl FnOnce(&mut dyn FnMut())) {
        let (path, schedule, bytes) = (self.path, &self.schedules[0], self.case.text_bytes);
        let texts = &mut self.texts;
        within(&mut || {
            texts.chunks_mut(bytes).for_each(|text| ctr_in_place(path, schedule, [7; 16], text));
        });
    }

    fn expand(&mut self) {
        let keys = match self.case.keys {
            How::Raw => return,
            How::One => 1,
            How::Each => MESSAGES,
        };
        let raw = self.keys.chunks(self.case.key_bytes).take(keys);
        self.schedules = raw.map(|key| Schedule::from_raw(self.path, key).unwrap()).collect();
    }

    fn work(&mut self, op: Op, within: impl FnOnce(&mut dyn FnMut())) {
        let Case { keys, text_bytes, key_bytes, nonce_bytes, differ, .. } = self.case;
        let each: Vec<&Schedule> = self.schedules.iter().collect();
        let batch_keys = match keys {
            How::Raw => Keys::Raw(Column::fixed(&self.keys, key_bytes)),
            How::One | How::Each => Keys::Session(SESSION),
        };
        let text = Column::fixed(&self.texts, text_bytes);
        let batch = Batch {
            ops: Ops::All(op),
            tags: Tags::Apart(Column::fixed(&self.tags, 16)),
            nonce_rule: NonceRule::HazmatAnyLength,
            ..Batch::seal(MESSAGES, batch_keys, Column::fixed(&self.nonces, nonce_bytes), text)
        };
        let output = Output {
            text: Place::fixed(&mut self.output, text_bytes),
            tags: Place::fixed(&mut self.made, 16),
            status: &mut self.status,
        };
        let mut work = Work::new(&batch, output, &NoKeys).unwrap();
        let schedules = match keys {
            How::One => Schedules::One(&self.schedules[0]),
            How::Each => Schedules::Each(&each),
            How::Raw => Schedules::Raw,
        };
        within(&mut || run(self.path, &mut work, 0..MESSAGES, schedules));
        let is_wrong = op == Op::Open && matches!(differ, Differ::WrongByte | Differ::EarlyExit);
        let expected = if is_wrong { Status::AuthFailed } else { Status::Ok };
        assert!(self.status.iter().all(|status| *status == expected));
    }
}

struct NoKeys;

impl KeySource for NoKeys {
    fn key(&self, _session: SessionId) -> Option<Arc<Key>> {
        None
    }
}

/// A small generator (SplitMix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn fill(&mut self, bytes: &mut [u8], mask: u8) {
        for chunk in bytes.chunks_mut(8) {
            let drawn = self.next().to_le_bytes();
            chunk.iter_mut().zip(drawn).for_each(|(byte, drawn)| *byte = drawn & mask);
        }
    }
}

/// What nobody should do with tags.
#[inline(never)]
fn early_exit(given: &[u8], right: &[u8]) {
    for (given, right) in given.chunks(16).zip(right.chunks(16)) {
        for (a, b) in given.iter().zip(right) {
            if black_box(a) != black_box(b) {
                break;
            }
        }
    }
}

const MESSAGES: usize = 16;
const SESSION: SessionId = SessionId { slot: 0, generation: 0 };
