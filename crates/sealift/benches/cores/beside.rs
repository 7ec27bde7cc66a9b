//! A paced device beside the cores: it works for nobody and takes as long as one core would.

use crate::common::Clock;
use crate::sealing::{Memory, Sealing, Shape};
use crate::turns::{ratio, take_turns};
use crate::{Found, ON_ONE_THREAD};
use sealift::software::{self, Crew, Software};
use sealift::{
    Capabilities, Context, Device, DeviceError, Driver, Engine, OpenError, Options, Probe,
    Resource, Role, SessionId, Spec, Work,
};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

pub(crate) fn measure(clock: &mut Clock, found: &mut Vec<Found>) {
    let until = clock.next_end();
    let alone = Engine::with(&["cpu"]).unwrap();
    let mut sealing = Sealing::new(&alone, BATCH, Memory::Used);
    let ns_a_byte = (0..20)
        .map(|_| {
            let begun = Instant::now();
            sealing.call(&alone, &ON_ONE_THREAD);
            begun.elapsed().as_nanos() as f64 / BATCH.bytes() as f64
        })
        .fold(f64::INFINITY, f64::min);
    let paced = Paced { ns_a_byte };
    let both = Engine::with_drivers(&["cpu", "paced"], &[&paced]).unwrap();
    let mut sealings = [&alone, &both].map(|engine| Sealing::new(engine, BATCH, Memory::Used));
    let options = Options::default();
    // Until it was tried often enough to be known: trials may cost a hundredth of the time.
    let paced = both.device("paced").unwrap();
    let tried = || both.counters(paced).unwrap().batches;
    let warm = (0..WARM_CALLS_MAX).take_while(|_| tried() < TRIALS);
    warm.for_each(|_| sealings[1].call(&both, &options));
    let rounds = take_turns(until, 2, |way| sealings[way].call([&alone, &both][way], &options));
    let (value, memory, unit) = (ratio(&rounds, 0, 1), Memory::Used, "times as fast");
    found.push(Found {
        what: "a paced device beside all cores",
        shape: BATCH,
        memory,
        value,
        unit,
    });
}

#[derive(Debug)]
struct Paced {
    ns_a_byte: f64,
}

impl Driver for Paced {
    fn name(&self) -> &'static str {
        "paced"
    }

    fn summary(&self) -> &'static str {
        "sleeps"
    }

    fn probe(&self) -> Probe {
        Probe::Present { role: Role::Real, detail: "sleeps".to_owned() }
    }

    fn open(&self, spec: &Spec, context: &Context) -> Result<Arc<dyn Device>, OpenError> {
        let inner = sealift::open(&"null".parse().unwrap(), context)?;
        let found = software::capabilities(spec, "paced", Role::Real, "sleeps".to_owned());
        let capabilities = Capabilities { works_on: Resource::Own, ..found };
        let sleeper = Sleeper { inner, ns_a_byte: self.ns_a_byte };
        Ok(software::open(sleeper, capabilities, Crew::of(spec)?, context))
    }
}

#[derive(Debug)]
struct Sleeper {
    inner: Arc<dyn Device>,
    ns_a_byte: f64,
}

impl Software for Sleeper {
    fn run(&self, work: &mut Work<'_>) -> Result<(), DeviceError> {
        let seconds = work.shape().text_bytes as f64 * self.ns_a_byte / 1e9;
        let end = Instant::now() + Duration::from_secs_f64(seconds);
        self.inner.run(work)?;
        thread::sleep(end.saturating_duration_since(Instant::now()));
        Ok(())
    }

    fn retire(&self, session: SessionId) {
        self.inner.retire(session);
    }
}

pub(crate) const CELLS: usize = 1;
const TRIALS: u64 = 10;
const WARM_CALLS_MAX: usize = 1_000;
const BATCH: Shape = Shape { messages: 1 << 20, text_bytes: 128, keys: 1 };
