use crate::bell::Bell;
use crate::flight::{Completed, Flight, Flying};
use crate::record::{Counters, Record, Records};
use crate::route::{self, DeviceId};
use crate::store::{KeyStore, SEALS_MAX};
use crate::{EngineError, Session, SubmitError, SubmitRefusal, ffi};
use rustix::fd::BorrowedFd;
use sealift_core::{
    Batch, BatchError, Capabilities, Clock, Completion, Context, Device, Job, Key, KeySource,
    Notify, Op, Output, OwnedOutput, Refusal, Refused, SessionId, Shape, Status, Ticket, Timing,
    Work,
};
use std::collections::HashMap;
use std::fmt;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Submitted batches that may wait to be taken back.
const IN_FLIGHT_MAX: usize = 1_024;

/// Sessions, batches and devices behind one handle. Clones are the same engine.
///
/// Sessions keep their engine alive. When the last of them goes, jobs being worked are waited for, and
/// those still queued are dropped.
#[derive(Clone)]
pub struct Engine {
    shared: Arc<Shared>,
}

/// How one batch is worked.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// The device that works it; none lets the engine choose.
    pub on: Option<DeviceId>,
    /// Whether to look for a nonce that seals twice under one session.
    pub nonces: NonceCheck,
}

/// Whether a batch is searched for repeated nonces. It costs about as much as sealing 100 bytes a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NonceCheck {
    /// The caller is sure.
    #[default]
    Off,
    /// A repeated one is an error before anything is sealed. Two sessions with one key are not found
    /// out, and raw keys are not looked at.
    WithinBatch,
}

/// How a batch was worked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// By whom.
    pub device: DeviceId,
    /// When, and what the time went into.
    pub timing: Timing,
    /// Messages that did not open.
    pub auth_failed: usize,
}

impl Engine {
    /// Opens devices and puts an engine over them, in order of preference.
    ///
    /// All times are of `clock`. `open` is given it and the bell that the devices share with the engine.
    ///
    /// # Errors
    /// What `open` returns, an empty list, and two devices of one name.
    pub fn over<E: From<EngineError>>(
        clock: Arc<dyn Clock>,
        open: impl FnOnce(&Context) -> Result<Vec<Arc<dyn Device>>, E>,
    ) -> Result<Self, E> {
        ffi::watch_forks();
        let bell = Arc::new(Bell::default());
        let context = Context { clock: Arc::clone(&clock), notify: Arc::clone(&bell) as _ };
        let devices = open(&context)?;
        if devices.is_empty() {
            let reason = "none was opened".to_owned();
            return Err(EngineError::NoDevice { reason }.into());
        }
        let names: Vec<_> = devices.iter().map(|device| &device.capabilities().name).collect();
        if let Some(at) = (1..names.len()).find(|&at| names[..at].contains(&names[at])) {
            return Err(EngineError::SameName { name: names[at].clone() }.into());
        }
        let records = Mutex::new(Records::new(devices.len()));
        let forks = ffi::forks();
        let (store, flight) = Default::default();
        let shared = Shared { store, devices, clock, bell, flight, records, forks };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Installs a key.
    ///
    /// # Errors
    /// The system has no random bytes; a forked child.
    pub fn session(&self, key: Key) -> Result<Session, EngineError> {
        self.session_with_limit(key, SEALS_MAX)
    }

    /// Installs a key that stops sealing earlier than the standard asks.
    ///
    /// # Errors
    /// A limit over 2^32.
    pub fn session_with_limit(&self, key: Key, seals_max: u64) -> Result<Session, EngineError> {
        self.shared.check_fork()?;
        if seals_max > SEALS_MAX {
            return Err(EngineError::LimitTooHigh { limit: seals_max, max: SEALS_MAX });
        }
        self.shared.sweep();
        let id = self.shared.store.install(key, seals_max);
        Session::new(Arc::clone(&self.shared), id)
    }

    /// Works a batch on the calling thread.
    ///
    /// # Errors
    /// Anything wrong with the batch, before a message is touched. Messages that don't open are a status,
    /// not an error.
    ///
    /// A device that failed half-way. With texts apart the output is zeros then, and the batch can be run
    /// again. In place some texts are results already and their statuses say so: do not run that batch
    /// again, sealing twice gives the plaintext back.
    pub fn run(
        &self,
        batch: &Batch<'_>,
        output: Output<'_>,
        options: &Options,
    ) -> Result<Report, EngineError> {
        self.shared.run(batch, output, options)
    }

    /// Gives a batch to a device's workers. Never blocks.
    ///
    /// # Errors
    /// The batch comes back: there is no free slot, or something is wrong with it.
    pub fn submit(&self, batch: Batch<'static>, options: &Options) -> Result<Ticket, SubmitError> {
        self.shared.submit(batch, options)
    }

    /// Takes a finished batch, if there is one. Never blocks.
    ///
    /// # Errors
    /// A forked child.
    pub fn poll(&self) -> Result<Option<Completed>, EngineError> {
        self.shared.check_fork()?;
        self.shared.take(None)
    }

    /// Waits for a batch and takes it: the one of a ticket, or any. After `timeout`, none; with
    /// nothing in flight, none at once.
    ///
    /// # Errors
    /// The ticket is not in flight; a forked child.
    pub fn wait(
        &self,
        ticket: Option<Ticket>,
        timeout: Option<Duration>,
    ) -> Result<Option<Completed>, EngineError> {
        let Shared { bell, clock, .. } = &*self.shared;
        self.shared.check_fork()?;
        let deadline_ns = timeout.map(|timeout| {
            clock.now_ns().saturating_add(u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX))
        });
        loop {
            let seen = bell.rings();
            let completed = self.shared.take(ticket)?;
            if completed.is_some() || self.in_flight()? == 0 {
                return Ok(completed);
            }
            if !clock.park(deadline_ns, &mut |left| bell.wait_past(seen, left)) {
                return self.shared.take(ticket);
            }
        }
    }

