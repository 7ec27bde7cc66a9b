//! Works batches in rounds over a few lanes.

use crate::GpuError;
use crate::gpu::{Gpu, KeysAt, Lane, Launch, Room, Slab, Took};
use crate::held::Held;
use crate::keys::Keys;
use crate::lanes::{Borrowed, Lanes};
use crate::message::LANES;
use crate::pack::{On, Packed, Plan, Round};
use crate::resident::Resident;
use crate::variant::{Kernel, Tables, Variant};
use sealift_core::{DeviceError, KeyLength, SessionId, Work};
use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

/// Works batches on a GPU, from any number of threads.
///
/// Lanes are taken, rounds are laid out, handed over and taken back in turn, so that one round is copied in while another
/// is computed and a third one copied out. What a batch leaves in a lane is overwritten before another gets it.
#[derive(Debug)]
pub struct Worker {
    name: String,
    gpu: Arc<dyn Gpu>,
    tables: Tables,
    patience: Duration,
    lanes: Lanes,
    resident: Resident,
    /// Set once its programs are compiled.
    prepared: OnceLock<()>,
    /// Why the device can't be used any more.
    lost: OnceLock<GpuError>,
}

/// How a worker works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// How its programs compute the S-box.
    pub tables: Tables,
    /// Lanes that overlap.
    pub lanes: usize,
    /// How long a round may take before the device is taken as lost.
    pub patience: Duration,
}

impl Settings {
    /// Three lanes, or one for every second core: a core that lays rounds out and gives their results out keeps a lane busy,
    /// and a link takes what some eight do. A round takes milliseconds, and minutes where a slow machine compiles kernels
    /// for it.
    #[must_use]
    pub fn new(tables: Tables) -> Self {
        let cores = available_parallelism().map_or(1, Into::into);
        Self { tables, lanes: (cores / 2).clamp(3, 8), patience: Duration::from_secs(600) }
    }
}

impl Worker {
    /// A worker on an open GPU; `name` is that of the device, for errors.
    #[must_use]
    pub fn new(name: String, gpu: Arc<dyn Gpu>, settings: Settings) -> Self {
        Self {
            name,
            gpu,
            tables: settings.tables,
            patience: settings.patience,
            lanes: Lanes::new(settings.lanes),
            resident: Resident::default(),
            prepared: OnceLock::new(),
            lost: OnceLock::new(),
        }
    }

    /// Has the device compile its programs, once: seconds the first time on a machine, and less once
    /// its driver remembers them. The first batch would have it do that.
    ///
    /// # Errors
    /// One does not compile, or the device can't be used.
    pub fn prepare(&self) -> Result<(), DeviceError> {
        self.unless_broken(|| {
            if self.prepared.get().is_none() {
                let program = |key| Variant { key, tables: self.tables }.into();
                let keys = [KeyLength::Aes128, KeyLength::Aes192, KeyLength::Aes256];
                self.gpu.prepare(&keys.map(program))?;
                let _ = self.prepared.set(());
            }
            Ok(())
        })
    }

    /// Works a batch, and tells what the time went into. The parts of rounds that overlap are all in it: together they
    /// may be longer than it took.
    ///
    /// # Errors
    /// A key is gone, the batch is too long, or the device fails; then nothing that was written counts.
    pub fn run(&self, work: &mut Work<'_>) -> Result<Took, DeviceError> {
        self.prepare()?;
        self.unless_broken(|| {
            let worked = self.work(work);
            // Keys that were retired meanwhile are nobody's now.
            self.resident.sweep(&*self.gpu).unwrap_or_else(|error| self.note(&error));
            worked
        })
    }

    /// Brings a batch into the device's memory, where it stays with its keys, however long rounds of others take. Its memory
    /// is its own: lanes that others share are not held up.
    ///
    /// # Errors
    /// A key is gone, the device has no memory, or it fails.
    pub fn hold<'h, 'w>(&'h self, work: &'h mut Work<'w>) -> Result<Held<'h, 'w>, DeviceError> {
        self.prepare()?;
        self.unless_broken(|| Held::new(self, work))
    }

    /// Why the device can't be used any more, if it is lost.
    #[must_use]
    pub fn broken(&self) -> Option<DeviceError> {
        self.lost.get().map(|error| self.failed(error))
    }

