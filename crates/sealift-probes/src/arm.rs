use crate::{ArmError, Sample};
use sealift::Role;

/// Something that is timed again and again: prepared, checked and warm.
pub trait Arm: Send {
    /// Runs for about `seconds`, at most [`SAMPLE_SECONDS_MAX`](crate::SAMPLE_SECONDS_MAX).
    ///
    /// Each thread keeps to a core of its own while there are enough; the calling thread, which is the
    /// first of them, gets back what it had.
    ///
    /// # Errors
    /// Something failed, or computed something wrong: then its times mean nothing.
    fn sample(&mut self, seconds: f64) -> Result<Sample, ArmError>;

    /// The same, asking now and then whether it is still wanted, where one sample can take longer than that.
    ///
    /// # Errors
    /// As above; [`ArmError::Stopped`].
    fn sample_while(
        &mut self,
        seconds: f64,
        _wanted: &mut dyn FnMut() -> bool,
    ) -> Result<Sample, ArmError> {
        self.sample(seconds)
    }

    /// Whether several samples right behind each other are one long sample.
    ///
    /// Not for what prepares each sample anew, as a file that must not be in memory: it would be
    /// preparing most of the time.
    fn goes_on(&self) -> bool {
        true
    }

    /// What was checked before the first sample.
    fn verified(&self) -> &Verified;

    /// What is measured, for people: an instruction set, a library with its version.
    fn detail(&self) -> &str;

    /// What the device that is measured may be used for; nothing when it is no device.
    fn role(&self) -> Option<Role> {
        None
    }

    /// The cores that its threads keep to; none when they run anywhere.
    fn cores(&self) -> &[usize];

    /// What was checked and worked so far, each count with its name.
    fn counts(&self) -> Vec<(&'static str, u64)>;

    /// What it has to tell beside times and counts, each with its name, for people.
    fn told(&self) -> Vec<(&'static str, String)> {
        vec![]
    }
}

/// What was checked before the first sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verified {
    /// All that it gave, against these.
    Against(Vec<String>),
    /// Nothing: a device that encrypts nothing and only prices the framework.
    NothingToCheck,
}
