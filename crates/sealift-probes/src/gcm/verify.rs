//! Whether a device computes what another one computes.

use super::lot::Lot;
use crate::{ArmError, Verified};
use sealift::{DeviceId, Engine, EngineError, Op, Role, Status};
use std::collections::BTreeSet;

/// What a batch must give.
pub(crate) struct Expected {
    pub(crate) output: Vec<u8>,
    pub(crate) tags: Vec<u8>,
    pub(crate) status: Vec<Status>,
    pub(crate) text_lengths: Vec<usize>,
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
    // What a device forgets to write must show.
    lot.output.fill(0xA5);
    lot.tags.fill(0xA5);
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

fn first_difference(lot: &Lot, expected: &Expected) -> Option<String> {
    let mut start = 0;
    for (entry, len) in expected.text_lengths.iter().enumerate() {
        let message = lot.members[entry];
        let (found, right) = (lot.status[entry], expected.status[entry]);
        if found != right {
            return Some(format!("message {message} has status {found:?} and {right:?} is right"));
        }
        let right = &expected.output[start..start + len];
        start += len;
        if let Some(byte) = differing(lot.output_of(entry), right) {
            return Some(format!("byte {byte} of message {message}, of {len} bytes, differs"));
        }
        let tag_bytes = lot.batch.tag_length.bytes();
        let tag = &expected.tags[entry * tag_bytes..][..tag_bytes];
        if lot.batch.ops.get(entry) == Op::Seal && lot.tag_of(entry) != tag {
            return Some(format!("the tag of message {message} differs"));
        }
    }
    None
}

fn differing(found: &[u8], right: &[u8]) -> Option<usize> {
    found.iter().zip(right).position(|(found, right)| found != right)
}
