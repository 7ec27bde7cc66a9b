//! Sealift's own kernels, called as a device calls them.

use crate::cipher::Assignment;
use crate::lot::{Lot, LotKeys};
use crate::place::{Checks, Place};
use crate::timed::{self, Timed};
use sealift::{Batch, Key, KeySource, Output, Place as Room, SessionId, SlotTag, SlotText, Work};
use sealift_kernels::{Path, Schedule, Schedules};
use sealift_probes::{Arm, ArmError, Done, Part, borrowed};
use std::sync::Arc;

/// What the calls of one thread borrow: schedules, columns, and room for results.
pub struct Bench<'l> {
    schedules: Vec<Schedule>,
    tables: Vec<(Batch<'l>, Place)>,
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
        let tables = work.lots.iter().map(|lot| (lot.batch(), Place::of(lot))).collect();
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
    lots: &'l [Lot],
    benches: &'b mut [Bench<'l>],
) -> Result<Box<dyn Arm + 'b>, ArmError> {
    let part = |bench| Turn::new(path, batch, lots, bench);
    let parts = benches.iter_mut().map(part).collect::<Result<Vec<_>, _>>()?;
    Ok(Box::new(Timed::prepare(format!("sealift-kernels, {}", path.name()), parts)?))
}

struct Turn<'b> {
    path: Path,
    batch: usize,
    lots: &'b [Lot],
    calls: Vec<(Work<'b>, Held<'b>)>,
    checks: Checks,
}

/// The schedules of a lot's messages.
enum Held<'b> {
    One(&'b Schedule),
    Each(Vec<&'b Schedule>),
    Raw,
}

impl<'b> Turn<'b> {
    fn new<'l: 'b>(
        path: Path,
        batch: usize,
        lots: &'l [Lot],
        bench: &'b mut Bench<'l>,
    ) -> Result<Self, ArmError> {
        let Bench { schedules, tables } = bench;
        let mut calls = vec![];
        for (lot, (batch, place)) in lots.iter().zip(tables) {
            let batch: &'b Batch<'b> = batch;
            let output = Output {
                text: Room::Packed { bytes: &mut place.text, layout: borrowed(lot.texts.layout()) },
                tags: Room::fixed(&mut place.tags, lot.tag_length.bytes()),
                status: &mut place.status,
            };
            let work = Work::new(batch, output, &NO_KEYS).map_err(|e| failed(&e.to_string()))?;
            calls.push((work, Held::by(&lot.keys, schedules)));
        }
        Ok(Self { path, batch, lots, calls, checks: Checks::default() })
    }
}

impl Part for Turn<'_> {
    fn work(&mut self, times: usize) -> Result<Done, ArmError> {
        for _ in 0..times {
            for (work, held) in &mut self.calls {
                pass(self.path, self.batch, work, held);
            }
        }
        Ok(timed::done(self.lots, times))
    }

    fn check(&mut self) -> Result<(), ArmError> {
        let Self { lots, calls, checks, .. } = self;
        checks.next(NAME, lots, |lot, at| wrong(&lots[lot], &mut calls[lot].0, at))
    }
}

impl<'b> Held<'b> {
    fn by(keys: &LotKeys, schedules: &'b [Schedule]) -> Self {
        match keys {
            LotKeys::Fresh(_) => Self::Raw,
            LotKeys::Installed(of) if of.iter().all(|key| *key == of[0]) => {
                Self::One(&schedules[of[0] as usize])
            }
            LotKeys::Installed(of) => {
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
fn wrong(lot: &Lot, work: &mut Work<'_>, at: usize) -> Option<String> {
    let status = work.statuses()[at];
    let slot = work.slot(at);
    match (slot.text, slot.tag) {
        (SlotText::Apart { output, .. }, SlotTag::Write(tag)) => lot.wrong(at, output, tag, status),
        (SlotText::Apart { output, .. }, SlotTag::Check(tag)) => lot.wrong(at, output, tag, status),
        _ => Some(format!("message {at} has no place")),
    }
}

fn failed(what: &str) -> ArmError {
    ArmError::Wrong { device: NAME.to_owned(), what: what.to_owned() }
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
