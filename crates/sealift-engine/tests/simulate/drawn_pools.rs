//! Drawn pools of simulated devices of which one or two misbehave, under drawn loads: whatever the
//! policy, every message comes back once and right, and the sums agree.
//!
//! `SEALIFT_SIMULATED_RUNS` says how many runs each policy gets with each fault; a failure names the seed.

use sealift_core::{Cost, Resource, Role};
use sealift_engine::simulate::{
    Clients, Draw, FaultKind, FaultPlan, Jitter, Load, LoadReport, Machine, Model, Pool, Random,
    Shapes, SharedCores, pool_with,
};
use sealift_engine::{Audit, POLICIES, Patience, Settings};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

const RUNS: u64 = 20;
const BATCHES: u64 = 60;
/// Enough that one in a hundred jobs of a device is some.
const BATCHES_OF_TAILS: u64 = 300;
/// About as long as a run lasts.
const SPAN_NS: u64 = 15_000;

#[test]
fn whatever_breaks_every_message_comes_back_once_and_right() {
    let runs = std::env::var("SEALIFT_SIMULATED_RUNS").map_or(RUNS, |runs| runs.parse().unwrap());
    let mut seen = BTreeMap::new();
    for policy in POLICIES {
        for kind in FaultKind::ALL {
            let of: &mut Seen = seen.entry((policy.name, kind)).or_default();
            (0..runs).for_each(|seed| of.add(&Run::new(policy.name, kind, seed)));
        }
    }
    for ((policy, kind), found) in &seen {
        println!("{policy} x {kind:?}, {runs} runs: {found:?}");
        let often = found.occurred >= runs / 5 && found.full >= runs / 10;
        assert!(often, "{policy} x {kind:?} is too rare to test anything: {found:?}");
        assert_eq!(*policy == "split", found.parts > 0, "{policy} x {kind:?}: {found:?}");
    }
    let moved = seen.values().map(|seen| seen.moved).sum::<u64>();
    let late = seen.values().map(|seen| seen.late).sum::<u64>();
    assert!(moved > 10 * runs && late > runs, "{moved} moved, {late} late");
    let misquoted = seen.values().map(|seen| seen.misquoted).sum::<u64>();
    let contended = seen.values().map(|seen| seen.contended).sum::<u64>();
    assert!(misquoted > 5 * runs && contended > 2 * runs, "{misquoted}, {contended}");
}

#[test]
fn a_seed_replays_a_run_exactly_under_every_policy() {
    for policy in POLICIES {
        for kind in FaultKind::ALL {
            let reports = [(); 2].map(|()| Run::new(policy.name, kind, 77).report);
            assert_eq!(reports[0], reports[1], "{} x {kind:?}", policy.name);
            let other = Run::new(policy.name, kind, 78).report;
            assert_ne!(reports[0].digest, other.digest);
        }
    }
}

/// How often what was to be tested occurred.
#[derive(Debug, Default)]
struct Seen {
    /// Runs in which the fault occurred.
    occurred: u64,
    /// Of them those in which a batch was handed back because everyone was full.
    full: u64,
    /// Batches that had to go to another device.
    moved: u64,
    /// Parts that batches were cut into, without the first of each.
    parts: u64,
    /// Results that came after they were given up.
    late: u64,
    /// Runs with a device whose quote is wrong over tenfold.
    misquoted: u64,
    /// Runs in which devices on the same cores slowed each other.
    contended: u64,
}

impl Seen {
    fn add(&mut self, run: &Run) {
        run.check();
        let occurred = run.occurred() > 0;
        self.occurred += u64::from(occurred);
        self.full += u64::from(occurred && run.report.refused > 0);
        self.moved += run.report.moved;
        self.parts += run.report.devices.iter().map(|device| device.batches).sum::<u64>()
            - run.report.batches;
        self.late += run.report.devices.iter().map(|device| device.late).sum::<u64>();
        self.misquoted += u64::from(run.is_misquoted);
        self.contended +=
            u64::from(run.pool.machines.iter().any(|machine| machine.faults().contended > 0));
    }
}

struct Run {
    named: String,
    kind: FaultKind,
    is_misquoted: bool,
    pool: Pool,
    report: LoadReport,
}

impl Run {
    fn new(policy: &str, kind: FaultKind, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let models = models(kind, &mut random);
        let sealed_only = kind == FaultKind::Wrong;
        let audit = sealed_only.then_some(Audit { share: 1.0, seed });
        let is_misquoted = models.iter().any(is_misquoted);
        // A quote that is far too low must not make every device look hung.
        let extra = Duration::from_micros(if is_misquoted { 200 } else { 10 });
        let patience = Patience { times: 4.0, extra };
        let spec = if policy == "size-split" { "size-split:bytes=60" } else { policy };
        let settings = Settings { patience, audit, ..Settings::with_policy(spec).unwrap() };
        let pool = pool_with(settings, models).unwrap();
        let batches = if kind == FaultKind::Tail { BATCHES_OF_TAILS } else { BATCHES };
        let load = load(policy, sealed_only, pool.machines.len(), &mut random);
        let load = Load { seed, batches, ..load };
        let report = load.drive(&pool.engine, &pool.clock).unwrap();
        // What was given up may still come back.
        while pool.clock.step() {
            assert!(pool.engine.poll().unwrap().is_none(), "seed {seed}: nobody waits for it");
        }
        Self {
            named: format!("{policy} x {kind:?}, seed {seed}"),
            kind,
            is_misquoted,
            pool,
            report,
        }
    }

    fn occurred(&self) -> u64 {
        self.pool.machines.iter().map(|machine| self.kind.occurred(&machine.faults())).sum()
    }

