use super::pairs;
use sealift::Op;
use sealift_engine::simulate::Random;

/// One way to call an engine.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    pub(crate) text_bytes: usize,
    pub(crate) lengths: Lengths,
    pub(crate) messages: usize,
    pub(crate) keys: Keys,
    pub(crate) op: Op,
    pub(crate) form: Form,
    pub(crate) memory: Memory,
    pub(crate) threads: usize,
    pub(crate) pace: Pace,
    pub(crate) costs: Costs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lengths {
    Alike,
    /// Between half and one and a half of it.
    Mixed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keys {
    Sessions(usize),
    /// A key of its own for each message.
    Raw,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Columns,
    /// A buffer for each message, as Python's lists are.
    Scattered,
}

/// Where results go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Memory {
    Used,
    /// Allocated for each call.
    Fresh,
}

/// What a thread does between its batches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    Steady,
    /// It writes to [`TOUCHED_BYTES`](super::traffic::TOUCHED_BYTES) of its own.
    Touching,
    /// It sleeps for [`SLEEP`](super::traffic::SLEEP).
    Sleeping,
}

/// What the engine knows of its devices at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Costs {
    Unknown,
    Calibrated,
}

impl Cell {
    /// At least as many as hold every pair of values, and then up to `count`, which hold each pair again.
    pub(crate) fn draw(count: usize, random: &mut Random) -> Vec<Self> {
        let mut rows = pairs::cover(&SIZES, &is_small_enough, random);
        while rows.len() < count {
            rows.extend(pairs::cover(&SIZES, &is_small_enough, random));
            rows.truncate(count);
        }
        rows.iter().map(|row| Self::of(row)).collect()
    }

    fn of(row: &[usize]) -> Self {
        Self {
            text_bytes: TEXT_BYTES[row[0]],
            messages: MESSAGES[row[1]],
            lengths: [Lengths::Alike, Lengths::Mixed][row[2]],
            keys: KEYS[row[3]],
            op: [Op::Seal, Op::Open][row[4]],
            form: [Form::Columns, Form::Scattered][row[5]],
            memory: [Memory::Used, Memory::Fresh][row[6]],
            threads: THREADS[row[7]],
            pace: [Pace::Steady, Pace::Touching, Pace::Sleeping][row[8]],
            costs: [Costs::Unknown, Costs::Calibrated][row[9]],
        }
    }

    /// Whether each call is timed by itself: for its latency, or because threads do other work, too.
    pub(crate) fn times_calls(&self) -> bool {
        self.threads >= CROWD || self.pace != Pace::Steady
    }

    /// Its factors, as [`FACTORS`] names them.
    pub(crate) fn line(&self) -> String {
        let Self { text_bytes, lengths, messages, keys, op, form, memory, threads, pace, costs } =
            self;
        let keys = match keys {
            Keys::Sessions(count) => count.to_string(),
            Keys::Raw => "raw".to_owned(),
        };
        format!(
            "{text_bytes},{lengths:?},{messages},{keys},{op:?},{form:?},{memory:?},{threads},{pace:?},{costs:?}"
        )
        .to_lowercase()
    }
}

/// A batch has at most 16 MiB.
fn is_small_enough(one: (usize, usize), other: (usize, usize)) -> bool {
    match (one, other) {
        ((0, text), (1, messages)) | ((1, messages), (0, text)) => {
            TEXT_BYTES[text] * MESSAGES[messages] <= 16 << 20
        }
        _ => true,
    }
}

pub(crate) const FACTORS: &str =
    "text_bytes,lengths,messages,keys,op,form,memory,threads,pace,costs";
/// From so many threads on they are a crowd, whose latency counts, too.
pub(crate) const CROWD: usize = 8;
const TEXT_BYTES: [usize; 7] = [16, 128, 1_024, 4_096, 16_384, 65_536, 1 << 20];
const MESSAGES: [usize; 4] = [1, 16, 1_024, 8_192];
const KEYS: [Keys; 5] = [
    Keys::Sessions(1),
    Keys::Sessions(64),
    Keys::Sessions(1_024),
    Keys::Sessions(20_000),
    Keys::Raw,
];
const THREADS: [usize; 4] = [1, 2, 8, 32];
/// How many values each factor has, in the order of [`Cell::of`].
const SIZES: [usize; 10] = [TEXT_BYTES.len(), MESSAGES.len(), 2, KEYS.len(), 2, 2, 2, 4, 3, 2];
