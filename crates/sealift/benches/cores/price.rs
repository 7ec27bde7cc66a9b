//! What a call of the engine takes over the device itself.

use crate::common::{Clock, Interval};
use crate::sealing::{Memory, Sealing, Shape};
use crate::turns::take_turns;
use crate::{Found, ON_ONE_THREAD};
use sealift::{
    Context, Device, Engine, Key, KeySource, Notify, OwnedOutput, SessionId, SystemClock, Work,
};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

pub(crate) fn measure(clock: &mut Clock, found: &mut Vec<Found>) {
    for (messages, text_bytes, keys) in [(1, 128, 1), (1_024, 16, 1_024), (1_024, 128, 1_024)] {
        let shape = Shape { messages, text_bytes, keys };
        let value = over_the_device(shape, clock.next_end());
        let unit = "ns a message";
        found.push(Found { what: "over the device", shape, memory: Memory::Used, value, unit });
    }
}

fn over_the_device(shape: Shape, until: Instant) -> Interval {
    let engine = Engine::with(&["cpu"]).unwrap();
    let context = Context { clock: Arc::new(SystemClock::new()), notify: Arc::new(Silent) };
    let device: Arc<dyn Device> = sealift::open(&"cpu".parse().unwrap(), &context).unwrap();
    let sealing = Sealing::new(&engine, shape, Memory::Used);
    let keys = Known(sealing.keys().map(|(id, key)| (id, Arc::new(key))).collect());
    let batch = sealing.owned();
    let mut results = [(); 2].map(|()| OwnedOutput::for_batch(&batch).unwrap());
    let [by_engine, by_device] = &mut results;
    let mut work = Work::new(&batch, by_device.as_output(), &keys).unwrap();
    let rounds = take_turns(until, 2, |way| match way {
        0 => _ = engine.run(&batch, by_engine.as_output(), &ON_ONE_THREAD).unwrap(),
        _ => _ = device.run(&mut work).unwrap(),
    });
    let messages = shape.messages as f64;
    Interval::of(rounds.iter().map(|round| (round[0] - round[1]) * 1e9 / messages))
}

struct Known(HashMap<SessionId, Arc<Key>>);

impl KeySource for Known {
    fn key(&self, session: SessionId) -> Option<Arc<Key>> {
        self.0.get(&session).cloned()
    }
}

#[derive(Debug)]
struct Silent;

impl Notify for Silent {
    fn ring(&self) {}
}

pub(crate) const CELLS: usize = 3;
