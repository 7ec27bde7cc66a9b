//! One batch on several threads: who works it, and what becomes of it when a part fails.

use crate::toy::{MASK, Toy, seal, session};
use sealift_core::{Batch, Column, Output, Place, Status, SystemClock};
use sealift_engine::{Engine, EngineError, Options, Report, Settings};
use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::sync::{Arc, Barrier, Condvar, Mutex};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

/// An engine over devices that work parts of a batch, the first of them before the others.
fn engine(devices: usize, settings: Settings) -> (Engine, Vec<Arc<Toy>>) {
    let toys = std::cell::RefCell::new(vec![]);
    let open = (0..devices).map(|at| {
        let toys = &toys;
        move |context: &sealift_core::Context| {
            let toy = Toy::in_parts(&format!("toy{at}"), context);
            toys.borrow_mut().push(Arc::clone(&toy));
            Ok(toy as _)
        }
    });
    let clock = Arc::new(SystemClock::new());
    let engine = Engine::with_settings::<EngineError>(clock, settings, open).unwrap();
    (engine, toys.into_inner())
}

fn run(
    engine: &Engine,
    batch: &Batch<'_>,
    threads: usize,
) -> (Result<Report, EngineError>, Vec<u8>, Vec<Status>) {
    let (mut texts, mut tags) = (vec![0xaa; 5 * batch.len], vec![0xaa; 16 * batch.len]);
    let mut status = vec![Status::Ok; batch.len];
    let (text, made) = (Place::fixed(&mut texts, 5), Place::fixed(&mut tags, 16));
    let options = Options { threads: NonZeroUsize::new(threads), ..Options::default() };
    let ran = engine.run(batch, Output { text, tags: made, status: &mut status }, &options);
    texts.extend(tags);
    (ran, texts, status)
}

/// The threads that work a batch of 64 messages; each waits until there are `wanted`, or for 10 seconds.
fn threads_of(wanted: usize, threads: usize, settings: Settings) -> HashSet<ThreadId> {
    let (engine, toys) = engine(1, settings);
    let session = session(&engine);
    let seen = Arc::new((Mutex::new(HashSet::new()), Condvar::new()));
    let own = Arc::clone(&seen);
    toys[0].hook(move || {
        let mut threads = own.0.lock().unwrap();
        threads.insert(thread::current().id());
        own.1.notify_all();
        let few = |threads: &mut HashSet<ThreadId>| threads.len() < wanted;
        drop(own.1.wait_timeout_while(threads, Duration::from_secs(10), few).unwrap());
    });
    let (ran, ..) = run(&engine, &seal(&session, &[HELLO; 64]), threads);
    ran.unwrap();
    let seen = seen.0.lock().unwrap();
    seen.clone()
}

#[test]
fn the_calling_thread_and_others_share_a_batch() {
    if thread::available_parallelism().unwrap().get() == 1 {
        return;
    }
    let threads = threads_of(2, 2, Settings::default());
    assert_eq!(threads.len(), 2);
    assert!(threads.contains(&thread::current().id()));
}

#[test]
fn a_call_that_may_use_one_thread_stays_on_its_own() {
    let own = HashSet::from([thread::current().id()]);
    assert_eq!(threads_of(1, 1, Settings::default()), own);
    let settings = Settings::on_one_thread();
    let (engine, toys) = engine(1, settings);
    let (session, caller) = (session(&engine), thread::current().id());
    toys[0].hook(move || assert_eq!(thread::current().id(), caller));
    let (mut texts, mut tags, mut status) = ([0; 320], [0; 1_024], [Status::Ok; 64]);
    let (text, made) = (Place::fixed(&mut texts, 5), Place::fixed(&mut tags, 16));
    let output = Output { text, tags: made, status: &mut status };
    engine.run(&seal(&session, &[HELLO; 64]), output, &Options::default()).unwrap();
}

