//! When threads start and end, and that no job is lost with them.

use super::*;
use crate::testing::{Bell, context, job};
use sealift_core::{Key, KeySource, Status, ThreadUsage, Ticket};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

/// Says that all is done when the gate is open.
#[derive(Debug, Default)]
struct Worker {
    gate: Arc<Mutex<()>>,
}

impl Software for Worker {
    fn run(&self, work: &mut Work<'_>) -> Result<(), DeviceError> {
        drop(self.gate.lock().unwrap());
        (0..work.len()).for_each(|message| work.set_status(message, Status::Ok));
        Ok(())
    }

    fn retire(&self, _: SessionId) {}
}

/// A device whose driver's name, and with it its threads' names, is no other test's.
fn device(driver: &'static str, workers: usize, idle_max: Duration) -> (Pool<Worker>, Arc<Bell>) {
    let (context, bell) = context();
    (pool(Worker::default(), driver, workers, idle_max, &context), bell)
}

fn pool(
    worker: Worker,
    driver: &'static str,
    workers: usize,
    idle_max: Duration,
    context: &Context,
) -> Pool<Worker> {
    let spec = driver.parse().unwrap();
    let capabilities = capabilities(&spec, driver, Role::TestOnly, String::new());
    let crew = Crew { workers, cores: vec![] };
    Pool::new(Shared::new(worker, capabilities, crew, context, idle_max))
}

/// How many of this process's threads a device has.
fn threads_of(driver: &str) -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let name = |task: std::fs::DirEntry| std::fs::read_to_string(task.path().join("comm"));
    // A thread may end between the two calls; then it has no name.
    let names = tasks.filter_map(|task| name(task.unwrap()).ok());
    names.filter(|name| name.starts_with(&format!("sealift-{driver}-"))).count()
}

/// The system lists a thread a moment longer than who joins it waits, and leaves one out while another
/// test's ends.
fn wait_until_it_has(driver: &str, threads: usize) {
    let start = Instant::now();
    while threads_of(driver) != threads {
        assert!(start.elapsed() < MINUTE, "it has {} threads", threads_of(driver));
        thread::sleep(Duration::from_millis(1));
    }
}

fn polled(device: &dyn Device) -> Vec<Completion> {
    let mut done = vec![];
    device.poll(&mut done);
    done
}

#[test]
fn threads_are_there_from_the_first_job_to_the_release_and_again_from_the_next_job() {
    let (device, bell) = device("come", 3, MINUTE);
    let mut first = job(0);
    let keys = Arc::clone(&first.keys);
    let mut work = Work::new(&first.batch, first.output.as_output(), &*keys).unwrap();
    device.run(&mut work).unwrap();
    assert_eq!(threads_of("come"), 0, "it only ran");
    for round in 1..=3 {
        device.submit(job(0)).unwrap();
        bell.wait(round);
        wait_until_it_has("come", 1);
        device.release();
        wait_until_it_has("come", 0);
        assert_eq!(polled(&device).len(), 1, "round {round}");
    }
}

#[test]
fn as_many_threads_start_as_there_are_jobs_at_a_time_and_never_more_than_workers() {
    let (context, bell) = context();
    let worker = Worker::default();
    let gate = Arc::clone(&worker.gate);
    let device = pool(worker, "many", 3, MINUTE, &context);
    let closed = gate.lock().unwrap();
    for threads in [1, 2, 3, 3, 3, 3] {
        device.submit(job(0)).unwrap();
        assert_eq!(device.threads.lock().unwrap().len(), threads);
    }
    drop(closed);
    bell.wait(6);
    device.submit(job(0)).unwrap();
    assert_eq!(device.threads.lock().unwrap().len(), 3, "three are free");
    drop(device);
    wait_until_it_has("many", 0);
}

#[test]
fn dropping_a_device_waits_for_the_job_that_is_worked() {
    let worker = Worker::default();
    let gate = Arc::clone(&worker.gate);
    let device = pool(worker, "wait", 1, MINUTE, &context().0);
    let job = job(0);
    let batch = Arc::clone(&job.batch);
    let closed = gate.lock().unwrap();
    device.submit(job).unwrap();
    while !device.shared.lock().queue.is_empty() {
        thread::yield_now();
    }
    let dropping = thread::spawn(move || {
        drop(device);
        assert_eq!(Arc::strong_count(&batch), 1, "dropping waits");
    });
    thread::sleep(Duration::from_millis(20));
    drop(closed);
    dropping.join().unwrap();
    wait_until_it_has("wait", 0);
}

