//! A device, and what all its lanes share.

use super::ffi::{Api, Buffer, Context, DeviceId, Event, Failed, Pinned, Program, Queue};
use super::lane::{OpenClLane, finished};
use crate::GpuError;
use crate::builds::Builds;
use crate::gpu::{About, Gpu, KEY_BYTES, KEY_SLOTS, Lane};
use crate::program::Program as Source;
use crate::table::t0;
use sealift_kernels::copy::copy;
use std::fmt::Write;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

/// A device that was found and can be used.
#[derive(Clone, Debug)]
pub(super) struct Found {
    api: Api,
    id: DeviceId,
    pub(super) about: About,
}

impl Found {
    /// Asks a device what it is.
    ///
    /// # Errors
    /// It can't run the kernels.
    pub(super) fn look(api: &Api, id: DeviceId) -> Result<Self, GpuError> {
        let name = api.text(id, NAME).map_err(|failed| failed.of("a device"))?;
        let number = |what| api.number(id, what).map_err(|failed| failed.of(&name));
        let size = |what| number(what).map(|size| usize::try_from(size).unwrap_or(usize::MAX));
        for (what, lack) in [
            (AVAILABLE, "it is not available"),
            (COMPILER, "its driver has no compiler"),
            (LITTLE_ENDIAN, "its numbers are big-endian"),
        ] {
            if number(what)? == 0 {
                return Err(GpuError::Unfit { device: name, reason: lack.to_owned() });
            }
        }
        let words = |text: Result<String, Failed>| text.map_err(|failed| failed.of(&name));
        let (platform, version, driver) = (
            words(api.platform_text(id, PLATFORM_NAME))?,
            words(api.text(id, VERSION))?,
            words(api.text(id, DRIVER))?,
        );
        let own_local = number(LOCAL_TYPE)? == LOCAL;
        let about = About {
            units: size(UNITS)?,
            local_bytes: if own_local { size(LOCAL_BYTES)? } else { 0 },
            group_items_max: size(GROUP_ITEMS)?,
            buffer_bytes_max: size(BUFFER_BYTES)?,
            local_is_cached: !own_local || number(TYPE)? & PROCESSOR != 0,
            is_simulated: false,
            detail: format!("{name}, {platform} {driver}, {version}"),
            capability: None,
            name,
        };
        Ok(Self { api: api.clone(), id, about })
    }
}

/// An OpenCL device. It is made ready when the first lane is taken.
#[derive(Debug)]
pub struct OpenCl {
    found: Found,
    ready: Mutex<Option<Arc<Ready>>>,
}

impl OpenCl {
    pub(super) fn new(found: Found) -> Self {
        Self { found, ready: Mutex::default() }
    }

    fn ready(&self) -> Result<Arc<Ready>, GpuError> {
        let mut ready = lock(&self.ready);
        if let Some(ready) = &*ready {
            return Ok(Arc::clone(ready));
        }
        let made = Arc::new(Ready::new(&self.found)?);
        *ready = Some(Arc::clone(&made));
        Ok(made)
    }
}

impl Gpu for OpenCl {
    fn about(&self) -> &About {
        &self.found.about
    }

    /// One after the other: not every library takes it that several threads compile.
    fn prepare(&self, programs: &[Source]) -> Result<(), GpuError> {
        let ready = self.ready()?;
        programs.iter().try_for_each(|program| ready.program(*program).map(drop))
    }

    fn lane(&self) -> Result<Box<dyn Lane>, GpuError> {
        Ok(Box::new(OpenClLane::new(self.ready()?)?))
    }

    fn write_keys(&self, first_slot: usize, records: &[u8]) -> Result<(), GpuError> {
        self.ready()?.write_keys(first_slot, records)
    }
}

/// What a device has when it is ready.
#[derive(Debug)]
pub(super) struct Ready {
    pub(super) name: String,
    pub(super) context: Arc<Context>,
    pub(super) table: Buffer,
    pub(super) keys: Buffer,
    pub(super) buffer_bytes_max: usize,
    /// What fills that.
    shared: Mutex<Shared>,
    programs: Builds<Program>,
    /// Why nothing on it can be used any more.
    lost: OnceLock<GpuError>,
}

/// A queue, and as much pinned memory as there are keys.
#[derive(Debug)]
struct Shared {
    queue: Arc<Queue>,
    pinned: Pinned,
}

