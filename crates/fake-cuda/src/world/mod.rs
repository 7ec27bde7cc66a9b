//! What a libcuda keeps: devices, contexts, memory, streams, programs.

mod memory;
mod program;
mod queue;

pub(crate) use memory::Memory;
pub(crate) use queue::{Launch, Transfer};

use crate::code::{
    Code, INVALID_CONTEXT, INVALID_DEVICE, INVALID_HANDLE, NO_DEVICE, NOT_INITIALIZED,
};
use crate::ffi::Pinned;
use crate::plan::{Failure, Plan};
use program::{Function, Module};
use queue::{Event, Stream};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

/// The one world of a library that was opened.
pub(crate) fn world() -> MutexGuard<'static, World> {
    static WORLD: LazyLock<Mutex<World>> = LazyLock::new(Mutex::default);
    WORLD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a function needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// The library alone.
    Library,
    /// That the library was initialised.
    Machine,
    /// That the device is not lost.
    Device,
    /// It gives something back, whatever it answers.
    Closing,
}

/// Everything that is there.
#[derive(Default)]
pub(crate) struct World {
    pub(crate) plan: Plan,
    initialized: bool,
    calls: BTreeMap<&'static str, u64>,
    lost: Option<Code>,
    handles: u64,
    /// How often each device's context is retained.
    retained: BTreeMap<u64, u64>,
    pub(crate) memory: Memory,
    pinned: BTreeMap<usize, Pinned>,
    streams: BTreeMap<u64, Stream>,
    events: BTreeMap<u64, Event>,
    modules: BTreeMap<u64, Module>,
    functions: BTreeMap<u64, Function>,
    ticks: u64,
    found: Found,
}

/// What nobody should find.
#[derive(Debug, Default)]
struct Found {
    /// Bytes that were not overwritten when memory of a device was given back.
    dirty_device_bytes: u64,
    /// The same of pinned memory.
    dirty_pinned_bytes: u64,
    /// Calls that would have waited for ever.
    hangs: u64,
    /// Calls that name what is not there, or is of another context.
    wrong_calls: u64,
}

thread_local! {
    /// The contexts that are current on this thread, the last one first in line.
    static CURRENT: RefCell<Vec<u64>> = const { RefCell::new(vec![]) };
}

impl World {
    /// Takes a plan, from which calls are counted anew. What is lost stays lost, unless everything begins anew.
    pub(crate) fn order(&mut self, plan: Plan, anew: bool) {
        if anew {
            *self = Self::default();
        }
        self.plan = plan;
        self.calls.clear();
    }

    /// Counts a call and says what is ordered for it.
    pub(crate) fn enter(&mut self, function: &'static str, scope: Scope) -> Result<(), Code> {
        let nth = self.calls.entry(function).or_default();
        *nth += 1;
        let nth = *nth;
        match self.plan.failure(function, nth, self.calls.values().sum()) {
            Some(Failure::Once(code)) => return Err(code),
            Some(Failure::Lost(code)) => {
                self.lost = Some(code);
                return Err(code);
            }
            None => {}
        }
        if scope != Scope::Library && !self.initialized {
            return Err(NOT_INITIALIZED);
        }
        match self.lost {
            Some(code) if matches!(scope, Scope::Device | Scope::Closing) => Err(code),
            _ => Ok(()),
        }
    }

    pub(crate) fn init(&mut self) -> Result<(), Code> {
        self.initialized = true;
        if self.plan.devices == 0 { Err(NO_DEVICE) } else { Ok(()) }
    }

    /// The number of a device that there is.
    pub(crate) fn device(&self, number: i32) -> Result<u64, Code> {
        let number = u64::try_from(number).map_err(|_| INVALID_DEVICE)?;
        if number < u64::from(self.plan.devices) { Ok(number) } else { Err(INVALID_DEVICE) }
    }

    /// A device's context: its handle is the device's number and one.
    pub(crate) fn retain(&mut self, device: i32) -> Result<u64, Code> {
        let context = self.device(device)? + 1;
        *self.retained.entry(context).or_default() += 1;
        Ok(context)
    }

    pub(crate) fn release(&mut self, device: i32) -> Result<(), Code> {
        let context = self.device(device)? + 1;
        match self.retained.get_mut(&context).filter(|times| **times > 0) {
            Some(times) => *times -= 1,
            None => return Err(self.wrong(INVALID_CONTEXT)),
        }
        Ok(())
    }

    pub(crate) fn push(&mut self, context: u64) -> Result<(), Code> {
        if self.retained.get(&context).is_none_or(|times| *times == 0) {
            return Err(self.wrong(INVALID_CONTEXT));
        }
        CURRENT.with_borrow_mut(|current| current.push(context));
        Ok(())
    }

    pub(crate) fn pop(&mut self) -> Result<u64, Code> {
        let popped = CURRENT.with_borrow_mut(Vec::pop);
        popped.ok_or_else(|| self.wrong(INVALID_CONTEXT))
    }

    /// The context that is current on the calling thread.
    fn current(&mut self) -> Result<u64, Code> {
        let current = CURRENT.with_borrow(|current| current.last().copied());
        current.ok_or_else(|| self.wrong(INVALID_CONTEXT))
    }

    /// Checks that something belongs to the current context.
    fn own(&mut self, context: Option<u64>) -> Result<(), Code> {
        let current = self.current()?;
        match context {
            Some(context) if context == current => Ok(()),
            Some(_) => Err(self.wrong(INVALID_CONTEXT)),
            None => Err(self.wrong(INVALID_HANDLE)),
        }
    }

    fn handle(&mut self) -> u64 {
        self.handles += 1;
        FIRST_HANDLE + self.handles
    }

    fn wrong(&mut self, code: Code) -> Code {
        self.found.wrong_calls += 1;
        code
    }

    /// What was called, what is there, and what should not have been: a line each, `name number`.
    pub(crate) fn report(&self) -> String {
        let Found { dirty_device_bytes, dirty_pinned_bytes, hangs, wrong_calls } = self.found;
        let depth = CURRENT.with_borrow(|current| current.len() as u64);
        let there = [
            ("calls", self.calls.values().sum()),
            ("contexts", self.retained.values().sum()),
            ("current", depth),
            ("device_bytes", self.memory.bytes_in_all()),
            ("device_memories", self.memory.len() as u64),
            ("pinned_memories", self.pinned.len() as u64),
            ("streams", self.streams.len() as u64),
            ("events", self.events.len() as u64),
            ("modules", self.modules.len() as u64),
            ("held_bytes", self.held_bytes()),
            ("held_device_bytes", self.memory.held_bytes()),
            ("dirty_device_bytes", dirty_device_bytes),
            ("dirty_pinned_bytes", dirty_pinned_bytes),
            ("hangs", hangs),
            ("wrong_calls", wrong_calls),
        ];
        let calls = self.calls.iter().map(|(name, calls)| (*name, *calls));
        there.into_iter().chain(calls).map(|(name, number)| format!("{name} {number}\n")).collect()
    }
}

/// So that no handle is taken for a context, or for a small number.
const FIRST_HANDLE: u64 = 1 << 32;
