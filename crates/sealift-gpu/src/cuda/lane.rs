//! A stream with slabs.

use super::ffi::{Address, Buffer, Grid, Queue, Value};
use super::{Device, PATIENCE, shared_bytes};
use crate::GpuError;
use crate::gpu::{Argument, Host, KeysAt, Lane, Launch, Room, Slab, Took, slab_bytes};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// A lane: a queue whose buffers are the slabs in the order of [`Slab::ALL`].
pub(super) struct CudaLane {
    queue: Queue,
    /// What each mark of the queue begins.
    kinds: Vec<Kind>,
    /// What is to be wiped.
    used: Room,
    device: Arc<Device>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    CopyIn,
    Compute,
    CopyOut,
}

impl CudaLane {
    pub(super) fn new(device: Arc<Device>) -> Result<Self, GpuError> {
        let queue = Queue::new(&device.context, Slab::ALL.len())?;
        Ok(Self { queue, kinds: vec![], used: Room::default(), device })
    }

    /// Marks where another kind of work begins.
    fn begin(&mut self, kind: Kind) -> Result<(), GpuError> {
        if self.kinds.last() != Some(&kind) {
            self.queue.mark()?;
            self.kinds.push(kind);
        }
        Ok(())
    }

    fn value(&self, argument: Argument, keys: KeysAt) -> Result<Value, GpuError> {
        let slab =
            |slab: Slab| self.queue.address(slab as usize).ok_or_else(|| self.has_no(slab.name()));
        let address: Address = match (argument, keys) {
            (Argument::Count(number), _) => return Ok(Value::Number(number)),
            (Argument::Keys, KeysAt::Lane) => slab(Slab::Keys)?,
            (Argument::Keys, KeysAt::Device) => {
                self.device.keys().ok_or_else(|| self.has_no("resident keys"))?
            }
            (Argument::Slab(one), _) => slab(one)?,
            (Argument::Table, _) => self.device.table,
        };
        Ok(Value::Address(address))
    }

    fn no_kernel(&self, launch: &Launch) -> GpuError {
        GpuError::Launch {
            device: self.device.context.name().to_owned(),
            kernel: launch.kernel.name(),
            code: format!("program {} has no such kernel", launch.program.name()),
        }
    }

    fn has_no(&self, what: &str) -> GpuError {
        let device = self.device.context.name().to_owned();
        GpuError::Call {
            device,
            code: format!("a kernel needs {what}, for which there is no room"),
        }
    }
}

impl Lane for CudaLane {
    fn reserve(&mut self, room: &Room) -> Result<(), GpuError> {
        let mut fresh = vec![];
        for slab in Slab::ALL {
            if room.of(slab) > self.queue.room(slab as usize) {
                let bytes = slab_bytes(room.of(slab), usize::MAX);
                let context = &self.device.context;
                let buffer = Buffer::new(context, bytes, slab.is_on_host(), slab.name())?;
                fresh.push((slab as usize, buffer));
            }
        }
        self.queue.replace(fresh, PATIENCE)
    }

    fn host(&mut self) -> Host<'_> {
        let mut sides = self.queue.hosts();
        let mut next = || sides.next().unwrap_or_default();
        Host { keys: next(), input: next(), messages: next(), pieces: next(), output: next() }
    }

    fn address(&self, slab: Slab) -> Option<u64> {
        self.queue.address(slab as usize).map(Address::number)
    }

    fn write_part(&mut self, slab: Slab, part: Range<usize>) -> Result<(), GpuError> {
        self.begin(Kind::CopyIn)?;
        self.queue.upload(slab as usize, part.clone())?;
        self.used = self.used.with(slab, part.end);
        Ok(())
    }

    fn clear(&mut self, slab: Slab, bytes: usize) -> Result<(), GpuError> {
        self.begin(Kind::Compute)?;
        self.queue.zero(slab as usize, bytes)
    }

    fn launch(&mut self, launch: &Launch) -> Result<(), GpuError> {
        let program = self.device.program(launch.program)?;
        let arguments = launch.arguments();
        let values = arguments.iter().map(|argument| self.value(*argument, launch.keys));
        let values = values.collect::<Result<Vec<_>, _>>()?;
        let grid = Grid {
            blocks: launch.groups,
            threads: launch.group_items,
            shared_bytes: shared_bytes(launch.kernel, launch.program),
        };
        self.begin(Kind::Compute)?;
        self.used = launch.leaves(self.used);
        let function = program.kernel(launch.kernel).ok_or_else(|| self.no_kernel(launch))?;
        self.queue.launch(function, grid, &values)
    }

    fn read_part(&mut self, slab: Slab, part: Range<usize>) -> Result<(), GpuError> {
        self.begin(Kind::CopyOut)?;
        self.queue.download(slab as usize, part.clone())?;
        self.used = self.used.with(slab, part.end);
        Ok(())
    }

    /// A stream begins by itself.
    fn flush(&mut self) -> Result<(), GpuError> {
        Ok(())
    }

    fn wait(&mut self, patience: Duration) -> Result<Took, GpuError> {
        let kinds = std::mem::take(&mut self.kinds);
        let times = self.queue.wait(patience)?;
        let mut took = Took::default();
        for (kind, ns) in kinds.into_iter().zip(times) {
            took += match kind {
                Kind::CopyIn => Took { copy_in_ns: ns, ..Took::default() },
                Kind::Compute => Took { compute_ns: ns, ..Took::default() },
                Kind::CopyOut => Took { copy_out_ns: ns, ..Took::default() },
            };
        }
        Ok(took)
    }

    fn wipe(&mut self) -> Result<(), GpuError> {
        let used = std::mem::take(&mut self.used);
        for slab in Slab::ALL {
            self.queue.zero_host(slab as usize, 0, used.of(slab));
            self.queue.zero(slab as usize, used.of(slab))?;
        }
        Ok(())
    }
}

impl fmt::Debug for CudaLane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CudaLane({:?} of {})", self.queue, self.device.context.name())
    }
}