#[test]
fn a_part_that_fails_or_panics_fails_the_batch_and_nothing_is_left_of_it() {
    let lasts: [(&[u8], _); 2] = [(b"break", "told to break"), (b"panic", "panicked")];
    for (last, reason) in lasts {
        let (engine, _toys) = engine(1, Settings::default());
        let session = session(&engine);
        let mut texts = [HELLO; 64];
        texts[63] = last;
        let batch = seal(&session, &texts);
        let (ran, bytes, status) = run(&engine, &batch, 4);
        let error = ran.unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
        assert!(bytes.iter().all(|byte| *byte == 0));
        assert_eq!(status, [Status::NotProcessed; 64]);
    }
}

#[test]
fn a_batch_of_which_a_part_failed_is_done_elsewhere() {
    let (engine, toys) = engine(2, Settings::with_policy("failover").unwrap());
    let session = session(&engine);
    let count = Arc::new(Mutex::new(0));
    let own = Arc::clone(&count);
    toys[0].hook(move || {
        let mut count = own.lock().unwrap();
        *count += 1;
        let is_third = *count == 3;
        drop(count);
        assert!(!is_third, "on purpose");
    });
    let (ran, bytes, status) = run(&engine, &seal(&session, &[HELLO; 64]), 3);
    let report = ran.unwrap();
    assert_eq!((report.device.index(), report.moved), (1, 1));
    assert!(bytes[..320].chunks(5).all(|text| text.iter().zip(HELLO).all(|(a, b)| a ^ b == MASK)));
    assert_eq!(status, [Status::Ok; 64]);
}

#[test]
fn an_environment_that_asks_for_no_number_of_threads_is_an_error_that_says_what_is_right() {
    let program = std::env::current_exe().unwrap();
    let output = std::process::Command::new(program)
        .args(["--exact", "cores::opens_an_engine", "--ignored"])
        .env("SEALIFT_THREADS", "many")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(!output.status.success());
    assert!(
        said.contains("SEALIFT_THREADS=\"many\" is no number of threads: give 1 or more"),
        "{said}"
    );
}

#[test]
#[ignore = "called by the test above"]
fn opens_an_engine() {
    if let Err(error) = Engine::over::<EngineError>(
        Arc::new(SystemClock::new()),
        [|context: &sealift_core::Context| Ok(Toy::in_parts("toy", context) as _)],
    ) {
        panic!("{error}");
    }
}

const HELLO: &[u8] = b"hello";

#[test]
fn a_batch_stays_on_its_thread_where_all_cores_have_callers_of_their_own() {
    let cores = thread::available_parallelism().unwrap().get();
    let (engine, toys) = engine(1, Settings::default());
    let (session, caller) = (session(&engine), thread::current().id());
    let (entered, left) = (Barrier::new(cores), Barrier::new(cores));
    let gates = Arc::new((entered, left));
    let (own, seen) = (Arc::clone(&gates), Arc::new(Mutex::new(HashSet::new())));
    let (name, noted) = ("holds a core", Arc::clone(&seen));
    toys[0].hook(move || {
        if thread::current().name() == Some(name) {
            own.0.wait();
            own.1.wait();
        } else {
            noted.lock().unwrap().insert(thread::current().id());
            thread::sleep(Duration::from_millis(2));
        }
    });
    thread::scope(|scope| {
        for _ in 1..cores {
            let hold = || run(&engine, &seal(&session, &[HELLO; 64]), 1).0.unwrap();
            thread::Builder::new().name(name.to_owned()).spawn_scoped(scope, hold).unwrap();
        }
        gates.0.wait();
        run(&engine, &seal(&session, &[HELLO; 64]), 2).0.unwrap();
        gates.1.wait();
    });
    assert_eq!(*seen.lock().unwrap(), HashSet::from([caller]));
}

