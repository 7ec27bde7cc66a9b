//! What the engine costs, and whether two devices do the work of two.
//!
//! `cargo bench -p sealift --bench scheduler [-- FILE.csv]`, on a machine where nothing else runs.
//! Everything that is compared is interleaved in one run; figures are medians with the middle half beside
//! them.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark")]
#![allow(clippy::cast_precision_loss, reason = "counts and nanoseconds are far under 2^52")]

use sealift::software::{self, Crew, Software};
use sealift::{
    Batch, Column, Context, Device, DeviceError, Driver, Engine, Key, NONCE_BYTES, OpenError,
    Options, Output, Place, Probe, Role, Session, SessionId, Settings, Spec, Status,
};
use std::sync::Arc;
use std::time::{Duration, Instant};

fn main() {
    let arguments: Vec<_> = std::env::args().skip(1).filter(|one| one != "--bench").collect();
    if arguments.iter().any(|one| one == "--test") {
        return;
    }
    let mut found = vec![];
    price_of_the_framework(&mut found);
    two_devices_against_each_alone(&mut found);
    a_device_that_is_four_times_slower(&mut found);
    a_batch_that_two_devices_share(&mut found);
    if let Some(file) = arguments.first() {
        let lines: String = found.iter().map(Found::line).collect();
        std::fs::write(file, format!("{HEADER}\n{lines}")).unwrap();
        println!("written to {file}");
    }
}

/// A figure, and what it is of.
struct Found {
    what: &'static str,
    messages: usize,
    text_bytes: usize,
    queued: usize,
    /// Lower quartile, median and upper quartile.
    values: (f64, f64, f64),
}

impl Found {
    fn line(&self) -> String {
        let Self { what, messages, text_bytes, queued, values: (low, middle, high) } = self;
        format!("{what},{messages},{text_bytes},{queued},{middle:.4},{low:.4},{high:.4}\n")
    }

    fn shown(self, unit: &str, found: &mut Vec<Self>) {
        let Self { what, messages, text_bytes, queued, values: (low, middle, high) } = self;
        println!(
            "{what}: {messages} x {text_bytes} B, {queued} queued: {middle:.3} {unit} [{low:.3}..{high:.3}]"
        );
        found.push(self);
    }
}

/// Nanoseconds that a batch spends in the engine: `null` does nothing and says that it is done.
fn price_of_the_framework(found: &mut Vec<Found>) {
    let engine = Engine::with(&["null"]).unwrap();
    let on = engine.device("null").ok();
    let options = Options { on, ..Options::default() };
    let session = engine.session(Key::new(&[7; 16]).unwrap()).unwrap();
    for messages in [1, 16, 256, 4_096] {
        let (nonces, texts) = (vec![0; messages * NONCE_BYTES], vec![0; messages * 128]);
        let nonce = Column::fixed(&nonces, NONCE_BYTES);
        let batch = Batch::open(
            messages,
            session.id(),
            nonce,
            Column::fixed(&texts, 128),
            Column::fixed(&texts, 16),
        );
        let mut out = vec![0; messages * 128];
        let mut status = vec![Status::NotProcessed; messages];
        let mut once = || {
            let text = Place::fixed(&mut out, 128);
            let output = Output { text, tags: Place::Empty, status: &mut status };
            engine.run(&batch, output, &options).unwrap();
        };
        let times = 2_000;
        (0..times).for_each(|_| once());
        let mut each_ns: Vec<f64> = (0..101)
            .map(|_| {
                let start = Instant::now();
                (0..times).for_each(|_| once());
                start.elapsed().as_nanos() as f64 / f64::from(times)
            })
            .collect();
        let values = quartiles(&mut each_ns);
        let (what, text_bytes) = ("framework price", 128);
        Found { what, messages, text_bytes, queued: 0, values }.shown("ns a batch", found);
    }
}

/// The same batches on two devices of one core each, and on each of them alone.
fn two_devices_against_each_alone(found: &mut Vec<Found>) {
    for (text_bytes, messages, queued) in [(16_384, 64, 16), (128, 1_024, 64)] {
        let work = Work { text_bytes, messages, queued };
        let alone = CORES.map(|core| engine(&[core]));
        work.beside("two devices of one core", &alone, &engine(&CORES), 20).shown(OF_BOTH, found);
    }
}

/// Long batches, each cut in two.
fn a_batch_that_two_devices_share(found: &mut Vec<Found>) {
    let work = Work { text_bytes: 128, messages: 65_536, queued: 2 };
    let alone = CORES.map(|core| engine(&[core]));
    let both = Engine::open(&CORES, &[], Settings::with_policy("split").unwrap()).unwrap();
    work.beside("two devices that share each batch", &alone, &both, 20).shown(OF_BOTH, found);
}

