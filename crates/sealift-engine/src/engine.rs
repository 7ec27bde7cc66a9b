use crate::bell::{Bell, Doorbell};
use crate::flight::Completed;
use crate::record::{Counters, Record};
use crate::route::{self, DeviceId};
use crate::scheduler::{Explained, State};
use crate::shared::Shared;
use crate::{Call, EngineError, Options, Session, Settings, SubmitError, ffi, nonces};
use rustix::fd::BorrowedFd;
use sealift_core::{
    Algorithm, Batch, Capabilities, Clock, Context, Cost, Device, Key, Keys, Output, SessionId,
    Shape, Ticket, Timing,
};
use std::collections::HashSet;
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

/// Sessions, batches and devices behind one handle. Clones are the same engine.
///
/// Sessions keep their engine alive. When the last of them goes, jobs being worked are waited for, and
/// those still queued are dropped.
#[derive(Clone)]
pub struct Engine {
    shared: Arc<Shared>,
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
    /// How often it was tried before without results.
    pub moved: u32,
}

impl Report {
    /// Before anything is worked.
    pub(crate) const OF_NOTHING: Self =
        Self { device: DeviceId(0), timing: Timing::NONE, auth_failed: 0, moved: 0 };
}

impl Engine {
    /// Opens devices and puts an engine with the usual settings over them.
    ///
    /// # Errors
    /// As [`Engine::with_settings`].
    pub fn over<E: From<EngineError>>(
        clock: Arc<dyn Clock>,
        open: impl IntoIterator<Item: FnOnce(&Context) -> Result<Arc<dyn Device>, E>>,
    ) -> Result<Self, E> {
        Self::with_settings(clock, Settings::default(), open)
    }

