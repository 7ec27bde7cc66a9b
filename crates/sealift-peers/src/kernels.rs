//! Sealift's own kernels, called as a device calls them.

use crate::cipher::Assignment;
use crate::messages::{MessageKeys, PreparedMessages};
use crate::outputs::{Checks, Outputs};
use crate::timed::{self, Timed};
use sealift::{Batch, Key, KeySource, Output, Place as Room, SessionId, SlotTag, SlotText, Work};
use sealift_kernels::{Path, Schedule, Schedules};
use sealift_probes::{Arm, ArmError, Done, Part, borrowed};
use std::sync::Arc;

/// What the calls of one thread borrow: schedules, columns, and room for results.
pub struct Bench<'l> {
    schedules: Vec<Schedule>,
    tables: Vec<(Batch<'l>, Outputs)>,
}

impl<'l> Bench<'l> {
    /// Expands the keys for a path, and makes room.
    ///
    /// # Errors
    /// A key that is none.
    pub fn new(path: Path, work: &Assignment<'l>) -> Result<Self, ArmError> {
        let expand = |raw: &Vec<u8>| {
            Schedule::from_raw(path, raw).map_err(|error| failed(&error.to_string()))
        };
        let schedules = work.keys.iter().map(expand).collect::<Result<_, _>>()?;
        let tables = work
            .messages
            .iter()
            .map(|set| (set.batch(0..set.len(), numbered), Outputs::of(set)))
            .collect();
        Ok(Self { schedules, tables })
    }
}

/// Makes the kernels of a path into something that is timed, one bench a thread, and checks them on
/// every message.
///
/// # Errors
/// They gave something wrong; a thread couldn't be started.
pub fn arm<'b, 'l: 'b>(
    path: Path,
    batch: usize,
    messages: &'l [PreparedMessages],
    benches: &'b mut [Bench<'l>],
) -> Result<Box<dyn Arm + 'b>, ArmError> {
    let part = |bench| KernelThread::new(path, batch, messages, bench);
    let parts = benches.iter_mut().map(part).collect::<Result<Vec<_>, _>>()?;
    Ok(Box::new(Timed::prepare(format!("sealift-kernels, {}", path.name()), parts)?))
}

struct KernelThread<'b> {
    path: Path,
    batch: usize,
    messages: &'b [PreparedMessages],
    calls: Vec<(Work<'b>, Held<'b>)>,
    checks: Checks,
}

/// The schedules of a set's messages.
enum Held<'b> {
    One(&'b Schedule),
    Each(Vec<&'b Schedule>),
    Raw,
}

impl<'b> KernelThread<'b> {
    fn new<'l: 'b>(
        path: Path,
        batch: usize,
        messages: &'l [PreparedMessages],
        bench: &'b mut Bench<'l>,
    ) -> Result<Self, ArmError> {
        let Bench { schedules, tables } = bench;
        let mut calls = vec![];
        for (set, (batch, place)) in messages.iter().zip(tables) {
            let batch: &'b Batch<'b> = batch;
            let output = Output {
                text: Room::Packed { bytes: &mut place.text, layout: borrowed(set.texts.layout()) },
                tags: Room::fixed(&mut place.tags, set.tag_length.bytes()),
                status: &mut place.status,
            };
            let work = Work::new(batch, output, &NO_KEYS).map_err(|e| failed(&e.to_string()))?;
            calls.push((work, Held::by(&set.keys, schedules)));
        }
        Ok(Self { path, batch, messages, calls, checks: Checks::default() })
    }
}

impl Part for KernelThread<'_> {
    fn work(&mut self, times: usize) -> Result<Done, ArmError> {
        for _ in 0..times {
            for (work, held) in &mut self.calls {
                pass(self.path, self.batch, work, held);
            }
        }
        Ok(timed::done(self.messages, times))
    }

    fn check(&mut self) -> Result<(), ArmError> {
        let Self { messages, calls, checks, .. } = self;
        checks.next(NAME, messages, |set, at| wrong(&messages[set], &mut calls[set].0, at))
    }
}

impl<'b> Held<'b> {
    fn by(keys: &MessageKeys, schedules: &'b [Schedule]) -> Self {
        match keys {
            MessageKeys::Fresh(_) => Self::Raw,
            MessageKeys::Installed(of) if of.iter().all(|key| *key == of[0]) => {
                Self::One(&schedules[of[0] as usize])
            }
            MessageKeys::Installed(of) => {
                Self::Each(of.iter().map(|key| &schedules[*key as usize]).collect())
            }
        }
    }
}

/// Works all messages once, `batch` in a call.
fn pass(path: Path, batch: usize, work: &mut Work<'_>, held: &Held<'_>) {
    let len = work.len();
    let mut start = 0;
    while start < len {
        let range = start..len.min(start.saturating_add(batch));
        start = range.end;
        let schedules = match held {
            Held::One(schedule) => Schedules::One(schedule),
            Held::Each(each) => Schedules::Each(&each[range.clone()]),
            Held::Raw => Schedules::Raw,
        };
        sealift_kernels::run(path, work, range, schedules);
    }
}

/// What is wrong with a message that was worked; nothing when it is right.
fn wrong(set: &PreparedMessages, work: &mut Work<'_>, at: usize) -> Option<String> {
    let status = work.statuses()[at];
    let slot = work.slot(at);
    match (slot.text, slot.tag) {
        (SlotText::Apart { output, .. }, SlotTag::Write(tag)) => set.wrong(at, output, tag, status),
        (SlotText::Apart { output, .. }, SlotTag::Check(tag)) => set.wrong(at, output, tag, status),
        _ => Some(format!("message {at} has no place")),
    }
}

fn failed(what: &str) -> ArmError {
    ArmError::Wrong { device: NAME.to_owned(), what: what.to_owned() }
}

/// The schedules are found by the messages' keys, and never by a session.
fn numbered(key: u32) -> SessionId {
    SessionId { slot: key, generation: 1 }
}

/// The schedules are here already.
struct NoKeys;

impl KeySource for NoKeys {
    fn key(&self, _: SessionId) -> Option<Arc<Key>> {
        None
    }
}

static NO_KEYS: NoKeys = NoKeys;
const NAME: &str = "kernels";
