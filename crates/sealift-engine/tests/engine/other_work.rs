//! Other work on the caller's core: no device is judged by what the system did to the thread.
#![allow(clippy::cast_precision_loss, reason = "nanoseconds are far under 2^52")]

use crate::toy::{engine_on, seal, session};
use sealift_core::{Clock, OwnedOutput, ThreadUsage};
use sealift_engine::{DeviceId, Engine, Options, Session, Settings};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

/// The core of the thread that calls: each batch passes its time, and other work may have the core for as
/// long as it had it before.
#[derive(Debug, Default)]
struct Core {
    now_ns: AtomicU64,
    processor_ns: AtomicU64,
    blocked: AtomicU64,
    faults: AtomicU64,
    is_shared: AtomicBool,
    /// Whether batches touch fresh memory.
    is_fresh: AtomicBool,
    /// Of the time slice that the thread has.
    left_ns: AtomicU64,
    /// How often anybody asked what threads use.
    asked: AtomicU64,
    /// Whether nobody counts what threads use.
    is_blind: AtomicBool,
}

impl Core {
    fn compute(&self, ns: u64) {
        if self.is_fresh.load(Relaxed) {
            self.faults.fetch_add(ns / 1_000, Relaxed);
        }
        let mut to_go_ns = ns;
        while to_go_ns > 0 {
            let step_ns = to_go_ns.min(STEP_NS);
            to_go_ns -= step_ns;
            self.now_ns.fetch_add(step_ns, Relaxed);
            self.processor_ns.fetch_add(step_ns, Relaxed);
            let left_ns = self.left_ns.load(Relaxed).saturating_sub(step_ns);
            self.left_ns.store(left_ns, Relaxed);
            if left_ns == 0 {
                self.left_ns.store(SLICE_NS, Relaxed);
                let others_ns = if self.is_shared.load(Relaxed) { SLICE_NS } else { 0 };
                self.now_ns.fetch_add(others_ns, Relaxed);
            }
        }
    }

    fn sleep(&self, ns: u64) {
        self.blocked.fetch_add(1, Relaxed);
        self.now_ns.fetch_add(ns, Relaxed);
    }
}

impl Clock for Core {
    fn now_ns(&self) -> u64 {
        self.now_ns.load(Relaxed)
    }

    fn thread_usage(&self) -> Option<ThreadUsage> {
        self.asked.fetch_add(1, Relaxed);
        let usage = ThreadUsage {
            faults: self.faults.load(Relaxed),
            processor_ns: self.processor_ns.load(Relaxed),
            blocked: self.blocked.load(Relaxed),
        };
        (!self.is_blind.load(Relaxed)).then_some(usage)
    }

    fn park(&self, _: Option<u64>, sleep: &mut dyn FnMut(Option<Duration>) -> bool) -> bool {
        sleep(Some(Duration::ZERO))
    }
}

/// Two devices that take so long a batch, on one core.
struct Bench {
    core: Arc<Core>,
    engine: Engine,
    session: Session,
    took_ns: [Arc<AtomicU64>; 2],
}

impl Bench {
    fn new(took_ns: [u64; 2]) -> Self {
        let core = Arc::new(Core::default());
        let (engine, toys) = engine_on(Arc::clone(&core) as _, Settings::default(), &[4, 4]);
        let took_ns = took_ns.map(|ns| Arc::new(AtomicU64::new(ns)));
        for (toy, took_ns) in toys.iter().zip(&took_ns) {
            let (core, took_ns) = (Arc::clone(&core), Arc::clone(took_ns));
            toy.hook(move || core.compute(took_ns.load(Relaxed)));
        }
        let session = session(&engine);
        Self { core, engine, session, took_ns }
    }

    /// Devices of which `takes_ns` says what a batch takes: which of them it is, and whether the batch before was another's.
    fn of(takes_ns: impl Fn(usize, bool) -> u64 + Clone + Send + Sync + 'static) -> Self {
        let core = Arc::new(Core::default());
        let (engine, toys) = engine_on(Arc::clone(&core) as _, Settings::default(), &[4, 4]);
        let last = Arc::new(AtomicUsize::new(2));
        for (at, toy) in toys.iter().enumerate() {
            let (core, last, takes_ns) = (Arc::clone(&core), Arc::clone(&last), takes_ns.clone());
            toy.hook(move || core.compute(takes_ns(at, last.swap(at, Relaxed) != at)));
        }
        let session = session(&engine);
        Self { core, engine, session, took_ns: Default::default() }
    }

    /// Works one batch, and says where.
    fn run(&self) -> DeviceId {
        self.run_of(1)
    }

