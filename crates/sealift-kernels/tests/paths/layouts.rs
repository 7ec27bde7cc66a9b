//! Tags behind their texts, offsets, gaps and parts that all messages share: wherever the bytes of a batch lie,
//! every path writes what the model writes, and nothing between messages.

use crate::common::Random;
use sealift_core::{
    Batch, Column, Key, KeySource, Keys, Layout, Op, Ops, Output, Place, SessionId, Status, Tags,
    Text, Work,
};
use sealift_kernels::{Path, Schedule, Schedules, run};
use std::sync::Arc;

/// Where the messages of a column lie.
#[derive(Clone, Copy, Debug)]
enum Lie {
    Tight,
    Gaps,
    Offsets32,
    Offsets64,
}

/// What additional data messages have.
#[derive(Clone, Copy, Debug)]
enum Aad {
    None,
    Same,
    Own,
}

/// Whose keys they are under.
#[derive(Clone, Copy, Debug)]
enum Form {
    One,
    Each,
    Raw,
}

#[derive(Clone, Copy, Debug)]
struct Case {
    lie: Lie,
    aad: Aad,
    form: Form,
    in_place: bool,
}

/// A batch whose tags follow their texts.
struct Messages {
    case: Case,
    /// Of texts without tags.
    lengths: Vec<usize>,
    nonces: Vec<u8>,
    aads: Vec<u8>,
    keys: Vec<u8>,
}

struct NoKeys;
impl KeySource for NoKeys {
    fn key(&self, _: SessionId) -> Option<Arc<Key>> {
        None
    }
}

impl Messages {
    fn draw(random: &mut Random, case: Case, texts: &[usize]) -> Messages {
        let common = random.pick(texts);
        let length = |random: &mut Random| match case.lie {
            Lie::Tight | Lie::Gaps => common,
            Lie::Offsets32 | Lie::Offsets64 => random.pick(texts),
        };
        Messages {
            case,
            lengths: (0..MESSAGES).map(|_| length(random)).collect(),
            nonces: random.bytes(12 * MESSAGES),
            aads: random.bytes(AAD * MESSAGES),
            keys: random.bytes(KEY * MESSAGES),
        }
    }

    /// Where texts lie that have so many more bytes each, and the bytes of all.
    fn layout(&self, more: usize) -> (Layout<'static>, usize) {
        let len = self.lengths[0] + more;
        let ends = |_| {
            let each = self.lengths.iter().map(|length| length + more);
            let sums = each.scan(0, |sum, length| {
                *sum += length;
                Some(*sum)
            });
            std::iter::once(0).chain(sums).collect::<Vec<_>>()
        };
        match self.case.lie {
            Lie::Tight => (Layout::Fixed { stride: len, len }, len * MESSAGES),
            Lie::Gaps => (Layout::Fixed { stride: len + GAP, len }, (len + GAP) * MESSAGES),
            Lie::Offsets32 => {
                let ends = ends(());
                let narrow =
                    ends.iter().map(|end| u32::try_from(*end).unwrap()).collect::<Vec<_>>();
                (Layout::Offsets32(narrow.into()), ends[MESSAGES])
            }
            Lie::Offsets64 => {
                let ends = ends(());
                let wide = ends.iter().map(|end| *end as u64).collect::<Vec<_>>();
                (Layout::Offsets64(wide.into()), ends[MESSAGES])
            }
        }
    }

    /// What comes of `input`, and what became of each message.
    fn run(&self, path: Path, op: Op, input: &[u8]) -> (Vec<u8>, Vec<Status>) {
        let (before, after) = if op == Op::Seal { (0, TAG) } else { (TAG, 0) };
        let more = if self.case.in_place { TAG } else { after };
        let (layout, bytes) = self.layout(more);
        let mut out = if self.case.in_place { input.to_vec() } else { vec![0xee; bytes] };
        let from = Column::Packed { buffer: input.into(), layout: self.layout(before).0 };
        let text = if self.case.in_place { Text::InPlace } else { Text::Apart(from) };
        let (keys, schedules) = self.keys(path);
        let batch = Batch {
            ops: Ops::All(op),
            aad: match self.case.aad {
                Aad::None => Column::Empty,
                Aad::Same => Column::Same(self.aads[..AAD].into()),
                Aad::Own => Column::fixed(&self.aads, AAD),
            },
            tags: Tags::Appended,
            ..Batch::seal(MESSAGES, keys, Column::fixed(&self.nonces, 12), text)
        };
        let mut status = vec![Status::NotProcessed; MESSAGES];
        let text = Place::Packed { bytes: &mut out, layout };
        let output = Output { text, tags: Place::Empty, status: &mut status };
        let mut work = Work::new(&batch, output, &NoKeys).unwrap();
        let each: Vec<_> = schedules.iter().collect();
        let schedules = match self.case.form {
            Form::One => Schedules::One(each[0]),
            Form::Each => Schedules::Each(&each),
            Form::Raw => Schedules::Raw,
        };
        run(path, &mut work, 0..MESSAGES, schedules);
        (out, status)
    }

