//! GPUs, whichever library speaks to them: as devices, and by hand for batches that stay in their memory.

use crate::workers::{self, Crew, Software};
use crate::{cuda, opencl};
use sealift_core::{
    Capabilities, Clock, Context, Cost, Device, DeviceError, OpenError, Origin, Probe, Resource,
    Role, SessionId, Spec, SpecError, Timing, Work,
};
pub use sealift_gpu::gpu::Took;
use sealift_gpu::gpu::{About, Gpu};
use sealift_gpu::opencl::LIBRARY;
use sealift_gpu::variant::Tables;
use sealift_gpu::{GpuError, Settings};
pub use sealift_gpu::{Held, Place, Worker};
use sealift_kernels::stack::wipe_after;
use std::sync::Arc;
use std::time::Duration;

/// Opens the GPU that a spec names, `opencl:0` or `cuda:1,strict=on`, to work batches on it by hand. No engine knows of
/// it, or of what it holds.
///
/// # Errors
/// The spec names no GPU, the hardware is absent, or a setting is wrong.
pub fn worker(spec: &Spec) -> Result<Worker, OpenError> {
    let asked = match spec.driver() {
        "cuda" | "opencl" => Asked::of(spec)?,
        other => {
            let known = "cuda, opencl".to_owned();
            return Err(OpenError::UnknownDriver { name: other.to_owned(), known });
        }
    };
    let gpu = match spec.driver() {
        "cuda" => cuda::gpu(spec, &asked, &cuda::CudaLibrary::of_this_machine())?,
        _ => opencl::gpu(spec, &asked, LIBRARY)?,
    };
    Ok(asked.worker(spec, gpu))
}

/// What a spec asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    /// Which device, counted from 0.
    pub(crate) number: Option<usize>,
    strict: bool,
}

impl Asked {
    /// Reads `opencl`, `opencl:1`, `opencl:1,strict=on`.
    ///
    /// # Errors
    /// A number or a setting that is none.
    pub(crate) fn of(spec: &Spec) -> Result<Self, OpenError> {
        let wrong = |reason| OpenError::Setting { device: spec.to_string(), reason };
        let word = spec.word(&["strict"]).map_err(|error| wrong(takes(error)))?;
        let number = word.map(|word| {
            word.parse().map_err(|_| {
                let driver = spec.driver();
                wrong(format!("{word} is no device's number: write {driver}:0 for the first one"))
            })
        });
        let strict = match spec.setting("strict") {
            None | Some("off") => false,
            Some("on") => true,
            Some(other) => return Err(wrong(format!("strict={other}: write on or off"))),
        };
        Ok(Self { number: number.transpose()?, strict })
    }

    fn worker(&self, spec: &Spec, gpu: Arc<dyn Gpu>) -> Worker {
        let tables = self.tables(gpu.about());
        Worker::new(spec.to_string(), gpu, Settings::new(tables))
    }

    fn tables(&self, about: &About) -> Tables {
        if self.strict { Tables::None } else { Tables::best(about) }
    }
}

/// What is wrong with a setting, beside what a number and settings look like.
fn takes(error: SpecError) -> String {
    match error {
        SpecError::Unknown { driver, setting, .. } => {
            SpecError::Unknown { driver, setting, known: TAKES.to_owned() }.to_string()
        }
        other => other.to_string(),
    }
}

/// What a driver found.
pub(crate) fn probe(found: Result<About, GpuError>) -> Probe {
    match found {
        Ok(about) => {
            let detail = detail(&about, Tables::best(&about));
            Probe::Present { role: role(&about), detail }
        }
        Err(error) => Probe::Absent { reason: error.to_string() },
    }
}

/// Why a GPU did not open.
pub(crate) fn absent(spec: &Spec, error: &GpuError) -> OpenError {
    OpenError::Absent { device: spec.to_string(), reason: error.to_string() }
}

