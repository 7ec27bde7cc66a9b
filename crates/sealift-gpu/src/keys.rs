//! Where a batch's keys come from.

use crate::GpuError;
use crate::gpu::{Gpu, KEY_BYTES};
use crate::message::UNIT_BYTES;
use crate::resident::{Lease, Resident};
use sealift_core::{DeviceError, Key, KeyLength, Keys as Given, SessionId, Work};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

/// The keys of a batch's messages.
pub(crate) enum Keys<'r> {
    /// They are on the device.
    Device(Lease<'r>),
    /// They come with the batch.
    Raw,
    /// They are sessions', and the device has no place for all of them.
    Own(HashMap<SessionId, Arc<Key>>),
}

impl<'r> Keys<'r> {
    /// Finds them, and brings those of sessions to the device.
    ///
    /// # Errors
    /// A key is gone, or the device takes none.
    pub(crate) fn of<E: From<GpuError> + From<DeviceError>>(
        work: &Work<'_>,
        resident: &'r Resident,
        gpu: &dyn Gpu,
        device: &str,
    ) -> Result<Self, E> {
        let Some(sessions) = sessions_of(work) else { return Ok(Self::Raw) };
        let key_of = |session| work.key(session, device).map_err(E::from);
        if let Some(lease) = resident.lend(&sessions, gpu, key_of)? {
            return Ok(Self::Device(lease));
        }
        Ok(Self::brought(work, device)?)
    }

    /// Finds them where they are to come with the batch, those of sessions, too.
    ///
    /// # Errors
    /// A key is gone.
    pub(crate) fn brought(work: &Work<'_>, device: &str) -> Result<Self, DeviceError> {
        let Some(sessions) = sessions_of(work) else { return Ok(Self::Raw) };
        let mut own = HashMap::new();
        for session in &*sessions {
            if !own.contains_key(session) {
                own.insert(*session, work.key(*session, device)?);
            }
        }
        Ok(Self::Own(own))
    }

    pub(crate) fn are_on_device(&self) -> bool {
        matches!(self, Self::Device(_))
    }

    /// How long a message's key is.
    pub(crate) fn length(&self, work: &Work<'_>, message: usize) -> KeyLength {
        match self {
            Self::Device(lease) => lease.of(message).length,
            Self::Raw | Self::Own(_) => {
                // A batch's keys were checked to have one of the three lengths.
                KeyLength::from_bytes(self.bytes(work, message).len()).unwrap_or(KeyLength::Aes256)
            }
        }
    }

    /// The unit where a message's key begins, which is the so-manieth of its round.
    pub(crate) fn place(&self, message: usize, number: u32) -> u32 {
        let record = match self {
            Self::Device(lease) => lease.of(message).slot,
            Self::Raw | Self::Own(_) => number,
        };
        record * UNITS_A_KEY
    }

    /// The key of a message that the device does not have.
    pub(crate) fn bytes<'k>(&'k self, work: &Work<'k>, message: usize) -> &'k [u8] {
        match self {
            Self::Device(_) => &[],
            Self::Raw => work.batch().raw_key(message).unwrap_or_default(),
            Self::Own(keys) => {
                let session = work.batch().session_of(message);
                let key = session.and_then(|session| keys.get(&session));
                key.map(|key| key.as_bytes()).unwrap_or_default()
            }
        }
    }
}

/// The sessions of a batch, unless its keys are raw.
fn sessions_of<'w>(work: &Work<'w>) -> Option<Cow<'w, [SessionId]>> {
    match &work.batch().keys {
        Given::Raw(_) => None,
        Given::Session(session) => Some(vec![*session].into()),
        Given::Sessions(sessions) => Some(Cow::Borrowed(sessions)),
    }
}

const UNITS_A_KEY: u32 = 2;
const _: () = assert!(UNITS_A_KEY as usize * UNIT_BYTES == KEY_BYTES);
