//! Opens a share of what was sealed on another device.

use crate::EngineError;
use crate::route::{self, DeviceId};
use crate::settings::Audit;
use crate::store::Lease;
use sealift_core::{
    Batch, Column, Device, Keys, Op, Ops, OwnedOutput, Role, Status, Tags, Text, Work,
};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Draws the messages that are checked, and checks them.
#[derive(Debug)]
pub(crate) struct Auditor {
    share: f64,
    random: AtomicU64,
    /// What is left of a message where shares of batches are no whole numbers.
    rest: Mutex<f64>,
}

impl Auditor {
    pub(crate) fn new(audit: Audit, devices: &[Arc<dyn Device>]) -> Result<Self, EngineError> {
        let Audit { share, seed } = audit;
        let wrong = |reason: &str| EngineError::Audit {
            share: share.to_string(),
            reason: reason.to_owned(),
        };
        if !(share > 0.0 && share <= 1.0) {
            return Err(wrong("give a share above 0 and of at most 1"));
        }
        if (0..devices.len()).filter(|at| can_check(&*devices[*at])).count() < 1
            || devices.len() < 2
        {
            return Err(wrong("it takes a second device that runs on the calling thread"));
        }
        let (random, rest) = (AtomicU64::new(seed), Mutex::new(0.0));
        Ok(Self { share, random, rest })
    }

    /// Whether a sealed message of a finished batch does not open elsewhere.
    pub(crate) fn is_wrong(
        &self,
        devices: &[Arc<dyn Device>],
        worker: DeviceId,
        batch: &Batch<'_>,
        output: &OwnedOutput,
        lease: &Lease,
    ) -> bool {
        let picked = self.pick(batch);
        if picked.is_empty() {
            return false;
        }
        // A message that a device did not seal is wrong by itself.
        if picked.iter().any(|message| output.status()[*message] != Status::Ok) {
            return true;
        }
        let (opening, texts) = opening(batch, output, &picked);
        let Ok(shape) = opening.shape() else { return false };
        let checker = devices.iter().enumerate().find(|(at, device)| {
            DeviceId(*at) != worker
                && can_check(&***device)
                && route::accept(device.capabilities(), &shape, true).is_ok()
        });
        let Some((_, checker)) = checker else { return false };
        let Ok(mut opened) = OwnedOutput::for_batch(&opening) else { return false };
        let ran = Work::new(&opening, opened.as_output(), lease)
            .is_ok_and(|mut work| checker.run(&mut work).is_ok());
        let same = |at: usize| opened.status()[at] == Status::Ok && opened.text_of(at) == texts[at];
        let is_wrong = ran && !(0..picked.len()).all(same);
        opened.wipe();
        is_wrong
    }

    /// Seals of a batch, drawn so that over many batches the share is right.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "numbers of messages, far under 2^52"
    )]
    fn pick(&self, batch: &Batch<'_>) -> Vec<usize> {
        let mut seals: Vec<_> =
            (0..batch.len).filter(|message| batch.ops.get(*message) == Op::Seal).collect();
        let count = {
            let mut rest = self.rest.lock().unwrap_or_else(PoisonError::into_inner);
            let wanted = *rest + self.share * seals.len() as f64;
            let count = (wanted as usize).min(seals.len());
            *rest = wanted - count as f64;
            count
        };
        for at in 0..count {
            let left = seals.len() - at;
            let other = at + (self.draw() % left as u64) as usize;
            seals.swap(at, other);
        }
        seals.truncate(count);
        seals
    }

    /// The next number of splitmix64.
    fn draw(&self) -> u64 {
        let seed = self.random.fetch_add(0x9E37_79B9_7F4A_7C15, Ordering::Relaxed);
        let mixed = (seed ^ (seed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
}

fn can_check(device: &dyn Device) -> bool {
    let capabilities = device.capabilities();
    matches!(capabilities.role, Role::Real | Role::Oracle | Role::Simulated)
        && capabilities.runs_on_calling_thread
}

/// A batch that opens some sealed messages, and what they must give.
fn opening<'b>(
    batch: &'b Batch<'_>,
    output: &'b OwnedOutput,
    picked: &[usize],
) -> (Batch<'b>, Vec<&'b [u8]>) {
    let scattered = |bytes: &dyn Fn(usize) -> &'b [u8]| {
        Column::Scattered(picked.iter().map(|message| bytes(*message).into()).collect())
    };
    let keys = match &batch.keys {
        Keys::Raw(column) => Keys::Raw(scattered(&|message| column.get(message))),
        Keys::Session(session) => Keys::Session(*session),
        Keys::Sessions(sessions) => {
            Keys::Sessions(picked.iter().map(|message| sessions[*message]).collect())
        }
    };
    let tags = match &batch.tags {
        Tags::Appended => Tags::Appended,
        Tags::Apart(_) => Tags::Apart(scattered(&|message| output.tag_of(message))),
    };
    let opening = Batch {
        len: picked.len(),
        algorithm: batch.algorithm,
        ops: Ops::All(Op::Open),
        keys,
        nonce: scattered(&|message| batch.nonce.get(message)),
        aad: scattered(&|message| batch.aad.get(message)),
        text: Text::Apart(scattered(&|message| output.text_of(message))),
        tags,
        tag_length: batch.tag_length,
        nonce_rule: batch.nonce_rule,
        stability: batch.stability,
    };
    (opening, picked.iter().map(|message| batch.text_of(*message)).collect())
}
