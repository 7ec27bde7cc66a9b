//! The batches of a cell, and the threads that call with them.

use super::cell::{Cell, Form, Keys, Lengths, Memory, Pace};
use sealift::{
    Batch, Buffer, Column, DeviceId, Engine, Key, Layout, NONCE_BYTES, Op, Options, Output, Place,
    Session, SessionId, Status, Tags,
};
use sealift_engine::simulate::Random;
use std::borrow::Cow;
use std::ops::Range;
use std::time::{Duration, Instant};

/// Messages for a few batches or more, sealed where they are to be opened.
pub(crate) struct Corpus<'c> {
    cell: &'c Cell,
    /// Where each text begins, and where the last one ends.
    starts: Vec<usize>,
    texts: Vec<u8>,
    tags: Vec<u8>,
    nonces: Vec<u8>,
    keys: Vec<u8>,
}

impl<'c> Corpus<'c> {
    pub(crate) fn new(cell: &'c Cell, random: &mut Random) -> Self {
        let len = cell.messages * batches(cell);
        let starts = starts(cell, len, random);
        let texts = vec![7; starts[len]];
        let numbers = 0..len as u64;
        let nonces = numbers.flat_map(|n| [&[0; 4][..], &n.to_be_bytes()].concat()).collect();
        let sessions = if let Keys::Sessions(count) = cell.keys { count } else { len };
        let key = |n: u64| [n + 1, 7].map(u64::to_be_bytes).concat();
        let keys = (0..len).flat_map(|message| key((message % sessions) as u64)).collect();
        let corpus = Self { cell, starts, texts, tags: vec![0; TAG_BYTES * len], nonces, keys };
        if cell.op == Op::Open { corpus.sealed() } else { corpus }
    }

    fn sealed(mut self) -> Self {
        let len = self.starts.len() - 1;
        let offsets: Vec<_> = self.starts.iter().map(|&start| start as u64).collect();
        let texts = Column::offsets64(&self.texts, &offsets[..]);
        let keys = sealift::Keys::Raw(Column::fixed(&self.keys, KEY_BYTES));
        let batch = Batch::seal(len, keys, Column::fixed(&self.nonces, NONCE_BYTES), texts);
        let (mut sealed, mut status) = (vec![0; self.texts.len()], vec![Status::NotProcessed; len]);
        let layout = Layout::Offsets64(Cow::Borrowed(&offsets));
        let text = Place::Packed { bytes: &mut sealed, layout };
        let tags = Place::fixed(&mut self.tags, TAG_BYTES);
        let output = Output { text, tags, status: &mut status };
        let engine = Engine::with(&["cpu"]).unwrap();
        engine.run(&batch, output, &Options::default()).unwrap();
        Self { texts: sealed, ..self }
    }

    /// The sessions of an engine whose keys the messages are under; none where they bring their own.
    pub(crate) fn sessions(&self, engine: &Engine) -> Vec<Session> {
        let Keys::Sessions(count) = self.cell.keys else { return vec![] };
        let keys = self.keys.chunks_exact(KEY_BYTES).take(count);
        keys.map(|key| engine.session(Key::new(key).unwrap()).unwrap()).collect()
    }

    /// The session of each message.
    pub(crate) fn ids(&self, sessions: &[Session]) -> Vec<SessionId> {
        let len = if sessions.is_empty() { 0 } else { self.starts.len() - 1 };
        (0..len).map(|message| sessions[message % sessions.len()].id()).collect()
    }

    pub(crate) fn batches<'b>(&'b self, ids: &'b [SessionId]) -> Vec<Prepared<'b>> {
        let firsts = (0..self.starts.len() - 1).step_by(self.cell.messages);
        firsts.map(|first| self.batch(ids, first..first + self.cell.messages)).collect()
    }

