use sealift_core::{DeviceError, Key, OpenError, SessionId, Work};
use sealift_drivers::kernels::Kernels;
use sealift_drivers::workers::Software;
use sealift_engine::simulate::Cipher;

/// AES-GCM by this processor's kernels.
#[derive(Debug)]
pub(super) struct Aes(Kernels);

impl Aes {
    pub(super) fn new(device: &str) -> Result<Self, OpenError> {
        let wrong = |reason| OpenError::Setting { device: device.to_owned(), reason };
        let kernels = Kernels::best(device.to_owned());
        kernels.map(Self).map_err(|error| wrong(error.to_string()))
    }
}

impl Cipher for Aes {
    fn seal(&self, key: &Key, nonce: &[u8], aad: &[u8], text: &mut [u8]) -> [u8; 16] {
        self.0.seal(key, nonce, aad, text)
    }

    fn work(&self, work: &mut Work<'_>, _: &str) -> Result<(), DeviceError> {
        self.0.run(work)
    }

    fn retire(&self, session: SessionId) {
        self.0.retire(session);
    }
}

impl Software for Aes {
    fn run(&self, work: &mut Work<'_>) -> Result<(), DeviceError> {
        self.0.run(work)
    }

    fn retire(&self, session: SessionId) {
        self.0.retire(session);
    }
}
