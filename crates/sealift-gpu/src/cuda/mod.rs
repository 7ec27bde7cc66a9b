//! GPUs of NVIDIA's, by the CUDA driver's own library.
//!
//! It is opened at run time: the file that `SEALIFT_LIBCUDA` names, or `libcuda.so.1` where the loader finds it. That
//! library is all a user needs, because kernels come as PTX, which it compiles for the device that is there.

mod ffi;
mod lane;
mod program;

pub use program::ptx;

use crate::GpuError;
use crate::builds::{Builds, at_once};
use crate::gpu::{About, Gpu, KEY_BYTES, KEY_SLOTS, Lane};
use crate::program::Program as Source;
use crate::table::t0;
use crate::variant::{Kernel, Tables, Variant};
use ffi::{Address, Buffer, Context, Cuda, Facts, Queue};
use lane::CudaLane;
use program::Program;
use sealift_kernels::copy::copy;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

/// CUDA devices that a library finds.
#[derive(Clone, Debug)]
pub struct CudaLibrary {
    file: OsString,
    /// What to do where it is not.
    hint: &'static str,
}

impl CudaLibrary {
    /// The library of a file, or of a name that the loader finds. It is opened when it is asked for something.
    #[must_use]
    pub fn at(file: impl AsRef<OsStr>) -> Self {
        Self { file: file.as_ref().to_owned(), hint: INSTALL }
    }

    /// The library of this machine: of the file that `SEALIFT_LIBCUDA` names, or the driver's.
    #[must_use]
    pub fn of_this_machine() -> Self {
        let named = std::env::var_os(VARIABLE).filter(|file| !file.is_empty());
        named.map_or_else(|| Self::at(LIBRARY), |file| Self { file, hint: NAMED })
    }

    /// What device `number` is, from 0. It is not opened.
    ///
    /// # Errors
    /// The library or the device is absent, or the device is of no use here.
    pub fn about(&self, number: usize) -> Result<About, GpuError> {
        about(&Cuda::open(&self.file, self.hint)?, number)
    }

    /// Opens device `number`, from 0. Its memory and its processors are taken with the first lane.
    ///
    /// # Errors
    /// The library or the device is absent, or the device is of no use here.
    pub fn open(&self, number: usize) -> Result<Arc<dyn Gpu>, GpuError> {
        let cuda = Arc::new(Cuda::open(&self.file, self.hint)?);
        let about = about(&cuda, number)?;
        Ok(Arc::new(CudaGpu { cuda, number, about, ready: Mutex::default() }))
    }
}

fn about(cuda: &Cuda, number: usize) -> Result<About, GpuError> {
    let facts = cuda.facts(number)?;
    if facts.capability < CAPABILITY_MIN {
        let (major, minor) = facts.capability;
        let (least, _) = CAPABILITY_MIN;
        let reason =
            format!("compute capability {major}.{minor}, and kernels need {least}.5 (Turing)");
        return Err(GpuError::Unfit { device: facts.name, reason });
    }
    Ok(About {
        detail: detail(&facts, cuda.version()?),
        name: facts.name,
        capability: Some(10 * facts.capability.0 + facts.capability.1),
        units: facts.multiprocessors,
        local_bytes: local_bytes(facts.shared_bytes),
        group_items_max: facts.threads_max,
        buffer_bytes_max: facts.memory_bytes,
        local_is_cached: false,
        is_simulated: cuda.is_simulated(),
    })
}

/// `NVIDIA H200, 132 multiprocessors at 1980 MHz, 139 GiB, compute capability 9.0, 0000:19:00.0, driver for CUDA 13.0`.
fn detail(facts: &Facts, (major, minor): (usize, usize)) -> String {
    format!(
        "{}, {} multiprocessors at {} MHz, {} GiB, compute capability {}.{}, {}, driver for CUDA {major}.{minor}",
        facts.name,
        facts.multiprocessors,
        facts.clock_khz / 1_000,
        facts.memory_bytes >> 30,
        facts.capability.0,
        facts.capability.1,
        facts.pci,
    )
}

