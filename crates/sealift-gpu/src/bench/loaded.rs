//! Work that lies in a device's memory.

use super::turn::Turn;
use crate::GpuError;
use crate::gpu::{Gpu, Host, Lane, Launch, Room, Slab, Took};
use std::ops::Range;
use std::time::Duration;

/// [`Loaded::output`] or [`Loaded::part`].
pub(super) type Look = fn(&mut Loaded) -> Result<(usize, &[u8]), GpuError>;

/// Kernels, and what they work on.
pub(super) struct Loaded {
    pub(super) device: String,
    lane: Box<dyn Lane>,
    launches: Vec<Launch>,
    room: Room,
    /// Somebody looked at all of the output, so that what is there does not tell of the next run.
    is_seen: bool,
    /// The part that is looked at next, and whether it was overwritten before the last run.
    turn: Turn,
    is_ready: bool,
}

impl Loaded {
    /// Fills a lane and brings it to the device. So much of the output is looked at between runs.
    pub(super) fn new(
        gpu: &dyn Gpu,
        launches: Vec<Launch>,
        (room, part_bytes): (Room, usize),
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
        let turn = Turn::new(room.of(Slab::Output), part_bytes);
        let mut loaded =
            Self { device, lane, launches, room, is_seen: true, turn, is_ready: false };
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

    /// What the last run wrote, and that it begins at 0.
    pub(super) fn output(&mut self) -> Result<(usize, &[u8]), GpuError> {
        self.is_seen = true;
        self.look(0..self.room.of(Slab::Output))
    }

    /// A part of that, another one each time, and where it begins.
    pub(super) fn part(&mut self) -> Result<(usize, &[u8]), GpuError> {
        let part = self.turn.part();
        self.turn.go_on();
        self.look(part)
    }

    fn look(&mut self, part: Range<usize>) -> Result<(usize, &[u8]), GpuError> {
        self.is_ready = false;
        self.lane.read_part(Slab::Output, part.clone())?;
        self.finish()?;
        let output = self.lane.host().output;
        Ok((part.start, &output[part]))
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

    /// Overwrites what is looked at next, or all of an output that was looked at: a kernel that did nothing must not find
    /// it right. A run does so itself where nobody did; who times it by his own clock does it before.
    pub(super) fn forget_output(&mut self) -> Result<(), GpuError> {
        if self.is_ready {
            return Ok(());
        }
        let all = 0..self.room.of(Slab::Output);
        let part = if self.is_seen { all } else { self.turn.part() };
        self.lane.host().output[part.clone()].fill(SPOILT);
        self.lane.write_part(Slab::Output, part)?;
        self.finish()?;
        (self.is_seen, self.is_ready) = (false, true);
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

/// What stands in an output that no kernel wrote.
pub(super) const SPOILT: u8 = 0xee;
/// One work-item that does all the work of a processor takes long.
pub(super) const PATIENCE: Duration = Duration::from_secs(600);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    #[test]
    fn the_part_that_is_looked_at_next_is_overwritten_before_the_run_in_front() {
        let part = 1 << 20;
        let room = Room::default().with(Slab::Output, 3 * part);
        let fake = Fake::new();
        let mut loaded = Loaded::new(&fake, vec![], (room, part), |_| {}).unwrap();
        loaded.run(1).unwrap();
        assert_eq!(loaded.part().unwrap().0, 0);
        for begin in [part, 2 * part, 0, part] {
            loaded.lane.clear(Slab::Output, 3 * part).unwrap();
            let writes = fake.calls("write");
            loaded.run(1).unwrap();
            loaded.run(1).unwrap();
            assert_eq!(fake.calls("write"), writes + 1);
            let (at, found) = loaded.part().unwrap();
            assert!(at == begin && *found == vec![0xee; part], "{at}");
        }
    }
}