#[test]
fn callers_that_wait_long_for_helpers_do_without_them_for_a_while() {
    if thread::available_parallelism().unwrap().get() == 1 {
        return;
    }
    let (engine, toys) = engine(1, Settings::default());
    let (session, caller) = (session(&engine), thread::current().id());
    let seen = Arc::new((Mutex::new(Seen::default()), Condvar::new()));
    let own = Arc::clone(&seen);
    toys[0].hook(move || {
        let mut now = own.0.lock().unwrap();
        now.pieces += 1;
        let begin = *now.begin.get_or_insert_with(Instant::now);
        own.1.notify_all();
        if thread::current().id() == caller {
            drop(now);
            spin(Duration::from_micros(300));
            own.0.lock().unwrap().own_end = Some(Instant::now());
        } else {
            // It goes on alone for as long as the caller has worked, and longer.
            let few = |now: &mut Seen| now.pieces < PIECES;
            drop(own.1.wait_timeout_while(now, Duration::from_secs(10), few).unwrap());
            thread::sleep(begin.elapsed() + Duration::from_millis(5));
            own.0.lock().unwrap().help_end = Some(Instant::now());
        }
    });
    let run_once = || {
        run(&engine, &seal(&session, &[HELLO; 16]), 2).0.unwrap();
        std::mem::take(&mut *seen.0.lock().unwrap())
    };
    // After two such waits, and after each that follows a pause. On a busy machine few helpers come in time.
    let does_without = |_: &i32| run_once().is_long_wait() && run_once().pieces == 1;
    assert!((0..20_000).filter(does_without).nth(2).is_some());
    // Longer than any pause.
    thread::sleep(Duration::from_millis(700));
    assert_eq!(run_once().pieces, PIECES, "it is tried again");
}

/// What the pieces of a run saw.
#[derive(Default)]
struct Seen {
    pieces: usize,
    begin: Option<Instant>,
    own_end: Option<Instant>,
    help_end: Option<Instant>,
}

impl Seen {
    /// Whether the caller waited long for a helper, beside what it worked.
    fn is_long_wait(&self) -> bool {
        let [Some(begin), Some(own_end), Some(help_end)] =
            [self.begin, self.own_end, self.help_end]
        else {
            return false;
        };
        let waited = help_end.saturating_duration_since(own_end);
        waited > Duration::from_millis(1).max((own_end - begin) / 2)
    }
}

fn spin(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}

/// Of 16 messages for two threads.
const PIECES: usize = 8;

#[test]
fn no_piece_is_begun_once_a_batch_is_stopped() {
    // The helper may be with another test.
    let was_helped = (0..50).any(|_| begun_until_stopped(2) > 1);
    assert!(was_helped || thread::available_parallelism().unwrap().get() == 1);
    assert_eq!(begun_until_stopped(1), 1);
}

/// Pieces that were begun of a batch that is stopped after the caller's first.
fn begun_until_stopped(threads: usize) -> usize {
    let (engine, toys) = engine(1, Settings::default());
    let (session, caller) = (session(&engine), thread::current().id());
    let begun = Arc::new((Mutex::new(0), Condvar::new()));
    let own = Arc::clone(&begun);
    toys[0].hook(move || {
        let mut count = own.0.lock().unwrap();
        *count += 1;
        own.1.notify_all();
        if thread::current().id() == caller {
            // Until a helper is in the middle of a piece; it may not come.
            let is_alone = |count: &mut usize| *count < threads;
            drop(own.1.wait_timeout_while(count, Duration::from_secs(1), is_alone).unwrap());
        } else {
            drop(count);
            // So long the caller has to say that the batch is stopped.
            thread::sleep(Duration::from_millis(50));
        }
    });
    let len = 64;
    // So much is cut on one thread, too.
    let aad = Column::Same(vec![0; 128 << 10].into());
    let batch = Batch { aad, ..seal(&session, &vec![HELLO; len]) };
    let (mut texts, mut tags) = (vec![0xaa; 5 * len], vec![0xaa; 16 * len]);
    let mut status = vec![Status::Ok; len];
    let (text, made) = (Place::fixed(&mut texts, 5), Place::fixed(&mut tags, 16));
    let output = Output { text, tags: made, status: &mut status };
    let options = Options { threads: NonZeroUsize::new(threads), ..Options::default() };
    let stopped = engine.run_until(&batch, output, &options, &mut || true);
    assert_eq!(stopped, Err(EngineError::Stopped));
    let done = |status: &&Status| **status == Status::Ok;
    assert!((1..len).contains(&status.iter().filter(done).count()));
    let begun = *begun.0.lock().unwrap();
    // The caller's, and what a helper had begun meanwhile.
    assert!(begun <= 4, "{begun} of 16");
    begun
}