/// Shared memory as [`Tables::local_bytes`] counts it: what four tables take in addition, to begin where one instruction
/// makes an address of them, is not counted.
fn local_bytes(shared_bytes: usize) -> usize {
    let four = Tables::FourForEachLane.local_bytes();
    match shared_bytes.checked_sub(ALIGNMENT_BYTES) {
        Some(left) if left >= four => left,
        _ => shared_bytes.min(four - 1),
    }
}

/// Dynamic shared memory of a block of a kernel.
fn shared_bytes(kernel: Kernel, program: Source) -> usize {
    let Source::Driver(Variant { tables, .. }) = program else { return 0 };
    match (kernel, tables) {
        (Kernel::Many | Kernel::LongPrepare | Kernel::LongPieces, Tables::FourForEachLane) => {
            tables.local_bytes() + ALIGNMENT_BYTES
        }
        (Kernel::Many | Kernel::LongPrepare | Kernel::LongPieces, _) => tables.local_bytes(),
        _ => 0,
    }
}

/// An open device. It is made ready when the first lane is taken.
struct CudaGpu {
    cuda: Arc<Cuda>,
    number: usize,
    about: About,
    ready: Mutex<Option<Arc<Device>>>,
}

impl CudaGpu {
    fn ready(&self) -> Result<Arc<Device>, GpuError> {
        let mut ready = lock(&self.ready);
        if let Some(ready) = &*ready {
            return Ok(Arc::clone(ready));
        }
        let context = Context::open(Arc::clone(&self.cuda), self.number, &self.about.name)?;
        let made = Arc::new(Device::new(context)?);
        *ready = Some(Arc::clone(&made));
        Ok(made)
    }
}

impl Gpu for CudaGpu {
    fn about(&self) -> &About {
        &self.about
    }

    fn prepare(&self, programs: &[Source]) -> Result<(), GpuError> {
        let ready = self.ready()?;
        at_once(programs, |program| ready.program(program).map(drop))
    }

    fn lane(&self) -> Result<Box<dyn Lane>, GpuError> {
        Ok(Box::new(CudaLane::new(self.ready()?)?))
    }

    fn write_keys(&self, first_slot: usize, records: &[u8]) -> Result<(), GpuError> {
        self.ready()?.write_keys(first_slot, records)
    }
}

impl fmt::Debug for CudaGpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CudaGpu({:?}, secret)", self.about)
    }
}

/// What a device and its lanes share.
struct Device {
    /// The buffers [`TABLE_AT`] and [`KEYS_AT`], with the stream that fills them.
    kept: Mutex<Queue>,
    /// Where the table is.
    table: Address,
    /// Where the resident keys are, once there were any.
    keys: OnceLock<Address>,
    programs: Builds<Program>,
    context: Arc<Context>,
}

impl Device {
    fn new(context: Arc<Context>) -> Result<Self, GpuError> {
        let mut kept = Queue::new(&context, 2)?;
        let bytes: Vec<u8> = t0().iter().flat_map(|word| word.to_le_bytes()).collect();
        let table = make(&mut kept, &context, TABLE_AT, (bytes.len(), "the table"))?;
        fill(&mut kept, TABLE_AT, 0, &bytes)?;
        let (kept, keys) = (Mutex::new(kept), OnceLock::new());
        Ok(Self { kept, table, keys, programs: Builds::new(), context })
    }

    fn write_keys(&self, first_slot: usize, records: &[u8]) -> Result<(), GpuError> {
        let mut kept = lock(&self.kept);
        if self.keys.get().is_none() {
            let room = (KEY_SLOTS * KEY_BYTES, "resident keys");
            let address = make(&mut kept, &self.context, KEYS_AT, room)?;
            self.keys.get_or_init(|| address);
        }
        fill(&mut kept, KEYS_AT, first_slot.saturating_mul(KEY_BYTES), records)
    }