/// A device that spins three times as long as each batch took, beside one that doesn't.
fn a_device_that_is_four_times_slower(found: &mut Vec<Found>) {
    let work = Work { text_bytes: 16_384, messages: 64, queued: 16 };
    let open = |devices: &[&str]| Engine::with_drivers(devices, &[&Slow]).unwrap();
    let alone = [open(&[CORES[0]]), open(&[SLOW])];
    let both = open(&[CORES[0], SLOW]);
    work.beside("one four times slower", &alone, &both, 12).shown(OF_BOTH, found);
}

/// Batches that are submitted again and again.
struct Work {
    text_bytes: usize,
    messages: usize,
    queued: usize,
}

impl Work {
    /// The share that an engine of two devices reaches of what two engines of one reach together.
    fn beside(
        &self,
        what: &'static str,
        alone: &[Engine; 2],
        both: &Engine,
        rounds: usize,
    ) -> Found {
        let mut shares = vec![];
        for round in 0..WARM_UP_ROUNDS + rounds {
            let alone_per_s: f64 = alone.iter().map(|engine| self.per_s(engine, ROUND)).sum();
            let both_per_s = self.per_s(both, ROUND);
            if round >= WARM_UP_ROUNDS {
                shares.push(both_per_s / alone_per_s);
            }
        }
        let Work { text_bytes, messages, queued } = *self;
        let values = quartiles(&mut shares);
        Found { what, messages, text_bytes, queued, values }
    }

    /// Batches a second, with so many in flight all the time.
    fn per_s(&self, engine: &Engine, during: Duration) -> f64 {
        let session = engine.session(Key::new(&[7; 16]).unwrap()).unwrap();
        let batch = self.batch(&session);
        let options = Options::default();
        let (start, mut done) = (Instant::now(), 0u32);
        while start.elapsed() < during {
            while engine.in_flight().unwrap() < self.queued
                && engine.submit(batch.clone(), &options).is_ok()
            {}
            for completed in engine.wait_many((self.queued / 4).max(1), None).unwrap() {
                completed.outcome.unwrap();
                done += 1;
            }
        }
        let elapsed = start.elapsed().as_secs_f64();
        while engine.wait(None, None).unwrap().is_some() {}
        f64::from(done) / elapsed
    }

    fn batch(&self, session: &Session) -> Batch<'static> {
        let nonces: Vec<u8> = (0..self.messages as u64)
            .flat_map(|n| [&[0; 4][..], &n.to_be_bytes()].concat())
            .collect();
        let texts = vec![7; self.messages * self.text_bytes];
        let (nonces, texts) =
            (Column::fixed(nonces, NONCE_BYTES), Column::fixed(texts, self.text_bytes));
        Batch::seal(self.messages, session.id(), nonces, texts)
    }
}

fn engine(devices: &[&str]) -> Engine {
    Engine::with(devices).unwrap()
}

fn quartiles(values: &mut [f64]) -> (f64, f64, f64) {
    values.sort_unstable_by(f64::total_cmp);
    let at = |share: usize| values[(values.len() - 1) * share / 4];
    (at(1), at(2), at(3))
}

/// The driver `slow`: the processor, four times slower.
#[derive(Debug)]
struct Slow;

impl Driver for Slow {
    fn name(&self) -> &'static str {
        "slow"
    }

    fn summary(&self) -> &'static str {
        "the processor, four times slower"
    }

    fn probe(&self) -> Probe {
        Probe::Present { role: Role::Real, detail: self.summary().to_owned() }
    }

    fn open(&self, spec: &Spec, context: &Context) -> Result<Arc<dyn Device>, OpenError> {
        let inner = sealift::open(&"cpu".parse().unwrap(), context)?;
        let detail = self.summary().to_owned();
        let capabilities = software::capabilities(spec, self.name(), Role::Real, detail);
        Ok(software::open(Slowed(inner), capabilities, Crew::of(spec)?, context))
    }
}

#[derive(Debug)]
struct Slowed(Arc<dyn Device>);

impl Software for Slowed {
    fn run(&self, work: &mut sealift::Work<'_>) -> Result<(), DeviceError> {
        let start = Instant::now();
        self.0.run(work)?;
        let until = start.elapsed() * 4;
        while start.elapsed() < until {
            std::hint::spin_loop();
        }
        Ok(())
    }

    fn retire(&self, session: SessionId) {
        self.0.retire(session);
    }
}

const HEADER: &str = "what,messages,message_bytes,queued,median,low,high";
const SLOW: &str = "slow:cores=1,workers=1";
const CORES: [&str; 2] = ["cpu:cores=0,workers=1", "cpu:cores=1,workers=1"];
const OF_BOTH: &str = "of both alone";
/// They wake workers and teach the scheduler what batches cost.
const WARM_UP_ROUNDS: usize = 4;
const ROUND: Duration = Duration::from_millis(300);
