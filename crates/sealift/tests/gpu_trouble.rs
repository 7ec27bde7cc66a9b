//! Batches of an engine whose GPU is lost, late or without memory: each finishes once, and right.

#![allow(clippy::unwrap_used, reason = "a test's helpers may panic")]

use fake_cuda::Fake;
use sealift::{
    Batch, Capabilities, Column, Completion, Context, Device, DeviceError, Driver, End, Engine,
    Job, Key, OpenError, Options, OwnedOutput, Patience, Probe, Report, Role, Session, SessionId,
    Settings, Spec, State, Status, Submission, Tags, Ticket, Timing, Work,
};
use sealift_drivers::cuda::{self, CudaLibrary};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

#[test]
fn batches_of_a_lost_device_and_those_it_refuses_finish_elsewhere() {
    let (fake, engine) = engine(MINUTE);
    let session = session(&engine);
    let first = submit(&engine, &session, 0);
    assert_eq!(take(&engine, &session, first), (GPU, 0));
    fake.plan("cuEventQuery@1=719!");
    let failed = submit(&engine, &session, 1);
    assert_eq!(take(&engine, &session, failed), (OTHER, 1));
    assert_eq!(ends(&engine, failed), [(GPU, End::Failed), (OTHER, End::Done)]);
    // One failure takes no device down: it is asked again, and says that it is broken.
    let refused = submit(&engine, &session, 2);
    assert_eq!(take(&engine, &session, refused), (OTHER, 1));
    assert_eq!(ends(&engine, refused), [(OTHER, End::Done)]);
    let state = engine.state(engine.device("cuda").unwrap()).unwrap();
    assert!(matches!(state, State::Down { .. }), "{state:?}");
    assert_nothing_comes_twice(&engine);
}

#[test]
fn a_device_that_is_lost_while_it_forgets_a_session_refuses_the_next_batch() {
    let (fake, engine) = engine(MINUTE);
    let (gone, session) = (session(&engine), session(&engine));
    let first = submit(&engine, &gone, 0);
    assert_eq!(take(&engine, &gone, first), (GPU, 0));
    fake.plan("cuEventQuery@1=719!");
    drop(gone);
    let refused = submit(&engine, &session, 1);
    assert_eq!(take(&engine, &session, refused), (OTHER, 1));
    assert_eq!(ends(&engine, refused), [(OTHER, End::Done)]);
    assert_nothing_comes_twice(&engine);
}

#[test]
fn a_batch_that_a_device_has_no_memory_for_finishes_elsewhere_and_the_next_one_there() {
    let (fake, engine) = engine(MINUTE);
    let session = session(&engine);
    fake.plan("cuMemHostAlloc@1=2");
    let failed = submit(&engine, &session, 0);
    assert_eq!(take(&engine, &session, failed), (OTHER, 1));
    assert_eq!(ends(&engine, failed), [(GPU, End::Failed), (OTHER, End::Done)]);
    let next = submit(&engine, &session, 1);
    assert_eq!(take(&engine, &session, next), (GPU, 0));
    assert_nothing_comes_twice(&engine);
}

#[test]
fn a_batch_whose_device_takes_no_program_finishes_elsewhere_and_programs_are_built_once() {
    let (fake, engine) = engine(MINUTE);
    let session = session(&engine);
    fake.plan("cuModuleLoadDataEx@1=222");
    let failed = submit(&engine, &session, 0);
    assert_eq!(take(&engine, &session, failed), (OTHER, 1));
    assert_eq!(ends(&engine, failed), [(GPU, End::Failed), (OTHER, End::Done)]);
    for number in 1..3 {
        let next = submit(&engine, &session, number);
        assert_eq!(take(&engine, &session, next), (GPU, 0));
    }
    assert_eq!(fake.report().of("cuModuleLoadDataEx"), 4, "three, and the one that failed");
    assert_nothing_comes_twice(&engine);
}

#[test]
fn a_late_device_is_waited_for() {
    let (fake, engine) = engine(MINUTE);
    let session = session(&engine);
    fake.plan("late=3");
    let late = submit(&engine, &session, 0);
    assert_eq!(take(&engine, &session, late), (GPU, 0));
    assert_nothing_comes_twice(&engine);
}

#[test]
fn a_device_that_is_too_late_gives_a_result_that_nobody_gets() {
    let (fake, engine) = engine(Duration::from_secs(2));
    let session = session(&engine);
    fake.plan("never");
    let too_late = submit(&engine, &session, 1);
    assert_eq!(take(&engine, &session, too_late), (OTHER, 1));
    assert_eq!(ends(&engine, too_late), [(GPU, End::Abandoned), (OTHER, End::Done)]);
    fake.plan("");
    let (gpu, began) = (engine.device("cuda").unwrap(), Instant::now());
    while engine.counters(gpu).unwrap().late == 0 {
        assert!(engine.poll().unwrap().is_none());
        assert!(began.elapsed() < MINUTE, "it never answers");
        thread::sleep(Duration::from_millis(1));
    }
    assert_nothing_comes_twice(&engine);
}

