//! One device on one piece of work, ready to be timed.

use crate::lot::Lot;
use crate::material::Maker;
use crate::random::Random;
use crate::ring::{KeyOf, Ring};
use crate::start_line::StartLine;
use crate::system::{Usage, steal_ns};
use crate::verify::{self, Checkers, Verified};
use crate::wish::Wish;
use crate::{ArmError, ArmSpec, Sample};
use sealift::{DeviceId, Engine, Origin, Role, SEALS_MAX};
use std::panic::resume_unwind;
use std::thread;
use std::time::{Duration, Instant};

/// The longest [`Arm::sample`] in seconds, so that a caller can look for a wish to stop.
pub const SAMPLE_SECONDS_MAX: f64 = 0.1;

/// Long enough for a first estimate of a batch's time.
const WARM_UP: Duration = Duration::from_millis(2);

/// A device with the messages it is to work.
pub struct Arm {
    engine: Engine,
    device: DeviceId,
    name: String,
    verified: Verified,
    ring: Ring,
    key_of: KeyOf,
    parts: Vec<Part>,
    seals_a_pass: u64,
    lot_s: f64,
}

impl Arm {
    /// Makes the messages, checks the device on each of them, and warms up.
    ///
    /// True ciphertexts come from an open device of another driver: `library` first, then the
    /// oracles, then the other real ones.
    ///
    /// # Errors
    /// A spec that isn't right; a device that is not open, refuses the messages or computes
    /// something wrong; no other device to check it against.
    pub fn prepare(engine: &Engine, device: &str, spec: &ArmSpec) -> Result<Self, ArmError> {
        Self::prepare_while(engine, device, spec, &mut || true)
    }

    /// The same, for as long as the caller wants: `wanted` is asked before each batch is made, and
    /// while many keys are installed.
    ///
    /// # Errors
    /// As [`Arm::prepare`], and [`ArmError::Stopped`] once `wanted` says false.
    pub fn prepare_while(
        engine: &Engine,
        device: &str,
        spec: &ArmSpec,
        wanted: &mut dyn FnMut() -> bool,
    ) -> Result<Self, ArmError> {
        Self::with_seal_limit(engine, device, spec, wanted, SEALS_MAX)
    }

    fn with_seal_limit(
        engine: &Engine,
        device: &str,
        spec: &ArmSpec,
        wanted: &mut dyn FnMut() -> bool,
        seals_max: u64,
    ) -> Result<Self, ArmError> {
        spec.check()?;
        let id = engine.device(device)?;
        let name = verify::name_of(engine, id);
        let found = engine.devices().find(|(other, _)| *other == id);
        let (role, origin) =
            found.map_or((Role::Real, Origin::Measured), |(_, d)| (d.role, d.origin));
        if origin == Origin::Simulated {
            return Err(ArmError::Simulated { device: name });
        }
        let mut wish = Wish::new(&name, wanted);
        let (ring, key_of) = Ring::install(engine, spec, seals_max, &mut wish)?;
        let mut checkers = Checkers::of(engine, id);
        let mut maker =
            Maker { engine, spec, ring: &ring, key_of: &key_of, checkers: &mut checkers };
        let checked = role != Role::Null;
        let parts = (0..spec.threads)
            .map(|thread| Part::make(&mut maker, thread, checked.then_some(id), &mut wish))
            .collect::<Result<Vec<_>, _>>()?;
        let verified = if checked { checkers.used() } else { Verified::NothingToCheck };
        let seals_a_pass = seals_a_pass(&parts, &key_of, spec);
        let engine = engine.clone();
        let lot_s = 0.0;
        let mut arm =
            Self { engine, device: id, name, verified, ring, key_of, parts, seals_a_pass, lot_s };
        arm.renew(&mut wish)?;
        Ok(arm)
    }

    /// The device's name.
    #[must_use]
    pub fn device(&self) -> &str {
        &self.name
    }

    /// What was checked when the arm was prepared.
    #[must_use]
    pub fn verified(&self) -> &Verified {
        &self.verified
    }

