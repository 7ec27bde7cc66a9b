//! A device as an arm: what is timed again and again.

use super::work::{Ready, Work};
use super::{GpuCopySpec, GpuSpec, GpuTypesSpec, GpuUnitSpec, failed, grid, open, role};
use crate::crew::Crew;
use crate::{Arm, ArmError, Sample, Verified};
use sealift::Role;
use sealift_gpu::bench::{Bench, CopyBench, TypesBench, UnitBench};
use sealift_gpu::gpu::{About, Gpu, Took};
use std::sync::Arc;

/// A device that does the same work again and again, in its own memory or with the way there and back.
///
/// All it gives is compared with what this processor makes of it, before the first sample and after each; of copies, and
/// of more than 64 MiB of messages, then some megabytes, others each time. An operation is a message, for each work-item that
/// works it, a multiplication with its addition, an instruction of a lane, or a copy of one direction. Kernels, and copies of
/// one direction, are timed by the device's own clock, and what goes there and back by this machine's.
pub struct GpuArm {
    work: Work,
    crew: Crew,
    pub(super) about: About,
    verified: Verified,
}

impl GpuArm {
    /// Opens a device and makes messages ready on it, asking before whether that is still wanted.
    ///
    /// # Errors
    /// There is no such device, or it does not take the grid; no such code, mode or place of data; a wrong result;
    /// [`ArmError::Stopped`].
    pub fn prepare_while(
        spec: &GpuSpec,
        wanted: &mut dyn FnMut() -> bool,
    ) -> Result<Self, ArmError> {
        let data = spec.data()?;
        let gpu = opened(&spec.device, wanted)?;
        let asked = spec.benches(gpu.about())?;
        let benches = asked.iter().map(|asked| Bench::new(&gpu, asked)).collect::<Result<_, _>>();
        let benches = benches.map_err(|error| failed(&spec.device, error))?;
        let against = "this processor's kernels";
        Self::warm(&spec.device, gpu.about(), Ready::Messages(benches, data), against)
    }

    /// The same for products of a data type.
    ///
    /// # Errors
    /// As above; no such type.
    pub fn of_types_while(
        spec: &GpuTypesSpec,
        wanted: &mut dyn FnMut() -> bool,
    ) -> Result<Self, ArmError> {
        let of = spec.of()?;
        let gpu = opened(&spec.device, wanted)?;
        let grid = grid(spec.grid);
        let bench = TypesBench::new(&gpu, of, grid).map_err(|error| failed(&spec.device, error))?;
        Self::warm(&spec.device, gpu.about(), Ready::Types(bench, grid), "this processor")
    }

    /// The same for chains of an instruction.
    ///
    /// # Errors
    /// As above; no such instruction, or a device that isn't NVIDIA's.
    pub fn of_units_while(
        spec: &GpuUnitSpec,
        wanted: &mut dyn FnMut() -> bool,
    ) -> Result<Self, ArmError> {
        let of = spec.of()?;
        let gpu = opened(&spec.device, wanted)?;
        let grid = GpuUnitSpec::grid(gpu.about());
        let bench = UnitBench::new(&gpu, of, grid, spec.rounds);
        let bench = bench.map_err(|error| failed(&spec.device, error))?;
        Self::warm(&spec.device, gpu.about(), Ready::Units(bench, grid), "this processor")
    }

    /// The same for copies.
    ///
    /// # Errors
    /// There is no such device or direction, or no memory for so many bytes; other bytes came back;
    /// [`ArmError::Stopped`].
    pub fn of_copies_while(
        spec: &GpuCopySpec,
        wanted: &mut dyn FnMut() -> bool,
    ) -> Result<Self, ArmError> {
        let direction = spec.direction()?;
        ArmError::check("bytes of a copy", spec.size_bytes, 1, COPY_BYTES_MAX)?;
        let gpu = opened(&spec.device, wanted)?;
        let bench = CopyBench::new(&gpu, spec.size_bytes);
        let bench = bench.map_err(|error| failed(&spec.device, error))?;
        let ready = Ready::Copies(bench, direction);
        Self::warm(&spec.device, gpu.about(), ready, "the bytes that were sent")
    }

    fn warm(device: &str, about: &About, ready: Ready, against: &str) -> Result<Self, ArmError> {
        let work = Work {
            device: device.to_owned(),
            ready,
            took: Took::default(),
            last: Took::default(),
            operations: 0,
            checked: 0,
        };
        let mut arm = Self {
            work,
            crew: Crew::anywhere(),
            about: about.clone(),
            verified: Verified::Against(vec![against.to_owned()]),
        };
        // The first builds what is built late; the second gives the pace.
        for _ in 0..2 {
            arm.crew.run(std::slice::from_mut(&mut arm.work), 1)?;
        }
        arm.work.took = Took::default();
        arm.work.operations = 0;
        Ok(arm)
    }
}

impl Arm for GpuArm {
    fn sample(&mut self, seconds: f64) -> Result<Sample, ArmError> {
        let times = self.crew.times_for(seconds);
        let sample = self.crew.run(std::slice::from_mut(&mut self.work), times)?;
        let ns = self.work.device_ns().unwrap_or(sample.ns);
        // Who hands over waits, by design: that does not say that something else ran there.
        Ok(Sample { ns, cpu_share: 1.0, involuntary_switches: 0, clock_ghz: None, ..sample })
    }

    fn verified(&self) -> &Verified {
        &self.verified
    }

    fn detail(&self) -> &str {
        &self.about.detail
    }

    fn role(&self) -> Option<Role> {
        Some(role(&self.about))
    }

    fn cores(&self) -> &[usize] {
        self.crew.cores()
    }

    fn counts(&self) -> Vec<(&'static str, u64)> {
        let Took { copy_in_ns, compute_ns, copy_out_ns } = self.work.took;
        vec![
            ("results_checked", self.work.checked),
            ("operations_worked", self.work.operations),
            ("device_copy_in_ns", copy_in_ns),
            ("device_compute_ns", compute_ns),
            ("device_copy_out_ns", copy_out_ns),
        ]
    }

    fn told(&self) -> Vec<(&'static str, String)> {
        let grid = self.work.grid().map(|grid| format!("{} x {}", grid.groups, grid.group_items));
        vec![
            ("multiprocessors", self.about.units.to_string()),
            ("grid", grid.unwrap_or_default()),
            ("private_bytes", self.work.private_bytes().to_string()),
        ]
    }
}

fn opened(device: &str, wanted: &mut dyn FnMut() -> bool) -> Result<Arc<dyn Gpu>, ArmError> {
    let gpu = open(device)?;
    if wanted() { Ok(gpu) } else { Err(ArmError::Stopped { device: device.to_owned() }) }
}

/// Pinned memory of this machine is rarely much larger than that.
const COPY_BYTES_MAX: usize = 1 << 30;
