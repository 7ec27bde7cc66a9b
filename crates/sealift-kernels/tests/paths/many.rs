//! Batches of messages of all shapes: every path gives what the model gives.

use crate::common::{Random, WRAPPING_NONCES};
use sealift_core::{
    Batch, Buffer, Column, Key, KeySource, Keys, NonceRule, Op, Ops, Output, Place, SessionId,
    Status, TagLength, Tags, Text, Work,
};
use sealift_kernels::{Path, Schedule, Schedules, run};
use std::ops::Range;
use std::sync::Arc;

const SESSION: SessionId = SessionId { slot: 0, generation: 0 };

struct NoKeys;
impl KeySource for NoKeys {
    fn key(&self, _: SessionId) -> Option<Arc<Key>> {
        None
    }
}

/// How keys are given.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    One,
    Each,
    Raw,
}

/// What messages of a batch may be like.
#[derive(Clone, Debug)]
struct Shapes {
    ops: Vec<Op>,
    keys: Vec<usize>,
    nonces: Vec<usize>,
    aads: Vec<usize>,
    texts: Vec<usize>,
    tag: usize,
}

/// A batch of messages, those that are not sealed by it sealed before.
#[derive(Clone)]
struct Batches {
    form: Form,
    tag: TagLength,
    ops: Vec<Op>,
    /// Of each message; with [`Form::One`] all the same.
    keys: Vec<Vec<u8>>,
    nonces: Vec<Vec<u8>>,
    aads: Vec<Vec<u8>>,
    texts: Vec<Vec<u8>>,
    tags: Vec<Vec<u8>>,
}

#[derive(Clone, Debug, PartialEq)]
struct Results {
    texts: Vec<Vec<u8>>,
    tags: Vec<Vec<u8>>,
    status: Vec<Status>,
}

impl Batches {
    /// A quarter of those that were sealed before are spoilt.
    fn draw(random: &mut Random, form: Form, shapes: &Shapes, messages: usize) -> Batches {
        let mut batch = Batches::right(random, form, shapes, messages);
        for message in 0..messages {
            if batch.ops[message] != Op::Seal && random.below(4) == 0 {
                batch.spoil(random, message);
            }
        }
        batch
    }

    fn right(random: &mut Random, form: Form, shapes: &Shapes, messages: usize) -> Batches {
        let one = random.pick(&shapes.keys);
        let one = random.bytes(one);
        let pool: Vec<Vec<u8>> = (0..9)
            .map(|_| {
                let bytes = random.pick(&shapes.keys);
                random.bytes(bytes)
            })
            .collect();
        let mut batch = Batches {
            form,
            tag: TagLength::new(shapes.tag).unwrap(),
            ops: vec![Op::Seal; messages],
            keys: vec![],
            nonces: vec![],
            aads: vec![],
            texts: vec![],
            tags: vec![vec![0; shapes.tag]; messages],
        };
        for _ in 0..messages {
            let nonce = random.pick(&shapes.nonces);
            let aad = random.pick(&shapes.aads);
            let text = random.pick(&shapes.texts);
            batch.nonces.push(random.bytes(nonce));
            batch.aads.push(random.bytes(aad));
            batch.texts.push(random.bytes(text));
            batch.keys.push(match form {
                Form::One => one.clone(),
                Form::Each => pool[random.below(pool.len())].clone(),
                Form::Raw => {
                    let bytes = random.pick(&shapes.keys);
                    random.bytes(bytes)
                }
            });
        }
        let sealed = batch.run(Path::Model, false);
        for message in 0..messages {
            batch.ops[message] = random.pick(&shapes.ops);
            if batch.ops[message] != Op::Seal {
                batch.texts[message].clone_from(&sealed.texts[message]);
                batch.tags[message].clone_from(&sealed.tags[message]);
            }
        }
        batch
    }

    /// Changes a bit of the tag, the text, the aad or the nonce.
    fn spoil(&mut self, random: &mut Random, message: usize) {
        let parts = [&mut self.tags, &mut self.texts, &mut self.aads, &mut self.nonces];
        let choice = random.below(4);
        let part = &mut parts.into_iter().nth(choice).unwrap()[message];
        if !part.is_empty() {
            let at = random.below(part.len());
            part[at] ^= 1 << random.below(8);
        }
    }

    fn run(&self, path: Path, in_place: bool) -> Results {
        self.run_parts(path, in_place, std::slice::from_ref(&(0..self.ops.len())))
    }