    /// Runs the messages for about `seconds`, at most [`SAMPLE_SECONDS_MAX`].
    ///
    /// A sample is a whole number of passes over all messages; where one pass takes longer than
    /// the sample may, it is as many batches as fit, going on where the last one stopped.
    ///
    /// # Errors
    /// The device failed, or other messages failed to open than those that were planned to.
    pub fn sample(&mut self, seconds: f64) -> Result<Sample, ArmError> {
        let lots = self.lots_for(seconds.clamp(0.0, SAMPLE_SECONDS_MAX));
        let passes = lots.div_ceil(self.parts[0].lots.len()) as u64 + 1;
        if !self.ring.count(passes * self.seals_a_pass) {
            let device = self.name.clone();
            self.renew(&mut Wish::new(&device, &mut || true))?;
            self.ring.count(passes * self.seals_a_pass);
        }
        let stolen_before_ns = steal_ns();
        let turns = self.run(lots)?;
        let steal_ns = steal_ns()
            .zip(stolen_before_ns)
            .map_or(0, |(after, before)| after.saturating_sub(before));
        let sample = merge(&turns, steal_ns);
        self.lot_s = Duration::from_nanos(sample.ns).as_secs_f64() / count(lots);
        Ok(sample)
    }

    fn lots_for(&self, seconds: f64) -> usize {
        let a_pass = self.parts[0].lots.len();
        let wanted = (seconds / self.lot_s.max(1e-9)).clamp(1.0, 1e9);
        #[expect(clippy::cast_possible_truncation, reason = "clamped to 1e9")]
        #[expect(clippy::cast_sign_loss, reason = "clamped to 1")]
        let lots = wanted.round() as usize;
        if lots < a_pass { lots } else { (lots + a_pass / 2) / a_pass * a_pass }
    }

    /// New sessions for all messages, and a warm-up so that devices know them.
    fn renew(&mut self, wish: &mut Wish<'_>) -> Result<(), ArmError> {
        self.ring.renew(&self.engine, wish)?;
        if let Some(key_of) = &self.key_of {
            for lot in self.parts.iter_mut().flat_map(|part| &mut part.lots) {
                let keys: Vec<_> = lot.members.iter().map(|at| key_of[*at]).collect();
                lot.batch.keys = self.ring.column(&keys);
            }
        }
        self.ring.count(2 * self.seals_a_pass);
        let (start, mut lots) = (Instant::now(), 0);
        let a_pass = self.parts[0].lots.len();
        while lots < a_pass && (lots == 0 || start.elapsed() < WARM_UP) {
            wish.check()?;
            self.run(1)?;
            lots += 1;
        }
        self.lot_s = start.elapsed().as_secs_f64() / count(lots);
        Ok(())
    }

    fn run(&mut self, lots: usize) -> Result<Vec<Turn>, ArmError> {
        let line = StartLine::new(self.parts.len());
        let crew = Crew { engine: &self.engine, device: self.device, line: &line, lots };
        let threads = self.parts.len();
        let Some((own, others)) = self.parts.split_first_mut() else { return Ok(vec![]) };
        let checked = self.verified != Verified::NothingToCheck;
        thread::scope(|scope| {
            let mut running = vec![];
            for (at, part) in others.iter_mut().enumerate() {
                let named = thread::Builder::new().name(format!("sealift-probe-{}", at + 1));
                match named.spawn_scoped(scope, || part.turn(&crew, checked)) {
                    Ok(handle) => running.push(handle),
                    Err(error) => {
                        line.give_up();
                        let (thread, reason) = (at + 1, error.to_string());
                        return Err(ArmError::Thread { thread, threads, reason });
                    }
                }
            }
            let mut turns = vec![own.turn(&crew, checked)];
            turns.extend(
                running.into_iter().map(|one| one.join().unwrap_or_else(|p| resume_unwind(p))),
            );
            turns.into_iter().collect()
        })
    }
}

/// What the threads of a sample have in common.
struct Crew<'c> {
    engine: &'c Engine,
    device: DeviceId,
    line: &'c StartLine,
    lots: usize,
}

/// The batches of one thread.
struct Part {
    lots: Vec<Lot>,
    next: usize,
}

