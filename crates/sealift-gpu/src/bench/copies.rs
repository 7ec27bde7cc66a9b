//! Copies between pinned memory of the host and a device.

use super::loaded::PATIENCE;
use super::spec::refused;
use super::turn::{Turn, megabyte_of};
use crate::GpuError;
use crate::gpu::{Gpu, Lane, Room, Slab, Took};
use std::ops::Range;
use std::sync::Arc;

/// Where bytes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// To the device.
    In,
    /// Back.
    Out,
    /// As many each way, at the same time.
    Both,
}

impl Direction {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::In, Self::Out, Self::Both];
}

/// Two lanes that copy.
pub struct CopyBench {
    lanes: [Box<dyn Lane>; 2],
    device: String,
    bytes: usize,
    turn: Turn,
}

impl CopyBench {
    /// Makes room for so many bytes on both sides, and checks that they come back as they went.
    ///
    /// # Errors
    /// There is no room, the device fails, or other bytes come back.
    pub fn new(gpu: &Arc<dyn Gpu>, bytes: usize) -> Result<Self, GpuError> {
        if bytes == 0 {
            return Err(refused("nothing is copied: give one byte at least".to_owned()));
        }
        let room = Room::default().with(Slab::Input, bytes);
        let mut lanes = [gpu.lane()?, gpu.lane()?];
        for lane in &mut lanes {
            lane.reserve(&room)?;
        }
        let device = gpu.about().name.clone();
        let mut bench = Self { lanes, device, bytes, turn: Turn::new(bytes, megabyte_of(1)) };
        bench.check()?;
        Ok(bench)
    }

    /// Copies so many times. Both ways at once took as long as the longer of their times.
    ///
    /// # Errors
    /// The device fails.
    pub fn run(&mut self, direction: Direction, times: u32) -> Result<Took, GpuError> {
        let (bytes, [one, other]) = (self.bytes, &mut self.lanes);
        for _ in 0..times {
            if direction != Direction::Out {
                one.write(Slab::Input, bytes)?;
            }
            if direction != Direction::In {
                other.read(Slab::Input, bytes)?;
            }
        }
        one.flush()?;
        other.flush()?;
        let mut took = one.wait(PATIENCE)?;
        took += other.wait(PATIENCE)?;
        Ok(took)
    }

    /// Sends bytes there and back on each lane, and returns how many.
    ///
    /// # Errors
    /// The device fails, or other bytes come back: the first.
    pub fn check(&mut self) -> Result<u64, GpuError> {
        let all = 0..self.bytes;
        for lane in &mut self.lanes {
            send(&mut **lane, all.clone())?;
            lane.host().input[all.clone()].fill(0);
            bring(&mut **lane, all.clone())?;
        }
        self.compare(0, all.clone())?;
        self.compare(1, all)?;
        Ok(2 * self.bytes as u64)
    }

    /// Overwrites a part of what copies have brought, each in turn: on the device and on the host.
    ///
    /// # Errors
    /// The device fails.
    pub fn forget(&mut self) -> Result<(), GpuError> {
        let part = self.turn.part();
        let [one, other] = &mut self.lanes;
        one.host().input[part.clone()].fill(0);
        one.write_part(Slab::Input, part.clone())?;
        one.flush()?;
        one.wait(PATIENCE)?;
        fill(&mut **one, part.clone());
        other.host().input[part].fill(0);
        Ok(())
    }

    /// Looks whether copies have brought that part since, and returns how many bytes it has.
    ///
    /// # Errors
    /// The device fails, or there are other bytes: the first.
    pub fn check_part(&mut self, direction: Direction) -> Result<u64, GpuError> {
        let part = self.turn.part();
        self.turn.go_on();
        let mut checked = 0;
        if direction != Direction::Out {
            self.lanes[0].host().input[part.clone()].fill(0);
            bring(&mut *self.lanes[0], part.clone())?;
            self.compare(0, part.clone())?;
            checked += part.len();
        }
        if direction != Direction::In {
            self.compare(1, part.clone())?;
            checked += part.len();
        }
        Ok(checked as u64)
    }

    /// Whether a lane's host has what was sent.
    fn compare(&mut self, lane: usize, part: Range<usize>) -> Result<(), GpuError> {
        let came = &self.lanes[lane].host().input[part.clone()];
        let wrong = part.zip(came).find(|(at, byte)| **byte != sent(*at as u64));
        let Some((at, byte)) = wrong else { return Ok(()) };
        let what = format!("byte {at} of {} came back as {byte}", self.bytes);
        Err(GpuError::Wrong { device: self.device.clone(), what })
    }

    /// Bytes of a copy.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

/// Lays out what is sent.
fn fill(lane: &mut dyn Lane, part: Range<usize>) {
    let host = &mut lane.host().input[part.clone()];
    part.zip(host).for_each(|(at, byte)| *byte = sent(at as u64));
}

fn send(lane: &mut dyn Lane, part: Range<usize>) -> Result<(), GpuError> {
    fill(lane, part.clone());
    lane.write_part(Slab::Input, part)?;
    lane.flush()?;
    lane.wait(PATIENCE).map(drop)
}

fn bring(lane: &mut dyn Lane, part: Range<usize>) -> Result<(), GpuError> {
    lane.read_part(Slab::Input, part)?;
    lane.flush()?;
    lane.wait(PATIENCE).map(drop)
}

/// The byte that goes to a place: no two pages are alike.
fn sent(at: u64) -> u8 {
    at.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes()[0] | 1
}
