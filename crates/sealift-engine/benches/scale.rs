//! Pools of 10 to 10,000 simulated devices under each policy: what they get done, and what the engine
//! spends on a batch.
//!
//! `cargo bench -p sealift-engine --bench scale [-- FILE.csv]`. Throughput and utilisation are of virtual
//! time. What a batch costs is measured, on this machine: the time inside `submit` and `wait`, with the
//! simulated devices' own bookkeeping, which is the same for every policy.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark")]
#![allow(clippy::cast_precision_loss, reason = "counts and nanoseconds are far under 2^52")]

use sealift_core::{Batch, Clock, Column, Cost, Key, Role};
use sealift_engine::simulate::{Model, Pool, pool_with};
use sealift_engine::{Options, POLICIES, Settings};
use std::fmt::Write;
use std::time::{Duration, Instant};

fn main() {
    let arguments: Vec<_> = std::env::args().skip(1).filter(|one| one != "--bench").collect();
    if arguments.iter().any(|one| one == "--test") {
        return;
    }
    let mut csv = format!("{}\n", COLUMNS.join(","));
    println!(
        "{:>17}  {:>8}  {:>11}  {:>12}  {:>12}  {:>10}",
        "policy", "devices", "throughput", "utilisation", "least used", "ns/batch"
    );
    for policy in POLICIES {
        for devices in DEVICES {
            let scale = measure(policy.name, devices);
            let Scale { per_s, throughput, utilisation, least, batches, engine_ns } = scale;
            println!(
                "{:>17}  {devices:>8}  {throughput:>11.3}  {utilisation:>12.3}  {least:>12.3}  \
                 {engine_ns:>10.0}",
                policy.name
            );
            let name = policy.name;
            writeln!(
                csv,
                "{name},{devices},{batches},{per_s:.1},{throughput:.4},{utilisation:.4},{least:.4},{engine_ns:.1}"
            )
            .unwrap();
        }
    }
    if let Some(file) = arguments.first() {
        std::fs::write(file, csv).unwrap();
        println!("written to {file}");
    }
}

/// What a pool did.
struct Scale {
    /// Batches a second of virtual time.
    per_s: f64,
    /// Against what all devices could do together.
    throughput: f64,
    /// Mean share of the time that a device worked.
    utilisation: f64,
    /// That of the device that worked least.
    least: f64,
    batches: u64,
    /// Real time inside the engine for each batch.
    engine_ns: f64,
}

/// Three times as many batches in flight as there are devices, so that all of them can always work.
fn measure(policy: &str, devices: usize) -> Scale {
    let settings =
        Settings { in_flight_max: 4 * devices, ..Settings::with_policy(policy).unwrap() };
    let pool = pool_with(settings, (0..devices).map(model)).unwrap();
    let (warm_up, batches) = (10 * devices as u64, (40 * devices as u64).max(BATCHES));
    let mut drive = Drive::new(&pool);
    drive.fill(3 * devices);
    drive.work(warm_up);
    let (before_ns, busy_ns) = (pool.clock.now_ns(), drive.busy_ns());
    drive.spent = Duration::ZERO;
    drive.work(batches);
    let span_ns = (pool.clock.now_ns() - before_ns) as f64;
    let worked: Vec<_> =
        drive.busy_ns().iter().zip(&busy_ns).map(|(after, before)| after - before).collect();
    let shares = worked.iter().map(|ns| *ns as f64 / span_ns);
    let could = (0..devices).map(|at| 1.0 / model(at).cost.of(1, TEXT_BYTES as u64)).sum::<f64>();
    Scale {
        per_s: batches as f64 * 1e9 / span_ns,
        throughput: batches as f64 / span_ns / could,
        utilisation: shares.clone().sum::<f64>() / devices as f64,
        least: shares.fold(f64::INFINITY, f64::min),
        batches,
        engine_ns: drive.spent.as_nanos() as f64 / batches as f64,
    }
}

/// Devices of four speeds, up to four times as slow as the quickest.
fn model(at: usize) -> Model {
    let cost = Cost::new(20_000.0 * (1.0 + (at % 4) as f64), 0.0, 0.0).unwrap();
    Model { role: Role::Real, slots: 4, seed: at as u64, ..Model::new(format!("device{at}"), cost) }
}

/// A client that keeps so many batches in flight.
struct Drive<'p> {
    pool: &'p Pool,
    batches: Vec<Batch<'static>>,
    sent: usize,
    spent: Duration,
}

impl<'p> Drive<'p> {
    fn new(pool: &'p Pool) -> Self {
        let batch = |at: usize| {
            let session = pool.engine.session(Key::new(&[7; 16]).unwrap()).unwrap();
            let nonce = (at as u128).to_le_bytes()[..12].to_vec();
            let batch = Batch::seal(
                1,
                session.id(),
                Column::fixed(nonce, 12),
                Column::fixed(vec![0; TEXT_BYTES], TEXT_BYTES),
            );
            (batch, session)
        };
        let (batches, sessions): (Vec<_>, Vec<_>) = (0..SESSIONS).map(batch).unzip();
        // They are used until the process ends.
        sessions.into_iter().for_each(std::mem::forget);
        Self { pool, batches, sent: 0, spent: Duration::ZERO }
    }

    fn fill(&mut self, in_flight: usize) {
        (0..in_flight).for_each(|_| self.send());
    }

    fn send(&mut self) {
        let batch = self.batches[self.sent % self.batches.len()].clone();
        self.sent += 1;
        let start = Instant::now();
        self.pool.engine.submit(batch, &Options::default()).unwrap();
        self.spent += start.elapsed();
    }

    fn work(&mut self, batches: u64) {
        for _ in 0..batches {
            let start = Instant::now();
            let completed = self.pool.engine.wait(None, None).unwrap().unwrap();
            self.spent += start.elapsed();
            completed.outcome.unwrap();
            self.send();
        }
    }

    fn busy_ns(&self) -> Vec<u64> {
        let devices = self.pool.engine.devices();
        devices.map(|(id, _)| self.pool.engine.counters(id).unwrap().busy_ns).collect()
    }
}

const COLUMNS: [&str; 8] = [
    "policy",
    "devices",
    "batches",
    "batches_per_s",
    "throughput_share",
    "utilisation_mean",
    "utilisation_least",
    "engine_ns_per_batch",
];
const DEVICES: [usize; 7] = [10, 30, 100, 300, 1_000, 3_000, 10_000];
const BATCHES: u64 = 20_000;
const SESSIONS: usize = 4_096;
const TEXT_BYTES: usize = 16;