/// What one thread did in one sample.
struct Turn {
    start: Instant,
    end: Instant,
    messages: u64,
    bytes: u64,
    switches: u64,
    cpu_share: f64,
}

impl Part {
    fn make(
        maker: &mut Maker<'_>,
        thread: usize,
        checked: Option<DeviceId>,
        wish: &mut Wish<'_>,
    ) -> Result<Self, ArmError> {
        let mut random = Random::new(maker.spec.seed, 1 + thread as u64);
        let mut lots = vec![];
        for members in maker.members() {
            wish.check()?;
            let (mut lot, expected) = maker.lot(members, &mut random)?;
            if let Some(device) = checked {
                verify::check(maker.engine, device, &mut lot, &expected)?;
            }
            lots.push(lot);
        }
        Ok(Self { lots, next: 0 })
    }

    fn turn(&mut self, crew: &Crew<'_>, checked: bool) -> Result<Turn, ArmError> {
        crew.line.wait();
        let before = Usage::now();
        let (mut messages, mut bytes) = (0, 0);
        let start = Instant::now();
        for _ in 0..crew.lots {
            let lot = &mut self.lots[self.next];
            let report = lot.run(crew.engine, crew.device)?;
            if checked && report.auth_failed != lot.planned_failures {
                let what =
                    verify::failures(report.auth_failed, lot.planned_failures, lot.batch.len);
                return Err(ArmError::Wrong {
                    device: verify::name_of(crew.engine, crew.device),
                    what,
                });
            }
            messages += lot.batch.len as u64;
            bytes += lot.text_bytes;
            self.next = (self.next + 1) % self.lots.len();
        }
        let end = Instant::now();
        let (switches, cpu_share) = before.since();
        Ok(Turn { start, end, messages, bytes, switches, cpu_share })
    }
}

fn merge(turns: &[Turn], steal_ns: u64) -> Sample {
    let start = turns.iter().map(|turn| turn.start).min();
    let end = turns.iter().map(|turn| turn.end).max();
    let wall = end.zip(start).map_or(Duration::ZERO, |(end, start)| end - start);
    Sample {
        ns: u64::try_from(wall.as_nanos()).unwrap_or(u64::MAX).max(1),
        messages: turns.iter().map(|turn| turn.messages).sum(),
        bytes: turns.iter().map(|turn| turn.bytes).sum(),
        involuntary_switches: turns.iter().map(|turn| turn.switches).sum(),
        cpu_share: turns.iter().map(|turn| turn.cpu_share).fold(1.0, f64::min),
        steal_ns,
    }
}

/// Seals that a pass of all threads makes under its busiest key.
fn seals_a_pass(parts: &[Part], key_of: &KeyOf, spec: &ArmSpec) -> u64 {
    let Some(key_of) = key_of else { return 0 };
    if parts.iter().flat_map(|part| &part.lots).all(|lot| lot.seals() == 0) {
        return 0;
    }
    let mut seals = vec![0u64; key_of.iter().max().map_or(0, |key| *key as usize + 1)];
    for (planned, key) in spec.columns.planned.iter().zip(key_of) {
        seals[*key as usize] += u64::from(*planned == crate::Planned::Seal);
    }
    seals.into_iter().max().unwrap_or(0) * parts.len() as u64
}

#[expect(clippy::cast_precision_loss, reason = "at most 1e9")]
fn count(lots: usize) -> f64 {
    lots as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Columns, Planned, Regime, Shape};

    #[test]
    fn sessions_are_renewed_before_they_reach_their_limit() {
        let engine = Engine::with(&["library", "reference"]).unwrap();
        let columns = Columns::cycle(8, &[Planned::Seal], Shape::default());
        let spec = ArmSpec { columns, regime: Regime::One, batch: 8, threads: 1, seed: 1 };
        let mut arm =
            Arm::with_seal_limit(&engine, "library", &spec, &mut || true, 100_000).unwrap();
        let mut sealed = 0;
        while sealed < 500_000 {
            sealed += arm.sample(0.001).unwrap().messages;
        }
        // The engine would have refused the first seal over the limit.
        assert!(sealed >= 500_000);
    }
}