    /// Submitted batches that are not taken back yet.
    ///
    /// # Errors
    /// A forked child.
    pub fn in_flight(&self) -> Result<usize, EngineError> {
        self.shared.check_fork()?;
        Ok(self.shared.lock_flight().len())
    }

    /// A descriptor that gets readable when [`poll`](Self::poll) may have something, for epoll and
    /// asyncio. Poll until it gives none before waiting again.
    ///
    /// # Errors
    /// The system has none.
    pub fn event_fd(&self) -> Result<BorrowedFd<'_>, EngineError> {
        self.shared.check_fork()?;
        self.shared.bell.descriptor()
    }

    /// The devices, in order of preference.
    pub fn devices(&self) -> impl Iterator<Item = (DeviceId, &Capabilities)> {
        let devices = self.shared.devices.iter().enumerate();
        devices.map(|(at, device)| (DeviceId(at), device.capabilities()))
    }

    /// The device of this name (`library`, `cpu:isa=aesni`).
    ///
    /// # Errors
    /// There is none; the error lists those there are.
    pub fn device(&self, name: &str) -> Result<DeviceId, EngineError> {
        let found = self.devices().find(|(_, capabilities)| capabilities.name == name);
        found.map(|(id, _)| id).ok_or_else(|| EngineError::UnknownDevice {
            name: name.to_owned(),
            known: route::names(&self.shared.devices),
        })
    }

    /// The last 1,024 finished batches, oldest first.
    ///
    /// # Errors
    /// A forked child.
    pub fn records(&self) -> Result<Vec<Record>, EngineError> {
        self.shared.check_fork()?;
        Ok(self.shared.lock_records().last())
    }

    /// What a device has done so far.
    ///
    /// # Errors
    /// A device of another engine; a forked child.
    pub fn counters(&self, device: DeviceId) -> Result<Counters, EngineError> {
        self.shared.check_fork()?;
        let counters = self.shared.lock_records().counters(device);
        counters.ok_or_else(|| route::unknown(device, &self.shared.devices))
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Engine({})", route::names(&self.shared.devices))
    }
}

/// What an engine's handles and sessions have in common.
pub(crate) struct Shared {
    pub(crate) store: Arc<KeyStore>,
    devices: Vec<Arc<dyn Device>>,
    clock: Arc<dyn Clock>,
    bell: Arc<Bell>,
    flight: Mutex<Flight>,
    records: Mutex<Records>,
    forks: u32,
}