    fn check(&self) {
        let Self { named, pool, report, .. } = self;
        let bad = (report.lost, report.doubled, report.wrong, report.failed);
        assert_eq!((bad, report.batches), ((0, 0, 0, 0), report.sent), "{named}: {report:?}");
        let done = report.devices.iter().map(|device| device.messages).sum::<u64>();
        assert_eq!(done, report.messages, "{named}: {report:?}");
        assert_eq!(pool.engine.in_flight(), Ok(0), "{named}");
        for ((id, _), (machine, device)) in
            pool.engine.devices().zip(pool.machines.iter().zip(&report.devices))
        {
            let (faults, late) = (machine.faults(), pool.engine.counters(id).unwrap().late);
            // What was given up came back late, or hangs, or failed or died later.
            let known = late + machine.held() as u64;
            let failed_later = faults.failed.saturating_sub(device.failed);
            let known = known..=known + failed_later + faults.lost;
            assert!(
                known.contains(&device.abandoned),
                "{named}: {late} late, {device:?}, {faults:?}"
            );
            assert_eq!(machine.retired_in_use(), 0, "{named}: a key was wiped too early");
            assert!(machine.held() as u64 <= faults.hung, "{named}: {machine:?}");
            if is_real(machine) {
                let ended = device.batches + device.failed + device.abandoned + device.wrong;
                // On the calling thread a dead device's refusal is an attempt, at submission it is none.
                let jobs = machine.jobs()..=machine.jobs() + faults.refused_broken;
                assert!(jobs.contains(&ended), "{named}: {device:?} with {faults:?}");
            }
        }
    }
}

/// Two to four devices that are not too different, or so many that only a few are asked; at least one of
/// them without a fault, and one that checks.
fn models(kind: FaultKind, random: &mut Random) -> Vec<Model> {
    let is_large = random.happens(0.125);
    let count = if is_large { 17 + random.below(24) } else { 2 + random.below(3) };
    let mut models: Vec<_> = (0..count).map(|at| model(&format!("device{at}"), random)).collect();
    let broken = usize::try_from(random.below(count)).unwrap();
    models[broken].faults = kind.draw(SPAN_NS, random);
    if kind == FaultKind::Wrong {
        // What is worked on the calling thread is not audited.
        models.iter_mut().for_each(|model| model.runs_on_calling_thread = false);
    }
    if count > 2 && random.happens(0.5) {
        let also = (broken + 1) % models.len();
        let others = FaultKind::ALL.map(|kind| (kind, kind.draw(SPAN_NS, random)));
        let other = usize::try_from(random.below(others.len() as u64)).unwrap();
        let is_wrong = others[other].0 == FaultKind::Wrong && kind != FaultKind::Wrong;
        models[also].faults = if is_wrong { FaultPlan::none() } else { others[other].1.clone() };
    }
    if random.happens(0.25) {
        let cores = Arc::new(SharedCores::default());
        for model in &mut models[..2] {
            model.works_on = Resource::Cores(vec![]);
            model.shared_cores = Some(Arc::clone(&cores));
        }
    }
    let cost = Cost::new(10.0, 0.0, 0.0).unwrap();
    let oracle = Model::new("oracle", cost);
    models.push(Model { role: Role::Oracle, runs_on_calling_thread: true, ..oracle });
    models
}

fn model(name: &str, random: &mut Random) -> Model {
    let mut near = |ns: f64| ns * (1.0 + 2.0 * random.unit());
    let cost = Cost::new(near(300.0), near(30.0), near(0.2)).unwrap();
    let wrong_by_most: f64 = if random.happens(0.125) { 1_000.0 } else { 4.0 };
    let wrong_by = wrong_by_most.powf(2.0 * random.unit() - 1.0);
    let quoted =
        [cost.setup_ns(), cost.per_message_ns(), cost.per_byte_ns()].map(|ns| ns * wrong_by);
    Model {
        role: Role::Real,
        quoted: Some(Cost::new(quoted[0], quoted[1], quoted[2]).unwrap()),
        jitter: Jitter::Even { share: 0.5 * random.unit() },
        workers: 1 + usize::try_from(random.below(2)).unwrap(),
        slots: 1 + usize::try_from(random.below(4)).unwrap(),
        runs_on_calling_thread: random.happens(0.15),
        seed: random.bits(),
        ..Model::new(name, cost)
    }
}

fn load(policy: &str, sealed_only: bool, devices: usize, random: &mut Random) -> Load {
    let mut shapes = Shapes::mixed(6.0, 100.0);
    if policy == "split" {
        shapes.messages = Draw::OneOf(vec![1.0, 3.0, 6.0, 60.0, 150.0]);
    }
    if sealed_only {
        // What was opened wrongly no audit finds.
        (shapes.opened, shapes.verified) = (0.0, 0.0);
    }
    // As many for each device, however many there are.
    let crowd = u32::try_from(devices / 4).unwrap().max(1);
    let count = crowd * (4 + u32::try_from(random.below(25)).unwrap());
    let think_ns = Draw::Exponential { mean: 1_000.0 * random.unit() };
    let load = Load::closed(count, think_ns, shapes, BATCHES);
    if random.happens(0.5) {
        return load;
    }
    let batches_per_s = f64::from(crowd) * 1e6 * (3.0 + 12.0 * random.unit());
    Load { clients: Clients::Open { batches_per_s }, ..load }
}

fn is_misquoted(model: &Model) -> bool {
    let quoted = model.quoted.unwrap_or(model.cost);
    let wrong_by = quoted.setup_ns() / model.cost.setup_ns();
    !(0.1..10.0).contains(&wrong_by)
}

fn is_real(machine: &Machine) -> bool {
    sealift_core::Device::capabilities(machine).role == Role::Real
}
