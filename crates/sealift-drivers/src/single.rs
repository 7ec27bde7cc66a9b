//! One key, and messages one at a time on the calling thread, without a device around it.

use crate::{cpu, library};
use sealift_core::{Algorithm, DeviceError, Key, OpenError, Slot, Stability, Status};
use sealift_kernels::{Path, Schedule};

/// An expanded key for tags of 16 bytes: this processor's kernels, or AWS-LC where there are none for its algorithm.
#[derive(Debug)]
pub struct Single(Form);

#[derive(Debug)]
enum Form {
    Kernels(Path, Schedule),
    /// The same for XAES-256-GCM.
    Xaes(Path, Schedule),
    Library(library::OneKey),
}

impl Single {
    /// Expands a key.
    ///
    /// # Errors
    /// `SEALIFT_ISA` names no path; AWS-LC has no memory.
    pub fn new(key: &Key) -> Result<Self, OpenError> {
        let form = match (key.algorithm(), cpu::fastest()?) {
            (Algorithm::AesGcm, Some(path)) => Form::Kernels(path, Schedule::new(path, key)),
            (Algorithm::Xaes256Gcm, Some(path)) => Form::Xaes(path, Schedule::new(path, key)),
            _ => Form::Library(library::OneKey::new(key)?),
        };
        Ok(Self(form))
    }

    /// Works one message. A slot whose parts don't fit its operation is left [`Status::NotProcessed`].
    ///
    /// # Errors
    /// AWS-LC refuses it.
    #[inline]
    pub fn process(&self, slot: Slot<'_>, stability: Stability) -> Result<Status, DeviceError> {
        match &self.0 {
            // The kernels read what others may write once, whoever they are.
            Form::Kernels(path, schedule) => Ok(sealift_kernels::process(*path, schedule, slot)),
            Form::Xaes(path, schedule) => Ok(sealift_kernels::process_xaes(*path, schedule, slot)),
            Form::Library(key) => key.process(slot, stability),
        }
    }
}
