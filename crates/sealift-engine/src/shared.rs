//! What an engine's handles have in common.

use crate::audit::{Auditor, Sealed};
use crate::bell::Bell;
use crate::cores::{Callers, HelpPause};
use crate::flight::Flight;
use crate::offer::refusal;
use crate::record::{End, Record, Records};
use crate::retire::Retirements;
use crate::scheduler::{Decision, DecisionCache, Explained, Request, Scheduler};
use crate::settings::Patience;
use crate::store::KeyStore;
use crate::sync::{Mutex, MutexGuard};
use crate::{Call, DeviceId, EngineError, Report, Settings, SubmitRefusal, ffi, threads};
use sealift_core::{
    Batch, Clock, Device, DeviceError, KeySource, OutputPool, SessionId, Shape, Status, Ticket,
    Timing, Work,
};
use std::any::Any;
use std::mem;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, PoisonError};
use std::thread::available_parallelism;

/// What an engine's handles and sessions have in common.
///
/// Locks are taken in this order: dispatch, then records, the store or a device's own.
pub(crate) struct Shared {
    pub(crate) store: Arc<KeyStore>,
    pub(crate) devices: Vec<Arc<dyn Device>>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) bell: Arc<Bell>,
    pub(crate) patience: Patience,
    pub(crate) in_flight_max: usize,
    pub(crate) threads: NonZeroUsize,
    /// When the last batch ended that was long enough for several threads.
    pub(crate) long_ended_ns: AtomicU64,
    pub(crate) help_pause: HelpPause,
    pub(crate) callers: Callers,
    /// Held by the one batch that is worked on two devices.
    pub(crate) beside: Mutex<()>,
    /// Of the process.
    pub(crate) cores: usize,
    pub(crate) auditor: Option<Auditor>,
    pub(crate) retirements: Retirements,
    pub(crate) outputs: Arc<OutputPool>,
    pub(crate) decisions: Arc<DecisionCache>,
    dispatch: Mutex<Dispatch>,
    pub(crate) records: Records,
    forks: u32,
}

/// What is in flight, and who gets what is next.
pub(crate) struct Dispatch {
    pub(crate) flight: Flight,
    pub(crate) scheduler: Scheduler,
}

impl Shared {
    pub(crate) fn new(
        devices: Vec<Arc<dyn Device>>,
        clock: Arc<dyn Clock>,
        bell: Arc<Bell>,
        settings: Settings,
    ) -> Result<Self, EngineError> {
        let Settings { policy, patience, tries, audit, in_flight_max, threads } = settings;
        let threads = threads.map_or_else(threads::default_threads, Ok);
        let threads = threads.map_err(|reason| EngineError::Threads { reason })?;
        let auditor = audit.map(|audit| Auditor::new(audit, &devices)).transpose()?;
        let scheduler = Scheduler::new(&devices, policy, tries.max(1));
        let decisions = Arc::clone(scheduler.decisions());
        let dispatch = Mutex::new(Dispatch { flight: Flight::default(), scheduler });
        let records = Records::new(devices.len());
        let retirements = Retirements::of(devices.len());
        let (store, outputs, forks) = (Arc::default(), Arc::default(), ffi::forks());
        Ok(Self {
            store,
            devices,
            clock,
            bell,
            patience,
            in_flight_max: in_flight_max.max(1),
            threads,
            long_ended_ns: AtomicU64::new(0),
            help_pause: HelpPause::default(),
            callers: Callers::default(),
            beside: Mutex::default(),
            cores: available_parallelism().map_or(1, NonZeroUsize::get),
            auditor,
            retirements,
            outputs,
            decisions,
            dispatch,
            records,
            forks,
        })
    }

    /// Threads and held locks don't survive a fork: nothing here may be touched in the child.
    pub(crate) fn check_fork(&self) -> Result<(), EngineError> {
        if ffi::forks() == self.forks { Ok(()) } else { Err(EngineError::Forked) }
    }

