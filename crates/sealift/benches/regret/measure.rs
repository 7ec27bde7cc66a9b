//! Measures one cell: an engine that chooses, in turn with each device named and with engines that have only one.

use super::cell::{CROWD, Cell, Costs, Pace};
use super::traffic::{Arm, Caller, Corpus};
use crate::common::{Interval, with_callers};
use sealift::{DRIVERS, DeviceId, Engine, Probe, Role};
use sealift_engine::simulate::Random;
use std::fmt::Write;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// What the free choice costs in one cell.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) cell: Cell,
    rounds: usize,
    best: &'static str,
    /// Time over that of the best named device, less 1.
    pub(crate) regret: Interval,
    /// Half the interval of the best device against itself.
    pub(crate) noise: f64,
    /// The share of batches that each device got of the engine.
    pub(crate) used: String,
    /// The 99th percentile of a call over that of the best named device; for a crowd of threads.
    p99_ratio: Option<f64>,
    /// The regret of the first round, in which costs may not be known.
    first: f64,
    best_alone: &'static str,
    /// Time over that of the best engine with one device, less 1.
    pub(crate) over_alone: Interval,
}

impl Found {
    /// What is left of the regret where the interval is narrowed by the noise.
    pub(crate) fn beyond_noise(&self) -> f64 {
        self.regret.low - self.noise
    }

    pub(crate) fn line(&self) -> String {
        let Self { rounds, best, regret, noise, used, first, best_alone, .. } = self;
        let Interval { low, median, high } = regret;
        let Interval { low: alone_low, median: alone, high: alone_high } = self.over_alone;
        let p99 = self.p99_ratio.map_or(String::new(), |ratio| format!("{ratio:.3}"));
        let factors = self.cell.line();
        format!(
            "{factors},{rounds},{best},{median:.4},{low:.4},{high:.4},{noise:.4},{used},{p99},{first:.4},\
             {best_alone},{alone:.4},{alone_low:.4},{alone_high:.4}\n"
        )
    }
}

pub(crate) const COLUMNS: &str = "rounds,best,regret,regret_low,regret_high,noise,used,p99_ratio,first_round,\
    best_alone,over_alone,over_alone_low,over_alone_high";

/// Prepares a cell and measures it until then.
pub(crate) fn measure(cell: &Cell, until: Instant, seed: u64) -> Found {
    let names = real_devices();
    let corpus = Corpus::new(cell, &mut Random::new(seed));
    let engines = engines(&names, cell.costs);
    let sessions: Vec<_> = engines.iter().map(|engine| corpus.sessions(engine)).collect();
    let ids: Vec<_> = sessions.iter().map(|sessions| corpus.ids(sessions)).collect();
    let batches: Vec<_> = ids.iter().map(|ids| corpus.batches(ids)).collect();
    let arm = |at: usize, on| Arm { engine: &engines[at], batches: &batches[at], on };
    let devices: Vec<_> = names.iter().map(|name| engines[1].device(name).unwrap()).collect();
    let mut arms = vec![arm(0, None)];
    arms.extend(devices.iter().map(|&device| arm(1, Some(device))));
    arms.extend((2..engines.len()).map(|alone| arm(alone, None)));
    let (named, alone) = (1..1 + names.len(), 1 + names.len()..arms.len());
    let samples = rounds(cell, &arms, named.clone(), until);
    let [best, best_alone] = [named, alone].map(|arms| least(arms, |arm| samples.median_s(arm)));
    Found {
        cell: cell.clone(),
        rounds: samples.counted().len(),
        best: names[best - 1],
        regret: samples.over(best),
        noise: samples.noise(),
        used: shares(&engines[0], &devices, &names),
        p99_ratio: (cell.threads >= CROWD).then(|| samples.p99_ns(0) / samples.p99_ns(best)),
        first: samples.times_s[0][0] / samples.times_s[0][best] - 1.0,
        best_alone: names[best_alone - 1 - names.len()],
        over_alone: samples.over(best_alone),
    }
}

fn real_devices() -> Vec<&'static str> {
    let is_real = |probe| matches!(probe, Probe::Present { role: Role::Real, .. });
    DRIVERS.iter().filter(|one| is_real(one.probe())).map(|driver| driver.name()).collect()
}

/// One that chooses, one whose devices are named, so that they teach nothing to the first, and one for each device alone.
/// All know the same.
fn engines(names: &[&str], costs: Costs) -> Vec<Engine> {
    super::forget_costs();
    let alone = names.iter().map(std::slice::from_ref);
    let engines: Vec<_> = [names, names].into_iter().chain(alone).map(Engine::with).collect();
    let engines: Vec<_> = engines.into_iter().map(Result::unwrap).collect();
    if costs == Costs::Calibrated {
        engines.iter().for_each(|engine| _ = engine.calibrate().unwrap());
    }
    engines
}

fn shares(engine: &Engine, devices: &[DeviceId], names: &[&str]) -> String {
    let batches: Vec<_> =
        devices.iter().map(|&device| engine.counters(device).unwrap().batches).collect();
    let all = batches.iter().sum::<u64>() as f64;
    let mut shares = String::new();
    for (name, &batches) in names.iter().zip(&batches) {
        write!(shares, "{name} {:.3} ", batches as f64 / all).unwrap();
    }
    shares.trim_end().to_owned()
}

