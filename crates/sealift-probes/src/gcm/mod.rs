//! One device on one piece of work.

mod columns;
mod lot;
mod material;
mod messages;
mod ring;
mod rota;
mod verify;
mod wish;

pub use columns::{ArmSpec, Columns, Planned, Regime, Shape};
pub use lot::{borrowed, layout};

use crate::crew::Crew;
use crate::{Arm, ArmError, Sample, Verified};
use material::Maker;
use messages::Messages;
use ring::{KeyOf, Ring};
use sealift::{Engine, Origin, Role, SEALS_MAX};
use std::time::{Duration, Instant};
use verify::Checkers;
use wish::Wish;

/// Long enough for a first estimate of a batch's time.
const WARM_UP: Duration = Duration::from_millis(2);

/// A device with the messages it is to work.
pub struct GcmArm {
    engine: Engine,
    name: String,
    detail: String,
    role: Role,
    verified: Verified,
    ring: Ring,
    key_of: KeyOf,
    parts: Vec<Messages>,
    crew: Crew,
    seals_a_pass: u64,
}

impl GcmArm {
    /// Makes the messages, checks the device on each of them, and warms up.
    ///
    /// True ciphertexts come from an open device of another driver: `library` first, then the
    /// oracles, then the other real ones. They are kept: after each sample's clock was stopped, every
    /// thread compares a batch that it worked with them, another one each time.
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
    /// As [`GcmArm::prepare`], and [`ArmError::Stopped`] once `wanted` says false.
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
        let (_, found) = engine.devices().nth(id.index()).expect("the engine has just named it");
        let (name, detail, role) = (found.name.clone(), found.detail.clone(), found.role);
        if found.origin != Origin::Measured {
            return Err(ArmError::Simulated { device: name });
        }
        let mut wish = Wish::new(&name, wanted);
        let (ring, key_of) = Ring::install(engine, spec, seals_max, &mut wish)?;
        let mut checkers = Checkers::of(engine, id);
        let mut maker =
            Maker { engine, spec, ring: &ring, key_of: &key_of, checkers: &mut checkers };
        let checked = role != Role::Null;
        let parts = (0..spec.threads)
            .map(|thread| Messages::make(&mut maker, id, thread, checked, &mut wish))
            .collect::<Result<Vec<_>, _>>()?;
        let verified = if checked { checkers.used() } else { Verified::NothingToCheck };
        let mut arm = Self {
            seals_a_pass: seals_a_pass(&parts, &key_of, spec),
            crew: Crew::of(spec.threads),
            engine: engine.clone(),
            name,
            detail,
            role,
            verified,
            ring,
            key_of,
            parts,
        };
        arm.renew(&mut wish)?;
        Ok(arm)
    }

    /// The device's name.
    #[must_use]
    pub fn device(&self) -> &str {
        &self.name
    }

    /// As many batches as fit, whole passes over all messages where there is time for one.
    fn lots_for(&self, seconds: f64) -> usize {
        let (lots, a_pass) = (self.crew.times_for(seconds), self.a_pass());
        if lots < a_pass { lots } else { (lots + a_pass / 2) / a_pass * a_pass }
    }

    /// Batches of a thread.
    fn a_pass(&self) -> usize {
        self.parts[0].lots.len()
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
        while lots < self.a_pass() && (lots == 0 || start.elapsed() < WARM_UP) {
            wish.check()?;
            self.crew.run(&mut self.parts, 1)?;
            lots += 1;
        }
        Ok(())
    }
}

impl Arm for GcmArm {
    /// Runs the messages for about `seconds`.
    ///
    /// A sample is a whole number of passes over all messages; where one pass takes longer than
    /// the sample may, it is as many batches as fit, going on where the last one stopped.
    fn sample(&mut self, seconds: f64) -> Result<Sample, ArmError> {
        let lots = self.lots_for(seconds);
        let passes = lots.div_ceil(self.a_pass()) as u64 + 1;
        if !self.ring.count(passes * self.seals_a_pass) {
            let device = self.name.clone();
            self.renew(&mut Wish::new(&device, &mut || true))?;
            self.ring.count(passes * self.seals_a_pass);
        }
        self.crew.run(&mut self.parts, lots)
    }

    fn verified(&self) -> &Verified {
        &self.verified
    }

    fn detail(&self) -> &str {
        &self.detail
    }

    fn role(&self) -> Option<Role> {
        Some(self.role)
    }

    fn cores(&self) -> &[usize] {
        self.crew.cores()
    }

    fn counts(&self) -> Vec<(&'static str, u64)> {
        let sum = |count: fn(&Messages) -> u64| self.parts.iter().map(count).sum();
        vec![
            ("messages_checked", sum(|part| part.checked)),
            ("messages_checked_while_timed", sum(|part| part.checked_while_timed)),
            ("messages_worked", sum(|part| part.worked)),
            ("failures_planned", sum(|part| part.failures_planned)),
            ("failures_found", sum(|part| part.failures_found)),
        ]
    }
}

/// Seals that a pass of all threads makes under its busiest key.
fn seals_a_pass(parts: &[Messages], key_of: &KeyOf, spec: &ArmSpec) -> u64 {
    let Some(key_of) = key_of else { return 0 };
    if parts.iter().flat_map(|part| &part.lots).all(|lot| lot.seals() == 0) {
        return 0;
    }
    let mut seals = vec![0u64; key_of.iter().max().map_or(0, |key| *key as usize + 1)];
    for (planned, key) in spec.columns.planned.iter().zip(key_of) {
        seals[*key as usize] += u64::from(*planned == Planned::Seal);
    }
    seals.into_iter().max().unwrap_or(0) * parts.len() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_renewed_before_they_reach_their_limit() {
        let engine = Engine::with(&["library", "reference"]).unwrap();
        let columns = Columns::cycle(8, &[Planned::Seal], Shape::default());
        let spec = ArmSpec { columns, regime: Regime::One, batch: 8, threads: 1, seed: 1 };
        let mut arm =
            GcmArm::with_seal_limit(&engine, "library", &spec, &mut || true, 100_000).unwrap();
        let mut sealed = 0;
        while sealed < 500_000 {
            sealed += arm.sample(0.001).unwrap().operations;
        }
        // The engine would have refused the first seal over the limit.
        assert!(sealed >= 500_000);
    }
}
