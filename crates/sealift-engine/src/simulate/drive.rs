//! The loop that clients live in.

use super::messages::{self, Expected, Known};
use super::random::{Random, mix, whole_ns};
use super::{Clients, DeviceLoad, Load, LoadReport, Placement, SimulationError};
use crate::{
    Completed, Counters, DeviceId, Engine, EngineError, Options, SubmitError, SubmitRefusal,
};
use sealift_core::{Batch, Clock, SimulatedClock, Ticket};
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

pub(super) fn drive(
    load: &Load,
    engine: &Engine,
    clock: &Arc<SimulatedClock>,
    wanted: &mut dyn FnMut() -> bool,
) -> Result<LoadReport, SimulationError> {
    let installed = (0..load.sessions).map(|number| Known::install(engine, load.seed, number));
    let sessions = installed.collect::<Result<Vec<_>, _>>()?;
    let (before, start_ns) = (counters(engine)?, clock.now_ns());
    let mut run = Run::new(load, engine, clock, &sessions);
    run.go(wanted)?;
    let mut report = run.finish(start_ns);
    report.devices = device_loads(engine, &before, report.span_ns)?;
    Ok(report)
}

struct Run<'l> {
    load: &'l Load,
    engine: &'l Engine,
    clock: &'l SimulatedClock,
    sessions: &'l [Known],
    clients: Vec<Client>,
    /// Who sends when, in the order of time and of draws.
    due: BTreeSet<(u64, u64, u32)>,
    drawn: u64,
    /// Sent and not offered to the engine yet, in the order of sending.
    waiting: VecDeque<Sent>,
    /// What the engine handed back, before all of these.
    back: Option<(Made, Batch<'static>)>,
    flying: HashMap<Ticket, Made>,
    /// The engine was full and nothing has come back since.
    blocked: bool,
    /// When the last try changed nothing.
    stuck_at_ns: Option<u64>,
    end_ns: u64,
    responses_ns: Vec<u64>,
    report: LoadReport,
}

struct Client {
    random: Random,
    sent: u64,
}

/// A batch that a client sent. Its messages are made when it is offered, so that those who wait take no
/// room.
struct Sent {
    client: u32,
    /// Which of the client's.
    number: u64,
    messages: usize,
    at_ns: u64,
    on: Option<DeviceId>,
    /// Where its messages are drawn from.
    random: Random,
}

/// What is known of a batch whose messages were made.
struct Made {
    sent: Sent,
    expected: Vec<Expected>,
}

impl<'l> Run<'l> {
    fn new(
        load: &'l Load,
        engine: &'l Engine,
        clock: &'l SimulatedClock,
        sessions: &'l [Known],
    ) -> Self {
        let count = if let Clients::Closed { count, .. } = load.clients { count } else { 1 };
        let client = |number| Client { random: Random::stream(load.seed, number), sent: 0 };
        Self {
            load,
            engine,
            clock,
            sessions,
            clients: (0..u64::from(count)).map(client).collect(),
            due: BTreeSet::new(),
            drawn: 0,
            waiting: VecDeque::new(),
            back: None,
            flying: HashMap::new(),
            blocked: false,
            stuck_at_ns: None,
            end_ns: clock.now_ns(),
            responses_ns: vec![],
            report: LoadReport::default(),
        }
    }

    fn go(&mut self, wanted: &mut dyn FnMut() -> bool) -> Result<(), SimulationError> {
        (0..self.clients.len()).for_each(|at| self.think(u32::try_from(at).unwrap_or(u32::MAX)));
        while wanted() {
            self.send_due(wanted)?;
            self.offer()?;
            if self.flying.is_empty() && self.is_offered() && self.due.is_empty() {
                return Ok(());
            }
            let taken = self.engine.wait(None, self.until_due())?;
            if let Some(first) = taken {
                self.land(first);
                while let Some(next) = self.engine.poll()? {
                    self.land(next);
                }
            } else if !self.pass_time() {
                return Ok(());
            }
        }
        Err(SimulationError::Stopped)
    }