    /// Works a batch of so many messages, and says where.
    fn run_of(&self, messages: usize) -> DeviceId {
        let batch = seal(&self.session, &vec![b"text" as &[u8]; messages]);
        let mut output = OwnedOutput::for_batch(&batch).unwrap();
        self.engine.run(&batch, output.as_output(), &Options::default()).unwrap().device
    }

    /// Works batches for so long; where they were.
    fn run_for(&self, ns: u64) -> Vec<DeviceId> {
        let end_ns = self.core.now_ns() + ns;
        let mut devices = vec![];
        while self.core.now_ns() < end_ns {
            devices.push(self.run());
        }
        devices
    }
}

#[test]
fn while_other_work_has_the_core_and_after_it_the_faster_device_has_the_batches() {
    let times = [20_000, 250_000, 20_000_000];
    for [quick_ns, slow_ns] in times.into_iter().flat_map(|ns| [[ns, ns * 6 / 5], [ns, ns * 4]]) {
        let bench = Bench::new([quick_ns, slow_ns]);
        bench.run_for(SECOND_NS.max(1_000 * quick_ns));
        for is_shared in [true, false, true, false] {
            bench.core.is_shared.store(is_shared, Relaxed);
            let devices = bench.run_for(SECOND_NS.max(1_000 * quick_ns));
            let slow = devices.iter().filter(|device| device.index() == 1).count() as u64;
            let (lost_ns, best_ns) = (slow * (slow_ns - quick_ns), devices.len() as u64 * quick_ns);
            assert!(lost_ns * 50 <= best_ns, "{quick_ns} ns: lost {lost_ns} of {best_ns}");
        }
    }
}

#[test]
fn batches_that_touch_fresh_memory_now_and_then_move_no_prediction_and_many_in_a_row_do() {
    let batch_ns = 200_000;
    let bench = Bench::new([batch_ns, batch_ns * 3 / 2]);
    bench.run_for(SECOND_NS / 10);
    let device = bench.engine.device("toy0").unwrap();
    let cost_ns = || bench.engine.cost(device).unwrap().of(1, 4);
    let before_ns = cost_ns();
    let fresh = || {
        bench.took_ns[0].store(3 * batch_ns, Relaxed);
        bench.core.is_fresh.store(true, Relaxed);
    };
    let used = || {
        bench.took_ns[0].store(batch_ns, Relaxed);
        bench.core.is_fresh.store(false, Relaxed);
    };
    for _ in 0..20 {
        fresh();
        while bench.run() != device {}
        used();
        (0..10).for_each(|_| _ = bench.run());
        assert!((cost_ns() - before_ns).abs() < 1.0, "{} and {before_ns}", cost_ns());
    }
    fresh();
    let mut batches = 0;
    while cost_ns() < 1.5 * before_ns {
        bench.run();
        batches += 1;
        assert!(batches < 100);
    }
}

#[test]
fn the_thread_s_own_clock_is_read_around_few_batches_that_take_what_was_predicted() {
    for (batch_ns, readings) in [(20_000, 0), (200_000, 20), (2_000_000, 160)] {
        let bench = Bench::new([batch_ns, 10 * batch_ns]);
        bench.run_for(100 * batch_ns);
        let settled = bench.core.asked.load(Relaxed);
        // No more than a trial or two beside them.
        let devices = bench.run_for(80 * batch_ns);
        let asked = bench.core.asked.load(Relaxed) - settled;
        assert!(asked >= readings * 3 / 4 && asked <= readings + 4, "{asked}, {}", devices.len());
    }
}

#[test]
fn after_a_batch_that_was_not_timed_and_took_far_longer_the_next_ones_are() {
    let bench = Bench::new([200_000, 2_000_000]);
    bench.run_for(SECOND_NS / 50);
    let readings = |batches| {
        let before = bench.core.asked.load(Relaxed);
        (0..batches).for_each(|_| assert_eq!(bench.run().index(), 0));
        bench.core.asked.load(Relaxed) - before
    };
    assert!((0..8).any(|_| readings(1) == 2), "one in eight is timed");
    bench.took_ns[0].store(1_000_000, Relaxed);
    assert_eq!(readings(1), 0);
    bench.took_ns[0].store(200_000, Relaxed);
    assert_eq!(readings(8), 16);
}

