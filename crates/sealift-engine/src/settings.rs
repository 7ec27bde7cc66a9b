//! How an engine and a batch are worked.

use crate::scheduler::{self, Policy};
use crate::{DeviceId, EngineError};
use sealift_core::{Batch, BatchError, Op};
use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::time::Duration;

/// How an engine spreads work over its devices.
#[derive(Debug)]
pub struct Settings {
    /// Who gets which batch; see [`POLICIES`](crate::POLICIES).
    pub policy: Box<dyn Policy>,
    /// When a device that has not answered is given up.
    pub patience: Patience,
    /// How often a batch is tried on one device.
    pub tries: u32,
    /// Whether results are checked on another device.
    pub audit: Option<Audit>,
    /// Submitted batches that are not taken back yet, at most; at least 1. Beyond it a batch is handed
    /// back as full.
    pub in_flight_max: usize,
    /// How many threads, the calling one among them, one [`run`](crate::Engine::run) may use. None takes the environment
    /// variable `SEALIFT_THREADS`, or else as many as affinity and control group let the process run at a time.
    pub threads: Option<NonZeroUsize>,
}

impl Settings {
    /// The usual settings with the policy that a spec names: `size-split:bytes=4096`.
    ///
    /// # Errors
    /// There is no such policy, or a setting of it is wrong.
    pub fn with_policy(spec: &str) -> Result<Self, EngineError> {
        Ok(Self { policy: scheduler::policy(spec)?, ..Self::default() })
    }

    /// The usual settings, but each call stays on the thread that makes it: for programs with threads of
    /// their own, and for measuring one core.
    #[must_use]
    pub fn on_one_thread() -> Self {
        Self { threads: Some(NonZeroUsize::MIN), ..Self::default() }
    }
}

impl Default for Settings {
    fn default() -> Self {
        let policy = scheduler::default_policy();
        let patience = Patience::default();
        let (tries, audit, in_flight_max, threads) = (3, None, IN_FLIGHT_MAX, None);
        Self { policy, patience, tries, audit, in_flight_max, threads }
    }
}

const IN_FLIGHT_MAX: usize = 1_024;

/// How long an attempt may take: so many times what it was predicted to take, and a time on top.
///
/// An attempt that takes longer is abandoned and the batch goes elsewhere. What it gives later is wiped,
/// so impatience costs time and nothing else.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Patience {
    /// Times the prediction.
    pub times: f64,
    /// On top of it.
    pub extra: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { times: 20.0, extra: Duration::from_millis(500) }
    }
}

/// Opens a share of what was sealed on another device, and takes a device out of use whose results do
/// not open: a defect that nothing else would show until somebody reads the data.
///
/// Where two others don't agree about a result, the one that is alone is out of use. It is done on the
/// thread that runs, polls or waits, before it sees the results. Texts that were sealed in place are not
/// audited, because nobody knows any more what they were; opened ones aren't either.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Audit {
    /// Of all sealed messages; above 0, at most 1.
    pub share: f64,
    /// Decides which ones.
    pub seed: u64,
}

/// How one batch is worked.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// The device that works it, and no other; none lets the engine choose.
    pub on: Option<DeviceId>,
    /// Whether to look for a nonce that seals twice under one session.
    pub nonces: NonceCheck,
    /// How many threads a [`run`](crate::Engine::run) may use; none for as many as the engine's
    /// [settings](Settings::threads) allow.
    pub threads: Option<NonZeroUsize>,
}

/// The two ways to give an engine a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Call {
    /// [`Engine::run`](crate::Engine::run), which works on the calling thread.
    Run,
    /// [`Engine::submit`](crate::Engine::submit), which hands over to a device's workers.
    Submit,
}

/// Whether a batch is searched for repeated nonces. It costs about as much as sealing 100 bytes a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NonceCheck {
    /// The caller is sure.
    #[default]
    Off,
    /// A repeated one is an error before anything is sealed. Two sessions with one key are not found
    /// out, and raw keys are not looked at.
    WithinBatch,
}

impl NonceCheck {
    pub(crate) fn check(self, batch: &Batch<'_>) -> Result<(), BatchError> {
        if self == Self::Off || batch.len < 2 {
            return Ok(());
        }
        let mut seen = HashMap::with_capacity(batch.len);
        for second in (0..batch.len).filter(|&message| batch.ops.get(message) == Op::Seal) {
            let Some(session) = batch.session_of(second) else { break };
            if let Some(first) = seen.insert((session, batch.nonce.get(second)), second) {
                let session = session.to_string();
                return Err(BatchError::RepeatedNonce { first, second, session });
            }
        }
        Ok(())
    }
}
