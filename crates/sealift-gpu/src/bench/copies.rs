//! Copies between pinned memory of the host and a device.

use super::loaded::PATIENCE;
use super::spec::refused;
use crate::GpuError;
use crate::gpu::{Gpu, Lane, Room, Slab, Took};
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
        let mut bench = Self { lanes, device: gpu.about().name.clone(), bytes };
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
        for lane in &mut self.lanes {
            let host = &mut lane.host().input[..self.bytes];
            (0..).zip(host.iter_mut()).for_each(|(at, byte)| *byte = sent(at));
            lane.write(Slab::Input, self.bytes)?;
            lane.flush()?;
            lane.wait(PATIENCE)?;
            lane.host().input[..self.bytes].fill(0);
            lane.read(Slab::Input, self.bytes)?;
            lane.flush()?;
            lane.wait(PATIENCE)?;
            let host = lane.host().input;
            let mut came = (0..).zip(&host[..self.bytes]);
            if let Some((at, byte)) = came.find(|(at, byte)| **byte != sent(*at)) {
                let what = format!("byte {at} of {} came back as {byte}", self.bytes);
                return Err(GpuError::Wrong { device: self.device.clone(), what });
            }
        }
        Ok(2 * self.bytes as u64)
    }

    /// Bytes of a copy.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

/// The byte that goes to a place: no two pages are alike.
fn sent(at: u64) -> u8 {
    at.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes()[0] | 1
}