#[test]
fn one_batch_in_which_the_machine_stood_still_moves_no_prediction() {
    for (is_blind, batch_ns) in [(false, 20_000), (true, 20_000), (false, 200_000), (true, 200_000)]
    {
        let bench = Bench::new([batch_ns, batch_ns * 3 / 2]);
        bench.core.is_blind.store(is_blind, Relaxed);
        bench.run_for(SECOND_NS / 10);
        let device = bench.engine.device("toy0").unwrap();
        let cost_ns = || bench.engine.cost(device).unwrap().of(1, 4);
        let before_ns = cost_ns();
        bench.took_ns[0].store(300_000_000, Relaxed);
        while bench.run() != device {}
        bench.took_ns[0].store(batch_ns, Relaxed);
        assert!((cost_ns() - before_ns).abs() < 1.0, "{} and {before_ns}", cost_ns());
    }
}

#[test]
fn a_device_that_became_slower_is_left_within_ten_batches_and_tried_again_when_it_is_quick_again() {
    for (is_blind, slower_ns) in
        [false, true].into_iter().flat_map(|blind| [(blind, 2_000_000), (blind, 150_000)])
    {
        let bench = Bench::new([20_000, 80_000]);
        bench.core.is_blind.store(is_blind, Relaxed);
        bench.run_for(SECOND_NS / 10);
        bench.took_ns[0].store(slower_ns, Relaxed);
        let batches = (0..100).take_while(|_| bench.run().index() == 0).count();
        assert!(batches <= 10, "{batches}, blind {is_blind}");
        bench.took_ns[0].store(20_000, Relaxed);
        bench.run_for(SECOND_NS / 20);
        let devices = bench.run_for(SECOND_NS / 10);
        let slow = devices.iter().filter(|device| device.index() == 1).count();
        assert!(slow * 20 <= devices.len(), "{slow} of {}, blind {is_blind}", devices.len());
    }
}

#[test]
fn a_device_that_became_slower_is_left_however_seldom_its_batches_are_timed() {
    for (percent, batches_max) in [(130, 40), (180, 20), (500, 20)] {
        let bench = Bench::new([200_000, 220_000]);
        bench.run_for(SECOND_NS / 10);
        bench.took_ns[0].store(2_000 * percent, Relaxed);
        let batches = (0..200).take_while(|_| bench.run().index() == 0).count();
        assert!(batches <= batches_max, "{batches} at {percent} %");
    }
}

#[test]
fn a_device_whose_first_batch_paid_for_fresh_memory_is_tried_again_at_once() {
    let bench = Bench::new([50_000_000, 250_000]);
    assert_eq!(bench.run().index(), 0);
    bench.took_ns[0].store(200_000, Relaxed);
    bench.run_for(SECOND_NS / 50);
    let devices = bench.run_for(SECOND_NS / 50);
    let slow = devices.iter().filter(|device| device.index() == 1).count();
    assert!(slow * 20 <= devices.len(), "{slow} of {}", devices.len());
}

/// Batches of one message that take so long, every tenth of 64 messages a hundred times as long; what was
/// lost on the slower device, as a share.
fn lost_of_mixed(bench: &Bench, quick_ns: u64, times: u64, batches: u64) -> f64 {
    let (mut lost_ns, mut best_ns) = (0, 0);
    for batch in 0..batches {
        let (messages, ns) = if batch % 10 == 9 { (64, 100 * quick_ns) } else { (1, quick_ns) };
        bench.took_ns[0].store(ns, Relaxed);
        bench.took_ns[1].store(times * ns, Relaxed);
        let device = bench.run_of(messages);
        best_ns += ns;
        lost_ns += if device.index() == 1 { (times - 1) * ns } else { 0 };
    }
    lost_ns as f64 / best_ns as f64
}

#[test]
fn a_trial_with_small_batches_does_not_go_on_with_large_ones() {
    let bench = Bench::new([20_000, 200_000]);
    lost_of_mixed(&bench, 20_000, 10, 2_000);
    let lost = lost_of_mixed(&bench, 20_000, 10, 20_000);
    assert!(lost < 0.02, "{lost}");
}

#[test]
fn a_device_that_is_cold_after_a_pause_is_judged_by_batches_in_a_row() {
    for (warm_ns, busy_ns, cold_ns) in
        [([10_000, 20_000], 45_000, 45_000), ([300, 700], 1_150, 10_000)]
    {
        let is_busy = Arc::new(AtomicBool::new(true));
        let bench = {
            let is_busy = Arc::clone(&is_busy);
            Bench::of(move |at, is_cold| match (is_cold, at == 0 && is_busy.load(Relaxed)) {
                (true, _) => cold_ns,
                (false, true) => busy_ns,
                (false, false) => warm_ns[at],
            })
        };
        let long_ns = SECOND_NS / 100 + 5_000 * warm_ns[1];
        for (busy, slower) in [(true, 0), (false, 1)] {
            is_busy.store(busy, Relaxed);
            bench.run_for(2 * long_ns);
            let devices = bench.run_for(long_ns);
            let slow = devices.iter().filter(|device| device.index() == slower).count();
            let of = format!("{} at {warm_ns:?}, {slower} being slower", devices.len());
            assert!(slow * 20 <= devices.len(), "{slow} of {of}");
        }
    }
}