    /// Opens devices and puts an engine over them; their order is what policies go by that go by order.
    ///
    /// All times are of `clock`. Each of `open` makes one device. It is given the clock and a bell of
    /// the device's own: a device that doesn't ring is not asked for completions.
    ///
    /// # Errors
    /// What one of `open` returns, no device at all, two of one name, and an audit that nobody could do.
    pub fn with_settings<E: From<EngineError>>(
        clock: Arc<dyn Clock>,
        settings: Settings,
        open: impl IntoIterator<Item: FnOnce(&Context) -> Result<Arc<dyn Device>, E>>,
    ) -> Result<Self, E> {
        ffi::watch_forks();
        let bell = Arc::new(Bell::default());
        let mut devices: Vec<Arc<dyn Device>> = vec![];
        let mut names = HashSet::new();
        for open in open {
            let notify = Arc::new(Doorbell::of(&bell, DeviceId(devices.len())));
            let device = open(&Context { clock: Arc::clone(&clock), notify })?;
            let name = &device.capabilities().name;
            if !names.insert(name.clone()) {
                return Err(EngineError::SameName { name: name.clone() }.into());
            }
            devices.push(device);
        }
        if devices.is_empty() {
            let reason = "none was opened".to_owned();
            return Err(EngineError::NoDevice { reason }.into());
        }
        let shared = Shared::new(devices, clock, bell, settings)?;
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Installs a key.
    ///
    /// # Errors
    /// A forked child.
    pub fn session(&self, key: Key) -> Result<Session, EngineError> {
        let limit = key.algorithm().seals_max();
        self.session_with_limit(key, limit)
    }

    /// Installs a key that stops sealing earlier than the standard asks.
    ///
    /// # Errors
    /// A limit over 2^32 for a key that is not for XAES-256-GCM.
    pub fn session_with_limit(&self, key: Key, seals_max: u64) -> Result<Session, EngineError> {
        self.shared.check_fork()?;
        let (algorithm, limit) = (key.algorithm(), seals_max);
        let max = algorithm.seals_max();
        if limit > max {
            return Err(EngineError::LimitTooHigh { limit, max });
        }
        self.shared.sweep();
        let id = self.shared.store.install(key, limit);
        Ok(Session::new(Arc::clone(&self.shared), id, algorithm))
    }

    /// What the key of a session is for; nothing where this engine has no such session.
    ///
    /// # Errors
    /// A forked child.
    pub fn algorithm(&self, session: SessionId) -> Result<Option<Algorithm>, EngineError> {
        self.shared.check_fork()?;
        Ok(self.shared.store.algorithm(session))
    }

    /// The next nonces of the sessions of so many messages, 12 bytes each, one behind the other: for a batch whose
    /// rule is [`NonceRule::Counted`](sealift_core::NonceRule::Counted). They are never given again, whatever becomes
    /// of the batch.
    ///
    /// # Errors
    /// Raw keys; a session that this engine does not have, whose key is not for AES-GCM, or that has given 2^32 nonces; a forked child, where parent
    /// and child would give the same ones.
    pub fn next_nonces(&self, keys: &Keys<'_>, messages: usize) -> Result<Vec<u8>, EngineError> {
        self.shared.check_fork()?;
        self.shared.store.next_nonces(keys, messages)
    }

    /// So many random nonces of an algorithm, one behind the other: for batches whose rule is
    /// [`NonceRule::Standard`](sealift_core::NonceRule::Standard). Nothing is kept of one call for the next, so a
    /// forked child and a machine that is copied while it runs draw others.
    ///
    /// Two of n nonces of 96 bits are equal with a probability of n^2 / 2^97: 2^-33 for 2^32 messages under one
    /// AES-GCM key. For more messages than that take XAES-256-GCM.
    ///
    /// # Errors
    /// The system has no random bytes, or no memory for so many nonces.
    pub fn draw_nonces(
        &self,
        algorithm: Algorithm,
        messages: usize,
    ) -> Result<Vec<u8>, EngineError> {
        nonces::draw(algorithm, messages)
    }

    /// Works a batch on the calling thread; a long one on other cores, too, as [`Settings::threads`] and
    /// [`Options::threads`] allow.
    ///
    /// # Errors
    /// Anything wrong with the batch, before a message is touched. Messages that don't open are a status,
    /// not an error.
    ///
    /// Every device that may has failed half-way. With texts apart the output is zeros then, and the batch
    /// can be run again. In place some texts are results already and their statuses say so: do not run that batch
    /// again, sealing twice gives the plaintext back.
    pub fn run(
        &self,
        batch: &Batch<'_>,
        output: Output<'_>,
        options: &Options,
    ) -> Result<Report, EngineError> {
        self.shared.run(batch, output, options, None)
    }

    /// The same for a batch that may be stopped: `stop` is asked on the calling thread between pieces of a long batch, about
    /// every 0.1 ms. When it says so, messages that are begun are finished, no other is begun, and the statuses say which
    /// are done. A long message that several threads were at becomes zeros: [`Status::Wiped`](sealift_core::Status::Wiped).
    ///
    /// # Errors
    /// As [`run`](Self::run); [`EngineError::Stopped`].
    pub fn run_until(
        &self,
        batch: &Batch<'_>,
        output: Output<'_>,
        options: &Options,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<Report, EngineError> {
        self.shared.run(batch, output, options, Some(stop))
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
    /// This and [`poll`](Self::poll) are where the engine notices that a device does not answer, and gives
    /// its batches to others: a program that only watches the [event descriptor](Self::event_fd) has to
    /// poll now and then, too.
    ///
    /// # Errors
    /// The ticket is not in flight; a forked child.
    pub fn wait(
        &self,
        ticket: Option<Ticket>,
        timeout: Option<Duration>,
    ) -> Result<Option<Completed>, EngineError> {
        self.shared.check_fork()?;
        self.shared.wait(ticket, timeout)
    }

    /// Waits until at least so many batches are finished and takes all that are; fewer after `timeout`, or
    /// when no more are in flight. A program that has many in flight changes between threads less often so
    /// than with a [`wait`](Self::wait) for each.
    ///
    /// # Errors
    /// A forked child.
    pub fn wait_many(
        &self,
        least: usize,
        timeout: Option<Duration>,
    ) -> Result<Vec<Completed>, EngineError> {
        self.shared.check_fork()?;
        self.shared.wait_many(least, timeout)
    }

    /// Submitted batches that are not taken back yet.
    ///
    /// # Errors
    /// A forked child.
    pub fn in_flight(&self) -> Result<usize, EngineError> {
        self.shared.check_fork()?;
        Ok(self.shared.lock().flight.len())
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

    /// How many threads a [`run`](Self::run) may use, the calling one among them: the [setting](Settings::threads), or what
    /// it stands for.
    #[must_use]
    pub fn threads(&self) -> NonZeroUsize {
        self.shared.threads
    }

    /// The devices, in order of preference.
    pub fn devices(&self) -> impl Iterator<Item = (DeviceId, &Capabilities)> {
        let devices = self.shared.devices.iter().enumerate();
        devices.map(|(at, device)| (DeviceId(at), device.capabilities()))
    }

    /// The device of this name (`library`, `cpu:isa=aesni`); its driver's (`cpu`) is enough where one device is of that driver.
    ///
    /// # Errors
    /// There is none; the error lists those there are.
    pub fn device(&self, name: &str) -> Result<DeviceId, EngineError> {
        route::named(&self.shared.devices, name)
    }

    /// What a device's batches cost, as far as is known: at first what it says of itself, then what was
    /// measured.
    ///
    /// # Errors
    /// A device of another engine; a forked child.
    pub fn cost(&self, device: DeviceId) -> Result<Cost, EngineError> {
        self.known(device)?;
        Ok(self.shared.lock().scheduler.cost(device))
    }

    /// Tells what a device's batches cost, from a calibration for example. It is learnt on from there.
    ///
    /// # Errors
    /// A device of another engine; a forked child.
    pub fn set_cost(&self, device: DeviceId, cost: Cost) -> Result<(), EngineError> {
        self.known(device)?;
        self.shared.lock().scheduler.set_cost(device, cost);
        Ok(())
    }

    /// Whether a device gets batches.
    ///
    /// # Errors
    /// A device of another engine; a forked child.
    pub fn state(&self, device: DeviceId) -> Result<State, EngineError> {
        self.known(device)?;
        let now_ns = self.shared.clock.now_ns();
        Ok(self.shared.lock().scheduler.state(device, now_ns))
    }

    /// Uses a device again that gave wrong results or was down.
    ///
    /// # Errors
    /// A device of another engine; a forked child.
    pub fn reinstate(&self, device: DeviceId) -> Result<(), EngineError> {
        self.known(device)?;
        self.shared.lock().scheduler.reinstate(device);
        Ok(())
    }

    /// Which device would get a batch of this shape now, and what each would take: nothing is worked and
    /// no policy's turn is used up. The batch is of no session that the engine knows.
    ///
    /// # Errors
    /// No device takes it; a forked child.
    pub fn explain(&self, shape: &Shape, call: Call) -> Result<Explained, EngineError> {
        self.shared.check_fork()?;
        self.shared.explain(shape, call)
    }

    /// The name of the scheduling policy.
    ///
    /// # Errors
    /// A forked child.
    pub fn policy(&self) -> Result<&'static str, EngineError> {
        self.shared.check_fork()?;
        Ok(self.shared.lock().scheduler.policy_name())
    }

    /// Lets devices give back what they hold while idle: threads, device memory. They take it again with
    /// the next batch. The memory of results that were dropped, which the next ones would use, goes too.
    ///
    /// # Errors
    /// A forked child.
    pub fn release(&self) -> Result<(), EngineError> {
        self.shared.check_fork()?;
        self.shared.devices.iter().for_each(|device| device.release());
        self.shared.outputs.release();
        Ok(())
    }

    /// The last 1,024 attempts that are over, oldest first.
    ///
    /// # Errors
    /// A forked child.
    pub fn records(&self) -> Result<Vec<Record>, EngineError> {
        self.shared.check_fork()?;
        Ok(self.shared.records.last())
    }

    /// What a device has done so far.
    ///
    /// # Errors
    /// A device of another engine; a forked child.
    pub fn counters(&self, device: DeviceId) -> Result<Counters, EngineError> {
        self.known(device)?;
        let counters = self.shared.records.counters(device);
        counters.ok_or_else(|| route::unknown(device, &self.shared.devices))
    }

    fn known(&self, device: DeviceId) -> Result<(), EngineError> {
        self.shared.check_fork()?;
        let devices = &self.shared.devices;
        if device.0 < devices.len() { Ok(()) } else { Err(route::unknown(device, devices)) }
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Engine({})", route::names(&self.shared.devices))
    }
}