#[test]
fn a_thread_that_idled_long_enough_ends() {
    let (device, bell) = device("tire", 2, Duration::from_millis(30));
    device.submit(job(0)).unwrap();
    bell.wait(1);
    wait_until_it_has("tire", 0);
    device.submit(job(1)).unwrap();
    bell.wait(2);
    assert_eq!(polled(&device).len(), 2);
}

#[test]
fn a_release_lets_queued_jobs_be_worked_first() {
    let (context, bell) = context();
    let worker = Worker::default();
    let gate = Arc::clone(&worker.gate);
    let device = pool(worker, "last", 1, MINUTE, &context);
    let closed = gate.lock().unwrap();
    (0..8).for_each(|number| device.submit(job(number)).unwrap());
    device.release();
    drop(closed);
    bell.wait(8);
    wait_until_it_has("last", 0);
    assert!(polled(&device).iter().all(|done| done.outcome.is_ok()));
}

#[test]
fn a_thousand_releases_against_submissions_lose_no_job() {
    let (device, bell) = device("race", 2, MINUTE);
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                device.release();
                thread::yield_now();
            }
        });
        let worked = work_rounds(&device, &bell);
        over.store(true, Ordering::Relaxed);
        assert_eq!(worked, (0..2 * ROUNDS).map(Ticket).collect());
    });
}

/// Threads end as soon as they have no job. The second job of a round comes when its thread is about to:
/// a bit later each time, so that it meets the end at every point.
#[test]
fn a_thousand_threads_that_end_just_as_a_job_comes_lose_none() {
    let (device, bell) = device("idle", 1, Duration::ZERO);
    for round in 0..ROUNDS {
        device.submit(job(0)).unwrap();
        let start = Instant::now();
        while polled(&device).is_empty() {
            // Precise, but where the worker has no other processor it needs this one.
            if start.elapsed() > Duration::from_micros(300) {
                thread::yield_now();
            }
        }
        spin(Duration::from_nanos(10 * round));
        device.submit(job(1)).unwrap();
        bell.wait(usize::try_from(2 * round + 2).unwrap());
        assert_eq!(polled(&device).len(), 1, "round {round}");
    }
}

/// Two jobs a round, the second a bit later each time. Returns what was worked.
fn work_rounds(device: &Pool<Worker>, bell: &Bell) -> BTreeSet<Ticket> {
    let mut worked = BTreeSet::new();
    for round in 0..ROUNDS {
        device.submit(job(2 * round)).unwrap();
        spin(Duration::from_nanos(100 * round));
        device.submit(job(2 * round + 1)).unwrap();
        bell.wait(usize::try_from(2 * round + 2).unwrap());
        for done in polled(device) {
            assert!(done.outcome.is_ok() && worked.insert(done.ticket), "{:?}", done.ticket);
        }
    }
    worked
}

fn spin(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}

/// Starts itself again: how large a thread's stack is can be said to a whole process only.
#[test]
fn a_job_fails_where_the_system_gives_no_thread() {
    let setting = ("RUST_MIN_STACK", (1_u64 << 48).to_string());
    if std::env::var(setting.0).as_ref() != Ok(&setting.1) {
        let name = "workers::thread_tests::a_job_fails_where_the_system_gives_no_thread";
        let mut child = std::process::Command::new(std::env::current_exe().unwrap());
        let child = child.args(["--exact", name, "--nocapture"]).env(setting.0, setting.1);
        let ended = child.output().unwrap();
        let printed = String::from_utf8_lossy(&ended.stdout);
        assert!(ended.status.success() && printed.contains("1 passed"), "{ended:?}");
        return;
    }
    let (device, bell) = device("none", 2, MINUTE);
    for round in 1..=3 {
        device.submit(job(7)).unwrap();
        bell.wait(round);
        let done = polled(&device).pop().unwrap();
        let error = done.outcome.unwrap_err().to_string();
        assert!(error.starts_with("none failed: no thread to work on: "), "{error}");
    }
}

/// Keys that panic when they are let go.
struct Thorny;

