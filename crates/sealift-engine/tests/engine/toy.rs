//! A device for the tests: it "seals" by xor, finishes a job when it is told to, and counts.

use sealift_core::{
    Algorithm, Batch, Buffer, Capabilities, Clock, Column, Completion, Context, Cost, Cuts, Device,
    DeviceError, Job, Key, NonceLengths, Origin, Place, Refusal, Refused, Resource, Role,
    SessionId, SimulatedClock, SlotTag, SlotText, Status, Submission, TagLength, Timing, Work,
};
use sealift_engine::{Engine, EngineError, Session, Settings, policy};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt::{self, Debug};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

/// Called in the middle of every batch that a toy works.
pub(crate) type Hook = Box<dyn Fn() + Send + Sync>;

#[derive(Debug)]
pub(crate) struct Toy {
    capabilities: Capabilities,
    context: Context,
    queue: Mutex<VecDeque<Box<Job>>>,
    done: Mutex<Vec<Completion>>,
    retired: Mutex<Vec<SessionId>>,
    broken: AtomicBool,
    lies: AtomicBool,
    hook: OnceLock<Shown<Hook>>,
}

/// For `Debug`, which a closure has not.
struct Shown<T>(T);

impl<T> Debug for Shown<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hook")
    }
}

impl Toy {
    pub(crate) fn new(name: &str, role: Role, slots: usize, context: &Context) -> Arc<Self> {
        Self::with(capabilities(name, role, slots), context)
    }

    /// One that doesn't run on the calling thread.
    pub(crate) fn queued(name: &str, context: &Context) -> Arc<Self> {
        let capabilities = capabilities(name, Role::Real, 4);
        Self::with(Capabilities { runs_on_calling_thread: false, ..capabilities }, context)
    }

    /// One that works parts of a batch on several threads.
    pub(crate) fn in_parts(name: &str, context: &Context) -> Arc<Self> {
        let capabilities = capabilities(name, Role::Real, 4);
        Self::with(Capabilities { cuts: Cuts::Batches, workers: 4, ..capabilities }, context)
    }

    /// One that says how long it may take to get ready.
    pub(crate) fn preparing(name: &str, prepares: Duration, context: &Context) -> Arc<Self> {
        let capabilities = capabilities(name, Role::Real, 4);
        Self::with(Capabilities { prepares, ..capabilities }, context)
    }

    fn with(capabilities: Capabilities, context: &Context) -> Arc<Self> {
        let (queue, done, retired, broken, lies, hook) = Default::default();
        let context = context.clone();
        Arc::new(Self { capabilities, context, queue, done, retired, broken, lies, hook })
    }

    /// Calls `hook` in the middle of every batch from now on.
    pub(crate) fn hook(&self, hook: impl Fn() + Send + Sync + 'static) {
        assert!(self.hook.set(Shown(Box::new(hook))).is_ok(), "a toy has one hook");
    }

    /// Works the oldest queued job; false when there is none.
    pub(crate) fn finish_one(&self) -> bool {
        let is_done = self.finish_one_silently();
        if is_done {
            self.context.notify.ring();
        }
        is_done
    }

    /// The same without a ring.
    pub(crate) fn finish_one_silently(&self) -> bool {
        let Some(mut job) = self.queue.lock().unwrap().pop_front() else { return false };
        let outcome = Work::new(&job.batch, job.output.as_output(), &*job.keys)
            .map_err(|error| self.failed(&error.to_string()))
            .and_then(|mut work| self.run(&mut work));
        let Job { ticket, attempt, output, keys, .. } = *job;
        drop(keys);
        let outcome = outcome.map(|timing| (output, timing));
        self.done.lock().unwrap().push(Completion { ticket, attempt, outcome });
        true
    }

    /// Works the oldest queued job and flips a bit of its first text.
    pub(crate) fn lie_one(&self) -> bool {
        let is_there = self.finish_one();
        if let Some(Completion { outcome: Ok((output, _)), .. }) =
            self.done.lock().unwrap().last_mut()
            && let Place::Packed { bytes, .. } = output.as_output().text
        {
            bytes[0] ^= 1;
        }
        is_there
    }

    /// Works the oldest queued job and says that its first message failed.
    pub(crate) fn misreport_one(&self) -> bool {
        let is_there = self.finish_one();
        if let Some(Completion { outcome: Ok((output, _)), .. }) =
            self.done.lock().unwrap().last_mut()
        {
            output.as_output().status[0] = Status::AuthFailed;
        }
        is_there
    }

    /// Fails the oldest queued job.
    pub(crate) fn fail_one(&self) -> bool {
        let Some(job) = self.queue.lock().unwrap().pop_front() else { return false };
        let outcome = Err(self.failed("it was told to fail"));
        let Job { ticket, attempt, .. } = *job;
        self.done.lock().unwrap().push(Completion { ticket, attempt, outcome });
        self.context.notify.ring();
        true
    }

    /// Flips a bit of every text from now on.
    pub(crate) fn lie_always(&self) {
        self.lies.store(true, Ordering::Relaxed);
    }

    /// Takes no job any more.
    pub(crate) fn break_down(&self) {
        self.broken.store(true, Ordering::Relaxed);
    }

    /// Jobs that wait to be finished.
    pub(crate) fn held(&self) -> usize {
        self.queue.lock().unwrap().len()
    }

    /// Messages in the jobs that wait to be finished.
    pub(crate) fn queued_messages(&self) -> usize {
        self.queue.lock().unwrap().iter().map(|job| job.batch.len).sum()
    }

