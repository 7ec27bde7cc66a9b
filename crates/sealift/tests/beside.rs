//! One batch on the cores and on another device at the same time.

#![allow(clippy::unwrap_used, reason = "a test's helpers may panic")]
#![allow(clippy::cast_precision_loss, reason = "bytes are far under 2^52")]
#![allow(clippy::cast_possible_truncation, reason = "a remainder by 251 is a byte")]

use sealift::software::{self, Crew, Software};
use sealift::{
    Batch, Capabilities, Column, Context, Cost, Device, DeviceError, Driver, Engine, Key,
    NONCE_BYTES, OpenError, Options, OwnedOutput, Probe, Resource, Role, SessionId, Settings, Spec,
    Work,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// Computes with the library and takes so long for each byte, as a device of its own or on the cores.
#[derive(Debug)]
struct Paced {
    name: &'static str,
    ns_a_byte: f64,
    works_on: Resource,
    is_broken: Arc<AtomicBool>,
}

impl Driver for Paced {
    fn name(&self) -> &'static str {
        self.name
    }

    fn summary(&self) -> &'static str {
        "sleeps"
    }

    fn probe(&self) -> Probe {
        Probe::Present { role: Role::Real, detail: "sleeps".to_owned() }
    }

    fn open(&self, spec: &Spec, context: &Context) -> Result<Arc<dyn Device>, OpenError> {
        let inner = sealift::open(&"library".parse().unwrap(), context)?;
        let found = software::capabilities(spec, self.name, Role::Real, "sleeps".to_owned());
        let cost = Cost::clamped(200.0, 0.0, CORES_NS_A_BYTE);
        let capabilities = Capabilities { works_on: self.works_on.clone(), cost, ..found };
        let (ns_a_byte, is_broken) = (self.ns_a_byte, Arc::clone(&self.is_broken));
        let sleeper = Sleeper { inner, ns_a_byte, is_broken };
        Ok(software::open(sleeper, capabilities, Crew::of(spec)?, context))
    }
}

#[derive(Debug)]
struct Sleeper {
    inner: Arc<dyn Device>,
    ns_a_byte: f64,
    is_broken: Arc<AtomicBool>,
}

impl Software for Sleeper {
    fn run(&self, work: &mut Work<'_>) -> Result<(), DeviceError> {
        if self.is_broken.load(Ordering::Relaxed) {
            let (device, reason) = ("sleeper".to_owned(), "it was told to".to_owned());
            return Err(DeviceError::Failed { device, reason });
        }
        thread::sleep(Duration::from_secs_f64(
            work.shape().text_bytes as f64 * self.ns_a_byte / 1e9,
        ));
        self.inner.run(work).map(|_| ())
    }

    fn retire(&self, session: SessionId) {
        self.inner.retire(session);
    }
}

struct Bench {
    engine: Engine,
    batch: Batch<'static>,
    expected: OwnedOutput,
    is_broken: Arc<AtomicBool>,
    _session: sealift::Session,
}

impl Bench {
    fn new(far_ns_a_byte: f64) -> Self {
        let is_broken = Arc::<AtomicBool>::default();
        let paced = |name, ns_a_byte, works_on, is_broken: &Arc<_>| {
            let is_broken = Arc::clone(is_broken);
            Paced { name, ns_a_byte, works_on, is_broken }
        };
        let slow = paced("slow", CORES_NS_A_BYTE, Resource::Cores(vec![]), &Arc::default());
        let far = paced("far", far_ns_a_byte, Resource::Own, &is_broken);
        let engine = Engine::with_drivers(&["slow:workers=1", "far"], &[&slow, &far]).unwrap();
        let session = engine.session(Key::new(&[7; 16]).unwrap()).unwrap();
        let nonces = (0..MESSAGES as u64).flat_map(|n| [&[0; 4][..], &n.to_be_bytes()].concat());
        let nonces = Column::fixed(nonces.collect::<Vec<_>>(), NONCE_BYTES);
        let texts = (0..MESSAGES * BYTES).map(|n| (n % 251) as u8).collect::<Vec<_>>();
        let batch = Batch::seal(MESSAGES, session.id(), nonces, Column::fixed(texts, BYTES));
        let alone = Engine::open(&["library"], &[], Settings::default()).unwrap();
        let same = alone.session(Key::new(&[7; 16]).unwrap()).unwrap();
        let mut expected = OwnedOutput::for_batch(&batch).unwrap();
        let own = Batch { keys: same.id().into(), ..batch.clone() };
        alone.run(&own, expected.as_output(), &Options::default()).unwrap();
        Self { engine, batch, expected, is_broken, _session: session }
    }

    fn run(&self) {
        let mut output = OwnedOutput::for_batch(&self.batch).unwrap();
        self.engine.run(&self.batch, output.as_output(), &Options::default()).unwrap();
        for message in 0..MESSAGES {
            assert_eq!(output.text_of(message), self.expected.text_of(message), "{message}");
            assert_eq!(output.tag_of(message), self.expected.tag_of(message), "{message}");
        }
    }

    /// Works the batch; how many messages the device that is none of the cores had of it.
    fn far_of_one(&self) -> u64 {
        let before = self.messages()[1];
        self.run();
        self.messages()[1] - before
    }

    /// Messages that each device worked so far.
    fn messages(&self) -> [u64; 2] {
        ["slow", "far"].map(|name| {
            let name = self.engine.devices().find(|(_, found)| found.driver == name).unwrap().0;
            self.engine.counters(name).unwrap().messages
        })
    }
}

#[test]
fn both_have_messages_of_one_batch_and_the_results_are_those_of_one() {
    let bench = Bench::new(CORES_NS_A_BYTE);
    (0..40).for_each(|_| bench.run());
    let before = bench.messages();
    (0..20).for_each(|_| bench.run());
    let after = bench.messages();
    let worked = [0, 1].map(|device| after[device] - before[device]);
    assert_eq!(worked.iter().sum::<u64>(), 20 * MESSAGES as u64);
    assert!(worked.iter().all(|worked| *worked > 4 * MESSAGES as u64), "{worked:?}");
}

#[test]
fn before_both_were_measured_and_where_little_is_to_be_gained_a_batch_goes_to_one() {
    assert!([0, MESSAGES as u64].contains(&Bench::new(CORES_NS_A_BYTE).far_of_one()));
    let bench = Bench::new(20.0 * CORES_NS_A_BYTE);
    for _ in 0..60 {
        // Whole ones to see how fast it is.
        assert!([0, MESSAGES as u64].contains(&bench.far_of_one()));
    }
}

#[test]
fn when_one_of_them_fails_the_other_works_the_batch() {
    let bench = Bench::new(CORES_NS_A_BYTE);
    (0..40).for_each(|_| bench.run());
    bench.is_broken.store(true, Ordering::Relaxed);
    let before = bench.messages();
    (0..10).for_each(|_| bench.run());
    assert_eq!(bench.messages()[1], before[1]);
    bench.is_broken.store(false, Ordering::Relaxed);
}

/// So long the device on the cores takes: 40 ms a batch, beside which it matters little how busy a machine is.
const CORES_NS_A_BYTE: f64 = 40.0;
const MESSAGES: usize = 2_000;
const BYTES: usize = 500;
