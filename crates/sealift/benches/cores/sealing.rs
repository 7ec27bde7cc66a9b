use sealift::{
    Batch, Column, Engine, Key, Keys, NONCE_BYTES, Options, Output, Place, Session, SessionId,
    Status, Text,
};
use std::thread;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) messages: usize,
    pub(crate) text_bytes: usize,
    pub(crate) keys: usize,
}

impl Shape {
    pub(crate) fn bytes(&self) -> usize {
        self.messages * self.text_bytes
    }
}

/// Where results go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Memory {
    Used,
    InPlace,
    /// Allocated for each call.
    Fresh,
}

impl Memory {
    pub(crate) const ALL: [Self; 3] = [Self::Used, Self::InPlace, Self::Fresh];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Used => "used",
            Self::InPlace => "in place",
            Self::Fresh => "fresh",
        }
    }
}

/// A batch that is sealed again and again.
pub(crate) struct Sealing {
    shape: Shape,
    memory: Memory,
    texts: Vec<u8>,
    nonces: Vec<u8>,
    sealed: Vec<u8>,
    tags: Vec<u8>,
    status: Vec<Status>,
    sessions: Vec<Session>,
    ids: Vec<SessionId>,
}

impl Sealing {
    pub(crate) fn new(engine: &Engine, shape: Shape, memory: Memory) -> Self {
        let sessions: Vec<_> = (0..shape.keys).map(|number| session(engine, number)).collect();
        let ids = (0..shape.messages).map(|message| sessions[message % shape.keys].id()).collect();
        let sealed = if memory == Memory::Used { vec![7; shape.bytes()] } else { vec![] };
        Self {
            shape,
            memory,
            texts: vec![7; shape.bytes()],
            nonces: nonces(shape.messages),
            sealed,
            tags: vec![0; TAG_BYTES * shape.messages],
            status: vec![Status::NotProcessed; shape.messages],
            sessions,
            ids,
        }
    }

    pub(crate) fn call(&mut self, engine: &Engine, options: &Options) {
        self.work(|batch, output| _ = engine.run(batch, output, options).unwrap());
    }

    /// What the same memory takes without encryption, on so many threads.
    pub(crate) fn copy(&mut self, threads: usize) {
        let mut fresh = vec![0; self.shape.bytes()];
        let each = self.shape.bytes().div_ceil(threads);
        thread::scope(|scope| {
            for (to, from) in fresh.chunks_mut(each).zip(self.texts.chunks(each)) {
                scope.spawn(|| {
                    let pieces = to.chunks_mut(PIECE_BYTES).zip(from.chunks(PIECE_BYTES));
                    pieces.for_each(|(to, from)| to.copy_from_slice(from));
                });
            }
        });
        std::hint::black_box(fresh);
    }

    /// The batch, and where its results go.
    pub(crate) fn work(&mut self, work: impl FnOnce(&Batch<'_>, Output<'_>)) {
        let Shape { messages, text_bytes, keys } = self.shape;
        let mut fresh =
            if self.memory == Memory::Fresh { vec![0; self.shape.bytes()] } else { vec![] };
        let texts = || Text::Apart(Column::fixed(&self.texts, text_bytes));
        let (texts, place) = match self.memory {
            Memory::Used => (texts(), &mut self.sealed),
            Memory::Fresh => (texts(), &mut fresh),
            Memory::InPlace => (Text::InPlace, &mut self.texts),
        };
        let keys =
            if keys == 1 { self.ids[0].into() } else { Keys::Sessions((&self.ids[..]).into()) };
        let batch = Batch::seal(messages, keys, Column::fixed(&self.nonces, NONCE_BYTES), texts);
        let (text, tags) =
            (Place::fixed(place, text_bytes), Place::fixed(&mut self.tags, TAG_BYTES));
        work(&batch, Output { text, tags, status: &mut self.status });
    }

    /// The same batch with memory of its own.
    pub(crate) fn owned(&self) -> Batch<'static> {
        let keys = match self.shape.keys {
            1 => self.ids[0].into(),
            _ => Keys::Sessions(self.ids.clone().into()),
        };
        let texts = Column::fixed(self.texts.clone(), self.shape.text_bytes);
        let nonces = Column::fixed(self.nonces.clone(), NONCE_BYTES);
        Batch::seal(self.shape.messages, keys, nonces, texts)
    }

    /// The sessions, and the key of each.
    pub(crate) fn keys(&self) -> impl Iterator<Item = (SessionId, Key)> {
        self.sessions.iter().enumerate().map(|(number, session)| (session.id(), key(number)))
    }
}

fn session(engine: &Engine, number: usize) -> Session {
    engine.session(key(number)).unwrap()
}

fn key(number: usize) -> Key {
    Key::new(&[number as u64, 7].map(u64::to_be_bytes).concat()).unwrap()
}

fn nonces(messages: usize) -> Vec<u8> {
    (0..messages as u64).flat_map(|n| [&[0; 4][..], &n.to_be_bytes()].concat()).collect()
}

const TAG_BYTES: usize = 16;
/// Copies of many megabytes go past the caches, as encryption does not.
const PIECE_BYTES: usize = 64 << 10;