    /// What lies in the output of the newest job that waits to be finished.
    pub(crate) fn queued_output(&self) -> Vec<u8> {
        self.queue.lock().unwrap().back().unwrap().output.text().0.to_vec()
    }

    pub(crate) fn retired(&self) -> Vec<SessionId> {
        self.retired.lock().unwrap().clone()
    }

    fn failed(&self, reason: &str) -> DeviceError {
        let device = self.capabilities.name.clone();
        DeviceError::Failed { device, reason: reason.into() }
    }
}

impl Device for Toy {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn run(&self, work: &mut Work<'_>) -> Result<Timing, DeviceError> {
        let start_ns = self.context.clock.now_ns();
        if let Some(Shown(hook)) = self.hook.get() {
            hook();
        }
        for message in 0..work.len() {
            let session = work.batch().session_of(message).unwrap();
            let mask = work.key(session, "toy")?.as_bytes()[0];
            let slot = work.slot(message);
            let text = match &slot.text {
                SlotText::Apart { input, .. } | SlotText::Read(input) => input.to_vec(),
                SlotText::InPlace(text) => text.to_vec(),
            };
            if let SlotText::Apart { output, .. } | SlotText::InPlace(output) = slot.text {
                output.iter_mut().zip(&text).for_each(|(out, byte)| *out = byte ^ mask);
                output[0] ^= u8::from(self.lies.load(Ordering::Relaxed));
            }
            let status = match slot.tag {
                SlotTag::Write(tag) => {
                    tag.fill(mask);
                    Status::Ok
                }
                SlotTag::Check(tag) if tag.iter().all(|&byte| byte == mask) => Status::Ok,
                SlotTag::Check(_) | SlotTag::Missing => Status::AuthFailed,
            };
            work.set_status(message, status);
            assert!(text != b"panic", "it was told to panic");
            if text == b"break" {
                return Err(self.failed("it was told to break"));
            }
        }
        Ok(Timing::in_memory(start_ns, self.context.clock.now_ns()))
    }

    fn submit(&self, job: Box<Job>) -> Submission {
        if self.broken.load(Ordering::Relaxed) {
            let refusal = Refusal::Broken(self.failed("it is broken"));
            return Err(Refused { job, refusal });
        }
        let mut queue = self.queue.lock().unwrap();
        let (in_flight, slots) = (queue.len(), self.capabilities.slots);
        if in_flight >= slots {
            return Err(Refused { job, refusal: Refusal::Full { in_flight, slots } });
        }
        queue.push_back(job);
        Ok(())
    }

    fn poll(&self, done: &mut Vec<Completion>) {
        done.append(&mut self.done.lock().unwrap());
    }

    fn retire(&self, session: SessionId) {
        self.retired.lock().unwrap().push(session);
    }
}

fn capabilities(name: &str, role: Role, slots: usize) -> Capabilities {
    Capabilities {
        name: name.into(),
        driver: "toy",
        role,
        origin: Origin::Measured,
        detail: "xor".into(),
        algorithms: vec![Algorithm::AesGcm],
        runs_on_calling_thread: true,
        cuts: Cuts::Nothing,
        // Each on a core of its own, told by its name.
        works_on: Resource::Cores(vec![name.bytes().map(usize::from).sum()]),
        cost: Cost::clamped(1e6, 100.0, 1.0),
        in_place: true,
        workers: 1,
        slots,
        messages_max: 100,
        text_bytes_max: 1_000,
        aad_bytes_max: usize::MAX,
        prepares: Duration::ZERO,
        nonce_lengths: NonceLengths::of(&[12]),
        tag_lengths: vec![TagLength::FULL],
    }
}

/// What the key of every session is made of, and so what texts are masked with.
pub(crate) const MASK: u8 = 0x55;

/// An engine over toys of one worker and so many slots each, in virtual time: only who waits passes it, so
/// that no device is overdue, and none comes up again, because the machine was busy.
pub(crate) fn engine(settings: Settings, slots: &[usize]) -> (Engine, Vec<Arc<Toy>>) {
    engine_on(Arc::new(SimulatedClock::new()), settings, slots)
}

/// The same by a clock of the test's.
pub(crate) fn engine_on(
    clock: Arc<dyn Clock>,
    settings: Settings,
    slots: &[usize],
) -> (Engine, Vec<Arc<Toy>>) {
    let toys = RefCell::new(vec![]);
    let open = slots.iter().enumerate().map(|(at, slots)| {
        let toys = &toys;
        move |context: &Context| {
            let toy = Toy::new(&format!("toy{at}"), Role::Real, *slots, context);
            toys.borrow_mut().push(Arc::clone(&toy));
            Ok(toy as _)
        }
    });
    let engine = Engine::with_settings::<EngineError>(clock, settings, open).unwrap();
    (engine, toys.into_inner())
}

pub(crate) fn by(name: &str) -> Settings {
    Settings { policy: policy(name).unwrap(), ..Settings::default() }
}

pub(crate) fn session(engine: &Engine) -> Session {
    engine.session(Key::new(&[MASK; 16]).unwrap()).unwrap()
}

pub(crate) fn seal(session: &Session, texts: &[&'static [u8]]) -> Batch<'static> {
    let nonces: Vec<u8> =
        (0..texts.len() * 12).map(|n| u8::try_from(n / 12 % 256).unwrap()).collect();
    let texts: Vec<_> = texts.iter().map(|text| Buffer::Shared((*text).into())).collect();
    Batch::seal(
        texts.len(),
        session.id(),
        Column::fixed(nonces, 12),
        Column::Scattered(texts.into()),
    )
}
