//! What is timed again and again.

use crate::machine::Facts;
use crate::trouble::Trouble;
use sealift_gpu::GpuError;
use sealift_gpu::bench::{Bench, CopyBench, Direction, TypesBench, UnitBench};
use sealift_gpu::gpu::{About, Took};
use sealift_probes::{Arm as Probe, ArmSpec, Columns, GcmArm, Planned, Regime, Sample, Shape};
use serde_json::Value;
use std::time::Instant;

/// Something that was prepared and checked, and is timed.
pub(crate) trait Arm {
    /// Works for about so many seconds, or once where that takes longer.
    fn sample(&mut self, seconds: f64) -> Result<Sample, Trouble>;

    /// Checks what it gave, and tells what was checked.
    fn check(&mut self) -> Result<Facts, Trouble>;
}

/// Work on a device that is timed by the device's own clock, or by this machine's.
pub(crate) trait Work {
    /// Works so many times, and tells what copies and kernels took.
    fn run(&mut self, times: u32) -> Result<Took, GpuError>;

    /// How long it took, of what it told and of what this machine's clock told, in nanoseconds.
    fn ns(&self, took: Took, _wall_ns: u64) -> u64 {
        took.compute_ns
    }

    /// Operations and payload bytes of once.
    fn once(&self) -> (u64, u64);

    /// Overwrites what is compared next, so that nobody takes what was there for what is to come.
    fn forget(&mut self) -> Result<(), GpuError>;

    /// Compares a part of the results, another one each time.
    fn check_part(&mut self) -> Result<u64, GpuError>;

    /// Compares all results, and returns how many.
    fn check(&mut self) -> Result<u64, GpuError>;

    /// What else is told of it.
    fn facts(&self) -> Vec<(&'static str, String)> {
        vec![]
    }
}

/// Such work, as often as fits into a sample, behind which a part of its results is compared.
pub(crate) struct Again<W> {
    work: W,
    once_ns: u64,
    /// Results that were compared behind samples.
    compared: u64,
}

impl<W: Work> Again<W> {
    /// Works twice: the first time may build what is built late.
    pub(crate) fn new(mut work: W) -> Result<Self, Trouble> {
        work.run(1)?;
        let mut again = Self { work, once_ns: 1, compared: 0 };
        again.once_ns = again.timed(1)?;
        Ok(again)
    }

    fn timed(&mut self, times: u32) -> Result<u64, Trouble> {
        self.work.forget()?;
        let began = Instant::now();
        let took = self.work.run(times)?;
        let wall_ns = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.compared += self.work.check_part()?;
        Ok(self.work.ns(took, wall_ns).max(1))
    }
}

impl<W: Work> Arm for Again<W> {
    fn sample(&mut self, seconds: f64) -> Result<Sample, Trouble> {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss
        )]
        let times = (seconds * 1e9 / self.once_ns as f64).clamp(1.0, TIMES_MAX) as u32;
        let ns = self.timed(times)?;
        self.once_ns = (ns / u64::from(times)).max(1);
        let (operations, bytes) = self.work.once();
        Ok(Sample {
            ns,
            operations: operations * u64::from(times),
            bytes: bytes * u64::from(times),
            // The host does nothing but wait.
            involuntary_switches: 0,
            cpu_share: 1.0,
            steal_ns: 0,
            clock_ghz: None,
        })
    }

    fn check(&mut self) -> Result<Facts, Trouble> {
        let checked = self.compared + self.work.check()?;
        let facts: [(&str, Value); 2] = [
            ("checked_against", "this processor's kernels".into()),
            ("results_checked", checked.into()),
        ];
        let more = self.work.facts().into_iter().map(|(name, told)| (name, told.into()));
        Ok(facts.into_iter().chain(more).map(|(name, value)| (name.to_owned(), value)).collect())
    }
}

/// Instructions of one kind.
impl Work for UnitBench {
    fn run(&mut self, times: u32) -> Result<Took, GpuError> {
        Self::run(self, times)
    }