    pub(crate) fn explain(&self, shape: &Shape, call: Call) -> Result<Explained, EngineError> {
        let here = call == Call::Run;
        let threads = if here { self.free_threads(self.threads.get(), shape) } else { 1 };
        let request = Request { here, threads, may_stay: true, ..Request::of(shape) };
        let now_ns = self.clock.now_ns();
        let decided = self.lock().scheduler.explain(&self.devices, &request, now_ns);
        decided.map_err(|nobody| match refusal(&self.devices, nobody, None) {
            SubmitRefusal::Engine(error) => error,
            full @ SubmitRefusal::Full { .. } => EngineError::NoDevice { reason: full.to_string() },
        })
    }

    /// Works a batch on the calling thread; a device that panics has failed.
    pub(crate) fn run_on(
        &self,
        device: DeviceId,
        work: &mut Work<'_>,
        timing: &mut Timing,
    ) -> Result<(), DeviceError> {
        // What a panic may leave half-written is the output, which is wiped, and the device's own tables,
        // which its driver answers for as it does towards its own workers.
        let ran = catch_unwind(AssertUnwindSafe(|| {
            *timing = self.devices[device.0].run(work)?;
            Ok(())
        }));
        ran.unwrap_or_else(|panic| Err(self.failure(device, message_of(&*panic))))
    }

    /// Whether a device's results are wrong; whoever is wrong is out of use from now on.
    pub(crate) fn is_wrong(
        &self,
        device: DeviceId,
        batch: &Batch<'_>,
        sealed: &[Sealed],
        keys: &dyn KeySource,
    ) -> bool {
        if sealed.is_empty() {
            return false;
        }
        let trusted = self.lock().scheduler.trusted();
        let wrong = Auditor::who_is_wrong(&self.devices, &trusted, device, batch, sealed, keys);
        if let Some(wrong) = wrong {
            self.lock().scheduler.quarantine(wrong);
        }
        wrong == Some(device)
    }

    pub(crate) fn record(
        &self,
        ticket: Option<Ticket>,
        arrived_ns: u64,
        shape: &Shape,
        end: End,
        report: &Report,
        decision: &Decision,
    ) {
        self.records.push(Record {
            ticket,
            device: report.device,
            attempt: report.moved,
            end,
            messages: shape.messages,
            text_bytes: shape.text_bytes,
            auth_failed: report.auth_failed,
            arrived_ns,
            timing: report.timing,
            decision: *decision,
        });
    }

    pub(crate) fn failure(&self, device: DeviceId, reason: String) -> DeviceError {
        DeviceError::Failed { device: self.devices[device.0].capabilities().name.clone(), reason }
    }

    pub(crate) fn wrong(&self, device: DeviceId) -> DeviceError {
        self.failure(device, "its results do not open elsewhere".to_owned())
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Dispatch> {
        self.dispatch.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let dispatch = self.dispatch.get_mut().unwrap_or_else(PoisonError::into_inner);
        if ffi::forks() == self.forks {
            dispatch.flight.wipe();
        } else {
            // Their threads did not come along: joining them would wait for ever, as would a lock that one
            // of them held.
            mem::forget(mem::take(&mut self.devices));
            mem::forget(mem::take(&mut dispatch.flight));
        }
    }
}

impl<'r> Request<'r> {
    /// For a batch of this shape, whoever works it.
    pub(crate) fn of(shape: &'r Shape) -> Self {
        Self {
            shape,
            session: None,
            named: None,
            preferred: None,
            here: false,
            threads: 1,
            may_stay: false,
            tried: &[],
            full: &[],
        }
    }
}

pub(crate) fn first_session(batch: &Batch<'_>) -> Option<SessionId> {
    if batch.len == 0 { None } else { batch.session_of(0) }
}

pub(crate) fn failures(statuses: &[Status]) -> usize {
    // As many at once as a byte can count: whole registers of them, where wider sums would take a few.
    let failed = |some: &[Status]| -> u8 {
        some.iter().map(|status| u8::from(*status == Status::AuthFailed)).sum()
    };
    statuses.chunks(u8::MAX.into()).map(|some| usize::from(failed(some))).sum()
}

pub(crate) fn message_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("it panicked: {}", text.unwrap_or("without a message"))
}
