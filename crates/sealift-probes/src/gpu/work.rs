//! What a device does again and again.

use super::{Data, failed};
use crate::ArmError;
use crate::crew::{Done, Part};
use sealift_gpu::GpuError;
use sealift_gpu::bench::{Bench, CopyBench, Direction, Grid, TypesBench, UnitBench};
use sealift_gpu::gpu::Took;

/// What was made ready on a device.
pub(super) enum Ready {
    /// One for each length of keys.
    Messages(Vec<Bench>, Data),
    Types(TypesBench, Grid),
    Units(UnitBench, Grid),
    Copies(CopyBench, Direction),
}

/// It, and what it did so far.
pub(super) struct Work {
    pub(super) device: String,
    pub(super) ready: Ready,
    pub(super) took: Took,
    /// Of the last work.
    pub(super) last: Took,
    pub(super) operations: u64,
    pub(super) checked: u64,
}

impl Work {
    /// The grid that it is done in; copies have none.
    pub(super) fn grid(&self) -> Option<Grid> {
        match &self.ready {
            Ready::Messages(benches, _) => benches.first().map(Bench::grid),
            Ready::Types(_, grid) | Ready::Units(_, grid) => Some(*grid),
            Ready::Copies(..) => None,
        }
    }

    /// What work-items keep for themselves, all together at a time.
    pub(super) fn private_bytes(&self) -> u64 {
        match &self.ready {
            Ready::Messages(benches, _) => {
                benches.iter().map(Bench::private_bytes).max().unwrap_or(0)
            }
            Ready::Types(..) | Ready::Units(..) | Ready::Copies(..) => 0,
        }
    }

    /// What one run does.
    fn once(&self) -> Done {
        match &self.ready {
            Ready::Messages(benches, _) => Done {
                operations: benches.iter().map(Bench::operations).sum(),
                bytes: bytes_of(benches),
            },
            Ready::Types(bench, _) => Done { operations: bench.operations(), bytes: 0 },
            Ready::Units(bench, _) => Done { operations: bench.lane_operations(), bytes: 0 },
            Ready::Copies(bench, direction) => {
                let ways = if *direction == Direction::Both { 2 } else { 1 };
                Done { operations: ways, bytes: ways * bench.bytes() as u64 }
            }
        }
    }

    /// What the last work took by the device's own clock. Nothing where its driver can't tell, or where copies and work, or
    /// both ways, overlap as far as they do: then this machine's clock counts.
    pub(super) fn device_ns(&self) -> Option<u64> {
        let ns = match self.ready {
            Ready::Messages(_, Data::WithTransfers) | Ready::Copies(_, Direction::Both) => None,
            Ready::Copies(_, Direction::In) => Some(self.last.copy_in_ns),
            Ready::Copies(_, Direction::Out) => Some(self.last.copy_out_ns),
            _ => Some(self.last.compute_ns),
        };
        ns.filter(|ns| *ns > 0)
    }

    fn forget(&mut self) -> Result<(), GpuError> {
        match &mut self.ready {
            Ready::Messages(benches, _) => benches.iter_mut().try_for_each(Bench::forget),
            Ready::Types(bench, _) => bench.forget(),
            Ready::Units(bench, _) => bench.forget(),
            Ready::Copies(bench, _) => bench.forget(),
        }
    }

    fn run(&mut self, times: u32) -> Result<Took, GpuError> {
        match &mut self.ready {
            Ready::Messages(benches, data) => {
                let mut took = Took::default();
                for bench in benches {
                    took += match data {
                        Data::Resident => bench.run(times)?,
                        Data::WithTransfers => bench.run_with_copies(times)?,
                    };
                }
                Ok(took)
            }
            Ready::Types(bench, _) => bench.run(times),
            Ready::Units(bench, _) => bench.run(times),
            Ready::Copies(bench, direction) => bench.run(*direction, times),
        }
    }
}

impl Part for Work {
    fn ready(&mut self, _: usize) {
        // What fails here is tried again by the work, which tells.
        let _ = self.forget();
    }

    fn work(&mut self, times: usize) -> Result<Done, ArmError> {
        let runs = u32::try_from(times).unwrap_or(u32::MAX);
        let took = self.run(runs).map_err(|error| failed(&self.device, error))?;
        self.took += took;
        self.last = took;
        let once = self.once();
        let done = Done {
            operations: once.operations * u64::from(runs),
            bytes: once.bytes * u64::from(runs),
        };
        self.operations += done.operations;
        Ok(done)
    }

    fn check(&mut self) -> Result<(), ArmError> {
        let checked = match &mut self.ready {
            Ready::Messages(benches, _) => {
                let is_much = bytes_of(benches) > COMPARED_BYTES_MAX;
                let look = if is_much { Bench::check_part } else { Bench::check };
                benches.iter_mut().map(look).sum()
            }
            Ready::Types(bench, _) => bench.check(),
            Ready::Units(bench, _) => bench.check(),
            // All of it was compared before the first sample, by copies of its own.
            Ready::Copies(bench, direction) => bench.check_part(*direction),
        };
        self.checked += checked.map_err(|error| failed(&self.device, error))?;
        Ok(())
    }
}

fn bytes_of(benches: &[Bench]) -> u64 {
    benches.iter().map(Bench::bytes).sum()
}

/// Of more than that a part of some megabytes is compared behind a sample, another one each time: to overwrite and compare
/// all of it takes several times as long as the sample.
const COMPARED_BYTES_MAX: u64 = 64 << 20;