/// A device on an open GPU.
pub(crate) fn open(
    spec: &Spec,
    driver: &'static str,
    asked: &Asked,
    gpu: Arc<dyn Gpu>,
    context: &Context,
) -> Arc<dyn Device> {
    let tables = asked.tables(gpu.about());
    let capabilities = capabilities(spec, driver, gpu.about(), tables);
    let origin = capabilities.origin;
    let worker = asked.worker(spec, gpu);
    // A batch has a lane at least, and one lane is for whoever has two.
    let crew = Crew::of_size(Settings::new(tables).lanes - 1);
    workers::open(OnGpu { worker, origin }, capabilities, crew, context)
}

fn capabilities(spec: &Spec, driver: &'static str, about: &About, tables: Tables) -> Capabilities {
    let is_processor = about.local_is_cached || about.is_simulated;
    // A message's aad and its text are in one buffer.
    let part_bytes_max = PART_BYTES_MAX.min(about.buffer_bytes_max / 4);
    Capabilities {
        works_on: if is_processor { Resource::Cores(vec![]) } else { Resource::Own },
        cost: if is_processor { PROCESSOR_COST } else { GPU_COST },
        text_bytes_max: part_bytes_max,
        aad_bytes_max: part_bytes_max,
        prepares: COMPILING,
        messages_max: MESSAGES_MAX,
        origin: origin(about),
        ..workers::capabilities(spec, driver, role(about), detail(about, tables))
    }
}

/// Without tables, too, a processor's code is whatever its driver's compiler makes of the circuit.
fn role(about: &About) -> Role {
    if about.local_is_cached || about.is_simulated { Role::TestOnly } else { Role::Real }
}

/// Whose seconds its times are.
fn origin(about: &About) -> Origin {
    if about.is_simulated { Origin::Simulated } else { Origin::Measured }
}

fn detail(about: &About, tables: Tables) -> String {
    let how = match tables {
        Tables::None => "without tables",
        Tables::OneForEachLane => "a table for each lane",
        Tables::FourForEachLane => "four tables for each lane",
        Tables::OneShared => "one table, whose times leak",
    };
    format!("{}; {how}", about.detail)
}

#[derive(Debug)]
struct OnGpu {
    worker: Worker,
    origin: Origin,
}

impl Software for OnGpu {
    fn run(&self, work: &mut Work<'_>) -> Result<(), DeviceError> {
        wipe_after(|| self.worker.run(work)).map(drop)
    }

    fn run_timed(&self, work: &mut Work<'_>, clock: &dyn Clock) -> Result<Timing, DeviceError> {
        // No part of the batch's time: a compiler's seconds, once on a machine, tell nothing of batches to come.
        self.worker.prepare()?;
        let start_ns = clock.now_ns();
        let took = wipe_after(|| self.worker.run(work))?;
        Ok(Timing { origin: self.origin, ..timing(start_ns, clock.now_ns(), took) })
    }

    fn broken(&self) -> Option<DeviceError> {
        self.worker.broken()
    }

    fn retire(&self, session: SessionId) {
        self.worker.retire(session);
    }

    fn release(&self) {
        self.worker.release();
    }
}

/// Where rounds overlapped, their parts share the time in proportion to what they took.
fn timing(start_ns: u64, end_ns: u64, took: Took) -> Timing {
    let whole = u128::from(end_ns.saturating_sub(start_ns));
    let parts = [took.copy_in_ns, took.compute_ns, took.copy_out_ns].map(u128::from);
    let all: u128 = parts.iter().sum();
    let [copy_in_ns, compute_ns, copy_out_ns] =
        parts.map(|part| u64::try_from(part * whole.min(all) / all.max(1)).unwrap_or(u64::MAX));
    Timing { copy_in_ns, compute_ns, copy_out_ns, ..Timing::in_memory(start_ns, end_ns) }
}

