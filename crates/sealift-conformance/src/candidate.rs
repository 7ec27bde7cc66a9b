//! What the suite is given to test.

use crate::bell::Bell;
use crate::counted::{Counted, Counts};
use crate::environment::{scale, seed};
use crate::subject::{Effort, Subject};
use crate::submitting::Submitting;
use sealift_core::{
    Capabilities, Context, Device, Driver, NONCE_BYTES, OpenError, Spec, SystemClock, TagLength,
};
use sealift_testing::{ran, skip};
use std::sync::Arc;

/// A device that the suite shall test: its driver, and the spec that opens it.
///
/// One driver can give many: a device for each instruction set, say, or with each setting.
#[derive(Clone)]
pub struct Candidate {
    driver: &'static dyn Driver,
    spec: String,
    required_as: String,
    effort: Effort,
    scale: f64,
}

impl Candidate {
    /// The device that this driver opens by a spec such as `mine` or `mine:workers=2`.
    #[must_use]
    pub fn new(driver: &'static dyn Driver, spec: impl Into<String>) -> Self {
        let (spec, required_as) = (spec.into(), driver.name().to_owned());
        Self { driver, spec, required_as, effort: Effort::Full, scale: 1.0 }
    }

    /// What `SEALIFT_REQUIRE` calls it: its driver's name, unless something else is said here.
    #[must_use]
    pub fn required_as(self, name: impl Into<String>) -> Self {
        Self { required_as: name.into(), ..self }
    }

    /// It makes a few MB/s only: long texts and large numbers of messages are left out.
    #[must_use]
    pub fn slow(self) -> Self {
        Self { effort: Effort::Slow, ..self }
    }

    /// Its every byte is so dear that this part of the large numbers is enough. Every kind of message, form and
    /// failure is tested at any scale.
    #[must_use]
    pub fn scale(self, scale: f64) -> Self {
        Self { scale, ..self }
    }

    /// The name of its driver.
    #[must_use]
    pub fn driver_name(&self) -> &'static str {
        self.driver.name()
    }

    /// The spec that opens it.
    #[must_use]
    pub fn spec(&self) -> &str {
        &self.spec
    }

    /// The name of its driver, and what `SEALIFT_REQUIRE` calls it.
    pub(crate) fn names(&self) -> [&str; 2] {
        [self.driver.name(), &self.required_as]
    }

    /// Opens it with its oracle; nothing when it is absent, which is said.
    ///
    /// # Errors
    /// It is absent although it is required, or present and does not open.
    pub(crate) fn subject(&self) -> Result<Option<Subject>, String> {
        let (device, bell) = match self.open() {
            Ok(opened) => opened,
            Err(OpenError::Absent { reason, .. }) => {
                return skip(&self.required_as, &reason).map(|()| None);
            }
            Err(error) => return Err(format!("it does not open: {error}")),
        };
        self.names().into_iter().for_each(ran);
        self.subject_over(device, bell, seed()?, scale()?).map(Some)
    }

    /// Opens it, with what it rings.
    ///
    /// # Errors
    /// It is absent, or its spec is wrong.
    pub(crate) fn open(&self) -> Result<(Arc<dyn Device>, Arc<Bell>), OpenError> {
        let bell = Arc::new(Bell::default());
        Ok((open(self.driver, &self.spec, &bell)?, bell))
    }

    /// What was opened, with another device to compare it with.
    ///
    /// # Errors
    /// It takes less than every device does, or there is no other device.
    pub(crate) fn subject_over(
        &self,
        device: Arc<dyn Device>,
        bell: Arc<Bell>,
        seed: u64,
        scale: f64,
    ) -> Result<Subject, String> {
        check_needs(device.capabilities())?;
        let oracle = oracle_for(&*device).map_err(|error| format!("its oracle: {error}"))?;
        let device = if device.capabilities().runs_on_calling_thread {
            device
        } else {
            Arc::new(Submitting::new(device, bell.clone()))
        };
        let (effort, scale, counts) = (self.effort, scale * self.scale, Arc::<Counts>::default());
        let device = Arc::new(Counted::new(device, counts.clone()));
        Ok(Subject { device, counts, bell, oracle, effort, seed, scale })
    }
}