    /// Overwrites a session's key on the device; one that a batch uses, when that batch is over.
    ///
    /// One that can't be overwritten is tried again with the next session that is worked or retired, by
    /// [`Self::release`] and when the worker is dropped. Memory of a lost device can't be reached, by anybody.
    pub fn retire(&self, session: SessionId) {
        let retired = self.resident.retire(session, &*self.gpu);
        retired.unwrap_or_else(|error| self.note(&error));
    }

    /// Gives back the lanes that nobody uses, and overwrites the keys that nobody uses.
    pub fn release(&self) {
        self.lanes.release();
        let forgotten = self.resident.forget(&*self.gpu);
        forgotten.unwrap_or_else(|error| self.note(&error));
    }

    /// Does something with the device, unless it is lost.
    pub(crate) fn unless_broken<T>(
        &self,
        work: impl FnOnce() -> Result<T, Failure>,
    ) -> Result<T, DeviceError> {
        if let Some(error) = self.broken() {
            return Err(error);
        }
        work().map_err(|failure| match failure {
            Failure::Device(error) => error,
            Failure::Gpu(error) => {
                self.note(&error);
                self.failed(&error)
            }
        })
    }

    /// Remembers a loss. The first one explains the others.
    fn note(&self, error: &GpuError) {
        if error.is_loss() {
            let _ = self.lost.set(error.clone());
        }
    }

    fn work(&self, work: &mut Work<'_>) -> Result<Took, Failure> {
        let mut took = Took::default();
        if work.is_empty() {
            return Ok(took);
        }
        let keys = Keys::of::<Failure>(work, &self.resident, &*self.gpu, &self.name)?;
        let plan = Plan::of(work, &keys, self.on())?;
        let mut flights = VecDeque::new();
        for round in plan.rounds() {
            let lane = self.lane_for(&round.room(&keys), &mut flights, work, &mut took)?;
            flights.push_back(self.start(lane, round, (work, &keys), &mut took)?);
        }
        for flight in flights {
            let mut lane = self.land(flight, work, &mut took)?;
            lane.wipe()?;
            lane.give_back();
        }
        Ok(took)
    }

    /// A lane with room: one that is free, or that of the oldest round as soon as it is over. Where memory is short, rounds
    /// are waited for, those of others, too, and lanes that nobody uses give theirs back.
    fn lane_for<'f>(
        &'f self,
        room: &Room,
        flights: &mut VecDeque<Flight<'f>>,
        work: &mut Work<'_>,
        took: &mut Took,
    ) -> Result<Borrowed<'f>, GpuError> {
        let mut free = self.lanes.try_take(&*self.gpu)?;
        loop {
            let mut lane = match free.take() {
                Some(free) => free,
                None => match flights.pop_front() {
                    Some(oldest) => self.land(oldest, work, took)?,
                    None => self.lanes.take(&*self.gpu)?,
                },
            };
            match lane.reserve(room) {
                Err(GpuError::OutOfMemory { .. }) => drop(lane),
                reserved => return reserved.map(|()| lane),
            }
            if flights.is_empty() {
                return self.lanes.alone(&*self.gpu, room);
            }
            self.lanes.release();
        }
    }

    /// Lays a round out in a lane that has the room, and hands it to the device.
    fn start<'f>(
        &self,
        mut lane: Borrowed<'f>,
        round: Round<'f>,
        (work, keys): (&mut Work<'_>, &Keys<'_>),
        took: &mut Took,
    ) -> Result<Flight<'f>, GpuError> {
        let began = Instant::now();
        let room = round.room(keys);
        let packed = round.pack(work, keys, &mut lane.host());
        took.copy_in_ns += since(began);
        bring(&mut *lane, &room)?;
        self.compute(&mut *lane, &round, &packed, &room)?;
        lane.read(Slab::Output, room.of(Slab::Output))?;
        lane.flush()?;
        Ok(Flight { lane, round })
    }

    /// Begins the kernels of a round. What a lane made before is cleared, so that a message which no kernel works has no
    /// status of another.
    pub(crate) fn compute(
        &self,
        lane: &mut dyn Lane,
        round: &Round<'_>,
        packed: &Packed,
        room: &Room,
    ) -> Result<(), GpuError> {
        lane.clear(Slab::Output, room.of(Slab::Output))?;
        let mut kernels = kernels_of(round.class.long, packed.opens).iter();
        kernels.try_for_each(|kernel| lane.launch(&self.launch(*kernel, round, packed, room)))
    }

    fn launch(&self, kernel: Kernel, round: &Round<'_>, packed: &Packed, room: &Room) -> Launch {
        let &Packed { messages, pieces, .. } = packed;
        let items = items_of(kernel, messages as usize, pieces as usize);
        let (groups, group_items) = self.tables.grid(items, self.gpu.about());
        Launch {
            program: Variant { key: round.class.key, tables: self.tables }.into(),
            kernel,
            keys: if room.of(Slab::Keys) > 0 { KeysAt::Lane } else { KeysAt::Device },
            messages,
            pieces,
            groups,
            group_items,
        }
    }

    /// Takes back a round, and gives out its results.
    fn land<'f>(
        &self,
        Flight { mut lane, round }: Flight<'f>,
        work: &mut Work<'_>,
        took: &mut Took,
    ) -> Result<Borrowed<'f>, GpuError> {
        *took += lane.wait(self.patience)?;
        let began = Instant::now();
        round.give(work, lane.host().output).map_err(|message| self.unworked(message))?;
        took.copy_out_ns += since(began);
        Ok(lane)
    }

    pub(crate) fn unworked(&self, message: usize) -> GpuError {
        let code = format!("its kernels left message {message} without a status");
        GpuError::Call { device: self.name.clone(), code }
    }

    /// The name that it was given.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What batches are cut for.
    pub(crate) fn on(&self) -> On<'_> {
        On { device: &self.name, buffer_bytes_max: self.gpu.about().buffer_bytes_max }
    }

    pub(crate) fn patience(&self) -> Duration {
        self.patience
    }

    /// Gives back the memory of lanes that nobody uses.
    pub(crate) fn release_lanes(&self) {
        self.lanes.release();
    }

    /// A lane that is not shared.
    pub(crate) fn lane(&self) -> Result<Box<dyn Lane>, GpuError> {
        self.gpu.lane()
    }

    fn failed(&self, error: &GpuError) -> DeviceError {
        DeviceError::Failed { device: self.name.clone(), reason: error.to_string() }
    }
}

