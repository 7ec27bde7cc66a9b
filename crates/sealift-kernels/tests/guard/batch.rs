//! Batches of which every column touches pages that can't be accessed.

use std::sync::Arc;

use sealift_core::{
    Batch, Column, Key, KeySource, Keys, NonceRule, Op, Ops, Output, Place, SessionId, Status,
    TagLength, Tags, Text, Work,
};
use sealift_kernels::{Path, Schedule, Schedules, run};

use crate::{
    Fence, Side,
    common::{KEY_LENGTHS, Random, TAG_LENGTHS},
};

/// Where keys come from.
#[derive(Clone, Copy, Debug, PartialEq)]
enum How {
    One,
    Each,
    Raw,
}

/// A batch of messages of one shape.
#[derive(Clone, Copy, Debug)]
struct Shape {
    messages: usize,
    how: How,
    /// Whether all messages have the same nonce, aad, text and key: each touches a page then.
    same: bool,
    in_place: bool,
    key: usize,
    nonce: usize,
    aad: usize,
    text: usize,
    tag: usize,
}

/// The bytes of its columns.
struct Bytes {
    keys: Vec<u8>,
    nonces: Vec<u8>,
    aads: Vec<u8>,
    texts: Vec<u8>,
    tags: Vec<u8>,
}

/// What comes of it.
#[derive(Debug, PartialEq)]
struct Results {
    texts: Vec<u8>,
    tags: Vec<u8>,
    status: Vec<Status>,
}

/// A page for each column: keys, nonces, aads, texts, tags, and the results.
struct Fences([Fence; 7]);

impl Shape {
    fn draw(random: &mut Random, text: usize) -> Shape {
        Shape {
            messages: random.pick(&[1, 2, 3, 4, 5, 6, 7, 9, 13, 17, 20]),
            how: random.pick(&[How::One, How::Each, How::Raw]),
            same: random.pick(&[false, true]),
            in_place: random.pick(&[false, true]),
            key: random.pick(&KEY_LENGTHS),
            nonce: random.pick(&[12, 12, 12, 1, 13, 16, 60, 128]),
            aad: random.pick(&[0, 0, 1, 15, 16, 17, 33, 48, 49, 64, 65, 128, 129, 300]),
            text,
            tag: random.pick(&TAG_LENGTHS),
        }
    }

    /// Bytes of a column of parts that are so long.
    fn column(&self, random: &mut Random, len: usize) -> Vec<u8> {
        let one = random.bytes(len);
        if self.same { one } else { [one, random.bytes(len * (self.messages - 1))].concat() }
    }

    fn bytes(&self, random: &mut Random) -> Bytes {
        let same_text = Shape { same: self.same && !self.in_place, ..*self };
        Bytes {
            keys: self.column(random, self.key),
            nonces: self.column(random, self.nonce),
            aads: self.column(random, self.aad),
            texts: same_text.column(random, self.text),
            tags: self.column(random, self.tag),
        }
    }

    fn run(&self, path: Path, op: Op, bytes: &Bytes, fences: &mut Fences, side: Side) -> Results {
        let status = self.work(path, op, bytes, fences, side);
        let Fences([.., output, made]) = fences;
        Results {
            texts: output.read(side, self.text * self.messages).to_vec(),
            tags: made.read(side, self.tag * self.messages).to_vec(),
            status,
        }
    }

    fn work(
        &self,
        path: Path,
        op: Op,
        bytes: &Bytes,
        fences: &mut Fences,
        side: Side,
    ) -> Vec<Status> {
        let Shape { messages, how, key, nonce, aad, text, tag, .. } = *self;
        let [keys, nonces, aads, texts, tags, output, made] = &mut fences.0;
        let keys = &*keys.place(side, &bytes.keys);
        let expand = |key| Schedule::from_raw(path, key).unwrap();
        let schedules: Vec<Schedule> =
            (0..messages).map(|i| expand(&keys[i * key % keys.len()..][..key])).collect();
        let each: Vec<&Schedule> = schedules.iter().collect();
        let keys = match how {
            How::Raw if keys.len() == key => Keys::Raw(Column::Same(keys.into())),
            How::Raw => Keys::Raw(Column::fixed(keys, key)),
            How::One | How::Each => Keys::Session(SESSION),
        };
        let output = if self.in_place {
            output.place(side, &bytes.texts)
        } else {
            output.place(side, &vec![0xee; text * messages])
        };
        let texts = column(texts.place(side, &bytes.texts), text);
        let batch = Batch {
            ops: Ops::All(op),
            aad: column(aads.place(side, &bytes.aads), aad),
            tags: Tags::Apart(column(tags.place(side, &bytes.tags), tag)),
            tag_length: TagLength::new(tag).unwrap(),
            nonce_rule: NonceRule::HazmatAnyLength,
            ..Batch::seal(
                messages,
                keys,
                column(nonces.place(side, &bytes.nonces), nonce),
                if self.in_place { Text::InPlace } else { Text::Apart(texts) },
            )
        };
        let made = made.place(side, &vec![0xee; tag * messages]);
        let mut status = vec![Status::NotProcessed; messages];
        let places = (Place::fixed(output, text), Place::fixed(made, tag));
        let results = Output { text: places.0, tags: places.1, status: &mut status };
        let mut work = Work::new(&batch, results, &NoKeys).unwrap();
        let schedules = match how {
            How::One => Schedules::One(each[0]),
            How::Each => Schedules::Each(&each),
            How::Raw => Schedules::Raw,
        };
        run(path, &mut work, 0..messages, schedules);
        status
    }
}

/// Parts of `len` bytes, or one that all messages have.
fn column(bytes: &[u8], len: usize) -> Column<'_> {
    if bytes.len() == len { Column::Same(bytes.into()) } else { Column::fixed(bytes, len) }
}

#[test]
fn batches_between_inaccessible_pages_are_worked_on() {
    let mut random = Random(42);
    let mut fences = Fences(std::array::from_fn(|_| Fence::new()));
    for text in (0..=145).chain((146..=513).step_by(6)).chain([
        255, 256, 257, 383, 384, 385, 511, 512, 513, 528, 529, 777, 1_420, 1_500, 4_608, 5_119,
        5_120, 5_121,
    ]) {
        for side in [Side::Start, Side::End, Side::Start, Side::End] {
            let shape = Shape::draw(&mut random, text);
            let mut bytes = shape.bytes(&mut random);
            let mut agree = |op, bytes: &Bytes| {
                let expected = shape.run(Path::Model, op, bytes, &mut fences, side);
                for path in Path::available() {
                    let found = shape.run(path, op, bytes, &mut fences, side);
                    assert!(found == expected, "{} {op:?} {shape:?}", path.name());
                }
                expected
            };
            let sealed = agree(Op::Seal, &bytes);
            // Of the same parts the first is opened with the tag of each: they are all its own.
            let of_first = if shape.same { shape.tag } else { sealed.tags.len() };
            bytes.tags = sealed.tags[..of_first].to_vec();
            let of_first = if shape.same && !shape.in_place { text } else { sealed.texts.len() };
            bytes.texts = sealed.texts[..of_first].to_vec();
            for op in [Op::Open, Op::Verify] {
                agree(op, &bytes);
            }
            if let Some(byte) = bytes.tags.last_mut() {
                *byte ^= 1;
            }
            for op in [Op::Open, Op::Verify] {
                agree(op, &bytes);
            }
        }
    }
}

struct NoKeys;

impl KeySource for NoKeys {
    fn key(&self, _session: SessionId) -> Option<Arc<Key>> {
        None
    }
}

const SESSION: SessionId = SessionId { slot: 0, generation: 0 };