    fn batch<'b>(&'b self, ids: &'b [SessionId], messages: Range<usize>) -> Prepared<'b> {
        let start = self.starts[messages.start];
        let offset = |&at: &usize| u32::try_from(at - start).unwrap();
        let offsets: Vec<_> =
            self.starts[messages.start..=messages.end].iter().map(offset).collect();
        let keys = match self.cell.keys {
            Keys::Raw => sealift::Keys::Raw(self.column(&self.keys, KEY_BYTES, &messages)),
            Keys::Sessions(count) if count == 1 || messages.len() == 1 => {
                ids[messages.start].into()
            }
            Keys::Sessions(_) => sealift::Keys::Sessions(ids[messages.clone()].into()),
        };
        let nonces = self.column(&self.nonces, NONCE_BYTES, &messages);
        let (len, texts) = (messages.len(), self.texts(&messages, &offsets));
        let batch = match self.cell.op {
            Op::Seal => Batch::seal(len, keys, nonces, texts),
            _ => {
                let tags = Tags::Apart(self.column(&self.tags, TAG_BYTES, &messages));
                Batch::open(len, keys, nonces, texts, tags)
            }
        };
        Prepared { batch, offsets }
    }

    fn column<'b>(&self, bytes: &'b [u8], len: usize, messages: &Range<usize>) -> Column<'b> {
        let bytes = &bytes[len * messages.start..len * messages.end];
        match self.cell.form {
            Form::Columns => Column::fixed(bytes, len),
            Form::Scattered => Column::Scattered(bytes.chunks_exact(len).map(Into::into).collect()),
        }
    }

    fn texts<'b>(&'b self, messages: &Range<usize>, offsets: &[u32]) -> Column<'b> {
        let at = |message: usize| self.starts[message]..self.starts[message + 1];
        let texts = &self.texts[self.starts[messages.start]..self.starts[messages.end]];
        match (self.cell.form, self.cell.lengths) {
            (Form::Columns, Lengths::Alike) => Column::fixed(texts, self.cell.text_bytes),
            (Form::Columns, Lengths::Mixed) => Column::offsets(texts, offsets.to_vec()),
            (Form::Scattered, _) => {
                let each = messages.clone().map(|message| Buffer::from(&self.texts[at(message)]));
                Column::Scattered(each.collect())
            }
        }
    }
}

/// So many batches that all keys are used, as far as memory is.
fn batches(cell: &Cell) -> usize {
    let keys = if let Keys::Sessions(count) = cell.keys { count } else { 1 };
    let most = CORPUS_BYTES / (cell.messages * cell.text_bytes);
    keys.div_ceil(cell.messages).max(BATCHES_MIN).min(most)
}

fn starts(cell: &Cell, len: usize, random: &mut Random) -> Vec<usize> {
    let mut next = 0;
    let mut starts = vec![0];
    for _ in 0..len {
        next += match cell.lengths {
            Lengths::Alike => cell.text_bytes,
            Lengths::Mixed => {
                let more = random.below(cell.text_bytes as u64 + 1);
                cell.text_bytes / 2 + usize::try_from(more).unwrap()
            }
        };
        starts.push(next);
    }
    starts
}

/// A batch, and where each of its texts begins and ends in one buffer.
pub(crate) struct Prepared<'b> {
    batch: Batch<'b>,
    offsets: Vec<u32>,
}

impl Prepared<'_> {
    fn text_bytes(&self) -> usize {
        self.offsets[self.batch.len] as usize
    }
}

/// How batches are worked that are compared.
pub(crate) struct Arm<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) batches: &'a [Prepared<'a>],
    /// The device that is named; none lets the engine choose.
    pub(crate) on: Option<DeviceId>,
}

/// A thread's own memory.
#[derive(Default)]
pub(crate) struct Caller {
    texts: Vec<u8>,
    tags: Vec<u8>,
    status: Vec<Status>,
    touched: Vec<u8>,
    next: usize,
    /// What each call took, where [`Cell::times_calls`].
    pub(crate) calls_ns: Vec<u64>,
}