impl Shared {
    /// Threads and held locks don't survive a fork: nothing here may be touched in the child.
    pub(crate) fn check_fork(&self) -> Result<(), EngineError> {
        if ffi::forks() == self.forks { Ok(()) } else { Err(EngineError::Forked) }
    }

    pub(crate) fn run(
        &self,
        batch: &Batch<'_>,
        output: Output<'_>,
        options: &Options,
    ) -> Result<Report, EngineError> {
        self.check_fork()?;
        let arrived_ns = self.clock.now_ns();
        let mut work = Work::new(batch, output, &*self.store)?;
        let device = route::choose(&self.devices, options.on, work.shape(), true)?;
        options.nonces.check(batch)?;
        let lease = self.store.admit(batch)?;
        let result = self.devices[device.0].run(&mut work);
        drop(lease);
        self.sweep();
        let timing = result.inspect_err(|_| {
            work.wipe();
            self.lock_records().push_failure(device);
        })?;
        let auth_failed = failures(work.statuses());
        let report = Report { device, timing, auth_failed };
        self.record(None, arrived_ns, work.shape(), report);
        Ok(report)
    }

    fn submit(&self, batch: Batch<'static>, options: &Options) -> Result<Ticket, SubmitError> {
        match self.prepare(&batch, options) {
            Ok(prepared) => self.launch(batch, prepared),
            Err(reason) => Err(SubmitError { batch: Box::new(batch), reason }),
        }
    }

    /// Everything that can refuse a batch without a device, the dearest last.
    fn prepare(&self, batch: &Batch<'_>, options: &Options) -> Result<Prepared, SubmitRefusal> {
        self.check_fork()?;
        let arrived_ns = self.clock.now_ns();
        let shape = batch.shape().map_err(EngineError::from)?;
        let device = route::choose(&self.devices, options.on, &shape, false)?;
        if self.check_room(&self.lock_flight(), device).is_err() {
            // What is finished makes room, even before anyone takes it.
            self.collect();
            self.check_room(&self.lock_flight(), device)?;
        }
        options.nonces.check(batch).map_err(EngineError::from)?;
        let output = OwnedOutput::for_batch(batch).map_err(EngineError::from)?;
        let lease: Arc<dyn KeySource> = Arc::new(self.store.admit(batch)?);
        Ok(Prepared { device, shape, arrived_ns, output, lease })
    }

    /// Whether engine and device have a free slot.
    fn check_room(&self, flight: &Flight, device: DeviceId) -> Result<(), SubmitRefusal> {
        let capabilities = self.devices[device.0].capabilities();
        let full = |device: &str, in_flight, slots| {
            let device = device.to_owned();
            Err(SubmitRefusal::Full { device, in_flight, slots })
        };
        match (flight.len(), flight.on(device)) {
            (all, _) if all >= IN_FLIGHT_MAX => full("the engine", all, IN_FLIGHT_MAX),
            (_, on) if on >= capabilities.slots => full(&capabilities.name, on, capabilities.slots),
            _ => Ok(()),
        }
    }

    fn launch(&self, batch: Batch<'static>, prepared: Prepared) -> Result<Ticket, SubmitError> {
        let Prepared { device, shape, arrived_ns, output, lease: keys } = prepared;
        let mut flight = self.lock_flight();
        let ticket = flight.next_ticket();
        let batch = Arc::new(batch);
        let refused = match self.check_room(&flight, device) {
            // Another thread was quicker. Without its lease the batch keeps no key from being wiped.
            Err(full) => {
                drop(keys);
                Some(full)
            }
            Ok(()) => {
                let batch = Arc::clone(&batch);
                let job = Job { ticket, attempt: 0, batch, output, keys };
                self.devices[device.0]
                    .submit(Box::new(job))
                    .err()
                    .map(|refused| self.reason(device, refused))
            }
        };
        let Some(reason) = refused else {
            // Under the lock that `take` holds, so the completion can't come before this.
            let flying = Flying { device, attempt: 0, arrived_ns, shape, batch };
            flight.take_off(ticket, flying);
            return Ok(ticket);
        };
        drop(flight);
        self.store.uncount(&batch);
        self.sweep();
        let batch = Arc::try_unwrap(batch).unwrap_or_else(|shared| (*shared).clone());
        Err(SubmitError { batch: Box::new(batch), reason })
    }