#[test]
fn a_device_that_takes_long_after_each_pause_is_tried_seldom() {
    let is_long = Arc::new(AtomicBool::new(false));
    let bench = {
        let is_long = Arc::clone(&is_long);
        Bench::of(move |at, is_cold| match (at, is_cold && is_long.load(Relaxed)) {
            (0, _) => 20_000,
            (_, false) => 30_000,
            (_, true) => 20_000_000,
        })
    };
    bench.run_for(SECOND_NS / 2);
    is_long.store(true, Relaxed);
    let devices = bench.run_for(4 * SECOND_NS);
    let trials = devices.windows(2).filter(|two| two[0].index() < two[1].index()).count();
    assert!(trials <= 10, "{trials} of {}", devices.len());
}

#[test]
fn a_size_that_is_rare_and_takes_longer_than_predicted_is_learnt() {
    let bench = Bench::new([20_000, 200_000]);
    let device = bench.engine.device("toy0").unwrap();
    for batch in 0..3_000 {
        // Too short to be timed by the thread's own clock, and too rare to be watched.
        let (messages, ns) = if batch % 16 == 15 { (64, 40_000) } else { (1, 20_000) };
        bench.took_ns[0].store(ns, Relaxed);
        bench.run_of(messages);
    }
    let predicted_ns = bench.engine.cost(device).unwrap().of(64, 64 * 4);
    assert!((32_000.0..50_000.0).contains(&predicted_ns), "{predicted_ns}");
}

#[test]
fn a_device_that_is_named_now_and_then_is_learnt() {
    let bench = Bench::new([2_000, 20_000]);
    let device = bench.engine.device("toy1").unwrap();
    let batch = seal(&bench.session, &[b"text"]);
    let mut output = OwnedOutput::for_batch(&batch).unwrap();
    for run in 0..2_000 {
        if run == 1_000 {
            bench.took_ns[1].store(12_000, Relaxed);
        }
        let on = (run % 10 == 9).then_some(device);
        let options = Options { on, ..Options::default() };
        bench.engine.run(&batch, output.as_output(), &options).unwrap();
    }
    let cost_ns = bench.engine.cost(device).unwrap().of(1, 4);
    assert!((cost_ns / 12_000.0 - 1.0).abs() < 0.05, "{cost_ns}");
}

#[test]
fn short_batches_that_scatter_lose_little_on_the_slower_device() {
    for [quick_ns, slow_ns] in [[140, 900], [330, 550], [330, 400]] {
        let draws = AtomicU64::new(0);
        let draws = Arc::new(draws);
        let bench = Bench::of(move |at, _| {
            // A fifth of them lose time to the core's other half, and one in sixty is interrupted.
            let times = match draws.fetch_add(0x9e37_79b9_7f4a_7c15, Relaxed) >> 32 {
                draw if draw % 60 == 0 => 9,
                draw if draw % 5 == 0 => 3,
                _ => 1,
            };
            times * [quick_ns, slow_ns][at]
        });
        (0..20_000).for_each(|_| _ = bench.run());
        let batches = 400_000;
        let slow = (0..batches).filter(|_| bench.run().index() == 1).count() as u64;
        let (lost_ns, best_ns) = (slow * (slow_ns - quick_ns), batches * quick_ns);
        assert!(lost_ns * 50 <= best_ns, "lost {lost_ns} of {best_ns} at {slow_ns} ns");
    }
}

#[test]
fn a_device_that_sleeps_is_judged_by_the_time_that_passes() {
    let core = Arc::new(Core::default());
    let (engine, toys) = engine_on(Arc::clone(&core) as _, Settings::default(), &[4, 4]);
    let (sleeper, worker) = (Arc::clone(&core), Arc::clone(&core));
    toys[0].hook(move || sleeper.sleep(1_000_000));
    toys[1].hook(move || worker.compute(500_000));
    let session = session(&engine);
    let bench = Bench { core, engine, session, took_ns: Default::default() };
    bench.run_for(SECOND_NS);
    let devices = bench.run_for(SECOND_NS);
    let slow = devices.iter().filter(|device| device.index() == 0).count();
    assert!(slow * 20 <= devices.len(), "{slow} of {}", devices.len());
}

const STEP_NS: u64 = 10_000;
/// What Linux gives a thread at a time beside another one.
const SLICE_NS: u64 = 4_000_000;
const SECOND_NS: u64 = 1_000_000_000;