/// What all arms took in each round.
struct Samples {
    /// Seconds of each arm, and of a named one once more; the first round warms up.
    times_s: Vec<Vec<f64>>,
    /// What single calls took, of each arm.
    calls_ns: Vec<Vec<u64>>,
    /// The arm that is in each round twice.
    twice: usize,
}

impl Samples {
    fn counted(&self) -> &[Vec<f64>] {
        &self.times_s[1..]
    }

    fn median_s(&self, arm: usize) -> f64 {
        Interval::of(self.counted().iter().map(|times| times[arm])).median
    }

    /// How much longer the free choice took than an arm, as a share of it.
    fn over(&self, arm: usize) -> Interval {
        Interval::of(self.counted().iter().map(|times| times[0] / times[arm] - 1.0))
    }

    /// Half the interval of an arm against itself.
    fn noise(&self) -> f64 {
        let same = self.counted().iter().map(|times| times[times.len() - 1] / times[self.twice]);
        let Interval { low, high, .. } = Interval::of(same);
        (high - low) / 2.0
    }

    fn p99_ns(&self, arm: usize) -> f64 {
        let mut sorted = self.calls_ns[arm].clone();
        sorted.sort_unstable();
        sorted[(sorted.len() * 99 / 100).min(sorted.len() - 1)] as f64
    }
}

/// Rounds in which all arms take turns, in an order that changes, the best named one twice.
fn rounds(cell: &Cell, arms: &[Arm<'_>], named: Range<usize>, until: Instant) -> Samples {
    let callers: Vec<_> = (0..cell.threads).map(|thread| Mutex::new(Caller::new(thread))).collect();
    let (current, times) = (AtomicUsize::new(0), AtomicUsize::new(1));
    let calls = |thread: usize| {
        let arm = &arms[current.load(Ordering::Relaxed)];
        callers[thread].lock().unwrap().work(cell, arm, times.load(Ordering::Relaxed));
    };
    with_callers(cell.threads, calls, |together| {
        // Seconds by the clock, and those that count.
        let work = |arm: usize, calls_ns: &mut Vec<u64>| {
            current.store(arm, Ordering::Relaxed);
            let wall_s = together().as_secs_f64();
            let calls_s = collect(&callers, calls_ns);
            (wall_s, if cell.pace == Pace::Steady { wall_s } else { calls_s })
        };
        let once_s = |arm| work(arm, &mut vec![]);
        size(&times, until, || once_s(1).0);
        let twice = least(named, |arm| once_s(arm).1 + once_s(arm).1);
        let mut samples = Samples { times_s: vec![], calls_ns: vec![vec![]; arms.len()], twice };
        while samples.times_s.len() < ROUNDS_MIN || Instant::now() < until {
            let mut round_s = vec![0.0; arms.len() + 1];
            for turn in order(samples.times_s.len(), round_s.len()) {
                let arm = if turn == arms.len() { twice } else { turn };
                round_s[turn] = work(arm, &mut samples.calls_ns[arm]).1;
            }
            if samples.times_s.is_empty() {
                samples.calls_ns.iter_mut().for_each(Vec::clear);
            }
            samples.times_s.push(round_s);
        }
        samples
    })
}

fn least(arms: Range<usize>, s: impl Fn(usize) -> f64) -> usize {
    let timed = arms.map(|arm| (s(arm), arm));
    timed.min_by(|one, other| one.0.total_cmp(&other.0)).unwrap().1
}

/// Finds how often each thread calls in a turn: that many turns fit into the time that is left.
fn size(times: &AtomicUsize, until: Instant, once_s: impl Fn() -> f64) {
    let left_s = until.saturating_duration_since(Instant::now()).as_secs_f64();
    let turn_s = (left_s / TURNS).clamp(TURN_S_MIN, TURN_S_MAX);
    while once_s() < turn_s / 2.0 {
        times.fetch_add(times.load(Ordering::Relaxed), Ordering::Relaxed);
    }
}

/// Every arm once, each first as often as another and before another as often as behind it.
fn order(round: usize, arms: usize) -> Vec<usize> {
    let mut order: Vec<_> = (0..arms).collect();
    order.rotate_left(round / 2 % arms);
    if round % 2 == 1 {
        order.reverse();
    }
    order
}

/// Takes the times of single calls, and gives their sum a thread in seconds.
fn collect(callers: &[Mutex<Caller>], calls_ns: &mut Vec<u64>) -> f64 {
    let before = calls_ns.len();
    callers.iter().for_each(|caller| calls_ns.append(&mut caller.lock().unwrap().calls_ns));
    calls_ns[before..].iter().sum::<u64>() as f64 / 1e9 / callers.len() as f64
}

const TURNS: f64 = 200.0;
const TURN_S_MIN: f64 = 0.005;
const TURN_S_MAX: f64 = 0.04;
const ROUNDS_MIN: usize = 4;