    fn once(&self) -> (u64, u64) {
        (self.lane_operations(), 0)
    }

    fn forget(&mut self) -> Result<(), GpuError> {
        Self::forget(self)
    }

    fn check_part(&mut self) -> Result<u64, GpuError> {
        Self::check_part(self)
    }

    fn check(&mut self) -> Result<u64, GpuError> {
        Self::check(self)
    }
}

/// Copies of one direction.
pub(crate) struct Copies {
    pub(crate) bench: CopyBench,
    pub(crate) direction: Direction,
}

impl Work for Copies {
    fn run(&mut self, times: u32) -> Result<Took, GpuError> {
        self.bench.run(self.direction, times)
    }

    /// Both ways overlap as far as they do, which this machine's clock alone tells.
    fn ns(&self, took: Took, wall_ns: u64) -> u64 {
        match self.direction {
            Direction::In => took.copy_in_ns,
            Direction::Out => took.copy_out_ns,
            Direction::Both => wall_ns,
        }
    }

    fn once(&self) -> (u64, u64) {
        let ways = if self.direction == Direction::Both { 2 } else { 1 };
        (ways, ways * self.bench.bytes() as u64)
    }

    fn forget(&mut self) -> Result<(), GpuError> {
        self.bench.forget()
    }

    fn check_part(&mut self) -> Result<u64, GpuError> {
        self.bench.check_part(self.direction)
    }

    fn check(&mut self) -> Result<u64, GpuError> {
        self.bench.check()
    }
}

/// Messages in the device's memory.
pub(crate) struct Resident {
    bench: Bench,
    units: usize,
    /// Whether they are brought there and back each time.
    pub(crate) with_copies: bool,
}

impl Resident {
    /// Those of a bench on a device.
    pub(crate) fn new(bench: Bench, about: &About) -> Self {
        Self { bench, units: about.units, with_copies: false }
    }
}

impl Work for Resident {
    fn run(&mut self, times: u32) -> Result<Took, GpuError> {
        if self.with_copies { self.bench.run_with_copies(times) } else { self.bench.run(times) }
    }

    fn ns(&self, took: Took, wall_ns: u64) -> u64 {
        if self.with_copies { wall_ns } else { took.compute_ns }
    }

    fn once(&self) -> (u64, u64) {
        (self.bench.operations(), self.bench.bytes())
    }

    fn forget(&mut self) -> Result<(), GpuError> {
        self.bench.forget()
    }

    fn check_part(&mut self) -> Result<u64, GpuError> {
        self.bench.check_part()
    }

    fn check(&mut self) -> Result<u64, GpuError> {
        self.bench.check()
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let grid = self.bench.grid();
        vec![
            ("multiprocessors", self.units.to_string()),
            ("grid", format!("{} x {}", grid.groups, grid.group_items)),
            ("private_bytes", self.bench.private_bytes().to_string()),
        ]
    }
}

/// Products of a data type.
pub(crate) struct Types(pub(crate) TypesBench);

impl Work for Types {
    fn run(&mut self, times: u32) -> Result<Took, GpuError> {
        self.0.run(times)
    }

    fn once(&self) -> (u64, u64) {
        (self.0.operations(), 0)
    }

    fn forget(&mut self) -> Result<(), GpuError> {
        self.0.forget()
    }

    fn check_part(&mut self) -> Result<u64, GpuError> {
        self.0.check_part()
    }

    fn check(&mut self) -> Result<u64, GpuError> {
        self.0.check()
    }
}

/// Batches that are sealed.
pub(crate) struct Batches {
    /// How many messages there are, of AES-128.
    pub(crate) messages: usize,
    /// Bytes of each text.
    pub(crate) text_bytes: u64,
    /// Which of them share keys.
    pub(crate) keys: Regime,
    /// How many are handed over at once.
    pub(crate) batch: usize,
    /// How many threads do that, each with all of them.
    pub(crate) threads: usize,
}

/// Batches that an engine works, checked by another device of it.
pub(crate) struct Engined {
    arm: GcmArm,
    by: Worker,
}