    fn keys(&self) -> Option<Address> {
        self.keys.get().copied()
    }

    fn program(&self, of: Source) -> Result<Arc<Program>, GpuError> {
        self.programs.get(of, || Program::build(&self.context, of))
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Device({:?}, secret)", self.context)
    }
}

/// Gives a buffer of a queue its room.
fn make(
    queue: &mut Queue,
    context: &Arc<Context>,
    buffer: usize,
    (bytes, what): (usize, &'static str),
) -> Result<Address, GpuError> {
    queue.replace(vec![(buffer, Buffer::new(context, bytes, true, what)?)], PATIENCE)?;
    let device = || context.name().to_owned();
    queue.address(buffer).ok_or_else(|| GpuError::OutOfMemory { device: device(), what, bytes })
}

/// Brings bytes to a place of a buffer on the device, and leaves none of them on the host.
fn fill(queue: &mut Queue, buffer: usize, at: usize, bytes: &[u8]) -> Result<(), GpuError> {
    let part = at..at.saturating_add(bytes.len());
    let host = queue.hosts().nth(buffer).unwrap_or_default();
    if let Some(place) = host.get_mut(part.clone()) {
        copy(place, bytes);
    }
    let filled = queue.upload(buffer, part).and_then(|()| queue.wait(PATIENCE));
    queue.zero_host(buffer, at, bytes.len());
    filled.map(drop)
}

/// What these guard is whole after each statement.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The variable that names the library's file.
const VARIABLE: &str = "SEALIFT_LIBCUDA";
const NAMED: &str = "the variable SEALIFT_LIBCUDA names it: name another file, or unset it for that of NVIDIA's driver";
/// The driver's library.
const LIBRARY: &str = "libcuda.so.1";
const INSTALL: &str = "install NVIDIA's driver, which brings it";
/// The oldest devices that today's drivers serve.
const CAPABILITY_MIN: (usize, usize) = (7, 5);
/// Four tables begin at a multiple of this in shared memory.
const ALIGNMENT_BYTES: usize = 64 << 10;
const TABLE_AT: usize = 0;
const KEYS_AT: usize = 1;
/// How long copies and wipes by themselves may take, which take microseconds.
const PATIENCE: Duration = Duration::from_secs(30);

#[cfg(test)]
mod tests {
    use super::*;
    use sealift_core::KeyLength;

    #[test]
    fn four_tables_are_for_devices_that_have_room_to_align_them() {
        // Dynamic shared memory of a block in KiB: H200, A100, RTX 4070, GTX 1650.
        for (kib, tables) in [
            (227, Tables::FourForEachLane),
            (192, Tables::FourForEachLane),
            (163, Tables::OneForEachLane),
            (99, Tables::OneForEachLane),
            (64, Tables::OneForEachLane),
        ] {
            let local = local_bytes(kib << 10);
            let fits = [Tables::FourForEachLane, Tables::OneForEachLane]
                .into_iter()
                .find(|tables| tables.local_bytes() <= local);
            assert_eq!(fits, Some(tables), "{kib} KiB");
            let program = Variant { key: KeyLength::Aes128, tables }.into();
            assert!(shared_bytes(Kernel::Many, program) <= kib << 10, "{kib} KiB");
        }
    }

    #[test]
    fn a_library_that_is_not_there_or_is_another_one_says_so() {
        let refused = |file: &str| CudaLibrary::at(file).open(0).unwrap_err();
        let absent = refused("libnowhere.so.1");
        assert!(matches!(absent, GpuError::NoLibrary { .. }), "{absent}");
        assert!(absent.to_string().contains("libnowhere.so.1"), "{absent}");
        let other = refused("libc.so.6");
        assert!(matches!(other, GpuError::NoFunction { .. }), "{other}");
        assert!(other.to_string().contains("cuInit"), "{other}");
    }
}
