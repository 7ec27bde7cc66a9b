use crate::ArmError;

/// Whether the caller still wants what is being prepared.
pub(crate) struct Wish<'w> {
    device: String,
    wanted: &'w mut dyn FnMut() -> bool,
}

impl<'w> Wish<'w> {
    pub(crate) fn new(device: &str, wanted: &'w mut dyn FnMut() -> bool) -> Self {
        Self { device: device.to_owned(), wanted }
    }

    /// Asks; an error once the answer is no.
    pub(crate) fn check(&mut self) -> Result<(), ArmError> {
        if (self.wanted)() {
            return Ok(());
        }
        Err(ArmError::Stopped { device: self.device.clone() })
    }
}
