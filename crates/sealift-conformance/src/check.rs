//! The suite for programs that are no tests: `sealift check`.

use crate::candidate::Candidate;
use crate::subject::Subject;
use crate::suite::{CHECKS, Entry};
use sealift_core::{Capabilities, OpenError, Role};

/// A device that was opened, to run checks on one after the other.
pub struct Checker {
    subject: Subject,
}

/// What came of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// What was done, or the first fault.
    pub outcome: Result<String, String>,
    /// Messages that the device worked, of which every byte was compared.
    pub messages: u64,
    /// Those of them that did not open: they were spoiled on purpose.
    pub refused: u64,
}

impl Checker {
    /// The names of the checks: each a sentence that is true of a right device.
    #[must_use]
    pub fn checks() -> Vec<&'static str> {
        CHECKS.iter().map(|entry| entry.test).collect()
    }

    /// Opens a candidate, and another device to compare it with. What is random is drawn from the
    /// seed. A device that is not for users does the small numbers only.
    ///
    /// # Errors
    /// It is absent, or its spec is wrong; or no other device is here.
    pub fn open(candidate: &Candidate, seed: u64) -> Result<Self, OpenError> {
        let (device, bell) = candidate.open()?;
        let name = device.capabilities().name.clone();
        let is_real = device.capabilities().role == Role::Real;
        let candidate = if is_real { candidate.clone() } else { candidate.clone().slow() };
        let subject = candidate.subject_over(device, bell, seed, 1.0);
        let unfit = |reason| OpenError::Setting { device: name, reason };
        Ok(Self { subject: subject.map_err(unfit)? })
    }

    /// What the device is.
    #[must_use]
    pub fn capabilities(&self) -> &Capabilities {
        self.subject.capabilities()
    }

    /// The name of the device that it is compared with.
    #[must_use]
    pub fn compared_with(&self) -> &str {
        &self.subject.oracle.capabilities().name
    }

    /// Runs a check.
    ///
    /// # Errors
    /// There is none of that name; the error lists those there are.
    pub fn run(&self, check: &str) -> Result<Checked, String> {
        let entry = Entry::of(check).ok_or_else(|| {
            format!("there is no check {check}; there are {}", Self::checks().join(", "))
        })?;
        let (all, refused) = self.subject.counts.now();
        let outcome = entry.verdict(&self.subject);
        let after = self.subject.counts.now();
        Ok(Checked { outcome, messages: after.0 - all, refused: after.1 - refused })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::tests::Wrong;
    use sealift_drivers::cpu::Cpu;
    use sealift_drivers::library::Library;

    const LIMITS: &str = "a_device_takes_what_its_capabilities_say_and_nothing_else";
    const FLIPS: &str = "a_flipped_bit_opens_nothing_and_harms_no_neighbour";

    #[test]
    fn messages_are_counted_and_spoiled_ones_apart() {
        let device = Checker::open(&Candidate::new(&Library, "library").slow().scale(0.01), 7);
        let checked = device.unwrap().run(FLIPS).unwrap();
        assert!(checked.outcome.is_ok(), "{checked:?}");
        assert!(0 < checked.refused && checked.refused < checked.messages, "{checked:?}");
    }

    #[test]
    fn a_wrong_device_is_told_with_the_seed_and_an_unknown_check_with_those_there_are() {
        let device = Checker::open(&Candidate::new(&Wrong, "wrong").slow(), 7).unwrap();
        let fault = device.run(LIMITS).unwrap().outcome.unwrap_err();
        assert!(fault.contains("found Ok") && fault.ends_with("[seed 7]"), "{fault}");
        let unknown = device.run("speed").unwrap_err();
        assert!(unknown.starts_with("there is no check speed; there are every_"), "{unknown}");
    }

    #[test]
    fn what_does_not_open_is_told_as_an_engine_tells_it() {
        let wrong = Checker::open(&Candidate::new(&Cpu, "cpu:colour=blue"), 7).map(drop);
        assert!(matches!(wrong, Err(OpenError::Setting { .. })), "{wrong:?}");
    }
}
