//! What Python says of clients and devices, as the probes take it.

use pyo3::prelude::*;
use sealift_probes::ArmError;
use sealift_probes::offload::{Cipher, OffloadSpec, Way};

/// The arguments of `Arm.offload`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Asked {
    cipher: String,
    way: String,
    threads: usize,
    devices: usize,
    message_bytes: usize,
    batch: usize,
    seed: u64,
}

impl Asked {
    pub(crate) fn spec(&self) -> Result<OffloadSpec, ArmError> {
        Ok(OffloadSpec {
            cipher: Cipher::parse(&self.cipher)?,
            way: Way::parse(&self.way)?,
            threads: self.threads,
            devices: self.devices,
            message_bytes: self.message_bytes,
            batch: self.batch,
            seed: self.seed,
        })
    }
}
