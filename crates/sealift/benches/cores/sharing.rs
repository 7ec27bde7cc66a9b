//! Callers that share an engine, and devices that share the cores.

use crate::common::{Clock, Interval, with_callers};
use crate::sealing::{Memory, Sealing, Shape};
use crate::turns::{ratio, take_turns};
use crate::{Found, ON_ONE_THREAD};
use sealift::{Batch, Engine, Options};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

pub(crate) fn measure(clock: &mut Clock, found: &mut Vec<Found>) {
    for keys in KEYS {
        for messages in MESSAGES {
            let shape = Shape { messages, text_bytes: 128, keys };
            found.push(two_callers(shape, clock.next_end()));
        }
    }
    let (cpu, both) = (Engine::with(&["cpu"]).unwrap(), Engine::with(&["cpu", "library"]).unwrap());
    found.push(a_second_device_and_run(&cpu, &both, clock.next_end()));
    found.push(a_second_device_and_submit(&cpu, &both, clock.next_end()));
    found.push(submit_against_run(&cpu, clock.next_end()));
}

/// Two threads that call the same engine against one of them, each call on its own thread.
fn two_callers(shape: Shape, until: Instant) -> Found {
    let engine = Engine::with(&["cpu"]).unwrap();
    let callers = [(); 2].map(|()| Mutex::new(Sealing::new(&engine, shape, Memory::Used)));
    let calling = AtomicUsize::new(1);
    let times = CALLS_MESSAGES.div_ceil(shape.messages);
    let calls = |thread: usize| {
        if thread < calling.load(Ordering::Relaxed) {
            let mut sealing = callers[thread].lock().unwrap();
            (0..times).for_each(|_| sealing.call(&engine, &ON_ONE_THREAD));
        }
    };
    let rounds = with_callers(callers.len(), calls, |together| {
        take_turns(until, 2, |way| {
            calling.store(way + 1, Ordering::Relaxed);
            together();
        })
    });
    let Interval { low, median, high } = ratio(&rounds, 0, 1);
    let value = Interval { low: 2.0 * low, median: 2.0 * median, high: 2.0 * high };
    found("two calling threads", shape, value)
}

fn a_second_device_and_run(cpu: &Engine, both: &Engine, until: Instant) -> Found {
    let mut sealings = [cpu, both].map(|engine| Sealing::new(engine, BATCH, Memory::Used));
    let options = Options::default();
    let rounds = take_turns(until, 2, |way| sealings[way].call([cpu, both][way], &options));
    found("a second device opened and run", BATCH, ratio(&rounds, 0, 1))
}

fn a_second_device_and_submit(cpu: &Engine, both: &Engine, until: Instant) -> Found {
    let sealings = [cpu, both].map(|engine| Sealing::new(engine, BATCH, Memory::Used));
    let batches = sealings.each_ref().map(Sealing::owned);
    let rounds = take_turns(until, 2, |way| submit([cpu, both][way], &batches[way]));
    found("a second device opened and submit", BATCH, ratio(&rounds, 0, 1))
}

/// All workers of a device against one calling thread.
fn submit_against_run(cpu: &Engine, until: Instant) -> Found {
    let mut sealing = Sealing::new(cpu, BATCH, Memory::Used);
    let batch = sealing.owned();
    let rounds = take_turns(until, 2, |way| match way {
        0 => (0..SUBMITTED).for_each(|_| sealing.call(cpu, &ON_ONE_THREAD)),
        _ => submit(cpu, &batch),
    });
    found("submit against run on one thread", BATCH, ratio(&rounds, 0, 1))
}

/// [`SUBMITTED`] batches, [`DEPTH`] of them in flight.
fn submit(engine: &Engine, batch: &Batch<'static>) {
    let (mut sent, mut done) = (0, 0);
    while done < SUBMITTED {
        while sent < SUBMITTED
            && sent - done < DEPTH
            && engine.submit(batch.clone(), &Options::default()).is_ok()
        {
            sent += 1;
        }
        let completed = engine.wait_many((DEPTH / 4).min(sent - done), None).unwrap();
        done += completed.len();
        completed.into_iter().for_each(|completed| _ = completed.outcome.unwrap());
    }
}

fn found(what: &'static str, shape: Shape, value: Interval) -> Found {
    Found { what, shape, memory: Memory::Used, value, unit: "times as fast" }
}

pub(crate) const CELLS: usize = KEYS.len() * MESSAGES.len() + 3;
const KEYS: [usize; 2] = [1, 1_024];
const MESSAGES: [usize; 4] = [1, 16, 256, 8_192];
/// A turn of two threads has so many at least, that waking them is little of it.
const CALLS_MESSAGES: usize = 32_768;
const BATCH: Shape = Shape { messages: 1_024, text_bytes: 128, keys: 1 };
const SUBMITTED: usize = 256;
const DEPTH: usize = 64;