    /// Draws when a client sends next. For a closed one that is after a thought.
    fn think(&mut self, client: u32) {
        if self.drawn >= self.load.batches {
            return;
        }
        self.drawn += 1;
        let random = &mut self.clients[client as usize].random;
        let pause_ns = match &self.load.clients {
            Clients::Closed { think_ns, .. } => think_ns.next(random),
            Clients::Open { batches_per_s } => random.exponential(1e9 / batches_per_s),
        };
        let at_ns = self.clock.now_ns().saturating_add(whole_ns(pause_ns));
        self.due.insert((at_ns, self.drawn, client));
    }

    fn until_due(&self) -> Option<Duration> {
        let (at_ns, ..) = self.due.first()?;
        Some(Duration::from_nanos(at_ns.saturating_sub(self.clock.now_ns())))
    }

    /// Puts in line what is to be sent by now, which may be very much.
    fn send_due(&mut self, wanted: &mut dyn FnMut() -> bool) -> Result<(), SimulationError> {
        let now_ns = self.clock.now_ns();
        while let Some(&(at_ns, order, client)) = self.due.first().filter(|due| due.0 <= now_ns) {
            self.due.remove(&(at_ns, order, client));
            let Client { random, sent } = &mut self.clients[client as usize];
            let sender = match self.load.clients {
                Clients::Closed { .. } => u64::from(client),
                Clients::Open { .. } => *sent,
            };
            let on = self.load.placement.place(sender, random);
            let (number, mut random) = (*sent, Random::new(random.bits()));
            let messages = self.load.shapes.messages.whole(1, &mut random);
            *sent += 1;
            self.report.sent += 1;
            self.waiting.push_back(Sent { client, number, messages, at_ns, on, random });
            if matches!(self.load.clients, Clients::Open { .. }) {
                self.think(client);
            }
            if self.report.sent.is_multiple_of(SENT_UNASKED) && !wanted() {
                return Err(SimulationError::Stopped);
            }
        }
        Ok(())
    }

    /// Submits what waits until the engine is full.
    fn offer(&mut self) -> Result<(), SimulationError> {
        loop {
            let was_refused = self.back.is_some();
            let Some((made, batch)) = (if self.blocked { None } else { self.next_made() }) else {
                return Ok(());
            };
            let options = Options { on: made.sent.on, ..Options::default() };
            match self.engine.submit(batch, &options) {
                Ok(ticket) => {
                    self.stuck_at_ns = None;
                    self.flying.insert(ticket, made);
                }
                Err(SubmitError { batch, reason: SubmitRefusal::Full { .. } }) => {
                    self.report.refused += u64::from(!was_refused);
                    self.blocked = true;
                    self.back = Some((made, *batch));
                }
                Err(SubmitError { reason: SubmitRefusal::Engine(error), .. }) => {
                    if !matches!(error, EngineError::Device(_) | EngineError::NoDevice { .. }) {
                        return Err(error.into());
                    }
                    self.fail(&made.sent);
                }
            }
        }
    }

    /// The first in line, with its messages.
    fn next_made(&mut self) -> Option<(Made, Batch<'static>)> {
        if let Some(back) = self.back.take() {
            return Some(back);
        }
        let mut sent = self.waiting.pop_front()?;
        let from = (sent.client, sent.number);
        let (load, count) = (self.load, sent.messages);
        let (batch, expected) = messages::batch(load, self.sessions, from, count, &mut sent.random);
        Some((Made { sent, expected }, batch))
    }

    fn is_offered(&self) -> bool {
        self.back.is_none() && self.waiting.is_empty()
    }

    fn land(&mut self, completed: Completed) {
        self.blocked = false;
        self.stuck_at_ns = None;
        let now_ns = self.clock.now_ns();
        let Some(Made { sent, expected }) = self.flying.remove(&completed.ticket) else {
            self.report.doubled += completed.batch.len as u64;
            return;
        };
        let Ok((output, report)) = completed.outcome else { return self.fail(&sent) };
        let wrong = messages::count_wrong(&output, &expected);
        self.note([u64::from(sent.client), now_ns, report.device.index() as u64, wrong]);
        self.end_ns = now_ns;
        self.responses_ns.push(now_ns - sent.at_ns);
        self.report.wrong += wrong;
        self.report.moved += u64::from(report.moved > 0);
        self.report.batches += 1;
        self.report.messages += expected.len() as u64;
        self.report.text_bytes += expected.iter().map(Expected::given_bytes).sum::<u64>();
        self.next_round(sent.client);
    }

