//! What a process holds while it reads and writes.
#![allow(unsafe_code)]

use crate::ArmError;
use bytes::Bytes;
use memmap2::{Advice, MmapMut, MmapOptions};
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use sealift::{Batch, Column, Engine, Key, Options};
use std::error;
use std::ffi::c_void;
use std::io::{Error, Result};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Threads or memory that a process holds; dropping it ends the threads and gives the memory back.
pub struct Held {
    gate: Arc<Gate>,
    threads: Vec<JoinHandle<()>>,
    _memory: Option<Memory>,
    _engine: Option<Engine>,
}

enum Memory {
    Own { _map: MmapMut },
    Shared { _map: SharedMap },
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
    pub fn new(what: &str) -> std::result::Result<Self, ArmError> {
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
            "reserved memory" => (vec![], reserved().map(Some)),
            "touched memory" => (vec![], touched().map(Some)),
            "locked memory" => (vec![], locked().map(Some)),
            "huge pages" => (vec![], huge().map(Some)),
            "a rank's runtime" => {
                let memory = SharedMap::new(RANK_BYTES).map(|map| Memory::Shared { _map: map });
                (asleep(RANK_THREADS, &gate)?, memory.map(Some))
            }
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
        held._engine =
            engine(what).transpose().map_err(|error| failed("hold our engine", &*error))?;
        held._memory = memory.map_err(|error| failed("hold memory", &error))?;
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

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Turn {
    #[default]
    Asleep,
    Awake,
    Over,
}

/// Where threads sleep until it is their turn.
#[derive(Default)]
struct Gate {
    turn: Mutex<Turn>,
    changed: Condvar,
    awake: AtomicBool,
    /// Threads that wait or work here.
    there: Mutex<usize>,
    came: Condvar,
}

impl Gate {
    fn set(&self, turn: Turn) {
        *self.lock() = turn;
        self.awake.store(turn == Turn::Awake, Ordering::Relaxed);
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Turn> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enter(&self) {
        *self.there.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.came.notify_all();
    }

    /// Sleeps until so many threads are there.
    fn wait_for(&self, threads: usize) {
        let there = self.there.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.came.wait_while(there, |there| *there < threads));
    }

    /// Sleeps until there is one of these turns, and says which.
    fn wait(&self, turns: &[Turn]) -> Turn {
        let until = |turn: &mut Turn| !turns.contains(turn);
        *self.changed.wait_while(self.lock(), until).unwrap_or_else(PoisonError::into_inner)
    }

    fn idle(&self) {
        self.wait(&[Turn::Over]);
    }

    fn busy(&self, step: fn()) {
        while self.wait(&[Turn::Awake, Turn::Over]) == Turn::Awake {
            while self.awake.load(Ordering::Relaxed) {
                step();
            }
        }
    }
}

fn asleep(threads: usize, gate: &Arc<Gate>) -> std::result::Result<Vec<JoinHandle<()>>, ArmError> {
    (0..threads).map(|_| spawned(gate, Gate::idle)).collect()
}

fn spawned(
    gate: &Arc<Gate>,
    body: impl FnOnce(&Gate) + Send + 'static,
) -> std::result::Result<JoinHandle<()>, ArmError> {
    let gate = Arc::clone(gate);
    let named = thread::Builder::new().name("sealift-held".to_owned());
    let body = move || {
        gate.enter();
        body(&gate);
    };
    named.spawn(body).map_err(|error| failed("start a thread to hold", &error))
}

/// Sealift's engine after a batch that its workers worked, as they are or released.
fn engine(what: &str) -> Option<std::result::Result<Engine, Box<dyn error::Error>>> {
    let worked = || {
        let engine = Engine::with(&["cpu"])?;
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

fn failed(doing: &'static str, error: &dyn error::Error) -> ArmError {
    ArmError::File { doing, reason: error.to_string() }
}

fn reserved() -> Result<Memory> {
    let map = MmapOptions::new().len(RANK_BYTES).no_reserve_swap().map_anon()?;
    Ok(Memory::Own { _map: map })
}

fn touched() -> Result<Memory> {
    let mut map = MmapOptions::new().len(FILLED_BYTES).map_anon()?;
    // A kernel without huge pages refuses, and has small ones then anyway.
    drop(map.advise(Advice::NoHugePage));
    touch(&mut map);
    Ok(Memory::Own { _map: map })
}

fn locked() -> Result<Memory> {
    let mut map = MmapOptions::new().len(FILLED_BYTES).map_anon()?;
    map.lock().map_err(|error| {
        Error::other(format!(
            "{FILLED_BYTES} bytes can't be locked ({error}): `ulimit -l` is the limit, in KiB, and an \
             administrator may raise it"
        ))
    })?;
    touch(&mut map);
    Ok(Memory::Own { _map: map })
}

fn huge() -> Result<Memory> {
    let mut map = MmapOptions::new().len(FILLED_BYTES).map_anon()?;
    map.advise(Advice::HugePage)?;
    touch(&mut map);
    let huge_bytes = huge_bytes().unwrap_or(0);
    if huge_bytes < FILLED_BYTES / 2 {
        return Err(Error::other(format!(
            "of {FILLED_BYTES} bytes the kernel gave {huge_bytes} as huge pages; \
             /sys/kernel/mm/transparent_hugepage/enabled is to say madvise or always, and memory to be free"
        )));
    }
    Ok(Memory::Own { _map: map })
}

/// Bytes of this process that lie in huge pages.
fn huge_bytes() -> Option<usize> {
    let told = std::fs::read_to_string("/proc/self/smaps_rollup").ok()?;
    let line = told.lines().find_map(|line| line.strip_prefix("AnonHugePages:"))?;
    line.split_whitespace().next()?.parse::<usize>().ok().map(|kib| kib << 10)
}

fn touch(map: &mut MmapMut) {
    map.iter_mut().step_by(PAGE_BYTES).for_each(|byte| *byte = 1);
}

/// A mapping that other processes could share, of which nothing was touched.
struct SharedMap {
    start: *mut c_void,
    len: usize,
}

// SAFETY: nobody reads or writes it, and it has one owner.
unsafe impl Send for SharedMap {}

impl SharedMap {
    fn new(len: usize) -> Result<Self> {
        let flags = MapFlags::SHARED | MapFlags::NORESERVE;
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: the system chooses where, so that nothing else is replaced.
        let start = unsafe { mmap_anonymous(std::ptr::null_mut(), len, access, flags)? };
        Ok(Self { start, len })
    }
}

impl Drop for SharedMap {
    fn drop(&mut self) {
        // SAFETY: it was mapped with this length, and nobody has a pointer into it.
        let _ = unsafe { munmap(self.start, self.len) };
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
/// What the vendor's library maps and starts for a rank: `hw_dpu_rank.c` and `xeon_sp_init_region` of its
/// sources, version 2020.2.1.
const RANK_BYTES: usize = 8 << 30;
const RANK_THREADS: usize = 8;
const FILLED_BYTES: usize = 512 << 20;
const PAGE_BYTES: usize = 4_096;
const POLL: Duration = Duration::from_micros(100);

#[cfg(test)]
mod tests {
    use super::*;

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
