use crate::bell::Bell;
use crate::flight::{Completed, Flight, Flying};
use crate::record::{Counters, Record, Records};
use crate::route::{self, DeviceId};
use crate::store::{KeyStore, SEALS_MAX};
use crate::{EngineError, Session, SubmitError, SubmitRefusal, ffi};
use rustix::fd::BorrowedFd;
use sealift_core::{
    Batch, BatchError, Capabilities, Clock, Completion, Context, Device, Job, Key, Keys, Notify,
    Op, Output, OwnedOutput, Refusal, SessionId, Shape, Status, SystemClock, Ticket, Timing, Work,
};
use std::collections::HashMap;
use std::fmt;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Submitted batches that may wait to be taken back.
const IN_FLIGHT_MAX: usize = 1_024;

/// Sessions, batches and devices behind one handle. Clones are the same engine.
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
    /// A repeated one is an error before anything is sealed.
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
    /// `open` is given the clock and the bell that the devices share with the engine.
    ///
    /// # Errors
    /// What `open` returns, and an empty list.
    pub fn over<E: From<EngineError>>(
        open: impl FnOnce(&Context) -> Result<Vec<Arc<dyn Device>>, E>,
    ) -> Result<Self, E> {
        ffi::watch_forks();
        let bell = Arc::new(Bell::default());
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
        let context = Context { clock: Arc::clone(&clock), notify: Arc::clone(&bell) as _ };
        let devices = open(&context)?;
        if devices.is_empty() {
            let reason = "none was opened".to_owned();
            return Err(EngineError::NoDevice { reason }.into());
        }
        let records = Mutex::new(Records::new(devices.len()));
        let forks = ffi::forks();
        let (store, flight) = Default::default();
        let shared = Shared { store, devices, clock, bell, flight, records, forks };
        Ok(Self::of(Arc::new(shared)))
    }

    pub(crate) fn of(shared: Arc<Shared>) -> Self {
        Self { shared }
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
    /// Anything wrong with the batch, before a message is touched; a device that failed.
    /// Messages that don't open are a status, not an error.
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
        self.shared.check_fork()?;
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        loop {
            let seen = self.shared.bell.rings();
            let completed = self.shared.take(ticket)?;
            if completed.is_some() || self.in_flight() == 0 {
                return Ok(completed);
            }
            if !self.shared.bell.wait_past(seen, deadline) {
                return self.shared.take(ticket);
            }
        }
    }

    /// Submitted batches that are not taken back yet.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.shared.lock_flight().len()
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
    #[must_use]
    pub fn records(&self) -> Vec<Record> {
        self.shared.lock_records().last()
    }

    /// What a device has done so far.
    #[must_use]
    pub fn counters(&self, device: DeviceId) -> Counters {
        self.shared.lock_records().counters(device)
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
        let timing = result.inspect_err(|_| self.lock_records().push_failure(device))?;
        let auth_failed = failures(work.statuses());
        let report = Report { device, timing, auth_failed };
        self.record(None, arrived_ns, work.shape(), report);
        Ok(report)
    }

    fn submit(&self, batch: Batch<'static>, options: &Options) -> Result<Ticket, SubmitError> {
        let refuse = |batch, reason| Err(SubmitError { batch: Box::new(batch), reason });
        match self.prepare(&batch, options) {
            Ok(prepared) => self.launch(batch, prepared),
            Err(error) => refuse(batch, error.into()),
        }
    }

    fn prepare(&self, batch: &Batch<'_>, options: &Options) -> Result<Prepared, EngineError> {
        self.check_fork()?;
        let (output, shape) = OwnedOutput::for_batch(batch)?;
        let device = route::choose(&self.devices, options.on, &shape, false)?;
        options.nonces.check(batch)?;
        Ok(Prepared { device, shape, output })
    }

    fn launch(&self, batch: Batch<'static>, prepared: Prepared) -> Result<Ticket, SubmitError> {
        let Prepared { device, shape, output } = prepared;
        let mut flight = self.lock_flight();
        let in_flight = flight.len();
        if in_flight >= IN_FLIGHT_MAX {
            let reason = SubmitRefusal::Full {
                device: "the engine".into(),
                in_flight,
                slots: IN_FLIGHT_MAX,
            };
            return Err(SubmitError { batch: Box::new(batch), reason });
        }
        let keys = match self.store.admit(&batch) {
            Ok(lease) => Arc::new(lease),
            Err(error) => {
                return Err(SubmitError { batch: Box::new(batch), reason: error.into() });
            }
        };
        let ticket = flight.next_ticket();
        let batch = Arc::new(batch);
        let arrived_ns = self.clock.now_ns();
        let job = Job { ticket, attempt: 0, batch: Arc::clone(&batch), output, keys };
        match self.devices[device.0].submit(Box::new(job)) {
            Ok(()) => {
                // Under the lock that `take` holds, so the completion can't come before this.
                flight.take_off(ticket, Flying { device, attempt: 0, arrived_ns, shape, batch });
                Ok(ticket)
            }
            Err(refused) => {
                let reason = match refused.refusal {
                    Refusal::Full { in_flight, slots } => {
                        let device = self.devices[device.0].capabilities().name.clone();
                        SubmitRefusal::Full { device, in_flight, slots }
                    }
                    Refusal::Broken(error) => EngineError::from(error).into(),
                };
                drop(refused.job);
                self.store.uncount(&batch);
                let batch = Arc::try_unwrap(batch).unwrap_or_else(|shared| (*shared).clone());
                Err(SubmitError { batch: Box::new(batch), reason })
            }
        }
    }

    /// Collects what devices have finished and takes the wanted batch.
    fn take(&self, wanted: Option<Ticket>) -> Result<Option<Completed>, EngineError> {
        self.bell.clear_descriptor();
        let mut flight = self.lock_flight();
        let mut finished = vec![];
        self.devices.iter().for_each(|device| device.poll(&mut finished));
        let collected = !finished.is_empty();
        finished.into_iter().for_each(|completion| self.land(&mut flight, completion));
        let taken = flight.take(wanted);
        let left = flight.has_done();
        drop(flight);
        match (collected, left) {
            // What was collected here may be what another thread waits for.
            (true, true) => self.bell.ring(),
            (false, true) => self.bell.signal_descriptor(),
            (_, false) => {}
        }
        if collected {
            self.sweep();
        }
        taken
    }

    fn land(&self, flight: &mut Flight, completion: Completion) {
        let Some(flying) = flight.land(&completion) else { return };
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
        let wiped = self.store.wipe_retired();
        if wiped.is_empty() {
            return;
        }
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

struct Prepared {
    device: DeviceId,
    shape: Shape,
    output: OwnedOutput,
}

impl NonceCheck {
    fn check(self, batch: &Batch<'_>) -> Result<(), BatchError> {
        if self == Self::Off || batch.len < 2 {
            return Ok(());
        }
        let mut seen = HashMap::with_capacity(batch.len);
        for second in (0..batch.len).filter(|&message| batch.ops.get(message) == Op::Seal) {
            let raw: &[u8] = match &batch.keys {
                Keys::Raw(column) => column.get(second),
                Keys::Session(_) | Keys::Sessions(_) => &[],
            };
            let session = batch.session_of(second);
            if let Some(first) = seen.insert((raw, session, batch.nonce.get(second)), second) {
                let session = session.map_or("raw key".to_owned(), |session| session.to_string());
                return Err(BatchError::RepeatedNonce { first, second, session });
            }
        }
        Ok(())
    }
}

fn failures(statuses: &[Status]) -> usize {
    statuses.iter().filter(|&&status| status == Status::AuthFailed).count()
}