impl KeySource for Thorny {
    fn key(&self, _: SessionId) -> Option<Arc<Key>> {
        None
    }
}

impl Drop for Thorny {
    fn drop(&mut self) {
        panic!("these keys have thorns");
    }
}

#[test]
fn a_panic_while_keys_are_let_go_fails_the_job_and_the_thread_works_on() {
    let (device, bell) = device("prick", 1, MINUTE);
    device.submit(Box::new(Job { keys: Arc::new(Thorny), ..*job(0) })).unwrap();
    device.submit(job(1)).unwrap();
    bell.wait(2);
    let done = polled(&device);
    let error = done[0].outcome.as_ref().unwrap_err().to_string();
    assert_eq!(error, "prick failed: it panicked: these keys have thorns");
    assert!(done[1].outcome.is_ok());
}

/// A bell that panics when it is rung for the first time.
#[derive(Debug)]
struct Cracked {
    bell: Arc<Bell>,
    rung: AtomicBool,
}

impl Notify for Cracked {
    fn ring(&self) {
        self.bell.ring();
        assert!(self.rung.swap(true, Ordering::Relaxed), "it is cracked");
    }
}

#[test]
fn a_panic_of_the_bell_ends_no_thread() {
    let (context, bell) = context();
    let cracked = Arc::new(Cracked { bell: Arc::clone(&bell), rung: AtomicBool::new(false) });
    let context = Context { notify: cracked, ..context };
    let device = pool(Worker::default(), "crack", 1, MINUTE, &context);
    for round in 1..=2 {
        device.submit(job(0)).unwrap();
        bell.wait(round);
        assert_eq!(polled(&device).len(), 1);
    }
}

const MINUTE: Duration = Duration::from_secs(60);
const ROUNDS: u64 = 1_000;

/// A clock that passes when it is told to.
#[derive(Debug, Default)]
struct Passing {
    now_ns: AtomicU64,
    processor_ns: AtomicU64,
}

impl Clock for Passing {
    fn now_ns(&self) -> u64 {
        self.now_ns.load(Ordering::Relaxed)
    }

    fn thread_usage(&self) -> Option<ThreadUsage> {
        let processor_ns = self.processor_ns.load(Ordering::Relaxed);
        Some(ThreadUsage { processor_ns, blocked: 0, faults: 0 })
    }

    fn park(&self, _: Option<u64>, sleep: &mut dyn FnMut(Option<Duration>) -> bool) -> bool {
        sleep(Some(Duration::ZERO))
    }
}

/// Takes so long a batch, twice what it computes.
#[derive(Debug)]
struct Preempted {
    clock: Arc<Passing>,
    took_ns: Mutex<Vec<u64>>,
}

impl Software for Preempted {
    fn run(&self, work: &mut Work<'_>) -> Result<(), DeviceError> {
        let took_ns = self.took_ns.lock().unwrap().remove(0);
        self.clock.now_ns.fetch_add(took_ns, Ordering::Relaxed);
        self.clock.processor_ns.fetch_add(took_ns / 2, Ordering::Relaxed);
        (0..work.len()).for_each(|message| work.set_status(message, Status::Ok));
        Ok(())
    }

    fn retire(&self, _: SessionId) {}
}

#[test]
fn a_worker_reads_its_processor_time_around_a_long_batch_that_follows_one() {
    let clock = Arc::new(Passing::default());
    let bell = Arc::new(Bell::default());
    let context =
        Context { clock: Arc::clone(&clock) as _, notify: Arc::clone(&bell) as Arc<dyn Notify> };
    let took_ns = Mutex::new(vec![80_000, 80_000, 10_000, 80_000]);
    let spec = "usage".parse().unwrap();
    let capabilities = capabilities(&spec, "usage", Role::TestOnly, String::new());
    let crew = Crew { workers: 1, cores: vec![] };
    let device = open(Preempted { clock, took_ns }, capabilities, crew, &context);
    let mut costs = vec![];
    for number in 0..4u64 {
        device.submit(job(number)).unwrap();
        bell.wait(costs.len() + 1);
        let mut done = vec![];
        device.poll(&mut done);
        costs.push(done.pop().unwrap().outcome.unwrap().1.cost_ns());
    }
    assert_eq!(costs, [80_000, 40_000, 10_000, 80_000]);
}
