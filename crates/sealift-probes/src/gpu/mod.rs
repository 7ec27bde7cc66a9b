//! Work that lies in the memory of a GPU and is done there again and again: AES-GCM in grids that the caller chooses,
//! and products of data types. For tests the GPU may be a processor that OpenCL speaks to, which its role tells.

mod arm;
mod work;

pub use arm::GpuArm;

use crate::ArmError;
use sealift::{KeyLength, Role};
use sealift_gpu::GpuError;
use sealift_gpu::bench::{BenchSpec, Code, Grid, Mode, Shape, Type};
use sealift_gpu::cuda::CudaLibrary;
use sealift_gpu::gpu::{About, Gpu};
use sealift_gpu::message::Operation;
use sealift_gpu::opencl;
use sealift_gpu::variant::Tables;
use std::sync::Arc;

/// Messages, by whose kernels and in which grid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GpuSpec {
    /// `cuda`, `opencl`, or one of them with a number as in `opencl:0`.
    pub device: String,
    /// Whose kernels: "as published" or "ours".
    pub code: String,
    /// Who works what: "replicated" or "partitioned".
    pub mode: String,
    /// Where data are: "resident" or "with transfers".
    pub data: String,
    /// Blocks, and threads of each; nothing: as Sealift's driver takes them.
    pub grid: Option<(usize, usize)>,
    /// How many, each under a key of its own.
    pub messages: usize,
    /// Bytes of each text.
    pub message_bytes: usize,
    /// Of keys, nonces and texts.
    pub seed: u64,
}

/// Products of small matrices in each thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GpuTypesSpec {
    /// As in [`GpuSpec`].
    pub device: String,
    /// The type's name, as in [`Type::name`].
    pub of: String,
    /// Blocks, and threads of each.
    pub grid: (usize, usize),
}

/// How many multiprocessors a device has.
///
/// # Errors
/// There is no such device: what is missing.
pub fn multiprocessors(device: &str) -> Result<usize, ArmError> {
    Ok(open(device)?.about().units)
}

/// Whether data are brought to the device and back for each run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Data {
    Resident,
    WithTransfers,
}

impl GpuSpec {
    fn data(&self) -> Result<Data, ArmError> {
        let all = [("resident", Data::Resident), ("with transfers", Data::WithTransfers)];
        ArmError::named("where data are", &all, &self.data)
    }

    fn bench(&self, about: &About) -> Result<BenchSpec, ArmError> {
        let codes = [("as published", Code::Published), ("ours", Code::Ours(Tables::best(about)))];
        let modes = [("replicated", Mode::Replicated), ("partitioned", Mode::Partitioned)];
        ArmError::check("messages", self.messages, 1, MESSAGES_MAX)?;
        Ok(BenchSpec {
            code: ArmError::named("a code", &codes, &self.code)?,
            mode: ArmError::named("a mode", &modes, &self.mode)?,
            grid: self.grid.map(grid),
            shape: Shape {
                messages: self.messages,
                text_bytes: self.message_bytes,
                aad_bytes: 0,
                key: KeyLength::Aes128,
                operation: Operation::Seal,
                own_keys: true,
            },
            seed: self.seed,
        })
    }
}

impl GpuTypesSpec {
    fn of(&self) -> Result<Type, ArmError> {
        let all = Type::ALL.map(|each| (each.name(), each));
        ArmError::named("a data type", &all, &self.of)
    }
}

fn grid((groups, group_items): (usize, usize)) -> Grid {
    Grid { groups, group_items }
}

/// The device of a name. Its times are the machine's own.
fn open(device: &str) -> Result<Arc<dyn Gpu>, ArmError> {
    let (driver, number) = match device.split_once(':') {
        None => (device, None),
        Some((driver, number)) => (driver, Some(number)),
    };
    let unknown = || ArmError::Spec {
        what: "a device",
        value: format!("{device:?}"),
        right: "cuda or opencl, with a number where there are several, as in opencl:0".to_owned(),
    };
    let number: Option<usize> = match number.map(str::parse) {
        None => None,
        Some(Ok(number)) => Some(number),
        Some(Err(_)) => return Err(unknown()),
    };
    let gpu: Arc<dyn Gpu> = match driver {
        "cuda" => CudaLibrary::of_this_machine()
            .open(number.unwrap_or(0))
            .map_err(|error| failed(device, error))?,
        "opencl" => opencl::open(opencl::LIBRARY, number).map_err(|error| failed(device, error))?,
        _ => return Err(unknown()),
    };
    if gpu.about().is_simulated {
        return Err(ArmError::Simulated { device: device.to_owned() });
    }
    Ok(gpu)
}

/// A processor's look-ups lie in caches, whose times tell of secrets.
fn role(about: &About) -> Role {
    if about.local_is_cached { Role::TestOnly } else { Role::Real }
}

fn failed(device: &str, error: GpuError) -> ArmError {
    match error {
        GpuError::Wrong { device, what } => ArmError::Wrong { device, what },
        error => ArmError::Absent { what: device.to_owned(), reason: error.to_string() },
    }
}

/// A gigabyte of them with what belongs to each.
const MESSAGES_MAX: usize = 1 << 22;

#[cfg(test)]
mod tests;