    /// Lets go of a refused job and says why it was refused.
    fn reason(&self, device: DeviceId, refused: Refused) -> SubmitRefusal {
        match refused.refusal {
            Refusal::Full { in_flight, slots } => {
                let device = self.devices[device.0].capabilities().name.clone();
                SubmitRefusal::Full { device, in_flight, slots }
            }
            Refusal::Broken(error) => EngineError::from(error).into(),
        }
    }

    /// Collects what devices have finished and takes the wanted batch.
    fn take(&self, wanted: Option<Ticket>) -> Result<Option<Completed>, EngineError> {
        self.bell.clear_descriptor();
        self.collect();
        let mut flight = self.lock_flight();
        let taken = flight.take(wanted);
        if flight.has_done() {
            self.bell.signal_descriptor();
        }
        taken
    }

    /// Fetches what devices have finished, and tells those who wait for it.
    fn collect(&self) {
        let mut flight = self.lock_flight();
        let mut finished = vec![];
        self.devices.iter().for_each(|device| device.poll(&mut finished));
        if finished.is_empty() {
            return;
        }
        finished.into_iter().for_each(|completion| self.land(&mut flight, completion));
        drop(flight);
        self.bell.ring();
        self.sweep();
    }

    fn land(&self, flight: &mut Flight, mut completion: Completion) {
        let Some(flying) = flight.land(&completion) else {
            // A late result that nobody waits for any more.
            if let Ok((output, _)) = &mut completion.outcome {
                output.wipe();
            }
            return;
        };
        let Flying { device, arrived_ns, shape, batch, .. } = flying;
        let ticket = completion.ticket;
        let outcome = completion.outcome.map(|(output, timing)| {
            let report = Report { device, timing, auth_failed: failures(output.status()) };
            self.record(Some(ticket), arrived_ns, &shape, report);
            (output, report)
        });
        if outcome.is_err() {
            self.lock_records().push_failure(device);
        }
        flight.finish(Completed { ticket, batch, outcome });
    }

    /// Takes a session out of use, and wipes its key when nothing in flight needs it.
    pub(crate) fn retire(&self, session: SessionId) {
        if self.check_fork().is_ok() {
            self.store.retire(session);
            self.sweep();
        }
    }

    /// Wipes what retired sessions left in the store and in the devices.
    fn sweep(&self) {
        if !self.store.has_wipeable() {
            return;
        }
        let wiped = self.store.wipe_retired();
        for device in &self.devices {
            wiped.iter().for_each(|session| device.retire(*session));
        }
        self.store.reuse(&wiped);
    }

    fn record(&self, ticket: Option<Ticket>, arrived_ns: u64, shape: &Shape, report: Report) {
        let Report { device, timing, auth_failed } = report;
        let (messages, text_bytes) = (shape.messages, shape.text_bytes);
        let record =
            Record { ticket, device, messages, text_bytes, auth_failed, arrived_ns, timing };
        self.lock_records().push(record);
    }

    fn lock_flight(&self) -> MutexGuard<'_, Flight> {
        self.flight.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_records(&self) -> MutexGuard<'_, Records> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if self.check_fork().is_err() {
            // Their threads did not come along: joining them would wait for ever.
            mem::forget(mem::take(&mut self.devices));
        }
    }
}

/// A batch that may go to a device.
struct Prepared {
    device: DeviceId,
    shape: Shape,
    arrived_ns: u64,
    output: OwnedOutput,
    lease: Arc<dyn KeySource>,
}

impl NonceCheck {
    fn check(self, batch: &Batch<'_>) -> Result<(), BatchError> {
        if self == Self::Off || batch.len < 2 {
            return Ok(());
        }
        let mut seen = HashMap::with_capacity(batch.len);
        for second in (0..batch.len).filter(|&message| batch.ops.get(message) == Op::Seal) {
            let Some(session) = batch.session_of(second) else { break };
            if let Some(first) = seen.insert((session, batch.nonce.get(second)), second) {
                let session = session.to_string();
                return Err(BatchError::RepeatedNonce { first, second, session });
            }
        }
        Ok(())
    }
}

fn failures(statuses: &[Status]) -> usize {
    statuses.iter().filter(|&&status| status == Status::AuthFailed).count()
}