    /// The same in several calls.
    fn run_parts(&self, path: Path, in_place: bool, parts: &[Range<usize>]) -> Results {
        let n = self.ops.len();
        let column = |parts: &'_ [Vec<u8>]| match common_len(parts) {
            // At equal distances, with a gap.
            Some(len) => {
                let gap = |part: &Vec<u8>| [&part[..], &[0xdd; GAP]].concat();
                Column::strided(parts.iter().flat_map(gap).collect::<Vec<u8>>(), len + GAP, len)
            }
            None => {
                Column::Scattered(parts.iter().map(|part| Buffer::from(part.clone())).collect())
            }
        };
        let all = self.ops.iter().all(|op| *op == self.ops[0]);
        let keys = match self.form {
            Form::Raw => Keys::Raw(column(&self.keys)),
            _ => Keys::Session(SESSION),
        };
        let text = if in_place { Text::InPlace } else { Text::Apart(column(&self.texts)) };
        let batch = Batch {
            ops: if all { Ops::All(self.ops[0]) } else { Ops::Each((&self.ops).into()) },
            aad: column(&self.aads),
            tags: Tags::Apart(column(&self.tags)),
            tag_length: self.tag,
            nonce_rule: NonceRule::HazmatAnyLength,
            ..Batch::seal(n, keys, column(&self.nonces), text)
        };
        let mut texts: Vec<Vec<u8>> = self
            .texts
            .iter()
            .map(|text| if in_place { text.clone() } else { vec![0xee; text.len()] })
            .collect();
        let mut tags = vec![vec![0xee; self.tag.bytes()]; n];
        let mut status = vec![Status::NotProcessed; n];
        let (mut packed, mut packed_tags) = (texts.concat(), tags.concat());
        let common = common_len(&self.texts);
        let output = match common {
            Some(len) => Output {
                text: Place::fixed(&mut packed, len),
                tags: Place::fixed(&mut packed_tags, self.tag.bytes()),
                status: &mut status,
            },
            None => Output {
                text: Place::Scattered(texts.iter_mut().map(|text| &mut text[..]).collect()),
                tags: Place::Scattered(tags.iter_mut().map(|tag| &mut tag[..]).collect()),
                status: &mut status,
            },
        };
        let schedules: Vec<Schedule> =
            self.keys.iter().map(|key| Schedule::from_raw(path, key).unwrap()).collect();
        let each: Vec<&Schedule> = schedules.iter().collect();
        let mut work = Work::new(&batch, output, &NoKeys).unwrap();
        for part in parts {
            let schedules = match self.form {
                Form::One => Schedules::One(each[0]),
                Form::Each => Schedules::Each(&each[part.clone()]),
                Form::Raw => Schedules::Raw,
            };
            run(path, &mut work, part.clone(), schedules);
        }
        if let Some(len) = common {
            texts = (0..n).map(|i| packed[len * i..len * (i + 1)].to_vec()).collect();
            tags = packed_tags.chunks(self.tag.bytes()).map(<[u8]>::to_vec).collect();
        }
        Results { texts, tags, status }
    }
}

/// Bytes between the parts of messages that lie at equal distances.
const GAP: usize = 3;

fn common_len(parts: &[Vec<u8>]) -> Option<usize> {
    let len = parts.first()?.len();
    parts.iter().all(|part| part.len() == len).then_some(len)
}

const FORMS: [Form; 3] = [Form::One, Form::Each, Form::Raw];
const ALL_OPS: [Op; 3] = [Op::Seal, Op::Open, Op::Verify];

fn agree(random: &mut Random, form: Form, shapes: &Shapes, messages: usize) {
    let batch = Batches::draw(random, form, shapes, messages);
    for in_place in [false, true] {
        let expected = batch.run(Path::Model, in_place);
        for path in Path::available().into_iter().filter(|path| *path != Path::Model) {
            let found = batch.run(path, in_place);
            for message in 0..messages {
                let about = format!(
                    "{} {form:?} in place {in_place}: message {message} of {messages}, {:?}, key {}, nonce {}, \
                     aad {}, text {}, tag {}",
                    path.name(),
                    batch.ops[message],
                    batch.keys[message].len(),
                    batch.nonces[message].len(),
                    batch.aads[message].len(),
                    batch.texts[message].len(),
                    shapes.tag,
                );
                assert_eq!(found.status[message], expected.status[message], "{about}");
                assert_eq!(found.texts[message], expected.texts[message], "{about}");
                assert_eq!(found.tags[message], expected.tags[message], "{about}");
            }
        }
    }
}

fn everything() -> Shapes {
    Shapes {
        ops: ALL_OPS.to_vec(),
        keys: vec![16, 24, 32],
        nonces: vec![12, 12, 12, 1, 16, 128],
        aads: vec![0, 1, 16, 17, 33, 48, 49, 90, 128, 129, 300],
        texts: (0..=200).chain([256, 257, 300, 512, 777, 1_420, 4_096]).collect(),
        tag: 16,
    }
}