/// Who works what threads hand over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Worker {
    /// The threads themselves.
    Threads,
    /// A device that they wait for. That nothing of them runs meanwhile says nothing about what else ran on their cores.
    Device,
}

impl Engined {
    /// Opens a device, and has all messages worked and checked.
    pub(crate) fn new(device: &str, by: Worker, batches: &Batches) -> Result<Self, Trouble> {
        let shape = Shape { text_bytes: batches.text_bytes, ..Shape::default() };
        let spec = ArmSpec {
            columns: Columns::cycle(batches.messages, &[Planned::Seal], shape),
            regime: batches.keys,
            batch: batches.batch,
            threads: batches.threads,
            seed: SEED,
        };
        let engine = sealift_probes::open(device);
        let engine = engine.map_err(|error| Trouble::Failed(error.to_string()))?;
        Ok(Self { arm: GcmArm::prepare(&engine, device, &spec)?, by })
    }
}

impl Arm for Engined {
    fn sample(&mut self, seconds: f64) -> Result<Sample, Trouble> {
        let sample = self.arm.sample(seconds)?;
        Ok(match self.by {
            Worker::Threads => sample,
            Worker::Device => {
                Sample { cpu_share: 1.0, involuntary_switches: 0, clock_ghz: None, ..sample }
            }
        })
    }

    fn check(&mut self) -> Result<Facts, Trouble> {
        let against: (&str, Value) =
            ("checked_against", format!("{:?}", self.arm.verified()).into());
        let counts = self.arm.counts().into_iter().map(|(name, count)| (name, count.into()));
        Ok(counts.chain([against]).map(|(name, value)| (name.to_owned(), value)).collect())
    }
}

/// A queue that is longer than this tells nothing more.
const TIMES_MAX: f64 = 10_000.0;
/// Of keys, nonces and texts.
const SEED: u64 = 1;

#[cfg(test)]
mod tests {
    use super::*;
    use fake_cuda::Fake;
    use sealift_core::KeyLength;
    use sealift_gpu::bench::{self, BenchSpec, Code, Grid, Mode, Unit};
    use sealift_gpu::cuda::CudaLibrary;
    use sealift_gpu::gpu::Gpu;
    use sealift_gpu::message::Operation;
    use std::sync::Arc;

    fn messages(gpu: &Arc<dyn Gpu>, with_copies: bool) -> Resident {
        let shape = bench::Shape {
            messages: 3,
            text_bytes: 100,
            aad_bytes: 0,
            key: KeyLength::Aes128,
            operation: Operation::Seal,
            own_keys: true,
        };
        let (code, mode, grid) = (Code::Published, Mode::Partitioned, None);
        let spec = BenchSpec { code, mode, grid, shape, seed: 1 };
        let bench = Bench::new(gpu, &spec).unwrap();
        Resident { with_copies, ..Resident::new(bench, gpu.about()) }
    }

    #[test]
    fn results_that_are_wrong_between_the_first_sample_and_the_last_are_found() {
        let fake = Fake::new().unwrap();
        let gpu = CudaLibrary::at(fake.path()).open(0).unwrap();
        let grid = Grid { groups: 1, group_items: 32 };
        let units = UnitBench::new(&gpu, Unit::Lop3, grid, 5).unwrap();
        let mut arms: [Box<dyn Arm>; 3] = [
            Box::new(Again::new(messages(&gpu, false)).unwrap()),
            Box::new(Again::new(messages(&gpu, true)).unwrap()),
            Box::new(Again::new(units).unwrap()),
        ];
        for arm in &mut arms {
            fake.plan("");
            arm.sample(0.0).unwrap();
            fake.plan("idle");
            let trouble = arm.sample(0.0).unwrap_err();
            assert!(matches!(trouble, Trouble::Wrong(_)), "{trouble:?}");
            fake.plan("");
            arm.sample(0.0).unwrap();
            assert!(arm.check().unwrap()["results_checked"].as_u64() > Some(3));
        }
    }
}