impl Ready {
    fn new(found: &Found) -> Result<Self, GpuError> {
        let name = found.about.name.clone();
        let failed = |failed: Failed| failed.of(&name);
        let context = Arc::new(found.api.context(found.id).map_err(failed)?);
        let queue = Arc::new(Queue::new(&context).map_err(failed)?);
        let buffer = |what, bytes| {
            Buffer::new(&context, bytes).map_err(|failed| failed.of_memory(&name, what, bytes))
        };
        let words: Vec<u8> = t0().iter().flat_map(|word| word.to_le_bytes()).collect();
        let table = buffer("the table", words.len())?;
        let keys = buffer("keys", KEYS_BYTES)?;
        let mut pinned = Pinned::new(&queue, KEYS_BYTES)
            .map_err(|failed| failed.of_memory(&name, "keys", KEYS_BYTES))?;
        copy(&mut pinned.bytes()[..words.len()], &words);
        let written = queue.write(&table, &mut pinned, 0..words.len()).map_err(failed)?;
        let cleared = queue.clear(&keys, keys.bytes()).map_err(failed)?;
        queue.flush().map_err(failed)?;
        finished(&name, &[written, cleared], PATIENCE, || Ok(()))?;
        Ok(Self {
            name,
            context,
            table,
            keys,
            buffer_bytes_max: found.about.buffer_bytes_max,
            shared: Mutex::new(Shared { queue, pinned }),
            programs: Builds::new(),
            lost: OnceLock::new(),
        })
    }

    /// The reason for which it is lost, if it is: whoever asks it again would wait in vain again.
    pub(super) fn unless_lost(&self) -> Result<(), GpuError> {
        self.lost.get().map_or(Ok(()), |lost| Err(lost.clone()))
    }

    /// Waits until a queue's events are over. Where one failed, or that can't be told or takes longer than `patience`, the
    /// device is lost.
    pub(super) fn finish(
        &self,
        queue: &Queue,
        events: &[Event],
        patience: Duration,
    ) -> Result<(), GpuError> {
        self.unless_lost()?;
        let flushed = queue.flush().map_err(|failed| failed.of(&self.name));
        let still = || self.unless_lost();
        let ended = flushed.and_then(|()| finished(&self.name, events, patience, still));
        ended.map_err(|error| self.give_up(error))
    }

    /// Gives it up, and returns the first reason there was.
    fn give_up(&self, error: GpuError) -> GpuError {
        let device = || self.name.clone();
        let lost = || match error.is_loss() {
            true => error,
            false => GpuError::Lost { device: device(), code: error.to_string() },
        };
        self.lost.get_or_init(lost).clone()
    }

    /// A program, which is built when it is first asked for.
    pub(super) fn program(&self, of: Source) -> Result<Arc<Program>, GpuError> {
        self.programs.get(of, || self.build(of))
    }

    fn build(&self, of: Source) -> Result<Program, GpuError> {
        if matches!(of, Source::Lab(program) if program.is_for_cuda_only()) {
            let reason =
                format!("program {} is of NVIDIA's instructions: open it as cuda", of.name());
            return Err(GpuError::Unfit { device: self.name.clone(), reason });
        }
        let built = Program::build(&self.context, &of.source(), &options(of));
        built.map_err(|(failed, log)| {
            let (device, program) = (self.name.clone(), of.name());
            GpuError::Build { device, program, code: failed.to_string(), log }
        })
    }

    fn write_keys(&self, first_slot: usize, records: &[u8]) -> Result<(), GpuError> {
        let failed = |failed: Failed| failed.of(&self.name);
        let Shared { queue, pinned } = &mut *lock(&self.shared);
        self.unless_lost()?;
        let at = first_slot.saturating_mul(KEY_BYTES);
        let part = at..at.saturating_add(records.len());
        if let Some(place) = pinned.bytes().get_mut(part.clone()) {
            copy(place, records);
        }
        let begun = queue.write(&self.keys, pinned, part.clone()).map_err(failed);
        let written = begun.and_then(|event| self.finish(queue, &[event], PATIENCE));
        pinned.zero(part);
        written
    }
}

/// Keys that were left are overwritten.
impl Drop for Ready {
    fn drop(&mut self) {
        if self.unless_lost().is_ok() {
            let queue = &lock(&self.shared).queue;
            // A device that is lost now can't be told anything.
            let cleared = queue.clear(&self.keys, self.keys.bytes()).ok();
            let _ = queue.flush();
            let _ = finished(&self.name, cleared.as_slice(), PATIENCE, || Ok(()));
        }
    }
}

fn options(program: Source) -> String {
    let mut options = String::new();
    for (name, value) in program.defines() {
        // Writing to a string can't fail.
        let _ = write!(options, "-D {name}={value} ");
    }
    options
}

/// What these guard is whole after each statement.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

const KEYS_BYTES: usize = KEY_SLOTS * KEY_BYTES;
/// For copies of a few kilobytes.
const PATIENCE: Duration = Duration::from_secs(60);
const TYPE: u32 = 0x1000;
const UNITS: u32 = 0x1002;
const GROUP_ITEMS: u32 = 0x1004;
const BUFFER_BYTES: u32 = 0x1010;
const LOCAL_TYPE: u32 = 0x1022;
const LOCAL_BYTES: u32 = 0x1023;
const LITTLE_ENDIAN: u32 = 0x1026;
const AVAILABLE: u32 = 0x1027;
const COMPILER: u32 = 0x1028;
const NAME: u32 = 0x102b;
const DRIVER: u32 = 0x102d;
const VERSION: u32 = 0x102f;
const PLATFORM_NAME: u32 = 0x0902;
const PROCESSOR: u64 = 2;
const LOCAL: u64 = 1;
