//! What a process holds while it reads and writes.

use super::gate::{Gate, Turn, asleep, spawned};
use super::kept::{self, Memory};
use crate::ArmError;
use bytes::Bytes;
use sealift::{Batch, Column, Engine, Key, Options, Settings};
use std::error;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Threads or memory that a process holds; dropping it ends the threads and gives the memory back.
pub struct Held {
    gate: Arc<Gate>,
    threads: Vec<JoinHandle<()>>,
    _memory: Option<Memory>,
    _engine: Option<Engine>,
}

impl Held {
    /// Takes something: `nothing`, `one idle thread`, `eight idle threads`, `a poller` (a thread that sleeps
    /// 100 µs again and again), `a spinner`, `reserved memory` (8 GiB that nobody touches), `touched memory`,
    /// `locked memory`, `huge pages` (512 MiB each), `a rank's runtime` (a shared mapping of 8 GiB and
    /// eight threads asleep on a condition variable), `our engine` (Sealift's, whose workers have worked a
    /// batch and sleep), or `our engine, released`.
    ///
    /// It is held as it will be when this returns: its threads sleep.
    ///
    /// # Errors
    /// There is no such thing, or the system refuses it.
    pub fn new(what: &str) -> Result<Self, ArmError> {
        let gate = Arc::new(Gate::default());
        let (threads, memory) = match what {
            "nothing" => (vec![], Ok(None)),
            "one idle thread" => (asleep(1, &gate)?, Ok(None)),
            "eight idle threads" => (asleep(8, &gate)?, Ok(None)),
            "a poller" => {
                (vec![spawned(&gate, |gate| gate.busy(|| thread::sleep(POLL)))?], Ok(None))
            }
            "a spinner" => {
                (vec![spawned(&gate, |gate| gate.busy(std::hint::spin_loop))?], Ok(None))
            }
            "reserved memory" => (vec![], kept::reserved().map(Some)),
            "touched memory" => (vec![], kept::touched().map(Some)),
            "locked memory" => (vec![], kept::locked().map(Some)),
            "huge pages" => (vec![], kept::huge().map(Some)),
            "a rank's runtime" => (asleep(RANK_THREADS, &gate)?, kept::shared().map(Some)),
            OURS | OURS_RELEASED => (vec![], Ok(None)),
            other => {
                let right = HELD.join(", ");
                let value = other.to_owned();
                return Err(ArmError::Spec { what: "something to hold", value, right });
            }
        };
        // The threads end with this, too, when the memory could not be had.
        let mut held = Self { gate, threads, _memory: None, _engine: None };
        held.gate.wait_for(held.threads.len());
        held._engine = engine(what).transpose().map_err(ArmError::file("hold our engine"))?;
        held._memory = memory.map_err(ArmError::file("hold memory"))?;
        Ok(held)
    }

    /// Lets a poller or spinner go on, until [`rest`](Self::rest): nobody else is to be measured meanwhile.
    pub fn wake(&self) {
        self.gate.set(Turn::Awake);
    }

    /// Sends a poller or spinner to sleep.
    pub fn rest(&self) {
        self.gate.set(Turn::Asleep);
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.gate.set(Turn::Over);
        self.threads.drain(..).for_each(|thread| drop(thread.join()));
    }
}

/// Sealift's engine after a batch that its workers worked, as they are or released.
fn engine(what: &str) -> Option<Result<Engine, Box<dyn error::Error>>> {
    let worked = || {
        let engine = Engine::open(&["cpu"], &[], Settings::on_one_thread())?;
        let session = engine.session(Key::new(&[7; 16])?)?;
        let nonces = (0..MESSAGES as u64)
            .flat_map(|number| [number.to_be_bytes().as_slice(), &[0; 4]].concat());
        let nonces = Bytes::from_iter(nonces);
        let texts = Bytes::from(vec![0; MESSAGES * MESSAGE_BYTES]);
        let columns = (Column::fixed(nonces, 12), Column::fixed(texts, MESSAGE_BYTES));
        engine.submit(
            Batch::seal(MESSAGES, session.id(), columns.0, columns.1),
            &Options::default(),
        )?;
        engine.wait(None, None)?;
        Ok(engine)
    };
    match what {
        OURS => Some(worked()),
        OURS_RELEASED => Some(worked().and_then(|engine| {
            engine.release()?;
            Ok(engine)
        })),
        _ => None,
    }
}

const HELD: [&str; 12] = [
    "nothing",
    "one idle thread",
    "eight idle threads",
    "a poller",
    "a spinner",
    "reserved memory",
    "touched memory",
    "locked memory",
    "huge pages",
    "a rank's runtime",
    OURS,
    OURS_RELEASED,
];
const OURS: &str = "our engine";
const OURS_RELEASED: &str = "our engine, released";
const MESSAGES: usize = 1_024;
const MESSAGE_BYTES: usize = 4_096;
/// What the vendor's library starts for a rank: `hw_dpu_rank.c` of its sources, version 2020.2.1.
const RANK_THREADS: usize = 8;
const POLL: Duration = Duration::from_micros(100);

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;

    #[test]
    fn threads_sleep_until_they_are_dropped_and_busy_ones_turn_when_woken() {
        for (what, count) in [("nothing", 0), ("one idle thread", 1), ("a rank's runtime", 8)] {
            let held = Held::new(what).unwrap();
            assert_eq!(*held.gate.there.lock().unwrap(), count, "{what}");
            held.wake();
            held.rest();
        }
        for what in ["a poller", "a spinner"] {
            let held = Held::new(what).unwrap();
            assert_eq!(*held.gate.there.lock().unwrap(), 1, "{what}");
            held.wake();
            assert!(held.gate.awake.load(Ordering::Relaxed));
            held.rest();
            assert!(!held.gate.awake.load(Ordering::Relaxed));
        }
    }

    // Without kernels the condition is skipped with a reason.
    #[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
    #[test]
    fn our_engine_is_held_as_it_is_and_released() {
        for what in [OURS, OURS_RELEASED] {
            assert!(Held::new(what).unwrap()._engine.is_some(), "{what}");
        }
    }

    #[test]
    fn memory_is_had_or_refused_with_what_to_do() {
        for what in ["reserved memory", "locked memory", "huge pages"] {
            if let Err(error) = Held::new(what) {
                let error = error.to_string();
                assert!(error.starts_with("could not hold memory: "), "{error}");
            }
        }
        let error = Held::new("a cat").err().unwrap().to_string();
        assert!(error.contains("something to hold of a cat: right would be nothing, "), "{error}");
    }
}