const TAKES: &str = "a device's number and strict=on|off";
/// A driver compiles some hundred kilobytes of PTX or C for each length of keys, once on a machine.
const COMPILING: Duration = Duration::from_secs(60);
/// A message's text and its aad; input and output, on both sides, have to fit at once.
const PART_BYTES_MAX: usize = 64 << 20;
/// They are counted in 32 bits.
const MESSAGES_MAX: usize = 1 << 30;
/// Starting copies and kernels, and a core that lays messages out and gives results back, as measured with an H200
/// (docs/document-003-gpu.md).
const GPU_COST: Cost = Cost::clamped(70_000.0, 190.0, 0.5);
const PROCESSOR_COST: Cost = Cost::clamped(300_000.0, 1_000.0, 10.0);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_overlap_share_the_time_that_a_batch_took() {
        let took = Took { copy_in_ns: 300, compute_ns: 600, copy_out_ns: 100 };
        let apart = timing(1_000, 3_000, took);
        assert_eq!((apart.copy_in_ns, apart.compute_ns, apart.copy_out_ns), (300, 600, 100));
        let overlapped = timing(1_000, 1_500, took);
        let parts = (overlapped.copy_in_ns, overlapped.compute_ns, overlapped.copy_out_ns);
        assert_eq!((parts, overlapped.end_ns), ((150, 300, 50), 1_500));
        assert_eq!(timing(5, 5, Took::default()).compute_ns, 0);
    }

    #[test]
    fn a_number_and_strict_are_read_and_nothing_else() {
        let read = |spec: &str| {
            let asked = Asked::of(&spec.parse().unwrap());
            asked.map(|asked| (asked.number, asked.strict)).map_err(|error| error.to_string())
        };
        assert_eq!(read("opencl"), Ok((None, false)));
        assert_eq!(read("opencl:1,strict=on"), Ok((Some(1), true)));
        assert_eq!(read("cuda:strict=off"), Ok((None, false)));
        for (spec, right) in [
            ("opencl:fast", "fast is no device's number: write opencl:0 for the first one"),
            ("opencl:-1", "-1 is no device's number"),
            ("cuda:0,1", "no setting \"1\": it takes a device's number and strict=on|off"),
            ("opencl:strict=yes", "strict=yes: write on or off"),
            ("opencl:lanes=2", "no setting \"lanes\": it takes a device's number and"),
            ("opencl(cpu)", "(cpu)"),
        ] {
            let error = read(spec).unwrap_err();
            assert!(error.starts_with(&format!("{spec}: ")) && error.contains(right), "{error}");
        }
    }

    fn about() -> About {
        About {
            name: "a device".to_owned(),
            detail: "a device, driver 1".to_owned(),
            capability: None,
            units: 2,
            local_bytes: 64 << 10,
            group_items_max: 256,
            buffer_bytes_max: 1 << 20,
            local_is_cached: false,
            is_simulated: false,
        }
    }

    #[test]
    fn a_device_that_is_played_is_for_tests_only_whatever_it_is_called() {
        let spec: Spec = "cuda:0".parse().unwrap();
        for is_simulated in [false, true] {
            let about = About { name: "fake".to_owned(), is_simulated, ..about() };
            let found = capabilities(&spec, "cuda", &about, Tables::best(&about));
            assert_eq!(found.role == Role::TestOnly, is_simulated);
            assert_eq!(found.origin == Origin::Simulated, is_simulated);
            assert_eq!(found.works_on.is_cores(), is_simulated);
        }
    }

    #[test]
    fn a_device_whose_look_ups_leak_is_for_tests_only() {
        let about = about();
        let spec: Spec = "opencl:0".parse().unwrap();
        let real = capabilities(&spec, "opencl", &about, Tables::best(&about));
        assert_eq!((real.role, real.works_on.is_cores()), (Role::Real, false));
        assert_eq!(real.detail, "a device, driver 1; a table for each lane");
        assert_eq!((real.text_bytes_max, real.aad_bytes_max), (256 << 10, 256 << 10));
        let processor = About { local_is_cached: true, ..about };
        for asked in ["opencl:0", "opencl:0,strict=on"] {
            let tables = Asked::of(&asked.parse().unwrap()).unwrap().tables(&processor);
            let capabilities = capabilities(&spec, "opencl", &processor, tables);
            assert_eq!(
                (capabilities.role, capabilities.works_on.is_cores()),
                (Role::TestOnly, true)
            );
        }
    }
}
