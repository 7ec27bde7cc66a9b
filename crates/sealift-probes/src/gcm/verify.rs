//! Whether a device computes what another one computes.

use super::lot::Lot;
use crate::{ArmError, Verified};
use sealift::{DeviceId, Engine, EngineError, Op, Role, Status};
use std::collections::BTreeSet;

/// What a batch must give.
///
/// Kept whole, not as a hash: comparing costs no more than hashing, it needs no argument about what a
/// hash would miss, and it names the byte.
pub(crate) struct Expected {
    pub(crate) output: Vec<u8>,
    pub(crate) tags: Vec<u8>,
    pub(crate) status: Vec<Status>,
}

/// The devices that tell what is right: of other drivers than the measured one, `library` first,
/// then oracles.
pub(crate) struct Checkers {
    measured: String,
    candidates: Vec<(DeviceId, String)>,
    used: BTreeSet<String>,
}

impl Checkers {
    pub(crate) fn of(engine: &Engine, measured: DeviceId) -> Self {
        let driver_of = |wanted| {
            engine.devices().find(|(id, _)| *id == wanted).map_or("", |(_, found)| found.driver)
        };
        let own_driver = driver_of(measured);
        let mut candidates: Vec<_> = engine
            .devices()
            .filter(|(_, device)| {
                matches!(device.role, Role::Real | Role::Oracle)
                    && device.driver != own_driver
                    && device.runs_on_calling_thread
            })
            .map(|(id, device)| {
                let later = (device.driver != "library", device.role != Role::Oracle);
                (later, id, device.name.clone())
            })
            .collect();
        candidates.sort_by_key(|(later, id, _)| (*later, id.index()));
        let measured = name_of(engine, measured);
        let candidates = candidates.into_iter().map(|(_, id, name)| (id, name)).collect();
        Self { measured, candidates, used: BTreeSet::new() }
    }

    /// Seals a batch on the first of them that takes it.
    pub(crate) fn seal(&mut self, engine: &Engine, truth: &mut Lot) -> Result<(), ArmError> {
        let mut refused = vec![];
        for (id, name) in &self.candidates {
            match truth.run(engine, *id) {
                Ok(_) => {
                    self.used.insert(name.clone());
                    return Ok(());
                }
                Err(EngineError::Limits(_) | EngineError::Device(_)) => refused.push(name.as_str()),
                Err(error) => return Err(error.into()),
            }
        }
        let tried = if refused.is_empty() {
            "none is open".to_owned()
        } else {
            format!("{} did not take the messages", refused.join(", "))
        };
        Err(ArmError::NoChecker { device: self.measured.clone(), tried })
    }

    /// Those that were asked.
    pub(crate) fn used(self) -> Verified {
        Verified::Against(self.used.into_iter().collect())
    }
}

/// Runs a batch once on the measured device and compares all that it gives.
pub(crate) fn check(
    engine: &Engine,
    device: DeviceId,
    lot: &mut Lot,
    expected: &Expected,
) -> Result<(), ArmError> {
    lot.spoil();
    let report = lot.run(engine, device)?;
    let wrong = |what| Err(ArmError::Wrong { device: name_of(engine, device), what });
    if let Some(what) = first_difference(lot, expected) {
        return wrong(what);
    }
    if report.auth_failed != lot.planned_failures {
        return wrong(failures(report.auth_failed, lot.planned_failures, lot.batch.len));
    }
    Ok(())
}

/// What is wrong when other messages failed than those that were planned to.
pub(crate) fn failures(found: usize, planned: usize, messages: usize) -> String {
    format!("{found} of {messages} messages did not open and {planned} were planned to")
}

pub(crate) fn name_of(engine: &Engine, device: DeviceId) -> String {
    let found = engine.devices().find(|(id, _)| *id == device);
    found.map_or_else(|| format!("#{}", device.index()), |(_, device)| device.name.clone())
}

/// What is wrong with the first message whose results are not the expected ones.
pub(crate) fn first_difference(lot: &Lot, expected: &Expected) -> Option<String> {
    (0..lot.batch.len).find_map(|entry| {
        let message = lot.members[entry];
        let (found, right) = (lot.status[entry], expected.status[entry]);
        if found != right {
            return Some(format!("message {message} has status {found:?} and {right:?} is right"));
        }
        let text = |bytes| lot.text_of(bytes, entry);
        let (found, right) = (text(&lot.output), text(&expected.output));
        if let Some(byte) = differing(found, right) {
            let len = right.len();
            return Some(format!("byte {byte} of message {message}, of {len} bytes, differs"));
        }
        let tag = |tags| lot.tag_of(tags, entry);
        let seals = lot.batch.ops.get(entry) == Op::Seal;
        let differs = seals && tag(&lot.tags) != tag(&expected.tags);
        differs.then(|| format!("the tag of message {message} differs"))
    })
}

fn differing(found: &[u8], right: &[u8]) -> Option<usize> {
    // Many bytes at once: it is rare that one has to be named.
    if found == right {
        return None;
    }
    found.iter().zip(right).position(|(found, right)| found != right)
}
