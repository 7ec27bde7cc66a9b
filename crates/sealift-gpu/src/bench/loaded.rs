//! Work that lies in a device's memory.

use crate::GpuError;
use crate::gpu::{Gpu, Host, Lane, Launch, Room, Slab, Took};
use std::time::Duration;

/// Kernels, and what they work on.
pub(super) struct Loaded {
    pub(super) device: String,
    lane: Box<dyn Lane>,
    launches: Vec<Launch>,
    room: Room,
    /// Somebody looked at the output, so that what is there does not tell of the next run.
    is_seen: bool,
}

impl Loaded {
    /// Fills a lane and brings it to the device.
    pub(super) fn new(
        gpu: &dyn Gpu,
        launches: Vec<Launch>,
        room: Room,
        fill: impl FnOnce(&mut Host<'_>),
    ) -> Result<Self, GpuError> {
        let device = gpu.about().name.clone();
        for slab in Slab::ALL {
            let (found, limit) = (room.of(slab), gpu.about().buffer_bytes_max);
            if found > limit {
                return Err(GpuError::TooLong { device, what: slab.name(), found, limit });
            }
        }
        let mut lane = gpu.lane()?;
        lane.reserve(&room)?;
        fill(&mut lane.host());
        let mut loaded = Self { device, lane, launches, room, is_seen: true };
        loaded.copy_in()?;
        loaded.finish()?;
        Ok(loaded)
    }

    /// Runs the kernels so many times.
    pub(super) fn run(&mut self, times: u32) -> Result<Took, GpuError> {
        self.forget_output()?;
        for _ in 0..times {
            self.launch()?;
        }
        self.finish()
    }

    /// The same, and each time everything is copied in before and the output back.
    pub(super) fn run_with_copies(&mut self, times: u32) -> Result<Took, GpuError> {
        self.forget_output()?;
        for _ in 0..times {
            self.copy_in()?;
            self.launch()?;
            self.lane.read(Slab::Output, self.room.of(Slab::Output))?;
        }
        self.finish()
    }

    /// What the last run wrote.
    pub(super) fn output(&mut self) -> Result<&[u8], GpuError> {
        let bytes = self.room.of(Slab::Output);
        self.lane.read(Slab::Output, bytes)?;
        self.finish()?;
        self.is_seen = true;
        let output = self.lane.host().output;
        Ok(&output[..bytes])
    }

    fn copy_in(&mut self) -> Result<(), GpuError> {
        for slab in [Slab::Keys, Slab::Input, Slab::Messages, Slab::Pieces] {
            let bytes = self.room.of(slab);
            if bytes > 0 {
                self.lane.write(slab, bytes)?;
            }
        }
        Ok(())
    }

    /// Overwrites an output that was looked at: a kernel that did nothing must not find it right. A run does so itself
    /// where nobody did; who times it by his own clock does it before.
    pub(super) fn forget_output(&mut self) -> Result<(), GpuError> {
        if self.is_seen {
            let bytes = self.room.of(Slab::Output);
            self.lane.host().output[..bytes].fill(0xee);
            self.lane.write(Slab::Output, bytes)?;
            self.finish()?;
            self.is_seen = false;
        }
        Ok(())
    }

    fn launch(&mut self) -> Result<(), GpuError> {
        self.launches.iter().try_for_each(|launch| self.lane.launch(launch))
    }

    fn finish(&mut self) -> Result<Took, GpuError> {
        self.lane.flush()?;
        self.lane.wait(PATIENCE)
    }
}

/// One work-item that does all the work of a processor takes long.
pub(super) const PATIENCE: Duration = Duration::from_secs(600);