    fn keys(&self, path: Path) -> (Keys<'_>, Vec<Schedule>) {
        let expand = |key| Schedule::from_raw(path, key).unwrap();
        let session = Keys::Session(SessionId { slot: 0, generation: 0 });
        match self.case.form {
            Form::Raw => (Keys::Raw(Column::fixed(&self.keys, KEY)), vec![]),
            _ => (session, self.keys.chunks(KEY).map(expand).collect()),
        }
    }

    /// A place for texts, or for texts and tags, with something in it.
    fn filled(&self, random: &mut Random, more: usize) -> Vec<u8> {
        random.bytes(self.layout(more).1)
    }
}

fn agree(random: &mut Random, case: Case, texts: &[usize]) {
    let messages = Messages::draw(random, case, texts);
    let plain = messages.filled(random, if case.in_place { TAG } else { 0 });
    let sealed = messages.run(Path::Model, Op::Seal, &plain);
    let mut spoilt = sealed.0.clone();
    for message in (0..MESSAGES).step_by(5) {
        // The last byte of a message is one of its tag.
        spoilt[messages.layout(TAG).0.range(message).end - 1] ^= 0x10;
    }
    let opened = messages.run(Path::Model, Op::Open, &spoilt);
    assert_eq!(
        opened.1.iter().filter(|status| **status == Status::AuthFailed).count(),
        MESSAGES / 5
    );
    for path in Path::available().into_iter().filter(|path| *path != Path::Model) {
        let about = format!("{}, {case:?}, texts {:?}", path.name(), messages.lengths);
        assert!(messages.run(path, Op::Seal, &plain) == sealed, "sealing, {about}");
        assert!(messages.run(path, Op::Open, &spoilt) == opened, "opening, {about}");
    }
}

#[test]
fn wherever_messages_lie_each_path_writes_what_the_model_writes() {
    let mut random = Random(21);
    for lie in [Lie::Tight, Lie::Gaps, Lie::Offsets32, Lie::Offsets64] {
        for form in [Form::One, Form::Each, Form::Raw] {
            for (aad, in_place) in [Aad::None, Aad::Same, Aad::Own]
                .into_iter()
                .flat_map(|aad| [(aad, false), (aad, true)])
            {
                let case = Case { lie, aad, form, in_place };
                for texts in [&[0, 1, 16, 100, 128][..], &[129, 300, 1_420]] {
                    agree(&mut random, case, texts);
                }
            }
        }
    }
}

const MESSAGES: usize = 40;
const TAG: usize = 16;
const KEY: usize = 32;
const AAD: usize = 17;
const GAP: usize = 5;