const MINUTE: Duration = Duration::from_secs(60);
/// Devices by their place.
const GPU: usize = 0;
const OTHER: usize = 1;
const TEXTS: [&[u8]; 3] = [b"one", &[2; 3_000], b""];

/// A GPU of tests, and an engine that prefers it and gives it up after so long.
fn engine(patience: Duration) -> (Fake, Engine) {
    let fake = Fake::new().unwrap();
    let driver = AsReal(CudaLibrary::at(fake.path()));
    let settings = Settings {
        patience: Patience { times: 0.0, extra: patience },
        ..Settings::with_policy("failover").unwrap()
    };
    let engine = Engine::open(&["cuda", "library"], &[&driver], settings).unwrap();
    (fake, engine)
}

fn session(engine: &Engine) -> Session {
    engine.session(Key::new(&[7; 16]).unwrap()).unwrap()
}

/// Seals some texts with nonces of its own.
fn batch(session: &Session, number: u8) -> Batch<'static> {
    let nonces: Vec<u8> =
        (0..TEXTS.len()).flat_map(|at| [number, at.to_le_bytes()[0]].repeat(6)).collect();
    let texts = TEXTS.iter().map(|text| text.to_vec().into()).collect();
    Batch::seal(TEXTS.len(), session.id(), Column::fixed(nonces, 12), Column::Scattered(texts))
}

fn submit(engine: &Engine, session: &Session, number: u8) -> Ticket {
    engine.submit(batch(session, number), &Options::default()).unwrap()
}

/// Waits for a batch, opens what was sealed, and tells who worked it and how often others did in vain.
fn take(engine: &Engine, session: &Session, ticket: Ticket) -> (usize, u32) {
    let taken = engine.wait(Some(ticket), Some(2 * MINUTE)).unwrap().unwrap();
    let (sealed, Report { device, moved, .. }) = taken.outcome.unwrap();
    assert_eq!(sealed.status(), [Status::Ok; TEXTS.len()]);
    let part = |at| (sealed.text_of(at).to_vec().into(), sealed.tag_of(at).to_vec());
    let (texts, tags): (Vec<_>, Vec<_>) = (0..TEXTS.len()).map(part).unzip();
    let (nonces, texts) = (taken.batch.nonce.clone(), Column::Scattered(texts.into()));
    let tags = Tags::Apart(Column::fixed(tags.concat(), 16));
    let open = Batch::open(TEXTS.len(), session.id(), nonces, texts, tags);
    let mut opened = OwnedOutput::for_batch(&open).unwrap();
    let here = Options { on: Some(engine.device("library").unwrap()), ..Options::default() };
    engine.run(&open, opened.as_output(), &here).unwrap();
    assert_eq!(opened.status(), [Status::Ok; TEXTS.len()]);
    assert!((0..TEXTS.len()).all(|at| opened.text_of(at) == TEXTS[at]));
    (device.index(), moved)
}

/// Who tried a batch, and what came of it.
fn ends(engine: &Engine, ticket: Ticket) -> Vec<(usize, End)> {
    let records = engine.records().unwrap();
    let own = records.iter().filter(|record| record.ticket == Some(ticket));
    own.map(|record| (record.device.index(), record.end)).collect()
}

fn assert_nothing_comes_twice(engine: &Engine) {
    assert!(engine.poll().unwrap().is_none());
    assert_eq!(engine.in_flight().unwrap(), 0);
}

/// The driver `cuda` over a fake, whose devices an engine takes for users' work.
struct AsReal(CudaLibrary);

impl Driver for AsReal {
    fn name(&self) -> &'static str {
        "cuda"
    }

    fn summary(&self) -> &'static str {
        "CUDA without a GPU"
    }

    fn probe(&self) -> Probe {
        cuda::probe(&self.0)
    }

    fn open(&self, spec: &Spec, context: &Context) -> Result<Arc<dyn Device>, OpenError> {
        let device = cuda::open(spec, context, &self.0)?;
        let capabilities = Capabilities { role: Role::Real, ..device.capabilities().clone() };
        Ok(Arc::new(RealDevice { device, capabilities }))
    }
}

#[derive(Debug)]
struct RealDevice {
    device: Arc<dyn Device>,
    capabilities: Capabilities,
}

impl Device for RealDevice {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn run(&self, work: &mut Work<'_>) -> Result<Timing, DeviceError> {
        self.device.run(work)
    }

    fn submit(&self, job: Box<Job>) -> Submission {
        self.device.submit(job)
    }

    fn poll(&self, done: &mut Vec<Completion>) {
        self.device.poll(done);
    }

    fn retire(&self, session: SessionId) {
        self.device.retire(session);
    }

    fn release(&self) {
        self.device.release();
    }
}