#[test]
fn messages_of_all_shapes_in_one_batch_agree_with_the_model() {
    let mut random = Random(21);
    for form in FORMS {
        for tag in [16, 4, 12, 13, 15] {
            let shapes = Shapes { tag, ..everything() };
            agree(&mut random, form, &shapes, 300);
        }
    }
}

#[test]
fn many_messages_of_129_to_512_bytes_agree_with_the_model() {
    let mut random = Random(33);
    for (form, ops) in
        FORMS.into_iter().flat_map(|form| [&ALL_OPS[..], &[Op::Open]].map(|ops| (form, ops)))
    {
        let texts = (120..=530).step_by(if ops.len() == 1 { 7 } else { 41 }).collect();
        // Texts alone differ where one thing is done.
        let (aads, nonces) = if ops.len() == 1 {
            (vec![20], vec![12])
        } else {
            (vec![0, 20, 60], vec![12, 12, 12, 16])
        };
        let shapes = Shapes { ops: ops.to_vec(), aads, nonces, texts, ..everything() };
        agree(&mut random, form, &shapes, 1_100);
    }
}

#[test]
fn short_messages_of_a_few_shapes_agree_with_the_model() {
    let mut random = Random(22);
    for form in FORMS {
        for (op, text, aad) in ALL_OPS
            .into_iter()
            .flat_map(|op| (0..=17).map(move |blocks| (op, blocks)))
            .flat_map(|(op, blocks)| (0..=4).map(move |aad| (op, blocks, aad)))
        {
            let full: usize = 16 * text;
            let (partly, aad) = (full.saturating_sub(random.below(16)), 16 * aad);
            let shapes = Shapes {
                ops: vec![op],
                keys: vec![random.pick(&[16, 24, 32])],
                nonces: vec![12],
                aads: vec![aad, aad.saturating_sub(15)],
                texts: vec![full, partly],
                tag: random.pick(&[16, 16, 8, 14]),
            };
            for messages in [random.pick(&[1, 2, 3, 4, 5]), random.pick(&[9, 16, 17, 33])] {
                agree(&mut random, form, &shapes, messages);
            }
        }
    }
}

#[test]
fn longer_messages_agree_with_the_model() {
    let mut random = Random(23);
    for form in FORMS {
        for op in ALL_OPS {
            for aad in [0, 17, 200] {
                let shapes = Shapes {
                    ops: vec![op],
                    keys: vec![random.pick(&[16, 24, 32])],
                    nonces: vec![12],
                    aads: vec![aad],
                    texts: (129..800)
                        .chain([1_024, 1_420, 2_047, 2_048, 2_049, 8_192, 10_001])
                        .chain([16_383, 16_384, 16_385])
                        .collect(),
                    tag: 16,
                };
                agree(&mut random, form, &shapes, 80);
            }
        }
    }
}

#[test]
fn batches_of_more_than_a_window_agree_with_the_model() {
    let mut random = Random(24);
    for form in FORMS {
        let shapes = Shapes { aads: vec![0, 20], texts: (0..=70).collect(), ..everything() };
        agree(&mut random, form, &shapes, 2_300);
    }
}

#[test]
fn messages_at_equal_distances_agree_with_the_model() {
    let mut random = Random(25);
    for form in FORMS {
        for (ops, keys) in [
            (vec![Op::Seal], vec![16]),
            (vec![Op::Open], vec![16, 24, 32]),
            (ALL_OPS.to_vec(), vec![32]),
            (ALL_OPS.to_vec(), vec![16, 24, 32]),
        ] {
            for (text, aad, nonce) in [
                (128, 0, 12),
                (128, 17, 12),
                (40, 33, 12),
                (0, 5, 12),
                (16, 0, 1),
                (128, 17, 16),
                (112, 128, 128),
                (256, 0, 60),
                (256, 0, 12),
                (512, 17, 12),
                (700, 0, 12),
            ] {
                let shapes = Shapes {
                    ops: ops.clone(),
                    keys: keys.clone(),
                    nonces: vec![nonce],
                    aads: vec![aad],
                    texts: vec![text],
                    tag: 16,
                };
                let messages = random.pick(&[2, 19, 70, 300]);
                agree(&mut random, form, &shapes, messages);
            }
        }
    }
}

