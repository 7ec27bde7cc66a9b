//! `Engine::run` as users call it: the devices that [`Engine::detect`] finds, or one of them, under its default
//! policy.

use crate::cipher::Assignment;
use crate::messages::{MessageKeys, PreparedMessages, part};
use crate::outputs::{Checks, Outputs};
use crate::roster::{Prepared, Unfit};
use crate::timed::{self, Timed};
use sealift::{Batch, Engine, Key, Options, Output, Place, Session, Settings};
use sealift_probes::{ArmError, Done, Part};
use std::ops::Range;

/// Prepares the engine with `batch` messages a call, on a named device where one is, and checks it on every
/// message.
///
/// # Errors
/// There is no such device; it gave something wrong; a thread couldn't be started.
pub fn arm<'l>(batch: usize, device: Option<&str>, work: &Assignment<'l>) -> Prepared<'l> {
    let settings = Settings::on_one_thread();
    let engine = match device {
        None => Engine::detect_with(settings),
        Some(name) => Engine::open(&[name], &[], settings),
    };
    let engine = engine.map_err(ArmError::from).map_err(Unfit::Failed)?;
    let names: Vec<_> = engine.devices().map(|(_, device)| device.name.clone()).collect();
    let thread = |_| EngineThread::new(&engine, batch, work);
    let parts = (0..work.threads).map(thread).collect::<Result<Vec<_>, _>>();
    let parts = parts.map_err(Unfit::Failed)?;
    let detail = format!("Engine::run: {}", names.join(", "));
    Ok(Box::new(Timed::prepare(detail, parts).map_err(Unfit::Failed)?))
}

struct EngineThread<'l> {
    engine: Engine,
    messages: &'l [PreparedMessages],
    calls: Vec<Calls<'l>>,
    checks: Checks,
    /// Keeps the keys installed.
    _sessions: Vec<Session>,
}

/// The calls of one pass over messages whose tags are of one length.
struct Calls<'l> {
    batches: Vec<(Range<usize>, Batch<'l>)>,
    outputs: Outputs,
}

impl<'l> EngineThread<'l> {
    fn new(engine: &Engine, batch: usize, work: &Assignment<'l>) -> Result<Self, ArmError> {
        let is_fresh = |set: &PreparedMessages| matches!(set.keys, MessageKeys::Fresh(_));
        let keys = if work.messages.iter().all(is_fresh) { &[] } else { work.keys };
        let install = |raw: &Vec<u8>| Ok(engine.session(Key::new(raw).map_err(wrong)?)?);
        let sessions = keys.iter().map(install).collect::<Result<Vec<_>, ArmError>>()?;
        let batches = |set: &'l PreparedMessages| {
            let ranges =
                (0..set.len()).step_by(batch).map(|start| start..set.len().min(start + batch));
            let each = |range: Range<usize>| {
                (range.clone(), set.batch(range, |key| sessions[key as usize].id()))
            };
            Calls { batches: ranges.map(each).collect(), outputs: Outputs::of(set) }
        };
        Ok(Self {
            engine: engine.clone(),
            messages: work.messages,
            calls: work.messages.iter().map(batches).collect(),
            checks: Checks::default(),
            _sessions: sessions,
        })
    }
}

impl Part for EngineThread<'_> {
    fn work(&mut self, times: usize) -> Result<Done, ArmError> {
        let options = Options::default();
        for _ in 0..times {
            for (set, calls) in self.messages.iter().zip(&mut self.calls) {
                let Calls { batches, outputs } = calls;
                let tag_bytes = set.tag_length.bytes();
                for (range, batch) in batches {
                    let (bytes, layout) = part(set.texts.layout(), range.clone());
                    let text = match bytes {
                        Some(bytes) => &mut outputs.text[bytes],
                        None => &mut *outputs.text,
                    };
                    let tags = &mut outputs.tags[range.start * tag_bytes..range.end * tag_bytes];
                    let output = Output {
                        text: Place::Packed { bytes: text, layout },
                        tags: Place::fixed(tags, tag_bytes),
                        status: &mut outputs.status[range.clone()],
                    };
                    self.engine.run(batch, output, &options)?;
                }
            }
        }
        Ok(timed::done(self.messages, times))
    }

    fn check(&mut self) -> Result<(), ArmError> {
        let Self { messages, calls, checks, .. } = self;
        checks.next(NAME, messages, |set, at| {
            let (text, tag, status) = calls[set].outputs.message(at);
            messages[set].wrong(at, text, tag, status)
        })
    }
}

fn wrong(error: impl std::fmt::Display) -> ArmError {
    ArmError::Wrong { device: NAME.to_owned(), what: error.to_string() }
}

const NAME: &str = "engine";
