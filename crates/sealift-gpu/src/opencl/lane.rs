//! A queue with its memory.

use super::device::Ready;
use super::ffi::{
    Argument as Given, Buffer, Event, Failed, Kernel as Function, Pinned, Queue, State,
};
use crate::GpuError;
use crate::gpu::{
    Argument, Host, KeysAt, Lane, Launch, Room, Slab, Took, poll_patiently, slab_bytes,
};
use crate::message::LANES;
use crate::program::Program;
use crate::variant::Kernel;
use std::collections::HashMap;
use std::ffi::CString;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// A lane of an OpenCL device.
#[derive(Debug)]
pub(super) struct OpenClLane {
    ready: Arc<Ready>,
    queue: Arc<Queue>,
    slabs: [Option<Memory>; Slab::ALL.len()],
    kernels: HashMap<(Program, Kernel), Function>,
    begun: Vec<(Part, Event)>,
    /// What is to be wiped.
    used: Room,
}

/// A slab's two sides.
#[derive(Debug)]
struct Memory {
    host: Option<Pinned>,
    device: Buffer,
}

/// What a time is counted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    CopyIn,
    Compute,
    CopyOut,
    Wipe,
}

impl OpenClLane {
    pub(super) fn new(ready: Arc<Ready>) -> Result<Self, GpuError> {
        ready.unless_lost()?;
        let queue = Queue::new(&ready.context).map_err(|failed| failed.of(&ready.name))?;
        let queue = Arc::new(queue);
        Ok(Self {
            ready,
            queue,
            slabs: Default::default(),
            kernels: HashMap::new(),
            begun: vec![],
            used: Room::default(),
        })
    }

    fn failed(&self, failed: Failed) -> GpuError {
        failed.of(&self.ready.name)
    }

    fn memory(&self, slab: Slab) -> Result<&Memory, GpuError> {
        self.slabs[slab as usize].as_ref().ok_or_else(|| no_room(&self.ready.name, slab))
    }

    /// A slab's two sides, of new memory.
    fn allocate(&self, slab: Slab, bytes: usize) -> Result<Memory, GpuError> {
        let failed = |failed: Failed| failed.of_memory(&self.ready.name, slab.name(), bytes);
        let device = Buffer::new(&self.ready.context, bytes).map_err(failed)?;
        // Many libraries look for memory when it is first used.
        let used = self.queue.clear(&device, bytes).map_err(failed)?;
        self.ready.finish(&self.queue, &[used], PATIENCE)?;
        let host = slab.is_on_host().then(|| Pinned::new(&self.queue, bytes)).transpose();
        Ok(Memory { host: host.map_err(failed)?, device })
    }

    /// A kernel with its arguments for a launch.
    fn set(&mut self, launch: &Launch) -> Result<(), GpuError> {
        let key = (launch.program, launch.kernel);
        let name = launch.kernel.name();
        if !self.kernels.contains_key(&key) {
            let program = self.ready.program(launch.program)?;
            let found = CString::new(name).ok().map(|name| Function::new(&program, &name));
            let found = found.ok_or_else(|| no_kernel(&self.ready.name, name))?;
            let found = found.map_err(|failed| failed.of_launch(&self.ready.name, name))?;
            self.kernels.insert(key, found);
        }
        let Self { ready, slabs, kernels, .. } = self;
        let Some(kernel) = kernels.get_mut(&key) else {
            return Err(no_kernel(&ready.name, name));
        };
        let buffer = |slab: Slab| {
            let memory = slabs[slab as usize].as_ref().ok_or_else(|| no_room(&ready.name, slab));
            memory.map(|memory| Given::Buffer(&memory.device))
        };
        let mut at = 0;
        let mut give = |given| {
            at += 1;
            kernel.set(at - 1, given).map_err(|failed| failed.of_launch(&ready.name, name))
        };
        for argument in launch.arguments() {
            give(match argument {
                Argument::Keys if launch.keys == KeysAt::Device => Given::Buffer(&ready.keys),
                Argument::Keys => buffer(Slab::Keys)?,
                Argument::Slab(slab) => buffer(slab)?,
                Argument::Count(count) => Given::Number(count),
                Argument::Table => Given::Buffer(&ready.table),
            })?;
            let local_bytes = launch.program.local_bytes();
            if argument == Argument::Table && local_bytes > 0 {
                give(Given::Local(local_bytes))?;
            }
        }
        Ok(())
    }

    /// Waits for all that was begun, and gives it up. What nobody flushed may never begin.
    fn settle(&mut self, patience: Duration) -> Result<Took, GpuError> {
        let mut took = Took::default();
        let begun = std::mem::take(&mut self.begun);
        let events: Vec<_> = begun.iter().map(|(_, event)| event.clone()).collect();
        self.ready.finish(&self.queue, &events, patience)?;
        for (part, event) in begun {
            let ns = event.took_ns().map_err(|failed| self.failed(failed))?;
            took += match part {
                Part::CopyIn => Took { copy_in_ns: ns, ..Took::default() },
                Part::Compute => Took { compute_ns: ns, ..Took::default() },
                Part::CopyOut => Took { copy_out_ns: ns, ..Took::default() },
                Part::Wipe => Took::default(),
            };
        }
        Ok(took)
    }

    fn begin(&mut self, part: Part, event: Result<Event, Failed>) -> Result<(), GpuError> {
        let event = event.map_err(|failed| self.failed(failed))?;
        self.begun.push((part, event));
        Ok(())
    }
}