#[test]
fn a_message_shorter_than_its_tag_is_refused_among_many_others() {
    const MANY: usize = 150;
    const SHORT: usize = 70;
    let texts: Vec<Vec<u8>> = (0..MANY).map(|i| vec![7; i * 7 % 100]).collect();
    let nonces: Vec<u8> =
        (0..MANY).flat_map(|i| (i as u128).to_le_bytes()[..12].to_vec()).collect();
    let session = SessionId { slot: 0, generation: 1 };
    let packed = |lengths: &[usize]| {
        let ends = lengths.iter().scan(0, |end, length| {
            *end += u32::try_from(*length).unwrap();
            Some(*end)
        });
        Layout::Offsets32(std::iter::once(0).chain(ends).collect::<Vec<_>>().into())
    };
    let worked = |path: Path, op: Op, input: &[Vec<u8>], results: &[usize]| {
        let schedule = Schedule::from_raw(path, &[7; 16]).unwrap();
        let lengths: Vec<_> = input.iter().map(Vec::len).collect();
        let bytes = input.concat();
        let text = Column::Packed { buffer: (&bytes[..]).into(), layout: packed(&lengths) };
        let seal = Batch::seal(MANY, session, Column::fixed(&nonces, 12), text);
        let batch = Batch { ops: Ops::All(op), tags: Tags::Appended, ..seal };
        let mut out = vec![0xee; results.iter().sum()];
        let mut status = vec![Status::NotProcessed; MANY];
        let place = Place::Packed { bytes: &mut out, layout: packed(results) };
        let output = Output { text: place, tags: Place::Empty, status: &mut status };
        let mut work = Work::new(&batch, output, &NoKeys).unwrap();
        run(path, &mut work, 0..MANY, Schedules::One(&schedule));
        let mut rest = &out[..];
        let parts = results.iter().map(|length| rest.split_off(..*length).unwrap().to_vec());
        (parts.collect::<Vec<_>>(), status)
    };
    let lengths: Vec<_> = texts.iter().map(|text| text.len() + TAG).collect();
    let (mut sealed, _) = worked(Path::Model, Op::Seal, &texts, &lengths);
    sealed[SHORT].truncate(TAG - 1);
    let mut right = texts.clone();
    right[SHORT].clear();
    let lengths: Vec<_> = right.iter().map(Vec::len).collect();
    for path in Path::available() {
        let (opened, status) = worked(path, Op::Open, &sealed, &lengths);
        assert!(opened == right, "{}", path.name());
        let refused: Vec<_> = (0..MANY).filter(|i| status[*i] != Status::Ok).collect();
        assert_eq!((refused, status[SHORT]), (vec![SHORT], Status::AuthFailed), "{}", path.name());
    }
}

/// What becomes of texts at equal distances, with tags behind them, to each of which something else may be done.
fn fixed(path: Path, ops: &[Op], input: &[u8], bytes: usize) -> (Vec<u8>, Vec<Status>) {
    let (room, nonces) = (bytes + TAG, Random(5).bytes(12 * ops.len()));
    let schedule = Schedule::from_raw(path, &[7; 16]).unwrap();
    let session = SessionId { slot: 0, generation: 1 };
    let seal = Batch::seal(
        ops.len(),
        session,
        Column::fixed(&nonces, 12),
        Column::strided(input, bytes + GAP, bytes),
    );
    let batch = Batch { ops: Ops::Each(ops.into()), tags: Tags::Appended, ..seal };
    let (mut out, mut status) =
        (vec![0xee; room * ops.len()], vec![Status::NotProcessed; ops.len()]);
    let text = Place::fixed(&mut out, room);
    let output = Output { text, tags: Place::Empty, status: &mut status };
    let mut work = Work::new(&batch, output, &NoKeys).unwrap();
    run(path, &mut work, 0..ops.len(), Schedules::One(&schedule));
    (out, status)
}

#[test]
fn at_equal_distances_something_else_is_done_to_each_message() {
    const MANY: usize = 150;
    let mut random = Random(22);
    for bytes in [TAG - 1, TAG, 20, 100, 300] {
        let ops: Vec<_> =
            (0..MANY).map(|_| random.pick(&[Op::Seal, Op::Open, Op::Verify])).collect();
        let mut input = random.bytes(MANY * (bytes + GAP));
        if let Some(text) = bytes.checked_sub(TAG) {
            let plain = random.bytes(MANY * (text + GAP));
            let (sealed, _) = fixed(Path::Model, &[Op::Seal; MANY], &plain, text);
            let of = |at: usize| &sealed[at * bytes..][..bytes];
            // Some are not what they should be.
            for at in (0..MANY).filter(|at| at % 7 > 0) {
                input[at * (bytes + GAP)..][..bytes].copy_from_slice(of(at));
            }
        }
        let right = fixed(Path::Model, &ops, &input, bytes);
        let opened = ops
            .iter()
            .zip(&right.1)
            .filter(|(op, status)| **op != Op::Seal && **status == Status::Ok);
        assert_eq!(opened.count() > MANY / 3, bytes >= TAG);
        for path in Path::available() {
            assert!(fixed(path, &ops, &input, bytes) == right, "{}, {bytes} bytes", path.name());
        }
    }
}