    fn fail(&mut self, sent: &Sent) {
        self.end_ns = self.clock.now_ns();
        self.note([u64::from(sent.client), self.end_ns, u64::MAX, 0]);
        self.report.failed += sent.messages as u64;
        self.next_round(sent.client);
    }

    fn next_round(&mut self, client: u32) {
        if matches!(self.load.clients, Clients::Closed { .. }) {
            self.think(client);
        }
    }

    fn note(&mut self, what: [u64; 4]) {
        self.report.digest =
            what.iter().fold(self.report.digest, |digest, part| mix(digest ^ part));
    }

    /// Nothing came back: moves on to the next sender or event. False when nothing will ever happen.
    fn pass_time(&mut self) -> bool {
        self.blocked = false;
        let now_ns = self.clock.now_ns();
        if let Some(&(at_ns, ..)) = self.due.first() {
            self.clock.advance_to(at_ns);
            return true;
        }
        if self.clock.step() {
            return true;
        }
        // Once more: an event may have made room just now.
        self.stuck_at_ns.replace(now_ns) != Some(now_ns)
    }

    fn finish(self, start_ns: u64) -> LoadReport {
        let Self { mut report, mut responses_ns, waiting, back, flying, .. } = self;
        let made = flying.values().chain(back.iter().map(|(made, _)| made)).map(|made| &made.sent);
        report.lost = made.chain(&waiting).map(|sent| sent.messages as u64).sum();
        report.span_ns = self.end_ns - start_ns;
        report.batches_per_s = report.batches as f64 * 1e9 / report.span_ns.max(1) as f64;
        let sum_ns: u128 = responses_ns.iter().map(|&ns| u128::from(ns)).sum();
        report.response_ns_mean = sum_ns as f64 / responses_ns.len().max(1) as f64;
        responses_ns.sort_unstable();
        let rank = (responses_ns.len() * 99).div_ceil(100);
        report.response_ns_p99 = rank.checked_sub(1).map_or(0, |at| responses_ns[at]);
        report
    }
}

impl Placement {
    fn place(&self, sender: u64, random: &mut Random) -> Option<DeviceId> {
        let (devices, number) = match self {
            Self::Chosen => return None,
            Self::PerClient(devices) => (devices, sender),
            Self::PerBatch(devices) => (devices, random.below(devices.len() as u64)),
        };
        let at = usize::try_from(number % devices.len().max(1) as u64).unwrap_or(0);
        devices.get(at).copied()
    }
}

fn counters(engine: &Engine) -> Result<Vec<Counters>, EngineError> {
    engine.devices().map(|(device, _)| engine.counters(device)).collect()
}

fn device_loads(
    engine: &Engine,
    before: &[Counters],
    span_ns: u64,
) -> Result<Vec<DeviceLoad>, EngineError> {
    let mut loads = vec![];
    for ((_, capabilities), (before, after)) in
        engine.devices().zip(before.iter().zip(counters(engine)?))
    {
        let busy_ns = (after.busy_ns - before.busy_ns) as f64;
        loads.push(DeviceLoad {
            name: capabilities.name.clone(),
            batches: after.batches - before.batches,
            messages: after.messages - before.messages,
            failed: after.failed - before.failed,
            abandoned: after.abandoned - before.abandoned,
            late: after.late - before.late,
            wrong: after.wrong - before.wrong,
            utilisation: busy_ns / (span_ns.max(1) as f64 * capabilities.workers as f64),
        });
    }
    Ok(loads)
}

/// Between two looks at whether somebody still wants it.
const SENT_UNASKED: u64 = 1 << 10;