impl Lane for OpenClLane {
    fn reserve(&mut self, room: &Room) -> Result<(), GpuError> {
        for slab in Slab::ALL {
            let needed = room.of(slab);
            let has = self.slabs[slab as usize].as_ref().map_or(0, |memory| memory.device.bytes());
            if needed <= has {
                continue;
            }
            let bytes = slab_bytes(needed, self.ready.buffer_bytes_max);
            let memory = self.allocate(slab, bytes)?;
            if has > 0 {
                self.wipe()?;
            }
            self.slabs[slab as usize] = Some(memory);
        }
        Ok(())
    }

    fn host(&mut self) -> Host<'_> {
        let [keys, input, messages, pieces, output, ..] = &mut self.slabs;
        Host {
            keys: bytes(keys),
            input: bytes(input),
            messages: bytes(messages),
            pieces: bytes(pieces),
            output: bytes(output),
        }
    }

    /// Memory of OpenCL is an object of its context, and has no address.
    fn address(&self, _: Slab) -> Option<u64> {
        None
    }

    fn write_part(&mut self, slab: Slab, part: Range<usize>) -> Result<(), GpuError> {
        self.used = self.used.with(slab, part.end);
        let memory = self.slabs[slab as usize].as_mut();
        let Some(Memory { host: Some(host), device }) = memory else {
            return Err(no_room(&self.ready.name, slab));
        };
        let event = self.queue.write(device, host, part);
        self.begin(Part::CopyIn, event)
    }

    fn clear(&mut self, slab: Slab, bytes: usize) -> Result<(), GpuError> {
        let event = self.queue.clear(&self.memory(slab)?.device, bytes);
        self.begin(Part::Compute, event)
    }

    fn launch(&mut self, launch: &Launch) -> Result<(), GpuError> {
        self.used = launch.leaves(self.used);
        self.set(launch)?;
        let name = launch.kernel.name();
        let Some(kernel) = self.kernels.get(&(launch.program, launch.kernel)) else {
            return Err(no_kernel(&self.ready.name, name));
        };
        let group_items = match launch.program {
            Program::Driver(_) => {
                let most = kernel.group_items_max / LANES * LANES;
                launch.group_items.min(most.max(LANES))
            }
            // The lab says what it measures.
            Program::Lab(_) => launch.group_items,
        };
        let event = self.queue.launch(kernel, launch.groups, group_items);
        let event = event.map_err(|failed| failed.of_launch(&self.ready.name, name))?;
        self.begun.push((Part::Compute, event));
        Ok(())
    }

    fn read_part(&mut self, slab: Slab, part: Range<usize>) -> Result<(), GpuError> {
        self.used = self.used.with(slab, part.end);
        let memory = self.slabs[slab as usize].as_mut();
        let Some(Memory { host: Some(host), device }) = memory else {
            return Err(no_room(&self.ready.name, slab));
        };
        let event = self.queue.read(device, host, part);
        self.begin(Part::CopyOut, event)
    }

    fn flush(&mut self) -> Result<(), GpuError> {
        self.queue.flush().map_err(|failed| self.failed(failed))
    }

    fn wait(&mut self, patience: Duration) -> Result<Took, GpuError> {
        self.settle(patience)
    }

    fn wipe(&mut self) -> Result<(), GpuError> {
        let used = std::mem::take(&mut self.used);
        for slab in Slab::ALL {
            let bytes = used.of(slab);
            if bytes == 0 {
                continue;
            }
            let event = self.queue.clear(&self.memory(slab)?.device, bytes);
            self.begin(Part::Wipe, event)?;
            let memory = self.slabs[slab as usize].as_mut();
            if let Some(host) = memory.and_then(|memory| memory.host.as_mut()) {
                let bytes = bytes.min(host.len());
                host.bytes()[..bytes].fill(0);
            }
        }
        self.flush()
    }
}

impl Drop for OpenClLane {
    fn drop(&mut self) {
        if self.settle(PATIENCE).is_ok() {
            // Whatever was used of it, and by what failed, too.
            for (slab, memory) in Slab::ALL.into_iter().zip(&self.slabs) {
                let bytes = memory.as_ref().map_or(0, |memory| memory.device.bytes());
                self.used = self.used.with(slab, bytes);
            }
            // A lost device can't be told anything.
            let _ = self.wipe();
            let _ = self.settle(PATIENCE);
        }
    }
}

fn bytes(memory: &mut Option<Memory>) -> &mut [u8] {
    memory.as_mut().and_then(|memory| memory.host.as_mut()).map_or(&mut [], Pinned::bytes)
}

/// Waits until all events are over, while the device is still there.
pub(super) fn finished(
    device: &str,
    events: &[Event],
    patience: Duration,
    still: impl Fn() -> Result<(), GpuError>,
) -> Result<(), GpuError> {
    let Some(last) = events.last() else { return Ok(()) };
    let failed = |failed: Failed| failed.of(device);
    let over = || still().and_then(|()| Ok(last.state().map_err(failed)? != State::UnderWay));
    if !poll_patiently(patience, over)? {
        let seconds = patience.as_secs();
        return Err(GpuError::TimedOut { device: device.to_owned(), seconds });
    }
    for event in events {
        if let State::Failed(status) = event.state().map_err(failed)? {
            let code = Failed { call: "a command", status }.to_string();
            return Err(GpuError::Lost { device: device.to_owned(), code });
        }
    }
    Ok(())
}

fn no_room(device: &str, slab: Slab) -> GpuError {
    let code = format!("a lane has no room for {}", slab.name());
    GpuError::Call { device: device.to_owned(), code }
}

fn no_kernel(device: &str, kernel: &'static str) -> GpuError {
    let code = "its program has no such kernel".to_owned();
    GpuError::Launch { device: device.to_owned(), kernel, code }
}

/// For what was begun when a lane is dropped.
const PATIENCE: Duration = Duration::from_secs(60);