impl Caller {
    pub(crate) fn new(thread: usize) -> Self {
        Self { next: thread * PRIME, touched: vec![0; TOUCHED_BYTES], ..Self::default() }
    }

    /// Works `times` batches, one after the other.
    pub(crate) fn work(&mut self, cell: &Cell, arm: &Arm<'_>, times: usize) {
        self.calls_ns.clear();
        for _ in 0..times {
            self.pause(cell.pace);
            let prepared = &arm.batches[self.next % arm.batches.len()];
            self.next += 1;
            let start = cell.times_calls().then(Instant::now);
            self.call(cell, arm, prepared);
            if let Some(start) = start {
                self.calls_ns.push(u64::try_from(start.elapsed().as_nanos()).unwrap());
            }
        }
    }

    fn pause(&mut self, pace: Pace) {
        match pace {
            Pace::Steady => {}
            Pace::Touching => self.touched.iter_mut().step_by(64).for_each(|byte| *byte ^= 1),
            Pace::Sleeping => std::thread::sleep(SLEEP),
        }
    }

    fn call(&mut self, cell: &Cell, arm: &Arm<'_>, prepared: &Prepared<'_>) {
        if cell.memory == Memory::Fresh {
            (self.texts, self.tags, self.status) = (vec![], vec![], vec![]);
        }
        let Prepared { batch, offsets } = prepared;
        let tags = if cell.op == Op::Seal { TAG_BYTES * batch.len } else { 0 };
        make_room(&mut self.texts, prepared.text_bytes(), 0);
        make_room(&mut self.tags, tags, 0);
        make_room(&mut self.status, batch.len, Status::NotProcessed);
        let (texts, tags) = (&mut self.texts[..prepared.text_bytes()], &mut self.tags[..tags]);
        let output = Output {
            text: text_place(cell, texts, offsets),
            tags: tag_place(cell, tags),
            status: &mut self.status[..batch.len],
        };
        let options = Options { on: arm.on, ..Options::default() };
        let report = arm.engine.run(batch, output, &options).unwrap();
        assert_eq!(report.auth_failed, 0);
    }
}

/// Zeroed memory is asked for at once, as the system has it.
fn make_room<T: Clone>(memory: &mut Vec<T>, len: usize, value: T) {
    if memory.len() < len {
        *memory = vec![value; len];
    }
}

fn text_place<'w>(cell: &Cell, mut texts: &'w mut [u8], offsets: &'w [u32]) -> Place<'w> {
    match (cell.form, cell.lengths) {
        (Form::Columns, Lengths::Alike) => Place::fixed(texts, cell.text_bytes),
        (Form::Columns, Lengths::Mixed) => {
            Place::Packed { bytes: texts, layout: Layout::Offsets32(Cow::Borrowed(offsets)) }
        }
        (Form::Scattered, _) => {
            let lengths = offsets.windows(2).map(|pair| (pair[1] - pair[0]) as usize);
            Place::Scattered(lengths.map(|len| texts.split_off_mut(..len).unwrap()).collect())
        }
    }
}

fn tag_place<'w>(cell: &Cell, tags: &'w mut [u8]) -> Place<'w> {
    match (cell.op, cell.form) {
        (Op::Seal, Form::Columns) => Place::fixed(tags, TAG_BYTES),
        (Op::Seal, Form::Scattered) => Place::Scattered(tags.chunks_exact_mut(TAG_BYTES).collect()),
        _ => Place::Empty,
    }
}

pub(crate) const TOUCHED_BYTES: usize = 2 << 20;
pub(crate) const SLEEP: Duration = Duration::from_micros(200);
const KEY_BYTES: usize = 16;
const TAG_BYTES: usize = 16;
const CORPUS_BYTES: usize = 64 << 20;
const BATCHES_MIN: usize = 16;
/// Threads begin at different batches.
const PRIME: usize = 7_919;
