//! Streams: what is put into them, and when it is done.

use super::World;
use crate::code::{Code, INVALID_HANDLE, INVALID_VALUE, NOT_READY};
use crate::kernels::{self, Kernel};
use std::collections::VecDeque;

/// Work in order, done when somebody asks for it.
pub(super) struct Stream {
    context: u64,
    waiting: VecDeque<Step>,
    put: u64,
    done: u64,
}

/// A place in a stream.
pub(super) struct Event {
    context: u64,
    /// The stream and how many of its steps come before; none when it was not recorded.
    place: Option<(u64, u64)>,
    asked: u32,
    tick: Option<u64>,
}

/// A copy between pinned memory of the host and a device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transfer {
    pub(crate) host: usize,
    pub(crate) device: u64,
    pub(crate) bytes: usize,
}

/// A kernel with its arguments, packed.
#[derive(Clone, Debug)]
pub(crate) struct Launch {
    pub(crate) kernel: Kernel,
    pub(crate) arguments: Vec<u8>,
    /// Threads of all blocks.
    pub(crate) items: u32,
}

enum Step {
    ToDevice(Transfer),
    ToHost(Transfer),
    Fill(u64, u8, usize),
    Launch(Launch),
    Stamp(u64),
}

impl World {
    pub(crate) fn stream(&mut self) -> Result<u64, Code> {
        let (context, handle) = (self.current()?, self.handle());
        let stream = Stream { context, waiting: VecDeque::new(), put: 0, done: 0 };
        self.streams.insert(handle, stream);
        Ok(handle)
    }

    pub(crate) fn close_stream(&mut self, stream: u64) -> Result<(), Code> {
        self.own(self.streams.get(&stream).map(|stream| stream.context))?;
        // CUDA lets it finish by itself.
        let _ = self.run(stream, u64::MAX);
        self.streams.remove(&stream);
        Ok(())
    }

    pub(crate) fn upload(&mut self, transfer: Transfer, stream: u64) -> Result<(), Code> {
        self.check(transfer)?;
        self.put(stream, Step::ToDevice(transfer))
    }

    pub(crate) fn download(&mut self, transfer: Transfer, stream: u64) -> Result<(), Code> {
        self.check(transfer)?;
        self.put(stream, Step::ToHost(transfer))
    }

    pub(crate) fn fill(
        &mut self,
        address: u64,
        byte: u8,
        bytes: usize,
        stream: u64,
    ) -> Result<(), Code> {
        if self.memory.read(address, bytes).is_err() {
            return Err(self.wrong(INVALID_VALUE));
        }
        self.put(stream, Step::Fill(address, byte, bytes))
    }

    pub(super) fn put_launch(&mut self, launch: Launch, stream: u64) -> Result<(), Code> {
        self.put(stream, Step::Launch(launch))
    }

    pub(crate) fn event(&mut self) -> Result<u64, Code> {
        let (context, handle) = (self.current()?, self.handle());
        self.events.insert(handle, Event { context, place: None, asked: 0, tick: None });
        Ok(handle)
    }

    pub(crate) fn close_event(&mut self, event: u64) -> Result<(), Code> {
        self.own(self.events.get(&event).map(|event| event.context))?;
        self.events.remove(&event);
        Ok(())
    }

    pub(crate) fn record(&mut self, event: u64, stream: u64) -> Result<(), Code> {
        self.own(self.events.get(&event).map(|event| event.context))?;
        self.put(stream, Step::Stamp(event))?;
        let put = self.streams.get(&stream).map_or(0, |stream| stream.put);
        if let Some(event) = self.events.get_mut(&event) {
            (event.place, event.asked, event.tick) = (Some((stream, put)), 0, None);
        }
        Ok(())
    }

    /// Whether everything before an event is done; it is, once it was asked for often enough.
    pub(crate) fn query(&mut self, event: u64) -> Result<(), Code> {
        self.own(self.events.get(&event).map(|event| event.context))?;
        let late = self.plan.late;
        let Some(event) = self.events.get_mut(&event) else { return Err(INVALID_HANDLE) };
        let Some((stream, before)) = event.place else { return Ok(()) };
        event.asked += 1;
        if event.asked <= late {
            return Err(NOT_READY);
        }
        self.run(stream, before)
    }

    /// Milliseconds from one event to another, by a clock that counts what was done.
    pub(crate) fn elapsed(&mut self, start: u64, end: u64) -> Result<f32, Code> {
        for event in [start, end] {
            self.own(self.events.get(&event).map(|event| event.context))?;
        }
        let tick = |event| self.events.get(&event).and_then(|event: &Event| event.tick);
        match (tick(start), tick(end)) {
            #[expect(clippy::cast_precision_loss, reason = "ticks are few")]
            (Some(start), Some(end)) => Ok(end.saturating_sub(start) as f32 / TICKS_A_MILLISECOND),
            _ => Err(NOT_READY),
        }
    }

    fn check(&mut self, transfer: Transfer) -> Result<(), Code> {
        let Transfer { host, device, bytes } = transfer;
        let is_there = self.pinned(host, bytes).is_ok() && self.memory.read(device, bytes).is_ok();
        if is_there { Ok(()) } else { Err(self.wrong(INVALID_VALUE)) }
    }

    fn put(&mut self, stream: u64, step: Step) -> Result<(), Code> {
        self.own(self.streams.get(&stream).map(|stream| stream.context))?;
        let Some(stream) = self.streams.get_mut(&stream) else { return Err(INVALID_HANDLE) };
        stream.waiting.push_back(step);
        stream.put += 1;
        Ok(())
    }

    /// Does the first steps of a stream, up to so many since it was made.
    pub(super) fn run(&mut self, stream: u64, steps: u64) -> Result<(), Code> {
        if let Some(code) = self.lost {
            return Err(code);
        }
        loop {
            let Some(of) = self.streams.get_mut(&stream) else { return Ok(()) };
            if of.done >= steps || of.waiting.is_empty() {
                return Ok(());
            }
            if self.plan.never {
                return Err(NOT_READY);
            }
            of.done += 1;
            let Some(step) = of.waiting.pop_front() else { return Ok(()) };
            if let Err(code) = self.step(step) {
                self.lost = Some(code);
                return Err(code);
            }
        }
    }

    fn step(&mut self, step: Step) -> Result<(), Code> {
        self.ticks += 1;
        match step {
            Step::ToDevice(Transfer { host, device, bytes }) => {
                let (pinned, at) = self.pinned(host, bytes)?;
                let copied = pinned.read(at, bytes);
                self.memory.write(device, &copied)
            }
            Step::ToHost(Transfer { host, device, bytes }) => {
                let copied = self.memory.read(device, bytes)?.to_vec();
                let (pinned, at) = self.pinned(host, bytes)?;
                pinned.write(at, &copied);
                Ok(())
            }
            Step::Fill(address, byte, bytes) => self.memory.write(address, &vec![byte; bytes]),
            Step::Launch(_) if self.plan.idle => Ok(()),
            Step::Launch(launch) => kernels::run(&launch, &mut self.memory),
            Step::Stamp(event) => {
                let now = self.ticks;
                self.events.get_mut(&event).into_iter().for_each(|event| event.tick = Some(now));
                Ok(())
            }
        }
    }
}

const TICKS_A_MILLISECOND: f32 = 1_000.0;