#[test]
fn a_batch_in_parts_is_the_batch_as_a_whole() {
    let mut random = Random(28);
    let uniform = Shapes { nonces: vec![12], aads: vec![20], texts: vec![100], ..everything() };
    let sealed = Shapes { ops: vec![Op::Seal], keys: vec![16], ..uniform.clone() };
    for form in FORMS {
        for shapes in [&everything(), &uniform, &sealed] {
            let batch = Batches::draw(&mut random, form, shapes, 700);
            for path in Path::available() {
                let whole = batch.run(path, false);
                let parts = [0..3, 3..3, 3..4, 4..311, 311..700];
                let about = format!("{} {form:?}", path.name());
                assert!(batch.run_parts(path, false, &parts) == whole, "{about}");
                let reversed: Vec<_> = parts.into_iter().rev().collect();
                assert!(batch.run_parts(path, false, &reversed) == whole, "{about}, reversed");
            }
        }
    }
}

#[test]
fn counters_wrap_in_32_bits_only_in_a_batch_too() {
    let mut random = Random(29);
    for form in FORMS {
        for text in [16, 70, 128, 300, 1_500] {
            let (nonces, texts) = (vec![12, 16], vec![text, text - 5]);
            let shapes =
                Shapes { ops: vec![Op::Seal], keys: vec![16], nonces, texts, ..everything() };
            let mut batch = Batches::draw(&mut random, form, &shapes, 60);
            batch.keys.fill(vec![0x42; 16]);
            for nonce in batch.nonces.iter_mut().filter(|nonce| nonce.len() == 16) {
                *nonce = random.pick(&WRAPPING_NONCES).1.to_be_bytes().to_vec();
            }
            for path in Path::available() {
                let about = format!("{} {form:?} {text} B", path.name());
                assert!(batch.run(path, false) == batch.run(Path::Model, false), "{about}");
            }
        }
    }
}

#[test]
fn aads_too_long_for_what_is_worked_together_agree_with_the_model() {
    let mut random = Random(30);
    for form in FORMS {
        for aads in [vec![65_536], vec![65_535], vec![0, 20, 65_535, 65_536, 65_537]] {
            let shapes = Shapes { aads, texts: vec![0, 20, 128, 300], ..everything() };
            agree(&mut random, form, &shapes, 12);
        }
    }
}

#[test]
fn a_wrong_tag_fails_its_message_alone_whatever_its_place() {
    let mut random = Random(27);
    for form in FORMS {
        for text in [0, 9, 16, 30, 48, 60, 70, 96, 100, 128, 300] {
            let shapes = Shapes {
                ops: vec![Op::Open],
                keys: vec![random.pick(&[16, 24, 32])],
                nonces: vec![12],
                aads: vec![random.pick(&[0, 13])],
                texts: vec![text],
                tag: random.pick(&[16, 12]),
            };
            let messages = random.pick(&[1, 3, 8, 10, 11, 13, 19]);
            let right = Batches::right(&mut random, form, &shapes, messages);
            for path in Path::available().into_iter().filter(|path| *path != Path::Model) {
                let opened = right.run(path, false);
                assert_eq!(opened.status, vec![Status::Ok; messages]);
                for wrong in 0..messages {
                    let mut spoilt = right.clone();
                    let byte = random.below(shapes.tag);
                    spoilt.tags[wrong][byte] ^= 1 << random.below(8);
                    let mut expected = opened.clone();
                    expected.status[wrong] = Status::AuthFailed;
                    expected.texts[wrong].fill(0);
                    let found = spoilt.run(path, random.below(2) == 0);
                    let about = format!("{} {form:?} {text} B: {wrong} of {messages}", path.name());
                    assert_eq!(found.status, expected.status, "{about}");
                    assert_eq!(found.texts, expected.texts, "{about}");
                }
            }
        }
    }
}

#[test]
fn a_column_of_tags_that_seals_do_not_read_may_be_short() {
    let mut random = Random(26);
    for path in Path::available() {
        let schedule = Schedule::from_raw(path, &random.bytes(16)).unwrap();
        let nonces = random.bytes(12 * 512);
        let before = random.bytes(32 * 512);
        for unread in [0, 256] {
            let batch = Batch {
                tags: Tags::Apart(Column::fixed(vec![0; 16 * unread], 16)),
                ..Batch::seal(512, SESSION, Column::fixed(&nonces, 12), Text::InPlace)
            };
            let (mut texts, mut tags) = (before.clone(), vec![0; 16 * 512]);
            let mut status = vec![Status::NotProcessed; 512];
            let (text, tags) = (Place::fixed(&mut texts, 32), Place::fixed(&mut tags, 16));
            let output = Output { text, tags, status: &mut status };
            let mut work = Work::new(&batch, output, &NoKeys).unwrap();
            run(path, &mut work, 0..512, Schedules::One(&schedule));
            assert!(status.iter().all(|status| *status == Status::Ok), "{}", path.name());
            let sealed = texts.chunks(32).zip(before.chunks(32)).all(|(now, then)| now != then);
            assert!(sealed, "{}", path.name());
        }
    }
}