/// What every device takes at least; the checks are made of it.
fn check_needs(found: &Capabilities) -> Result<(), String> {
    let fault = |what| Err(format!("its capabilities name no {what}, which every device takes"));
    if !found.nonce_lengths.iter().any(|bytes| bytes == NONCE_BYTES) {
        return fault(format!("nonces of {NONCE_BYTES} B"));
    }
    if !found.tag_lengths.contains(&TagLength::FULL) {
        return fault(format!("tags of {} B", TagLength::FULL.bytes()));
    }
    if found.messages_max < MESSAGES_MIN {
        return fault(format!("batches of {MESSAGES_MIN} messages"));
    }
    if found.text_bytes_max < TEXT_BYTES_MIN {
        return fault(format!("texts of {TEXT_BYTES_MIN} B"));
    }
    if found.aad_bytes_max < AAD_BYTES_MIN {
        return fault(format!("aads of {AAD_BYTES_MIN} B"));
    }
    Ok(())
}

const MESSAGES_MIN: usize = 5;
const TEXT_BYTES_MIN: usize = 64;
const AAD_BYTES_MIN: usize = 64;

/// Drivers that are trusted to judge others, the better first. Nobody judges itself.
#[cfg(feature = "complete")]
const ORACLES: [&dyn Driver; 2] =
    [&sealift_drivers::library::Library, &sealift_drivers::reference::Reference];
#[cfg(not(feature = "complete"))]
const ORACLES: [&dyn Driver; 2] = [&sealift_drivers::library::Library, &sealift_drivers::cpu::Cpu];

fn oracle_for(device: &dyn Device) -> Result<Arc<dyn Device>, OpenError> {
    let [first, second] = ORACLES;
    let judge = if first.name() == device.capabilities().driver { second } else { first };
    open(judge, judge.name(), &Arc::default())
}

fn open(driver: &dyn Driver, spec: &str, bell: &Arc<Bell>) -> Result<Arc<dyn Device>, OpenError> {
    let wrong = |reason| OpenError::Setting { device: spec.to_owned(), reason };
    let spec: Spec = spec.parse().map_err(|error| wrong(format!("{error}")))?;
    if spec.driver() != driver.name() {
        return Err(wrong(format!("its driver is called {}", driver.name())));
    }
    driver.open(&spec, &Context { clock: Arc::new(SystemClock::new()), notify: bell.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use sealift_core::{NonceLengths, Probe};
    use sealift_drivers::reference::Reference;

    /// Hardware that is on no machine.
    struct Nowhere;

    impl Driver for Nowhere {
        fn name(&self) -> &'static str {
            "nowhere"
        }

        fn summary(&self) -> &'static str {
            "is on no machine"
        }

        fn probe(&self) -> Probe {
            Probe::Absent { reason: "nobody built it".to_owned() }
        }

        fn open(&self, spec: &Spec, _: &Context) -> Result<Arc<dyn Device>, OpenError> {
            Err(OpenError::Absent {
                device: spec.to_string(),
                reason: "nobody built it".to_owned(),
            })
        }
    }

    #[test]
    fn an_absent_device_is_left_out() {
        let absent = Candidate::new(&Nowhere, "nowhere").required_as("what nobody requires");
        assert!(absent.subject().unwrap().is_none());
    }

    #[test]
    fn a_device_that_does_not_open_is_a_fault_with_its_reason() {
        for (spec, reason) in [
            ("library", "library: its driver is called reference"),
            ("reference:colour=blue", "colour"),
            ("no spec", "no spec"),
        ] {
            let fault = Candidate::new(&Reference, spec).subject().err().unwrap();
            assert!(fault.starts_with("it does not open: ") && fault.contains(reason), "{fault}");
        }
    }

    #[test]
    fn a_device_that_takes_too_little_is_told_what_every_device_takes() {
        let right = Candidate::new(&Reference, "reference").subject().unwrap().unwrap();
        let right = right.device.capabilities().clone();
        assert_eq!(check_needs(&right), Ok(()));
        let nonces = NonceLengths::of(&[8, 16]);
        for (wrong, what) in [
            (Capabilities { nonce_lengths: nonces, ..right.clone() }, "nonces of 12 B"),
            (Capabilities { tag_lengths: vec![], ..right.clone() }, "tags of 16 B"),
            (Capabilities { messages_max: 4, ..right.clone() }, "batches of 5 messages"),
            (Capabilities { text_bytes_max: 63, ..right.clone() }, "texts of 64 B"),
            (Capabilities { aad_bytes_max: 63, ..right.clone() }, "aads of 64 B"),
        ] {
            let fault = check_needs(&wrong).unwrap_err();
            assert_eq!(fault, format!("its capabilities name no {what}, which every device takes"));
        }
    }
}