/// Keys that a device keeps are not left behind.
impl Drop for Worker {
    fn drop(&mut self) {
        self.release();
    }
}

/// A round that the device works.
struct Flight<'f> {
    lane: Borrowed<'f>,
    round: Round<'f>,
}

/// Begins to copy what was laid out to the device.
pub(crate) fn bring(lane: &mut dyn Lane, room: &Room) -> Result<(), GpuError> {
    let brought = [Slab::Keys, Slab::Input, Slab::Messages, Slab::Pieces];
    let mut brought = brought.into_iter().filter(|slab| room.of(*slab) > 0);
    brought.try_for_each(|slab| lane.write(slab, room.of(slab)))
}

/// Why a batch has no result.
pub(crate) enum Failure {
    Device(DeviceError),
    Gpu(GpuError),
}

impl From<DeviceError> for Failure {
    fn from(error: DeviceError) -> Self {
        Self::Device(error)
    }
}

impl From<GpuError> for Failure {
    fn from(error: GpuError) -> Self {
        Self::Gpu(error)
    }
}

/// The kernels that work messages, in order.
pub(crate) fn kernels_of(are_long: bool, opens: bool) -> &'static [Kernel] {
    match (are_long, opens) {
        (false, _) => &[Kernel::Many],
        (true, false) => &LONG,
        (true, true) => &LONG_AND_CLEAR,
    }
}

/// Work-items that a kernel has work for.
pub(crate) fn items_of(kernel: Kernel, messages: usize, pieces: usize) -> usize {
    match kernel {
        Kernel::LongPieces | Kernel::LongClear => LANES * pieces,
        Kernel::LongJoin => pieces,
        _ => messages,
    }
}

fn since(began: Instant) -> u64 {
    u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

const LONG: [Kernel; 4] =
    [Kernel::LongPrepare, Kernel::LongPieces, Kernel::LongJoin, Kernel::LongFinish];
const LONG_AND_CLEAR: [Kernel; 5] = [
    Kernel::LongPrepare,
    Kernel::LongPieces,
    Kernel::LongJoin,
    Kernel::LongFinish,
    Kernel::LongClear,
];
