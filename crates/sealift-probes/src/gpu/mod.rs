//! Work that a GPU does again and again: AES-GCM in its own memory, in grids that the caller chooses, products of data
//! types, chains of single instructions, and copies from and to this machine's memory. For tests the GPU may be a processor
//! that OpenCL speaks to, which its role tells.

mod arm;
mod work;

pub use arm::GpuArm;

use crate::ArmError;
use sealift::{KeyLength, Role};
use sealift_gpu::GpuError;
use sealift_gpu::bench::{BenchSpec, Code, Direction, Grid, Mode, Plan, Shape, Type, Unit};
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
    /// What is done: "seal", "open", "verify", "counter mode", which makes no tags, or half sealed, a quarter opened, and a
    /// quarter "mixed, verified" or, with wrong tags, "mixed, refused".
    pub operation: String,
    /// "own keys", one for each message, or "one key".
    pub keys: String,
    /// Bits of each key: lengths that as many messages each have, one length worked after the other.
    pub key_bits: Vec<usize>,
    /// What our kernels take the S-box from: "tables", or gates, "without tables".
    pub s_box: String,
    /// How many.
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

/// Chains of one instruction in all multiprocessors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GpuUnitSpec {
    /// As in [`GpuSpec`].
    pub device: String,
    /// The instruction's name, as in [`Unit::name`].
    pub of: String,
    /// Length of each chain: an odd number and no multiple of 3.
    pub rounds: u32,
}

/// Copies between pinned memory of this machine and a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GpuCopySpec {
    /// As in [`GpuSpec`].
    pub device: String,
    /// "to the device", "back" or "both at once".
    pub direction: String,
    /// Bytes of a copy.
    pub size_bytes: usize,
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

    /// For each length of keys.
    fn benches(&self, about: &About) -> Result<Vec<BenchSpec>, ArmError> {
        let parts = self.key_bits.len();
        let right = || format!("1 to 3, of which {} messages have as many each", self.messages);
        if !(1..=3).contains(&parts) || !self.messages.is_multiple_of(parts) {
            let (what, value) = ("lengths of keys", format!("{:?}", self.key_bits));
            return Err(ArmError::Spec { what, value, right: right() });
        }
        self.key_bits.iter().map(|bits| self.bench(about, *bits, self.messages / parts)).collect()
    }

    fn bench(&self, about: &About, bits: usize, messages: usize) -> Result<BenchSpec, ArmError> {
        let s_boxes = [("tables", Tables::best(about)), ("without tables", Tables::None)];
        let tables = ArmError::named("an S-box", &s_boxes, &self.s_box)?;
        let codes = [("as published", Code::Published), ("ours", Code::Ours(tables))];
        let modes = [("replicated", Mode::Replicated), ("partitioned", Mode::Partitioned)];
        let operations = [
            ("seal", Plan::All(Operation::Seal)),
            ("open", Plan::All(Operation::Open)),
            ("verify", Plan::All(Operation::Verify)),
            ("counter mode", Plan::All(Operation::CounterMode)),
            ("mixed, verified", Plan::Verified),
            ("mixed, refused", Plan::Refused),
        ];
        let keys = [("own keys", true), ("one key", false)];
        ArmError::check("messages", self.messages, 1, MESSAGES_MAX)?;
        Ok(BenchSpec {
            code: ArmError::named("a code", &codes, &self.code)?,
            mode: ArmError::named("a mode", &modes, &self.mode)?,
            grid: self.grid.map(grid),
            shape: Shape {
                messages,
                text_bytes: self.message_bytes,
                aad_bytes: 0,
                key: key(bits)?,
                plan: ArmError::named("an operation", &operations, &self.operation)?,
                own_keys: ArmError::named("keys", &keys, &self.keys)?,
            },
            seed: self.seed,
        })
    }
}

fn key(bits: usize) -> Result<KeyLength, ArmError> {
    let all = [("128", KeyLength::Aes128), ("192", KeyLength::Aes192), ("256", KeyLength::Aes256)];
    ArmError::named("bits of keys", &all, &bits.to_string())
}

impl GpuTypesSpec {
    fn of(&self) -> Result<Type, ArmError> {
        let all = Type::ALL.map(|each| (each.name(), each));
        ArmError::named("a data type", &all, &self.of)
    }
}

impl GpuUnitSpec {
    fn of(&self) -> Result<Unit, ArmError> {
        let all = Unit::ALL.map(|each| (each.name(), each));
        ArmError::named("an instruction", &all, &self.of)
    }

    /// Two groups of 16 warps for every multiprocessor: enough that none waits for results.
    fn grid(about: &About) -> Grid {
        Grid { groups: 2 * about.units, group_items: 512 }
    }
}

impl GpuCopySpec {
    fn direction(&self) -> Result<Direction, ArmError> {
        let all = [
            ("to the device", Direction::In),
            ("back", Direction::Out),
            ("both at once", Direction::Both),
        ];
        ArmError::named("a direction", &all, &self.direction)
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
